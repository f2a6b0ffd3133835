/**
 * Bit counting, for masks of slots and planes.
 */

/** Set bits of every byte: masks of slots are one, and are counted several times an operation. */
const BYTE_COUNTS = Uint8Array.from({ length: 256 }, (_, byte) => slowCount(byte));

/** Number of set bits of a mask of 32 bits. */
export function bitCount(mask: number): number {
  return mask >>> 8 === 0 ? BYTE_COUNTS[mask]! : slowCount(mask);
}

function slowCount(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++;
  return count;
}
