import { describe, expect, it } from 'vitest';
import { PROFILES } from '../../firmware/profiles/index.ts';
import { PagePairing } from '../../hal/pairing.ts';
import { InvariantBroken } from '../../hal/sim/invariant.ts';
import { ASYNC_MEGATRANSFERS, nandPart, nsPerByte, SYNC_MEGATRANSFERS } from '../../nand/part.ts';

const L74A = nandPart('imft-25nm-64gbit');

describe('the 25 nm 64 Gbit die', () => {
  it('has the size of its data sheet: 8 GiB in 4096 blocks of 2 MiB, 8640-byte pages', () => {
    expect(L74A.pageBytes + L74A.spareBytes).toBe(8640);
    expect(L74A.pageBytes * L74A.pagesPerBlock).toBe(2 * 2 ** 20);
    expect(L74A.pageBytes * L74A.pagesPerBlock * L74A.blocksPerDie).toBe(8 * 2 ** 30);
    expect(L74A.planes).toBe(2);
  });

  it('programs its pages in 1300 us on the mean of a block', () => {
    const pairing = new PagePairing(L74A.pagesPerBlock);
    let sumNs = 0;
    for (const isMsb of pairing.isMsb) sumNs += isMsb ? L74A.programMsbNs : L74A.programLsbNs;
    expect(sumNs / L74A.pagesPerBlock).toBe(1_300_000);
  });

  it('reads within the 75 us of its data sheet and erases in 3.8 ms', () => {
    expect(Math.max(L74A.readLsbNs, L74A.readMsbNs)).toBeLessThanOrEqual(75_000);
    expect(L74A.eraseNs).toBe(3_800_000);
  });

  it('answers READ ID as the Intel part', () => {
    expect(L74A.idBytes.slice(0, 5)).toEqual([0x89, 0x88, 0x24, 0x4b, 0xa9]);
    expect(L74A.idBytes).toHaveLength(8);
  });
});

it('finds a part for every profile, with the geometry of the profile', () => {
  for (const { partId, geometry } of PROFILES) {
    const part = nandPart(partId);
    const { planes, blocksPerDie, pagesPerBlock, pageBytes, spareBytes } = part;
    expect(geometry).toMatchObject({ planes, blocksPerDie, pagesPerBlock, pageBytes, spareBytes });
  }
  expect(() => nandPart('unknown')).toThrow(InvariantBroken);
});

describe('the bus', () => {
  it('moves a byte on each edge of tCK in synchronous modes', () => {
    const clockNs = [50, 30, 20, 15, 12, 10];
    // The published rates are rounded to four digits.
    SYNC_MEGATRANSFERS.forEach((rate, mode) => {
      expect(Math.abs(rate - 2_000 / clockNs[mode]!)).toBeLessThan(0.5);
    });
  });

  it('moves a byte in a read cycle tRC in asynchronous modes', () => {
    const cycleNs = [100, 50, 35, 30, 25, 20];
    ASYNC_MEGATRANSFERS.forEach((rate, mode) => {
      expect(Math.abs(rate - 1_000 / cycleNs[mode]!)).toBeLessThan(0.1);
    });
    expect(nsPerByte({ synchronous: false, mode: 5 })).toBe(20);
    expect(nsPerByte({ synchronous: true, mode: 5 })).toBe(5);
  });
});
