/**
 * CRC-32 (IEEE 802.3 polynomial) of an image: of a slot's data by zlib, which newer Node versions
 * offer, and of records by words, seeded with the record's place so that a record that was written
 * to the wrong place is found.
 */
import * as zlib from 'node:zlib';
import { crc32Of } from '../../hal/sim/crc.ts';

const native = (zlib as { crc32?: (bytes: Uint8Array) => number }).crc32;

/** CRC-32 of bytes, an unsigned integer. */
export const dataCrc: (bytes: Uint8Array) => number = native ?? crc32Of;

const POLYNOMIAL = 0xedb88320;
const TABLES = makeTables();

/** Table `t` at 256 * t: what a byte does to the remainder when 3 - t bytes follow it. */
function makeTables(): Int32Array {
  const tables = new Int32Array(4 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let remainder = byte;
    for (let bit = 0; bit < 8; bit++) {
      remainder = (remainder >>> 1) ^ (remainder & 1 ? POLYNOMIAL : 0);
    }
    tables[byte] = remainder;
  }
  for (let at = 256; at < tables.length; at++) {
    const before = tables[at - 256]!;
    tables[at] = (before >>> 8) ^ tables[before & 0xff]!;
  }
  return tables;
}

/**
 * CRC-32 of the little-endian words from `first` up to `end`, as a signed integer.
 * @param seed a CRC to go on from, as in zlib; 0 begins
 */
export function wordsCrc(words: Int32Array, first: number, end: number, seed: number): number {
  let remainder = ~seed;
  for (let at = first; at < end; at++) {
    const word = remainder ^ words[at]!;
    remainder =
      TABLES[768 + (word & 0xff)]! ^
      TABLES[512 + ((word >>> 8) & 0xff)]! ^
      TABLES[256 + ((word >>> 16) & 0xff)]! ^
      TABLES[word >>> 24]!;
  }
  return ~remainder;
}
