/**
 * Medians: every figure of the bench is the median of its repetitions.
 */

/** The middle value, or the mean of the two in the middle; NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[middle]!;
  return (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Medians of several runs' figures, key by key. */
export function medians(runs: readonly Figures[]): Figures {
  const keys = new Set(runs.flatMap((run) => Object.keys(run)));
  return Object.fromEntries(
    [...keys].map((key) => [key, median(runs.flatMap((run) => run[key] ?? []))]),
  );
}

/** Named figures of one run. */
export type Figures = { [key: string]: number };
