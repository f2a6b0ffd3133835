/**
 * Exponential, logarithm and power from + - * / alone, the same to the last bit in every engine.
 *
 * IEEE 754 defines the four operations and the square root to the last bit; the transcendental
 * functions of Math are left to the engine. Relative error is below 1e-12 over the range of
 * doubles (about 1e-14 for powers and 5e-16 for the rest). For tables and cold paths: a call takes
 * 50 to 100 ns.
 */

import { invariant } from '../../hal/sim/invariant.ts';

/** ln 2 in two parts; the first has 21 zero bits at its end, so its small multiples are exact. */
const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;
const LN2 = Math.LN2;
const SQRT_HALF = Math.SQRT1_2;

/** exp overflows above and is zero below. */
const EXP_MAX = 709.782712893384;
const EXP_MIN = -745.1332191019411;

/** Terms of the series: the rests are below 1e-17 for |r| <= ln(2)/2 and |f| <= 0.1716. */
const EXP_TERMS = 14;
const LOG_TERMS = 12;

/** 2^(2^i) and its inverse, i = 0..9. */
const POWERS = Float64Array.from({ length: 10 }, (_, i) => 2 ** (2 ** i));
const INVERSE_POWERS = POWERS.map((power) => 1 / power);
/** 1/n! */
const EXP_SERIES = inverseFactorials(EXP_TERMS);

function inverseFactorials(count: number): Float64Array {
  const series = new Float64Array(count).fill(1);
  let factorial = 1;
  for (let n = 1; n < count; n++) {
    factorial *= n;
    series[n] = 1 / factorial;
  }
  return series;
}

/** e^x. Infinity above 709.78, 0 below -745.13. */
export function exactExp(x: number): number {
  if (x > EXP_MAX) return Number.POSITIVE_INFINITY;
  if (x < EXP_MIN) return 0;
  const k = Math.round(x / LN2);
  const r = x - k * LN2_HIGH - k * LN2_LOW;
  let sum = 0;
  for (let n = EXP_TERMS - 1; n >= 0; n--) sum = sum * r + EXP_SERIES[n]!;
  return scaled(sum, k);
}

/** Natural logarithm. -Infinity for 0; x must not be negative. */
export function exactLog(x: number): number {
  invariant(x >= 0, 'a logarithm is taken of a number that is not negative');
  if (x === 0) return Number.NEGATIVE_INFINITY;
  if (x === Number.POSITIVE_INFINITY) return x;
  let exponent = 0;
  let mantissa = x;
  for (let i = 9; i >= 0; i--) {
    if (mantissa >= POWERS[i]!) {
      mantissa *= INVERSE_POWERS[i]!;
      exponent += 1 << i;
    }
  }
  // A subnormal needs 2^512 twice, hence the repetition.
  for (let i = 9; i >= 0; i--) {
    while (mantissa * POWERS[i]! < 2) {
      mantissa *= POWERS[i]!;
      exponent -= 1 << i;
    }
  }
  // The mantissa, now in [1, 2), goes to [sqrt(1/2), sqrt(2)).
  if (mantissa >= 2 * SQRT_HALF) {
    mantissa *= 0.5;
    exponent += 1;
  }
  const f = (mantissa - 1) / (mantissa + 1);
  const square = f * f;
  let sum = 0;
  for (let n = LOG_TERMS - 1; n >= 0; n--) sum = sum * square + 1 / (2 * n + 1);
  return exponent * LN2_HIGH + (exponent * LN2_LOW + 2 * f * sum);
}

/** base^exponent for a base that is not negative; 0^0 is 1. */
export function exactPow(base: number, exponent: number): number {
  if (exponent === 0) return 1;
  if (base === 0) return exponent > 0 ? 0 : Number.POSITIVE_INFINITY;
  return exactExp(exponent * exactLog(base));
}

/** value * 2^exponent. */
function scaled(value: number, exponent: number): number {
  const steps = exponent < 0 ? INVERSE_POWERS : POWERS;
  let rest = Math.abs(exponent);
  let result = value;
  for (; rest >= 1 << 9; rest -= 1 << 9) result *= steps[9]!;
  for (let i = 8; i >= 0; i--) if ((rest & (1 << i)) !== 0) result *= steps[i]!;
  return result;
}
