import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactExp, exactLog, exactPow } from '../../../nand/physics/exact-math.ts';
import { normalQuantile, normalQuantiles } from '../../../nand/physics/normal.ts';

/** Big-endian hex of a double: equal in every engine or the arithmetic is not ours. */
function hex(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0).toString(16).padStart(16, '0');
}

function relativeError(value: number, oracle: number): number {
  return oracle === 0 ? Math.abs(value) : Math.abs(value / oracle - 1);
}

describe('exact mathematics against that of the engine', () => {
  it('exp within 1e-12 wherever the result is a normal double', () => {
    fc.assert(
      fc.property(fc.double({ min: -708, max: 709.7, noNaN: true }), (x) => {
        return relativeError(exactExp(x), Math.exp(x)) < 1e-12;
      }),
    );
  });

  it('log within 1e-12 for every positive double', () => {
    fc.assert(
      fc.property(fc.double({ min: 5e-324, max: Number.MAX_VALUE, noNaN: true }), (x) => {
        return relativeError(exactLog(x), Math.log(x)) < 1e-12;
      }),
    );
    const nearOne = fc.double({ min: 0.99, max: 1.01, noNaN: true });
    fc.assert(fc.property(nearOne, (x) => relativeError(exactLog(x), Math.log(x)) < 1e-12));
  });

  it('pow within 1e-12 for bases and exponents of the error laws', () => {
    const base = fc.double({ min: 1e-6, max: 1e10, noNaN: true });
    const exponent = fc.double({ min: -4, max: 4, noNaN: true });
    fc.assert(fc.property(base, exponent, (x, y) => relativeError(exactPow(x, y), x ** y) < 1e-12));
  });

  it('ends of the range', () => {
    expect([exactExp(710), exactExp(-746), exactExp(0)]).toEqual([Number.POSITIVE_INFINITY, 0, 1]);
    expect([exactLog(0), exactLog(1)]).toEqual([Number.NEGATIVE_INFINITY, 0]);
    expect([exactPow(0, 2), exactPow(0, 0), exactPow(0, -1)]).toEqual([0, 1, Infinity]);
    expect(() => exactLog(-1)).toThrow('not negative');
  });
});

describe('the normal quantile', () => {
  it.each([
    // Standard tables of the normal distribution.
    [0.5, 0],
    [0.975, 1.959963984540054],
    [0.99, 2.3263478740408408],
    [0.999, 3.090232306167813],
    [1e-6, -4.753424308822899],
    [1e-12, -7.034483825301131],
  ])('of %d is %d', (p, z) => {
    expect(Math.abs(normalQuantile(p) - z)).toBeLessThan(1e-11);
  });

  it('is odd about one half, and the table rises', () => {
    const table = normalQuantiles();
    const pairs = Array.from(table, (z, i) => Math.abs(z + table[4095 - i]!));
    expect(Math.max(...pairs)).toBeLessThan(1e-12);
    expect(table.every((z, i) => i === 0 || z > table[i - 1]!)).toBe(true);
    expect(() => normalQuantile(1)).toThrow('between 0 and 1');
  });
});

/** From the same arithmetic in another language, which also has nothing but IEEE 754. */
describe('golden bits', () => {
  it('are the same in every engine', () => {
    expect(
      [exactExp(1), exactExp(-18), exactLog(10), exactLog(3e-7), exactPow(365, 0.55)].map(hex),
    ).toEqual([
      '4005bf0a8b14576a',
      '3e505a628c699fa1',
      '40026bb1bbb55516',
      'c02e09f9b927b484',
      '4039a906e3617ff8',
    ]);
    expect([normalQuantile(0.3), normalQuantile(1e-4), normalQuantile(1e-12)].map(hex)).toEqual([
      'bfe0c7e39582c5fa',
      'c00dc08bb712893a',
      'c01c234fba57a32a',
    ]);
  });
});
