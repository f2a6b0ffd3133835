/** fio's coarse latency classes: which share of all operations took how long. */
import type { LatencyHistogram } from './histogram.ts';

const SMALL_CLASSES = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000] as const;
const MILLISECOND_CLASSES = [...SMALL_CLASSES, 2000] as const;

/** Percentages a class; a class is named by its upper end and holds what is below it. */
export interface LatencyShares {
  [group: string]: Record<string, number>;
}

/** The three groups `latency_ns`, `latency_us` and `latency_ms`; all shares add up to 100. */
export function latencyShares(histograms: readonly LatencyHistogram[]): LatencyShares {
  const total = histograms.reduce((sum, histogram) => sum + histogram.count, 0);
  const below = (ns: number): number =>
    histograms.reduce((sum, histogram) => sum + histogram.countBelow(ns), 0);
  const share = (count: number): number => (total === 0 ? 0 : (count * 100) / total);

  let seen = 0;
  const group = (unitNs: number, classes: readonly number[]): Record<string, number> => {
    const shares: Record<string, number> = {};
    for (const limit of classes) {
      const count = below(limit * unitNs);
      shares[limit] = share(count - seen);
      seen = count;
    }
    return shares;
  };
  const nanoseconds = group(1, SMALL_CLASSES);
  const microseconds = group(1000, SMALL_CLASSES);
  const milliseconds = group(1_000_000, MILLISECOND_CLASSES);
  milliseconds['>=2000'] = share(total - seen);
  return { latency_ns: nanoseconds, latency_us: microseconds, latency_ms: milliseconds };
}
