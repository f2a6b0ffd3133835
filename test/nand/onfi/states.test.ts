/**
 * Goal: the running die and the state table of a LUN are the same machine; resets and loss of power
 * stop it anywhere and damage only what was being written.
 * Method: reach every state, leave it in every way; compare the moves made with those of the table.
 */
import { describe, expect, test } from 'vitest';
import { MOVE_STRIDE } from '../../../nand/onfi/lun.ts';
import { LUN_TABLE, LunState } from '../../../nand/onfi/lun-table.ts';
import { ERASE, movesOf, OnfiRig, PROGRAM_LSB, TABLE_MOVES } from './rig.ts';

const HERE = { block: 4, page: 0 };
const NEXT = { block: 4, page: 1 };
const S = LunState;

/** How to get a ready die into a state. */
const REACH: Readonly<Record<LunState, (rig: OnfiRig) => void>> = {
  [S.Off]: (rig) => rig.die.powerOff(rig.nowNs),
  [S.PoweringUp]: (rig) => {
    rig.die.powerOff(rig.nowNs);
    rig.die.powerOn(rig.nowNs);
  },
  [S.AwaitingReset]: (rig) => {
    rig.die.powerOff(rig.nowNs);
    rig.die.powerOn(rig.nowNs);
    rig.wait();
  },
  [S.Idle]: () => {},
  [S.Resetting]: (rig) => rig.command(0xff),
  [S.FeatureBusy]: (rig) => rig.command(0xee).address(0x01),
  [S.Identifying]: (rig) => rig.command(0xec).address(0),
  [S.DummyBusy]: (rig) => rig.at(0x80, HERE).data(1).command(0x11),
  [S.Reading]: (rig) => rig.at(0x00, HERE).command(0x30),
  [S.CacheReadBusy]: (rig) => rig.at(0x00, HERE).command(0x30).wait().command(0x31),
  [S.CacheReading]: (rig) => rig.at(0x00, HERE).command(0x30).wait().command(0x31).wait(),
  [S.Programming]: (rig) => rig.at(0x80, HERE).data(1).command(0x10),
  [S.CacheProgramBusy]: (rig) => rig.at(0x80, HERE).data(1).command(0x15),
  [S.CacheProgramming]: (rig) => rig.at(0x80, HERE).data(1).command(0x15).wait(),
  [S.Erasing]: (rig) => rig.at(0x60, HERE).command(0xd0),
};
const STATES = LUN_TABLE.transitions
  .map(({ from }) => from)
  .filter((state, i, all) => all.indexOf(state) === i);

/** What has to happen besides for every row of the table to be taken. */
const TOURS: readonly ((rig: OnfiRig) => void)[] = [
  (rig) => {
    REACH[S.CacheReading](rig);
    rig.at(0x00, { block: 8, page: 0 }).command(0x32).wait();
    rig.at(0x00, { block: 9, page: 0 }).command(0x31).wait().waitArray();
    rig.command(0x3f).wait();
  },
  (rig) => {
    REACH[S.CacheProgramming](rig);
    rig.at(0x80, NEXT).data(2).command(0x11).wait();
    rig.at(0x80, { block: 5, page: 1 }).data(3).command(0x15).wait();
    rig.at(0x80, { block: 4, page: 2 }).data(4).command(0x10).wait();
    REACH[S.CacheReading](rig);
    rig.command(0x31).wait();
  },
];

function reached(state: LunState): OnfiRig {
  const rig = OnfiRig.ready();
  REACH[state](rig);
  expect(LunState[rig.die.lun.state]).toBe(LunState[state]);
  return rig;
}

describe('the state table', () => {
  test('every state has a number that fits, and every move is one row', () => {
    expect(STATES.length).toBe(15);
    expect(Math.max(...STATES)).toBeLessThan(MOVE_STRIDE);
    expect(TABLE_MOVES.size).toBe(LUN_TABLE.transitions.length);
  });

  test('a die takes every row of it and no other move', () => {
    const taken = new Set<number>();
    const note = (rig: OnfiRig) => {
      for (const move of movesOf(rig.die)) taken.add(move);
    };
    for (const state of STATES) {
      if (state !== S.Off && state !== S.PoweringUp) note(reached(state).command(0xff).wait());
      const dark = reached(state);
      dark.die.powerOff(dark.nowNs);
      note(dark);
      note(reached(state).wait().waitArray());
    }
    for (const tour of TOURS) {
      const rig = OnfiRig.ready();
      tour(rig);
      expect(rig.broken).toEqual([]);
      note(rig);
    }
    expect([...taken].sort((a, b) => a - b)).toEqual([...TABLE_MOVES].sort((a, b) => a - b));
  });
});

