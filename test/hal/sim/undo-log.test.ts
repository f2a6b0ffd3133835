/**
 * Goal: unwinding gives exactly the old state, as far back as the budget reaches, and says how far
 * that is. Method: random writes to tables with copies taken on the way, over several blocks.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BigTable } from '../../../hal/sim/big-table.ts';
import { InvariantBroken } from '../../../hal/sim/invariant.ts';
import { UndoLog } from '../../../hal/sim/undo-log.ts';

/** Entries of one block of the log, nine bytes each: the grain in which the log forgets. */
const BLOCK = 1 << 17;
const BLOCK_BYTES = BLOCK * 9;
const CELLS = 64;

function rig(tables = 2): { log: UndoLog; tables: BigTable[] } {
  const log = new UndoLog();
  return {
    log,
    tables: Array.from({ length: tables }, (_, i) => new BigTable(`table ${i}`, CELLS, log)),
  };
}

/** A run of writes that is a pure function of its number. */
function writeMany(tables: readonly BigTable[], from: number, to: number): void {
  for (let i = from; i < to; i++) {
    const mixed = Math.imul(i, 0x9e3779b1);
    tables[i % tables.length]!.write((mixed >>> 5) % CELLS, mixed);
  }
}

function cellsOf(tables: readonly BigTable[]): string {
  return tables.map((table) => table.values.join()).join(' / ');
}

describe('undo log', () => {
  it('unwinds to any position of a program of writes and clears', () => {
    const action = fc.record({
      table: fc.nat(1),
      index: fc.nat(CELLS - 1),
      value: fc.oneof(fc.constant(0), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
      clears: fc.nat(9).map((draw) => draw === 0),
    });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), fc.array(fc.nat(60)), (actions, back) => {
        const { log, tables } = rig();
        writeMany(tables, 0, 50);
        log.start(BLOCK_BYTES);
        const points = [{ position: log.position, cells: cellsOf(tables) }];
        for (const { table, index, value, clears } of actions) {
          if (clears) tables[table]!.clear(index, Math.min(10, CELLS - index));
          else tables[table]!.write(index, value);
          points.push({ position: log.position, cells: cellsOf(tables) });
        }
        for (const steps of back) {
          const point = points[Math.max(0, points.length - 1 - steps)]!;
          points.length = points.indexOf(point) + 1;
          log.unwindTo(point.position);
          expect(cellsOf(tables)).toBe(point.cells);
          expect(log.position).toBe(point.position);
        }
      }),
    );
  });

  it('unwinds over block borders, and records on from there', () => {
    const { log, tables } = rig();
    log.start(8 * BLOCK_BYTES);
    const marks = [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 3 * BLOCK - 1, 3 * BLOCK + 7];
    const cells = new Map<number, string>();
    const record = (from: number): void => {
      let at = from;
      for (const mark of marks.filter((m) => m >= from)) {
        writeMany(tables, at, mark);
        at = mark;
        cells.set(mark, cellsOf(tables));
      }
    };
    record(0);
    expect(log.position).toBe(3 * BLOCK + 7);
    for (const mark of marks.toReversed()) {
      log.unwindTo(mark);
      expect([log.position, cellsOf(tables)]).toEqual([mark, cells.get(mark)]);
      const before = new Map(cells);
      record(mark);
      expect(cells).toEqual(before);
      log.unwindTo(mark);
      expect(cellsOf(tables)).toBe(cells.get(mark));
    }
    log.unwindTo(0);
    expect(cellsOf(tables)).toBe(cells.get(0));
  });

  it('drops its oldest block when the budget is used up, and only whole blocks', () => {
    const { log, tables } = rig();
    log.start(2 * BLOCK_BYTES + 5);
    writeMany(tables, 0, 2 * BLOCK);
    expect([log.position, log.oldestPosition]).toEqual([2 * BLOCK, 0]);
    writeMany(tables, 2 * BLOCK, 2 * BLOCK + 1);
    expect([log.position, log.oldestPosition]).toEqual([2 * BLOCK + 1, BLOCK]);
    writeMany(tables, 2 * BLOCK + 1, 4 * BLOCK + 9);
    expect([log.position, log.oldestPosition]).toEqual([4 * BLOCK + 9, 3 * BLOCK]);

    const expected = rig();
    writeMany(expected.tables, 0, 3 * BLOCK);
    expect(() => log.unwindTo(3 * BLOCK - 1)).toThrow(InvariantBroken);
    log.unwindTo(3 * BLOCK);
    expect(cellsOf(tables)).toBe(cellsOf(expected.tables));
    // What was unwound makes room again: nothing more is lost until two blocks are full.
    writeMany(tables, 3 * BLOCK, 5 * BLOCK);
    expect([log.position, log.oldestPosition]).toEqual([5 * BLOCK, 3 * BLOCK]);
    log.unwindTo(3 * BLOCK);
    expect(cellsOf(tables)).toBe(cellsOf(expected.tables));
  });

  it('keeps two blocks at least, however small the budget', () => {
    const { log, tables } = rig();
    log.start(1);
    writeMany(tables, 0, 2 * BLOCK);
    log.unwindTo(0);
    expect(cellsOf(tables)).toBe(cellsOf(rig().tables));
  });

  it('is unwound backwards only', () => {
    const { log, tables } = rig();
    log.start(BLOCK_BYTES);
    tables[0]!.write(3, 5);
    expect(() => log.unwindTo(2)).toThrow(InvariantBroken);
    expect(tables[0]!.values[3]).toBe(5);
    expect([log.on, log.position]).toEqual([true, 1]);
  });

  it('costs and remembers nothing while it is off', () => {
    const { log, tables } = rig();
    writeMany(tables, 0, 100);
    expect([log.on, log.position]).toEqual([false, 0]);
    log.start(BLOCK_BYTES);
    writeMany(tables, 100, 200);
    const cells = cellsOf(tables);
    log.stop();
    writeMany(tables, 200, 300);
    expect([log.on, log.position]).toEqual([false, 0]);
    expect(cellsOf(tables)).not.toBe(cells);
  });

  it('forgets the first recording when a second one starts', () => {
    const { log, tables } = rig();
    log.start(2 * BLOCK_BYTES);
    writeMany(tables, 0, 3 * BLOCK);
    const cells = cellsOf(tables);
    log.start(2 * BLOCK_BYTES);
    expect([log.position, log.oldestPosition]).toEqual([0, 0]);
    writeMany(tables, 3 * BLOCK, 3 * BLOCK + 50);
    log.unwindTo(0);
    expect(cellsOf(tables)).toBe(cells);
  });

  it('has numbers for 256 tables', () => {
    const { log, tables } = rig(256);
    log.start(BLOCK_BYTES);
    tables[255]!.write(1, 7);
    tables[0]!.write(1, 8);
    log.unwindTo(0);
    expect([tables[0]!.values[1], tables[255]!.values[1]]).toEqual([0, 0]);
    expect(() => new BigTable('one more', 1, log)).toThrow(InvariantBroken);
  });
});
