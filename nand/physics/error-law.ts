/**
 * Error laws: the coefficients of raw bit error rate over wear, age and reads, as data.
 *
 * Every law is a sum of a written part, a retention part and a disturb part:
 * `write(c) + retention(c) * t^n + disturb(c) * R^q`, with c = P/E cycles, t = days at 30 C since
 * the page was programmed and R = reads of its block since then. The kinds differ in how the three
 * coefficients grow with c.
 */

import { invariant } from '../../hal/sim/invariant.ts';
import { exactPow } from './exact-math.ts';

interface LawHead {
  readonly id: string;
  /** Where the coefficients come from, or 'assumed'. */
  readonly source: string;
  /** Where the law holds. */
  readonly range: string;
  /** n and q of the sum above. */
  readonly retentionExponent: number;
  readonly disturbExponent: number;
}

/** Coefficients grow with x = c / ratedEraseCount. */
export interface RatedWearLaw extends LawHead {
  readonly kind: 'rated-wear';
  readonly ratedEraseCount: number;
  /** write = floor + wear * x^wearExponent. */
  readonly floor: number;
  readonly wear: number;
  readonly wearExponent: number;
  /** retention * (x + retentionOffset)^retentionWearExponent. */
  readonly retention: number;
  readonly retentionOffset: number;
  readonly retentionWearExponent: number;
  /** disturb * max(x, disturbFloor)^disturbWearExponent. */
  readonly disturb: number;
  readonly disturbFloor: number;
  readonly disturbWearExponent: number;
}

/** eps + A c^k + B c^m t^n + G c^p R^q, with the letters of the paper. */
export interface AdditivePowerLaw extends LawHead {
  readonly kind: 'additive-power';
  readonly eps: number;
  readonly A: number;
  readonly k: number;
  readonly B: number;
  readonly m: number;
  readonly G: number;
  readonly p: number;
}

export type ErrorLaw = RatedWearLaw | AdditivePowerLaw;

/** The Vector's die: about at 24 bit per 1 KiB after 3000 cycles and a year at 30 C. */
export const IMFT_25NM: RatedWearLaw = {
  id: '25-nm',
  kind: 'rated-wear',
  source:
    'assumed, between the 3x-nm and 2y-nm laws; disturb slope fitted to Cai et al., DSN 2015; ' +
    'level set by the 24 bit per 1080 byte and 3000 cycles of the Micron L74A data sheet',
  range: 'to 10,000 cycles, 10 years, a million reads',
  ratedEraseCount: 3000,
  floor: 5e-7,
  wear: 6e-5,
  wearExponent: 2,
  retention: 1.25e-5,
  retentionOffset: 0.05,
  retentionWearExponent: 1.6,
  retentionExponent: 0.55,
  disturb: 1.63e-9,
  disturbFloor: 0.02,
  disturbWearExponent: 1.5,
  disturbExponent: 1,
};

export const FAST19_2Y_NM: AdditivePowerLaw = {
  id: '2y-nm',
  kind: 'additive-power',
  source: 'Kim, Choi, Min, FAST 2019, coefficients as in SimpleSSD',
  range: 'to about 60 days: t^3.33 is a fit of short retention and explodes beyond',
  eps: 8.34e-5,
  A: 3.3e-11,
  k: 1.71,
  B: 5.56e-19,
  m: 2.49,
  retentionExponent: 3.33,
  G: 6.26e-13,
  p: 1.76,
  disturbExponent: 0.47,
};

export const FAST19_3X_NM: AdditivePowerLaw = {
  id: '3x-nm',
  kind: 'additive-power',
  source: 'Kim, Choi, Min, FAST 2019, from memory: one in the last digit',
  range: 'to 10,000 cycles, a year',
  eps: 5.06e-8,
  A: 1.05e-14,
  k: 2.16,
  B: 9.31e-14,
  m: 1.8,
  retentionExponent: 0.8,
  G: 4.17e-15,
  p: 1.07,
  disturbExponent: 1.45,
};

export const ERROR_LAWS: readonly ErrorLaw[] = [IMFT_25NM, FAST19_2Y_NM, FAST19_3X_NM];

/** The law with this id, one of those in ERROR_LAWS. */
export function errorLaw(id: string): ErrorLaw {
  const law = ERROR_LAWS.find((each) => each.id === id);
  invariant(law !== undefined, 'a profile names an error law that exists');
  return law;
}

/** Part of a page just written, c cycles. */
export function writeTerm(law: ErrorLaw, eraseCount: number): number {
  if (law.kind === 'additive-power') return law.eps + law.A * exactPow(eraseCount, law.k);
  return law.floor + law.wear * exactPow(eraseCount / law.ratedEraseCount, law.wearExponent);
}

/** Factor of t^n, t in days. */
export function retentionTerm(law: ErrorLaw, eraseCount: number): number {
  if (law.kind === 'additive-power') return law.B * exactPow(eraseCount, law.m);
  const x = eraseCount / law.ratedEraseCount + law.retentionOffset;
  return law.retention * exactPow(x, law.retentionWearExponent);
}

/** Factor of R^q. */
export function disturbTerm(law: ErrorLaw, eraseCount: number): number {
  if (law.kind === 'additive-power') return law.G * exactPow(eraseCount, law.p);
  const x = Math.max(eraseCount / law.ratedEraseCount, law.disturbFloor);
  return law.disturb * exactPow(x, law.disturbWearExponent);
}
