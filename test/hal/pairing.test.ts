import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  PAIRING_SCHEMES,
  PagePairing,
  type PairingSchemeId,
  pairingScheme,
} from '../../hal/pairing.ts';
import { InvariantBroken } from '../../hal/sim/invariant.ts';

function pagesWhere(pairing: PagePairing, isMsb: number): number[] {
  const pages = Array.from({ length: pairing.pagesPerBlock }, (_, page) => page);
  return pages.filter((page) => pairing.isMsb[page] === isMsb);
}

/** From `first` to `last` in steps of 4, with the page after each. */
function pairsOf(first: number, last: number): number[] {
  const pages: number[] = [];
  for (let page = first; page <= last; page += 4) pages.push(page, page + 1);
  return pages;
}

/** MSB page less LSB page of each pair. */
function distances(pairing: PagePairing): number[] {
  return [...pairing.lsbPages].map((lsb) => pairing.partner[lsb]! - lsb);
}

/** Most LSB pages that wait for their partners while a page is programmed. */
function mostAtRisk({ pagesPerBlock, isMsb, partner }: PagePairing): number {
  let most = 0;
  let waiting = 0;
  for (let page = 0; page < pagesPerBlock; page++) {
    most = Math.max(most, waiting);
    // The page of this turn is in flight: an MSB page frees its partner only afterwards.
    waiting += isMsb[page] === 1 && partner[page]! < page ? -1 : 1;
  }
  return most;
}

describe('256 pages: the published table of the 25 nm device', () => {
  const pairing = new PagePairing(256);

  it('has LSB pages 0,1,2,3,6,7,10,11 ... 246,247,250,251', () => {
    const published = [0, 1, ...pairsOf(2, 250)];
    expect(published.slice(0, 8)).toEqual([0, 1, 2, 3, 6, 7, 10, 11]);
    expect(published.slice(-4)).toEqual([246, 247, 250, 251]);
    expect([...pairing.lsbPages]).toEqual(published);
    expect(pagesWhere(pairing, 0)).toEqual(published);
  });

  it('has MSB pages 4,5,8,9,12,13 ... 248,249,252,253,254,255', () => {
    const published = [...pairsOf(4, 252), 254, 255];
    expect(published.slice(-6)).toEqual([248, 249, 252, 253, 254, 255]);
    expect(pagesWhere(pairing, 1)).toEqual(published);
  });

  it('pairs msb = lsb + 4 at both ends of the block and lsb + 6 between', () => {
    for (const lsb of pairing.lsbPages) {
      const distance = [0, 1, 250, 251].includes(lsb) ? 4 : 6;
      expect(pairing.partner[lsb]).toBe(lsb + distance);
    }
    const published = [
      [0, 4],
      [1, 5],
      [2, 8],
      [3, 9],
      [6, 12],
      [7, 13],
      [10, 16],
      [11, 17],
      [246, 252],
      [247, 253],
      [250, 254],
      [251, 255],
    ];
    expect(published.map(([lsb]) => [lsb, pairing.partner[lsb!]])).toEqual(published);
  });
});

it('keeps the shape in a block of 16 pages', () => {
  const pairing = new PagePairing(16);
  expect([...pairing.lsbPages]).toEqual([0, 1, 2, 3, 6, 7, 10, 11]);
  expect(pagesWhere(pairing, 1)).toEqual([4, 5, 8, 9, 12, 13, 14, 15]);
  const partners = [...pairing.lsbPages].map((lsb) => pairing.partner[lsb]);
  expect(partners).toEqual([4, 5, 8, 9, 12, 13, 14, 15]);
});

it('is the 25 nm scheme where none is named', () => {
  for (const pages of [16, 64, 256]) {
    const named = new PagePairing(pages, '25nm');
    const unnamed = new PagePairing(pages);
    expect(unnamed.scheme.id).toBe('25nm');
    expect(unnamed.partner).toEqual(named.partner);
    expect(unnamed.lsbPages).toEqual(named.lsbPages);
    expect(unnamed.isMsb).toEqual(named.isMsb);
  }
});

describe('256 pages: the published table of the 20 nm device', () => {
  const pairing = new PagePairing(256, '20nm');

  it('has LSB pages 0-5,8,9,12,13 ... 244,245,248,249', () => {
    const published = [0, 1, 2, 3, 4, 5, ...pairsOf(8, 248)];
    expect(published).toHaveLength(128);
    expect([...pairing.lsbPages]).toEqual(published);
    expect(pagesWhere(pairing, 0)).toEqual(published);
  });

  it('has MSB pages 6,7,10,11 ... 250,251,252-255', () => {
    expect(pagesWhere(pairing, 1)).toEqual([...pairsOf(6, 250), 252, 253, 254, 255]);
  });

  it('pairs over distances of 6 and 8 at both ends and 10 between', () => {
    const ends = [6, 6, 8, 8];
    const between = new Array<number>(120).fill(10);
    expect(distances(pairing)).toEqual([...ends, ...between, ...ends.toReversed()]);
  });
});

