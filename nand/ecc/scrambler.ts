/**
 * The scrambler: data on flash looks random, whatever the host writes.
 *
 * Cells of 25 nm disturb one another, and long runs of one level disturb most. Data and metadata
 * are therefore XORed with the output of a linear feedback shift register, x^15 + x + 1 (the
 * polynomial and 128 seeds a block are those of published flash controllers; the seeds themselves
 * are assumed). An erased page is not a scrambled page: it must be recognised before descrambling.
 */

import { invariant } from '../../hal/sim/invariant.ts';

const REGISTER_BITS = 15;
/** Bits, and because 8 and the period have no common divisor also bytes, until the key repeats. */
export const KEY_PERIOD = 2 ** REGISTER_BITS - 1;
/** Seeds that the pages of a block go through in turn. */
export const SEED_COUNT = 128;
/** 8 times this is 1 modulo the period: it turns a bit position of the key into a byte position. */
const INVERSE_OF_8 = 4096;
/** Odd integer next to 2^32 divided by the golden ratio (Knuth, TAOCP 3, section 6.4). */
const HASH_FACTOR = 0x9e3779b1;
/** The key is kept longer than its period by what one call may use, so that no stretch wraps. */
const LONGEST_STRETCH = 4096;
/** Below this a stretch is not worth a view of its words. */
const SHORTEST_WORDS_BYTES = 64;
/** Distance of seeds along the register's sequence, in bits: they cover it once. */
const SEED_DISTANCE = 255;

export class Scrambler {
  /** The key from state 1 on, eight bits a byte, first bit lowest; one period and a stretch. */
  readonly #key: Uint8Array;
  /** The same from byte 0, 1, 2 and 3 on, in words: any byte of the key begins a word of one. */
  readonly #words: readonly Int32Array[];
  /** Position in `#key` at which the register has each state. */
  readonly #start = new Uint16Array(KEY_PERIOD + 1);
  readonly #seeds = new Uint16Array(SEED_COUNT);

  constructor() {
    const key = new Uint8Array(KEY_PERIOD + LONGEST_STRETCH + 1);
    let state = 1;
    for (let bit = 0; bit < KEY_PERIOD; bit++) {
      const at = (bit * INVERSE_OF_8) % KEY_PERIOD;
      this.#start[state] = at;
      if (bit % SEED_DISTANCE === 0 && bit / SEED_DISTANCE < SEED_COUNT) {
        this.#seeds[bit / SEED_DISTANCE] = state;
      }
      // Bit `bit` of the key is bit i of every byte that starts i bits before it.
      for (let i = 0; i < 8; i++) {
        const byte = (at - i * INVERSE_OF_8 + 8 * KEY_PERIOD) % KEY_PERIOD;
        key[byte]! |= (state & 1) << i;
      }
      state = (state >> 1) | (((state ^ (state >> 1)) & 1) << (REGISTER_BITS - 1));
    }
    key.copyWithin(KEY_PERIOD, 0, LONGEST_STRETCH + 1);
    this.#key = key;
    this.#words = [0, 1, 2, 3].map((shift) => {
      const wholeWords = (key.length - shift) & ~3;
      return new Int32Array(key.slice(shift, shift + wholeWords).buffer);
    });
  }

  /** State of the register at the start of a page: never zero, from which it would not move. */
  seedOf(page: number, block: number): number {
    const hash = Math.imul(block + 1, HASH_FACTOR) >>> (32 - REGISTER_BITS);
    const seed = this.#seeds[page % SEED_COUNT]! ^ hash;
    return seed === 0 ? KEY_PERIOD : seed;
  }

  /**
   * XORs `count` bytes at `at` with the key of a page, from byte `keyAt` of the key on. Doing it
   * twice changes nothing.
   *
   * @param page number of the page in its block
   * @param block number of the block
   */
  scramble(
    bytes: Uint8Array,
    at: number,
    count: number,
    page: number,
    block: number,
    keyAt = 0,
  ): void {
    invariant(at >= 0 && at + count <= bytes.length, 'a scrambled stretch lies inside its bytes');
    let keyByte = (this.#start[this.seedOf(page, block)]! + keyAt) % KEY_PERIOD;
    for (let done = 0; done < count; done += LONGEST_STRETCH) {
      const stretch = Math.min(count - done, LONGEST_STRETCH);
      this.#addKey(bytes, at + done, stretch, keyByte);
      keyByte = (keyByte + stretch) % KEY_PERIOD;
    }
  }

  /** XORs at most LONGEST_STRETCH bytes, word by word where they are aligned. */
  #addKey(bytes: Uint8Array, at: number, count: number, keyByte: number): void {
    const key = this.#key;
    let done = 0;
    if ((bytes.byteOffset + at) % 4 === 0 && count >= SHORTEST_WORDS_BYTES) {
      const wordCount = count >> 2;
      const words = new Int32Array(bytes.buffer, bytes.byteOffset + at, wordCount);
      const keyWords = this.#words[keyByte & 3]!;
      const first = keyByte >> 2;
      for (let i = 0; i < wordCount; i++) words[i]! ^= keyWords[first + i]!;
      done = 4 * wordCount;
    }
    for (; done < count; done++) bytes[at + done]! ^= key[keyByte + done]!;
  }
}
