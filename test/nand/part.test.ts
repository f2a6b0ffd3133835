import { describe, expect, it } from 'vitest';
import { PROFILES } from '../../firmware/profiles/index.ts';
import { Geometry } from '../../hal/geometry.ts';
import { PagePairing } from '../../hal/pairing.ts';
import { InvariantBroken } from '../../hal/sim/invariant.ts';
import {
  ASYNC_MEGATRANSFERS,
  NAND_PARTS,
  nandPart,
  nsPerByte,
  SYNC_MEGATRANSFERS,
} from '../../nand/part.ts';
import { errorLaw } from '../../nand/physics/error-law.ts';
import { factoryBadBlocks } from '../../nand/physics/factory-bad.ts';
import { readRetryLevels } from '../../nand/physics/read-retry.ts';

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

  it('asks for 24 bit per 1080 byte, has 100 bad blocks at most and no read retry', () => {
    expect((L74A.pageBytes + L74A.spareBytes) / (L74A.pageBytes / 1024)).toBe(1080);
    const { eccBits, badBlocksPerDieMax, readRetryLevels: levels } = L74A;
    expect([eccBits, badBlocksPerDieMax, levels]).toEqual([24, 100, 0]);
    // ONFI: NVB >= 3996 of 4096.
    expect(L74A.blocksPerDie - badBlocksPerDieMax).toBe(3996);
  });
});

describe('the 20 nm 64 Gbit die', () => {
  const part = nandPart('imft-20nm-64gbit');

  it('has the size of its data sheet: 8 GiB in 2 MiB blocks, 8936-byte pages', () => {
    expect(part.pageBytes + part.spareBytes).toBe(8936);
    expect(part.pageBytes * part.pagesPerBlock).toBe(2 * 2 ** 20);
    expect(part.pageBytes * part.pagesPerBlock * part.blocksPerDie).toBe(8 * 2 ** 30);
    expect(part.ratedEraseCount).toBe(3000);
  });

  it('reads within the 100 us of its data sheet, and no faster than its elder', () => {
    expect(Math.max(part.readLsbNs, part.readMsbNs)).toBeLessThanOrEqual(100_000);
    expect(part.readLsbNs).toBeGreaterThanOrEqual(L74A.readLsbNs);
    expect(part.readMsbNs).toBeGreaterThanOrEqual(L74A.readMsbNs);
  });

  it('has the read retry that the physics of the cells knows of', () => {
    expect(part.readRetryLevels).toBe(4);
    expect(part.readRetryLevels).toBe(readRetryLevels(part.id));
    expect(L74A.readRetryLevels).toBe(readRetryLevels(L74A.id));
  });

  it('answers READ ID as published', () => {
    expect(part.idBytes.slice(0, 5)).toEqual([0x2c, 0x64, 0x44, 0x4b, 0xa9]);
  });
});

describe('the 19 nm 64 Gbit die', () => {
  const part = nandPart('toshiba-19nm-64gbit');

  it('has 8 GiB in 4 MiB blocks of 16 KiB pages', () => {
    expect(part.pageBytes).toBe(16 * 1024);
    expect(part.pageBytes * part.pagesPerBlock).toBe(4 * 2 ** 20);
    expect(part.pageBytes * part.pagesPerBlock * part.blocksPerDie).toBe(8 * 2 ** 30);
  });

  it('answers READ ID with the maker code of Toshiba', () => {
    expect(part.idBytes.slice(0, 6)).toEqual([0x98, 0xde, 0x94, 0x93, 0x76, 0xd7]);
  });
});

describe.each(NAND_PARTS.map((part) => [part.id, part] as const))('part %s', (_id, part) => {
  it('fits a geometry whose counts are powers of two', () => {
    const counts = { ...part, channels: 8, diesPerChannel: 4 };
    expect(new Geometry(counts).blocks).toBe(32 * part.blocksPerDie);
  });

  it('names a pairing scheme and an error law that exist', () => {
    const pairing = new PagePairing(part.pagesPerBlock, part.pairingScheme);
    expect(pairing.lsbPages).toHaveLength(part.pagesPerBlock / 2);
    expect(errorLaw(part.errorLawId).id).toBe(part.errorLawId);
  });

  it('has room in its spare for the code that its maker asks for', () => {
    // BCH in GF(2^14): 14 parity bits for each bit corrected in 1 KiB.
    const parityBytes = (Math.ceil((14 * part.eccBits) / 8) * part.pageBytes) / 1024;
    expect(parityBytes).toBeLessThan(part.spareBytes);
  });

  it('leaves the factory with no more bad blocks than its data sheet allows', () => {
    const { blocksPerDie, planes, badBlocksPerDieMax } = part;
    const counts = Array.from(
      { length: 64 },
      (_, die) => factoryBadBlocks('part', die, blocksPerDie, planes).length,
    );
    expect(Math.max(...counts)).toBeLessThanOrEqual(badBlocksPerDieMax);
  });

  it('programs and reads LSB pages faster, and answers READ ID with eight bytes', () => {
    expect(part.programLsbNs).toBeLessThan(part.programMsbNs);
    expect(part.readLsbNs).toBeLessThan(part.readMsbNs);
    expect(part.idBytes).toHaveLength(8);
  });
});

it('gives each part an id of its own', () => {
  expect(new Set(NAND_PARTS.map((part) => part.id)).size).toBe(NAND_PARTS.length);
  for (const part of NAND_PARTS) expect(nandPart(part.id)).toBe(part);
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
