/**
 * The verdict on one flash operation: what the faults that fired do to it, together.
 *
 * One verdict is used again for every answer; whoever needs it longer than until the next question
 * keeps a verdict of its own and copies.
 */

import { SLOTS_PER_OP } from '../flash-ops.ts';
import type { Saved } from '../sim/snapshot.ts';
import type { Fault } from './fault.ts';

/** Bits of `effects`; each names the fields that it fills. */
export enum FlashEffect {
  /** `bitErrors`, `bitErrorsOfSlot`. */
  BitErrors = 1,
  /** `uncorrectableSlots`. */
  Uncorrectable = 2,
  /** `failedPlanes`. */
  ProgramFail = 4,
  /** `failedPlanes`. */
  EraseFail = 8,
  /** `silentPlanes`. */
  SilentNoOp = 16,
  StuckBusy = 32,
  StatusTimeout = 64,
  /** `slowFactor`. */
  Slow = 128,
  DeadDie = 256,
  DeadChannel = 512,
  /** `dqHighMask`, `dqLowMask`. */
  MissingDqBit = 1024,
  /** `otherBlock`. */
  WrongBlock = 2048,
  /** `cutFraction`. */
  PowerCut = 4096,
}

const NONE = -1;

export class FlashVerdict {
  /** FlashEffect bits; 0: the operation goes as if there were no faults. */
  effects = 0;
  /** Wrong bits of a codeword in the worst slot. */
  bitErrors = 0;
  /** Wrong bits that each codeword of a slot has in addition; faults add up. */
  readonly bitErrorsOfSlot = new Int32Array(SLOTS_PER_OP);
  uncorrectableSlots = 0;
  /** Bit p: the status of plane p is FAIL. */
  failedPlanes = 0;
  /** Bit p: nothing happens in plane p. */
  silentPlanes = 0;
  /** The array's time is multiplied by this; of several the largest. */
  slowFactor = 1;
  /** Part of the operation's time after which power is lost; of several the smallest. */
  cutFraction = 1;
  /** By plane: block of the die that is meant instead, or -1; of several the oldest fault's. */
  readonly otherBlock = new Int32Array(SLOTS_PER_OP).fill(NONE);
  /** A byte on the bus reads as (byte | dqHighMask) & ~dqLowMask. */
  dqHighMask = 0;
  dqLowMask = 0;
  readonly #planeMask: number;

  /** @param planes of a die, a power of two */
  constructor(planes: number) {
    this.#planeMask = planes - 1;
  }

  /** Back to an operation without faults. */
  clear(): void {
    if (this.effects === 0) return;
    this.effects = 0;
    this.bitErrors = 0;
    this.bitErrorsOfSlot.fill(0);
    this.uncorrectableSlots = 0;
    this.failedPlanes = 0;
    this.silentPlanes = 0;
    this.slowFactor = 1;
    this.cutFraction = 1;
    this.otherBlock.fill(NONE);
    this.dqHighMask = 0;
    this.dqLowMask = 0;
  }

  /** Takes another verdict over, for as long as an operation is under way. */
  copy(from: FlashVerdict): void {
    if (from.effects === 0) {
      this.clear();
      return;
    }
    this.effects = from.effects;
    this.bitErrors = from.bitErrors;
    this.bitErrorsOfSlot.set(from.bitErrorsOfSlot);
    this.uncorrectableSlots = from.uncorrectableSlots;
    this.failedPlanes = from.failedPlanes;
    this.silentPlanes = from.silentPlanes;
    this.slowFactor = from.slowFactor;
    this.cutFraction = from.cutFraction;
    this.otherBlock.set(from.otherBlock);
    this.dqHighMask = from.dqHighMask;
    this.dqLowMask = from.dqLowMask;
  }

