/**
 * Goal: a big table is a plain array of cells, recorded or not, and can grow. Method: the same
 * writes on a table and on an ordinary array.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BigTable } from '../../../hal/sim/big-table.ts';
import { InvariantBroken } from '../../../hal/sim/invariant.ts';
import { UndoLog } from '../../../hal/sim/undo-log.ts';

const CELLS = 40;
const LOG_BYTES = 2 ** 20;

describe('big table', () => {
  it('holds what was written, with and without a recording', () => {
    const write = fc.tuple(
      fc.nat(CELLS - 1),
      fc.nat(CELLS),
      fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    );
    fc.assert(
      fc.property(fc.array(write), fc.boolean(), (writes, recorded) => {
        const log = new UndoLog();
        const table = new BigTable('cells', CELLS, log);
        if (recorded) log.start(LOG_BYTES);
        const model = new Array<number>(CELLS).fill(0);
        for (const [index, count, value] of writes) {
          if (value % 3 === 0) {
            table.clear(index, Math.min(count, CELLS - index));
            model.fill(0, index, index + count);
          } else {
            table.write(index, value);
            model[index] = value;
          }
        }
        expect([...table.values]).toEqual(model.slice(0, CELLS));
      }),
    );
  });

  it('logs one entry a write, and one for each cell that clearing changes', () => {
    const log = new UndoLog();
    const table = new BigTable('cells', CELLS, log);
    log.start(LOG_BYTES);
    table.write(3, 5);
    table.write(4, -1);
    table.write(4, -1);
    expect(log.position).toBe(3);
    table.clear(0, CELLS);
    expect(log.position).toBe(5);
    table.clear(0, CELLS);
    expect(log.position).toBe(5);
    log.unwindTo(3);
    expect([table.values[3], table.values[4]]).toEqual([5, -1]);
  });

  it('grows, keeps its cells and can be unwound to before it grew', () => {
    const log = new UndoLog();
    const table = new BigTable('cells', 4, log);
    table.write(3, 7);
    log.start(LOG_BYTES);
    table.growTo(8);
    table.write(7, 9);
    expect([...table.values]).toEqual([0, 0, 0, 7, 0, 0, 0, 9]);
    expect([table.firstLength, table.values.length]).toEqual([4, 8]);
    log.unwindTo(0);
    expect([...table.values]).toEqual([0, 0, 0, 7, 0, 0, 0, 0]);
    expect(() => table.growTo(4)).toThrow(RangeError);
  });

  it('costs no memory where it was never written', () => {
    const before = process.memoryUsage().rss;
    const log = new UndoLog();
    const table = new BigTable('flash of a 256 GB drive', 2 ** 27, log);
    table.write(2 ** 27 - 1, 1);
    // A table of 512 MiB; a quarter of it is far above the noise of the test runner.
    expect(process.memoryUsage().rss - before).toBeLessThan(2 ** 27);
    expect(table.values[2 ** 27 - 1]).toBe(1);
  });

  it('exchanges its cells as a whole, but not while a run is recorded', () => {
    const log = new UndoLog();
    const table = new BigTable('cells', 2, log);
    table.write(0, 1);
    const old = table.values;
    expect(table.exchange(Int32Array.of(5, 6))).toBe(old);
    expect([...table.values]).toEqual([5, 6]);
    log.start(LOG_BYTES);
    expect(() => table.exchange(old)).toThrow(InvariantBroken);
    expect([...table.values]).toEqual([5, 6]);
  });
});
