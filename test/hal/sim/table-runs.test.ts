/**
 * Goal: the runs of a table hold every cell that is not 0, and little else. Method: random sparse
 * tables rebuilt from their runs.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cellsIn, faultOfRuns, findRuns } from '../../../hal/sim/table-runs.ts';

/** Pieces of a table: so many cells of one value, often 0. */
const table = fc
  .array(fc.tuple(fc.nat(80), fc.oneof(fc.constant(0), fc.constantFrom(1, -1, -(2 ** 31)))))
  .map((pieces) =>
    Int32Array.from(pieces.flatMap(([count, value]) => new Array<number>(count).fill(value))),
  );

describe('table runs', () => {
  it('hold every non-zero cell, rise, and begin and end with such a cell', () => {
    fc.assert(
      fc.property(table, (values) => {
        const runs = findRuns(values);
        expect(faultOfRuns(runs, values.length)).toBeNull();
        const rebuilt = new Int32Array(values.length);
        for (let i = 0; i < runs.length; i += 2) {
          const [first, end] = [runs[i]!, runs[i]! + runs[i + 1]!];
          rebuilt.set(values.subarray(first, end), first);
          expect(values[first]).not.toBe(0);
          expect(values[end - 1]).not.toBe(0);
        }
        expect(rebuilt).toEqual(values);
      }),
    );
  });

  it('leave out the zeros at both ends and every stretch of 32 or more, and no shorter one', () => {
    fc.assert(
      fc.property(table, (values) => {
        let left = 0;
        let stretch = 0;
        for (let cell = 0; cell <= values.length; cell++) {
          if (cell < values.length && values[cell] === 0) {
            stretch++;
            continue;
          }
          const atAnEnd = stretch === cell || cell === values.length;
          if (atAnEnd || stretch >= 32) left += stretch;
          stretch = 0;
        }
        expect(cellsIn(findRuns(values))).toBe(values.length - left);
      }),
    );
  });

  it('are found in a large table that is nearly empty', () => {
    const values = new Int32Array(2 ** 24);
    const cells = [0, 1, 40, 1_000_003, 2 ** 24 - 9, 2 ** 24 - 1];
    for (const cell of cells) values[cell] = cell + 1;
    expect([...findRuns(values)]).toEqual([
      ...[0, 2],
      ...[40, 1],
      ...[1_000_003, 1],
      ...[2 ** 24 - 9, 9],
    ]);
    expect([...findRuns(new Int32Array(0))]).toEqual([]);
  });

  it('have room for as many runs as there are', () => {
    const values = new Int32Array(200_000);
    for (let cell = 0; cell < values.length; cell += 40) values[cell] = 1;
    const runs = findRuns(values);
    expect([runs.length, cellsIn(runs)]).toEqual([10_000, 5000]);
  });

  it('are refused when they do not fit', () => {
    const faults: [runs: number[], fault: RegExp][] = [
      [[1], /1 words of runs, an even number/],
      [[4, 0], /run 0 is empty/],
      [[4, 2, 5, 1], /run 1 begins at cell 5, before cell 6/],
      [[4, 2, 1, 1], /run 1 begins at cell 1, before cell 6/],
      [[4, 7], /run 0 ends at cell 11 of a table of 10 cells/],
      [[2 ** 32 - 1, 2 ** 32 - 1], /run 0 ends at cell 8589934590 of a table/],
    ];
    for (const [runs, fault] of faults) {
      expect(faultOfRuns(Uint32Array.from(runs), 10)).toMatch(fault);
    }
    expect(faultOfRuns(Uint32Array.of(0, 3, 3, 7), 10)).toBeNull();
  });
});
