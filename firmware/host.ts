/**
 * A host in front of a drive: the library's plain way to use one.
 *
 * Every method issues real ATA commands through the host adapter and runs the timeline until they
 * have ended; `submit` only issues, so that one can stop in the middle.
 */

import { AtaOpcode } from '../hal/ata.ts';
import type { ByteContent } from '../hal/content/byte-content.ts';
import type { DriveProfile } from '../hal/profile.ts';
import { invariant } from '../hal/sim/invariant.ts';
import { SLOT_BYTES } from '../hal/sim/units.ts';
import type { CommandQueue, CommandResult, QueuedCommand } from '../sata/host/command-queue.ts';
import { encodeTrimRanges } from '../sata/trim-ranges.ts';
import { Drive, type DriveOptions, type NandImage } from './drive.ts';
import { PROFILES, profileById } from './profiles/index.ts';

/** Events one command may take before the drive counts as hung. */
const EVENTS_PER_COMMAND_MAX = 50_000_000;
const FUA = 0x80;

/** The drive did not do what it was asked: no such profile, a hang, a panic. */
export class DriveStopped extends Error {
  override readonly name = 'DriveStopped';
}

export class Host {
  readonly drive: Drive;
  readonly #queue: CommandQueue;

  /** @param profile a profile or its name: 'toy', 'vector-128', 'vector-256', 'vector-512' */
  constructor(profile: DriveProfile | string, options: Omit<DriveOptions, 'source'> = {}) {
    this.drive = new Drive(typeof profile === 'string' ? profileNamed(profile) : profile, options);
    this.#queue = this.drive.queue!;
  }

  /** Turns the drive on and runs until it takes commands. */
  boot(): void {
    this.drive.powerOn();
    this.runUntil(() => this.drive.isReady);
  }

  /** Fires one event; false when nothing is pending. */
  step(): boolean {
    return this.drive.timeline.step();
  }

  /** Runs until `holds` is true; throws DriveStopped when the drive comes to rest before. */
  runUntil(holds: () => boolean): void {
    let left = EVENTS_PER_COMMAND_MAX;
    while (!holds()) {
      if (left-- === 0) throw this.#stopped('the event limit was reached');
      if (!this.step()) throw this.#stopped('nothing is pending');
    }
  }

  /** Runs for `ns` of simulated time: to an instant that may lie between two events. */
  runFor(ns: number): void {
    const { timeline } = this.drive;
    timeline.runUntil(timeline.nowNs + ns);
  }

  /** Issues a command without running it; returns its number for `result`. */
  submit(command: Partial<QueuedCommand> & { opcode: number }): number {
    const id = this.#queue.push({
      ...{ feature: 0, lba: 0, sectors: 0, count: 0, device: 0, data: null, payload: null },
      ...command,
    });
    this.drive.host.pump();
    return id;
  }

  /** The result of a command that has ended, null before. */
  result(id: number): CommandResult | null {
    return this.#queue.result(id);
  }

  /** Issues a command and runs until it has ended. */
  run(command: Partial<QueuedCommand> & { opcode: number }): CommandResult {
    const id = this.submit(command);
    this.runUntil(() => this.#queue.result(id) !== null);
    return this.#queue.takeResult(id)!;
  }

  /** Number of a write of whole or partial 4 KiB pages: one tag a page touched. */
  submitWrite(
    lba: number,
    tags: readonly number[],
    sectors = tags.length * 8,
    fua = false,
  ): number {
    return this.submit({
      opcode: AtaOpcode.WriteFpdmaQueued,
      device: fua ? FUA : 0,
      ...{ lba, sectors, data: Int32Array.from(tags) },
    });
  }

  /** Writes tags (drive of tagged content): one a 4 KiB page touched. */
  write(lba: number, tags: readonly number[], sectors = tags.length * 8): CommandResult {
    const id = this.submitWrite(lba, tags, sectors);
    this.runUntil(() => this.#queue.result(id) !== null);
    return this.#queue.takeResult(id)!;
  }

  /** Writes bytes (drive of byte content): whole sectors at any LBA. */
  writeBytes(lba: number, bytes: Uint8Array): CommandResult {
    const { contents } = this.drive;
    invariant(contents.holdsBytes, 'bytes are written to a drive that holds bytes');
    const offset = (lba % 8) * 512;
    const pages = Math.ceil((offset + bytes.length) / SLOT_BYTES);
    const padded = new Uint8Array(pages * SLOT_BYTES);
    padded.set(bytes, offset);
    const store = contents as ByteContent;
    const data = Int32Array.from({ length: pages }, (_, i) => store.store(padded, i * SLOT_BYTES));
    return this.run({
      opcode: AtaOpcode.WriteFpdmaQueued,
      ...{ lba, sectors: bytes.length / 512, data },
    });
  }

  /** Reads sectors: `tags` holds one a sector, `bytes` the data of a drive that holds bytes. */
  read(lba: number, sectors: number): CommandResult {
    return this.run({ opcode: AtaOpcode.ReadFpdmaQueued, lba, sectors });
  }

  flush(): CommandResult {
    return this.run({ opcode: AtaOpcode.FlushCacheExt });
  }

  /** Trims ranges of sectors. */
  trim(ranges: readonly { lba: number; sectors: number }[]): CommandResult {
    const payload = encodeTrimRanges(ranges);
    return this.run({
      opcode: AtaOpcode.DataSetManagement,
      ...{ feature: 1, count: payload.length / 512, payload },
    });
  }

  /** STANDBY IMMEDIATE: everything is durable when it returns. */
  standby(): CommandResult {
    return this.run({ opcode: AtaOpcode.StandbyImmediate });
  }

  /** Cuts the power now; what survives is returned. */
  cutPower(): NandImage {
    return this.drive.cutPower();
  }

  #stopped(why: string): DriveStopped {
    const { panic, timeline } = this.drive;
    const reason = panic === null ? why : `${panic.task} broke the rule: ${panic.rule}`;
    return new DriveStopped(`the drive stopped at event ${timeline.ordinal}: ${reason}`);
  }
}

function profileNamed(id: string): DriveProfile {
  const profile = profileById(id);
  if (profile !== undefined) return profile;
  const names = PROFILES.map((known) => known.id).join(', ');
  throw new DriveStopped(`there is no profile '${id}'; the profiles are ${names}`);
}
