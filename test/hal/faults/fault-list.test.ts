/**
 * Goal: the list answers as documented, repeats itself, and leaves no trace once lifted.
 * Method: random faults and operations against a list that asks every fault in full; save and
 * restore in the middle; single cases by hand.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BadFault, type Fault, FIS_TYPES } from '../../../hal/faults/fault.ts';
import { FaultList, FrameVerdict } from '../../../hal/faults/fault-list.ts';
import { FlashEffect, FlashVerdict } from '../../../hal/faults/flash-verdict.ts';
import { FlashOp } from '../../../hal/flash-ops.ts';
import { SnapshotMismatch } from '../../../hal/sim/snapshot.ts';
import {
  anyFault,
  anyFlashFault,
  anyOperation,
  NaiveFault,
  type Operation,
  regionOfBlock,
  SMALL,
} from './fault-kit.ts';

function newList(faults: readonly Fault[] = [], seed = 'seed'): FaultList {
  const list = new FaultList(SMALL, seed);
  list.regionOf = regionOfBlock;
  for (const fault of faults) list.add(fault);
  return list;
}

function ask(list: FaultList, operation: Operation, ordinal: number): FlashVerdict {
  const { op, die, block, page, slotMask } = operation;
  return list.onFlash(op, die, block, page, slotMask, ordinal);
}

const READ: Operation = { op: FlashOp.Read, die: 1, block: 4, page: 2, slotMask: 0b1111 };
const PROGRAM: Operation = { ...READ, op: FlashOp.Program };
const ERASE: Operation = { ...READ, op: FlashOp.Erase };
const FRAMES = Object.values(FIS_TYPES);

/** The verdict of the naive list as plain fields. */
function naiveVerdict(faults: readonly NaiveFault[], operation: Operation, ordinal: number) {
  const verdict = new FlashVerdict(SMALL.planes);
  for (const naive of faults) {
    const slots = naive.onFlash(operation, ordinal);
    const planes = Number((slots & 0b0011) !== 0) | (Number((slots & 0b1100) !== 0) << 1);
    if (slots !== 0) verdict.lay(naive.fault, slots, planes);
  }
  return verdict.save();
}

describe('matching', () => {
  it('equals asking every fault in full, for flash and frames', () => {
    fc.assert(
      fc.property(
        fc.array(anyFault, { maxLength: 8 }),
        fc.array(anyOperation, { maxLength: 60 }),
        (faults, operations) => {
          const list = newList(faults);
          const naive = faults.map((fault, index) => new NaiveFault(index + 1, fault, 'seed'));
          const found: unknown[] = [];
          const expected: unknown[] = [];
          operations.forEach((operation, ordinal) => {
            found.push(ask(list, operation, ordinal).save());
            expected.push(naiveVerdict(naive, operation, ordinal));
            const fisType = FRAMES[(operation.page + operation.slotMask) % FRAMES.length]!;
            found.push(list.onFrame(fisType, ordinal));
            const fired = naive.filter((fault) => fault.onFrame(fisType, ordinal));
            const isLost = fired.some(({ fault }) => fault.kind === 'lost-fis');
            const hit = isLost ? FrameVerdict.Lost : FrameVerdict.Corrupt;
            expected.push(fired.length === 0 ? FrameVerdict.Ok : hit);
          });
          expect(found).toEqual(expected);
          const counts = list
            .list()
            .map(({ matchedCount, firedCount }) => [matchedCount, firedCount]);
          expect(counts).toEqual(naive.map(({ matched, fired }) => [matched, fired]));
        },
      ),
      { numRuns: 400 },
    );
  });

  it('carries memory flips out when they are due, each fault once an event', () => {
    fc.assert(
      fc.property(fc.array(anyFault, { maxLength: 10 }), (faults) => {
        const list = newList(faults);
        const naive = faults
          .map((fault, index) => new NaiveFault(index + 1, fault, 'seed'))
          .filter(({ fault }) => fault.kind.endsWith('-flip'));
        const found: unknown[] = [];
        const expected: unknown[] = [];
        for (let ordinal = 0; ordinal < 60; ordinal++) {
          found.push(list.dueMemory(ordinal));
          expected.push(naive.filter((fault) => fault.fires(ordinal)).map(({ fault }) => fault));
        }
        expect(found).toEqual(expected);
      }),
    );
  });

  it('asks the condition with plain numbers, and counts only what it lets through', () => {
    const list = newList([
      { kind: 'uncorrectable', when: { nth: 2 }, if: ({ op, page }) => op === 0 && page % 2 === 1 },
    ]);
    const fired = [1, 2, 3, 5].map((page) => ask(list, { ...READ, page: page & 3 }, page).effects);
    expect(fired).toEqual([0, 0, FlashEffect.Uncorrectable, 0]);
    expect(list.list()[0]).toMatchObject({ matchedCount: 2, firedCount: 1, firstFiredOrdinal: 3 });
  });

  it('tells the region callback die, block and page', () => {
    const asked: number[][] = [];
    const list = newList([{ kind: 'uncorrectable', where: { region: 'footer' } }]);
    list.regionOf = (...place) => {
      asked.push(place);
      return 'footer';
    };
    ask(list, READ, 0);
    expect(asked).toEqual([[1, 4, 2]]);
  });
});

