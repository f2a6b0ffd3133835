/**
 * Goal: a read that skips the error model would have met no wrong bit there either.
 * Method: random blocks of random wear, age and reads; whatever SafeReads calls clean is asked of
 * the error model in full, and on a fresh drive nearly every read must be called clean.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Geometry } from '../../hal/geometry.ts';
import { PagePairing } from '../../hal/pairing.ts';
import { BigTable } from '../../hal/sim/big-table.ts';
import { UndoLog } from '../../hal/sim/undo-log.ts';
import { BlockHistory, HISTORY_CELLS } from '../../nand/block-history.ts';
import { IMFT_25NM } from '../../nand/physics/error-law.ts';
import { ErrorModel } from '../../nand/physics/error-model.ts';
import { PageHistory } from '../../nand/physics/page-history.ts';
import { Variation } from '../../nand/physics/variation.ts';
import { SafeReads } from '../../nand/safe-reads.ts';

const GEOMETRY = new Geometry({
  ...{ channels: 2, diesPerChannel: 2, planes: 2, blocksPerDie: 64 },
  ...{ pagesPerBlock: 16, pageBytes: 8192, spareBytes: 448 },
});
const PAIRING = new PagePairing(GEOMETRY.pagesPerBlock);

function bench() {
  const errors = new ErrorModel('safe', IMFT_25NM, new Variation('safe', GEOMETRY.blocks, PAIRING));
  const table = new BigTable('blocks', GEOMETRY.blocks * HISTORY_CELLS, new UndoLog());
  const blocks = new BlockHistory(table);
  return { errors, blocks, safe: new SafeReads(errors, blocks, PAIRING) };
}

/** All pages programmed at `minute`, after `reads` reads of the open block. */
function program(blocks: BlockHistory, block: number, eraseCount: number, minute: number): void {
  blocks.load(block, 0, eraseCount);
  for (let page = 0; page < GEOMETRY.pagesPerBlock; page++) blocks.programmed(block, page, minute);
}

it('calls nothing clean that the error model finds wrong bits in', () => {
  const { errors, blocks, safe } = bench();
  const history = new PageHistory();
  const counts = new Int32Array(4);
  let clean = 0;
  const visit = fc.record({
    block: fc.nat(GEOMETRY.blocks - 1),
    page: fc.nat(GEOMETRY.pagesPerBlock - 1),
    first: fc.constantFrom(0, 4),
    eraseCount: fc.oneof(fc.nat(3), fc.nat(4000)),
    age: fc.oneof(fc.nat(100), fc.nat(600_000)),
    reads: fc.oneof(fc.nat(100), fc.nat(200_000)),
  });
  fc.assert(
    fc.property(fc.array(visit, { minLength: 1, maxLength: 40 }), (visits) => {
      for (const { block, page, first, eraseCount, age, reads } of visits) {
        blocks.table.clear(block * HISTORY_CELLS, HISTORY_CELLS);
        program(blocks, block, eraseCount, 1000);
        for (let i = 0; i < Math.min(reads, 50); i++) blocks.read(block);
        const minute = 1000 + age;
        if (!safe.isClean(block, page, first, minute)) continue;
        clean++;
        blocks.fill(history, block, page, minute);
        if (errors.slotErrors(history, first, counts) !== 0) return false;
      }
      return true;
    }),
    { numRuns: 300 },
  );
  expect(clean).toBeGreaterThan(0);
});

it('keeps its bounds until age or reads pass what they were taken for', () => {
  const { errors, blocks, safe } = bench();
  const history = new PageHistory();
  const counts = new Int32Array(4);
  program(blocks, 5, 2500, 0);
  let wrong = 0;
  let dirty = 0;
  for (let minute = 0; minute < 500_000; minute += 97) {
    blocks.read(5);
    const page = minute % GEOMETRY.pagesPerBlock;
    if (!safe.isClean(5, page, 0, minute)) {
      dirty++;
      continue;
    }
    blocks.fill(history, 5, page, minute);
    if (errors.slotErrors(history, 0, counts) !== 0) wrong++;
  }
  expect(wrong).toBe(0);
  expect(dirty).toBeGreaterThan(0); // a worn block in its first year has errors
});

it('calls nine of ten reads of a fresh drive clean', () => {
  const { blocks, safe } = bench();
  let clean = 0;
  let all = 0;
  for (let block = 0; block < GEOMETRY.blocks; block++) {
    program(blocks, block, 0, 0);
    for (let page = 0; page < GEOMETRY.pagesPerBlock; page++) {
      all++;
      if (safe.isClean(block, page, 0, 1)) clean++;
    }
  }
  // 0.004 wrong bits a codeword at 5e-7, times four codewords and the worst word line: 6 % miss.
  expect(clean / all).toBeGreaterThan(0.9);
});

it('takes its bounds anew when an open block was read so often that later pages suffer more', () => {
  const { errors, blocks, safe } = bench();
  const history = new PageHistory();
  const counts = new Int32Array(4);
  const pages = GEOMETRY.pagesPerBlock;
  let wrong = 0;
  for (let block = 0; block < GEOMETRY.blocks; block++) {
    blocks.load(block, 0, 2000);
    for (let page = 0; page < pages - 1; page++) blocks.programmed(block, page, 0);
    for (let i = 0; i < 4000; i++) blocks.read(block);
    safe.isClean(block, 0, 0, 1); // the bounds of the open block
    blocks.programmed(block, pages - 1, 1);
    for (let page = 0; page < pages; page++) {
      blocks.read(block);
      if (!safe.isClean(block, page, 0, 2)) continue;
      blocks.fill(history, block, page, 2);
      if (errors.slotErrors(history, 0, counts) !== 0) wrong++;
    }
    expect(blocks.disturbFactorOf(block)).toBe(4);
  }
  expect(wrong).toBe(0);
});
