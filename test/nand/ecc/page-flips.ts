/**
 * Wrong bits in a raw page, so many in each of its codewords.
 */
import type { RandomStream } from '../../../hal/sim/random.ts';

const CODEWORD_BITS = 8640;
const DATA_BITS = 8192;

export class PageFlips {
  /** A damaged copy of the page. */
  readonly raw: Uint8Array;
  readonly #pageBytes: number;
  readonly #random: RandomStream;

  constructor(raw: Uint8Array, random: RandomStream, pageBytes = 8192) {
    this.raw = raw.slice();
    this.#random = random;
    this.#pageBytes = pageBytes;
  }

  /** Turns over `count` different bits of a codeword, anywhere in data, metadata and parity. */
  flip(codeword: number, count: number): void {
    const bits = new Set<number>();
    while (bits.size < count) bits.add(this.#random.below(CODEWORD_BITS));
    for (const bit of bits) {
      const at =
        bit < DATA_BITS
          ? codeword * DATA_BITS + bit
          : 8 * this.#pageBytes + codeword * (CODEWORD_BITS - DATA_BITS) + bit - DATA_BITS;
      this.raw[at >> 3]! ^= 1 << (at & 7);
    }
  }
}
