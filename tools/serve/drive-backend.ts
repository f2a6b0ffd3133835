/**
 * The emulated drive as a block device: NBD requests become ATA commands, and their data pages.
 *
 * `submit` cuts a request into commands and queues them; when the last of them has ended, the
 * request waits in a list until `deliver` answers it. Answers never leave from inside an event, so
 * that a client's next request cannot arrive there either. Requests are followed by pooled jobs.
 */

import type { Drive } from '../../firmware/drive.ts';
import type { ByteContent } from '../../hal/content/byte-content.ts';
import { PAGES_PER_COMMAND } from '../../hal/ports.ts';
import type { Saved } from '../../hal/sim/snapshot.ts';
import { SECTOR_BYTES, SECTORS_PER_SLOT, SLOT_BYTES } from '../../hal/sim/units.ts';
import type { HostAdapter } from '../../sata/host/adapter.ts';
import { CommandQueue } from '../../sata/host/command-queue.ts';
import { RunError } from '../errors.ts';
import { PageLost } from '../image/image-file.ts';
import { pushExtents } from './extents.ts';
import { HostOp, HostQueue, QUEUED_SECTORS_MAX, TRIM_SECTORS_MAX } from './host-queue.ts';
import { type BackendRequest, type NbdBackend, NbdError, NbdKind } from './nbd/backend.ts';

/** Sectors of one read or write command: 1 MiB, so that a big request keeps many tags busy. */
const SPLIT_SECTORS = 2048;
const NO_BYTES = new Uint8Array(0);

/** One request on its way, or a command of the server's own (no request). */
class Job {
  readonly number: number;
  request: BackendRequest | null = null;
  /** The request's data as plain bytes: a Buffer's views cost more. */
  data: Uint8Array = NO_BYTES;
  /** Commands that have not ended. */
  left = 0;
  failed = false;

  constructor(number: number) {
    this.number = number;
  }
}

/** What the backend needs of whoever runs the emulator. */
export interface EmulatorClock {
  /** A request is about to be queued: brings emulated time up to the present. */
  catchUp(): void;
  /** Commands are waiting: run soon. */
  wake(): void;
}

/** The command source of a served drive: bytes of requests in, handles of pages out. */
export class RequestQueue extends HostQueue {
  readonly #contents: ByteContent;
  readonly #jobs: Job[] = [];
  readonly #free: Job[] = [];
  /** Jobs whose commands have all ended, oldest first. */
  #finished: Job[] = [];
  /** The list that `deliver` walks, used in turn with the other. */
  #delivering: Job[] = [];
  readonly #page = new Uint8Array(SLOT_BYTES);
  /** Told that a job without a request has ended. */
  onOwnEnded: (failed: boolean) => void = () => {};
  /** Told of a read that fails because the image has lost a page. */
  onPageLost: (reason: string) => void = () => {};

  constructor(contents: ByteContent) {
    super();
    this.#contents = contents;
  }

  /** A job for a request, or for a command of the server's own. */
  open(request: BackendRequest | null): Job {
    const job = this.#free.pop() ?? this.#addJob();
    job.request = request;
    job.left = 0;
    job.failed = false;
    if (request !== null && request.data.length > 0) {
      const { buffer, byteOffset, length } = request.data;
      job.data = new Uint8Array(buffer, byteOffset, length);
    }
    return job;
  }

  add(job: Job, op: HostOp, lba: number, sectors: number, fua: boolean, offset: number): void {
    job.left++;
    this.push(op, lba, sectors, fua, job.number, offset);
  }

  /** Requests that `deliver` would answer. */
  get finishedCount(): number {
    return this.#finished.length;
  }

  /** Answers what has ended; between two events only. */
  deliver(): void {
    while (this.#finished.length > 0) {
      const jobs = this.#finished;
      this.#finished = this.#delivering;
      this.#delivering = jobs;
      for (const job of jobs) this.#answer(job);
      jobs.length = 0;
    }
  }

