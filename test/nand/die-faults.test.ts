/**
 * Goal: faults over the flash show as the array would show them, and are gone when they are lifted.
 * Method: one fault at a time on a programmed page; times and verdicts by hand.
 */
import { describe, expect, it } from 'vitest';
import type { Fault } from '../../hal/faults/fault.ts';
import { FlashOp, FlashStatus } from '../../hal/flash-ops.ts';
import { NandRig, type NandRigOptions } from '../kit/nand-rig.ts';
import { filled } from '../kit/nand-steps.ts';

const TIMEOUT = 25_000_000;
const PROGRAM_BUS = 87_390;
const PROGRAM_LSB = 560_000;
const ERASE_BUS = 750;
const ERASE = 3_800_000;
const READ_COMMAND = 175;
const READ_LSB = 45_000;
/** Status, change of column and 4320 bytes. */
const ONE_SLOT = 115 + 375 + 21_600;
/** The decoder at 200 MHz: 8 cycles, with errors 28 steps of 2, 8640 / 16 of search and 4 more. */
const CLEAN = 8 * 5;
const DIRTY = (8 + 56 + 540 + 4) * 5;

/** Page 0 of every die is programmed; then the fault comes. */
function rigWith(fault: Fault, options: NandRigOptions = {}): NandRig {
  const rig = new NandRig(options);
  for (const die of [0, 1, 2, 3]) rig.program(filled(die, 0));
  rig.settle();
  rig.timeline.runUntil(rig.timeline.nowNs + 1000);
  rig.faults.add(fault);
  rig.ended.length = 0;
  return rig;
}

/** Ns from the first submission to the last end. */
function took(rig: NandRig, start: () => void): number {
  const from = rig.timeline.nowNs;
  start();
  return rig.settle().timeline.nowNs - from;
}

function readAll(rig: NandRig, die: number): number {
  const op = rig.read({ die, slotMask: 0b1111 });
  rig.settle();
  return op;
}

const SILENT: [string, Fault][] = [
  ['a dead die', { kind: 'dead-die', where: { die: 0 } }],
  ['a dead channel', { kind: 'dead-channel', where: { channel: 0 } }],
  ['a die stuck busy', { kind: 'stuck-busy', where: { die: 0 }, times: 'unlimited' }],
  ['a die without status', { kind: 'status-timeout', where: { die: 0 }, times: 'unlimited' }],
];

describe.each(SILENT)('%s', (_, fault) => {
  it('is given up after 25 ms, whatever it was to do', () => {
    const rig = rigWith(fault);
    const ops: number[] = [];
    const ns = took(rig, () => {
      ops.push(rig.read({ die: 0, slotMask: 0b0110 }));
      ops.push(rig.program(filled(0, 1)));
      ops.push(rig.erase({ die: 0 }));
    });
    expect(ns).toBe(3 * TIMEOUT);
    expect(ops.map((op) => rig.ops.status[op])).toEqual([
      FlashStatus.Uncorrectable,
      FlashStatus.Failed,
      FlashStatus.Failed,
    ]);
    expect(rig.array.counters.timeouts).toBe(3);
    const [read] = ops;
    expect([1, 2].map((j) => rig.slot(read!, j))).toEqual([
      [0, 0, 0],
      [0, 0, 0],
    ]);
    expect([1, 2].map((j) => rig.ops.badSectors[read! * 8 + j])).toEqual([0xff, 0xff]);
    expect(rig.ops.correctedBits[read!]).toBe(29);
  });

  it('has lost nothing when the fault is lifted', () => {
    const rig = rigWith(fault);
    const op = rig.program({ ...filled(0, 1), content: [rig.contents.merge(1, 2, 3)] });
    rig.erase({ die: 0 });
    rig.settle();
    // The program never happened: its descriptor still owns the page.
    expect(rig.contents.mixtureCount).toBe(1);
    rig.contents.release(rig.slot(op, 0)[0]);
    rig.faults.liftAll();
    const read = readAll(rig, 0);
    expect(rig.ops.status[read]).toBe(FlashStatus.Ok);
    expect([0, 1, 2, 3].map((j) => rig.slot(read, j)[0])).toEqual([1, 2, 3, 4]);
    expect(rig.store.history.nextPageOf(0)).toBe(1);
  });

  it('does not take the bus, and other channels work on', () => {
    const rig = rigWith(fault);
    const before = rig.array.channels.busyNs[0]!;
    rig.read({ die: 0 });
    const other = rig.read({ die: 1 });
    rig.settle();
    expect(rig.ops.status[other]).toBe(FlashStatus.Ok);
    expect(rig.array.channels.busyNs[0]).toBe(before);
  });

  it('leaves no trace when power goes meanwhile', () => {
    const rig = rigWith(fault);
    rig.erase({ die: 0 });
    rig.cutAt(rig.timeline.nowNs + ERASE);
    expect(rig.store.history.eraseCountOf(0)).toBe(0);
    rig.faults.liftAll();
    expect(rig.ops.status[readAll(rig, 0)]).toBe(FlashStatus.Ok);
  });
});

