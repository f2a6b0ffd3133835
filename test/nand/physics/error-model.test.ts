import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PagePairing } from '../../../hal/pairing.ts';
import { bitPositions } from '../../../nand/physics/bit-permutation.ts';
import { IMFT_25NM } from '../../../nand/physics/error-law.ts';
import { ErrorModel } from '../../../nand/physics/error-model.ts';
import { PageHistory } from '../../../nand/physics/page-history.ts';
import { BaseRber, CODEWORD_BITS } from '../../../nand/physics/rber.ts';
import { Variation } from '../../../nand/physics/variation.ts';
import { chiSquareZ, meanOf, varianceOf } from './statistics.ts';

const SEED = 'error-model-test';
const BLOCKS = 2048;

function newModel(seed = SEED): ErrorModel {
  return new ErrorModel(seed, IMFT_25NM, new Variation(seed, BLOCKS, new PagePairing(256)));
}

const model = newModel();

/** Any place, from new to worn out. */
const place = fc.record({
  block: fc.nat(BLOCKS - 1),
  page: fc.nat(255),
  eraseCount: fc.nat(10_000),
  codeword: fc.nat(7),
});
const grade = fc.tuple(fc.nat(4e6), fc.nat(3e6), fc.nat(1000), fc.boolean());
type Grade = [ageMinutes: number, readCount: number, extraPer10k: number, weak: boolean];

function apply(history: PageHistory, [age, reads, extra, weak]: Grade): PageHistory {
  history.ageMinutes = age;
  history.readCount = reads;
  history.extraRber = extra * 1e-4;
  history.weak = weak;
  return history;
}

