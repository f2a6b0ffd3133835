/**
 * Faults of the whole drive: what a turned bit in memory does, and when power is lost.
 *
 * Flash and link ask the fault list themselves. Memory is flat and asks nobody: the timeline raises
 * an alert at the ordinal of a flip, and the flip is carried out between two events. Page data has
 * carried a CRC since it came from the host, so data that lies under a flip reads as uncorrectable
 * from then on. A table has none: firmware meets what it finds. A rule that breaks because of that
 * is a panic wherever it breaks, in a core or in a die, and never the end of the emulation.
 */

import type { DramFlip, Fault, SramFlip } from '../hal/faults/fault.ts';
import { FaultList } from '../hal/faults/fault-list.ts';
import { FlashOp, type FlashOps, FlashStatus, SLOTS_PER_OP } from '../hal/flash-ops.ts';
import type { Geometry } from '../hal/geometry.ts';
import { HOST_SLOTS, HostRequest, PAGES_PER_COMMAND } from '../hal/ports.ts';
import type { BigTable } from '../hal/sim/big-table.ts';
import { InvariantBroken, invariant } from '../hal/sim/invariant.ts';
import type { Saveable, Saved } from '../hal/sim/snapshot.ts';
import type { Alarm, AlarmOwner, Timeline } from '../hal/sim/timeline.ts';
import { SLOT_BYTES, WHOLE_SLOT } from '../hal/sim/units.ts';
import { DiePhase } from '../nand/die-table.ts';
import { SlotPhase } from '../sata/slots.ts';
import { OpOwner } from './board.ts';
import type { Drive } from './drive.ts';
import { CopyBuffer } from './ftl/copy-buffer.ts';
import { MetadataUser } from './ftl/metadata-io.ts';
import { SuperblockState } from './ftl/superblocks.ts';
import { sectorsOf } from './page-sectors.ts';

const NONE = -1;
const CELLS_PER_PAGE = SLOT_BYTES / 4;
/** Bytes of a row of the block table in DRAM, see `#flipRow`. */
const ROW_BYTES = 32;
const IMAGE_RULE = 'a bit of the firmware image has flipped';
const ROW_RULE = 'a row of the block table has a state that exists';
const DESCRIPTOR_RULE = 'a flash descriptor names what exists';
const ADDRESS_RULE = 'a core reads an address that exists (data abort)';
/** After these, flash or memory does not hold what firmware has put there. */
const TREACHEROUS: readonly Fault['kind'][] = [
  'dram-flip',
  'sram-flip',
  'silent-no-op',
  'wrong-block',
];

/** What becomes of a descriptor. */
enum Stage {
  Free,
  /** Queued for its die. */
  Waiting,
  /** Its die works on it. */
  Working,
  /** Ended, and not yet retired. */
  Ended,
}

/** The fault list of a drive: keeps the timeline's alert at the ordinal of the next flip. */
export class DriveFaultList extends FaultList {
  readonly #timeline: Timeline;

  constructor(timeline: Timeline, ...list: ConstructorParameters<typeof FaultList>) {
    super(...list);
    this.#timeline = timeline;
  }

  override add(...fault: Parameters<FaultList['add']>): number {
    const id = super.add(...fault);
    this.#setAlert();
    return id;
  }

  override lift(id: number): boolean {
    const wasThere = super.lift(id);
    this.#setAlert();
    return wasThere;
  }

  override liftAll(): number {
    const count = super.liftAll();
    this.#setAlert();
    return count;
  }

  override dueMemory(ordinal: number): ReturnType<FaultList['dueMemory']> {
    const due = super.dueMemory(ordinal);
    this.#setAlert();
    return due;
  }

  override restore(saved: Saved): void {
    super.restore(saved);
    this.#setAlert();
  }

  #setAlert(): void {
    this.#timeline.alertOrdinal = this.nextMemoryOrdinal;
  }
}

export class DriveFaults implements AlarmOwner {
  readonly #drive: Drive;
  readonly #cut: Alarm;

  /** To be built last: its alarm comes after all others. */
  constructor(drive: Drive) {
    const { timeline, array } = drive;
    this.#drive = drive;
    this.#cut = timeline.claim('power-cut', this);
    timeline.onAlert = () => this.#carryOut();
    timeline.onBroken = (error) => this.#explain(error);
    array.onPowerCut = (atNs) => this.cutAt(atNs);
  }

