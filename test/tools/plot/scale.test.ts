/**
 * Goal: axes carry round numbers that cover the data, and map it without going out of bounds.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  linearScale,
  logScale,
  niceCeiling,
  niceStep,
  niceTicks,
} from '../../../tools/plot/scale.ts';

describe('scale', () => {
  test.each([
    [0, 100, 5, [0, 20, 40, 60, 80, 100]],
    [0, 1, 5, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [0, 0.3, 3, [0, 0.1, 0.2, 0.3]],
    [-5, 5, 4, [-5, 0, 5]],
    [3, 17, 3, [5, 10, 15]],
    [0, 91_100, 5, [0, 20_000, 40_000, 60_000, 80_000]],
  ])('ticks from %d to %d', (from, to, count, expected) => {
    expect(niceTicks(from, to, count)).toEqual(expected);
  });

  test('ticks: inside the axis, evenly spaced by 1, 2 or 5 times a power of ten', () => {
    const span = fc.double({ min: 1e-6, max: 1e12, noNaN: true });
    fc.assert(
      fc.property(span, fc.integer({ min: 2, max: 12 }), (to, count) => {
        const ticks = niceTicks(0, to, count);
        const step = niceStep(to, count);
        expect(ticks[0]).toBe(0);
        expect(ticks.at(-1)).toBeLessThanOrEqual(to * (1 + 1e-9));
        expect(ticks.length).toBeLessThanOrEqual(count + 1);
        expect(ticks.length).toBeGreaterThan(count / 2.6);
        expect(['1', '2', '5']).toContain(step.toExponential(6)[0]);
      }),
    );
  });

  test('niceCeiling: above the data, never by more than a tick', () => {
    expect(niceCeiling(0)).toBe(1);
    expect(niceCeiling(63_100)).toBe(80_000);
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1e12, noNaN: true }), (max) => {
        const top = niceCeiling(max);
        expect(top).toBeGreaterThanOrEqual(max * (1 - 1e-9));
        expect(top - max).toBeLessThanOrEqual(niceStep(max, 5));
      }),
    );
  });

  test('linear: ends on the ends, values outside are held', () => {
    const scale = linearScale([0, 10], [200, 100]);
    expect([-5, 0, 5, 10, 99].map((value) => scale.at(value))).toEqual([200, 200, 150, 100, 100]);
  });

  test('logarithmic: a decade is a distance; ticks at 2 and 5 only on short axes', () => {
    const scale = logScale([1, 10_000], [0, 400]);
    expect([1, 10, 100].map((value) => Math.round(scale.at(value)))).toEqual([0, 100, 200]);
    expect(scale.ticks()).toEqual([1, 10, 100, 1000, 10_000]);
    expect(logScale([15, 400], [0, 1]).ticks()).toEqual([20, 50, 100, 200]);
  });

  test('axes that run nowhere are refused', () => {
    expect(() => linearScale([1, 1], [0, 1])).toThrow('an axis runs upwards');
    expect(() => linearScale([0, Number.NaN], [0, 1])).toThrow('an axis runs upwards');
    expect(() => logScale([0, 1], [0, 1])).toThrow('from above 0');
  });
});
