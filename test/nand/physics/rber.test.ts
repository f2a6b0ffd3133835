import { describe, expect, it } from 'vitest';
import { accelerationFactor, equivalentMinutes } from '../../../nand/physics/arrhenius.ts';
import {
  type AdditivePowerLaw,
  ERROR_LAWS,
  errorLaw,
  FAST19_2Y_NM,
  FAST19_3X_NM,
  IMFT_25NM,
} from '../../../nand/physics/error-law.ts';
import { PageHistory } from '../../../nand/physics/page-history.ts';
import { PowerTable } from '../../../nand/physics/power-table.ts';
import { BaseRber, sampleRberCurves } from '../../../nand/physics/rber.ts';
import { readRetryLevels, retentionScale } from '../../../nand/physics/read-retry.ts';

/** Rate of a mean page after 0, 30, 90, 365 days, then after 1e5 and 1e6 reads. */
const TABLE: readonly (readonly [number, readonly number[]])[] = [
  [0, [5.0e-7, 1.2e-6, 1.7e-6, 3.2e-6, 9.6e-7, 5.1e-6]],
  [500, [2.2e-6, 9.2e-6, 1.5e-5, 3.0e-5, 1.3e-5, 1.1e-4]],
  [1000, [7.2e-6, 2.5e-5, 3.9e-5, 7.6e-5, 3.9e-5, 3.2e-4]],
  [3000, [6.1e-5, 1.5e-4, 2.2e-4, 4.1e-4, 2.2e-4, 1.7e-3]],
  [5000, [1.7e-4, 3.6e-4, 5.2e-4, 9.3e-4, 5.2e-4, 3.7e-3]],
  [8000, [4.3e-4, 8.3e-4, 1.2e-3, 2.0e-3, 1.1e-3, 7.5e-3]],
];
const COLUMNS = [
  [0, 0],
  [30, 0],
  [90, 0],
  [365, 0],
  [0, 1e5],
  [0, 1e6],
] as const;

/** The 25 nm law by the engine's own power. */
function imftOracle(c: number, days: number, reads: number): number {
  const x = c / 3000;
  const retention = 1.25e-5 * (x + 0.05) ** 1.6 * days ** 0.55;
  return 5e-7 + 6e-5 * x * x + retention + 1.63e-9 * Math.max(x, 0.02) ** 1.5 * reads;
}

function additiveOracle(law: AdditivePowerLaw, c: number, days: number, reads: number): number {
  const retention = law.B * c ** law.m * days ** law.retentionExponent;
  return (
    law.eps + law.A * c ** law.k + retention + law.G * c ** law.p * reads ** law.disturbExponent
  );
}