  /** Power is lost at an instant; the earliest counts. */
  cutAt(atNs: number): void {
    invariant(this.#drive.power.on, 'power that is on is cut');
    if (this.#cut.armed && this.#cut.deadlineNs <= atNs) return;
    this.#cut.disarm();
    this.#cut.armAt(atNs);
  }

  onAlarm(): void {
    this.#drive.powerOff();
  }

  /** To be called before the flash loses its power. */
  powerFalls(): void {
    this.#cut.disarm();
    if (this.#hasTreachery) this.#dropImpossible();
  }

  /** A fault has fired after which rules may break that hold otherwise. */
  get #hasTreachery(): boolean {
    return this.#drive.faults
      .list()
      .some(({ fault, firedCount }) => firedCount > 0 && TREACHEROUS.includes(fault.kind));
  }

  #carryOut(): void {
    const { faults, timeline, power } = this.#drive;
    for (const fault of faults.dueMemory(timeline.ordinal)) {
      // Memory without power holds nothing that could turn over.
      if (!power.on) continue;
      if (fault.kind === 'sram-flip') this.#flipDescriptor(fault);
      else if (this.#drive.dram.flip()) this.#flipDram(fault);
    }
  }

  /** Stops both cores; one that has stopped before keeps its reason. */
  #halt(rule: string): void {
    const { arm, aragon } = this.#drive;
    for (const core of [arm, aragon.core]) {
      if (core.panic === null) core.halt(rule, core.doing);
    }
  }

  /** An event has thrown: after a fault that can be its reason, that is a panic. */
  #explain(error: unknown): boolean {
    const isRule = error instanceof InvariantBroken;
    const isAddress = error instanceof TypeError || error instanceof RangeError;
    if (!(isRule || isAddress) || !this.#hasTreachery) return false;
    this.#halt(isRule ? error.message : ADDRESS_RULE);
    this.#endStranded();
    return true;
  }

  /** Dies whose event has thrown: nothing would ever end their operations. */
  #endStranded(): void {
    const { array, timeline } = this.#drive;
    const pending = new Set(timeline.pending().map(({ name }) => name));
    array.work.op.forEach((op, die) => {
      if (op !== NONE && !pending.has(`die${die}`)) array.work.end(die, timeline.nowNs);
    });
  }