describe('errors of a codeword', () => {
  it('only grow with age, reads and damage, at their old positions', () => {
    fc.assert(
      fc.property(place, grade, grade, ({ block, page, eraseCount, codeword }, one, other) => {
        const history = new PageHistory().place(block, page, eraseCount);
        const less = one.map((value, i) => (value < other[i]! ? value : other[i]!)) as Grade;
        const more = one.map((value, i) => (value < other[i]! ? other[i]! : value)) as Grade;
        const few = model.codewordErrors(apply(history, less), codeword);
        const fewZeros = model.erasedErrors(history, codeword);
        const before = new Int32Array(few);
        model.errorPositions(history, codeword, few, before);
        const many = model.codewordErrors(apply(history, more), codeword);
        const after = new Int32Array(many);
        model.errorPositions(history, codeword, many, after);
        return (
          many >= few &&
          model.erasedErrors(history, codeword) >= fewZeros &&
          before.every((position, i) => position === after[i])
        );
      }),
    );
  });

  it('are the same whenever and from whichever model they are asked', () => {
    fc.assert(
      fc.property(place, grade, ({ block, page, eraseCount, codeword }, state) => {
        const history = apply(new PageHistory().place(block, page, eraseCount), state);
        const again = newModelOnce();
        return model.codewordErrors(history, codeword) === again.codewordErrors(history, codeword);
      }),
    );
  });

  it('of a slot are those of its codewords, and the worst is returned', () => {
    const counts = new Int32Array(4);
    fc.assert(
      fc.property(
        place,
        grade,
        fc.boolean(),
        ({ block, page, eraseCount, codeword }, state, new_) => {
          const history = new PageHistory().place(block, page, new_ ? 0 : eraseCount);
          if (!new_) apply(history, state);
          const first = codeword & 4;
          const worst = model.slotErrors(history, first, counts);
          const single = [0, 1, 2, 3].map((i) => model.codewordErrors(history, first + i));
          const same =
            counts.every((count, i) => count === single[i]) && worst === Math.max(...single);
          const worstZeros = model.erasedSlotErrors(history, first, counts);
          const zeros = [0, 1, 2, 3].map((i) => model.erasedErrors(history, first + i));
          return (
            same &&
            counts.every((count, i) => count === zeros[i]) &&
            worstZeros === Math.max(...zeros)
          );
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('of young slots: the short way finds every one of the rare errors', () => {
    const counts = new Int32Array(4);
    const history = new PageHistory();
    let missed = 0;
    let errors = 0;
    for (let i = 0; i < 40_000; i++) {
      history.place(i & 2047, (i >> 3) & 255, i % 40);
      history.ageMinutes = i % 3000;
      history.readCount = i % 500;
      model.slotErrors(history, i & 4, counts);
      for (let c = 0; c < 4; c++) {
        errors += counts[c]!;
        if (counts[c] !== model.codewordErrors(history, (i & 4) + c)) missed++;
      }
    }
    expect(missed).toBe(0);
    // About 160,000 codewords at a mean of some 0.006: what was compared was not all zeros.
    expect(errors).toBeGreaterThan(300);
  });

  it(`have the mean and variance of the law at one rate (seed '${SEED}')`, () => {
    const history = new PageHistory().place(5, 100, 3000);
    // A large extra part makes the rate of every page the same within a thousandth.
    const lambda = 6;
    const counts: number[] = [];
    for (let block = 0; block < BLOCKS; block++) {
      for (let page = 0; page < 16; page++) {
        history.place(block, page, 0);
        history.extraRber = lambda / CODEWORD_BITS - model.rberOf(history);
        for (let codeword = 0; codeword < 8; codeword++) {
          counts.push(model.codewordErrors(history, codeword));
        }
      }
    }
    const variance = lambda + lambda ** 2 / 6;
    // 262,144 counts: five standard errors of the mean, and of the variance (kurtosis below 5).
    expect(Math.abs(meanOf(counts) - lambda)).toBeLessThan(5 * Math.sqrt(variance / 262_144));
    expect(Math.abs(varianceOf(counts) / variance - 1)).toBeLessThan(5 * Math.sqrt(4 / 262_144));
  });

  it('of a new drive: the mean over blocks and pages is that of the base', () => {
    const history = new PageHistory();
    let sum = 0;
    for (let block = 0; block < BLOCKS; block++) {
      for (let page = 0; page < 256; page += 5)
        sum += model.rberOf(history.place(block, page, 1000));
    }
    const pages = Math.ceil(256 / 5) * BLOCKS;
    // Mean 1 of all factors but the outer word lines (two of 64 at 1.6: 1.9 %), and 2048 blocks
    // of standard deviation 0.36: 2.4 % is three standard errors.
    const ratio = sum / pages / new BaseRber(IMFT_25NM).at(1000, 0, 0);
    expect(ratio).toBeGreaterThan(1.019 - 0.04);
    expect(ratio).toBeLessThan(1.019 + 0.04);
  });

  it('rate never passes one half, the count half the bits', () => {
    const history = new PageHistory().place(0, 0, 3000);
    history.extraRber = 3;
    expect(model.rberOf(history)).toBe(0.5);
    expect(model.erasedRberOf(history)).toBe(0.5);
    expect(model.codewordErrors(history, 0)).toBeLessThanOrEqual(CODEWORD_BITS / 2);
  });

  it('weak blocks have five times the rate; erased pages 0.3 of the disturb part', () => {
    const history = new PageHistory().place(9, 9, 3000);
    const sound = model.rberOf(history);
    history.weak = true;
    expect(model.rberOf(history) / sound).toBeCloseTo(5, 12);
    history.weak = false;
    expect(model.erasedRberOf(history)).toBe(2e-7);
    history.readCount = 1e5;
    const { variation } = model;
    const factor = variation.blockFactor(9) * variation.wordLineFactor(9, variation.wordLineOf[9]!);
    const expected = 2e-7 + 0.3 * 1.63e-4 * factor;
    expect(model.erasedRberOf(history) / expected).toBeCloseTo(1, 9);
  });

  it('differ between seeds, erase counts and slots', () => {
    const history = new PageHistory().place(3, 3, 3000);
    history.extraRber = 0.01;
    const errors = (one: ErrorModel): number[] =>
      [0, 1, 2, 3, 4, 5, 6, 7].map((codeword) => one.codewordErrors(history, codeword));
    const first = errors(model);
    expect(new Set(first).size).toBeGreaterThan(3);
    expect(errors(newModel('another seed'))).not.toEqual(first);
    history.eraseCount++;
    expect(errors(model)).not.toEqual(first);
  });
});

let second: ErrorModel | null = null;
function newModelOnce(): ErrorModel {
  second ??= newModel();
  return second;
}

describe('positions of wrong bits', () => {
  it('are a permutation of the 8640 bits, whatever the key', () => {
    fc.assert(
      fc.property(fc.integer(), (key) => {
        const into = new Int32Array(CODEWORD_BITS);
        bitPositions(key, CODEWORD_BITS, into);
        into.sort();
        return into.every((position, i) => position === i);
      }),
      { numRuns: 20 },
    );
  });

  it('the first and second of many codewords are spread evenly and apart', () => {
    const history = new PageHistory();
    const into = new Int32Array(2);
    const first = new Array<number>(80).fill(0);
    const gap = new Array<number>(80).fill(0);
    for (let i = 0; i < 40_000; i++) {
      model.errorPositions(history.place(i & 2047, (i >> 3) & 255, i >> 11), i & 7, 2, into);
      first[Math.floor(into[0]! / 108)]!++;
      gap[Math.floor(((into[1]! - into[0]! + CODEWORD_BITS) % CODEWORD_BITS) / 108)]!++;
    }
    const even = first.map(() => 500);
    expect(Math.abs(chiSquareZ(first, even))).toBeLessThan(5);
    expect(Math.abs(chiSquareZ(gap, even))).toBeLessThan(5);
  });

  it('want room', () => {
    expect(() => bitPositions(1, 5, new Int32Array(4))).toThrow('fit the array');
  });
});