describe('RBER of a mean page', () => {
  const base = new BaseRber(IMFT_25NM);

  it.each(TABLE)('after %d cycles: the six figures of the table, to its two digits', (c, row) => {
    // Two digits are printed, so a cell may be off by up to 4 %; rounding ours is sharper.
    const printed = COLUMNS.map(([days, reads]) => base.at(c, days, reads).toPrecision(2));
    expect(printed.map(Number)).toEqual(row);
  });

  it.each(TABLE)('after %d cycles: the law by plain powers within 0.05 %', (c) => {
    const errors = COLUMNS.map(([days, reads]) => {
      return base.at(c, days, reads) / imftOracle(c, days, reads) - 1;
    });
    expect(Math.max(...errors.map(Math.abs))).toBeLessThan(5e-4);
  });

  it.each([FAST19_2Y_NM, FAST19_3X_NM])('$id: the published sum within 0.1 %', (law) => {
    const fast = new BaseRber(law);
    const errors = [
      [0, 0, 0],
      [1000, 10, 1e4],
      [3000, 60, 1e6],
      [20_000, 5, 123],
    ].map(([c, days, reads]) => {
      return fast.at(c!, days!, reads!) / additiveOracle(law, c!, days!, reads!) - 1;
    });
    expect(Math.max(...errors.map(Math.abs))).toBeLessThan(1e-3);
  });

  it('a history gives the same as the plain call, its scales on the parts', () => {
    const history = new PageHistory().place(0, 0, 3000);
    history.ageMinutes = 365 * 1440;
    history.readCount = 1e5;
    base.load(history);
    const plain = base.mean[0]!;
    expect(plain).toBeCloseTo(base.at(3000, 365, 1e5), 12);
    history.retentionScale = 0.25;
    history.disturbFactor = 3;
    base.load(history);
    const retention = base.at(3000, 365, 0) - base.at(3000, 0, 0);
    const scaled = plain - 0.75 * retention + 2 * base.disturbAt(3000, 1e5);
    expect(base.mean[0]! / scaled).toBeCloseTo(1, 9);
  });

  it('curves for a plot', () => {
    const curves = sampleRberCurves(IMFT_25NM, 'age', [0, 3000], [0, 365]);
    expect(curves.map((curve) => curve.eraseCount)).toEqual([0, 3000]);
    expect(curves[1]!.points[1]).toEqual({ at: 365, rber: base.at(3000, 365, 0) });
    const reads = sampleRberCurves(IMFT_25NM, 'reads', [0], [1e6])[0]!.points[0]!;
    expect(reads.rber).toBe(base.at(0, 0, 1e6));
  });

  it('every law has a source, a range, and is found by its id', () => {
    expect(ERROR_LAWS.map((law) => errorLaw(law.id))).toEqual(ERROR_LAWS);
    expect(ERROR_LAWS.every((law) => law.source !== '' && law.range !== '')).toBe(true);
    expect(() => errorLaw('none')).toThrow('an error law that exists');
  });
});

describe('the power table', () => {
  it.each([0.47, 0.55, 0.8, 1.45, 3.33])('x^%d: rises and stays within 0.03 %', (exponent) => {
    const table = new PowerTable(exponent, 1 / 1440);
    let worst = 0;
    let falls = 0;
    let last = 0;
    for (let x = 0.001; x < 4e9; x *= 1.0037) {
      const value = table.at(x);
      if (value < last || table.above(x) < value) falls++;
      last = value;
      if (x >= 1) worst = Math.max(worst, Math.abs(value / (x / 1440) ** exponent - 1));
    }
    expect(falls).toBe(0);
    expect(worst).toBeLessThan(3e-4);
    expect(table.at(2 ** 40)).toBe(table.at(2 ** 33));
    expect(table.above(2 ** 40 + 1)).toBeGreaterThanOrEqual(table.at(2 ** 40 + 1));
    expect([table.above(0), table.above(0.5)]).toEqual([table.at(1), table.at(1)]);
  });
});

describe('temperature', () => {
  it.each([
    [20, 0.238],
    [25, 0.494],
    [30, 1],
    [40, 3.84],
    [55, 24.7],
    [66, 87.3],
    [70, 135],
    [85, 643],
  ])('at %d C charge leaks %d times as fast as at 30 C', (celsius, factor) => {
    // The table has three digits: half a unit of the last.
    expect(Math.abs(accelerationFactor(celsius) / factor - 1)).toBeLessThan(5e-3);
  });

  it('a year at 30 C is 354 hours at 55 C and 13.6 at 85 C', () => {
    const year = 365 * 1440;
    expect(Math.abs(equivalentMinutes(354 / 24, 55) / year - 1)).toBeLessThan(5e-3);
    expect(Math.abs(equivalentMinutes(13.6 / 24, 85) / year - 1)).toBeLessThan(5e-3);
    expect(() => accelerationFactor(-300)).toThrow('absolute zero');
  });
});

describe('read retry', () => {
  it('none on the 25 nm part, four levels on the 20 nm one, each halves the retention part', () => {
    expect([readRetryLevels('imft-25nm-64gbit'), readRetryLevels('imft-20nm-64gbit')]).toEqual([
      0, 4,
    ]);
    expect([0, 1, 2, 4].map(retentionScale)).toEqual([1, 0.5, 0.25, 0.0625]);
  });
});
