/**
 * The queue between a tool and the host adapter: commands in order, as numbers in a ring.
 *
 * Queued commands may be reordered by the drive once they are outstanding, so one that overlaps an
 * outstanding write (or a write that overlaps anything outstanding) waits for it; what is behind
 * waits as well, which keeps the order of overlapping requests. Commands that are not queued drain
 * the queue by themselves. Nothing is allocated per command.
 */

import { AtaOpcode, AtaStatus } from '../../hal/ata.ts';
import { HOST_SLOTS, PAGES_PER_COMMAND, UNQUEUED_SLOT } from '../../hal/ports.ts';
import type { Saved } from '../../hal/sim/snapshot.ts';
import { SECTOR_BYTES } from '../../hal/sim/units.ts';
import { type CommandSource, type HostAdapter, NOTHING_YET } from '../../sata/host/adapter.ts';

/** What a command of the queue does. */
export enum HostOp {
  /** READ FPDMA QUEUED. */
  Read,
  /** WRITE FPDMA QUEUED. */
  Write,
  /** WRITE FPDMA QUEUED of pages of zeros. */
  Zero,
  /** DATA SET MANAGEMENT with TRIM; whole 4 KiB pages. */
  Trim,
  /** FLUSH CACHE EXT. */
  Flush,
  /** STANDBY IMMEDIATE. */
  Standby,
}

/** Most sectors of a queued command (Serial ATA 3.1, 13.6). */
export const QUEUED_SECTORS_MAX = 65_536;
/** Sectors of one range entry: the most that keeps ranges on page boundaries. */
const RANGE_SECTORS = 65_528;
const RANGES_PER_SECTOR = SECTOR_BYTES / 8;
/** Sectors that one DATA SET MANAGEMENT of eight payload sectors can name. */
export const TRIM_SECTORS_MAX = 8 * RANGES_PER_SECTOR * RANGE_SECTORS;

const FIRST_CAPACITY = 1024;
const FREE = -1;

/** Is told of every command that enters the queue, between two events. */
export interface CommandListener {
  pushed(op: HostOp, lba: number, sectors: number, fua: boolean): void;
}

export abstract class HostQueue implements CommandSource {
  readonly wakeAtNs = 0;
  listener: CommandListener | null = null;
  /** Emulated instant at which a command ended last, in ns. */
  lastEndNs = 0;
  /** What each slot's command does; valid while it is outstanding. */
  protected readonly slotOp = new Uint8Array(HOST_SLOTS);
  protected readonly slotLba = new Float64Array(HOST_SLOTS);
  protected readonly slotSectors = new Int32Array(HOST_SLOTS);
  /** Whom each slot's command belongs to, FREE when nothing is outstanding there. */
  protected readonly slotOwner = new Int32Array(HOST_SLOTS).fill(FREE);
  /** Place of the command's first byte within its owner's data. */
  protected readonly slotOffset = new Int32Array(HOST_SLOTS);
  #op = new Uint8Array(FIRST_CAPACITY);
  #fua = new Uint8Array(FIRST_CAPACITY);
  #lba = new Float64Array(FIRST_CAPACITY);
  #sectors = new Int32Array(FIRST_CAPACITY);
  #owner = new Int32Array(FIRST_CAPACITY);
  #offset = new Int32Array(FIRST_CAPACITY);
  /** Place of the oldest waiting command; capacity is a power of two. */
  #head = 0;
  #waitingCount = 0;
  /** Bit n: tag n is outstanding; and writes. */
  #queuedMask = 0;
  #writeMask = 0;
  #outstandingCount = 0;

  /** Commands that wait, and those that the adapter has. */
  get waitingCount(): number {
    return this.#waitingCount;
  }

  get outstandingCount(): number {
    return this.#outstandingCount;
  }

  get pendingCount(): number {
    return this.#waitingCount + this.#outstandingCount;
  }