  /** Programs into pages that are taken are not cut short: there is nothing they could harm. */
  #dropImpossible(): void {
    const { array, geometry, ops, timeline } = this.#drive;
    const { work, store } = array;
    work.op.forEach((op, die) => {
      if (op === NONE || ops.op[op] !== FlashOp.Program) return;
      for (let plane = 0; plane < geometry.planes; plane++) {
        const index = geometry.blockIndex(die, work.block[die]! + plane);
        const isOpen = index < geometry.blocks && ops.page[op]! >= store.history.nextPageOf(index);
        if (isOpen || work.op[die] === NONE) continue;
        work.end(die, timeline.nowNs);
      }
    });
  }

  #flipDram({ region, cell, byte, bit }: DramFlip): void {
    const { l2p, validBits } = this.#drive;
    const at = cell ?? Math.floor(byte! / 4);
    const bitInCell = cell === undefined ? (byte! % 4) * 8 + bit : bit;
    const page = Math.floor(at / CELLS_PER_PAGE);
    switch (region) {
      case 'l2p':
        flipCell(l2p, at, bitInCell);
        return;
      case 'valid-bits':
        flipCell(validBits, at, bitInCell);
        return;
      case 'block-table':
        this.#flipRow(at * 4 + (bitInCell >>> 3), bitInCell & 7);
        return;
      case 'write-buffer':
        this.#spoilWritten(page);
        return;
      case 'read-buffer':
        this.#spoilRead(page);
        return;
      case 'copy-buffer':
        this.#spoilCopied(page);
        return;
      default:
        this.#halt(IMAGE_RULE);
    }
  }

  /**
   * A row of the block table: state, write mode, programs under way (16 bits), erases, valid slots
   * (32 each), latest invalidation, opening (48 each), bad dies (64). Little-endian; the order of
   * the fields is assumed.
   */
  #flipRow(byte: number, bit: number): void {
    const { superblocks } = this.#drive.firmware;
    const row = Math.floor(byte / ROW_BYTES);
    const at = byte % ROW_BYTES;
    if (at === 0) {
      const state = superblocks.state[row]! ^ (1 << bit);
      if (state <= SuperblockState.Bad) superblocks.state[row] = state;
      else this.#halt(ROW_RULE);
    } else if (at === 1) {
      const lsbOnly = superblocks.lsbOnly[row]! ^ (1 << bit);
      if (lsbOnly <= 1) superblocks.lsbOnly[row] = lsbOnly;
      else this.#halt(ROW_RULE);
    } else if (at < 4) flipNumber(superblocks.programsInFlight, row, (at - 2) * 8 + bit);
    else if (at < 8) flipNumber(superblocks.eraseCount, row, (at - 4) * 8 + bit);
    else if (at < 12) flipNumber(superblocks.validCount, row, (at - 8) * 8 + bit);
    else if (at < 18) flipNumber(superblocks.invalidatedOrder, row, (at - 12) * 8 + bit);
    else if (at < 24) flipNumber(superblocks.openedNumber, row, (at - 18) * 8 + bit);
    else {
      const words = superblocks.bad.words.slice(row * 2, row * 2 + 2);
      flipNumber(words, (at - 24) >>> 2, ((at - 24) & 3) * 8 + bit);
      superblocks.bad.load(row, words[0]!, words[1]!);
    }
  }

  /** The data of a place of the write buffer, also on its way to a die that has not got it yet. */
  #spoilWritten(place: number): void {
    const { firmware, ops, contents, array, geometry } = this.#drive;
    if (!firmware.buffer.spoil(place)) return;
    this.#stages().forEach((stage, op) => {
      const isDue =
        stage === Stage.Waiting ||
        (stage === Stage.Working && array.phaseOf(ops.die[op]!) === DiePhase.TransferIn);
      if (!isDue || ops.owner[op] !== OpOwner.HostStream) return;
      const count = Math.min(ops.argument[op]!, geometry.slotsPerUnit);
      for (let slot = op * SLOTS_PER_OP; slot < op * SLOTS_PER_OP + count; slot++) {
        if (ops.target[slot] !== place) continue;
        ops.content[slot] = contents.spoil(ops.content[slot]!, WHOLE_SLOT);
      }
    });
  }

  /** Data of a read that waits until its window is complete: the command ends with UNC. */
  #spoilRead(place: number): void {
    const { firmware, port, profile } = this.#drive;
    const { burstPages } = profile.policy;
    const slot = Math.floor(place / burstPages);
    if (slot >= HOST_SLOTS || port.slots.phase[slot] !== SlotPhase.Held) return;
    const request = port.request[slot] as HostRequest;
    if (request !== HostRequest.Read && request !== HostRequest.Verify) return;
    changeState(firmware.reader, (reader) => {
      const page = (reader.window as Int32Array)[slot]! + (place % burstPages);
      const isWaiting = (reader.pending as Int32Array)[slot]! > 0 && page < port.pages[slot]!;
      if (!isWaiting || port.content[slot * PAGES_PER_COMMAND + page] === 0) return;
      const asked = sectorsOf(port, slot, page);
      const first = 31 - Math.clz32(asked & -asked);
      const lba = (port.firstPage[slot]! + page) * 8 + first;
      const badLba = reader.badLba as Float64Array;
      const known = badLba[slot]!;
      badLba[slot] = known === NONE ? lba : Math.min(known, lba);
    });
  }

  #spoilCopied(place: number): void {
    const { firmware, contents } = this.#drive;
    changeState(firmware.collector, (collector) => {
      const saved = collector.copies as Saved;
      const copies = new CopyBuffer((saved.content as Int32Array).length);
      copies.restore(saved);
      copies.spoil(place, contents);
      collector.copies = copies.save();
    });
  }

  #flipDescriptor({ descriptor: op, field, slot, bit }: SramFlip): void {
    const { ops, geometry, firmware } = this.#drive;
    const stage = this.#stages()[op]!;
    // A free descriptor is filled in anew when it is taken, a status is written at the end.
    if (stage === Stage.Free || (field === 'status' && stage !== Stage.Ended)) return;
    // The die has its command already, and data is found by an address that no flip leaves right.
    const isTorn = field === 'content' || (field === 'op' && stage !== Stage.Waiting);
    const column = (ops as unknown as Record<string, Uint8Array | Int32Array>)[field]!;
    const at = slot === undefined ? op : op * SLOTS_PER_OP + slot;
    const was = column[at]!;
    column[at] = was ^ (1 << bit);
    const worst = ops.op[op] === FlashOp.Read ? FlashStatus.Uncorrectable : FlashStatus.Failed;
    const isStatus = field !== 'status' || column[at]! <= worst;
    if (isTorn || !isStatus || !namesWhatExists(ops, op, geometry, firmware.buffer.length)) {
      column[at] = was;
      this.#halt(DESCRIPTOR_RULE);
    } else if (field === 'status' && ops.op[op] === FlashOp.Program) {
      this.#changeOwner(op, column[at] === FlashStatus.Failed);
    }
  }

  /** The descriptor of a failed program owns its data, that of a good one does not. */
  #changeOwner(op: number, isOwner: boolean): void {
    const { ops, contents, geometry } = this.#drive;
    const first = op * SLOTS_PER_OP;
    for (const content of ops.content.subarray(first, first + geometry.slotsPerUnit)) {
      if (isOwner) contents.retain(content);
      else contents.release(content);
    }
  }

  #stages(): Uint8Array {
    const { ops, array } = this.#drive;
    const stages = new Uint8Array(ops.capacity).fill(Stage.Waiting);
    const mark = (first: number, stage: Stage) => {
      for (let op = first; op !== NONE; op = ops.next[op]!) stages[op] = stage;
    };
    mark(ops.save().free as number, Stage.Free);
    mark((array.save().queues as Saved).doneHead as number, Stage.Ended);
    for (const op of array.work.op) if (op !== NONE) stages[op] = Stage.Working;
    return stages;
  }
}

