/**
 * A served drive: emulator, block device, control socket and record, from power-on to standby.
 */

import { Drive } from '../../firmware/drive.ts';
import { ByteContent } from '../../hal/content/byte-content.ts';
import type { DriveProfile } from '../../hal/profile.ts';
import { SLOT_BYTES } from '../../hal/sim/units.ts';
import { formatBytes } from '../cli/format.ts';
import { RunError } from '../errors.ts';
import type { DriveImage } from '../image/drive-image.ts';
import { ControlServer } from './control-server.ts';
import { DriveBackend, RequestQueue } from './drive-backend.ts';
import { EmulatorLoop, type WallClock } from './emulator-loop.ts';
import type { NbdListenTarget } from './nbd/address.ts';
import { type NbdAddress, NbdServer } from './nbd/server.ts';
import { RecordWriter } from './record.ts';
import { saveSnapshot } from './snapshot.ts';
import { SpillFile } from './spill.ts';
import { type ServeSummary, summarise } from './summary.ts';

/** Events a boot may take. */
const BOOT_EVENTS_MAX = 50_000_000;
/** Wall time that clients get to take their last answers. */
const CLOSE_MS = 10_000;

export const DEFAULT_MEMORY_BYTES = 2 * 2 ** 30;

export interface ServeOptions {
  readonly profile: DriveProfile;
  /** Default 'bf3'. */
  readonly seed?: string;
  /** Where the flash is kept; of this profile and seed. The service closes it when it stops. */
  readonly image?: DriveImage;
  /** Memory for what is written to the drive. Default 2 GiB. */
  readonly memoryBytes?: number;
  /** Folder of the spill file; the system's temporary folder when not given. */
  readonly spillFolder?: string;
  readonly realtime?: boolean;
  readonly exportName?: string;
  /** Path of the control socket. */
  readonly controlPath?: string;
  /** Path of the record. */
  readonly recordPath?: string;
  readonly clock?: WallClock;
  /** Sentences for the user: a panic, a client that was cut off. */
  readonly onNotice?: (text: string) => void;
}

export class DriveService {
  readonly drive: Drive;
  readonly queue: RequestQueue;
  readonly loop: EmulatorLoop;
  readonly backend: DriveBackend;
  readonly server: NbdServer;
  /** Why the drive has stopped by itself, null while it has not. */
  stoppedBecause: string | null = null;
  readonly #spill: SpillFile;
  readonly #record: RecordWriter | null;
  readonly #control: ControlServer | null;
  readonly #controlPath: string;
  readonly #image: DriveImage | null;
  readonly #memoryBytes: number;
  #stopping: Promise<ServeSummary> | null = null;
  readonly #startedAt = process.hrtime.bigint();
  readonly #notice: (text: string) => void;

