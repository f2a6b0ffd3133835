/**
 * Prefetch: cells of big tables that will be wanted soon are fetched together.
 *
 * A big table misses every cache, and one miss costs as much as a whole event. A processor waits
 * for several misses at once when the loads stand next to each other; in a run they lie events
 * apart. So cells that are known beforehand are noted, and loaded in one go when the first of them
 * is about to be wanted. Not state: what is noted here changes no result.
 */

const ROOM = 16;
const NO_CELLS = new Int32Array(1);

export class Prefetch {
  readonly #cells: Int32Array[] = new Array(ROOM).fill(NO_CELLS);
  readonly #index = new Int32Array(ROOM);
  #count = 0;
  /** Where loaded cells go, so that the engine does not leave the loading out. */
  #sink = 0;

  /** Notes a cell; the oldest notes are served when there is no room. */
  expect(cells: Int32Array, index: number): void {
    this.#cells[this.#count] = cells;
    this.#index[this.#count] = index;
    if (++this.#count === ROOM) this.fetch();
  }

  /** Loads every cell that was noted. */
  fetch(): void {
    let sum = 0;
    for (let i = 0; i < this.#count; i++) {
      sum ^= this.#cells[i]![this.#index[i]!]!;
      // A table that is not used any more must not be kept from here.
      this.#cells[i] = NO_CELLS;
    }
    this.#sink = sum;
    this.#count = 0;
  }

  /** Exclusive or of the cells loaded last. */
  get loaded(): number {
    return this.#sink;
  }
}

/** The one of this thread. */
export const prefetch = new Prefetch();
