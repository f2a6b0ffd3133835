/** Logarithms and antilogarithms of GF(2^14); the logarithm of zero leads to zeros. */

import { ANTILOG, LOG } from './layout';

@inline
export function log(element: i32): i32 {
  return <i32>load<u16>(LOG + (element << 1));
}

@inline
export function antilog(exponent: i32): i32 {
  return <i32>load<u16>(ANTILOG + (exponent << 1));
}

/** Entry i of a row of field elements. */
@inline
export function get(row: usize, i: i32): i32 {
  return <i32>load<u16>(row + (i << 1));
}

@inline
export function put(row: usize, i: i32, element: i32): void {
  store<u16>(row + (i << 1), element);
}

/** Adds to entry i. */
@inline
export function add(row: usize, i: i32, element: i32): void {
  put(row, i, get(row, i) ^ element);
}

/** Sets `count` entries of a row to zero. */
@inline
export function clear(row: usize, count: i32): void {
  memory.fill(row, 0, count << 1);
}
