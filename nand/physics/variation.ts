/**
 * Variation: how much better or worse than the mean a block, a word line and a page are.
 *
 * Each factor is a pure function of seed and place and has mean 1 (but for the two outer word
 * lines). Page factor: an MSB page is read at two levels, an LSB page at one. Sources: spread of
 * blocks of about a decade, Grupp et al., FAST 2012; worse outer word lines, Cai et al., DATE 2012;
 * the figures themselves are assumed.
 */

import type { PagePairing } from '../../hal/pairing.ts';
import { exactExp } from './exact-math.ts';
import { lognormalQuantiles, normalQuantile, QUANTILE_BITS } from './normal.ts';
import { fractionOf, type PlaceKey, placeHash, placeKey } from './place-hash.ts';

export interface Spread {
  readonly lsbFactor: number;
  readonly msbFactor: number;
  /** Standard deviation of ln(block factor). */
  readonly blockSd: number;
  /** Standard deviation of ln(word line factor). */
  readonly wordLineSd: number;
  /** Factor of the first and last word line. */
  readonly outerWordLineFactor: number;
}

export const SPREAD: Spread = {
  lsbFactor: 0.67,
  msbFactor: 1.33,
  blockSd: 0.35,
  wordLineSd: 0.2,
  outerWordLineFactor: 1.6,
};

/** Blocks whose factors are drawn at once. */
const BLOCKS_DRAWN = 512;

/** Word line of each page: pairs 2k and 2k + 1 are the even and odd bit lines of word line k. */
export function wordLines(pairing: PagePairing): Uint16Array {
  const lines = new Uint16Array(pairing.pagesPerBlock);
  pairing.lsbPages.forEach((lsb, pair) => {
    lines[lsb] = pair >> 1;
    lines[pairing.partner[lsb]!] = pair >> 1;
  });
  return lines;
}

export class Variation {
  readonly spread: Spread;
  /** Word line of each page. */
  readonly wordLineOf: Uint16Array;
  /** LSB or MSB, times the outer word lines' factor. */
  readonly pageFactor: Float64Array;
  /** No word line is worse. */
  readonly wordLineFactorMax: number;
  /** By block of the whole array: 0 until drawn. The path of a read looks here first. */
  readonly blockFactors: Float64Array;
  readonly #wordLineFactor: Float64Array;
  readonly #blockKey: PlaceKey;
  readonly #wordLineKey: PlaceKey;

  /** @param blocks blocks of the whole array */
  constructor(seed: string, blocks: number, pairing: PagePairing, spread: Spread = SPREAD) {
    this.spread = spread;
    this.wordLineOf = wordLines(pairing);
    const lastLine = pairing.lsbPages.length / 2 - 1;
    this.pageFactor = Float64Array.from(this.wordLineOf, (line, page) => {
      const factor = pairing.isMsb[page] === 1 ? spread.msbFactor : spread.lsbFactor;
      return line === 0 || line === lastLine ? factor * spread.outerWordLineFactor : factor;
    });
    this.blockFactors = new Float64Array(blocks);
    this.#wordLineFactor = lognormalQuantiles(spread.wordLineSd);
    this.wordLineFactorMax = this.#wordLineFactor.at(-1)!;
    this.#blockKey = placeKey(seed, 'nand.block-factor');
    this.#wordLineKey = placeKey(seed, 'nand.word-line-factor');
  }

  /** exp(N(0, 0.35^2) - 0.061) of a block counted over the whole array. */
  blockFactor(blockIndex: number): number {
    if (this.blockFactors[blockIndex] === 0) this.drawAround(blockIndex);
    return this.blockFactors[blockIndex]!;
  }

  /** exp(N(0, 0.2^2) - 0.02) of a word line, without the outer word lines' factor. */
  wordLineFactor(blockIndex: number, wordLine: number): number {
    const hash = placeHash(this.#wordLineKey, blockIndex, wordLine, 0);
    return this.#wordLineFactor[hash >>> (32 - QUANTILE_BITS)]!;
  }

  /**
   * Draws a whole chunk: neighbours are used together, and a rare call stays out of what the engine
   * inlines into the path of a read.
   */
  drawAround(blockIndex: number): void {
    const { blockSd } = this.spread;
    const start = blockIndex - (blockIndex % BLOCKS_DRAWN);
    const end = Math.min(start + BLOCKS_DRAWN, this.blockFactors.length);
    for (let block = start; block < end; block++) {
      const z = normalQuantile(fractionOf(placeHash(this.#blockKey, block, 0, 0)));
      this.blockFactors[block] = exactExp(blockSd * z - (blockSd * blockSd) / 2);
    }
  }
}
