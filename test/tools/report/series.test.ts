/**
 * Goal: the series keeps every completion however long the run, in its fixed number of buckets.
 * Method: integrate the series and compare with what was recorded.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type IopsSeries, SeriesRecorder } from '../../../tools/report/series.ts';

function completions(series: IopsSeries, endNs: number): number {
  return series.read.reduce((sum, iops, index) => {
    const coveredNs = Math.min(series.bucketNs, endNs - index * series.bucketNs);
    return sum + (iops * coveredNs) / 1e9;
  }, 0);
}

test('series: no completion is lost, the bucket count is kept', () => {
  const times = fc.array(fc.nat(1_000_000_000), { minLength: 1, maxLength: 100 });
  fc.assert(
    fc.property(times, fc.integer({ min: 1, max: 1_000_000 }), (moments, bucketNs) => {
      const recorder = new SeriesRecorder(bucketNs, 16);
      for (const moment of moments) recorder.record('read', moment);
      const endNs = Math.max(1, ...moments);
      const series = recorder.finish(endNs);
      expect(series.read.length).toBeLessThanOrEqual(16);
      expect(series.write.length).toBe(series.read.length);
      expect(completions(series, endNs)).toBeCloseTo(moments.length, 6);
    }),
  );
});

test('series: a known shape, buckets doubled once', () => {
  const recorder = new SeriesRecorder(1_000_000, 4);
  for (const ms of [0, 1, 2, 2.5, 3, 5]) recorder.record('write', ms * 1e6);
  const series = recorder.finish(6_000_000);
  expect(series.bucketNs).toBe(2_000_000);
  expect([...series.write]).toEqual([1000, 1500, 500]);
  expect([...series.read]).toEqual([0, 0, 0]);
});

test('series: the completion that ends the run is in the last bucket', () => {
  const recorder = new SeriesRecorder(1_000_000, 4);
  recorder.record('read', 500_000);
  recorder.record('read', 2_000_000);
  expect([...recorder.finish(2_000_000).read]).toEqual([1000, 1000]);
});

test('series: a short last bucket is scaled by what it covers', () => {
  const recorder = new SeriesRecorder(1_000_000, 4);
  recorder.record('read', 1_100_000);
  expect([...recorder.finish(1_250_000).read]).toEqual([0, 4000]);
});

test('series: refuses what it cannot hold', () => {
  expect(() => new SeriesRecorder(0)).toThrow('at least one whole nanosecond');
  expect(() => new SeriesRecorder(1, 3)).toThrow('an even number of buckets');
  expect(() => new SeriesRecorder().record('read', -1)).toThrow('a time from 0 on');
  expect(() => new SeriesRecorder().finish(0)).toThrow('a length above 0');
});
