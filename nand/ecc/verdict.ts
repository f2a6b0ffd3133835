/**
 * What decoding a page came to, for the exact and the counted engine alike.
 */

import { UNCORRECTABLE } from './code.ts';

export interface PageVerdict {
  /** Per codeword: bits corrected, or UNCORRECTABLE. Of an erased page: bits that read as zero. */
  readonly corrected: Int32Array;
  /** The most bits corrected in one codeword; UNCORRECTABLE as soon as one of them is. */
  readonly worst: number;
  /** Bit c: codeword c is uncorrectable. */
  readonly failedCodewords: number;
  /** The page holds nothing since its last erase. */
  readonly erased: boolean;
  /** Bit s: all codewords of slot s decoded, yet its CRC is wrong: a miscorrection or a mix-up. */
  readonly crcWrong: number;
}

/** A verdict that is filled anew for every page. */
export class PageOutcome implements PageVerdict {
  readonly corrected: Int32Array;
  worst = 0;
  failedCodewords = 0;
  erased = false;
  crcWrong = 0;

  constructor(codewordCount: number) {
    this.corrected = new Int32Array(codewordCount);
  }

  begin(erased: boolean): void {
    this.worst = 0;
    this.failedCodewords = 0;
    this.erased = erased;
    this.crcWrong = 0;
  }

  /** Enters what the decoder said about a codeword. */
  enter(codeword: number, corrected: number): void {
    this.corrected[codeword] = corrected;
    if (corrected === UNCORRECTABLE) {
      this.worst = UNCORRECTABLE;
      this.failedCodewords |= 1 << codeword;
    } else if (this.worst !== UNCORRECTABLE && corrected > this.worst) {
      this.worst = corrected;
    }
  }
}
