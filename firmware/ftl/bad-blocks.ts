/**
 * Bad blocks: which dies of each superblock must not be used.
 *
 * An operation covers one block of every plane of its die, so a bad block takes its plane partners
 * with it: the table has one bit a die. Frontiers step over the holes. Factory marks are read once,
 * when a new drive is formatted; blocks that fail a program or erase are added as they do.
 */

import type { Saveable, Saved } from '../../hal/sim/snapshot.ts';

/** Words of 32 dies a superblock has. */
export const BAD_WORDS = 2;

export class BadBlocks implements Saveable {
  readonly kind = 'firmware.bad-blocks';
  readonly version = 1;
  readonly dies: number;
  /** Two words a superblock: bit n is die n. */
  readonly words: Int32Array;
  /** Block groups marked at the factory, and those that failed since. */
  factoryCount = 0;
  grownCount = 0;
  readonly #badDies: Uint8Array;

  constructor(superblocks: number, dies: number) {
    this.dies = dies;
    this.words = new Int32Array(superblocks * BAD_WORDS);
    this.#badDies = new Uint8Array(superblocks);
  }

  isBad(superblock: number, die: number): boolean {
    return ((this.words[superblock * BAD_WORDS + (die >>> 5)]! >>> (die & 31)) & 1) !== 0;
  }

  hasBad(superblock: number): boolean {
    return this.#badDies[superblock] !== 0;
  }

  /** Dies of a superblock that may be used. */
  usableDies(superblock: number): number {
    return this.dies - this.#badDies[superblock]!;
  }

  /** Adds what was marked at the factory. */
  addFactory(superblock: number, die: number): void {
    if (this.#set(superblock, die)) this.factoryCount++;
  }

  /** Adds a block group that failed. */
  addGrown(superblock: number, die: number): void {
    if (this.#set(superblock, die)) this.grownCount++;
  }

  /** Takes a superblock's words as a checkpoint has them. */
  load(superblock: number, low: number, high: number): void {
    this.words[superblock * BAD_WORDS] = low;
    this.words[superblock * BAD_WORDS + 1] = high;
    let bad = 0;
    for (let die = 0; die < this.dies; die++) if (this.isBad(superblock, die)) bad++;
    this.#badDies[superblock] = bad;
  }

  #set(superblock: number, die: number): boolean {
    if (this.isBad(superblock, die)) return false;
    const word = superblock * BAD_WORDS + (die >>> 5);
    this.words[word] = this.words[word]! | (1 << (die & 31));
    this.#badDies[superblock] = this.#badDies[superblock]! + 1;
    return true;
  }

  reset(): void {
    this.words.fill(0);
    this.#badDies.fill(0);
    this.factoryCount = 0;
    this.grownCount = 0;
  }

  save(): Saved {
    return {
      words: this.words.slice(),
      badDies: this.#badDies.slice(),
      factoryCount: this.factoryCount,
      grownCount: this.grownCount,
    };
  }

  restore(saved: Saved): void {
    this.words.set(saved.words as Int32Array);
    this.#badDies.set(saved.badDies as Uint8Array);
    this.factoryCount = saved.factoryCount as number;
    this.grownCount = saved.grownCount as number;
  }
}
