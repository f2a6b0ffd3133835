/**
 * Wrong bits of a codeword: the negative binomial distribution of shape 6.
 *
 * A Poisson count whose mean itself varies as lambda * Gamma(6)/6 from codeword to codeword: errors
 * of a frame are over-dispersed against independent bits (Taranalli, Uchikawa, Siegel, 2016, fit
 * them by a beta-binomial; the shape 6 is assumed). Variance = lambda + lambda^2 / 6. All by plain
 * arithmetic, so no table and no difference between engines.
 */

export const SHAPE = 6;

/** P(0) = (1 + lambda/6)^-6. At least 1 - lambda, but for the last bit. */
export function probabilityOfNone(lambda: number): number {
  const d = 1 + lambda / SHAPE;
  const cube = d * d * d;
  return 1 / (cube * cube);
}

/**
 * The count k with P(<k) <= u < P(<=k): the inverse cumulative function, at most `limit`.
 *
 * For a fixed u the count rises with lambda. Costs a division a count.
 *
 * @param lambda mean count
 * @param u at least 0 and below 1
 */
export function inverseNegativeBinomial(lambda: number, u: number, limit: number): number {
  let term = probabilityOfNone(lambda);
  let sum = term;
  if (u < sum) return 0;
  const ratio = lambda / (lambda + SHAPE);
  let count = 0;
  while (u >= sum && count < limit) {
    term *= ((SHAPE + count) * ratio) / (count + 1);
    count++;
    sum += term;
  }
  return count;
}
