/**
 * The counted engine: verdicts from the number of wrong bits alone, without bytes.
 *
 * The error model knows how many bits of each codeword it has turned over, and a BCH code corrects
 * any t of them, wherever they lie, and tells when there are more. So a drive that keeps no bytes
 * gets the verdicts of the exact engine at no cost. One thing is left out: more than t errors may
 * look like t or fewer in another codeword, in less than one case in t! (28! is 3e29); the exact
 * engine leaves such a case to the CRC.
 */

import { invariant } from '../../hal/sim/invariant.ts';
import { UNCORRECTABLE } from './code.ts';
import { PageOutcome, type PageVerdict } from './verdict.ts';

/** Bits corrected in a codeword with so many wrong ones, or UNCORRECTABLE. */
export function countedVerdict(errorBits: number, t: number): number {
  return errorBits <= t ? errorBits : UNCORRECTABLE;
}

/** Bits of a codeword that may read as zero before its page no longer counts as erased. */
export function erasedThreshold(t: number): number {
  return t >> 1;
}

export class CountedCodec {
  readonly t: number;
  readonly #outcome: PageOutcome;

  /** @param t errors that a codeword can bear, in bits */
  constructor(codewordCount: number, t: number) {
    this.t = t;
    this.#outcome = new PageOutcome(codewordCount);
  }

  /**
   * Decodes a programmed page.
   *
   * @param errorBits wrong bits of each codeword
   * @returns the same object every time
   */
  decodePage(errorBits: ArrayLike<number>): PageVerdict {
    const outcome = this.#begin(errorBits, false);
    for (let codeword = 0; codeword < errorBits.length; codeword++) {
      outcome.enter(codeword, countedVerdict(errorBits[codeword]!, this.t));
    }
    return outcome;
  }

  /**
   * Decodes an erased page: erased while few bits read as zero, then nothing that could be decoded.
   *
   * @param zeroBits bits of each codeword that read as zero
   */
  decodeErasedPage(zeroBits: ArrayLike<number>): PageVerdict {
    const threshold = erasedThreshold(this.t);
    let erased = true;
    for (let codeword = 0; codeword < zeroBits.length; codeword++) {
      if (zeroBits[codeword]! > threshold) erased = false;
    }
    const outcome = this.#begin(zeroBits, erased);
    for (let codeword = 0; codeword < zeroBits.length; codeword++) {
      outcome.enter(codeword, erased ? zeroBits[codeword]! : UNCORRECTABLE);
    }
    return outcome;
  }

  #begin(bits: ArrayLike<number>, erased: boolean): PageOutcome {
    const holds = bits.length === this.#outcome.corrected.length;
    invariant(holds, 'a page has one count of bits for each of its codewords');
    this.#outcome.begin(erased);
    return this.#outcome;
  }
}