describe('verdicts', () => {
  const cases: [Fault, Operation, Partial<FlashVerdict>][] = [
    [
      { kind: 'bit-errors', count: 7, where: { plane: 1, slot: 0 } },
      READ,
      { effects: FlashEffect.BitErrors, bitErrors: 7 },
    ],
    [{ kind: 'uncorrectable', where: { block: 5 } }, READ, { uncorrectableSlots: 0b1100 }],
    [{ kind: 'program-fail', where: { block: 4 } }, PROGRAM, { failedPlanes: 0b01 }],
    [
      { kind: 'program-fail', where: { plane: 1 } },
      { ...PROGRAM, slotMask: 0 },
      { failedPlanes: 0b10 },
    ],
    [{ kind: 'erase-fail' }, { ...ERASE, slotMask: 0 }, { failedPlanes: 0b11 }],
    [{ kind: 'silent-no-op', where: { plane: 1 } }, ERASE, { silentPlanes: 0b10 }],
    [{ kind: 'stuck-busy' }, READ, { effects: FlashEffect.StuckBusy }],
    [{ kind: 'status-timeout', op: 'program' }, PROGRAM, { effects: FlashEffect.StatusTimeout }],
    [{ kind: 'slow-die', factor: 2.5 }, ERASE, { slowFactor: 2.5 }],
    [{ kind: 'dead-die', where: { die: 1 } }, READ, { effects: FlashEffect.DeadDie }],
    [{ kind: 'dead-channel', where: { channel: 1 } }, READ, { effects: FlashEffect.DeadChannel }],
    [{ kind: 'missing-dq-bit', bit: 6, level: 1 }, READ, { dqHighMask: 64, dqLowMask: 0 }],
    [{ kind: 'missing-dq-bit', bit: 7, level: 0 }, READ, { dqHighMask: 0, dqLowMask: 128 }],
    [{ kind: 'power-cut', fraction: 0.25 }, ERASE, { cutFraction: 0.25 }],
  ];
  it.each(cases)('%j', (fault, operation, expected) => {
    expect(ask(newList([fault]), operation, 0)).toMatchObject(expected);
  });

  it('adds bit errors up, takes the largest factor and the smallest fraction', () => {
    const list = newList([
      { kind: 'bit-errors', count: 3 },
      { kind: 'bit-errors', count: 4, where: { slot: 1 } },
      { kind: 'slow-die', factor: 3 },
      { kind: 'slow-die', factor: 2 },
      { kind: 'power-cut', fraction: 0.5 },
      { kind: 'power-cut', fraction: 0.75 },
    ]);
    const verdict = ask(list, { ...READ, slotMask: 0b0111 }, 0);
    expect([...verdict.bitErrorsOfSlot]).toEqual([3, 7, 3, 0, 0, 0, 0, 0]);
    expect(verdict).toMatchObject({ bitErrors: 7, slowFactor: 3, cutFraction: 0.5 });
  });

  it('sends blocks to others of the same plane, the oldest fault first', () => {
    const list = newList([
      { kind: 'wrong-block', where: { block: 5 }, toBlock: 1 },
      { kind: 'wrong-block', where: { block: [4, 5] }, toBlock: 6 },
    ]);
    expect([...ask(list, READ, 0).otherBlock]).toEqual([6, 1, -1, -1, -1, -1, -1, -1]);
    expect(ask(list, ERASE, 1).effects).toBe(0);
  });
});

