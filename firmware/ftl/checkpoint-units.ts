/**
 * The units of a checkpoint: the multi-plane pages its metadata pages go to, in their order.
 *
 * LSB pages of the checkpoint's superblocks, row by row over all dies but the bad ones. Checkpoint
 * and mount walk the same list, so a page is read from where it was written.
 */

import type { Geometry } from '../../hal/geometry.ts';
import type { PagePairing } from '../../hal/pairing.ts';
import { invariant } from '../../hal/sim/invariant.ts';
import type { Saved } from '../../hal/sim/snapshot.ts';
import type { CheckpointPlace } from './layouts.ts';

export class CheckpointUnits {
  /** Place of the unit taken last. */
  die = 0;
  block = 0;
  page = 0;
  places: CheckpointPlace[] = [];
  readonly #geometry: Geometry;
  readonly #pairing: PagePairing;
  /** Index of the present place, and next unit of it, bad dies included. */
  #place = 0;
  #unit = 0;

  constructor(geometry: Geometry, pairing: PagePairing) {
    this.#geometry = geometry;
    this.#pairing = pairing;
  }

  start(places: CheckpointPlace[]): void {
    this.places = places;
    this.#place = 0;
    this.#unit = 0;
  }

  /** Units that a superblock with so many good dies has. */
  unitsOf(usableDies: number): number {
    return this.#pairing.lsbPages.length * usableDies;
  }

  /** Takes the next unit on a good die. */
  take(): void {
    const { dies, planes } = this.#geometry;
    const { lsbPages } = this.#pairing;
    let place = this.#present();
    while (isBad(place, this.#unit % dies)) {
      this.#unit++;
      place = this.#present();
    }
    this.die = this.#unit % dies;
    this.page = lsbPages[(this.#unit - this.die) / dies]!;
    this.block = place.superblock * planes;
    this.#unit++;
  }

  #present(): CheckpointPlace {
    if (this.#unit === this.#pairing.lsbPages.length * this.#geometry.dies) {
      this.#place++;
      this.#unit = 0;
    }
    const place = this.places[this.#place];
    invariant(place !== undefined, 'a checkpoint fits the superblocks it has taken');
    return place;
  }

  save(): Saved {
    return {
      places: this.places.map((place) => ({ ...place })),
      place: this.#place,
      unit: this.#unit,
    };
  }

  restore(saved: Saved): void {
    this.places = (saved.places as unknown as CheckpointPlace[]).map((place) => ({ ...place }));
    this.#place = saved.place as number;
    this.#unit = saved.unit as number;
  }
}

function isBad(place: CheckpointPlace, die: number): boolean {
  const word = die < 32 ? place.badLow : place.badHigh;
  return ((word >>> (die & 31)) & 1) !== 0;
}