it('a dead channel is all of its dies, a dead die is not', () => {
  const failing = ([, fault]: [string, Fault]) => {
    const rig = rigWith(fault);
    return [0, 1, 2, 3].filter((die) => rig.ops.status[readAll(rig, die)] !== FlashStatus.Ok);
  };
  expect([failing(SILENT[0]!), failing(SILENT[1]!)]).toEqual([[0], [0, 2]]);
});

it('a die that was stuck once answers again', () => {
  const rig = rigWith({ kind: 'stuck-busy', op: 'read', where: { die: 0 } });
  const statuses = [readAll(rig, 0), readAll(rig, 0)].map((op) => rig.ops.status[op]);
  expect(statuses).toEqual([FlashStatus.Uncorrectable, FlashStatus.Ok]);
});

describe('a slow die', () => {
  const fault: Fault = { kind: 'slow-die', factor: 2.5, where: { die: 0 } };

  it('takes longer in its array, not on the bus', () => {
    const times = (['read', 'program', 'erase'] as const).map((kind) => {
      const rig = rigWith(fault);
      return took(rig, () => rig[kind]({ die: 0, page: kind === 'program' ? 1 : 0 }));
    });
    expect(times).toEqual([
      READ_COMMAND + 2.5 * READ_LSB + ONE_SLOT + CLEAN,
      PROGRAM_BUS + 2.5 * PROGRAM_LSB,
      ERASE_BUS + 2.5 * ERASE,
    ]);
  });

  it('is cut at the fraction of its own time', () => {
    const rig = rigWith(fault);
    const start = rig.timeline.nowNs;
    rig.program(filled(0, 1));
    rig.cutAt(start + PROGRAM_BUS + 0.75 * 2.5 * PROGRAM_LSB);
    // An LSB page is wrong by half of what was left.
    expect(rig.store.damage.list().map(({ rber }) => rber)).toEqual([0.125, 0.125]);
  });
});

describe('a data line that is stuck', () => {
  it('makes every read uncorrectable, of erased pages too, and no program fail', () => {
    const rig = rigWith({ kind: 'missing-dq-bit', bit: 3, level: 1, where: { die: 0 } });
    const program = rig.program(filled(0, 1));
    const ops = [0, 1, 9].map((page) => rig.read({ die: 0, page, slotMask: 0b1111 }));
    rig.settle();
    expect(rig.ops.status[program]).toBe(FlashStatus.Ok);
    expect(ops.map((op) => rig.ops.status[op])).toEqual(Array(3).fill(FlashStatus.Uncorrectable));
    expect(ops.flatMap((op) => [0, 3].map((j) => rig.ops.badSectors[op * 8 + j]))).toEqual(
      Array(6).fill(0xff),
    );
    rig.faults.liftAll();
    expect(rig.ops.status[readAll(rig, 0)]).toBe(FlashStatus.Ok);
  });
});

