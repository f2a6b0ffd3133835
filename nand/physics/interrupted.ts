/**
 * Interrupted operations: the extra RBER that a cut at fraction f of an operation leaves behind.
 *
 * Source of the effects: Tseng, Grupp, Swanson, DAC 2011 (a cut program may destroy the page that
 * shares its cells, and the damage is no steady function of the instant; a cut erase makes later
 * programs unreliable). The figures are assumed. An instant is a fraction from 0 (not begun) to 1
 * (done); a draw is a number from 0 to 1 that belongs to the place.
 */

import { invariant } from '../../hal/sim/invariant.ts';
import { exactPow } from './exact-math.ts';
import { fractionOf, type PlaceKey, placeHash, placeKey } from './place-hash.ts';

/** RBER of a weak block is this many times that of a sound one, until it is erased in full. */
export const WEAK_FACTOR = 5;

const ERASE_WORST = 0.3;
const ERASE_BEST = 1e-3;
/** From this fraction on an interrupted erase has emptied every cell. */
const ERASE_DONE = 0.95;

/** An LSB page cut while it was programmed: half of its bits at first, none at the end. */
export function lsbProgramRber(fraction: number): number {
  checkFraction(fraction);
  return 0.5 * (1 - fraction);
}

/** An MSB page cut while it was programmed; the draw sets 0.25 to 0.5 at f = 0. */
export function msbProgramRber(fraction: number, draw: number): number {
  checkFraction(fraction);
  return (0.25 + 0.25 * draw) * (1 - fraction);
}

/** The LSB page under a cut MSB program: worst when the cells are half way. */
export function partnerRber(fraction: number): number {
  checkFraction(fraction);
  return 0.25 * (1 - Math.abs(2 * fraction - 1));
}

/**
 * Wrong bits of an erased page in a block whose erase was cut: 0.3 down to 1e-3, half of the way
 * (as a ratio) set by the instant and half by the draw; 0 above f = 0.95. The block is weak in
 * every case.
 */
export function eraseRber(fraction: number, draw: number): number {
  checkFraction(fraction);
  if (fraction > ERASE_DONE) return 0;
  return ERASE_WORST * exactPow(ERASE_BEST / ERASE_WORST, (fraction / ERASE_DONE + draw) / 2);
}

/** The draws of interrupted operations. */
export class InterruptedDraws {
  readonly #key: PlaceKey;

  constructor(seed: string) {
    this.#key = placeKey(seed, 'nand.interrupted');
  }

  /** Draw of a program. */
  ofProgram(blockIndex: number, page: number, eraseCount: number): number {
    return fractionOf(placeHash(this.#key, blockIndex, page, eraseCount));
  }

  /** Draw of an erase; the erase count is that before it. */
  ofErase(blockIndex: number, eraseCount: number): number {
    return fractionOf(placeHash(this.#key, blockIndex, -1, eraseCount));
  }
}

function checkFraction(fraction: number): void {
  invariant(fraction >= 0 && fraction <= 1, 'an operation is cut at a fraction from 0 to 1');
}
