/**
 * The block table: one row a superblock.
 *
 * A superblock is one block per plane per die. Its row says what it is used for, how often it was
 * erased, how many of its slots the map points to, how many programs are under way in it, and the
 * order number of the latest host command that took a slot away from it.
 */

import { invariant } from '../../hal/sim/invariant.ts';
import { type Probe, ProbeKind } from '../../hal/sim/probe.ts';
import type { Saveable, Saved } from '../../hal/sim/snapshot.ts';
import type { MachineTable } from '../../hal/sim/state-machine.ts';
import { BadBlocks } from './bad-blocks.ts';

export enum SuperblockState {
  /** Erased. */
  Free,
  /** A frontier writes into it. */
  Open,
  /** Full or given up; a candidate for collection. */
  Closed,
  /** Being collected. */
  Victim,
  Erasing,
  /** Holds checkpoint pages. */
  Metadata,
  /** Holds the root records. */
  Root,
  /** No die of it may be used any more. */
  Bad,
}

export enum SuperblockEvent {
  Opened,
  Filled,
  Chosen,
  Emptied,
  Erased,
  TakenForMetadata,
  Retired,
  GivenUp,
  ErasedAgain,
  WornOut,
}

export const SUPERBLOCK_TABLE: MachineTable = {
  name: 'superblock',
  states: SuperblockState,
  events: SuperblockEvent,
  initial: SuperblockState.Free,
  transitions: [
    { from: 0, on: SuperblockEvent.Opened, to: 1, says: 'a frontier needs room' },
    { from: 1, on: SuperblockEvent.Filled, to: 2, says: 'every page is issued' },
    { from: 2, on: SuperblockEvent.Chosen, to: 3, says: 'fewest valid slots' },
    { from: 3, on: SuperblockEvent.Emptied, to: 4, says: 'all valid slots have moved' },
    { from: 4, on: SuperblockEvent.Erased, to: 0, says: 'every die has erased its pair' },
    { from: 0, on: SuperblockEvent.TakenForMetadata, to: 5, says: 'a checkpoint is written' },
    { from: 5, on: SuperblockEvent.Retired, to: 4, says: 'a newer checkpoint is durable' },
    { from: 3, on: SuperblockEvent.GivenUp, to: 2, says: 'a checkpoint comes before it is empty' },
    { from: 4, on: SuperblockEvent.ErasedAgain, to: 4, says: 'mount knows no end of its erase' },
    { from: 4, on: SuperblockEvent.WornOut, to: 7, says: 'its last good die failed to erase' },
    { from: 0, on: SuperblockEvent.WornOut, to: 7, says: 'the factory marked all of its dies' },
  ],
};

const NONE = -1;
/** The first superblock holds the root records. */
export const ROOT_SUPERBLOCK = 0;

export class Superblocks implements Saveable {
  readonly kind = 'firmware.superblocks';
  readonly version = 2;
  readonly count: number;
  readonly state: Uint8Array;
  /** 1: only its LSB pages are written. */
  readonly lsbOnly: Uint8Array;
  readonly eraseCount: Int32Array;
  readonly validCount: Int32Array;
  /** Programs issued into it that have not ended. */
  readonly programsInFlight: Int32Array;
  /** Order number of the latest host command that invalidated a slot of it. */
  readonly invalidatedOrder: Float64Array;
  /** Number of the opening that filled it: its age. */
  readonly openedNumber: Float64Array;
  /** Which dies of each superblock must not be used. */
  readonly bad: BadBlocks;
  freeCount = 0;
  /** Order number being worked on, for `invalidatedOrder`. */
  presentOrder = 0;
  #openings = 0;
  readonly #probe: Probe;

  constructor(count: number, dies: number, probe: Probe) {
    this.count = count;
    this.bad = new BadBlocks(count, dies);
    this.state = new Uint8Array(count);
    this.lsbOnly = new Uint8Array(count);
    this.eraseCount = new Int32Array(count);
    this.validCount = new Int32Array(count);
    this.programsInFlight = new Int32Array(count);
    this.invalidatedOrder = new Float64Array(count);
    this.openedNumber = new Float64Array(count);
    this.#probe = probe;
  }

  /** A drive fresh from the factory: all erased but the root superblock and what is all bad. */
  format(): void {
    for (const column of [this.state, this.lsbOnly, this.eraseCount, this.validCount]) {
      column.fill(0);
    }
    this.programsInFlight.fill(0);
    this.invalidatedOrder.fill(0);
    this.openedNumber.fill(0);
    this.state[ROOT_SUPERBLOCK] = SuperblockState.Root;
    for (let i = 0; i < this.count; i++) {
      if (i !== ROOT_SUPERBLOCK && this.bad.usableDies(i) === 0) {
        this.change(i, SuperblockState.Bad);
      }
    }
    this.freeCount = this.countIn(SuperblockState.Free);
    this.#openings = 0;
    this.presentOrder = 0;
  }

