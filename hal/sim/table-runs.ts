/**
 * The non-zero part of a big table, as runs of cells.
 *
 * A run begins and ends with a non-zero cell; short gaps stay inside a run, since a run costs as
 * much as two cells. Finding the runs reads the table once and copies nothing.
 */

/** Zero cells in a row that end a run. */
const GAP_CELLS = 32;
const FIRST_CAPACITY = 1024;

/** The runs of a table as pairs (first cell, number of cells), rising and disjoint. */
export function findRuns(values: Int32Array): Uint32Array {
  let runs = new Uint32Array(FIRST_CAPACITY);
  let used = 0;
  const length = values.length;
  let at = nextNonZero(values, 0);
  while (at < length) {
    const first = at;
    let end = at;
    while (at < length && at - end < GAP_CELLS) {
      if (values[at] !== 0) end = at + 1;
      at++;
    }
    if (used === runs.length) {
      const larger = new Uint32Array(runs.length * 2);
      larger.set(runs);
      runs = larger;
    }
    runs[used] = first;
    runs[used + 1] = end - first;
    used += 2;
    at = nextNonZero(values, at);
  }
  return runs.slice(0, used);
}

/** Cells in all runs together. */
export function cellsIn(runs: Uint32Array): number {
  let count = 0;
  for (let i = 1; i < runs.length; i += 2) count += runs[i]!;
  return count;
}

/** What is wrong with runs that should lie in a table of `length` cells, or null. */
export function faultOfRuns(runs: Uint32Array, length: number): string | null {
  if (runs.length % 2 !== 0) return `${runs.length} words of runs, an even number is needed`;
  let free = 0;
  for (let i = 0; i < runs.length; i += 2) {
    const first = runs[i]!;
    const count = runs[i + 1]!;
    if (first < free) return `run ${i / 2} begins at cell ${first}, before cell ${free}`;
    if (count === 0) return `run ${i / 2} is empty`;
    if (first + count > length) {
      return `run ${i / 2} ends at cell ${first + count} of a table of ${length} cells`;
    }
    free = first + count;
  }
  return null;
}

/** First non-zero cell at or after `from`, or the length. Eight cells a step: tables are sparse. */
function nextNonZero(values: Int32Array, from: number): number {
  const length = values.length;
  let at = from;
  for (; at + 8 <= length; at += 8) {
    const low = values[at]! | values[at + 1]! | values[at + 2]! | values[at + 3]!;
    const high = values[at + 4]! | values[at + 5]! | values[at + 6]! | values[at + 7]!;
    if ((low | high) !== 0) break;
  }
  while (at < length && values[at] === 0) at++;
  return at;
}
