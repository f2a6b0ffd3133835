/** Roots by Berlekamp's trace algorithm; explained in `roots.ts` two folders up. */

import { add, antilog, clear, get, log, put } from './field';
import {
  DIVIDEND,
  DIVISOR,
  FACTORS,
  LOCATOR,
  M,
  ORDER,
  POWERS,
  QUADRATIC,
  QUOTIENT,
  ROOTS,
  ROW,
  SQUARES,
  TRACES,
} from './layout';

let rootCount: i32 = 0;
let traceCount: i32 = 0;
/** Degree of the whole polynomial. */
let whole: i32 = 0;

/** Whether the locator has `degree` distinct roots in the field; they are at ROOTS. */
export function findRoots(degree: i32): bool {
  const inverseLog = ORDER - log(get(LOCATOR, degree));
  for (let i = 0; i < degree; i++) put(FACTORS, i, antilog(log(get(LOCATOR, i)) + inverseLog));
  rootCount = 0;
  traceCount = 0;
  whole = degree;
  if (degree > 2) {
    fillPowers();
    if (!fillSquares()) return false;
  }
  return split(0, degree, 0);
}

function split(at: i32, degree: i32, firstTrace: i32): bool {
  if (degree == 1) {
    put(ROOTS, rootCount++, get(FACTORS, at));
    return true;
  }
  if (degree == 2) return solveQuadratic(get(FACTORS, at + 1), get(FACTORS, at));
  for (let trace = firstTrace; trace < M; trace++) {
    const part = divideByTrace(at, degree, trace);
    if (part == 0) continue;
    return split(at, part, trace + 1) && split(at + part, degree - part, trace + 1);
  }
  return false;
}

function solveQuadratic(b: i32, c: i32): bool {
  if (b == 0) return false;
  const ratio = antilog((log(c) + 2 * (ORDER - log(b))) % ORDER);
  const y = get(QUADRATIC, ratio);
  if (y == 0) return false;
  put(ROOTS, rootCount++, antilog(log(b) + log(y)));
  put(ROOTS, rootCount++, antilog(log(b) + log(y ^ 1)));
  return true;
}

function fillPowers(): void {
  for (let i = 0; i < whole; i++) put(POWERS, i, get(FACTORS, i));
  for (let k = 1; k < whole - 1; k++) {
    const row = POWERS + <usize>k * ROW;
    const before = row - ROW;
    const topLog = log(get(before, whole - 1));
    put(row, 0, antilog(topLog + log(get(FACTORS, 0))));
    for (let i = 1; i < whole; i++) {
      put(row, i, get(before, i - 1) ^ antilog(topLog + log(get(FACTORS, i))));
    }
  }
}

function fillSquares(): bool {
  clear(SQUARES, whole);
  put(SQUARES, 1, 1);
  let row = SQUARES;
  for (let j = 0; j < M; j++, row += ROW) square(row, row + ROW);
  for (let i = 0; i < whole; i++) {
    if (get(row, i) != i32(i == 1)) return false;
  }
  return true;
}

function square(from: usize, to: usize): void {
  clear(to, whole);
  for (let i = 0; i < whole; i++) {
    const coefficient = get(from, i);
    if (coefficient == 0) continue;
    const squared = antilog(2 * log(coefficient));
    if (2 * i < whole) {
      add(to, 2 * i, squared);
      continue;
    }
    const row = POWERS + <usize>(2 * i - whole) * ROW;
    const squaredLog = log(squared);
    for (let k = 0; k < whole; k++) add(to, k, antilog(squaredLog + log(get(row, k))));
  }
}

function fillTrace(trace: i32): void {
  const row = TRACES + <usize>trace * ROW;
  clear(row, whole);
  for (let j = 0; j < M; j++) {
    const factorLog = (trace << j) % ORDER;
    const power = SQUARES + <usize>j * ROW;
    for (let i = 0; i < whole; i++) add(row, i, antilog(factorLog + log(get(power, i))));
  }
}

function divideByTrace(at: i32, degree: i32, trace: i32): i32 {
  while (traceCount <= trace) fillTrace(traceCount++);
  const factor = FACTORS + (at << 1);
  memory.copy(DIVIDEND, TRACES + <usize>trace * ROW, whole << 1);
  memory.copy(DIVISOR, factor, degree << 1);
  const part = commonDivisor(whole - 1, degree);
  if (part == 0 || part == degree) return 0;

  memory.copy(DIVIDEND, factor, degree << 1);
  put(DIVIDEND, degree, 1);
  reduce(degree, part);
  memory.copy(factor, DIVISOR, part << 1);
  memory.copy(factor + (part << 1), QUOTIENT, (degree - part) << 1);
  return part;
}

function commonDivisor(dividendDegree: i32, divisorDegree: i32): i32 {
  let high = dividendDegree;
  let low = divisorDegree;
  let rest = remainderDegree(high, low);
  while (rest > 0) {
    const inverseLog = ORDER - log(get(DIVIDEND, rest));
    for (let i = 0; i < rest; i++) {
      const coefficient = antilog(log(get(DIVIDEND, i)) + inverseLog);
      put(DIVIDEND, i, get(DIVISOR, i));
      put(DIVISOR, i, coefficient);
    }
    for (let i = rest; i < low; i++) put(DIVIDEND, i, get(DIVISOR, i));
    put(DIVIDEND, low, 1);
    high = low;
    low = rest;
    rest = remainderDegree(high, low);
  }
  return rest < 0 ? low : 0;
}

/** Degree of the dividend's remainder; -1 when nothing remains. */
function remainderDegree(high: i32, low: i32): i32 {
  reduce(high, low);
  let degree = min(high, low - 1);
  while (degree >= 0 && get(DIVIDEND, degree) == 0) degree--;
  return degree;
}

function reduce(high: i32, low: i32): void {
  for (let top = high; top >= low; top--) {
    const coefficient = get(DIVIDEND, top);
    put(QUOTIENT, top - low, coefficient);
    if (coefficient == 0) continue;
    const coefficientLog = log(coefficient);
    const to = DIVIDEND + ((top - low) << 1);
    for (let i = 0; i < low; i++) add(to, i, antilog(coefficientLog + log(get(DIVISOR, i))));
  }
}