describe('256 pages: the published rule of the 19 nm device', () => {
  const pairing = new PagePairing(256, '19nm');

  it('has page 0 and the odd pages but the last as LSB pages', () => {
    const pages = Array.from({ length: 256 }, (_, page) => page);
    const published = pages.filter((page) => page === 0 || (page % 2 === 1 && page !== 255));
    expect([...pairing.lsbPages]).toEqual(published);
    expect(pagesWhere(pairing, 0)).toEqual(published);
  });

  it('pairs 0 with 2, 2k - 1 with 2k + 2 and the last LSB page with the last page', () => {
    expect(pairing.partner[0]).toBe(2);
    expect(pairing.partner[253]).toBe(255);
    const middle = Array.from({ length: 126 }, (_, k) => 2 * (k + 1));
    expect(middle.map((page) => pairing.partner[page - 1])).toEqual(middle.map((page) => page + 2));
  });
});

describe('the 16 nm device', () => {
  it('differs from the published 512 pages only in the four LSB pages without a partner', () => {
    const pairing = new PagePairing(512, '16nm');
    const published = [0, 1, 2, 3, 4, 5, 7, 8, ...pairsOf(10, 506), 509, 510];
    expect(published).toHaveLength(260);
    const unpaired = [506, 507, 509, 510];
    const paired = published.filter((page) => !unpaired.includes(page));
    expect([...pairing.lsbPages]).toEqual(paired);
    expect(pagesWhere(pairing, 0)).toEqual(paired);
  });

  it('opens 256 pages as 0-5,7,8,10,11,14,15 and 6,9,12,13,16,17', () => {
    const pairing = new PagePairing(256, '16nm');
    expect(pagesWhere(pairing, 0).slice(0, 12)).toEqual([0, 1, 2, 3, 4, 5, 7, 8, 10, 11, 14, 15]);
    expect(pagesWhere(pairing, 1).slice(0, 6)).toEqual([6, 9, 12, 13, 16, 17]);
    expect(Math.min(...distances(pairing))).toBe(6);
    expect(Math.max(...distances(pairing))).toBe(14);
  });
});

const SCHEMES = PAIRING_SCHEMES.map(({ id }) => id);

it.each(SCHEMES)('%s: pairs each page with one other, its LSB page first, at any size', (id) => {
  fc.assert(
    fc.property(fc.integer({ min: 4, max: 256 }), (quarters) => {
      const pairing = new PagePairing(quarters * 4, id);
      const pages = Array.from({ length: quarters * 4 }, (_, page) => page);
      const partners = pages.map((page) => pairing.partner[page]!);
      expect([...partners].sort((a, b) => a - b)).toEqual(pages);
      expect(partners.map((page) => pairing.partner[page])).toEqual(pages);
      const wrong = pages.filter((page) => {
        const isLsb = pairing.isMsb[page] === 0;
        return isLsb !== page < partners[page]! || pairing.isMsb[partners[page]!] !== Number(isLsb);
      });
      expect(wrong).toEqual([]);
      expect([...pairing.lsbPages]).toEqual(pagesWhere(pairing, 0));
    }),
    { numRuns: 40 },
  );
});

/** LSB pages that a cut of power can take at most: the window that firmware has to protect. */
const AT_RISK: Record<PairingSchemeId, number> = { '25nm': 4, '20nm': 6, '19nm': 2, '16nm': 8 };

it.each(SCHEMES)('%s: keeps to its bound of LSB pages at risk', (id) => {
  expect(pairingScheme(id).atRiskMax).toBe(AT_RISK[id]);
  // The 16 nm group comes once in 20 pages; smaller blocks do not reach the bound.
  fc.assert(
    fc.property(fc.integer({ min: 5, max: 256 }), (quarters) => {
      expect(mostAtRisk(new PagePairing(quarters * 4, id))).toBe(AT_RISK[id]);
    }),
    { numRuns: 40 },
  );
  expect(mostAtRisk(new PagePairing(16, id))).toBeLessThanOrEqual(AT_RISK[id]);
});

it('refuses blocks that the pairing does not fit, and schemes that do not exist', () => {
  for (const id of SCHEMES) {
    for (const pages of [0, 12, 18, 255])
      expect(() => new PagePairing(pages, id)).toThrow(InvariantBroken);
  }
  expect(() => new PagePairing(256, '3d' as PairingSchemeId)).toThrow(InvariantBroken);
});
