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
   * follow one another.
   */
  take(visit: (firstSlot: number, count: number) => void): void {
    const firstSlots = this.#firstSlots.subarray(0, this.#count);
    this.#count = 0;
    this.#hasDie.fill(0);
    const { slotsPerUnit } = this.#geometry;
    let first = 0;
    let end = 0;
    for (const slot of firstSlots) {
      if (slot !== end) {
        if (end > first) visit(first, end - first);
        first = slot;
      }
      end = slot + slotsPerUnit;
    }
    if (end > first) visit(first, end - first);
  }
}
