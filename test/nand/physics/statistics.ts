/** Sample statistics for the tests of distributions. */

export function meanOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum / values.length;
}

export function varianceOf(values: ArrayLike<number>): number {
  const mean = meanOf(values);
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += (values[i]! - mean) ** 2;
  return sum / (values.length - 1);
}

/** Chi-square over its degrees of freedom, in standard deviations from 1: |z| < 5 is chance. */
export function chiSquareZ(observed: readonly number[], expected: readonly number[]): number {
  const chi = observed.reduce(
    (sum, count, i) => sum + (count - expected[i]!) ** 2 / expected[i]!,
    0,
  );
  const freedom = observed.length - 1;
  return (chi - freedom) / Math.sqrt(2 * freedom);
}
