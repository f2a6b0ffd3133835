/**
 * The BCH engine in AssemblyScript with SIMD, for codes of GF(2^14) whose parity fits in 512 bits.
 *
 * A remainder is four vectors of 16 bytes in the order of the codeword. The division waits for its
 * own last result at every step, so the data is cut into two parts that are divided side by side;
 * the remainder of the first is then carried over the second by a table.
 */

import {
  CODEWORD,
  JOINS,
  ODD,
  PARITY_MASK,
  REMAINDER,
  SLICES,
  SYNDROME_ROW_BYTES,
  SYNDROME_TABLE,
  SYNDROMES,
  ERRORS,
  ORDER,
  ROOTS,
} from './layout';
import { antilog, log } from './field';
import { locate } from './berlekamp-massey';
import { findRoots } from './roots';

export {
  CODEWORD,
  PARITY_MASK,
  ERRORS,
  SLICES,
  JOINS,
  SYNDROME_TABLE,
  LOG,
  ANTILOG,
  QUADRATIC,
  REMAINDER_BYTES,
  SYNDROME_ROW_BYTES,
} from './layout';

let t: i32 = 0;
let dataBytes: i32 = 0;
let parityBits: i32 = 0;
let parityBytes: i32 = 0;

/** Names the code. The caller fills the tables. */
export function configure(errors: i32, bytes: i32, bits: i32): void {
  t = errors;
  dataBytes = bytes;
  parityBits = bits;
  parityBytes = (bits + 7) >> 3;
}

/** Writes the parity behind the data of the codeword. */
export function encode(): void {
  divide();
  memory.copy(CODEWORD + dataBytes, REMAINDER, parityBytes);
}

/** Number of errors, their bit indexes at ERRORS; or -1. The codeword itself is left alone. */
export function decode(): i32 {
  divide();
  if (!differs()) return 0;
  evaluateSyndromes();
  const count = locate(t);
  if (count <= 0 || !findRoots(count)) return -1;
  return placeErrors(count) ? count : -1;
}

/** Leaves the difference of computed and received parity at REMAINDER; whether there is one. */
function differs(): bool {
  let any = i32x4.splat(0);
  for (let at: usize = 0; at < 64; at += 16) {
    const received = v128.and(v128.load(CODEWORD + dataBytes + at), v128.load(PARITY_MASK + at));
    const difference = v128.xor(v128.load(REMAINDER + at), received);
    v128.store(REMAINDER + at, difference);
    any = v128.or(any, difference);
  }
  return v128.any_true(any);
}

/** Leaves the remainder of the data at REMAINDER. */
function divide(): void {
  const zero = i32x4.splat(0);
  let a0 = zero;
  let a1 = zero;
  let a2 = zero;
  let a3 = zero;
  let b0 = zero;
  let b1 = zero;
  let b2 = zero;
  let b3 = zero;
  const secondBytes = (dataBytes >> 3) << 2;
  const middle = CODEWORD + dataBytes - secondBytes;
  let at = CODEWORD;

  // The first part takes the odd bytes, zeros in front of them, and the odd word.
  const head = dataBytes & 3;
  if (head != 0) {
    const word = load<u32>(at) << (32 - 8 * head);
    at += head;
    a0 = rowSum0(word);
    a1 = rowSum1(word);
    a2 = rowSum2(word);
    a3 = rowSum3(word);
  }
  if (((middle - at) as i32) > secondBytes) {
    const word = i32x4.extract_lane(a0, 0) ^ load<u32>(at);
    at += 4;
    a0 = v128.xor(shifted(a0, a1), rowSum0(word));
    a1 = v128.xor(shifted(a1, a2), rowSum1(word));
    a2 = v128.xor(shifted(a2, a3), rowSum2(word));
    a3 = v128.xor(shifted(a3, zero), rowSum3(word));
  }
  for (let second = middle; at < middle; at += 4, second += 4) {
    const word = i32x4.extract_lane(a0, 0) ^ load<u32>(at);
    const other = i32x4.extract_lane(b0, 0) ^ load<u32>(second);
    a0 = v128.xor(shifted(a0, a1), rowSum0(word));
    b0 = v128.xor(shifted(b0, b1), rowSum0(other));
    a1 = v128.xor(shifted(a1, a2), rowSum1(word));
    b1 = v128.xor(shifted(b1, b2), rowSum1(other));
    a2 = v128.xor(shifted(a2, a3), rowSum2(word));
    b2 = v128.xor(shifted(b2, b3), rowSum2(other));
    a3 = v128.xor(shifted(a3, zero), rowSum3(word));
    b3 = v128.xor(shifted(b3, zero), rowSum3(other));
  }
  v128.store(REMAINDER, a0, 0);
  v128.store(REMAINDER, a1, 16);
  v128.store(REMAINDER, a2, 32);
  v128.store(REMAINDER, a3, 48);
  join(b0, b1, b2, b3);
}

/** A vector of the remainder moved up by one word, into which the next vector's first comes. */
@inline
function shifted(vector: v128, next: v128): v128 {
  return v128.shuffle<i32>(vector, next, 1, 2, 3, 4);
}