  /**
   * Fails every request that has not been answered: the drive has stopped. Those that have ended
   * fail too, as an image may not have what they stand for.
   */
  failAll(): void {
    this.clear();
    for (const job of this.#finished) job.failed = true;
    this.deliver();
    for (const job of this.#jobs) {
      if (job.left === 0) continue;
      job.left = 0;
      job.failed = true;
      this.#finished.push(job);
    }
    this.deliver();
  }

  protected override load(adapter: HostAdapter, slot: number, at: number, pages: number): void {
    const { data } = this.#jobs[this.slotOwner[slot]!]!;
    const skip = this.slotLba[slot]! % SECTORS_PER_SLOT;
    const end = skip + this.slotSectors[slot]!;
    // Where the first page would begin in the request's data; negative when it begins before.
    const from = this.slotOffset[slot]! - skip * SECTOR_BYTES;
    for (let page = 0; page < pages; page++) {
      const whole = (page > 0 || skip === 0) && (page + 1) * SECTORS_PER_SLOT <= end;
      const offset = from + page * SLOT_BYTES;
      adapter.data[at + page] = whole
        ? this.#contents.store(data, offset)
        : this.#storePart(data, offset, page === 0 ? skip : 0, end - page * SECTORS_PER_SLOT);
    }
  }

  protected override ended(adapter: HostAdapter, slot: number, failed: boolean): void {
    const job = this.#jobs[this.slotOwner[slot]!]!;
    const isRead = !failed && this.slotOp[slot] === HostOp.Read;
    if (failed || (isRead && !this.#unloadSafely(adapter, slot, job.data))) job.failed = true;
    job.left--;
    if (job.left === 0) this.#finished.push(job);
  }

  /**
   * With nothing outstanding the queue's state is that of an empty command queue, so that any tool
   * can open a snapshot of a served drive.
   */
  override save(): Saved {
    if (this.pendingCount > 0) throw new RunError('commands are outstanding: nothing is saved');
    return new CommandQueue(this.#contents).save();
  }

  override restore(): void {
    this.clear();
  }

  /** False when what the read brought is not to be had: the flash is whole, its image is not. */
  #unloadSafely(adapter: HostAdapter, slot: number, data: Uint8Array): boolean {
    try {
      this.#unload(adapter, slot, data);
      return true;
    } catch (error) {
      if (!(error instanceof PageLost)) throw error;
      this.onPageLost(error.message);
      return false;
    }
  }

  /** Copies what a read brought into the request. */
  #unload(adapter: HostAdapter, slot: number, data: Uint8Array): void {
    const at = slot * PAGES_PER_COMMAND;
    const skip = this.slotLba[slot]! % SECTORS_PER_SLOT;
    const end = this.slotOffset[slot]! + this.slotSectors[slot]! * SECTOR_BYTES;
    let offset = this.slotOffset[slot]!;
    let within = skip * SECTOR_BYTES;
    for (let page = at; offset < end; page++) {
      const content = adapter.data[page]!;
      const bytes = Math.min(SLOT_BYTES - within, end - offset);
      if (content === 0) data.fill(0, offset, offset + bytes);
      else {
        const held = this.#contents.bytesOf(content);
        data.set(bytes === SLOT_BYTES ? held : held.subarray(within, within + bytes), offset);
      }
      offset += bytes;
      within = 0;
    }
  }

  /** A page of which the command writes only sectors `first` to `end`. */
  #storePart(data: Uint8Array, offset: number, first: number, end: number): number {
    const from = first * SECTOR_BYTES;
    const to = Math.min(SLOT_BYTES, end * SECTOR_BYTES);
    this.#page.fill(0);
    this.#page.set(data.subarray(offset + from, offset + to), from);
    return this.#contents.store(this.#page);
  }

  #answer(job: Job): void {
    const { request, failed } = job;
    job.request = null;
    job.data = NO_BYTES;
    this.#free.push(job);
    if (request === null) this.onOwnEnded(failed);
    else request.complete(failed ? NbdError.Io : NbdError.Ok);
  }

  #addJob(): Job {
    const job = new Job(this.#jobs.length);
    this.#jobs.push(job);
    return job;
  }
}

export class DriveBackend implements NbdBackend {
  readonly sizeBytes: number;
  readonly zeroesFast = true;
  readonly #drive: Drive;
  readonly #queue: RequestQueue;
  readonly #clock: EmulatorClock;
  /** The drive has stopped: everything fails. */
  isDead = false;

  constructor(drive: Drive, queue: RequestQueue, clock: EmulatorClock) {
    this.#drive = drive;
    this.#queue = queue;
    this.#clock = clock;
    this.sizeBytes = drive.profile.identity.sectors * SECTOR_BYTES;
  }

