/**
 * Named randomness (law L9): one xorshift128 stream per purpose, always seeded by a string.
 *
 * A new draw for one purpose never shifts the draws of another, and the state of a stream is saved
 * with the machine. Marsaglia's xorshift128 comes from `seedrandom`.
 */

import seedrandom from 'seedrandom';
import { invariant } from './invariant.ts';
import type { Saveable, Saved } from './snapshot.ts';

type Generator = seedrandom.StatefulPRNG<seedrandom.State.Xor128>;

export class RandomStream implements Saveable {
  readonly kind: string;
  readonly version = 1;
  readonly #seed: string;
  #generator: Generator;

  /**
   * @param seed the seed of the run
   * @param purpose what the draws are for, e.g. 'nand.bit-errors'
   */
  constructor(seed: string, purpose: string) {
    this.kind = `random.${purpose}`;
    this.#seed = `${seed}/${purpose}`;
    this.#generator = seedrandom.xor128(this.#seed, { state: true });
  }

  /** An integer from 0 to 2^32 - 1. */
  uint32(): number {
    return this.#generator.int32() >>> 0;
  }

  /** An integer from 0 to `limit` - 1; `limit` at most 2^32. */
  below(limit: number): number {
    invariant(limit > 0, 'a draw has at least one outcome');
    return Math.floor(((this.#generator.int32() >>> 0) / 2 ** 32) * limit);
  }

  save(): Saved {
    const { x, y, z, w } = this.#generator.state();
    return { x, y, z, w };
  }

  restore(saved: Saved): void {
    const { x, y, z, w } = saved as { x: number; y: number; z: number; w: number };
    this.#generator = seedrandom.xor128('', { state: { x, y, z, w } });
  }
}
