/**
 * A batch of units: programmed, and waiting to be written into an image together.
 *
 * Units that are programmed one after the other mostly lie side by side in the file, so a few large
 * writes do for many. They are written in the order in which they were programmed and never sorted,
 * so a killed process leaves the first of them whole and none behind one that is not. A batch has
 * at most one unit of each die, as a loss of power interrupts at most one program of each.
 */
import type { Geometry } from '../../hal/geometry.ts';
import { RUN_SLOTS_MAX } from './image-file.ts';

export class UnitBatch {
  readonly #geometry: Geometry;
  /** First slots of the units that wait, in the order of their programs. */
  readonly #firstSlots: Int32Array;
  #count = 0;
  /** 1: a unit of the die waits. */
  readonly #hasDie: Uint8Array;

  constructor(geometry: Geometry) {
    this.#geometry = geometry;
    this.#firstSlots = new Int32Array(Math.floor(RUN_SLOTS_MAX / geometry.slotsPerUnit));
    this.#hasDie = new Uint8Array(geometry.dies);
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Whether there is room for a unit. */
  takes(firstSlot: number): boolean {
    const isFull = this.#count === this.#firstSlots.length;
    return !isFull && this.#hasDie[this.#geometry.dieOf(firstSlot)] === 0;
  }

  add(firstSlot: number): void {
    this.#firstSlots[this.#count++] = firstSlot;
    this.#hasDie[this.#geometry.dieOf(firstSlot)] = 1;
  }

  /**
   * Empties the batch: visits its units in the order of their programs, those together whose slots
   * follow one another. What a visit that throws has not taken stays, and what is behind it.
   */
  take(visit: (firstSlot: number, count: number) => void): void {
    let done = 0;
    try {
      while (done < this.#count) {
        const units = this.#runFrom(done);
        visit(this.#firstSlots[done]!, units * this.#geometry.slotsPerUnit);
        done += units;
      }
    } finally {
      this.#firstSlots.copyWithin(0, done, this.#count);
      this.#count -= done;
      if (this.#count === 0) this.#hasDie.fill(0);
    }
  }

  /** Units from the one at `index` on that lie side by side. */
  #runFrom(index: number): number {
    const { slotsPerUnit } = this.#geometry;
    const first = this.#firstSlots[index]!;
    let units = 1;
    for (; index + units < this.#count; units++) {
      if (this.#firstSlots[index + units] !== first + units * slotsPerUnit) break;
    }
    return units;
  }
}
