import { describe, expect, it } from 'vitest';
import { PagePairing } from '../../../hal/pairing.ts';
import { fractionOf, placeHash, placeKey } from '../../../nand/physics/place-hash.ts';
import { Variation, wordLines } from '../../../nand/physics/variation.ts';
import { chiSquareZ, meanOf, varianceOf } from './statistics.ts';

const SEED = 'variation-test';
const BLOCKS = 32_768;
const PAIRING = new PagePairing(256);

describe('the hash of a place', () => {
  it.each([0, 8, 16, 24])('spreads neighbours evenly over the byte at bit %d', (shift) => {
    const key = placeKey(SEED, 'a');
    const counts = new Array<number>(256).fill(0);
    for (let i = 0; i < 65_536; i++) {
      counts[(placeHash(key, i >> 8, 3, i & 0xff) >>> shift) & 0xff]!++;
    }
    expect(
      Math.abs(
        chiSquareZ(
          counts,
          counts.map(() => 256),
        ),
      ),
    ).toBeLessThan(5);
  });

  it('changes half of its bits when one bit of the place changes', () => {
    const key = placeKey(SEED, 'a');
    let changed = 0;
    for (let i = 0; i < 3200; i++) {
      let rest = placeHash(key, i, 7, 9) ^ placeHash(key, i ^ (1 << (i & 31)), 7, 9);
      for (; rest !== 0; rest &= rest - 1) changed++;
    }
    // 102,400 coins: standard deviation 160.
    expect(Math.abs(changed - 51_200)).toBeLessThan(800);
  });

  it('differs by seed and by purpose', () => {
    const hashes = ['a', 'b'].flatMap((seed) =>
      ['x', 'y'].map((purpose) => placeHash(placeKey(seed, purpose), 1, 2, 3)),
    );
    expect(new Set(hashes).size).toBe(4);
    expect(fractionOf(-1)).toBeLessThan(1);
    expect(fractionOf(0)).toBeGreaterThan(0);
  });
});

describe('factors', () => {
  const variation = new Variation(SEED, BLOCKS, PAIRING);
  const blocks = Float64Array.from({ length: BLOCKS }, (_, i) => variation.blockFactor(i));
  const lines = Float64Array.from({ length: BLOCKS }, (_, i) =>
    variation.wordLineFactor(i >> 6, i & 63),
  );

  it.each([
    ['block', blocks, 0.35],
    ['word line', lines, 0.2],
  ])('%s: lognormal with mean 1', (_, factors, sd) => {
    const logs = factors.map((factor) => Math.log(factor));
    // Five standard errors each.
    expect(Math.abs(meanOf(factors) - 1)).toBeLessThan((5 * 1.1 * sd) / Math.sqrt(BLOCKS));
    expect(Math.abs(meanOf(logs) + (sd * sd) / 2)).toBeLessThan((5 * sd) / Math.sqrt(BLOCKS));
    const error = Math.sqrt(varianceOf(logs)) / sd - 1;
    expect(Math.abs(error)).toBeLessThan(5 / Math.sqrt(2 * BLOCKS));
    // Share within one standard deviation of a normal: 68.27 %.
    const within = logs.filter((log) => Math.abs(log + (sd * sd) / 2) < sd).length / BLOCKS;
    expect(Math.abs(within - 0.6827)).toBeLessThan(0.013);
  });

  it('belong to the place: the order of asking does not matter', () => {
    const other = new Variation(SEED, BLOCKS, PAIRING);
    expect([31_000, 2, 700].map((block) => other.blockFactor(block))).toEqual([
      blocks[31_000],
      blocks[2],
      blocks[700],
    ]);
  });

  it('page factors: LSB 0.67, MSB 1.33, outer word lines 1.6 times that', () => {
    const { pageFactor } = variation;
    expect([pageFactor[2], pageFactor[4], pageFactor[8]]).toEqual([0.67, 1.33 * 1.6, 1.33]);
    expect([pageFactor[0], pageFactor[255], pageFactor[251]]).toEqual([
      0.67 * 1.6,
      1.33 * 1.6,
      0.67 * 1.6,
    ]);
  });

  it('word line k: LSB pages 4k-2 and 4k-1, MSB pages 4k+4 and 4k+5', () => {
    const line = wordLines(PAIRING);
    const wrong = [];
    for (let k = 1; k <= 62; k++) {
      for (const page of [4 * k - 2, 4 * k - 1, 4 * k + 4, 4 * k + 5]) {
        if (line[page] !== k) wrong.push(page);
      }
    }
    expect(wrong).toEqual([]);
    expect([0, 1, 4, 5].map((page) => line[page])).toEqual([0, 0, 0, 0]);
    expect([250, 251, 254, 255].map((page) => line[page])).toEqual([63, 63, 63, 63]);
  });
});
