/**
 * CRC-32 of metadata records (IEEE 802.3 polynomial), from the `crc-32` package.
 */

import crc32 from 'crc-32';

/** CRC-32 of the bytes as an unsigned integer. */
export function crc32Of(bytes: Uint8Array): number {
  return crc32.buf(bytes) >>> 0;
}
