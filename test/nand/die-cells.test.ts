/**
 * Goal: what operations do to the cells when they fail, go astray or are cut; nobody's data leaks.
 * Method: faults and cuts at known fractions of an operation; the figures of nand/physics by hand.
 */
import { describe, expect, it } from 'vitest';
import type { Fault } from '../../hal/faults/fault.ts';
import { FlashStatus } from '../../hal/flash-ops.ts';
import { BlockFlag } from '../../nand/block-history.ts';
import { WEAR_LAW } from '../../nand/physics/wear.ts';
import { NandRig, type OpRequest } from '../kit/nand-rig.ts';
import { filled } from '../kit/nand-steps.ts';

/** Instants at which the array starts: cycles of both planes, with data at 5 ns a byte. */
const PROGRAM_BUS = 87_390;
const ERASE_BUS = 750;
const PROGRAM_LSB = 560_000;
const PROGRAM_MSB = 2_040_000;
const ERASE = 3_800_000;
/** Page 0 is an LSB page, page 4 its MSB partner. */
const MSB_PAGE = 4;

/** A page of four mixtures, each with one reference that belongs to the descriptor. */
function mixed(rig: NandRig, die: number, block: number, page: number): OpRequest {
  const content = [1, 2, 3, 4].map((j) => rig.contents.merge(10 * j, 10 * j + 1, 0x0f));
  return { die, block, page, content, pageWord: [1, 2, 3, 4] };
}

function cellsOf(rig: NandRig, die: number, block: number, page: number): number[] {
  return [0, 1].flatMap((plane) =>
    [0, 1].map((slot) => rig.store.contentOf(rig.geometry.slotOf(die, block + plane, page, slot))),
  );
}

/** Lets all end, the status of the last operation too; returns the instant. */
function quietNs(rig: NandRig): number {
  rig.settle();
  rig.timeline.runUntil(rig.timeline.nowNs + 1000);
  return rig.timeline.nowNs;
}

/** Gives a descriptor's references up. */
function release(rig: NandRig, op: number): void {
  for (let j = 0; j < 4; j++) rig.contents.release(rig.slot(op, j)[0]);
}

function rigWith(fault: Fault): NandRig {
  const rig = new NandRig();
  rig.faults.add(fault);
  return rig;
}

describe('a program that fails', () => {
  it.each([
    ['in plane 0', [0]],
    ['in plane 1', [1]],
    ['in both planes', [0, 1]],
  ])('%s keeps the references of its descriptor, to be programmed elsewhere', (_, planes) => {
    const rig = new NandRig();
    for (const plane of planes) {
      rig.faults.add({ kind: 'program-fail', where: { plane, block: plane } });
    }
    const request = mixed(rig, 0, 0, 0);
    const op = rig.program(request);
    rig.settle();
    expect(rig.ops.status[op]).toBe(FlashStatus.Failed);
    const kept = request.content!.map((one, j) => (planes.includes(j >> 1) ? 0 : one));
    expect(cellsOf(rig, 0, 0, 0)).toEqual(kept);
    const again = rig.program({
      ...request,
      block: 2,
      content: [0, 1, 2, 3].map((j) => rig.slot(op, j)[0]),
    });
    rig.settle();
    expect(rig.ops.status[again]).toBe(FlashStatus.Ok);
    expect(cellsOf(rig, 0, 2, 0)).toEqual(request.content);
    rig.erase({ die: 0, block: 0 });
    rig.settle();
    // The second copy still holds every mixture.
    expect(rig.contents.mixtureCount).toBe(4);
    rig.erase({ die: 0, block: 2 });
    rig.settle();
    expect(rig.contents.mixtureCount).toBe(0);
  });

  it('takes its page: it is uncorrectable, and the next program is the page behind', () => {
    const rig = rigWith({ kind: 'program-fail', where: { plane: 0 }, times: 1 });
    rig.program(filled(0, 0));
    rig.program(filled(0, 1));
    const [first, second] = [0, 1].map((page) => rig.read({ die: 0, page, slotMask: 0b1111 }));
    rig.settle();
    expect([first, second].map((op) => rig.ops.status[op!])).toEqual([
      FlashStatus.Uncorrectable,
      FlashStatus.Ok,
    ]);
    expect([...rig.ops.badSectors.subarray(first! * 8, first! * 8 + 4)]).toEqual([
      0xff, 0xff, 0, 0,
    ]);
    expect(rig.slot(first!, 2)).toEqual([3, 10_003, 20_003]);
    expect(rig.store.history.nextPageOf(0)).toBe(2);
  });

  it('in one plane, while nothing happens in the other, still keeps them all', () => {
    const rig = new NandRig();
    rig.faults.add({ kind: 'program-fail', where: { plane: 1 } });
    rig.faults.add({ kind: 'silent-no-op', op: 'program', where: { plane: 0 } });
    const request = mixed(rig, 0, 0, 0);
    const op = rig.program(request);
    rig.settle();
    expect(rig.ops.status[op]).toBe(FlashStatus.Failed);
    expect(rig.contents.mixtureCount).toBe(4);
    expect(rig.contents.sectorTag(request.content![0]!, 0)).toBe(11);
    release(rig, op);
    expect(rig.contents.mixtureCount).toBe(0);
  });
});

