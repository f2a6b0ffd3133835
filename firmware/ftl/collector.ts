/**
 * Garbage collection: moves what is valid out of the superblock with the least of it, then erases.
 *
 * Greedy choice (Aragon's minimum search over the block table). The victim is walked unit by unit;
 * units with valid slots are read, their slots wait in the copy buffer and go to the collection
 * frontier in full units. A slot that the host overwrites meanwhile is dropped. Each slot moved
 * earns the host stream its share of what the victim will give back. Data keeps its order number.
 */

import {
  FlashOp,
  type FlashOps,
  FlashStatus,
  LPN_MASK,
  SLOTS_PER_OP,
} from '../../hal/flash-ops.ts';
import { bitCount } from '../../hal/sim/bits.ts';
import { invariant } from '../../hal/sim/invariant.ts';
import type { Saveable, Saved } from '../../hal/sim/snapshot.ts';
import { type Board, type OpClient, OpOwner } from '../board.ts';
import { ARAGON } from '../costs.ts';
import { needMapOf, prepareAgain, prepareProgram, prepareRead, unitSlotOf } from '../flash-unit.ts';
import type { HostStream } from '../host-stream.ts';
import type { SmartRecord } from '../smart-record.ts';
import { CopyBuffer } from './copy-buffer.ts';
import type { Eraser } from './eraser.ts';
import type { Frontier } from './frontier.ts';
import type { Mapping } from './mapping.ts';
import type { PerformanceMode } from './performance-mode.ts';
import { SuperblockState, type Superblocks } from './superblocks.ts';

const NONE = -1;
/** Superblocks a sweep erases at once: each takes one descriptor a die until its dies get to it. */
const ERASING_MAX = 4;

export interface CollectorParts {
  board: Board;
  mapping: Mapping;
  superblocks: Superblocks;
  frontier: Frontier;
  eraser: Eraser;
  stream: HostStream;
  mode: PerformanceMode;
  smart: SmartRecord;
}

export class Collector implements OpClient, Saveable {
  readonly kind = 'firmware.collector';
  readonly version = 2;
  /** Superblock being collected, -1 when none is. */
  victim = NONE;
  /** Victims and slots moved since power-on. */
  victimCount = 0;
  movedCount = 0;
  /** No new victim is chosen and nothing is read (a checkpoint is being written). */
  paused = false;
  readonly #board: Board;
  readonly #ops: FlashOps;
  readonly #mapping: Mapping;
  readonly #superblocks: Superblocks;
  readonly #frontier: Frontier;
  readonly #eraser: Eraser;
  readonly #stream: HostStream;
  readonly #mode: PerformanceMode;
  readonly #smart: SmartRecord;
  readonly #copies: CopyBuffer;
  readonly #readsMax: number;
  readonly #programsMax: number;
  /** Next unit of the victim to look at, and units it may have. */
  #unit = 0;
  #units = 0;
  /** Host slots earned per slot moved out of this victim. */
  #gainPerSlot = 0;
  #readsInFlight = 0;
  #programsInFlight = 0;
  /** A trim has emptied superblocks: they are erased even while erased ones are plentiful. */
  #sweeping = false;

  constructor(parts: CollectorParts) {
    const { policy } = parts.board.profile;
    const { dies, slotsPerUnit } = parts.board.geometry;
    this.#board = parts.board;
    this.#ops = parts.board.ops;
    this.#mapping = parts.mapping;
    this.#superblocks = parts.superblocks;
    this.#frontier = parts.frontier;
    this.#eraser = parts.eraser;
    this.#stream = parts.stream;
    this.#mode = parts.mode;
    this.#smart = parts.smart;
    this.#readsMax = policy.collectReadsPerDie * dies;
    this.#programsMax = policy.programsPerDie * dies;
    this.#copies = new CopyBuffer(4 * this.#readsMax * slotsPerUnit);
  }

  /** Nothing is being read, copied or programmed. */
  get isQuiet(): boolean {
    return this.#readsInFlight === 0 && this.#programsInFlight === 0 && this.#copies.count === 0;
  }