  /**
   * Lays a fault that fired over the operation.
   * @param slots that it hits, of the multi-plane page
   * @param planes that hold these slots
   */
  lay(fault: Fault, slots: number, planes: number): void {
    switch (fault.kind) {
      case 'bit-errors':
        this.#addBitErrors(slots, fault.count);
        return;
      case 'uncorrectable':
        this.effects |= FlashEffect.Uncorrectable;
        this.uncorrectableSlots |= slots;
        return;
      case 'program-fail':
        this.effects |= FlashEffect.ProgramFail;
        this.failedPlanes |= planes;
        return;
      case 'erase-fail':
        this.effects |= FlashEffect.EraseFail;
        this.failedPlanes |= planes;
        return;
      case 'silent-no-op':
        this.effects |= FlashEffect.SilentNoOp;
        this.silentPlanes |= planes;
        return;
      case 'wrong-block':
        this.#redirect(planes, fault.toBlock);
        return;
      default:
        this.#layOnDie(fault);
    }
  }

  #layOnDie(fault: Fault): void {
    switch (fault.kind) {
      case 'stuck-busy':
        this.effects |= FlashEffect.StuckBusy;
        return;
      case 'status-timeout':
        this.effects |= FlashEffect.StatusTimeout;
        return;
      case 'slow-die':
        this.effects |= FlashEffect.Slow;
        this.slowFactor = Math.max(this.slowFactor, fault.factor);
        return;
      case 'dead-die':
        this.effects |= FlashEffect.DeadDie;
        return;
      case 'dead-channel':
        this.effects |= FlashEffect.DeadChannel;
        return;
      case 'missing-dq-bit':
        this.effects |= FlashEffect.MissingDqBit;
        if (fault.level === 1) this.dqHighMask |= 1 << fault.bit;
        else this.dqLowMask |= 1 << fault.bit;
        return;
      case 'power-cut':
        this.effects |= FlashEffect.PowerCut;
        this.cutFraction = Math.min(this.cutFraction, fault.fraction);
    }
  }

  #addBitErrors(slots: number, count: number): void {
    this.effects |= FlashEffect.BitErrors;
    for (let slot = 0; slot < SLOTS_PER_OP; slot++) {
      if (((slots >>> slot) & 1) === 0) continue;
      this.bitErrorsOfSlot[slot] = this.bitErrorsOfSlot[slot]! + count;
      this.bitErrors = Math.max(this.bitErrors, this.bitErrorsOfSlot[slot]!);
    }
  }

  /** The line that fails is not the plane's: a block keeps its plane. */
  #redirect(planes: number, toBlock: number): void {
    this.effects |= FlashEffect.WrongBlock;
    for (let plane = 0; plane < SLOTS_PER_OP; plane++) {
      if (((planes >>> plane) & 1) === 0 || this.otherBlock[plane] !== NONE) continue;
      this.otherBlock[plane] = (toBlock & ~this.#planeMask) | plane;
    }
  }

  /** For parts that keep a verdict while an operation is under way. */
  save(): Saved {
    const { effects, bitErrors, uncorrectableSlots, failedPlanes, silentPlanes } = this;
    const { slowFactor, cutFraction, dqHighMask, dqLowMask } = this;
    return {
      ...{ effects, bitErrors, uncorrectableSlots, failedPlanes, silentPlanes },
      ...{ slowFactor, cutFraction, dqHighMask, dqLowMask },
      bitErrorsOfSlot: this.bitErrorsOfSlot.slice(),
      otherBlock: this.otherBlock.slice(),
    };
  }

  restore(saved: Saved): void {
    this.effects = saved.effects as number;
    this.bitErrors = saved.bitErrors as number;
    this.uncorrectableSlots = saved.uncorrectableSlots as number;
    this.failedPlanes = saved.failedPlanes as number;
    this.silentPlanes = saved.silentPlanes as number;
    this.slowFactor = saved.slowFactor as number;
    this.cutFraction = saved.cutFraction as number;
    this.dqHighMask = saved.dqHighMask as number;
    this.dqLowMask = saved.dqLowMask as number;
    this.bitErrorsOfSlot.set(saved.bitErrorsOfSlot as Int32Array);
    this.otherBlock.set(saved.otherBlock as Int32Array);
  }
}
