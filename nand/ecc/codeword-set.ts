/**
 * Codewords with a known number of errors at random places: for benches and comparisons.
 */

import { invariant } from '../../hal/sim/invariant.ts';
import { RandomStream } from '../../hal/sim/random.ts';
import { type BchEngine, UNCORRECTABLE } from './code.ts';

export class CodewordSet {
  readonly #engine: BchEngine;
  readonly #codewordBytes: number;
  readonly #errorCount: number;
  /** The codewords one behind the other, between two calls without errors. */
  readonly #codewords: Uint8Array;
  /** Bit indexes of the errors, `errorCount` for each codeword, all different. */
  readonly #errorBits: Int32Array;
  readonly count: number;

  /** @param seed names the data and the places */
  constructor(engine: BchEngine, errorCount: number, count: number, seed = 'codewords') {
    const { dataBytes, parityBytes, parityBits } = engine;
    const bits = 8 * dataBytes + parityBits;
    invariant(errorCount <= bits, 'a codeword has no more wrong bits than bits');
    const random = new RandomStream(seed, 'nand.ecc.codeword-set');
    this.#engine = engine;
    this.#codewordBytes = dataBytes + parityBytes;
    this.#errorCount = errorCount;
    this.count = count;
    this.#codewords = new Uint8Array(count * this.#codewordBytes);
    this.#errorBits = new Int32Array(count * errorCount);
    for (let codeword = 0; codeword < count; codeword++) {
      const at = codeword * this.#codewordBytes;
      for (let i = 0; i < dataBytes; i++) this.#codewords[at + i] = random.below(256);
      engine.encode(this.#codewords, at, this.#codewords, at + dataBytes);
      const places = new Set<number>();
      // Bits are sent most significant first; the last byte of the parity may not be full.
      while (places.size < errorCount) places.add(random.below(bits) ^ 7);
      this.#errorBits.set([...places], codeword * errorCount);
    }
  }

  /**
   * Puts the errors in, decodes every codeword, and checks the verdicts. Returns the bytes of
   * user data that went through, 1024 for the 1031 of the drive's codeword.
   */
  decodeAll(): number {
    const { dataBytes, t } = this.#engine;
    const expected = this.#errorCount <= t ? this.#errorCount : UNCORRECTABLE;
    let at = 0;
    for (let codeword = 0; codeword < this.count; codeword++, at += this.#codewordBytes) {
      this.#flip(codeword, at);
      const verdict = this.#engine.decode(this.#codewords, at, this.#codewords, at + dataBytes);
      invariant(verdict === expected, 'a codeword is decoded as its number of errors demands');
      if (verdict === UNCORRECTABLE) this.#flip(codeword, at);
    }
    return this.count * (dataBytes & ~511);
  }

  #flip(codeword: number, at: number): void {
    const first = codeword * this.#errorCount;
    for (let i = first; i < first + this.#errorCount; i++) {
      const bit = this.#errorBits[i]!;
      this.#codewords[at + (bit >> 3)]! ^= 1 << (bit & 7);
    }
  }
}
