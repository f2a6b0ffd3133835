/**
 * Page pairing of MLC flash: which pages share cells.
 *
 * The 25 nm class (Micron calls the page order 'lsb = msb - 6'): the first four pages are LSB
 * pages, then pairs of LSB and MSB pages alternate, and the last six close the block. MSB = LSB + 4
 * for the first and last two LSB pages, else LSB + 6. Sources: page tables of the Telechips and
 * Rockchip NAND drivers for the Micron L74A; the rule is applied to any block of 4n >= 16 pages so
 * that a small geometry keeps the same shape.
 */

import { invariant } from './sim/invariant.ts';

export class PagePairing {
  readonly pagesPerBlock: number;
  /** LSB pages in programming order. */
  readonly lsbPages: Uint16Array;
  /** 1 for an MSB page. */
  readonly isMsb: Uint8Array;
  /** The other page of the pair. */
  readonly partner: Uint16Array;

  constructor(pagesPerBlock: number) {
    invariant(pagesPerBlock >= 16 && pagesPerBlock % 4 === 0, 'paired blocks have 4n >= 16 pages');
    const pairs = pagesPerBlock / 2;
    this.pagesPerBlock = pagesPerBlock;
    this.lsbPages = new Uint16Array(pairs);
    this.isMsb = new Uint8Array(pagesPerBlock);
    this.partner = new Uint16Array(pagesPerBlock);
    for (let pair = 0; pair < pairs; pair++) {
      const lsb = lsbPageOf(pair);
      const outer = pair < 2 || pair >= pairs - 2;
      const msb = lsb + (outer ? 4 : 6);
      this.lsbPages[pair] = lsb;
      this.isMsb[msb] = 1;
      this.partner[lsb] = msb;
      this.partner[msb] = lsb;
    }
  }
}

function lsbPageOf(pair: number): number {
  if (pair <= 3) return pair;
  return pair % 2 === 0 ? 2 * pair - 2 : 2 * pair - 3;
}
