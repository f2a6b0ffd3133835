/**
 * A fault in the list: its place as bounds that compare quickly, and how often it fired.
 */

import { FlashOp } from '../flash-ops.ts';
import type { Geometry } from '../geometry.ts';
import { happens, seedHashOf } from './chance.ts';
import {
  type Fault,
  type FaultPlace,
  type FaultQuestion,
  FIS_TYPES,
  type NumberRange,
  OPERATIONS,
} from './fault.ts';
import { FAULT_KINDS, type FaultFamily, operationsOf, timesOf } from './fault-kinds.ts';

/** What is known of the page that an operation is about. */
export type RegionOf = (die: number, block: number, page: number) => string | null;

const NEVER = -1;
const ANYWHERE: FaultPlace = {};

/** The question as the list writes it; readers see FaultQuestion. */
export type Question = { -readonly [Field in keyof FaultQuestion]: FaultQuestion[Field] };

export class FaultEntry {
  readonly id: number;
  readonly fault: Fault;
  /** The fault in JSON, without its condition. */
  readonly text: string;
  readonly seed: string;
  readonly family: FaultFamily;
  isLifted = false;
  /** Operations that fitted while it was armed. */
  matchedCount = 0;
  /** Never more than `timesMax`. */
  firedCount = 0;
  /** Event ordinals, -1 before it fires. */
  firstFiredOrdinal = NEVER;
  lastFiredOrdinal = NEVER;

  readonly timesMax: number;
  /** Event ordinals between which it may fire, both included. */
  readonly fromOrdinal: number;
  readonly toOrdinal: number;
  readonly #seedHash: number;
  readonly #place: FaultPlace;
  readonly #nth: number;
  readonly #probability: number;
  readonly #fisType: number;
  /** Bit op: it is about this FlashOp. */
  readonly #opMask: number;
  readonly #blockLow: number;
  readonly #blockHigh: number;
  readonly #pageLow: number;
  readonly #pageHigh: number;
  /** Slots of a multi-plane page in the planes and slots of the place. */
  readonly #slotMask: number;

  constructor(id: number, fault: Fault, text: string, seed: string, geometry: Geometry) {
    this.id = id;
    this.fault = fault;
    this.text = text;
    this.seed = seed;
    this.family = FAULT_KINDS[fault.kind].family;
    this.timesMax = timesOf(fault);
    this.fromOrdinal = fault.when?.from ?? 0;
    this.toOrdinal = fault.when?.to ?? Number.POSITIVE_INFINITY;
    this.#seedHash = seedHashOf(seed);
    this.#nth = fault.when?.nth ?? 1;
    this.#probability = fault.probability ?? 1;
    this.#fisType = 'fis' in fault && fault.fis !== undefined ? FIS_TYPES[fault.fis] : NEVER;
    this.#place = ('where' in fault ? fault.where : undefined) ?? ANYWHERE;
    this.#opMask = operationsOf(fault).reduce(
      (mask, op) => mask | (1 << OPERATIONS.indexOf(op)),
      0,
    );
    [this.#blockLow, this.#blockHigh] = boundsOf(this.#place.block);
    [this.#pageLow, this.#pageHigh] = boundsOf(this.#place.page);
    this.#slotMask = slotMaskOf(this.#place, geometry);
  }

  /** It may still fire. */
  get isArmed(): boolean {
    return !this.isLifted && this.firedCount < this.timesMax;
  }

  /** Whether an operation of this kind on this die can ever be meant. */
  covers(op: FlashOp, die: number, channel: number): boolean {
    if (((this.#opMask >>> op) & 1) === 0) return false;
    if (op === FlashOp.Erase && this.#place.page !== undefined) return false;
    return isWithin(die, this.#place.die) && isWithin(channel, this.#place.channel);
  }

  /**
   * Slots of the multi-plane page that the fault hits, 0 when the operation is not meant.
   * @param slotMask slots that take part
   */
  slotsHit(question: FaultQuestion, slotMask: number, geometry: Geometry): number {
    const { op, block, page } = question;
    const hasPage = op !== FlashOp.Erase;
    if (hasPage && (page < this.#pageLow || page > this.#pageHigh)) return 0;
    let hit = slotMask & this.#slotMask;
    const { planes, slotsPerPage } = geometry;
    const planeSlots = (1 << slotsPerPage) - 1;
    for (let plane = 0; plane < planes; plane++) {
      const isMeant = block + plane >= this.#blockLow && block + plane <= this.#blockHigh;
      if (!isMeant) hit &= ~(planeSlots << (plane * slotsPerPage));
    }
    return hit;
  }

  /** Whether what the page holds is meant. */
  isInRegion(question: FaultQuestion, regionOf: RegionOf): boolean {
    const { region } = this.#place;
    if (region === undefined) return true;
    return regionOf(question.die, question.block, question.page) === region;
  }

  /** Whether frames of this type are meant. */
  isFrame(fisType: number): boolean {
    return this.#fisType === NEVER || this.#fisType === fisType;
  }

  /** Whether an event of this ordinal is in the window of the fault. */
  isDue(ordinal: number): boolean {
    return ordinal >= this.fromOrdinal && ordinal <= this.toOrdinal;
  }

  /** Counts an operation that fits place and window; true when the fault fires on it. */
  decide(question: FaultQuestion): boolean {
    const condition = this.fault.if;
    if (condition !== undefined && !condition(question)) return false;
    this.matchedCount++;
    if (this.matchedCount < this.#nth || !this.isArmed) return false;
    if (!happens(this.#seedHash, this.id, this.matchedCount, this.#probability)) return false;
    this.firedCount++;
    this.lastFiredOrdinal = question.ordinal;
    if (this.firedCount === 1) this.firstFiredOrdinal = question.ordinal;
    return true;
  }
}

function boundsOf(range: NumberRange | undefined): [number, number] {
  if (range === undefined) return [0, Number.POSITIVE_INFINITY];
  return typeof range === 'number' ? [range, range] : [range[0], range[1]];
}

function isWithin(value: number, range: NumberRange | undefined): boolean {
  const [low, high] = boundsOf(range);
  return value >= low && value <= high;
}

function slotMaskOf(place: FaultPlace, geometry: Geometry): number {
  let mask = 0;
  for (let plane = 0; plane < geometry.planes; plane++) {
    for (let slot = 0; slot < geometry.slotsPerPage; slot++) {
      if (!isWithin(plane, place.plane) || !isWithin(slot, place.slot)) continue;
      mask |= 1 << (plane * geometry.slotsPerPage + slot);
    }
  }
  return mask;
}
