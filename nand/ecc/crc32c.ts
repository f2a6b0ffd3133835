/**
 * CRC-32C (Castagnoli; RFC 3720, appendix B.4), the check that stands behind the BCH code.
 *
 * A codeword with too many errors may be taken for another codeword. The CRC over the data of a
 * slot finds that, and, seeded with the slot's page word, data that belongs to another page. Eight
 * bytes a step through eight tables.
 */

import { invariant } from '../../hal/sim/invariant.ts';

/** The polynomial with its lowest power in the top bit. */
const POLYNOMIAL = 0x82f63b78;
const SLICES = 8;

const TABLES = sliceTables();
const [T0, T1, T2, T3, T4, T5, T6, T7] = TABLES as [
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
];

/**
 * CRC of the bytes from `from` to before `to`, an unsigned 32-bit integer.
 *
 * @param seed CRC of what comes before these bytes, or any 32-bit integer to tell contexts apart
 */
export function crc32c(bytes: Uint8Array, from = 0, to = bytes.length, seed = 0): number {
  invariant(from >= 0 && from <= to && to <= bytes.length, 'a CRC is taken over existing bytes');
  let crc = ~seed;
  let at = from;
  for (const last = to - SLICES; at <= last; at += SLICES) {
    crc =
      T7[(crc ^ bytes[at]!) & 255]! ^
      T6[((crc >>> 8) ^ bytes[at + 1]!) & 255]! ^
      T5[((crc >>> 16) ^ bytes[at + 2]!) & 255]! ^
      T4[(crc >>> 24) ^ bytes[at + 3]!]! ^
      T3[bytes[at + 4]!]! ^
      T2[bytes[at + 5]!]! ^
      T1[bytes[at + 6]!]! ^
      T0[bytes[at + 7]!]!;
  }
  for (; at < to; at++) crc = (crc >>> 8) ^ T0[(crc ^ bytes[at]!) & 255]!;
  return ~crc >>> 0;
}

/** Table i holds the CRC register after a byte and i bytes of zeros. */
function sliceTables(): Int32Array[] {
  const first = new Int32Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
    first[byte] = crc;
  }
  const tables = [first];
  for (let i = 1; i < SLICES; i++) {
    tables.push(tables[i - 1]!.map((crc) => (crc >>> 8) ^ first[crc & 255]!));
  }
  return tables;
}