describe('an erase that fails', () => {
  it('leaves the block as it was in its plane', () => {
    const rig = rigWith({ kind: 'erase-fail', where: { plane: 1 } });
    rig.program(filled(0, 0));
    const op = rig.erase({ die: 0 });
    rig.settle();
    expect(rig.ops.status[op]).toBe(FlashStatus.Failed);
    expect(cellsOf(rig, 0, 0, 0)).toEqual([0, 0, 3, 4]);
    const { history } = rig.store;
    expect([0, 1].map((block) => history.eraseCountOf(block))).toEqual([1, 0]);
    expect([0, 1].map((block) => history.nextPageOf(block))).toEqual([0, 1]);
  });
});

describe('an operation that does nothing and says Ok', () => {
  it('as a program takes its time and gives its data up', () => {
    const rig = rigWith({ kind: 'silent-no-op', op: 'program' });
    const op = rig.program(mixed(rig, 0, 0, 0));
    rig.settle();
    expect([rig.ops.status[op], rig.timeline.nowNs]).toEqual([
      FlashStatus.Ok,
      PROGRAM_BUS + PROGRAM_LSB,
    ]);
    expect([rig.contents.mixtureCount, rig.store.history.nextPageOf(0)]).toEqual([0, 0]);
  });

  it('as an erase leaves everything', () => {
    const rig = rigWith({ kind: 'silent-no-op', op: 'erase' });
    rig.program(filled(0, 0));
    const op = rig.erase({ die: 0 });
    rig.settle();
    expect(rig.ops.status[op]).toBe(FlashStatus.Ok);
    expect(cellsOf(rig, 0, 0, 0)).toEqual([1, 2, 3, 4]);
    expect(rig.store.history.eraseCountOf(0)).toBe(0);
  });
});

describe.each([0, 1])('operations that go astray, by a fault on plane %i', (plane) => {
  const fault: Fault = { kind: 'wrong-block', where: { block: plane }, toBlock: 4 + plane };

  it('program and read the other block', () => {
    const rig = rigWith(fault);
    rig.program(filled(0, 0));
    const op = rig.read({ die: 0, slotMask: 0b1111 });
    rig.settle();
    expect(cellsOf(rig, 0, 0, 0)).toEqual([0, 0, 0, 0]);
    expect(cellsOf(rig, 0, 4, 0)).toEqual([1, 2, 3, 4]);
    expect([0, 1, 2, 3].map((j) => rig.slot(op, j)[0])).toEqual([1, 2, 3, 4]);
    const { history } = rig.store;
    expect([0, 1, 4, 5].map((block) => history.readsOf(rig.blockIndex(0, block)))).toEqual([
      0, 0, 1, 1,
    ]);
  });

  it('spoil a page that is full there, and lose their own data', () => {
    const rig = new NandRig();
    rig.program({ ...filled(0, 0), block: 4 });
    rig.settle();
    rig.faults.add(fault);
    const op = rig.program(mixed(rig, 0, 0, 0));
    rig.settle();
    expect(rig.ops.status[op]).toBe(FlashStatus.Ok);
    expect(rig.contents.mixtureCount).toBe(0);
    rig.faults.liftAll();
    const read = rig.read({ die: 0, block: 4, slotMask: 0b1111 });
    rig.settle();
    expect(rig.ops.status[read]).toBe(FlashStatus.Uncorrectable);
    expect(rig.store.history.nextPageOf(0)).toBe(0);
  });

  it('are told to a second copy of the flash as what they were', () => {
    const rig = rigWith(fault);
    const told: number[] = [];
    rig.store.follower = {
      programmed: (firstSlot) => told.push(firstSlot),
      beforeErase: () => {},
      erased: () => {},
    };
    rig.program(filled(0, 0));
    rig.settle();
    expect(told).toEqual([rig.geometry.slotOf(0, 4, 0, 0)]);
  });
});

