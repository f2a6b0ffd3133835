/**
 * Aragon's programs and what they cost: the programs are firmware, so their sums are made here,
 * once, from the cycles of the instructions.
 */

import { ARAGON_CYCLES } from '../hal/aragon-cycles.ts';

const { fetch, lookup, update, move, issue, retire, searchLine, fillLine } = ARAGON_CYCLES;

export const ARAGON = {
  /** Fetch a descriptor and look one page up. */
  lookUp: fetch + lookup,
  lookUpPage: lookup,
  issue,
  /** Fetch a descriptor and retire one ended flash operation; each of its slots is moved. */
  retire: fetch + retire,
  retireMore: retire,
  moveSlot: move,
  updateSlot: update,
  /** Take an arrival; each page is put into the log and the map. */
  arrive: fetch,
  arrivePage: move + update,
  /** Search 64 rows of the block table. */
  searchLine,
  /** Unmap 64 cells. */
  trimLine: fillLine,
} as const;
