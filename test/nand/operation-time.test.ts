/**
 * Goal: every operation takes the time of its cycles, of the array and of the decoder; dies work in
 * parallel, a bus does not.
 * Method: sums of data-sheet times (ONFI 2.2, synchronous mode 5), against the instants of the run.
 */
import { describe, expect, it } from 'vitest';
import { FlashOp } from '../../hal/flash-ops.ts';
import { NandRig } from '../kit/nand-rig.ts';
import { filled } from '../kit/nand-steps.ts';

/** Data sheet times of the part. */
const READ_LSB = 45_000;
const READ_MSB = 65_000;
const PROGRAM_LSB = 560_000;
const PROGRAM_MSB = 2_040_000;
const ERASE = 3_800_000;
/** tCAD, tADL, tWHR, tCCS, tWB, tDBSY of the fastest bus mode. */
const CYCLE = 25;
const ADL = 70;
const WHR = 80;
const CCS = 200;
const WB = 100;
const DBSY = 500;
/** One slot of 4320 bytes, and a page of 8640, at 5 ns a byte. */
const SLOT = 21_600;
const PAGE = 43_200;
/** 00h, five addresses, 30h; for two planes with tDBSY between. */
const READ_COMMAND = 7 * CYCLE;
const READ_COMMANDS = 2 * READ_COMMAND + DBSY;
/** 80h, five addresses, tADL, data and confirm of two planes. */
const PROGRAM_BUS = 2 * (6 * CYCLE + ADL + PAGE + CYCLE) + DBSY;
/** 60h, three addresses, confirm, of two planes. */
const ERASE_BUS = 2 * 5 * CYCLE + DBSY;
/** 70h with its byte; 06h, five addresses, E0h and tCCS of one plane. */
const STATUS = CYCLE + WHR + 10;
const COLUMN = 7 * CYCLE + CCS;
/** Eight cycles of the decoder at 200 MHz. */
const DECODE = 40;
const ONE_SLOT = STATUS + COLUMN + SLOT;
const READ_ONE = READ_COMMAND + READ_LSB + ONE_SLOT + DECODE;
/** Page 0 is an LSB page, page 4 its MSB partner. */
const MSB_PAGE = 4;

describe('the time of one operation', () => {
  const timeOf = (start: (rig: NandRig) => void): number => {
    const rig = new NandRig();
    start(rig);
    return rig.settle().timeline.nowNs;
  };

  it('a read of one slot: command, tR, status, change of column, data out, decoder', () => {
    expect(timeOf((rig) => rig.read({ die: 0 }))).toBe(READ_ONE);
    expect(timeOf((rig) => rig.read({ die: 0, page: MSB_PAGE }))).toBe(
      READ_ONE + READ_MSB - READ_LSB,
    );
  });

  it('a read of more slots moves more data for one tR', () => {
    const samePlane = timeOf((rig) => rig.read({ die: 0, slotMask: 0b0011 }));
    expect(samePlane).toBe(READ_ONE + SLOT);
    const out = (slots: number) => STATUS + 2 * COLUMN + slots * SLOT + DECODE;
    expect(timeOf((rig) => rig.read({ die: 0, slotMask: 0b1010 }))).toBe(
      READ_COMMANDS + READ_LSB + out(2),
    );
    expect(timeOf((rig) => rig.read({ die: 0, slotMask: 0b1111 }))).toBe(
      READ_COMMANDS + READ_LSB + out(4),
    );
  });

  it('a program: command and data of both planes, tPROG', () => {
    expect(timeOf((rig) => rig.program({ die: 0 }))).toBe(PROGRAM_BUS + PROGRAM_LSB);
    expect(timeOf((rig) => rig.program({ die: 0, page: MSB_PAGE }))).toBe(
      PROGRAM_BUS + PROGRAM_MSB,
    );
  });

  it('an erase: command of both planes, tBERS', () => {
    expect(timeOf((rig) => rig.erase({ die: 0 }))).toBe(ERASE_BUS + ERASE);
  });

  it('takes two events for a read, one for program and erase', () => {
    const rig = new NandRig();
    rig.read({ die: 0 });
    rig.program({ die: 1 });
    rig.erase({ die: 2 });
    rig.settle();
    // Each end raises an interrupt, and no two ends fall together.
    expect(rig.timeline.ordinal).toBe(2 + 1 + 1 + 3);
  });

  it('a program is transfer in until its data has come, though no event says so', () => {
    const rig = new NandRig();
    rig.program({ die: 0 });
    const phases = [0, PROGRAM_BUS - 1, PROGRAM_BUS, PROGRAM_BUS + PROGRAM_LSB - 1].map((ns) => {
      rig.timeline.runUntil(ns);
      return rig.array
        .registers()
        .registers.find(({ name }) => name === 'DIE0_PHASE')
        ?.read();
    });
    // 3 is transfer in, 4 programming.
    expect(phases).toEqual([3, 3, 4, 4]);
    expect(rig.timeline.ordinal).toBe(0);
  });
});