/** Pages of die 0 that are damaged, with their extra rate. */
function damageOf(rig: NandRig): [number, number, number][] {
  return rig.store.damage.list().map(({ block, page, rber }) => [block, page, rber]);
}

describe('a program that is cut', () => {
  it('before its data has come leaves no trace', () => {
    const rig = new NandRig();
    rig.program(mixed(rig, 0, 0, 0));
    rig.cutAt(PROGRAM_BUS);
    expect([rig.store.history.nextPageOf(0), damageOf(rig)]).toEqual([0, []]);
    expect(rig.contents.mixtureCount).toBe(0);
  });

  it.each([0.25, 0.5, 0.875])('at %d of an LSB page is wrong by half of the rest', (fraction) => {
    const rig = new NandRig();
    rig.program(mixed(rig, 0, 0, 0));
    rig.cutAt(PROGRAM_BUS + fraction * PROGRAM_LSB);
    const rber = 0.5 * (1 - fraction);
    expect(damageOf(rig)).toEqual([
      [0, 0, rber],
      [1, 0, rber],
    ]);
    expect(rig.store.history.nextPageOf(0)).toBe(1);
    // The page owns the references now.
    expect(rig.contents.mixtureCount).toBe(4);
    rig.erase({ die: 0 });
    rig.settle();
    expect([rig.contents.mixtureCount, damageOf(rig)]).toEqual([0, []]);
    expect(rig.store.history.flagsOf(0)).toBe(0);
  });

  it.each([0.25, 0.5, 0.75])('at %d of an MSB page takes its LSB page along', (fraction) => {
    const rig = new NandRig();
    for (let page = 0; page < MSB_PAGE; page++) rig.program(filled(0, page));
    const start = quietNs(rig);
    rig.program(filled(0, MSB_PAGE));
    rig.cutAt(start + PROGRAM_BUS + fraction * PROGRAM_MSB);
    const partner = 0.25 * (1 - Math.abs(2 * fraction - 1));
    const damage = damageOf(rig);
    expect(damage.map(([block, page]) => [block, page])).toEqual([
      [0, 0],
      [0, MSB_PAGE],
      [1, 0],
      [1, MSB_PAGE],
    ]);
    for (const block of [0, 1]) {
      const draw = rig.draws.ofProgram(block, MSB_PAGE, 0);
      const own = (0.25 + 0.25 * draw) * (1 - fraction);
      expect([damage[2 * block]![2], damage[2 * block + 1]![2]]).toEqual([partner, own]);
    }
    const lsb = rig.read({ die: 0, page: 0, slotMask: 0b1111 });
    const other = rig.read({ die: 0, page: 1, slotMask: 0b1111 });
    rig.settle();
    expect(rig.ops.status[lsb]).toBe(FlashStatus.Uncorrectable);
    expect(rig.ops.status[other]).toBe(FlashStatus.Ok);
  });

  it('at its very end is whole', () => {
    const rig = new NandRig();
    rig.program(filled(0, 0));
    rig.timeline.runUntil(PROGRAM_BUS + PROGRAM_LSB - 1);
    rig.cutAt(PROGRAM_BUS + PROGRAM_LSB - 1);
    const op = rig.read({ die: 0, slotMask: 0b1111 });
    rig.settle();
    expect(rig.ops.status[op]).toBe(FlashStatus.Ok);
  });

  it('leaves nothing where a fault had kept it out', () => {
    const silent = rigWith({ kind: 'silent-no-op', op: 'program' });
    silent.program(mixed(silent, 0, 0, 0));
    silent.cutAt(PROGRAM_BUS + 1000);
    expect([silent.contents.mixtureCount, silent.store.history.nextPageOf(0)]).toEqual([0, 0]);
    const astray = new NandRig();
    astray.program({ ...filled(0, 0), block: 4 });
    astray.settle();
    astray.faults.add({ kind: 'wrong-block', where: { block: 0 }, toBlock: 4 });
    astray.program(filled(0, 0));
    astray.cutAt(astray.timeline.nowNs + PROGRAM_BUS + 1000);
    expect(damageOf(astray).map(([block]) => block)).toEqual(
      [4, 5].map((block) => astray.blockIndex(0, block)),
    );
  });
});

