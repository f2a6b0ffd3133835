/**
 * What a BCH code is and what every engine for it can do.
 *
 * Conventions are those of the Linux kernel's BCH library: data bits most significant first, the
 * first byte holding the highest powers; parity left-aligned with trailing zero bits; an error is
 * named by its bit index, byte `index >> 3` and bit `index & 7` of data followed by parity.
 */

import { LARGEST_FIELD, SMALLEST_FIELD } from './galois.ts';

export interface BchParameters {
  /** The code works in GF(2^m); 5 to 15. A codeword has at most 2^m - 1 bits. */
  readonly m: number;
  /** Errors that can be corrected in one codeword, in bits. */
  readonly t: number;
  /** Data in one codeword, in bytes. */
  readonly dataBytes: number;
}

/** What `decode` returns for a codeword with more errors than the code corrects. */
export const UNCORRECTABLE = -1;

export interface BchEngine extends BchParameters {
  /** Degree of the generator polynomial: m t, or less for a few codes with t near their limit. */
  readonly parityBits: number;
  /** m t bits in whole bytes. */
  readonly parityBytes: number;
  /**
   * Room for one codeword, data first. Callers may assemble codewords here: an engine need not copy
   * what lies here already.
   */
  readonly workspace: Uint8Array;
  /** Bit indexes that the last decode found wrong, in rising order; `errorCount` are valid. */
  readonly errorBits: Int32Array;
  /** Errors that the last decode corrected; 0 when it could not. */
  readonly errorCount: number;

  /** Writes the parity of `dataBytes` of data. Throws a RangeError when either does not fit. */
  encode(data: Uint8Array, dataAt: number, parity: Uint8Array, parityAt: number): void;

  /**
   * Corrects data and parity in place. Returns the number of bits corrected, or UNCORRECTABLE and
   * leaves both alone. More than t errors may, rarely, be taken for another codeword.
   */
  decode(data: Uint8Array, dataAt: number, parity: Uint8Array, parityAt: number): number;
}

/** Throws a RangeError unless the parameters name a code. */
export function checkParameters({ m, t, dataBytes }: BchParameters): void {
  if (!Number.isInteger(m) || m < SMALLEST_FIELD || m > LARGEST_FIELD) {
    throw new RangeError(`BCH code: m is ${SMALLEST_FIELD} to ${LARGEST_FIELD}, not ${m}`);
  }
  const order = 2 ** m - 1;
  if (!Number.isInteger(t) || t < 1 || m * t >= order) {
    throw new RangeError(`BCH code: t is 1 or more with m t below ${order}, not ${t}`);
  }
  const mostBytes = Math.floor((order - m * t) / 8);
  if (!Number.isInteger(dataBytes) || dataBytes < 1 || dataBytes > mostBytes) {
    throw new RangeError(
      `BCH code: dataBytes is 1 to ${mostBytes} for m = ${m} and t = ${t}, not ${dataBytes}`,
    );
  }
}

/** Throws a RangeError unless `count` bytes lie inside `bytes` at `at`. */
export function checkStretch(what: string, bytes: Uint8Array, at: number, count: number): void {
  if (Number.isInteger(at) && at >= 0 && at + count <= bytes.length) return;
  throw new RangeError(`BCH ${what}: ${count} bytes at ${at} do not fit in ${bytes.length} bytes`);
}

/** Turns over the bits that a decode found wrong. */
export function applyErrors(
  { dataBytes, errorBits, errorCount }: BchEngine,
  data: Uint8Array,
  dataAt: number,
  parity: Uint8Array,
  parityAt: number,
): void {
  for (let i = 0; i < errorCount; i++) {
    const bit = errorBits[i]!;
    const byte = bit >> 3;
    if (byte < dataBytes) data[dataAt + byte]! ^= 1 << (bit & 7);
    else parity[parityAt + byte - dataBytes]! ^= 1 << (bit & 7);
  }
}
