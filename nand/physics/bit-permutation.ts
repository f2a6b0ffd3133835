/**
 * Positions of wrong bits: a fixed order of all bits of a codeword, by a keyed permutation.
 *
 * The first k of the order are the k wrong bits, so more errors keep those that were there. The
 * order is a Feistel network over the next even power of two, walked again while it leaves the
 * codeword: distinct by construction, no memory, some 40 ns a position.
 */

import { invariant } from '../../hal/sim/invariant.ts';
import { CODEWORD_BITS } from './rber.ts';

const HALF_BITS = 7;
const HALF_MASK = (1 << HALF_BITS) - 1;
const ROUNDS = 4;

/** Bit of the codeword (0..8639) at `index` of the order that `key` names. */
export function bitPosition(key: number, index: number): number {
  let place = permuted(key, index);
  while (place >= CODEWORD_BITS) place = permuted(key, place);
  return place;
}

/** Writes the first `count` positions of the order; `into` must have room. */
export function bitPositions(key: number, count: number, into: Int32Array): void {
  invariant(count <= CODEWORD_BITS && count <= into.length, 'positions fit the array given');
  for (let i = 0; i < count; i++) into[i] = bitPosition(key, i);
}

function permuted(key: number, value: number): number {
  let left = value >>> HALF_BITS;
  let right = value & HALF_MASK;
  for (let round = 0; round < ROUNDS; round++) {
    const mixed = Math.imul(right ^ key ^ Math.imul(round + 1, 0x9e3779b9), 0x85ebca6b);
    const spread = Math.imul(mixed ^ (mixed >>> 15), 0xc2b2ae35) >>> (32 - HALF_BITS);
    const next = left ^ spread;
    left = right;
    right = next;
  }
  return (left << HALF_BITS) | right;
}