describe('an erase that is cut', () => {
  function cutErase(fraction: number): NandRig {
    const rig = new NandRig({ errors: true });
    for (const page of [0, 1]) rig.program(filled(0, page));
    const start = quietNs(rig);
    rig.erase({ die: 0 });
    return rig.cutAt(start + ERASE_BUS + fraction * ERASE);
  }

  it.each([0.1, 0.9])('at %d leaves a weak block of pages that cannot be read', (fraction) => {
    const rig = cutErase(fraction);
    const flags = BlockFlag.Weak | BlockFlag.EraseTorn;
    expect([0, 1].map((block) => rig.store.history.flagsOf(block))).toEqual([flags, flags]);
    const ops = [0, 1, 9].map((page) => rig.read({ die: 0, page, slotMask: 0b1111 }));
    rig.settle();
    expect(ops.map((op) => rig.ops.status[op])).toEqual(Array(3).fill(FlashStatus.Uncorrectable));
    expect(ops.map((op) => rig.slot(op, 0))).toEqual(Array(3).fill([0, 0, 0]));
    rig.erase({ die: 0 });
    const whole = rig.read({ die: 0, slotMask: 0b1111 });
    rig.settle();
    expect(rig.ops.status[whole]).toBe(FlashStatus.Ok);
    expect([rig.store.history.flagsOf(0), rig.store.history.eraseCountOf(0)]).toEqual([0, 2]);
  });

  it('near its end leaves an empty block that is weak: five times the errors', () => {
    const rig = cutErase(0.96);
    expect(rig.store.history.flagsOf(0)).toBe(BlockFlag.Weak);
    rig.program(filled(0, 0));
    rig.settle();
    const weak = rig.media.rberOf(0, 0);
    rig.erase({ die: 0 });
    rig.program(filled(0, 0));
    rig.settle();
    // One erase more hardly matters: the floor of the law is what young blocks have.
    expect(weak / rig.media.rberOf(0, 0)).toBeCloseTo(5, 2);
  });

  it('before it has begun leaves the block as it was', () => {
    const rig = cutErase(0);
    expect([rig.store.history.flagsOf(0), rig.store.history.eraseCountOf(0)]).toEqual([0, 0]);
    expect(cellsOf(rig, 0, 0, 1)).toEqual([5, 6, 7, 8]);
  });
});

describe('wear', () => {
  function erasedIn(rig: NandRig, block: number): number {
    const start = quietNs(rig);
    rig.erase({ die: 0, block });
    return rig.settle().timeline.nowNs - start - ERASE_BUS;
  }

  it('makes erases longer by 60 % at the rated cycles, to 10 ms; the slower plane decides', () => {
    const rig = new NandRig({ wear: { ...WEAR_LAW, lifeEraseCount: 1e9 } });
    const times = [
      [0, 0],
      [1500, 0],
      [0, 3000],
      [50_000, 0],
    ].map(([first, second], pair) => {
      rig.store.history.load(rig.blockIndex(0, 2 * pair), 0, first!);
      rig.store.history.load(rig.blockIndex(0, 2 * pair + 1), 0, second!);
      return erasedIn(rig, 2 * pair);
    });
    expect(times).toEqual([ERASE, 1.3 * ERASE, 1.6 * ERASE, 10_000_000]);
  });

  it('makes programs shorter by 10 % at the rated cycles', () => {
    const rig = new NandRig({ wear: { ...WEAR_LAW, lifeEraseCount: 1e9 } });
    for (const block of [0, 1]) rig.store.history.load(block, 0, 3000);
    rig.program(filled(0, 0));
    expect(rig.settle().timeline.nowNs).toBe(PROGRAM_BUS + 0.9 * PROGRAM_LSB);
  });

  it('ends lives in erases and programs that fail for good', () => {
    const rig = new NandRig({ wear: { ...WEAR_LAW, sporadicProgramFail: 0 } });
    const { geometry, wear, store } = rig;
    const ends = { erase: 0, program: 0 };
    const wrong: number[] = [];
    for (let block = 0; block < geometry.blocksPerDie; block += 2) {
      const index = rig.blockIndex(0, block);
      const life = wear!.lifeOf(index);
      for (const plane of [0, 1]) store.history.load(index + plane, 0, plane === 0 ? life : 0);
      const ops = [rig.program({ ...filled(0, 15), block }), rig.erase({ die: 0, block })];
      rig.settle();
      const [program, erase] = ops.map((op) => rig.ops.status[op] === FlashStatus.Failed);
      // The last page of a block fails when any page does.
      if (program === erase) wrong.push(block);
      ends[erase ? 'erase' : 'program']++;
      for (const op of ops) rig.ops.give(op);
    }
    expect(wrong).toEqual([]);
    // 30 % of 32 lives end in an erase: 9.6, within three standard deviations of 2.6.
    expect(ends.erase + ends.program).toBe(32);
    expect(Math.abs(ends.erase - 9.6)).toBeLessThan(7.8);
  });
});