  submit(request: BackendRequest): void {
    this.#clock.catchUp();
    if (this.isDead) {
      request.complete(NbdError.Io);
      return;
    }
    if (request.kind === NbdKind.BlockStatus) {
      pushExtents(this.#drive.l2p.values, request);
      request.complete(NbdError.Ok);
      return;
    }
    const job = this.#queue.open(request);
    this.#queueCommands(job, request);
    // A trim of less than a page asks for nothing: it ends with a flush, if it asked for one.
    if (job.left === 0) this.#queue.add(job, HostOp.Flush, 0, 0, false, 0);
    this.#drive.host.pump();
    this.#clock.wake();
  }

  /** Queues STANDBY IMMEDIATE; `queue.onOwnEnded` is told of its end. */
  standBy(): void {
    const job = this.#queue.open(null);
    this.#queue.add(job, HostOp.Standby, 0, 0, false, 0);
    this.#drive.host.pump();
    this.#clock.wake();
  }

  /** Fails what is outstanding with EIO, and everything from now on. */
  die(): void {
    this.isDead = true;
    this.#queue.failAll();
  }

  #queueCommands(job: Job, request: BackendRequest): void {
    const lba = request.offsetBytes / SECTOR_BYTES;
    const sectors = request.lengthBytes / SECTOR_BYTES;
    switch (request.kind) {
      case NbdKind.Read:
        this.#split(job, HostOp.Read, lba, sectors, false, SPLIT_SECTORS);
        return;
      case NbdKind.Write:
        this.#split(job, HostOp.Write, lba, sectors, request.fua, SPLIT_SECTORS);
        return;
      case NbdKind.Trim:
        this.#trim(job, lba, sectors, request.fua);
        return;
      case NbdKind.WriteZeroes:
        if (request.noHole) {
          this.#split(job, HostOp.Zero, lba, sectors, request.fua, QUEUED_SECTORS_MAX);
        } else this.#zeroByTrim(job, lba, sectors, request.fua);
        return;
      default:
        this.#queue.add(job, HostOp.Flush, 0, 0, false, 0);
    }
  }

  /** Commands that end on multiples of `most`, so that only the outer edges are unaligned. */
  #split(job: Job, op: HostOp, lba: number, sectors: number, fua: boolean, most: number): void {
    const end = lba + sectors;
    for (let from = lba; from < end; ) {
      const to = Math.min(end, (Math.floor(from / most) + 1) * most);
      this.#queue.add(job, op, from, to - from, fua, (from - lba) * SECTOR_BYTES);
      from = to;
    }
  }

  /** Trims the whole pages of a range; a drive's TRIM has no FUA, so a flush follows. */
  #trim(job: Job, lba: number, sectors: number, fua: boolean): void {
    const end = alignDown(lba + sectors);
    for (let from = alignUp(lba); from < end; from += TRIM_SECTORS_MAX) {
      this.#queue.add(job, HostOp.Trim, from, Math.min(TRIM_SECTORS_MAX, end - from), false, 0);
    }
    if (fua) this.#queue.add(job, HostOp.Flush, 0, 0, false, 0);
  }

  /**
   * Zeroes that may become a hole: whole pages are trimmed, the edges are written. The drive does
   * not promise zeroes after TRIM (IDENTIFY word 69); it is right here because the emulated drive
   * reads an unmapped page as zeroes.
   */
  #zeroByTrim(job: Job, lba: number, sectors: number, fua: boolean): void {
    const end = lba + sectors;
    const first = alignUp(lba);
    const last = alignDown(end);
    if (first >= last) {
      this.#split(job, HostOp.Zero, lba, sectors, fua, QUEUED_SECTORS_MAX);
      return;
    }
    if (lba < first) this.#queue.add(job, HostOp.Zero, lba, first - lba, fua, 0);
    if (last < end) this.#queue.add(job, HostOp.Zero, last, end - last, fua, 0);
    this.#trim(job, first, last - first, fua);
  }
}

function alignUp(lba: number): number {
  return Math.ceil(lba / SECTORS_PER_SLOT) * SECTORS_PER_SLOT;
}

function alignDown(lba: number): number {
  return Math.floor(lba / SECTORS_PER_SLOT) * SECTORS_PER_SLOT;
}
