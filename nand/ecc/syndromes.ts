/**
 * Syndromes of a received codeword: its values at alpha^1 to alpha^2t.
 *
 * The remainder of the division by g(x) has the same values there and only parityBits bits. A table
 * holds what each half byte of it contributes to the odd syndromes, two of them in a word; the even
 * ones are squares of earlier ones, because the code is binary.
 */

import type { Galois } from './galois.ts';

/** Rows of the table are whole multiples of this many bytes, so that SIMD can add them. */
const ROW_ALIGNMENT_BYTES = 16;

export class SyndromeTable {
  /** Row `2 i + half` * 16 + value: high half (0) or low half (1) of byte i of the remainder. */
  readonly words: Int32Array;
  readonly rowWords: number;
  readonly #t: number;
  readonly #sum: Int32Array;
  readonly #odd: Uint16Array;
  readonly #field: Galois;

  /** @param rowBytes distance of rows in bytes, a multiple of 16 with room for t half words */
  constructor(field: Galois, t: number, parityBits: number, rowBytes = defaultRowBytes(t)) {
    const halfByteCount = 2 * Math.ceil(parityBits / 8);
    const rowEntries = rowBytes / 2;
    const entries = new Uint16Array(halfByteCount * 16 * rowEntries);
    for (let half = 0; half < halfByteCount; half++) {
      for (let bit = 0; bit < 4; bit++) {
        const degree = parityBits - 1 - (4 * half + 3 - bit);
        // Bits behind the last one are padding and count for nothing.
        if (degree < 0) continue;
        addBit(field, entries.subarray(half * 16 * rowEntries), { bit, degree, t, rowEntries });
      }
    }
    this.words = new Int32Array(entries.buffer);
    this.rowWords = rowBytes / 4;
    this.#t = t;
    this.#field = field;
    this.#sum = new Int32Array(this.rowWords);
    this.#odd = new Uint16Array(this.#sum.buffer);
  }

  /** Fills `syndromes[1]` to `syndromes[2t]` from the bytes of a remainder. */
  evaluate(remainder: Uint8Array, syndromes: Uint16Array): void {
    const { words, rowWords } = this;
    const sum = this.#sum;
    sum.fill(0);
    for (let i = 0; i < remainder.length; i++) {
      const byte = remainder[i]!;
      const high = (2 * i * 16 + (byte >> 4)) * rowWords;
      const low = ((2 * i + 1) * 16 + (byte & 15)) * rowWords;
      for (let word = 0; word < rowWords; word++) {
        sum[word]! ^= words[high + word]! ^ words[low + word]!;
      }
    }
    const { log, antilog } = this.#field;
    for (let j = 0; j < this.#t; j++) {
      syndromes[2 * j + 1] = this.#odd[j]!;
      syndromes[2 * j + 2] = antilog[2 * log[syndromes[j + 1]!]!]!;
    }
  }
}

/** The smallest allowed distance of rows for t odd syndromes, in bytes. */
function defaultRowBytes(t: number): number {
  return Math.ceil((2 * t) / ROW_ALIGNMENT_BYTES) * ROW_ALIGNMENT_BYTES;
}

interface TableBit {
  readonly bit: number;
  readonly degree: number;
  readonly t: number;
  readonly rowEntries: number;
}

/** Fills the rows of the values whose highest bit is `bit`, from those without it. */
function addBit(field: Galois, rows: Uint16Array, place: TableBit): void {
  const { bit, degree, t, rowEntries } = place;
  const low = 1 << bit;
  for (let j = 0; j < t; j++) {
    const value = field.power(degree * (2 * j + 1));
    for (let b = low; b < 2 * low; b++) {
      rows[b * rowEntries + j] = rows[(b - low) * rowEntries + j]! ^ value;
    }
  }
}