describe.each([false, true])('wrong bits, decoded exactly: %s', (exact) => {
  it('up to 28 a codeword are corrected, and counted slot by slot', () => {
    const rig = rigWith({ kind: 'bit-errors', count: 28, where: { die: 0 } }, { exact });
    const op = readAll(rig, 0);
    expect([rig.ops.status[op], rig.ops.correctedBits[op]]).toEqual([FlashStatus.Ok, 28]);
    expect([0, 1, 2, 3].map((j) => rig.slot(op, j)[1])).toEqual([10_001, 10_002, 10_003, 10_004]);
    const { corrected, uncorrectable } = rig.array.counters;
    expect([corrected, uncorrectable]).toEqual([4, 0]);
  });

  it('from 29 on are lost, in the slots that they hit', () => {
    const where = { die: 0, plane: 1, slot: 0 };
    const rig = rigWith({ kind: 'bit-errors', count: 29, where }, { exact });
    const op = readAll(rig, 0);
    expect([rig.ops.status[op], rig.ops.correctedBits[op]]).toEqual([
      FlashStatus.Uncorrectable,
      29,
    ]);
    expect([0, 1, 2, 3].map((j) => rig.ops.badSectors[op * 8 + j])).toEqual([0, 0, 0xff, 0]);
    expect(rig.slot(op, 2)).toEqual([3, 0, 0]);
    expect(rig.slot(op, 3)).toEqual([4, 10_004, 20_004]);
    expect(rig.array.counters.uncorrectable).toBe(1);
  });

  it('of two faults add up', () => {
    const rig = rigWith({ kind: 'bit-errors', count: 14 }, { exact });
    rig.faults.add({ kind: 'bit-errors', count: 14 });
    expect(rig.ops.correctedBits[readAll(rig, 0)]).toBe(28);
    rig.faults.add({ kind: 'bit-errors', count: 1 });
    expect(rig.ops.status[readAll(rig, 0)]).toBe(FlashStatus.Uncorrectable);
  });

  it('keep the decoder busy: 3 us where a clean codeword takes 40 ns', () => {
    const times = [1, 28, 29].map((count) => {
      const rig = rigWith({ kind: 'bit-errors', count }, { exact });
      return took(rig, () => rig.read({ die: 0 })) - (READ_COMMAND + READ_LSB + ONE_SLOT);
    });
    expect(times).toEqual([DIRTY, DIRTY, DIRTY]);
  });
});

it('slots that are lost outright read as one bit too many', () => {
  const rig = rigWith({ kind: 'uncorrectable', where: { die: 0, plane: 0 } });
  const op = readAll(rig, 0);
  expect([0, 1, 2, 3].map((j) => rig.ops.badSectors[op * 8 + j])).toEqual([0xff, 0xff, 0, 0]);
});

it.each([0, 0.25, 1])('power is to be cut at %d of the time of the array', (fraction) => {
  const rig = rigWith({ kind: 'power-cut', op: 'program', fraction });
  const start = rig.timeline.nowNs;
  rig.program(filled(0, 1));
  rig.settle();
  expect(rig.cutsNs).toEqual([start + PROGRAM_BUS + fraction * PROGRAM_LSB]);
});

it('what a fault does holds until the operation has ended, though it is lifted before', () => {
  const rig = rigWith({ kind: 'program-fail' });
  const op = rig.program(filled(0, 1));
  rig.faults.liftAll();
  const next = rig.program(filled(0, 2));
  rig.settle();
  expect([op, next].map((one) => rig.ops.status[one])).toEqual([
    FlashStatus.Failed,
    FlashStatus.Ok,
  ]);
});

it('no fault is asked for while none is armed', () => {
  const rig = new NandRig();
  let asked = 0;
  const onFlash = rig.faults.onFlash.bind(rig.faults);
  rig.faults.onFlash = (...question) => {
    asked++;
    return onFlash(...question);
  };
  const id = rig.faults.add({ kind: 'uncorrectable', where: { die: 3 } });
  for (const die of [0, 1]) rig.read({ die });
  rig.settle();
  rig.faults.lift(id);
  rig.read({ die: 0 });
  rig.settle();
  expect([asked, rig.array.counters.done[FlashOp.Read]]).toEqual([2, 3]);
});
