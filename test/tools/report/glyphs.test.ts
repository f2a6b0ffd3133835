/**
 * Goal: charts out of characters have the promised width and keep the proportions.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bar, labelled, meter, resample, sparkline } from '../../../tools/report/glyphs.ts';

test('bar: eighths of a column, always the whole width', () => {
  expect(bar(0.5, 4)).toBe('██  ');
  expect(bar(1, 4)).toBe('████');
  expect(bar(3 / 32, 4)).toBe('▍   ');
  expect(bar(0, 4)).toBe('    ');
  expect(bar(0.0001, 4)).toBe('▏   ');
  expect(bar(7, 4)).toBe('████');
});

test('labelled: exactly as wide as asked', () => {
  const text = labelled('ARM', 0.25, 40, (part) => part);
  expect([...text]).toHaveLength(40);
  expect(text).toMatch(/^ARM █+.* {2}25 %$/);
});

test('sparkline: scaled to its peak; zero is a gap', () => {
  expect(sparkline([0, 1, 4, 8])).toBe(' ▁▄█');
  expect(sparkline([0, 0])).toBe('  ');
  expect(sparkline([])).toBe('');
  expect(meter([0.5, 1, 2])).toBe('▄██');
});

test('resample: keeps the mean; short series stay as they are', () => {
  expect(resample([1, 2, 3], 5)).toEqual([1, 2, 3]);
  expect(resample([1, 3, 5, 7], 2)).toEqual([2, 6]);
  const mean = (values: number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  fc.assert(
    fc.property(
      fc.array(fc.nat(1000), { minLength: 1, maxLength: 300 }),
      fc.integer({ min: 1, max: 100 }),
      (values, cells) => {
        const fewer = resample(values, cells);
        expect(fewer.length).toBe(Math.min(values.length, cells));
        expect(mean(fewer)).toBeCloseTo(mean(values), 6);
      },
    ),
  );
});