// What the four bytes of a word are worth, one vector of the remainder each: the offsets have to be
// constants for the compiler.

@inline
function rowSum0(word: u32): v128 {
  return v128.xor(
    v128.xor(
      v128.load((word << 6) & 0x3fc0, SLICES + 3 * 16384 + 0),
      v128.load((word >>> 2) & 0x3fc0, SLICES + 2 * 16384 + 0),
    ),
    v128.xor(
      v128.load((word >>> 10) & 0x3fc0, SLICES + 16384 + 0),
      v128.load((word >>> 18) & 0x3fc0, SLICES + 0),
    ),
  );
}

@inline
function rowSum1(word: u32): v128 {
  return v128.xor(
    v128.xor(
      v128.load((word << 6) & 0x3fc0, SLICES + 3 * 16384 + 16),
      v128.load((word >>> 2) & 0x3fc0, SLICES + 2 * 16384 + 16),
    ),
    v128.xor(
      v128.load((word >>> 10) & 0x3fc0, SLICES + 16384 + 16),
      v128.load((word >>> 18) & 0x3fc0, SLICES + 16),
    ),
  );
}

@inline
function rowSum2(word: u32): v128 {
  return v128.xor(
    v128.xor(
      v128.load((word << 6) & 0x3fc0, SLICES + 3 * 16384 + 32),
      v128.load((word >>> 2) & 0x3fc0, SLICES + 2 * 16384 + 32),
    ),
    v128.xor(
      v128.load((word >>> 10) & 0x3fc0, SLICES + 16384 + 32),
      v128.load((word >>> 18) & 0x3fc0, SLICES + 32),
    ),
  );
}

@inline
function rowSum3(word: u32): v128 {
  return v128.xor(
    v128.xor(
      v128.load((word << 6) & 0x3fc0, SLICES + 3 * 16384 + 48),
      v128.load((word >>> 2) & 0x3fc0, SLICES + 2 * 16384 + 48),
    ),
    v128.xor(
      v128.load((word >>> 10) & 0x3fc0, SLICES + 16384 + 48),
      v128.load((word >>> 18) & 0x3fc0, SLICES + 48),
    ),
  );
}

/** Carries the remainder of the first part over the second and adds the second's. */
function join(b0: v128, b1: v128, b2: v128, b3: v128): void {
  let table = JOINS;
  for (let i = 0; i < parityBytes; i++, table += 2048) {
    const byte = <i32>load<u8>(REMAINDER + i);
    const high = table + ((byte << 2) & 0x3c0);
    const low = table + 1024 + ((byte & 15) << 6);
    b0 = v128.xor(b0, v128.xor(v128.load(high, 0), v128.load(low, 0)));
    b1 = v128.xor(b1, v128.xor(v128.load(high, 16), v128.load(low, 16)));
    b2 = v128.xor(b2, v128.xor(v128.load(high, 32), v128.load(low, 32)));
    b3 = v128.xor(b3, v128.xor(v128.load(high, 48), v128.load(low, 48)));
  }
  v128.store(REMAINDER, b0, 0);
  v128.store(REMAINDER, b1, 16);
  v128.store(REMAINDER, b2, 32);
  v128.store(REMAINDER, b3, 48);
}

/** Fills SYNDROMES from the remainder: odd ones by table, even ones by squaring. */
function evaluateSyndromes(): void {
  for (let part: usize = 0; part < <usize>SYNDROME_ROW_BYTES; part += 16) {
    let sum = i32x4.splat(0);
    let table = SYNDROME_TABLE + part;
    for (let i = 0; i < parityBytes; i++, table += 32 * SYNDROME_ROW_BYTES) {
      const byte = <i32>load<u8>(REMAINDER + i);
      const high = table + (byte >> 4) * SYNDROME_ROW_BYTES;
      const low = table + (16 + (byte & 15)) * SYNDROME_ROW_BYTES;
      sum = v128.xor(sum, v128.xor(v128.load(high), v128.load(low)));
    }
    v128.store(ODD + part, sum);
  }
  for (let j = 0; j < t; j++) {
    const pair = SYNDROMES + (j << 2);
    store<u16>(pair, load<u16>(ODD + (j << 1)), 2);
    store<u16>(pair, antilog(2 * log(load<u16>(SYNDROMES + ((j + 1) << 1)))), 4);
  }
}

/** Turns roots into bit indexes; false when one lies before the start of the shortened code. */
function placeErrors(count: i32): bool {
  const bits = 8 * dataBytes + parityBits;
  for (let i = 0; i < count; i++) {
    const rootLog = log(load<u16>(ROOTS + (i << 1)));
    const degree = rootLog == 0 ? 0 : ORDER - rootLog;
    if (degree >= bits) return false;
    const bit = (bits - 1 - degree) ^ 7;
    let at = ERRORS + (i << 2);
    for (; at > ERRORS && load<i32>(at - 4) > bit; at -= 4) store<i32>(at, load<i32>(at - 4));
    store<i32>(at, bit);
  }
  return true;
}
