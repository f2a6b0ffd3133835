/**
 * The fault list: the faults that lie over a machine, and the questions that its parts ask.
 *
 * A part asks once an operation, and only while its family is armed: with no faults, a hook costs
 * one comparison. How often a fault fired is state, and so are the faults themselves: a machine
 * that goes back to an earlier instant has the faults of that instant, and meets them again.
 * Losing power changes nothing here.
 */

import { FlashOp } from '../flash-ops.ts';
import type { Geometry } from '../geometry.ts';
import { type Saveable, type Saved, SnapshotMismatch } from '../sim/snapshot.ts';
import { BadFault, type Fault, type FaultCondition, type MemoryFault } from './fault.ts';
import { FaultEntry, type Question, type RegionOf } from './fault-entry.ts';
import { FAULTS_MAX, parseFault, plainFault } from './fault-file.ts';
import type { FaultLimits } from './fault-limits.ts';
import { FlashVerdict } from './flash-verdict.ts';

export enum FrameVerdict {
  Ok,
  /** The frame arrives with a wrong CRC. */
  Corrupt,
  /** The frame does not arrive. */
  Lost,
}

/** A fault and what became of it. */
export interface FaultReport {
  readonly id: number;
  readonly fault: Fault;
  readonly seed: string;
  readonly lifted: boolean;
  /** It may still fire: neither lifted nor used up. */
  readonly armed: boolean;
  /** Operations that fitted while it was armed. */
  readonly matchedCount: number;
  readonly firedCount: number;
  /** Event ordinals, null before it fires. */
  readonly firstFiredOrdinal: number | null;
  readonly lastFiredOrdinal: number | null;
}

const NO_MEMORY_FAULTS: readonly MemoryFault[] = [];
const FLASH_OPS = 3;
const NONE = -1;

export class FaultList implements Saveable {
  readonly kind = 'hal.faults';
  readonly version = 1;
  /** Faults that may still fire; 0: the list is off. */
  armedCount = 0;
  /** Whether a fault of the family may still fire. */
  flashArmed = false;
  linkArmed = false;
  memoryArmed = false;
  /** Event ordinal before which no memory fault is due. */
  nextMemoryOrdinal = Number.POSITIVE_INFINITY;
  /** Tells what a page holds; the composition root knows. */
  regionOf: RegionOf = () => null;
  /** Seed of faults that are added without one. */
  seed: string;

