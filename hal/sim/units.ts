/**
 * Units: branded integers for the numbers that get confused, and the conversions at device edges.
 *
 * Time is an integer number of nanoseconds. Cycles, bytes and dwords become nanoseconds once, where
 * a device charges them, rounded up.
 */

/** A 512-byte sector number as the host counts. */
export type Lba = number & { readonly unit: 'lba' };
/** A 4 KiB logical page number: eight sectors. */
export type Lpn = number & { readonly unit: 'lpn' };
/** A 4 KiB place in flash, counted over the whole array. */
export type Slot = number & { readonly unit: 'slot' };

export const SECTOR_BYTES = 512;
export const SLOT_BYTES = 4096;
export const SECTORS_PER_SLOT = 8;
/** Sector mask of a whole 4 KiB page. */
export const WHOLE_SLOT = 0xff;

export const NS_PER_US = 1_000;
export const NS_PER_MS = 1_000_000;
export const NS_PER_S = 1_000_000_000;

/** Nanoseconds that `cycles` take at `megahertz`, rounded up. */
export function cyclesToNs(cycles: number, megahertz: number): number {
  return Math.ceil((cycles * 1_000) / megahertz);
}

/** Nanoseconds that `bytes` take at `bytesPerNs`, rounded up. */
export function bytesToNs(bytes: number, bytesPerNs: number): number {
  return Math.ceil(bytes / bytesPerNs);
}

/** The exponent of a power of two; throws for any other number. */
export function log2Exact(value: number, what: string): number {
  const bits = 31 - Math.clz32(value);
  if (value < 1 || 2 ** bits !== value) {
    throw new RangeError(`${what} must be a power of two, not ${value}`);
  }
  return bits;
}
