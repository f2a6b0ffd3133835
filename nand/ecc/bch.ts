/**
 * The BCH engine in plain TypeScript: any code of GF(2^5) to GF(2^15).
 *
 * Encoding is a long division by the generator polynomial, four bytes a step through four tables.
 * Decoding divides too: a remainder equal to the received parity ends it, which is the common case.
 * Otherwise syndromes, locator and roots follow, each in its own file. Calls allocate nothing.
 */

import { BerlekampMassey } from './berlekamp-massey.ts';
import {
  applyErrors,
  type BchEngine,
  type BchParameters,
  checkParameters,
  checkStretch,
  UNCORRECTABLE,
} from './code.ts';
import { Galois } from './galois.ts';
import { Generator, SLICE_BYTES } from './generator.ts';
import { RootFinder } from './roots.ts';
import { SyndromeTable } from './syndromes.ts';

export class Bch implements BchEngine {
  readonly m: number;
  readonly t: number;
  readonly dataBytes: number;
  readonly parityBits: number;
  readonly parityBytes: number;
  readonly workspace: Uint8Array;
  readonly errorBits: Int32Array;
  errorCount = 0;
  readonly #field: Galois;
  readonly #wordCount: number;
  readonly #tables: Int32Array;
  /** The remainder so far, left-aligned; one word of zeros behind it. */
  readonly #words: Int32Array;
  readonly #remainder: Uint8Array;
  readonly #lastByteMask: number;
  readonly #syndromes: Uint16Array;
  readonly #syndromeTable: SyndromeTable;
  readonly #berlekampMassey: BerlekampMassey;
  readonly #rootFinder: RootFinder;

  /** Throws a RangeError when the parameters name no code. */
  constructor(parameters: BchParameters) {
    checkParameters(parameters);
    const { m, t, dataBytes } = parameters;
    this.m = m;
    this.t = t;
    this.dataBytes = dataBytes;
    this.#field = new Galois(m);
    const generator = new Generator(this.#field, parameters);
    this.parityBits = generator.parityBits;
    this.parityBytes = Math.ceil((m * t) / 8);
    this.workspace = new Uint8Array(dataBytes + this.parityBytes);
    this.errorBits = new Int32Array(t);
    this.#wordCount = generator.wordCount;
    this.#tables = generator.sliceTables();
    this.#words = new Int32Array(generator.wordCount + 1);
    this.#remainder = new Uint8Array(Math.ceil(this.parityBits / 8));
    this.#lastByteMask = 0xff << (8 * this.#remainder.length - this.parityBits);
    this.#syndromes = new Uint16Array(2 * t + 1);
    this.#syndromeTable = new SyndromeTable(this.#field, t, this.parityBits);
    this.#berlekampMassey = new BerlekampMassey(this.#field, t);
    this.#rootFinder = new RootFinder(this.#field, t);
  }

  encode(data: Uint8Array, dataAt: number, parity: Uint8Array, parityAt: number): void {
    this.#check(data, dataAt, parity, parityAt);
    this.#divide(data, dataAt);
    for (let i = 0; i < this.parityBytes; i++) parity[parityAt + i] = this.#remainderByte(i);
  }

  decode(data: Uint8Array, dataAt: number, parity: Uint8Array, parityAt: number): number {
    this.#check(data, dataAt, parity, parityAt);
    this.#divide(data, dataAt);
    this.errorCount = 0;
    const remainder = this.#remainder;
    const last = remainder.length - 1;
    let difference = 0;
    for (let i = 0; i <= last; i++) {
      remainder[i] = this.#remainderByte(i) ^ parity[parityAt + i]!;
      // Behind the last bit the flash holds what it likes.
      if (i === last) remainder[i]! &= this.#lastByteMask;
      difference |= remainder[i]!;
    }
    if (difference === 0) return 0;
    this.#syndromeTable.evaluate(remainder, this.#syndromes);
    const count = this.#berlekampMassey.locate(this.#syndromes);
    if (count <= 0 || !this.#rootFinder.find(this.#berlekampMassey.locator, count)) {
      return UNCORRECTABLE;
    }
    if (!this.#placeErrors(count)) return UNCORRECTABLE;
    this.errorCount = count;
    applyErrors(this, data, dataAt, parity, parityAt);
    return count;
  }

  #check(data: Uint8Array, dataAt: number, parity: Uint8Array, parityAt: number): void {
    checkStretch('data', data, dataAt, this.dataBytes);
    checkStretch('parity', parity, parityAt, this.parityBytes);
  }

  /** Turns roots into bit indexes. False when one lies before the start of the shortened code. */
  #placeErrors(count: number): boolean {
    const { log, order } = this.#field;
    const bits = 8 * this.dataBytes + this.parityBits;
    for (let i = 0; i < count; i++) {
      const rootLog = log[this.#rootFinder.roots[i]!]!;
      const degree = rootLog === 0 ? 0 : order - rootLog;
      if (degree >= bits) return false;
      // Bits are sent most significant first and counted least significant first in a byte.
      insertRising(this.errorBits, i, (bits - 1 - degree) ^ 7);
    }
    return true;
  }

  /** Leaves the remainder of data x^parityBits in `#words`. */
  #divide(data: Uint8Array, dataAt: number): void {
    const words = this.#words;
    const tables = this.#tables;
    const count = this.#wordCount;
    words.fill(0);
    const end = dataAt + this.dataBytes;
    // Zeros before the data change nothing, so the odd bytes in front make up a whole word too.
    const odd = this.dataBytes % SLICE_BYTES;
    for (let at = dataAt + odd - (odd === 0 ? 0 : SLICE_BYTES); at < end; at += SLICE_BYTES) {
      const word = at < dataAt ? firstWord(data, dataAt, odd) : wordAt(data, at);
      const top = words[0]! ^ word;
      let row3 = (768 + (top >>> 24)) * count;
      let row2 = (512 + ((top >>> 16) & 255)) * count;
      let row1 = (256 + ((top >>> 8) & 255)) * count;
      let row0 = (top & 255) * count;
      for (let i = 0; i < count; i++) {
        words[i] =
          words[i + 1]! ^ tables[row0++]! ^ tables[row1++]! ^ tables[row2++]! ^ tables[row3++]!;
      }
    }
  }

  /** Byte i of the remainder; zero behind its words. */
  #remainderByte(i: number): number {
    const word = i >> 2;
    return word < this.#wordCount ? (this.#words[word]! >>> (24 - 8 * (i & 3))) & 255 : 0;
  }
}

function wordAt(data: Uint8Array, at: number): number {
  return (data[at]! << 24) | (data[at + 1]! << 16) | (data[at + 2]! << 8) | data[at + 3]!;
}

/** The first `count` bytes as a word, with zeros in front. */
function firstWord(data: Uint8Array, at: number, count: number): number {
  let word = 0;
  for (let i = 0; i < count; i++) word = (word << 8) | data[at + i]!;
  return word;
}

/** Puts a value in its place among the first `count` values, which are in rising order. */
function insertRising(values: Int32Array, count: number, value: number): void {
  let at = count;
  for (; at > 0 && values[at - 1]! > value; at--) values[at] = values[at - 1]!;
  values[at] = value;
}
