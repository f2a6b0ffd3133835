/**
 * Goal: the age and the reads of a page follow from what its block remembers.
 * Method: exact values at the ends of a block, bounds between them, the undo log underneath.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BigTable } from '../../hal/sim/big-table.ts';
import { UndoLog } from '../../hal/sim/undo-log.ts';
import { BlockFlag, BlockHistory, HISTORY_CELLS } from '../../nand/block-history.ts';
import { PageHistory } from '../../nand/physics/page-history.ts';

const BLOCKS = 4;
const PAGES = 16;

function newHistory(): { history: BlockHistory; log: UndoLog } {
  const log = new UndoLog();
  const table = new BigTable('flash-blocks', BLOCKS * HISTORY_CELLS, log);
  return { history: new BlockHistory(table), log };
}

/** Age in minutes and reads of a page. */
function seen(history: BlockHistory, page: number, nowMinute: number): [number, number] {
  const into = new PageHistory();
  history.fill(into, 1, page, nowMinute);
  return [into.ageMinutes, into.readCount];
}

describe('the age of a page', () => {
  it('is that of its own program where one minute held the whole block', () => {
    const { history } = newHistory();
    for (let page = 0; page < 5; page++) history.programmed(1, page, 70);
    expect([0, 2, 4].map((page) => seen(history, page, 1000)[0])).toEqual([930, 930, 930]);
    expect([history.firstMinuteOf(1), history.lastMinuteOf(1)]).toEqual([70, 70]);
    expect([history.firstMinuteOf(0), history.lastMinuteOf(0)]).toEqual([-1, -1]);
  });

  it('is exact for the first and the last page, and in proportion between', () => {
    const { history } = newHistory();
    for (let page = 0; page < 11; page++) history.programmed(1, page, page < 10 ? 0 : 100);
    expect([0, 3, 5, 10].map((page) => seen(history, page, 100)[0])).toEqual([100, 70, 50, 0]);
  });

  it('of a page that was programmed in minute 0 counts from there', () => {
    const { history } = newHistory();
    history.programmed(1, 0, 0);
    expect(seen(history, 0, 0)).toEqual([0, 0]);
    expect(seen(history, 0, 9)).toEqual([9, 0]);
  });

  it('is never below zero, when a clock was set back', () => {
    const { history } = newHistory();
    history.programmed(1, 0, 500);
    expect(seen(history, 0, 20)).toEqual([0, 0]);
  });
});

describe('the reads of a page', () => {
  it('of a full block are all reads since', () => {
    const { history } = newHistory();
    for (let page = 0; page < PAGES; page++) history.programmed(1, page, 0);
    for (let i = 0; i < 7; i++) history.read(1);
    expect([0, 7, 15].map((page) => seen(history, page, 0)[1])).toEqual([7, 7, 7]);
    expect([history.readsOf(1), history.readsOf(2)]).toEqual([7, 0]);
  });

  it('before the last program count less for later pages, and not for the last', () => {
    const { history } = newHistory();
    for (let page = 0; page < 10; page++) history.programmed(1, page, 0);
    for (let i = 0; i < 90; i++) history.read(1);
    history.programmed(1, 10, 0);
    for (let i = 0; i < 5; i++) history.read(1);
    expect([0, 5, 10].map((page) => seen(history, page, 0)[1])).toEqual([95, 50, 5]);
  });

  it('of an open block in great number make pages that come later suffer more', () => {
    const { history } = newHistory();
    const into = new PageHistory();
    history.programmed(1, 0, 0);
    for (let i = 0; i < 2001; i++) history.read(1);
    history.programmed(1, 1, 0);
    const factors = [0, 1].map((page) => {
      history.fill(into, 1, page, 0);
      return into.disturbFactor;
    });
    // Between 3 and 10 by PageHistory's definition; the page that was there first reads plainly.
    expect(factors).toEqual([1, 4]);
  });
});

it('pages lie between the first and the last, whatever the block went through', () => {
  const step = fc.record({ reads: fc.nat({ max: 5 }), minutes: fc.nat({ max: 1000 }) });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: PAGES }), (steps) => {
      const { history } = newHistory();
      const truth: { minute: number; before: number }[] = [];
      let minute = 0;
      let reads = 0;
      steps.forEach((one, page) => {
        minute += one.minutes;
        for (let i = 0; i < one.reads; i++) history.read(1);
        reads += one.reads;
        history.programmed(1, page, minute);
        truth.push({ minute, before: reads });
      });
      const all = steps.map((_, page) => seen(history, page, minute));
      const ages = all.map(([age]) => age);
      const counts = all.map(([, count]) => count);
      // The first and last age are exact, the reads of the last page too; no page is younger than
      // the next one or has been read less often.
      expect([ages[0], ages.at(-1)]).toEqual([minute - truth[0]!.minute, 0]);
      if (steps.length > 1) expect(counts.at(-1)).toBe(0);
      // Reads before page 0 cannot be told from those behind it: they count.
      expect(counts[0]).toBe(reads);
      expect(ages).toEqual([...ages].sort((a, b) => b - a));
      expect(counts).toEqual([...counts].sort((a, b) => b - a));
    }),
  );
});

describe('a block', () => {
  it('forgets all but its erase count when it is erased, and counts the erase', () => {
    const { history } = newHistory();
    history.load(1, 3, 41);
    history.read(1);
    history.programmed(1, 3, 8);
    history.set(1, BlockFlag.Weak);
    history.set(1, BlockFlag.Damaged);
    expect(history.flagsOf(1)).toBe(BlockFlag.Weak | BlockFlag.Damaged);
    history.erased(1);
    expect([history.nextPageOf(1), history.eraseCountOf(1), history.readsOf(1)]).toEqual([
      0, 42, 0,
    ]);
    expect([history.flagsOf(1), history.firstMinuteOf(1)]).toEqual([0, -1]);
  });

  it('loses the mark of the factory when it is programmed or erased', () => {
    const { history } = newHistory();
    for (const block of [1, 2]) history.set(block, BlockFlag.FactoryMark);
    history.programmed(1, 0, 0);
    history.erased(2);
    expect([history.flagsOf(1), history.flagsOf(2)]).toEqual([0, 0]);
  });

  it('tells the error model what it is: cycles, weakness, nothing left of the last page', () => {
    const { history } = newHistory();
    history.load(1, 0, 77);
    history.programmed(1, 0, 0);
    history.set(1, BlockFlag.Weak);
    const into = new PageHistory();
    into.extraRber = 0.5;
    into.retentionScale = 0.3;
    history.fill(into, 1, 0, 10);
    expect({ ...into }).toEqual({
      ...{ blockIndex: 1, page: 0, eraseCount: 77, ageMinutes: 10, readCount: 0 },
      ...{ weak: true, disturbFactor: 1, retentionScale: 1, extraRber: 0 },
    });
  });
});

it('goes back with the undo log, cell by cell', () => {
  const { history, log } = newHistory();
  history.load(1, 0, 5);
  history.read(1);
  log.start(2 ** 20);
  const before = history.table.values.slice();
  const position = log.position;
  for (let i = 0; i < 3; i++) history.read(1);
  history.programmed(1, 0, 9);
  history.set(1, BlockFlag.Damaged);
  const between = history.table.values.slice();
  const later = log.position;
  history.erased(1);
  history.read(1);
  log.unwindTo(later);
  expect([...history.table.values]).toEqual([...between]);
  log.unwindTo(position);
  expect([...history.table.values]).toEqual([...before]);
  log.stop();
});