  addValid(superblock: number): void {
    this.validCount[superblock] = this.validCount[superblock]! + 1;
  }

  removeValid(superblock: number): void {
    this.validCount[superblock] = this.validCount[superblock]! - 1;
    this.invalidatedOrder[superblock] = this.presentOrder;
  }

  programBegan(superblock: number): void {
    this.programsInFlight[superblock] = this.programsInFlight[superblock]! + 1;
  }

  programEnded(superblock: number): void {
    this.programsInFlight[superblock] = this.programsInFlight[superblock]! - 1;
  }

  /** Takes the least worn erased superblock; -1 when there is none. */
  open(lsbOnly: boolean, state: SuperblockState.Open | SuperblockState.Metadata): number {
    let best = NONE;
    for (let i = 0; i < this.count; i++) {
      if (this.state[i] !== SuperblockState.Free) continue;
      if (best === NONE || this.eraseCount[i]! < this.eraseCount[best]!) best = i;
    }
    if (best === NONE) return NONE;
    this.freeCount--;
    this.lsbOnly[best] = lsbOnly ? 1 : 0;
    this.openedNumber[best] = ++this.#openings;
    this.change(best, state);
    return best;
  }

  /**
   * The closed superblock with the smallest share of valid slots, -1 when none gives any back.
   * @param slotsPerDie slots that a die has in a superblock
   */
  leastValid(slotsPerDie: number): number {
    let best = NONE;
    let bestShare = 1;
    for (let i = 0; i < this.count; i++) {
      if (this.state[i] !== SuperblockState.Closed || this.programsInFlight[i] !== 0) continue;
      const valid = this.validCount[i]!;
      // Of dies that are all bad nothing comes back: their data stays until it is overwritten.
      const share = valid === 0 ? 0 : valid / (this.bad.usableDies(i) * slotsPerDie);
      if (share < bestShare) {
        best = i;
        bestShare = share;
      }
    }
    return best;
  }

  erased(superblock: number): void {
    this.eraseCount[superblock] = this.eraseCount[superblock]! + 1;
    this.lsbOnly[superblock] = 0;
    if (this.bad.usableDies(superblock) === 0) {
      this.change(superblock, SuperblockState.Bad);
      return;
    }
    this.freeCount++;
    this.change(superblock, SuperblockState.Free);
  }

  change(superblock: number, state: SuperblockState): void {
    const listener = this.#probe.listener;
    if (listener !== null) {
      listener.note(ProbeKind.Superblock, superblock, this.state[superblock]!, state);
    }
    this.state[superblock] = state;
  }

  /** Number of superblocks in a state. */
  countIn(state: SuperblockState): number {
    let count = 0;
    for (let i = 0; i < this.count; i++) if (this.state[i] === state) count++;
    return count;
  }

  get openings(): number {
    return this.#openings;
  }

  /** After mount: recounts what is derived from the rows. */
  recount(openings: number): void {
    this.#openings = openings;
    this.freeCount = this.countIn(SuperblockState.Free);
    this.programsInFlight.fill(0);
  }

  verify(): void {
    invariant(this.freeCount === this.countIn(SuperblockState.Free), 'erased rows are counted');
    for (let i = 0; i < this.count; i++) {
      const empty = this.state[i] === SuperblockState.Free;
      invariant(!empty || this.validCount[i] === 0, 'an erased superblock holds nothing valid');
    }
  }

  /** Loss of power: the table is unknown until it is mounted. */
  reset(): void {
    this.bad.reset();
    this.format();
  }

  save(): Saved {
    return {
      state: this.state.slice(),
      lsbOnly: this.lsbOnly.slice(),
      eraseCount: this.eraseCount.slice(),
      validCount: this.validCount.slice(),
      programsInFlight: this.programsInFlight.slice(),
      invalidatedOrder: this.invalidatedOrder.slice(),
      openedNumber: this.openedNumber.slice(),
      freeCount: this.freeCount,
      presentOrder: this.presentOrder,
      openings: this.#openings,
      bad: this.bad.save(),
    };
  }

  restore(saved: Saved): void {
    this.state.set(saved.state as Uint8Array);
    this.lsbOnly.set(saved.lsbOnly as Uint8Array);
    this.eraseCount.set(saved.eraseCount as Int32Array);
    this.validCount.set(saved.validCount as Int32Array);
    this.programsInFlight.set(saved.programsInFlight as Int32Array);
    this.invalidatedOrder.set(saved.invalidatedOrder as Float64Array);
    this.openedNumber.set(saved.openedNumber as Float64Array);
    this.freeCount = saved.freeCount as number;
    this.presentOrder = saved.presentOrder as number;
    this.#openings = saved.openings as number;
    this.bad.restore(saved.bad as Saved);
  }
}
