/**
 * The host stream: programs the write buffer's slots to the host frontier, in the log's order.
 *
 * A unit is one multi-plane page. Full units go out as soon as a die may take one; a partial unit
 * only when a flush has sealed the log up to there. While erased superblocks are short the stream
 * may use only what collection has gained (credit), so that host and collection proceed together.
 */

import { type FlashOps, FlashStatus, LAST_OF_COMMAND, SLOTS_PER_OP } from '../hal/flash-ops.ts';
import { invariant } from '../hal/sim/invariant.ts';
import type { Saveable, Saved } from '../hal/sim/snapshot.ts';
import { type Board, type OpClient, OpOwner } from './board.ts';
import { ARAGON } from './costs.ts';
import { needMapOf, prepareAgain, prepareProgram, unitSlotOf } from './flash-unit.ts';
import type { Frontier } from './ftl/frontier.ts';
import type { Mapping } from './ftl/mapping.ts';
import type { PerformanceMode } from './ftl/performance-mode.ts';
import type { Superblocks } from './ftl/superblocks.ts';
import type { SmartRecord } from './smart-record.ts';
import type { WriteBuffer } from './write-buffer.ts';

/** Credit that may pile up, in units: a pause of the host does not end in a burst. */
const CREDIT_UNITS_MAX = 256;

/** Told when buffer places have become free, or a superblock is needed. */
export interface StreamListener {
  spaceFreed(): void;
  superblockNeeded(): void;
}

export class HostStream implements OpClient, Saveable {
  readonly kind = 'firmware.host-stream';
  readonly version = 1;
  listener: StreamListener | null = null;
  /** Position up to which a flush wants everything programmed. */
  sealedTo = 0;
  /** Slots that collection has gained for the host and the host has not used. */
  credit = 0;
  /** Nothing is programmed while the root record must first say that the map changes. */
  held = false;
  /** Units and slots programmed since power-on. */
  unitCount = 0;
  slotCount = 0;
  readonly #board: Board;
  readonly #ops: FlashOps;
  readonly #buffer: WriteBuffer;
  readonly #frontier: Frontier;
  readonly #mapping: Mapping;
  readonly #superblocks: Superblocks;
  readonly #mode: PerformanceMode;
  readonly #smart: SmartRecord;
  readonly #unitsMax: number;
  #unitsInFlight = 0;

  constructor(
    board: Board,
    buffer: WriteBuffer,
    frontier: Frontier,
    mapping: Mapping,
    superblocks: Superblocks,
    mode: PerformanceMode,
    smart: SmartRecord,
  ) {
    this.#board = board;
    this.#ops = board.ops;
    this.#buffer = buffer;
    this.#frontier = frontier;
    this.#mapping = mapping;
    this.#superblocks = superblocks;
    this.#mode = mode;
    this.#smart = smart;
    this.#unitsMax = board.profile.policy.programsPerDie * board.geometry.dies;
  }

  get unitsInFlight(): number {
    return this.#unitsInFlight;
  }

