/**
 * Damage: bit errors that a cut operation has left in single pages, until their block is erased.
 *
 * Few pages ever are damaged, so it is a sparse list over the page store. What was programmed stays
 * in the store as it was; the damage only says how much of it a read sees wrong.
 */

import type { Saveable, Saved } from '../hal/sim/snapshot.ts';

export class Damage implements Saveable {
  readonly kind = 'nand.damage';
  readonly version = 1;
  readonly #pagesPerBlock: number;
  /** Extra RBER by page counted over the whole array. */
  #rbers = new Map<number, number>();

  constructor(pagesPerBlock: number) {
    this.#pagesPerBlock = pagesPerBlock;
  }

  get count(): number {
    return this.#rbers.size;
  }

  /** Extra raw bit error rate of a page. */
  rberOf(block: number, page: number): number {
    return this.#rbers.get(block * this.#pagesPerBlock + page) ?? 0;
  }

  /** Adds to a page's extra rate; a page that is all random is wrong by half. */
  add(block: number, page: number, rber: number): void {
    if (rber <= 0) return;
    this.#rbers.set(
      block * this.#pagesPerBlock + page,
      Math.min(0.5, this.rberOf(block, page) + rber),
    );
  }

  /** The block was erased in full. */
  heal(block: number): void {
    const first = block * this.#pagesPerBlock;
    for (let page = 0; page < this.#pagesPerBlock; page++) this.#rbers.delete(first + page);
  }

  /** Takes over what another list holds. */
  copyFrom(other: Damage): void {
    this.#rbers = new Map(other.#rbers);
  }

  /** Every damaged page, in order. */
  list(): { block: number; page: number; rber: number }[] {
    return [...this.#rbers]
      .sort(([a], [b]) => a - b)
      .map(([index, rber]) => ({
        block: Math.floor(index / this.#pagesPerBlock),
        page: index % this.#pagesPerBlock,
        rber,
      }));
  }

  save(): Saved {
    const sorted = [...this.#rbers].sort(([a], [b]) => a - b);
    return {
      pages: Float64Array.from(sorted, ([index]) => index),
      rbers: Float64Array.from(sorted, ([, rber]) => rber),
    };
  }

  restore(saved: Saved): void {
    const pages = saved.pages as Float64Array;
    const rbers = saved.rbers as Float64Array;
    this.#rbers = new Map(Array.from(pages, (index, i) => [index, rbers[i]!]));
  }
}
