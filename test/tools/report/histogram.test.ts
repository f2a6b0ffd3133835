/**
 * Goal: the histogram answers as if every latency were kept, to within its stated error.
 * Method: compare with sorting the values themselves.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HISTOGRAM_RELATIVE_ERROR, LatencyHistogram } from '../../../tools/report/histogram.ts';

const nanoseconds = fc.oneof(
  fc.nat(100),
  fc.nat(10_000_000),
  fc.maxSafeNat(),
  fc.nat(52).map((power) => 2 ** power),
);
const latencies = fc.array(nanoseconds, { minLength: 1, maxLength: 200 });

function histogramOf(values: readonly number[]): LatencyHistogram {
  const histogram = new LatencyHistogram();
  for (const value of values) histogram.record(value);
  return histogram;
}

/** Nearest rank: the smallest value that `percent` of the values do not exceed. */
function exactPercentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.max(1, Math.ceil((percent / 100) * sorted.length)) - 1]!;
}

describe('histogram', () => {
  test('percentile: never below the sorted answer, above it by the error at most', () => {
    fc.assert(
      fc.property(latencies, fc.double({ min: 0, max: 100, noNaN: true }), (values, percent) => {
        const exact = exactPercentile(values, percent);
        const answer = histogramOf(values).percentile(percent);
        return answer >= exact && answer <= exact * (1 + HISTOGRAM_RELATIVE_ERROR);
      }),
      { numRuns: 1000 },
    );
  });

  test('count, minimum, maximum: exact', () => {
    fc.assert(
      fc.property(latencies, (values) => {
        const histogram = histogramOf(values);
        expect(histogram.count).toBe(values.length);
        expect(histogram.minNs).toBe(Math.min(...values));
        expect(histogram.maxNs).toBe(Math.max(...values));
      }),
    );
  });

  test('buckets: every value lies in one, they are disjoint and no wider than the error', () => {
    fc.assert(
      fc.property(latencies, (values) => {
        const buckets = histogramOf(values).buckets();
        expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(values.length);
        buckets.forEach(({ fromNs, toNs, count }, index) => {
          expect(count).toBe(values.filter((value) => value >= fromNs && value <= toNs).length);
          expect(toNs - fromNs).toBeLessThanOrEqual(fromNs * HISTOGRAM_RELATIVE_ERROR);
          if (index > 0) expect(fromNs).toBeGreaterThan(buckets[index - 1]!.toNs);
        });
      }),
    );
  });

  test('merge: the same as recording both (mean and deviation to rounding)', () => {
    fc.assert(
      fc.property(latencies, latencies, (one, other) => {
        const merged = histogramOf(one);
        merged.merge(histogramOf(other));
        const whole = histogramOf([...one, ...other]);
        expect(merged.buckets()).toEqual(whole.buckets());
        expect([merged.minNs, merged.maxNs]).toEqual([whole.minNs, whole.maxNs]);
        expect(Math.abs(merged.meanNs - whole.meanNs)).toBeLessThanOrEqual(1e-9 * whole.meanNs);
        const scale = whole.stddevNs + whole.meanNs;
        expect(Math.abs(merged.stddevNs - whole.stddevNs)).toBeLessThanOrEqual(1e-6 * scale);
      }),
    );
  });

  test('mean and sample deviation: a case done by hand', () => {
    const histogram = histogramOf([2, 4, 4, 4, 5, 5, 7, 9]);
    expect(histogram.meanNs).toBe(5);
    expect(histogram.stddevNs).toBeCloseTo(Math.sqrt(32 / 7), 12);
  });

  test('countBelow: whole buckets, exact below 64 ns', () => {
    const histogram = histogramOf([0, 1, 1, 5, 63, 1000]);
    expect([0, 1, 2, 63, 64, 5000].map((ns) => histogram.countBelow(ns))).toEqual([
      0, 1, 3, 4, 5, 6,
    ]);
  });

  test('nothing recorded: zeros', () => {
    const histogram = new LatencyHistogram();
    const { count, minNs, maxNs, meanNs, stddevNs } = histogram;
    expect([count, minNs, maxNs, meanNs, stddevNs, histogram.percentile(99)]).toEqual([
      0, 0, 0, 0, 0, 0,
    ]);
    expect(histogram.buckets()).toEqual([]);
    histogram.merge(new LatencyHistogram());
    expect(histogram.minNs).toBe(0);
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('refuses %d ns', (ns) => {
    expect(() => new LatencyHistogram().record(ns)).toThrow('a latency is a whole number');
  });

  test.each([-1, 101, Number.NaN])('refuses the %d th percentile', (percent) => {
    expect(() => new LatencyHistogram().percentile(percent)).toThrow('between 0 and 100');
  });
});