describe('dies and buses', () => {
  it('two dies of one channel share the bus but not the array', () => {
    const rig = new NandRig();
    // Dies 0 and 2 are on channel 0, die 1 has channel 1.
    for (const die of [0, 2, 1]) rig.program({ die });
    rig.settle();
    const alone = PROGRAM_BUS + PROGRAM_LSB;
    expect(rig.ended).toEqual([
      `0 Program @${alone}`,
      `1 Program @${alone}`,
      `2 Program @${alone + WB + PROGRAM_BUS}`,
    ]);
    const { busyNs } = rig.array.channels;
    const one = PROGRAM_BUS + WB + STATUS;
    expect([...busyNs]).toEqual([2 * one, one]);
  });

  it('data out waits for the bus; tR of the dies overlaps', () => {
    const rig = new NandRig();
    rig.read({ die: 0 });
    rig.read({ die: 2 });
    rig.settle();
    expect(rig.ended).toEqual([`0 Read @${READ_ONE}`, `2 Read @${READ_ONE + ONE_SLOT}`]);
  });

  it('operations of one die run one at a time, in the order they came', () => {
    const rig = new NandRig();
    rig.read({ die: 0 });
    rig.read({ die: 0, page: 1 });
    rig.erase({ die: 0, block: 2 });
    expect([rig.array.waitingCount(0), rig.array.waitingCount(1)]).toEqual([2, 0]);
    rig.settle();
    expect(rig.ended).toEqual([
      `0 Read @${READ_ONE}`,
      `0 Read @${2 * READ_ONE}`,
      `0 Erase @${2 * READ_ONE + ERASE_BUS + ERASE}`,
    ]);
  });

  it('urgent reads overtake what is queued, not what is under way, and keep their own order', () => {
    const rig = new NandRig();
    const under = rig.program(filled(0, 0));
    const queued = rig.program(filled(0, 1));
    const first = rig.read({ die: 0, page: 0, urgent: true });
    const second = rig.read({ die: 0, page: 0, slotMask: 2, urgent: true });
    expect([rig.array.currentOf(0), rig.array.waitingCount(0)]).toEqual([under, 3]);
    rig.settle();
    expect(rig.taken).toEqual([under, first, second, queued]);
    const programmed = PROGRAM_BUS + PROGRAM_LSB;
    // The status of the program comes before the next command.
    const reads = programmed + STATUS;
    expect(rig.ended).toEqual([
      `0 Program @${programmed}`,
      `0 Read @${reads + READ_ONE}`,
      `0 Read @${reads + 2 * READ_ONE}`,
      `0 Program @${reads + 2 * READ_ONE + programmed}`,
    ]);
  });

  it('each end raises the flash interrupt and is taken once', () => {
    const rig = new NandRig();
    const ops = [0, 1, 2, 3].map((die) => rig.erase({ die }));
    rig.settle();
    expect([...rig.taken].sort()).toEqual(ops);
    expect(rig.array.takeDone()).toBe(-1);
    const flash = rig.interrupts.registers().registers.find((one) => one.name === 'INT_CNT_FLASH');
    expect(flash?.read()).toBe(4);
  });
});

describe('the counters of use', () => {
  it('add up the buses, the dies, the operations and the slots', () => {
    const rig = new NandRig();
    rig.program(filled(0, 0));
    rig.read({ die: 0, slotMask: 0b0111 });
    rig.read({ die: 3, page: MSB_PAGE });
    rig.erase({ die: 2 });
    rig.settle();
    const { counters, channels, work } = rig.array;
    expect([FlashOp.Read, FlashOp.Program, FlashOp.Erase].map((op) => counters.done[op])).toEqual([
      2, 1, 1,
    ]);
    expect([...counters.slots]).toEqual([4, 4]);
    const threeOut = STATUS + 2 * COLUMN + 3 * SLOT;
    expect([...channels.busyNs]).toEqual([
      PROGRAM_BUS + READ_COMMANDS + threeOut + ERASE_BUS + 3 * WB + 2 * STATUS,
      READ_COMMAND + WB + ONE_SLOT,
    ]);
    // The erase command of die 2 waited for the bus behind the data of die 0.
    expect([...work.busyNs]).toEqual([
      PROGRAM_BUS + PROGRAM_LSB + STATUS + READ_COMMANDS + READ_LSB + threeOut + DECODE,
      0,
      PROGRAM_BUS + WB + ERASE_BUS + ERASE,
      READ_ONE + READ_MSB - READ_LSB,
    ]);
  });

  it('stand in the registers under their names', () => {
    const rig = new NandRig();
    rig.program(filled(0, 0));
    rig.read({ die: 0 });
    rig.settle();
    const values = new Map(rig.array.registers().registers.map((one) => [one.name, one.read()]));
    const names = ['READS', 'PROGRAMS', 'ERASES', 'CORRECTED', 'UNCORRECTABLE', 'TIMEOUTS'];
    expect(names.map((name) => values.get(name))).toEqual([1, 1, 0, 0, 0, 0]);
    expect(values.get('VIOLATIONS')).toBe(0);
  });
});