  /** Collects as far as may be now; runs inside an Aragon program. */
  pump(): void {
    if (this.#stream.held) return;
    if (this.victim === NONE && !this.paused) this.#choose();
    if (this.victim !== NONE) this.#scan();
    this.#program();
    if (this.victim !== NONE && this.#unit === this.#units && this.isQuiet) this.#retire();
  }

  /** After a trim: erases what it has emptied, so that performance mode can come back. */
  sweep(): void {
    this.#sweeping = true;
    this.pump();
  }

  /** Closes the present victim again: a checkpoint knows no half-emptied superblocks. */
  giveUpVictim(): void {
    this.#superblocks.change(this.victim, SuperblockState.Closed);
    this.victim = NONE;
    this.#unit = 0;
    this.#units = 0;
  }

  /** A read or program of this collector has ended. */
  flashDone(op: number): void {
    if (this.#ops.op[op] === FlashOp.Read) this.#slotsRead(op);
    else this.#slotsProgrammed(op);
    this.pump();
  }

  #choose(): void {
    const { policy } = this.#board.profile;
    const erased = this.#superblocks.freeCount + this.#eraser.erasingCount;
    const isShort = erased <= policy.freeSuperblocksLow;
    if (!isShort && !this.#sweeping) return;
    if (!isShort && this.#eraser.erasingCount >= ERASING_MAX) return;
    const { pagesPerBlock, slotsPerUnit } = this.#board.geometry;
    const victim = this.#superblocks.leastValid(pagesPerBlock * slotsPerUnit);
    this.#board.aragon.charge(ARAGON.searchLine * Math.ceil(this.#superblocks.count / 64));
    const valid = victim === NONE ? NONE : this.#superblocks.validCount[victim]!;
    if (valid !== 0) this.#sweeping = false;
    if (victim === NONE || (!isShort && valid > 0)) return;
    const whole = this.#superblocks.bad.usableDies(victim) * pagesPerBlock * slotsPerUnit;
    this.#superblocks.change(victim, SuperblockState.Victim);
    this.victim = victim;
    this.victimCount++;
    this.#unit = 0;
    this.#units = this.#board.geometry.unitsPerSuperblock;
    this.#gainPerSlot = valid === 0 ? 0 : (whole - valid) / valid;
    if (valid === 0) this.#unit = this.#units;
    if (valid === 0 && isShort) this.#stream.addCredit(whole);
  }

  #scan(): void {
    const { slotsPerUnit } = this.#board.geometry;
    const first = this.victim * this.#board.geometry.slotsPerSuperblock;
    const room = this.#copies.length - this.#board.geometry.slotsPerUnit;
    let issued = 0;
    while (this.#unit < this.#units && this.#readsInFlight < this.#readsMax && !this.paused) {
      if (this.#copies.count + this.#copies.promised > room) break;
      const slot = first + this.#unit * slotsPerUnit;
      this.#unit++;
      const mask = this.#mapping.validMask(slot);
      if (mask !== 0) {
        this.#read(slot, mask);
        issued++;
      }
    }
    if (issued > 0) this.#board.aragon.charge(issued * ARAGON.issue);
  }

  #read(slot: number, mask: number): void {
    const op = prepareRead(this.#board, slot, OpOwner.Collector, 0);
    this.#ops.slotMask[op] = mask;
    this.#ops.urgent[op] = 0;
    this.#readsInFlight++;
    this.#copies.promised += bitCount(mask);
    this.#board.flash.submit(op);
  }

  #slotsRead(op: number): void {
    const ops = this.#ops;
    const { geometry } = this.#board;
    const unit = unitSlotOf(this.#board, op);
    this.#readsInFlight--;
    this.#copies.promised -= bitCount(ops.slotMask[op]!);
    for (let j = 0, mask = ops.slotMask[op]!; mask !== 0; j++, mask >>>= 1) {
      if ((mask & 1) === 0) continue;
      const from = op * SLOTS_PER_OP + j;
      const slot = unit + j;
      let content = ops.content[from]!;
      if (!this.#mapping.isValid(slot)) {
        if (content < 0) this.#board.content.release(content);
        continue;
      }
      const bad = ops.badSectors[from]!;
      if (bad !== 0) content = this.#board.content.spoil(content, bad);
      this.#copies.put(slot, content, ops.pageWord[from]!, ops.order[from]!);
    }
    this.#board.aragon.charge(ARAGON.moveSlot * geometry.slotsPerUnit);
  }

  #program(): void {
    const { slotsPerUnit } = this.#board.geometry;
    let issued = 0;
    while (this.#programsInFlight < this.#programsMax && this.#copies.count > 0) {
      const last = this.#unit === this.#units && this.#readsInFlight === 0;
      if (this.#copies.count < slotsPerUnit && !last && !this.paused) break;
      if (this.#copies.count < slotsPerUnit && this.#readsInFlight > 0) break;
      this.#issue(Math.min(slotsPerUnit, this.#copies.count));
      issued++;
    }
    if (issued > 0) this.#board.aragon.charge(issued * ARAGON.issue);
  }

  #issue(count: number): void {
    const ops = this.#ops;
    this.#openFrontier();
    const op = prepareProgram(this.#board, this.#frontier, OpOwner.CollectorStream, count);
    for (let j = 0; j < count; j++) this.#copies.takeInto(ops, op * SLOTS_PER_OP + j);
    this.#programsInFlight++;
    this.movedCount += count;
    this.#board.flash.submit(op);
  }

  #openFrontier(): void {
    if (this.#frontier.isOpen) return;
    invariant(this.#frontier.open(false), 'collection always finds an erased superblock');
  }

  /** The slots of a failed program go to the next good unit. */
  #programAgain(op: number, superblock: number): void {
    this.#smart.programFailures++;
    this.#superblocks.bad.addGrown(superblock, this.#ops.die[op]!);
    this.#frontier.stepOverBad();
    this.#openFrontier();
    this.#board.flash.submit(prepareAgain(this.#board, this.#frontier, op));
    this.#board.aragon.charge(ARAGON.issue);
  }

  #slotsProgrammed(op: number): void {
    const ops = this.#ops;
    const { geometry } = this.#board;
    const count = ops.argument[op]!;
    const superblock = ops.block[op]! >>> geometry.planeBits;
    this.#superblocks.programEnded(superblock);
    if (ops.status[op] === FlashStatus.Failed) {
      this.#programAgain(op, superblock);
      return;
    }
    this.#programsInFlight--;
    const unit = unitSlotOf(this.#board, op);
    needMapOf(this.#mapping, ops, op, count);
    for (let j = 0; j < count; j++) {
      const at = op * SLOTS_PER_OP + j;
      this.#mapping.move((ops.pageWord[at]! & LPN_MASK) - 1, ops.target[at]!, unit + j);
    }
    this.#board.aragon.charge(count * ARAGON.updateSlot);
    this.#stream.addCredit(count * this.#gainPerSlot);
    this.#stream.pump();
  }

  #retire(): void {
    invariant(this.#superblocks.validCount[this.victim] === 0, 'an emptied victim holds no data');
    const { victim } = this;
    this.victim = NONE;
    this.#eraser.erase(victim);
    this.#mode.review();
  }

  reset(): void {
    this.victim = NONE;
    this.victimCount = 0;
    this.movedCount = 0;
    this.paused = false;
    this.#sweeping = false;
    this.#readsInFlight = 0;
    this.#programsInFlight = 0;
    this.#copies.reset();
    this.#frontier.reset();
  }

  save(): Saved {
    return {
      victim: this.victim,
      victimCount: this.victimCount,
      movedCount: this.movedCount,
      paused: this.paused,
      unit: this.#unit,
      units: this.#units,
      gainPerSlot: this.#gainPerSlot,
      readsInFlight: this.#readsInFlight,
      programsInFlight: this.#programsInFlight,
      sweeping: this.#sweeping,
      copies: this.#copies.save(),
      frontier: this.#frontier.save(),
    };
  }

  restore(saved: Saved): void {
    this.victim = saved.victim as number;
    this.victimCount = saved.victimCount as number;
    this.movedCount = saved.movedCount as number;
    this.paused = saved.paused as boolean;
    this.#unit = saved.unit as number;
    this.#units = saved.units as number;
    this.#gainPerSlot = saved.gainPerSlot as number;
    this.#readsInFlight = saved.readsInFlight as number;
    this.#programsInFlight = saved.programsInFlight as number;
    this.#sweeping = saved.sweeping as boolean;
    this.#copies.restore(saved.copies as Saved);
    this.#frontier.restore(saved.frontier as Saved);
  }
}
