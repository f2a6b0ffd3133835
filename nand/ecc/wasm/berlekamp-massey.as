/** Berlekamp-Massey for binary codes; explained in `berlekamp-massey.ts` two folders up. */

import { add, antilog, clear, get, log, put } from './field';
import { LOCATOR, ORDER, PREVIOUS, ROOM, ROW, SPARE, SYNDROME_LOGS, SYNDROMES } from './layout';

/** Degree of the error locator, or -1: more than t errors. */
export function locate(t: i32): i32 {
  for (let i = 1; i <= 2 * t; i++) put(SYNDROME_LOGS, i, log(get(SYNDROMES, i)));
  clear(LOCATOR, ROOM);
  put(LOCATOR, 0, 1);
  let previous = PREVIOUS;
  let spare = SPARE;
  put(previous, 0, 1);
  let degree = 0;
  let previousDegree = 0;
  let previousLog = 0;
  let shift = 1;
  for (let step = 1; step < 2 * t; step += 2) {
    let discrepancy = get(SYNDROMES, step);
    for (let j = 1; j <= degree; j++) {
      discrepancy ^= antilog(log(get(LOCATOR, j)) + get(SYNDROME_LOGS, step - j));
    }
    if (discrepancy != 0) {
      const newDegree = max(degree, previousDegree + shift);
      if (newDegree > t) return -1;
      const grows = newDegree > degree;
      if (grows) memory.copy(spare, LOCATOR, ROW);
      const factorLog = (log(discrepancy) + ORDER - previousLog) % ORDER;
      for (let j = 0; j <= previousDegree; j++) {
        add(LOCATOR, j + shift, antilog(factorLog + log(get(previous, j))));
      }
      if (grows) {
        const rest = previous;
        previous = spare;
        spare = rest;
        previousDegree = degree;
        previousLog = log(discrepancy);
        degree = newDegree;
        shift = 0;
      }
    }
    shift += 2;
  }
  return get(LOCATOR, degree) == 0 ? -1 : degree;
}
