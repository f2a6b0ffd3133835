/**
 * Aragon's programs and what they cost, in cycles of its instructions (the map is hal/aragon.ts's;
 * the programs are firmware). Firmware may charge by program only, so the sums are made here once.
 */

/** Instructions: fetch 12, lookup 30, update 24, move 6, issue 40, retire 24, search 16, fill 8. */
export const ARAGON = {
  /** Fetch a descriptor, look one page up, issue. */
  lookUp: 12 + 30,
  lookUpPage: 30,
  issue: 40,
  /** Retire one ended flash operation; each slot of it is moved. */
  retire: 12 + 24,
  retireMore: 24,
  moveSlot: 6,
  updateSlot: 24,
  /** Take an arrival; each page is put into the log and the map. */
  arrive: 12,
  arrivePage: 6 + 24,
  /** Search 64 rows of the block table. */
  searchLine: 16,
  /** Unmap 64 cells. */
  trimLine: 8,
} as const;