describe('how often', () => {
  const countOf = (fault: Fault, operation: Operation): number => {
    const list = newList([fault]);
    let count = 0;
    for (let i = 0; i < 10; i++) count += Number(ask(list, operation, i).effects !== 0);
    return count;
  };

  it.each<[Fault, Operation, number]>([
    [{ kind: 'uncorrectable' }, READ, 10],
    [{ kind: 'uncorrectable', times: 3 }, READ, 3],
    [{ kind: 'uncorrectable', when: { nth: 4 } }, READ, 1],
    [{ kind: 'uncorrectable', when: { nth: 4 }, times: 'unlimited' }, READ, 7],
    [{ kind: 'uncorrectable', when: { from: 2, to: 5 } }, READ, 4],
    [{ kind: 'uncorrectable', when: { from: 2, nth: 2 } }, READ, 1],
    [{ kind: 'power-cut', fraction: 0 }, PROGRAM, 1],
    [{ kind: 'silent-no-op', times: 'unlimited' }, PROGRAM, 10],
    [{ kind: 'program-fail', probability: 0 }, PROGRAM, 0],
  ])('%j', (fault, operation, count) => {
    expect(countOf(fault, operation)).toBe(count);
  });

  it('fires about as often as its probability says, and repeats', () => {
    const firesOf = (seed: string): number[] => {
      const list = newList([{ kind: 'uncorrectable', probability: 0.1 }], seed);
      return Array.from({ length: 20_000 }, (_, i) => Number(ask(list, READ, i).effects !== 0));
    };
    const fires = firesOf('a');
    const count = fires.reduce((sum, fired) => sum + fired, 0);
    // Binomial: mean 2000, standard deviation 42; five of them either way.
    expect(Math.abs(count - 2000)).toBeLessThan(212);
    expect(firesOf('a')).toEqual(fires);
    expect(firesOf('b')).not.toEqual(fires);
  });

  it('draws for each fault on its own', () => {
    const fault: Fault = { kind: 'bit-errors', count: 1, probability: 0.5 };
    const list = newList([fault, fault]);
    const both = [0, 0, 0];
    for (let i = 0; i < 4000; i++) {
      const { bitErrors } = ask(list, READ, i);
      both[bitErrors] = both[bitErrors]! + 1;
    }
    // Independent halves: 1000, 2000, 1000 with a standard deviation of at most 32.
    expect(Math.abs(both[0]! - 1000)).toBeLessThan(160);
    expect(Math.abs(both[2]! - 1000)).toBeLessThan(160);
  });
});

describe('armed', () => {
  it('is told by family, and ends with the last chance to fire', () => {
    const list = newList();
    const flags = () => [list.armedCount, list.flashArmed, list.linkArmed, list.memoryArmed];
    expect(flags()).toEqual([0, false, false, false]);
    list.add({ kind: 'power-cut', fraction: 0.5 });
    const link = list.add({ kind: 'lost-fis' });
    list.add({ kind: 'dram-flip', region: 'l2p', cell: 1, bit: 0, when: { from: 7 } });
    expect(flags()).toEqual([3, true, true, true]);
    expect(list.nextMemoryOrdinal).toBe(7);
    ask(list, READ, 1);
    expect(flags()).toEqual([2, false, true, true]);
    expect(list.dueMemory(6)).toEqual([]);
    expect(list.dueMemory(9)).toHaveLength(1);
    expect(flags()).toEqual([1, false, true, false]);
    expect(list.nextMemoryOrdinal).toBe(Number.POSITIVE_INFINITY);
    list.lift(link);
    expect(flags()).toEqual([0, false, false, false]);
  });

  it('knows which faults never fired, lifted or not', () => {
    const list = newList([
      { kind: 'uncorrectable' },
      { kind: 'erase-fail' },
      { kind: 'lost-fis', note: 'lifted before its time' },
    ]);
    ask(list, READ, 0);
    expect(list.lift(3)).toBe(true);
    expect(list.lift(4)).toBe(false);
    expect(list.unfired().map(({ id }) => id)).toEqual([2, 3]);
  });
});

