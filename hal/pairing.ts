/**
 * Page pairing of MLC flash: which pages share cells, as data for each generation.
 *
 * A scheme names only its LSB pages: some that open the block, then a group that repeats until half
 * of the pages are named. The other pages are MSB pages; the n-th LSB page shares its cells with
 * the n-th MSB page. The rule scales to any block of 4n >= 16 pages, so that a small geometry keeps
 * the shape of the large one. Pages are programmed in rising order; a cut of power in an MSB page
 * can take its LSB page with it, so LSB pages whose partners are still to come are at risk.
 *
 * | scheme | LSB pages | msb - lsb | at risk |
 * |---|---|---|---|
 * | 25nm | 0-3, 6, 7, 10, 11, 14, 15 ... | 4 at both ends, else 6 | 4 |
 * | 20nm | 0-5, 8, 9, 12, 13, 16, 17 ... | 6, 8, then 10, then 8, 6 | 6 |
 * | 19nm | 0, 1, 3, 5, 7, 9 ... | 2 at both ends, else 3 | 2 |
 * | 16nm | 0-5, 7, 8, 10, 11, 14, 15 ... | 6 to 14 | 8 |
 *
 * Simplified: on 20 nm and 16 nm dies eight pages at the edges of a block have cells of their own,
 * and driver tables count the last four of them as LSB pages too. Here these four are MSB pages, so
 * that each page has a partner; distances and pages at risk are then upper bounds.
 */

import { invariant } from './sim/invariant.ts';

export type PairingSchemeId = '25nm' | '20nm' | '19nm' | '16nm';

export interface PairingScheme {
  readonly id: PairingSchemeId;
  /** Where the list comes from, and what of it is assumed. */
  readonly source: string;
  /** LSB pages that open the block, rising. */
  readonly opening: readonly number[];
  /** LSB pages after the opening; the group repeats every `periodPages`, half of them LSB pages. */
  readonly group: readonly number[];
  readonly periodPages: number;
  /** Most LSB pages of one block that are programmed while their partners are not. */
  readonly atRiskMax: number;
}

/** Generations of MLC flash, newest last. */
export const PAIRING_SCHEMES: readonly PairingScheme[] = [
  {
    id: '25nm',
    source: 'Telechips (MLC) and Rockchip (mode 1) NAND drivers: Micron L74A; msb = lsb + 6',
    opening: [0, 1, 2, 3],
    group: [6, 7],
    periodPages: 4,
    atRiskMax: 4,
  },
  {
    id: '20nm',
    source:
      'Telechips NAND driver (MLC type 2): Micron L84, 128 of 256 pages; which LSB page belongs ' +
      'to which MSB page is assumed',
    opening: [0, 1, 2, 3, 4, 5],
    group: [8, 9],
    periodPages: 4,
    atRiskMax: 6,
  },
  {
    id: '19nm',
    source:
      'Allwinner NAND driver (Toshiba 2x, 19, 1y nm): page 0 and odd pages but the last; pairs ' +
      'as in the distance-3 scheme of Linux MTD. Telechips lists the 25nm order for a sibling die',
    opening: [0],
    group: [1],
    periodPages: 2,
    atRiskMax: 2,
  },
  {
    id: '16nm',
    source:
      'FEMU and Allwinner NAND driver (42h): Micron L95B, 512 pages but for 506, 507, 509 and ' +
      '510, which are LSB pages there; which LSB page belongs to which MSB page is assumed',
    opening: [0, 1, 2, 3, 4, 5, 7, 8],
    group: [10, 11],
    periodPages: 4,
    atRiskMax: 8,
  },
];

/** The scheme with this id, one of those in PAIRING_SCHEMES. */
export function pairingScheme(id: PairingSchemeId): PairingScheme {
  const scheme = PAIRING_SCHEMES.find((each) => each.id === id);
  invariant(scheme !== undefined, 'a part names a pairing scheme that exists');
  return scheme;
}

export class PagePairing {
  readonly scheme: PairingScheme;
  readonly pagesPerBlock: number;
  /** LSB pages in programming order. */
  readonly lsbPages: Uint16Array;
  /** 1 for an MSB page. */
  readonly isMsb: Uint8Array;
  /** The other page of the pair. */
  readonly partner: Uint16Array;

  /** @param pagesPerBlock 4n >= 16 */
  constructor(pagesPerBlock: number, schemeId: PairingSchemeId = '25nm') {
    invariant(pagesPerBlock >= 16 && pagesPerBlock % 4 === 0, 'paired blocks have 4n >= 16 pages');
    const pairs = pagesPerBlock / 2;
    this.scheme = pairingScheme(schemeId);
    this.pagesPerBlock = pagesPerBlock;
    this.lsbPages = Uint16Array.from({ length: pairs }, (_, pair) => lsbPageOf(this.scheme, pair));
    this.isMsb = new Uint8Array(pagesPerBlock).fill(1);
    this.partner = new Uint16Array(pagesPerBlock);
    for (const lsb of this.lsbPages) this.isMsb[lsb] = 0;
    let msb = -1;
    for (const lsb of this.lsbPages) {
      msb = this.isMsb.indexOf(1, msb + 1);
      invariant(msb > lsb, 'an LSB page is programmed before its MSB page');
      this.partner[lsb] = msb;
      this.partner[msb] = lsb;
    }
  }
}

/** LSB page of a pair, counted in programming order. */
function lsbPageOf({ opening, group, periodPages }: PairingScheme, pair: number): number {
  const after = pair - opening.length;
  if (after < 0) return opening[pair]!;
  return group[after % group.length]! + periodPages * Math.floor(after / group.length);
}