  readonly #limits: FaultLimits;
  readonly #geometry: Geometry;
  readonly #verdict: FlashVerdict;
  readonly #question: Question = {
    ...{ op: NONE, die: NONE, block: NONE, page: NONE, slotMask: 0, fisType: NONE, ordinal: 0 },
  };
  readonly #entries: FaultEntry[] = [];
  /** Armed faults by die * 3 + FlashOp, oldest first. */
  readonly #flash: FaultEntry[][];
  readonly #link: FaultEntry[] = [];
  readonly #memory: FaultEntry[] = [];
  /** Conditions by fault, also of faults that a restore took away: they have no saved form. */
  readonly #conditions = new Map<number, FaultCondition>();
  #nextId = 1;
  #flashCount = 0;

  /**
   * @param seed of the chances of faults that are added without one
   * @param limits what else a fault must fit, e.g. the DRAM's regions
   */
  constructor(geometry: Geometry, seed: string, limits: FaultLimits = {}) {
    this.#geometry = geometry;
    this.#limits = { ...limits, geometry };
    this.#verdict = new FlashVerdict(geometry.planes);
    this.#flash = Array.from({ length: geometry.dies * FLASH_OPS }, () => []);
    this.seed = seed;
  }

  /**
   * Lays a fault over the machine.
   * @returns its number, from 1
   * @throws BadFault when the fault is none or lies outside of the drive
   */
  add(fault: Fault, seed = this.seed): number {
    const { if: condition, ...plain } = fault;
    const checked = parseFault(plain, 'fault', this.#limits);
    if (this.#entries.length >= FAULTS_MAX) {
      throw new BadFault('fault', `the list holds ${FAULTS_MAX} faults at most`);
    }
    const id = this.#nextId++;
    this.#conditions.delete(id);
    if (condition !== undefined) this.#conditions.set(id, condition);
    const entry = this.#entryOf(id, checked, seed);
    this.#entries.push(entry);
    this.#admit(entry);
    return id;
  }

  /** Takes a fault away, for good; false when there is none with this number. */
  lift(id: number): boolean {
    const entry = this.#entries.find((other) => other.id === id);
    if (entry === undefined) return false;
    if (entry.isArmed) this.#dismiss(entry);
    entry.isLifted = true;
    return true;
  }

  /** Takes all faults away; returns how many were there still. */
  liftAll(): number {
    const present = this.#entries.filter((entry) => !entry.isLifted);
    for (const entry of present) entry.isLifted = true;
    this.#sortAll();
    return present.length;
  }

  /** All faults ever added, oldest first. */
  list(): FaultReport[] {
    return this.#entries.map(reportOf);
  }

  /** Faults that never fired: a test that expects them has proven nothing. */
  unfired(): FaultReport[] {
    return this.#entries.filter((entry) => entry.firedCount === 0).map(reportOf);
  }

  /**
   * What happens to a flash operation; to be asked once for each.
   * @param block of plane 0 within the die
   * @param slotMask slots that a read transfers; programs and erases cover all
   * @param ordinal event ordinal of the question
   * @returns a verdict that is valid until the next question
   */
  onFlash(
    op: FlashOp,
    die: number,
    block: number,
    page: number,
    slotMask: number,
    ordinal: number,
  ): FlashVerdict {
    const verdict = this.#verdict;
    verdict.clear();
    const candidates = this.#flash[die * FLASH_OPS + op]!;
    if (candidates.length === 0) return verdict;
    const allSlots = (1 << this.#geometry.slotsPerUnit) - 1;
    const slots = op === FlashOp.Read ? slotMask : allSlots;
    const question = this.#question;
    question.op = op;
    question.die = die;
    question.block = block;
    question.page = op === FlashOp.Erase ? NONE : page;
    question.slotMask = slots;
    question.fisType = NONE;
    question.ordinal = ordinal;
    let isUsedUp = false;
    for (const entry of candidates) {
      if (!entry.isDue(ordinal)) continue;
      const hit = entry.slotsHit(question, slots, this.#geometry);
      if (hit === 0 || !entry.isInRegion(question, this.regionOf)) continue;
      if (!entry.decide(question)) continue;
      verdict.lay(entry.fault, hit, this.#planesOf(hit));
      isUsedUp ||= !entry.isArmed;
    }
    if (isUsedUp) this.#dismissUsedUp(candidates);
    return verdict;
  }

  /** What happens to a frame; to be asked once for each. A loss outweighs a wrong CRC. */
  onFrame(fisType: number, ordinal: number): FrameVerdict {
    let verdict = FrameVerdict.Ok;
    let isUsedUp = false;
    for (const entry of this.#link) {
      if (!entry.isDue(ordinal) || !entry.isFrame(fisType)) continue;
      if (!entry.decide(this.#plainQuestion(fisType, ordinal))) continue;
      const own = entry.fault.kind === 'lost-fis' ? FrameVerdict.Lost : FrameVerdict.Corrupt;
      verdict = Math.max(verdict, own);
      isUsedUp ||= !entry.isArmed;
    }
    if (isUsedUp) this.#dismissUsedUp(this.#link);
    return verdict;
  }

  /** The flips to be carried out now; to be asked once an event, from `nextMemoryOrdinal` on. */
  dueMemory(ordinal: number): readonly MemoryFault[] {
    if (ordinal < this.nextMemoryOrdinal) return NO_MEMORY_FAULTS;
    const fired = this.#memory.filter(
      (entry) => entry.isDue(ordinal) && entry.decide(this.#plainQuestion(NONE, ordinal)),
    );
    this.#dismissUsedUp(this.#memory);
    return fired.map(({ fault }) => fault as MemoryFault);
  }

  #plainQuestion(fisType: number, ordinal: number): Question {
    const question = this.#question;
    question.op = NONE;
    question.die = NONE;
    question.block = NONE;
    question.page = NONE;
    question.slotMask = 0;
    question.fisType = fisType;
    question.ordinal = ordinal;
    return question;
  }

  #planesOf(slots: number): number {
    const { planes, slotsPerPage } = this.#geometry;
    const planeSlots = (1 << slotsPerPage) - 1;
    let mask = 0;
    for (let plane = 0; plane < planes; plane++) {
      if (((slots >>> (plane * slotsPerPage)) & planeSlots) !== 0) mask |= 1 << plane;
    }
    return mask;
  }

  #entryOf(id: number, fault: Fault, seed: string): FaultEntry {
    const condition = this.#conditions.get(id);
    const whole = condition === undefined ? fault : { ...fault, if: condition };
    return new FaultEntry(id, whole, JSON.stringify(plainFault(fault)), seed, this.#geometry);
  }

  /** Sorts all faults that may still fire by who asks for them. */
  #sortAll(): void {
    for (const bucket of this.#flash) bucket.length = 0;
    this.#link.length = 0;
    this.#memory.length = 0;
    this.armedCount = 0;
    this.#flashCount = 0;
    this.#count(0);
    for (const entry of this.#entries) if (entry.isArmed) this.#admit(entry);
  }

  /** The youngest fault, or all in order: buckets stay oldest first. */
  #admit(entry: FaultEntry): void {
    for (const bucket of this.#bucketsOf(entry)) bucket.push(entry);
    if (entry.family === 'flash') this.#flashCount++;
    this.#count(1);
  }

  #dismiss(entry: FaultEntry): void {
    for (const bucket of this.#bucketsOf(entry)) bucket.splice(bucket.indexOf(entry), 1);
    if (entry.family === 'flash') this.#flashCount--;
    this.#count(-1);
  }

  #dismissUsedUp(bucket: readonly FaultEntry[]): void {
    for (const entry of bucket.filter((other) => !other.isArmed)) this.#dismiss(entry);
  }

  #bucketsOf(entry: FaultEntry): FaultEntry[][] {
    if (entry.family === 'link') return [this.#link];
    if (entry.family === 'memory') return [this.#memory];
    return this.#flash.filter((_, index) => {
      const die = Math.floor(index / FLASH_OPS);
      return entry.covers(index % FLASH_OPS, die, this.#geometry.channelOf(die));
    });
  }

  #count(change: number): void {
    this.armedCount += change;
    this.flashArmed = this.#flashCount > 0;
    this.linkArmed = this.#link.length > 0;
    this.memoryArmed = this.#memory.length > 0;
    this.nextMemoryOrdinal = this.#memory.reduce(
      (least, entry) => Math.min(least, entry.fromOrdinal),
      Number.POSITIVE_INFINITY,
    );
  }

  save(): Saved {
    return {
      seed: this.seed,
      nextId: this.#nextId,
      entries: this.#entries.map((entry) => ({
        id: entry.id,
        fault: entry.text,
        seed: entry.seed,
        hasCondition: entry.fault.if !== undefined,
        isLifted: entry.isLifted,
        matchedCount: entry.matchedCount,
        firedCount: entry.firedCount,
        firstFiredOrdinal: entry.firstFiredOrdinal,
        lastFiredOrdinal: entry.lastFiredOrdinal,
      })),
    };
  }

  /** Throws SnapshotMismatch when a fault had a condition that this program was not given. */
  restore(saved: Saved): void {
    const known = new Map(this.#entries.map((entry) => [entry.id, entry]));
    const entries = (saved.entries as Saved[]).map((state) =>
      this.#restored(state, known.get(state.id as number)),
    );
    this.seed = saved.seed as string;
    this.#nextId = saved.nextId as number;
    this.#entries.length = 0;
    this.#entries.push(...entries);
    this.#sortAll();
  }

  /** A saved fault; the one that is there is used again when it is the same. */
  #restored(state: Saved, known: FaultEntry | undefined): FaultEntry {
    const id = state.id as number;
    const text = state.fault as string;
    const hasCondition = state.hasCondition === true;
    if (hasCondition && !this.#conditions.has(id)) {
      throw new SnapshotMismatch(
        `fault ${id} had a condition in TypeScript, which is not saved: add the faults first`,
      );
    }
    if (!hasCondition) this.#conditions.delete(id);
    const isSame =
      known?.text === text &&
      known.seed === state.seed &&
      known.fault.if === this.#conditions.get(id);
    const entry = isSame
      ? known
      : this.#entryOf(
          id,
          parseFault(JSON.parse(text), `fault ${id}`, this.#limits),
          state.seed as string,
        );
    entry.isLifted = state.isLifted as boolean;
    entry.matchedCount = state.matchedCount as number;
    entry.firedCount = state.firedCount as number;
    entry.firstFiredOrdinal = state.firstFiredOrdinal as number;
    entry.lastFiredOrdinal = state.lastFiredOrdinal as number;
    return entry;
  }
}

function reportOf(entry: FaultEntry): FaultReport {
  const { id, fault, seed, matchedCount, firedCount } = entry;
  const hasFired = firedCount > 0;
  return {
    ...{ id, fault, seed, matchedCount, firedCount },
    ...{ lifted: entry.isLifted, armed: entry.isArmed },
    firstFiredOrdinal: hasFired ? entry.firstFiredOrdinal : null,
    lastFiredOrdinal: hasFired ? entry.lastFiredOrdinal : null,
  };
}