  /**
   * Builds the drive, with what its image holds; nothing runs yet.
   * @throws RunError when the spill file or the record cannot be made, or the image does not fit
   */
  constructor(options: ServeOptions) {
    const { profile, seed = 'bf3' } = options;
    this.#notice = options.onNotice ?? (() => {});
    this.#memoryBytes = options.memoryBytes ?? DEFAULT_MEMORY_BYTES;
    this.#spill = new SpillFile(options.spillFolder);
    this.#image = options.image ?? null;
    const { drive, queue } = buildDrive(profile, this.#memoryBytes, this.#spill, seed);
    queue.onPageLost = (reason) => this.#notice(`a read failed: ${reason}`);
    for (const text of this.#image?.notices(this.#image.attach(drive)) ?? []) this.#notice(text);
    this.drive = drive;
    this.queue = queue;
    this.loop = new EmulatorLoop(drive, queue, {
      realtime: options.realtime ?? false,
      ...(options.clock === undefined ? {} : { clock: options.clock }),
      beforeAnswers: () => this.#image?.flush(),
      onStopped: (reason) => this.#driveStopped(reason),
    });
    this.backend = new DriveBackend(drive, queue, this.loop);
    this.server = new NbdServer(this.backend, {
      exportName: options.exportName ?? '',
      description: `${profile.says}, emulated`,
      closeTimeoutMs: CLOSE_MS,
      onViolation: (reason) => this.#notice(`a client was cut off: ${reason}`),
    });
    this.#record = this.#openRecord(options.recordPath, profile.id, seed, options.image?.file.path);
    this.#controlPath = options.controlPath ?? '';
    this.#control = this.#controlPath === '' ? null : this.#makeControl(seed);
  }

  /**
   * Boots the drive and listens.
   * @throws RunError when the drive does not boot or an address cannot be had
   */
  async start(target: NbdListenTarget): Promise<NbdAddress> {
    try {
      this.#boot();
      if (this.#refusesMedia) this.#notice(MEDIA_REFUSED);
      const address = await this.server.listen(target);
      await this.#control?.listen(this.#controlPath);
      this.loop.start();
      return address;
    } catch (error) {
      await this.#closeAll();
      throw error;
    }
  }

  /**
   * Answers what is under way, puts the drive into standby, closes sockets and files.
   * @returns what was done; the same for every call
   */
  stop(): Promise<ServeSummary> {
    this.#stopping ??= this.#shutDown();
    return this.#stopping;
  }

  async #shutDown(): Promise<ServeSummary> {
    this.loop.resume();
    await this.server.close();
    if (this.stoppedBecause === null && !this.#refusesMedia) await this.#standBy();
    this.loop.end();
    this.#record?.end();
    await this.#closeAll();
    const wallNs = Number(process.hrtime.bigint() - this.#startedAt);
    return summarise(this.drive, this.server.stats, this.#spill, wallNs, this.loop.pacer.lostNs);
  }

  /** The mount has failed: the drive has its identity and no data. */
  get #refusesMedia(): boolean {
    return this.drive.firmware.tasks.mediaRefused;
  }

  #boot(): void {
    const { drive } = this;
    drive.powerOn();
    for (let left = BOOT_EVENTS_MAX; !drive.isReady; left--) {
      if (left > 0 && drive.panic === null && drive.timeline.step()) continue;
      const why = drive.panic === null ? 'it never became ready' : drive.panic.rule;
      throw new RunError(`the drive does not boot: ${why}`);
    }
  }

  async #standBy(): Promise<void> {
    const failed = await new Promise<boolean>((resolve) => {
      // The drive may stop instead of answering; its jobs fail then.
      this.queue.onOwnEnded = resolve;
      this.backend.standBy();
    });
    if (failed && this.stoppedBecause === null) {
      this.#notice('the drive refused STANDBY IMMEDIATE');
    }
  }

  #driveStopped(reason: string): void {
    this.stoppedBecause = reason;
    this.#notice(`the drive has stopped: ${reason}; requests fail with EIO from now on`);
    this.backend.die();
  }

  #openRecord(
    path: string | undefined,
    profile: string,
    seed: string,
    image: string | undefined,
  ): RecordWriter | null {
    if (path === undefined) return null;
    const named = image === undefined ? {} : { image };
    const record = new RecordWriter(path, this.drive.timeline, { profile, seed, ...named });
    record.onFailed = (reason) => this.#notice(reason);
    this.queue.listener = record;
    return record;
  }

  #makeControl(seed: string): ControlServer {
    return new ControlServer({
      drive: this.drive,
      queue: this.queue,
      loop: this.loop,
      isRecorded: this.#record !== null,
      keepClock: () => this.#image?.keepClock(),
      saveSnapshot: (path) => this.#saveSnapshot(seed, path),
      clientCount: () => this.server.stats.connections,
    });
  }

  /** A snapshot holds all data of the drive; an image may hold more of it than memory does. */
  #saveSnapshot(seed: string, path: string): void {
    const heldBytes = (this.drive.contents as ByteContent).pageCount * SLOT_BYTES;
    if (this.#image !== null && heldBytes > this.#memoryBytes) {
      const held = `it would hold ${formatBytes(heldBytes)}, which is more than --memory allows`;
      throw new RunError(`no snapshot: ${held}; end the server and copy ${this.#image.file.path}`);
    }
    saveSnapshot(this.drive, seed, path);
  }

  async #closeAll(): Promise<void> {
    this.loop.end();
    await this.server.close();
    await this.#control?.close();
    this.#spill.close();
    try {
      this.#image?.close();
    } catch (error) {
      if (!(error instanceof RunError)) throw error;
      this.stoppedBecause ??= error.message;
      this.#notice(`the image is not closed: ${error.message}`);
    }
  }
}

const MEDIA_REFUSED =
  'the drive lost power while it was in use and refuses its media: it tells what it is, and ' +
  'every request fails with EIO, because recovering from a loss of power is not built yet';

function buildDrive(
  profile: DriveProfile,
  memoryBytes: number,
  spill: SpillFile,
  seed: string,
): { drive: Drive; queue: RequestQueue } {
  const frames = Math.floor(memoryBytes / SLOT_BYTES);
  let queue: RequestQueue | null = null;
  const drive = new Drive(profile, {
    seed,
    contents: (machine) => new ByteContent(frames, spill, machine, undefined, sharedMemory),
    source: ({ contents }) => {
      queue = new RequestQueue(contents as ByteContent);
      return queue;
    },
  });
  return { drive, queue: queue as unknown as RequestQueue };
}

/**
 * Frames in shared memory: the engine counts plain arrays as its own and collects garbage for them.
 */
function sharedMemory(bytes: number): Uint8Array {
  return new Uint8Array(new SharedArrayBuffer(bytes));
}