  /**
   * Adds a command; between two events only. The caller asks the adapter to pump afterwards.
   * @param owner a number from 0 that `load` and `ended` can find again in `slotOwner`
   * @param offsetBytes place of the command's data within its owner's
   */
  push(
    op: HostOp,
    lba: number,
    sectors: number,
    fua: boolean,
    owner: number,
    offsetBytes: number,
  ): void {
    if (this.#waitingCount === this.#op.length) this.#grow();
    const at = (this.#head + this.#waitingCount++) & (this.#op.length - 1);
    this.#op[at] = op;
    this.#fua[at] = fua ? 1 : 0;
    this.#lba[at] = lba;
    this.#sectors[at] = sectors;
    this.#owner[at] = owner;
    this.#offset[at] = offsetBytes;
    if (this.listener !== null) this.listener.pushed(op, lba, sectors, fua);
  }

  next(adapter: HostAdapter, tag: number): number {
    if (this.#waitingCount === 0) return NOTHING_YET;
    const at = this.#head;
    const op = this.#op[at]! as HostOp;
    const queued = op <= HostOp.Zero;
    if (queued && this.#overlaps(op, this.#lba[at]!, this.#sectors[at]!)) return NOTHING_YET;
    const slot = queued ? tag : UNQUEUED_SLOT;
    const fua = this.#fua[at]!;
    this.slotOp[slot] = op;
    this.slotLba[slot] = this.#lba[at]!;
    this.slotSectors[slot] = this.#sectors[at]!;
    this.slotOwner[slot] = this.#owner[at]!;
    this.slotOffset[slot] = this.#offset[at]!;
    this.#head = (at + 1) & (this.#op.length - 1);
    this.#waitingCount--;
    this.#outstandingCount++;
    if (queued) this.#issueQueued(adapter, slot, op, fua);
    else issueUnqueued(adapter, op, this.slotLba[slot]!, this.slotSectors[slot]!);
    return slot;
  }

  completed(adapter: HostAdapter, slot: number, status: number, _error: number): void {
    if (this.slotOwner[slot] === FREE) return;
    this.lastEndNs = adapter.nowNs;
    this.ended(adapter, slot, (status & AtaStatus.Error) !== 0);
    this.#release(slot);
  }

  lost(adapter: HostAdapter, slot: number): void {
    if (this.slotOwner[slot] === FREE) return;
    this.ended(adapter, slot, true);
    this.#release(slot);
  }

  /** Gives up everything, without a word to the owners: for a drive that has stopped. */
  clear(): void {
    this.#waitingCount = 0;
    this.#outstandingCount = 0;
    this.#queuedMask = 0;
    this.#writeMask = 0;
    this.slotOwner.fill(FREE);
  }

  /** Puts the data handles of a write into `adapter.data` from `at` on, one a 4 KiB page. */
  protected abstract load(adapter: HostAdapter, slot: number, at: number, pages: number): void;

  /** The slot's command has ended; the data handles of a read are valid until this returns. */
  protected abstract ended(adapter: HostAdapter, slot: number, failed: boolean): void;

  save(): Saved {
    const waiting = Array.from(
      { length: this.#waitingCount },
      (_, i) => (this.#head + i) & (this.#op.length - 1),
    );
    return {
      op: Uint8Array.from(waiting, (at) => this.#op[at]!),
      fua: Uint8Array.from(waiting, (at) => this.#fua[at]!),
      lba: Float64Array.from(waiting, (at) => this.#lba[at]!),
      sectors: Int32Array.from(waiting, (at) => this.#sectors[at]!),
      owner: Int32Array.from(waiting, (at) => this.#owner[at]!),
      offset: Int32Array.from(waiting, (at) => this.#offset[at]!),
      ...{ slotOp: this.slotOp.slice(), slotLba: this.slotLba.slice() },
      ...{ slotSectors: this.slotSectors.slice(), slotOwner: this.slotOwner.slice() },
      ...{ slotOffset: this.slotOffset.slice(), lastEndNs: this.lastEndNs },
    };
  }

  restore(saved: Saved): void {
    const op = saved.op as Uint8Array;
    this.clear();
    while (this.#op.length < op.length) this.#grow();
    this.#head = 0;
    this.#waitingCount = op.length;
    this.#op.set(op);
    this.#fua.set(saved.fua as Uint8Array);
    this.#lba.set(saved.lba as Float64Array);
    this.#sectors.set(saved.sectors as Int32Array);
    this.#owner.set(saved.owner as Int32Array);
    this.#offset.set(saved.offset as Int32Array);
    this.slotOp.set(saved.slotOp as Uint8Array);
    this.slotLba.set(saved.slotLba as Float64Array);
    this.slotSectors.set(saved.slotSectors as Int32Array);
    this.slotOwner.set(saved.slotOwner as Int32Array);
    this.slotOffset.set(saved.slotOffset as Int32Array);
    this.lastEndNs = saved.lastEndNs as number;
    for (let slot = 0; slot < HOST_SLOTS; slot++) {
      if (this.slotOwner[slot] === FREE) continue;
      this.#outstandingCount++;
      if (slot !== UNQUEUED_SLOT) this.#mark(slot, this.slotOp[slot]! as HostOp);
    }
  }

  #issueQueued(adapter: HostAdapter, slot: number, op: HostOp, fua: number): void {
    const lba = this.slotLba[slot]!;
    const sectors = this.slotSectors[slot]!;
    this.#mark(slot, op);
    if (op === HostOp.Read) {
      adapter.readQueued(slot, lba, sectors);
      return;
    }
    adapter.writeQueued(slot, lba, sectors, fua);
    const at = slot * PAGES_PER_COMMAND;
    const pages = Math.ceil(((lba % 8) + sectors) / 8);
    if (op === HostOp.Zero) adapter.data.fill(0, at, at + pages);
    else this.load(adapter, slot, at, pages);
  }

  #mark(slot: number, op: HostOp): void {
    this.#queuedMask |= 1 << slot;
    if (op !== HostOp.Read) this.#writeMask |= 1 << slot;
  }

  #release(slot: number): void {
    this.slotOwner[slot] = FREE;
    this.#outstandingCount--;
    if (slot === UNQUEUED_SLOT) return;
    this.#queuedMask &= ~(1 << slot);
    this.#writeMask &= ~(1 << slot);
  }

  /** Whether a queued command touches sectors of an outstanding one and either of them writes. */
  #overlaps(op: HostOp, lba: number, sectors: number): boolean {
    let mask = op === HostOp.Read ? this.#writeMask : this.#queuedMask;
    for (; mask !== 0; mask &= mask - 1) {
      const slot = 31 - Math.clz32(mask & -mask);
      const from = this.slotLba[slot]!;
      if (lba < from + this.slotSectors[slot]! && from < lba + sectors) return true;
    }
    return false;
  }

  #grow(): void {
    const capacity = this.#op.length;
    const order = Int32Array.from({ length: capacity }, (_, i) => (this.#head + i) % capacity);
    this.#op = longer(this.#op, new Uint8Array(2 * capacity), order);
    this.#fua = longer(this.#fua, new Uint8Array(2 * capacity), order);
    this.#lba = longer(this.#lba, new Float64Array(2 * capacity), order);
    this.#sectors = longer(this.#sectors, new Int32Array(2 * capacity), order);
    this.#owner = longer(this.#owner, new Int32Array(2 * capacity), order);
    this.#offset = longer(this.#offset, new Int32Array(2 * capacity), order);
    this.#head = 0;
  }
}

function longer<A extends Uint8Array | Int32Array | Float64Array>(
  from: A,
  into: A,
  order: Int32Array,
): A {
  order.forEach((at, index) => {
    into[index] = from[at]!;
  });
  return into;
}

function issueUnqueued(adapter: HostAdapter, op: HostOp, lba: number, sectors: number): void {
  if (op === HostOp.Flush) {
    adapter.unqueued(AtaOpcode.FlushCacheExt, 0, 0, 0);
    return;
  }
  if (op === HostOp.Standby) {
    adapter.unqueued(AtaOpcode.StandbyImmediate, 0, 0, 0);
    return;
  }
  const ranges = Math.ceil(sectors / RANGE_SECTORS);
  const blocks = Math.ceil(ranges / RANGES_PER_SECTOR);
  adapter.unqueued(AtaOpcode.DataSetManagement, 1, 0, blocks);
  adapter.sectorData.fill(0, 0, blocks * SECTOR_BYTES);
  for (let range = 0; range < ranges; range++) {
    const first = lba + range * RANGE_SECTORS;
    putRange(adapter.sectorData, range * 8, first, Math.min(RANGE_SECTORS, lba + sectors - first));
  }
}

/** One entry of a DATA SET MANAGEMENT payload (ACS-2, 7.10): 48 bits of LBA, 16 of length. */
function putRange(payload: Uint8Array, at: number, lba: number, sectors: number): void {
  const high = Math.floor(lba / 2 ** 32);
  for (let byte = 0; byte < 4; byte++) payload[at + byte] = (lba >>> (8 * byte)) & 0xff;
  payload[at + 4] = high & 0xff;
  payload[at + 5] = (high >>> 8) & 0xff;
  payload[at + 6] = sectors & 0xff;
  payload[at + 7] = sectors >>> 8;
}
