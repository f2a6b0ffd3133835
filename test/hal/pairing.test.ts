import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PagePairing } from '../../hal/pairing.ts';
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

it('pairs each page with exactly one other, the LSB page first, in blocks of any size', () => {
  fc.assert(
    fc.property(fc.integer({ min: 4, max: 256 }), (quarters) => {
      const pairing = new PagePairing(quarters * 4);
      const pages = Array.from({ length: quarters * 4 }, (_, page) => page);
      const partners = pages.map((page) => pairing.partner[page]!);
      expect([...partners].sort((a, b) => a - b)).toEqual(pages);
      expect(partners.map((page) => pairing.partner[page])).toEqual(pages);
      const wrong = pages.filter((page) => {
        const isLsb = pairing.isMsb[page] === 0;
        return isLsb !== page < partners[page]! || pairing.isMsb[partners[page]!] !== Number(isLsb);
      });
      expect(wrong).toEqual([]);
      // At most four LSB pages wait for their partners at any instant: the window of power loss.
      const waiting = pages.map(
        (now) =>
          pages.filter((p) => pairing.isMsb[p] === 0 && p < now && partners[p]! >= now).length,
      );
      expect(Math.max(...waiting)).toBe(4);
    }),
    { numRuns: 40 },
  );
});

it('refuses blocks that the pairing does not fit', () => {
  for (const pages of [0, 12, 18, 255])
    expect(() => new PagePairing(pages)).toThrow(InvariantBroken);
});
