/**
 * Aragon's instructions and their cycles: shared by the controller and the firmware that charges
 * them.
 *
 * What the instruction set was is unpublished; these instructions and costs are assumed.
 */

/** Instructions of the SSD set with their cycles (assumed). */
export const ARAGON_CYCLES = {
  /** Take a descriptor from the ring. */
  fetch: 12,
  /** Look up one map entry in DRAM (row hit, controller queue). */
  lookup: 30,
  /** Write one map entry with its valid bits. */
  update: 24,
  /** Move one data handle between buffer lists. */
  move: 6,
  /** Build and issue one flash operation. */
  issue: 40,
  /** Take one ended flash operation with its ECC verdict. */
  retire: 24,
  /** Search one 64-cell line for its minimum. */
  searchLine: 16,
  /** Clear or set one 64-cell line. */
  fillLine: 8,
} as const;
