import { describe, expect, it } from 'vitest';
import { Geometry } from '../../../hal/geometry.ts';
import { PagePairing } from '../../../hal/pairing.ts';
import { FACTORY_BAD, factoryBadBlocks, factoryBadMap } from '../../../nand/physics/factory-bad.ts';
import {
  eraseRber,
  InterruptedDraws,
  lsbProgramRber,
  msbProgramRber,
  partnerRber,
} from '../../../nand/physics/interrupted.ts';
import { Variation } from '../../../nand/physics/variation.ts';
import { WEAR_LAW, Wear } from '../../../nand/physics/wear.ts';
import { meanOf, varianceOf } from './statistics.ts';

const SEED = 'wear-test';
const BLOCKS = 65_536;
const VARIATION = new Variation(SEED, BLOCKS, new PagePairing(256));
const wear = new Wear(SEED, BLOCKS, VARIATION);
const NO_SPORADIC = { ...WEAR_LAW, sporadicProgramFail: 0 };

describe('lives of blocks', () => {
  it.each([
    // 1 - exp(-(c/17500)^3) and 1.047 times that, the mean of B^1.5.
    [3000, 0.00503 * 1.047],
    [5000, 0.02305 * 1.045],
  ])('by %d cycles a share of %d has failed', (eraseCount, share) => {
    let failed = 0;
    for (let block = 0; block < BLOCKS; block++) if (wear.lifeOf(block) <= eraseCount) failed++;
    // Five standard errors of the count.
    expect(Math.abs(failed - share * BLOCKS)).toBeLessThan(5 * Math.sqrt(share * BLOCKS));
  });

  it('30 % end in an erase failure, the others at a random page and above', () => {
    const sound = new Wear(SEED, BLOCKS, VARIATION, { law: NO_SPORADIC });
    let erase = 0;
    let both = 0;
    const firstPages: number[] = [];
    for (let block = 0; block < 4000; block++) {
      const life = sound.lifeOf(block);
      const failsErase = sound.failsErase(block, life);
      const failsProgram = sound.failsProgram(block, 255, life);
      if (failsErase) erase++;
      if (failsErase === failsProgram) both++;
      if (failsProgram) {
        let page = 0;
        while (!sound.failsProgram(block, page, life)) page++;
        firstPages.push(page);
      }
    }
    expect(both).toBe(0);
    expect(Math.abs(erase - 1200)).toBeLessThan(5 * Math.sqrt(4000 * 0.3 * 0.7));
    // Uniform over 0..255: mean 127.5, standard deviation 74.
    expect(Math.abs(meanOf(firstPages) - 127.5)).toBeLessThan((5 * 74) / Math.sqrt(2800));
  });

  it('nothing fails before its life ends, and all of it after', () => {
    const sound = new Wear(SEED, BLOCKS, VARIATION, { law: NO_SPORADIC });
    const fails = (block: number, count: number): boolean =>
      sound.failsErase(block, count) || sound.failsProgram(block, 255, count);
    const wrong = Array.from({ length: 4000 }, (_, block) => block).filter((block) => {
      const life = sound.lifeOf(block);
      return fails(block, life - 1) || !fails(block, life + 500);
    });
    expect(wrong).toEqual([]);
  });

  it('sporadic program failures come at their rate', () => {
    const often = new Wear(SEED, BLOCKS, VARIATION, {
      law: { ...WEAR_LAW, sporadicProgramFail: 0.01 },
    });
    let failed = 0;
    for (let i = 0; i < 100_000; i++) if (often.failsProgram(i & 1023, i >> 10, 0)) failed++;
    expect(Math.abs(failed - 1000)).toBeLessThan(160);
  });
});

