/**
 * A frontier: the superblock a stream writes into, and the next multi-plane page of it.
 *
 * Units go row by row over all dies, so that consecutive units are programmed in parallel. A row is
 * one page number: every page of the block, or only its LSB pages. Dies that are bad in this
 * superblock are stepped over; units are numbered as if they were there.
 */

import type { Geometry } from '../../hal/geometry.ts';
import type { PagePairing } from '../../hal/pairing.ts';
import type { Saved } from '../../hal/sim/snapshot.ts';
import { SuperblockState, type Superblocks } from './superblocks.ts';

const NONE = -1;

export class Frontier {
  /** Superblock being written, -1 when none is open. */
  superblock = NONE;
  /** Number of the next unit. */
  unit = 0;
  /** Units it has, holes included. */
  units = 0;
  /** Place of the unit last taken. */
  die = 0;
  block = 0;
  page = 0;
  #lsbOnly = false;
  readonly #geometry: Geometry;
  readonly #pairing: PagePairing;
  readonly #superblocks: Superblocks;
  readonly #state: SuperblockState.Open | SuperblockState.Metadata;

  constructor(
    geometry: Geometry,
    pairing: PagePairing,
    superblocks: Superblocks,
    state: SuperblockState.Open | SuperblockState.Metadata = SuperblockState.Open,
  ) {
    this.#geometry = geometry;
    this.#pairing = pairing;
    this.#superblocks = superblocks;
    this.#state = state;
  }

  get isOpen(): boolean {
    return this.superblock !== NONE;
  }

  /** Opens an erased superblock; false when there is none. */
  open(lsbOnly: boolean): boolean {
    const superblock = this.#superblocks.open(lsbOnly, this.#state);
    if (superblock === NONE) return false;
    this.start(superblock, 0, lsbOnly);
    return true;
  }

  /** Goes on in a superblock that is open already, at `unit`. */
  start(superblock: number, unit: number, lsbOnly: boolean): void {
    this.superblock = superblock;
    this.#lsbOnly = lsbOnly;
    this.unit = unit;
    const rows = lsbOnly ? this.#pairing.lsbPages.length : this.#geometry.pagesPerBlock;
    this.units = rows * this.#geometry.dies;
    this.stepOverBad();
  }

  get lsbOnly(): boolean {
    return this.#lsbOnly;
  }

  /** Takes the next unit: sets die, block and page, and closes the superblock after its last. */
  take(): number {
    const superblock = this.superblock;
    const row = Math.floor(this.unit / this.#geometry.dies);
    this.die = this.unit - row * this.#geometry.dies;
    this.block = superblock * this.#geometry.planes;
    this.page = this.#lsbOnly ? this.#pairing.lsbPages[row]! : row;
    this.#superblocks.programBegan(superblock);
    this.unit++;
    this.stepOverBad();
    return superblock;
  }

  /** Moves on to the next unit on a good die, or closes: also when a die has just gone bad. */
  stepOverBad(): void {
    if (this.superblock === NONE) return;
    const { bad } = this.#superblocks;
    if (bad.hasBad(this.superblock)) {
      const { dies } = this.#geometry;
      while (this.unit < this.units && bad.isBad(this.superblock, this.unit % dies)) this.unit++;
    }
    if (this.unit === this.units) this.close();
  }

  /** Gives the rest of the superblock up. */
  close(): void {
    if (this.superblock !== NONE && this.#state === SuperblockState.Open) {
      this.#superblocks.change(this.superblock, SuperblockState.Closed);
    }
    this.superblock = NONE;
  }

  /** Loss of power: nothing is open; the block table is read again at mount. */
  reset(): void {
    this.superblock = NONE;
    this.unit = 0;
  }

  save(): Saved {
    return {
      superblock: this.superblock,
      unit: this.unit,
      units: this.units,
      lsbOnly: this.#lsbOnly,
    };
  }

  restore(saved: Saved): void {
    this.superblock = saved.superblock as number;
    this.unit = saved.unit as number;
    this.units = saved.units as number;
    this.#lsbOnly = saved.lsbOnly as boolean;
  }
}
