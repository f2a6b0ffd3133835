/**
 * The normal distribution: its inverse cumulative function, and a table of quantiles for hot paths.
 *
 * Source: Wichura, algorithm AS 241 (PPND16), Applied Statistics 37 (1988) 477-484, with our own
 * logarithm so that every engine gives the same bits.
 */

import { invariant } from '../../hal/sim/invariant.ts';
import { exactExp, exactLog } from './exact-math.ts';

/** Numerators and denominators, lowest power first: centre, near tail, far tail. */
const CENTRE = [
  [
    3.3871328727963665, 133.14166789178438, 1971.5909503065513, 13731.693765509461,
    45921.95393154987, 67265.7709270087, 33430.57558358813, 2509.0809287301227,
  ],
  [
    1, 42.31333070160091, 687.1870074920579, 5394.196021424751, 21213.794301586597,
    39307.89580009271, 28729.085735721943, 5226.495278852854,
  ],
] as const;
const NEAR_TAIL = [
  [
    1.4234371107496835, 4.630337846156546, 5.769497221460691, 3.6478483247632045,
    1.2704582524523684, 0.2417807251774506, 0.022723844989269184, 7.745450142783414e-4,
  ],
  [
    1, 2.053191626637759, 1.6763848301838038, 0.6897673349851, 0.14810397642748008,
    0.015198666563616457, 5.475938084995345e-4, 1.0507500716444169e-9,
  ],
] as const;
const FAR_TAIL = [
  [
    6.657904643501103, 5.463784911164114, 1.7848265399172913, 0.29656057182850487,
    0.026532189526576124, 0.0012426609473880784, 2.7115555687434876e-5, 2.0103343992922881e-7,
  ],
  [
    1, 0.599832206555888, 0.1369298809227358, 0.014875361290850615, 7.868691311456133e-4,
    1.8463183175100548e-5, 1.421511758316446e-7, 2.0442631033899397e-15,
  ],
] as const;

/** Entries of the table of quantiles; an index is the top 12 bits of a hash. */
export const QUANTILE_BITS = 12;
const QUANTILES = 1 << QUANTILE_BITS;

let quantiles: Float64Array | null = null;

/** z with P(Z < z) = p for a standard normal Z; p above 0 and below 1. */
export function normalQuantile(p: number): number {
  invariant(p > 0 && p < 1, 'a quantile is taken of a probability between 0 and 1');
  const centred = p - 0.5;
  if (Math.abs(centred) <= 0.425) {
    const r = 0.180625 - centred * centred;
    return (centred * horner(CENTRE[0], r)) / horner(CENTRE[1], r);
  }
  const r = Math.sqrt(-exactLog(centred < 0 ? p : 1 - p));
  const tail = r <= 5 ? NEAR_TAIL : FAR_TAIL;
  const at = r <= 5 ? r - 1.6 : r - 5;
  const z = horner(tail[0], at) / horner(tail[1], at);
  return centred < 0 ? -z : z;
}

/** Quantiles at (i + 1/2) / 4096, i = 0..4095: from -3.67 to 3.67. Built at the first call. */
export function normalQuantiles(): Float64Array {
  quantiles ??= Float64Array.from({ length: QUANTILES }, (_, i) =>
    normalQuantile((i + 0.5) / QUANTILES),
  );
  return quantiles;
}

/** exp(N(0, sd^2) - sd^2/2) at each of the 4096 quantiles: a factor of mean 1. */
export function lognormalQuantiles(sd: number): Float64Array {
  return normalQuantiles().map((z) => exactExp(sd * z - (sd * sd) / 2));
}

function horner(coefficients: readonly number[], x: number): number {
  let sum = 0;
  for (let i = coefficients.length - 1; i >= 0; i--) sum = sum * x + coefficients[i]!;
  return sum;
}
