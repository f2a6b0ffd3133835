/**
 * The generator polynomial of a BCH code, and remainders of long divisions by it.
 *
 * A remainder is a row of 32-bit words, left-aligned: the top bit of word 0 is the coefficient of
 * x^(parityBits - 1), and bits below x^0 are zero.
 */

import type { BchParameters } from './code.ts';
import type { Galois } from './galois.ts';

/** Bytes that one step of a division takes in. */
export const SLICE_BYTES = 4;

export class Generator {
  /** Degree of the polynomial. */
  readonly parityBits: number;
  /** Words of one remainder. */
  readonly wordCount: number;
  /** The polynomial without its leading term, as a remainder. */
  readonly words: Int32Array;

  constructor(field: Galois, { t }: Pick<BchParameters, 't'>) {
    const coefficients = generatorCoefficients(field, t);
    this.parityBits = coefficients.length - 1;
    this.wordCount = Math.ceil(this.parityBits / 32);
    this.words = new Int32Array(this.wordCount);
    for (let degree = 0; degree < this.parityBits; degree++) {
      if (coefficients[degree] !== 0) setDegree(this.words, this.parityBits, degree);
    }
  }

  /** Multiplies a remainder by x, in place. */
  step(remainder: Int32Array, at = 0): void {
    const carry = remainder[at]! < 0 ? -1 : 0;
    for (let word = 0; word < this.wordCount; word++) {
      const next = word + 1 < this.wordCount ? remainder[at + word + 1]! : 0;
      remainder[at + word] =
        (remainder[at + word]! << 1) ^ (next >>> 31) ^ (this.words[word]! & carry);
    }
  }

  /**
   * The remainders of b x^(8 i + parityBits) for each byte b and each place i of a slice, place
   * first: row `i * 256 + b`, `stride` words apart.
   */
  sliceTables(stride = this.wordCount): Int32Array {
    const table = new Int32Array(SLICE_BYTES * 256 * stride);
    const power = Int32Array.from(this.words);
    for (let bit = 0; bit < 8 * SLICE_BYTES; bit++) {
      const place = (bit >> 3) * 256;
      const low = 1 << (bit & 7);
      for (let b = low; b < 2 * low; b++) {
        const row = (place + b) * stride;
        const rest = (place + b - low) * stride;
        for (let word = 0; word < this.wordCount; word++) {
          table[row + word] = table[rest + word]! ^ power[word]!;
        }
      }
      this.step(power);
    }
    return table;
  }
}

/** Sets the coefficient of x^degree in a remainder. */
export function setDegree(words: Int32Array, parityBits: number, degree: number): void {
  const place = parityBits - 1 - degree;
  words[place >> 5]! |= 1 << (31 - (place & 31));
}

/** Product of (x - root) over all conjugates of alpha^1 to alpha^2t; coefficients are 0 or 1. */
function generatorCoefficients(field: Galois, t: number): Uint16Array {
  const exponents = new Set<number>();
  for (let odd = 1; odd < 2 * t; odd += 2) {
    for (let i = 0, exponent = odd % field.order; i < field.m; i++) {
      exponents.add(exponent);
      exponent = (2 * exponent) % field.order;
    }
  }
  const product = new Uint16Array(exponents.size + 1);
  product[0] = 1;
  let degree = 0;
  for (const exponent of exponents) {
    const root = field.power(exponent);
    product[degree + 1] = product[degree]!;
    for (let i = degree; i > 0; i--) {
      product[i] = product[i - 1]! ^ field.multiply(product[i]!, root);
    }
    product[0] = field.multiply(product[0]!, root);
    degree++;
  }
  return product;
}
