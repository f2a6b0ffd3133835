/**
 * Bit counting, for masks of slots.
 */

/** Number of set bits of a small mask. */
export function bitCount(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++;
  return count;
}