describe('power-up', () => {
  test('R/B# rises after 100 us, the first reset takes 1 ms', () => {
    const rig = new OnfiRig();
    rig.die.powerOn(0);
    expect(rig.die.readyAtNs).toBe(100_000);
    rig.wait().command(0xff);
    expect(rig.die.readyAtNs - rig.nowNs).toBe(1_000_000);
    expect(rig.wait().status()).toBe(0xe0);
    expect(rig.broken).toEqual([]);
  });

  test('features and registers are as new', () => {
    const rig = OnfiRig.ready();
    rig.setFeature(0x10, 0).setTiming(0x15).program(HERE, 1);
    REACH[S.AwaitingReset](rig);
    rig.command(0xff).wait();
    expect(rig.die.features.bus).toEqual({ synchronous: false, mode: 0 });
    expect(rig.command(0xee).address(0x10).wait().read(1)).toEqual([2]);
    expect(rig.at(0x06, HERE).command(0xe0).read(1)).toEqual([0xff]);
    expect(rig.stored(4, 0, 1)).toEqual([1]);
  });
});

describe('a reset in the middle', () => {
  test('takes as long as what it stops', () => {
    const resetNs = (state: LunState) => {
      const rig = reached(state).command(0xff);
      return rig.die.readyAtNs - rig.nowNs;
    };
    expect(resetNs(S.Idle)).toBe(5_000);
    expect(resetNs(S.Reading)).toBe(5_000);
    expect(resetNs(S.CacheProgramming)).toBe(10_000);
    expect(resetNs(S.Programming)).toBe(10_000);
    expect(resetNs(S.Erasing)).toBe(500_000);
  });

  test('a second reset does not shorten the first', () => {
    const rig = reached(S.Erasing).command(0xff);
    const readyNs = rig.die.readyAtNs;
    expect(rig.pass(1_000).command(0xff).die.readyAtNs).toBe(readyNs);
  });

  test('damages the pages of a program in all its planes, and nothing beside them', () => {
    const rig = OnfiRig.ready();
    for (const block of [4, 5]) rig.program({ block, page: 0 }, 7);
    rig.at(0x80, NEXT).data(0).command(0x11).wait();
    rig
      .at(0x80, { block: 5, page: 1 })
      .data(0)
      .command(0x10)
      .pass(PROGRAM_LSB / 2);
    rig.command(0xff).wait();
    expect(rig.status()).toBe(0xe0);
    for (const block of [4, 5]) {
      expect(rig.array.pageOf(block, 1)).not.toBeNull();
      expect(rig.stored(block, 1, 4320, 4320)).not.toEqual(Array(4320).fill(0xff));
      expect(rig.stored(block, 0, 2)).toEqual([7, 0xff]);
    }
  });

  test('damages an MLC partner that was programmed before', () => {
    const rig = OnfiRig.ready();
    for (let page = 0; page < 4; page++) rig.program({ block: 4, page }, 7);
    rig.at(0x80, { block: 4, page: 4 }).data(1).command(0x10).pass(1_000).command(0xff).wait();
    const whole = (page: number) => Buffer.from(rig.array.pageOf(4, page)!);
    expect(Buffer.compare(whole(1), whole(2))).toBe(0);
    expect(Buffer.compare(whole(0), whole(1))).not.toBe(0);
  });

  test('damages the block of an erase, later the more of it is erased', () => {
    const rig = OnfiRig.ready();
    rig.program(HERE, ...Array(8640).fill(0)).program({ block: 6, page: 0 }, 7);
    rig
      .at(0x60, HERE)
      .command(0xd0)
      .pass(ERASE / 2)
      .command(0xff)
      .wait();
    const zeros = rig.stored(4, 0, 8640).filter((byte) => byte === 0).length;
    // Half of 8640 bytes is erased; one bit in 32 of the page is flipped, a quarter of its bytes.
    expect(zeros).toBeGreaterThan(2_800);
    expect(zeros).toBeLessThan(4_320);
    expect(rig.stored(6, 0, 1)).toEqual([7]);
  });

  test('a page that waits behind a cache program stays erased', () => {
    const rig = reached(S.CacheProgramming);
    rig.at(0x80, NEXT).data(2).command(0x15).pass(1_000).command(0xff).wait();
    expect(rig.array.pageOf(4, 0)).not.toBeNull();
    expect(rig.array.pageOf(4, 1)).toBeNull();
  });

  test('an ended operation is not stopped, however late the die is looked at', () => {
    const rig = OnfiRig.ready();
    rig.at(0x80, HERE).data(1, 2).command(0x10);
    rig.nowNs += PROGRAM_LSB;
    rig.die.powerOff(rig.nowNs);
    expect(rig.stored(4, 0)).toEqual([1, 2, 0xff, 0xff]);
    expect(Buffer.from(rig.array.pageOf(4, 0)!).filter((byte) => byte !== 0xff).length).toBe(2);
  });

  test('a page in the OTP area and a queued group are only dropped', () => {
    const rig = OnfiRig.ready();
    rig.at(0x80, HERE).data(1).command(0x11).command(0xff).wait();
    rig.at(0x80, { block: 5, page: 0 }).data(2).command(0x10).wait();
    expect(rig.array.pageOf(4, 0)).toBeNull();
    expect(rig.stored(5, 0, 1)).toEqual([2]);
  });
});
