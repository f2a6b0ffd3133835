/** Goal: numbers read as they do in data sheets, at every size and at the edges between units. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatBandwidth,
  formatBytes,
  formatCompact,
  formatCount,
  formatDuration,
  formatIops,
  formatPercent,
  formatSi,
} from '../../../tools/cli/output.ts';

describe('format', () => {
  test.each([
    [0, '0 B'],
    [512, '512 B'],
    [999, '999 B'],
    [1000, '1.00 kB'],
    [9995, '10.0 kB'],
    [999_499, '999 kB'],
    [999_500, '1.00 MB'],
    [256_060_514_304, '256 GB'],
  ])('%d bytes', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  test.each([
    [0, '0 ns'],
    [1, '1 ns'],
    [0.25, '0.25 ns'],
    [999, '999 ns'],
    [999.7, '1.00 us'],
    [1300, '1.30 us'],
    [86_999, '87.0 us'],
    [999_499, '999 us'],
    [999_500, '1.00 ms'],
    [1_300_000, '1.30 ms'],
    [2_000_000_000_000, '2000 s'],
    [12_345_000_000_000, '12,345 s'],
    [Number.NaN, '-'],
  ])('%d ns', (ns, text) => {
    expect(formatDuration(ns)).toBe(text);
  });

  test('rates', () => {
    expect(formatIops(91_064)).toBe('91.1k IOPS');
    expect(formatIops(33)).toBe('33 IOPS');
    expect(formatBandwidth(373e6)).toBe('373 MB/s');
    expect(formatBandwidth(33.1e6)).toBe('33.1 MB/s');
    expect(formatBandwidth(Number.NaN)).toBe('- MB/s');
  });

  test('counts, fractions, and what is not a number', () => {
    expect(formatCount(1_234_567)).toBe('1,234,567');
    expect(formatCount(-1234)).toBe('-1,234');
    expect(formatCount(999)).toBe('999');
    expect(formatPercent(0.875)).toBe('87.5 %');
    expect(formatPercent(Number.NaN)).toBe('-');
    expect(formatCompact(95_488)).toBe('95.5k');
    expect(formatSi(-1500, 'B')).toBe('-1.50 kB');
    expect(formatSi(Number.POSITIVE_INFINITY, 'B')).toBe('- B');
  });

  test('three digits: the printed number is within half a percent of the true one', () => {
    const prefix = { '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 };
    fc.assert(
      fc.property(fc.double({ min: 1, max: 9e20, noNaN: true }), (value) => {
        const [, digits, letter] = /^([\d.]+) ?(\w?)$/.exec(formatSi(value))!;
        const printed = Number(digits) * prefix[letter as keyof typeof prefix];
        expect(Math.abs(printed - value)).toBeLessThanOrEqual(value * 0.005 + 1e-9);
      }),
    );
  });
});