describe('times', () => {
  const still = new Wear(SEED, BLOCKS, VARIATION, { jitter: false });

  it('without jitter are the nominal ones at first, then drift', () => {
    expect(still.eraseNs(3_800_000, 1, 0)).toBe(3_800_000);
    expect(still.eraseNs(3_800_000, 1, 3000)).toBe(6_080_000);
    expect(still.eraseNs(3_800_000, 1, 50_000)).toBe(10_000_000);
    expect(still.programNs(2_040_000, true, 1, 4, 0)).toBe(2_040_000);
    expect(still.programNs(2_040_000, true, 1, 4, 3000)).toBe(1_836_000);
    expect(still.programNs(560_000, false, 1, 4, 9000)).toBe(476_000);
  });

  it.each([
    ['LSB', false, 560_000, 0.04, 560_000],
    // 1 % of outliers at 1.2 add 0.2 % to the mean and 0.0004 to the relative variance.
    ['MSB', true, 2_040_000, Math.sqrt(0.0025 + 0.0004), 2_044_080],
  ])('with jitter: %s programs keep mean and spread', (_, msb, nominalNs, sd, meanNs) => {
    const times = Float64Array.from({ length: 20_000 }, (_, i) =>
      wear.programNs(nominalNs, msb, i & 255, i >> 8, 0),
    );
    expect(Math.abs(meanOf(times) / meanNs - 1)).toBeLessThan((5 * sd) / Math.sqrt(20_000));
    expect(Math.abs(Math.sqrt(varianceOf(times)) / meanNs / sd - 1)).toBeLessThan(0.05);
    expect(Math.max(...times)).toBeLessThanOrEqual(2_600_000);
    expect(times.every(Number.isInteger)).toBe(true);
  });

  it('with jitter: erases spread by 5 % and repeat', () => {
    const erases = Float64Array.from({ length: 20_000 }, (_, i) => wear.eraseNs(3_800_000, i, 7));
    expect(Math.abs(Math.sqrt(varianceOf(erases)) / 3_800_000 / 0.05 - 1)).toBeLessThan(0.03);
    expect(wear.eraseNs(3_800_000, 5, 7)).toBe(erases[5]);
  });
});

describe('interrupted operations', () => {
  it('leave what the instant of the cut says', () => {
    expect([0, 0.5, 1].map(lsbProgramRber)).toEqual([0.5, 0.25, 0]);
    expect([0, 0.25, 0.5, 1].map(partnerRber)).toEqual([0, 0.125, 0.25, 0]);
    expect([0, 1].map((draw) => msbProgramRber(0, draw))).toEqual([0.25, 0.5]);
    expect(msbProgramRber(1, 0.3)).toBe(0);
    expect(eraseRber(0, 0)).toBe(0.3);
    expect(eraseRber(0.95, 1)).toBeCloseTo(1e-3, 12);
    expect(eraseRber(0.96, 0)).toBe(0);
    expect(() => lsbProgramRber(1.5)).toThrow('from 0 to 1');
    expect(() => partnerRber(Number.NaN)).toThrow('from 0 to 1');
  });

  it('draws belong to the place', () => {
    const draws = new InterruptedDraws(SEED);
    expect(draws.ofProgram(1, 2, 3)).toBe(new InterruptedDraws(SEED).ofProgram(1, 2, 3));
    expect(draws.ofErase(1, 3)).not.toBe(draws.ofErase(1, 4));
  });
});

describe('factory bad blocks', () => {
  const DIES = 2000;
  const dies = Array.from({ length: DIES }, (_, die) => factoryBadBlocks(SEED, die, 4096, 2));
  const counts = dies.map((blocks) => blocks.length);

  it('a mean of 18 a die, never block 0, never more than 100', () => {
    // Pairs raise the variance above Poisson by a tenth.
    expect(Math.abs(meanOf(counts) - 18)).toBeLessThan(5 * Math.sqrt((18 * 1.12) / DIES));
    expect(Math.abs(varianceOf(counts) / 18 - 1.1)).toBeLessThan(0.25);
    expect(dies.some((blocks) => blocks[0] === 0)).toBe(false);
    const poor = { ...FACTORY_BAD, meanPer4096: 200 };
    const most = [0, 1, 2, 3].map((die) => factoryBadBlocks(SEED, die, 4096, 2, poor).length);
    expect(most).toEqual([100, 100, 100, 100]);
  });

  it('a fifth of them as a pair of planes', () => {
    let paired = 0;
    let all = 0;
    for (const blocks of dies) {
      const set = new Set(blocks);
      all += blocks.length;
      paired += blocks.filter((block) => set.has(block ^ 1)).length;
    }
    // Chance neighbours add 18/4096 = 0.4 %.
    expect(Math.abs(paired / all - 0.204)).toBeLessThan(0.02);
  });

  it('a map over the array, and few in a small die', () => {
    const geometry = new Geometry({
      channels: 2,
      diesPerChannel: 2,
      planes: 2,
      blocksPerDie: 4096,
      pagesPerBlock: 256,
      pageBytes: 8192,
      spareBytes: 448,
    });
    const map = factoryBadMap(SEED, geometry);
    const expected = [0, 1, 2, 3].flatMap((die) =>
      dies[die]!.map((block) => geometry.blockIndex(die, block)),
    );
    const found = Array.from(map.keys()).filter((block) => map[block] === 1);
    expect(found).toEqual(expected.sort((a, b) => a - b));
    const small = Array.from({ length: 200 }, (_, die) => factoryBadBlocks(SEED, die, 64, 2));
    expect(Math.max(...small.map((blocks) => blocks.length))).toBe(1);
  });
});