/** Whether everything that a descriptor says is there: place, operation, owner, the owner's own. */
function namesWhatExists(ops: FlashOps, op: number, geometry: Geometry, places: number): boolean {
  const { slotsPerUnit, planes, slots } = geometry;
  const block = ops.block[op]!;
  const isPlace =
    isBelow(ops.die[op]!, geometry.dies) &&
    isBelow(block, geometry.blocksPerDie) &&
    block % planes === 0 &&
    isBelow(ops.page[op]!, geometry.pagesPerBlock) &&
    ops.slotMask[op]! < 1 << slotsPerUnit;
  const isWord =
    ops.op[op]! <= FlashOp.Erase && ops.urgent[op]! <= 1 && ops.owner[op]! <= OpOwner.Metadata;
  if (!isPlace || !isWord) return false;
  // One past the last argument and target, by OpOwner.
  const lengths = [
    [HOST_SLOTS, PAGES_PER_COMMAND],
    [HOST_SLOTS * 2, slots],
    [slotsPerUnit + 1, places],
    [slots, slots],
    [slotsPerUnit + 1, slots],
    [geometry.superblocks, Number.POSITIVE_INFINITY],
    [MetadataUser.MarkScan + 1, Number.POSITIVE_INFINITY],
  ] as const;
  const [argumentsEnd, targetsEnd] = lengths[ops.owner[op]!]!;
  if (!isBelow(ops.argument[op]!, argumentsEnd)) return false;
  const isCopied = ops.owner[op] === OpOwner.Collector;
  for (let slot = 0; slot < slotsPerUnit; slot++) {
    if (isCopied || ((ops.slotMask[op]! >>> slot) & 1) === 0) continue;
    if (!isBelow(ops.target[op * SLOTS_PER_OP + slot]!, targetsEnd)) return false;
  }
  return true;
}

function isBelow(value: number, end: number): boolean {
  return value >= 0 && value < end;
}

function flipCell(table: BigTable, at: number, bit: number): void {
  table.write(at, table.values[at]! ^ (1 << bit));
}

/** Turns a bit of a whole number over; bits from 32 on only where the column holds them. */
function flipNumber(column: Int32Array | Float64Array, at: number, bit: number): void {
  const value = column[at]!;
  const weight = 2 ** bit;
  const isSet = Math.floor(value / weight) % 2 !== 0;
  column[at] = isSet ? value - weight : value + weight;
}

/** Reaches into a part by its saved form, as a probe at the chip would. */
function changeState(part: Saveable, change: (state: Saved) => void): void {
  const state = part.save();
  change(state);
  part.restore(state);
}
