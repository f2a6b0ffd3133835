/**
 * Read retry: reading again with shifted references, on parts that have it.
 *
 * Charge loss moves the levels down, so lower references win part of it back. Each level is assumed
 * to halve the retention part of RBER; wear and disturb stay. Sources: the 25 nm L74A data sheet
 * knows no read retry, that of the 20 nm L84 does; that a tuned reference helps by a factor is from
 * Cai et al., HPCA 2015; the halving is assumed.
 */

import { invariant } from '../../hal/sim/invariant.ts';
import { nandPart } from '../part.ts';

/** Levels beyond the ordinary read that a part offers; 0 for a part that has no read retry. */
export function readRetryLevels(partId: string): number {
  return nandPart(partId).readRetryLevels;
}

/** What is left of the retention part at a level: 1 at level 0, then 1/2, 1/4 and so on. */
export function retentionScale(level: number): number {
  invariant(Number.isInteger(level) && level >= 0, 'a read retry level is a whole number');
  return 2 ** -level;
}