describe('lifting', () => {
  it('leaves an operation as it is without faults', () => {
    fc.assert(
      fc.property(
        fc.array(anyFlashFault, { minLength: 1, maxLength: 6 }),
        fc.array(anyOperation, { minLength: 1, maxLength: 20 }),
        (faults, operations) => {
          const list = newList(faults);
          operations.forEach((operation, i) => {
            ask(list, operation, i);
          });
          list.liftAll();
          expect(list.armedCount).toBe(0);
          const bare = new FlashVerdict(SMALL.planes).save();
          operations.forEach((operation, i) => {
            expect(ask(list, operation, i).save()).toEqual(bare);
          });
        },
      ),
    );
  });

  it('leaves the other faults what they are', () => {
    fc.assert(
      fc.property(
        fc.array(anyFlashFault, { minLength: 2, maxLength: 6 }),
        fc.array(anyOperation, { maxLength: 30 }),
        (faults, operations) => {
          const list = newList(faults);
          list.lift(1);
          const naive = faults.map((fault, i) => new NaiveFault(i + 1, fault, 'seed')).slice(1);
          operations.forEach((operation, i) => {
            expect(ask(list, operation, i).save()).toEqual(naiveVerdict(naive, operation, i));
          });
        },
      ),
    );
  });
});

describe('save and restore', () => {
  it('in the middle of a run goes on in the same way, here and elsewhere', () => {
    fc.assert(
      fc.property(
        fc.array(anyFault, { maxLength: 6 }),
        fc.array(anyOperation, { minLength: 2, maxLength: 40 }),
        fc.nat({ max: 39 }),
        (faults, operations, cut) => {
          const list = newList(faults);
          const run = (on: FaultList, from: number, to: number): unknown[] =>
            operations.slice(from, to).map((operation, i) => {
              const ordinal = from + i;
              const frame = on.onFrame(FIS_TYPES.data, ordinal);
              return [ask(on, operation, ordinal).save(), frame, on.dueMemory(ordinal)];
            });
          const middle = Math.min(cut, operations.length);
          run(list, 0, middle);
          const saved = list.save();
          const expected = run(list, middle, operations.length);
          const after = list.save();
          const other = newList([{ kind: 'uncorrectable' }], 'another');
          for (const target of [list, other]) {
            target.restore(saved);
            expect(run(target, middle, operations.length)).toEqual(expected);
            expect(target.save()).toEqual(after);
          }
        },
      ),
    );
  });

  it('takes faults away that came later, and gives their number again', () => {
    const list = newList([{ kind: 'uncorrectable' }]);
    const saved = list.save();
    list.add({ kind: 'erase-fail' });
    list.restore(saved);
    expect(list.list()).toHaveLength(1);
    expect(list.add({ kind: 'program-fail' })).toBe(2);
  });

  it('keeps conditions in the program that was given them, and says so elsewhere', () => {
    const list = newList();
    const empty = list.save();
    list.add({ kind: 'uncorrectable', if: ({ die }) => die === 2 });
    const saved = list.save();
    list.restore(empty);
    list.restore(saved);
    expect(ask(list, READ, 0).effects).toBe(0);
    expect(ask(list, { ...READ, die: 2 }, 0).effects).toBe(FlashEffect.Uncorrectable);
    expect(() => newList().restore(saved)).toThrow(SnapshotMismatch);
  });

  it('of a verdict that a die keeps while it works', () => {
    const verdict = new FlashVerdict(SMALL.planes);
    const list = newList([
      { kind: 'wrong-block', where: { block: 4 }, toBlock: 0 },
      { kind: 'bit-errors', count: 2 },
    ]);
    verdict.copy(ask(list, READ, 0));
    const other = new FlashVerdict(SMALL.planes);
    other.restore(verdict.save());
    ask(list, ERASE, 1);
    expect(other.save()).toEqual(verdict.save());
    expect(other.bitErrors).toBe(2);
    other.copy(ask(list, ERASE, 2));
    expect(other.save()).toEqual(new FlashVerdict(SMALL.planes).save());
  });
});

it('a fault that is none is refused also from TypeScript', () => {
  const list = newList();
  expect(() => list.add({ kind: 'uncorrectable', where: { block: 8 } })).toThrow(
    new BadFault('fault.where.block', "8 is beyond the die's last block 7"),
  );
  expect(() => list.add({ kind: 'slow-die', factor: Number.NaN })).toThrow(BadFault);
  expect(list.list()).toEqual([]);
});
