/**
 * Goal: reads see what was programmed, and the dies keep to their table.
 * Method: single cases, and random operations against a plain map and the state table.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Fault } from '../../hal/faults/fault.ts';
import { FlashStatus } from '../../hal/flash-ops.ts';
import { InvariantBroken } from '../../hal/sim/invariant.ts';
import { DIE_TABLE, DiePhase } from '../../nand/die-table.ts';
import { NandRig } from '../kit/nand-rig.ts';
import { anySteps, filled, runSteps, wrongReads } from '../kit/nand-steps.ts';

/** A rig in which these pages of block pair 0 of die 0 are programmed. */
function programmedRig(...pages: number[]): NandRig {
  const rig = new NandRig();
  for (const page of pages) rig.program(filled(0, page));
  rig.settle();
  rig.ended.length = 0;
  rig.phases.length = 0;
  return rig;
}

describe('what is read', () => {
  it('is what was programmed: handle, page word and order, for the slots asked for', () => {
    const rig = programmedRig(0);
    const op = rig.read({ die: 0, slotMask: 0b1010 });
    rig.settle();
    expect([0, 1, 2, 3].map((j) => rig.slot(op, j))).toEqual([
      [0, 0, 0],
      [2, 10_002, 20_002],
      [0, 0, 0],
      [4, 10_004, 20_004],
    ]);
    expect(rig.ops.status[op]).toBe(FlashStatus.Ok);
  });

  it('is zeros from erased pages, in every column', () => {
    const rig = programmedRig(0);
    rig.erase({ die: 0 });
    const op = rig.read({ die: 0, slotMask: 0b1111 });
    rig.ops.content.fill(9, op * 8, op * 8 + 4);
    rig.ops.pageWord.fill(9, op * 8, op * 8 + 4);
    rig.ops.order.fill(9, op * 8, op * 8 + 4);
    rig.ops.badSectors.fill(9, op * 8, op * 8 + 4);
    rig.settle();
    expect([0, 1, 2, 3].map((j) => rig.slot(op, j))).toEqual(Array(4).fill([0, 0, 0]));
    expect([...rig.ops.badSectors.subarray(op * 8, op * 8 + 4)]).toEqual([0, 0, 0, 0]);
  });

  it('covers both planes: slots 2 and 3 lie in the next block', () => {
    const rig = programmedRig(0);
    const { geometry, store } = rig;
    const slots = [0, 1].flatMap((plane) => [0, 1].map((i) => geometry.slotOf(0, plane, 0, i)));
    expect(slots.map((slot) => store.contentOf(slot))).toEqual([1, 2, 3, 4]);
    expect([0, 1, 2].map((block) => store.history.nextPageOf(block))).toEqual([1, 1, 0]);
    rig.erase({ die: 0 });
    rig.settle();
    expect([0, 1, 2].map((block) => store.history.eraseCountOf(block))).toEqual([1, 1, 0]);
  });

  it('counts as one more reference to a mixture, which outlives the erase of its page', () => {
    const rig = new NandRig();
    const mixture = rig.contents.merge(5, 6, 0x0f);
    rig.program({ die: 0, content: [0, mixture] });
    const op = rig.read({ die: 0, slotMask: 0b0010 });
    rig.erase({ die: 0 });
    rig.settle();
    expect(rig.slot(op, 1)[0]).toBe(mixture);
    expect([0, 7].map((sector) => rig.contents.sectorTag(mixture, sector))).toEqual([6, 5]);
    rig.contents.release(mixture);
    expect(rig.contents.mixtureCount).toBe(0);
  });

  it('breaks a rule when pages are programmed out of order', () => {
    const rig = programmedRig(3);
    rig.program(filled(0, 2));
    expect(() => rig.settle()).toThrow(InvariantBroken);
  });

  it('is counted as a read of the blocks whose planes were sensed', () => {
    const rig = programmedRig(0);
    rig.read({ die: 0, slotMask: 0b0011 });
    rig.read({ die: 0, slotMask: 0b0110 });
    rig.settle();
    expect([0, 1, 2].map((block) => rig.store.history.readsOf(block))).toEqual([2, 1, 0]);
  });
});

/** Pairs 'from to' of the table. */
const TABLE_MOVES = new Set(DIE_TABLE.transitions.map(({ from, to }) => `${from} ${to}`));

/** The moves a run has made: what broke the table, and where each die stands. */
function checkMoves(rig: NandRig, moves: Set<string>): { broken: string[]; phase: Uint8Array } {
  const phase = new Uint8Array(rig.geometry.dies).fill(DIE_TABLE.initial);
  const broken: string[] = [];
  for (const [die, from, to] of rig.phases) {
    if (!TABLE_MOVES.has(`${from} ${to}`) || phase[die] !== from) {
      broken.push(`die ${die}: ${DiePhase[from]} to ${DiePhase[to]}`);
    }
    phase[die] = to;
    moves.add(`${from} ${to}`);
  }
  return { broken, phase };
}

describe('any sequence of operations', () => {
  it('keeps every die to the die table and takes all its rows; reads see the media', () => {
    const moves = new Set<string>();
    // Reads are hung only: a program that never ends would change what later reads must see.
    const hung = fc.integer({ min: 0, max: 9 });
    fc.assert(
      fc.property(anySteps, hung, (steps, nth) => {
        const rig = new NandRig();
        if (nth > 0) rig.faults.add({ kind: 'stuck-busy', op: 'read', when: { nth } });
        runSteps(rig, steps);
        const { broken, phase } = checkMoves(rig, moves);
        expect(broken).toEqual([]);
        expect([...phase]).toEqual(Array(4).fill(DiePhase.Idle));
        expect([...rig.array.work.phase]).toEqual([...phase]);
        expect(rig.taken).toHaveLength(steps.length);
        const timeouts = rig.faults.list().reduce((sum, one) => sum + one.firedCount, 0);
        expect(rig.array.counters.timeouts).toBe(timeouts);
        if (timeouts === 0) expect(wrongReads(rig)).toEqual([]);
        // A bus carries one thing at a time, a die does one thing at a time.
        const { nowNs } = rig.timeline;
        expect(Math.max(...rig.array.channels.busyNs)).toBeLessThanOrEqual(nowNs);
        expect(Math.max(...rig.array.work.busyNs)).toBeLessThanOrEqual(nowNs);
      }),
    );
    for (const op of ['program', 'erase'] as const) {
      const rig = new NandRig();
      const fault: Fault = { kind: 'stuck-busy', op };
      rig.faults.add(fault);
      rig[op]({ die: 0 });
      rig.settle();
      expect(checkMoves(rig, moves).broken).toEqual([]);
    }
    expect([...moves].sort()).toEqual([...TABLE_MOVES].sort());
  });
});