  /** Issues as many units as may go out now; runs inside an Aragon program. */
  pump(): void {
    const buffer = this.#buffer;
    const { slotsPerUnit } = this.#board.geometry;
    let issued = 0;
    while (this.#unitsInFlight < this.#unitsMax && !this.held) {
      const waiting = buffer.tail - buffer.issued;
      if (waiting === 0 || (waiting < slotsPerUnit && buffer.issued >= this.sealedTo)) break;
      if (!this.#mayUse(slotsPerUnit)) break;
      this.#issue(waiting < slotsPerUnit ? waiting : slotsPerUnit);
      issued++;
    }
    if (issued > 0) this.#board.aragon.charge(issued * ARAGON.issue);
  }

  /** Collection has gained `slots` for the host. */
  addCredit(slots: number): void {
    const most = CREDIT_UNITS_MAX * this.#board.geometry.slotsPerUnit;
    this.credit = Math.min(most, this.credit + slots);
  }

  flashDone(op: number): void {
    const ops = this.#ops;
    const buffer = this.#buffer;
    const { geometry } = this.#board;
    const count = ops.argument[op]!;
    const superblock = ops.block[op]! >>> geometry.planeBits;
    this.#superblocks.programEnded(superblock);
    if (ops.status[op] === FlashStatus.Failed) {
      this.#programAgain(op, superblock);
      return;
    }
    this.#unitsInFlight--;
    const unit = unitSlotOf(this.#board, op);
    needMapOf(this.#mapping, ops, op, count);
    for (let j = 0; j < count; j++) {
      const at = ops.target[op * SLOTS_PER_OP + j]!;
      this.#mapping.fromBuffer(buffer.lpn[at]!, at, unit + j);
      buffer.programmed(at);
    }
    this.#board.aragon.charge(count * ARAGON.updateSlot);
    this.listener!.spaceFreed();
    this.pump();
  }

  /** The slots of a failed program go to the next good unit: they have waited long enough. */
  #programAgain(op: number, superblock: number): void {
    this.#smart.programFailures++;
    this.#superblocks.bad.addGrown(superblock, this.#ops.die[op]!);
    this.#frontier.stepOverBad();
    if (!this.#frontier.isOpen) {
      const opened = this.#frontier.open(this.#mode.opensLsbOnly());
      invariant(opened, 'an erased superblock is kept for data whose program failed');
    }
    this.#board.flash.submit(prepareAgain(this.#board, this.#frontier, op));
    this.#board.aragon.charge(ARAGON.issue);
  }

  /** A superblock is open or can be opened, and the credit suffices when credit is asked. */
  #mayUse(slots: number): boolean {
    const superblocks = this.#superblocks;
    const { policy } = this.#board.profile;
    if (!this.#frontier.isOpen) {
      if (superblocks.freeCount <= policy.freeSuperblocksFloor) {
        this.listener!.superblockNeeded();
        return false;
      }
      this.#frontier.open(this.#mode.opensLsbOnly());
      this.listener!.superblockNeeded();
    }
    if (superblocks.freeCount > policy.freeSuperblocksLow) return true;
    if (this.credit < slots) {
      this.listener!.superblockNeeded();
      return false;
    }
    this.credit -= slots;
    return true;
  }

  #issue(count: number): void {
    const ops = this.#ops;
    const buffer = this.#buffer;
    const contents = this.#board.content;
    const op = prepareProgram(this.#board, this.#frontier, OpOwner.HostStream, count);
    for (let j = 0; j < count; j++) {
      const to = op * SLOTS_PER_OP + j;
      const at = buffer.issued++ & buffer.mask;
      const content = buffer.content[at]!;
      if (content < 0) contents.retain(content);
      ops.target[to] = at;
      ops.content[to] = content;
      ops.pageWord[to] = (buffer.lpn[at]! + 1) | (buffer.last[at] === 1 ? LAST_OF_COMMAND : 0);
      ops.order[to] = buffer.order[at]!;
    }
    this.#unitsInFlight++;
    this.unitCount++;
    this.slotCount += count;
    this.#board.flash.submit(op);
  }

  reset(): void {
    this.sealedTo = 0;
    this.credit = 0;
    this.held = false;
    this.unitCount = 0;
    this.slotCount = 0;
    this.#unitsInFlight = 0;
    this.#frontier.reset();
  }

  save(): Saved {
    return {
      sealedTo: this.sealedTo,
      credit: this.credit,
      held: this.held,
      unitCount: this.unitCount,
      slotCount: this.slotCount,
      unitsInFlight: this.#unitsInFlight,
      frontier: this.#frontier.save(),
    };
  }

  restore(saved: Saved): void {
    this.sealedTo = saved.sealedTo as number;
    this.credit = saved.credit as number;
    this.held = saved.held as boolean;
    this.unitCount = saved.unitCount as number;
    this.slotCount = saved.slotCount as number;
    this.#unitsInFlight = saved.unitsInFlight as number;
    this.#frontier.restore(saved.frontier as Saved);
  }
}
