/**
 * Uncorrectable codewords: how often more than t bits of a codeword are wrong, and UBER.
 *
 * Two laws: independent bits (binomial), by which codes are sized, and the over-dispersed counts of
 * the error model (negative binomial of shape 6), by which they fail. For reports and plots.
 */

import { exactExp, exactLog } from './exact-math.ts';
import { probabilityOfNone, SHAPE } from './negative-binomial.ts';

/** P(more than t of n independent bits are wrong) at a bit error rate above 0 and below 1. */
export function binomialTail(bits: number, rber: number, t: number): number {
  if (t >= bits) return 0;
  const first = t + 1;
  let logTerm = first * exactLog(rber) + (bits - first) * exactLog(1 - rber);
  for (let i = 1; i <= first; i++) logTerm += exactLog((bits - first + i) / i);
  const odds = rber / (1 - rber);
  let term = exactExp(logTerm);
  let sum = 0;
  for (let k = first; k <= bits && term > sum * 1e-17; k++) {
    sum += term;
    term *= ((bits - k) / (k + 1)) * odds;
  }
  return Math.min(sum, 1);
}

/** P(count > t) of the error model, mean lambda wrong bits. */
export function negativeBinomialTail(lambda: number, t: number): number {
  const ratio = lambda / (lambda + SHAPE);
  let term = probabilityOfNone(lambda);
  for (let k = 0; k <= t; k++) term *= ((SHAPE + k) / (k + 1)) * ratio;
  let sum = 0;
  for (let k = t + 1; term > sum * 1e-17; k++) {
    sum += term;
    term *= ((SHAPE + k) / (k + 1)) * ratio;
  }
  return Math.min(sum, 1);
}

/** Uncorrectable bit error rate: a failed codeword counts once per user bit (JESD218). */
export function uberOf(uncorrectable: number, userBytes: number): number {
  return uncorrectable / (8 * userBytes);
}
