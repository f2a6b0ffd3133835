/**
 * Goal: every command of the table does what the data sheet says, in its time, with its status.
 * Method: one scripted cycle sequence a row, without a broken rule; the rows are counted.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ADDRESS_CYCLES, COMMANDS, OPCODES, Opcode } from '../../../nand/onfi/opcodes.ts';
import { ERASE, OnfiRig, PROGRAM_LSB, READ_LSB } from './rig.ts';

const HERE = { block: 4, page: 0 };

/** Busy time of the last command, from now. */
const busyNs = (rig: OnfiRig) => rig.die.readyAtNs - rig.nowNs;

/** By row of the table: the script and what it shows. */
const SCRIPTS: Readonly<Record<string, (rig: OnfiRig) => void>> = {
  RESET: (rig) => {
    rig.setFeature(0x90, 1);
    expect(busyNs(rig.command(0xff))).toBe(5_000);
    expect(rig.status()).toBe(0x80);
    rig.wait();
    expect(rig.status()).toBe(0xe0);
    expect(rig.die.features.otpMode).toBe(false);
  },
  'SYNCHRONOUS RESET': (rig) => {
    rig.setTiming(0x15);
    expect(busyNs(rig.command(0xfc))).toBe(5_000);
    rig.wait();
    expect(rig.die.features.bus).toEqual({ synchronous: true, mode: 5 });
    rig.command(0xff).wait();
    expect(rig.die.features.bus).toEqual({ synchronous: false, mode: 0 });
  },
  'RESET LUN': (rig) => {
    rig.setTiming(0x15);
    rig.at(0x60, HERE).command(0xd0).at(0xfa, HERE);
    expect(rig.die.readyAtNs).toBeGreaterThanOrEqual(rig.nowNs + 499_000);
    expect(rig.wait().status()).toBe(0xe0);
    expect(rig.die.features.synchronous).toBe(true);
  },
  'READ ID': (rig) => {
    expect(rig.command(0x90).address(0x20).read(4)).toEqual([0x4f, 0x4e, 0x46, 0x49]);
  },
  'READ PARAMETER PAGE': (rig) => {
    expect(busyNs(rig.command(0xec).address(0))).toBe(75_000);
    expect(rig.wait().read(4)).toEqual([0x4f, 0x4e, 0x46, 0x49]);
  },
  'READ UNIQUE ID': (rig) => {
    expect(busyNs(rig.command(0xed).address(0))).toBe(75_000);
    const bytes = rig.wait().read(32);
    expect(bytes.slice(0, 16).map((byte, i) => byte ^ bytes[16 + i]!)).toEqual(Array(16).fill(255));
  },
  'GET FEATURES': (rig) => {
    expect(busyNs(rig.command(0xee).address(0x10))).toBe(1_000);
    expect(rig.wait().read(4)).toEqual([0x02, 0, 0, 0]);
    rig.setTiming(0x14);
    expect(rig.command(0xee).address(0x01).wait().read(8)).toEqual([0x14, 0x14, 0, 0, 0, 0, 0, 0]);
  },
  'SET FEATURES': (rig) => {
    rig.command(0xef).address(0x81).pass(200);
    expect(busyNs(rig.data(3, 0, 0, 0))).toBe(1_000);
    expect(rig.wait().command(0xee).address(0x81).wait().read(4)).toEqual([3, 0, 0, 0]);
  },
  'READ STATUS': (rig) => {
    expect(rig.status()).toBe(0xe0);
    rig.at(0x60, HERE).command(0xd0);
    expect(rig.status()).toBe(0x80);
  },
  'READ STATUS ENHANCED': (rig) => {
    rig.at(0x60, HERE).command(0xd0);
    expect(rig.planeStatus(0)).toBe(0x80);
    rig.wait();
    expect(rig.planeStatus(0)).toBe(0xe0);
  },
  'READ PAGE': (rig) => {
    rig.program(HERE, 1, 2, 3, 4);
    expect(busyNs(rig.at(0x00, { ...HERE, column: 1 }).command(0x30))).toBe(READ_LSB);
    expect(rig.wait().read(4)).toEqual([2, 3, 4, 0xff]);
  },
  'READ PAGE MULTI-PLANE': (rig) => {
    rig.program(HERE, 1).program({ block: 7, page: 0 }, 2);
    expect(busyNs(rig.at(0x00, HERE).command(0x32))).toBe(500);
    rig.wait().at(0x00, { block: 7, page: 0 });
    expect(busyNs(rig.command(0x30))).toBe(READ_LSB);
    // The plane addressed last comes first; 06h turns to the other.
    expect(rig.wait().read(1)).toEqual([2]);
    expect(rig.at(0x06, HERE).command(0xe0).read(1)).toEqual([1]);
  },
  'READ PAGE CACHE SEQUENTIAL': (rig) => {
    for (let page = 0; page < 3; page++) rig.program({ block: 4, page }, 10 + page);
    expect(rig.readPage(HERE, 1)).toEqual([10]);
    expect(busyNs(rig.command(0x31))).toBe(9_000);
    expect(rig.wait().read(1)).toEqual([10]);
    expect(rig.command(0x31).wait().read(1)).toEqual([11]);
  },
  'READ PAGE CACHE RANDOM': (rig) => {
    rig.program(HERE, 10).program({ block: 8, page: 0 }, 20);
    rig.at(0x00, HERE).command(0x30).wait();
    expect(busyNs(rig.at(0x00, { block: 8, page: 0 }).command(0x31))).toBe(9_000);
    expect(rig.wait().read(1)).toEqual([10]);
    expect(rig.command(0x3f).wait().read(1)).toEqual([20]);
  },
  'READ PAGE CACHE LAST': (rig) => {
    rig.program(HERE, 10).at(0x00, HERE).command(0x30).wait();
    expect(busyNs(rig.command(0x3f))).toBe(9_000);
    expect(rig.wait().read(1)).toEqual([10]);
    expect(rig.status()).toBe(0xe0);
  },
  'CHANGE READ COLUMN': (rig) => {
    rig
      .program({ ...HERE, column: 300 }, 7, 8)
      .at(0x00, HERE)
      .command(0x30)
      .wait();
    expect(
      rig
        .command(0x05)
        .address(300 & 0xff, 300 >>> 8)
        .command(0xe0)
        .read(2),
    ).toEqual([7, 8]);
  },
  'CHANGE READ COLUMN ENHANCED': (rig) => {
    rig
      .program({ ...HERE, column: 5 }, 7)
      .at(0x00, HERE)
      .command(0x30)
      .wait();
    expect(
      rig
        .at(0x06, { ...HERE, column: 5 })
        .command(0xe0)
        .read(1),
    ).toEqual([7]);
  },
  'PROGRAM PAGE': (rig) => {
    expect(busyNs(rig.at(0x80, HERE).data(1, 2).command(0x10))).toBe(PROGRAM_LSB);
    expect(rig.stored(4, 0)).toEqual([0xff, 0xff, 0xff, 0xff]);
    expect(rig.wait().status()).toBe(0xe0);
    expect(rig.stored(4, 0)).toEqual([1, 2, 0xff, 0xff]);
  },
  'PROGRAM PAGE MULTI-PLANE': (rig) => {
    expect(busyNs(rig.at(0x80, HERE).data(1).command(0x11))).toBe(500);
    rig.wait().at(0x80, { block: 5, page: 0 }).data(2);
    expect(busyNs(rig.command(0x10))).toBe(PROGRAM_LSB);
    rig.wait();
    expect([rig.stored(4, 0, 1), rig.stored(5, 0, 1)]).toEqual([[1], [2]]);
    // JEDEC style: the second opener is 81h.
    rig.at(0x80, { block: 4, page: 1 }).data(3).command(0x11).wait();
    rig.at(0x81, { block: 5, page: 1 }).data(4).command(0x10).wait();
    expect([rig.stored(4, 1, 1), rig.stored(5, 1, 1)]).toEqual([[3], [4]]);
  },
  'PROGRAM PAGE CACHE': (rig) => {
    expect(busyNs(rig.at(0x80, HERE).data(1).command(0x15))).toBe(12_000);
    rig.wait();
    expect(rig.status()).toBe(0xc0);
    rig.at(0x80, { block: 4, page: 1 }).data(2).command(0x10).wait();
    expect(rig.status()).toBe(0xe0);
    expect([rig.stored(4, 0, 1), rig.stored(4, 1, 1)]).toEqual([[1], [2]]);
  },
  'CHANGE WRITE COLUMN': (rig) => {
    rig.at(0x80, HERE).data(1).command(0x85).address(3, 0).pass(200).data(4).command(0x10).wait();
    expect(rig.stored(4, 0)).toEqual([1, 0xff, 0xff, 4]);
  },
  'CHANGE ROW ADDRESS': (rig) => {
    rig.at(0x80, HERE).data(1);
    rig.at(0x85, { block: 6, page: 0, column: 2 }).data(3).command(0x10).wait();
    expect(rig.stored(6, 0)).toEqual([1, 0xff, 3, 0xff]);
    expect(rig.array.pageOf(4, 0)).toBeNull();
  },
  'ERASE BLOCK': (rig) => {
    rig.program(HERE, 1);
    expect(busyNs(rig.at(0x60, HERE).command(0xd0))).toBe(ERASE);
    expect(rig.wait().status()).toBe(0xe0);
    expect(rig.array.pageOf(4, 0)).toBeNull();
  },
  'ERASE BLOCK MULTI-PLANE': (rig) => {
    for (const block of [4, 5]) rig.program({ block, page: 0 }, 1);
    expect(busyNs(rig.at(0x60, HERE).command(0xd1))).toBe(500);
    rig.wait();
    expect(busyNs(rig.at(0x60, { block: 5, page: 0 }).command(0xd0))).toBe(ERASE);
    rig.wait();
    expect([...rig.array.eraseCounts.subarray(4, 6)]).toEqual([1, 1]);
    // The older style, without a confirm between the addresses.
    rig.at(0x60, HERE).at(0x60, { block: 5, page: 0 }).command(0xd0).wait();
    expect([...rig.array.eraseCounts.subarray(4, 6)]).toEqual([2, 2]);
    // All ones instead of a block make the die forget the queue.
    rig.at(0x60, HERE).command(0xd1).wait().command(0x60).address(0xff, 0xff, 0xff).command(0xd1);
    rig.at(0x60, { block: 7, page: 0 }).command(0xd0).wait();
    expect([...rig.array.eraseCounts.subarray(4, 8)]).toEqual([2, 2, 0, 1]);
  },
  'COPYBACK READ': (rig) => {
    rig.program(HERE, 1, 2);
    expect(busyNs(rig.at(0x00, HERE).command(0x35))).toBe(READ_LSB);
    expect(rig.wait().read(2)).toEqual([1, 2]);
  },
  'COPYBACK PROGRAM': (rig) => {
    rig.program(HERE, 1, 2).at(0x00, HERE).command(0x35).wait();
    rig.at(0x85, { block: 8, page: 0, column: 1 }).data(9);
    expect(busyNs(rig.command(0x10))).toBe(PROGRAM_LSB);
    rig.wait();
    expect(rig.stored(8, 0)).toEqual([1, 9, 0xff, 0xff]);
  },
  'COPYBACK PROGRAM MULTI-PLANE': (rig) => {
    rig.program(HERE, 1).program({ block: 5, page: 0 }, 2);
    rig.at(0x00, HERE).command(0x32).wait();
    rig.at(0x00, { block: 5, page: 0 }).command(0x35).wait();
    expect(busyNs(rig.at(0x85, { block: 8, page: 0 }).command(0x11))).toBe(500);
    rig.wait().at(0x85, { block: 9, page: 0 }).command(0x10).wait();
    expect([rig.stored(8, 0, 1), rig.stored(9, 0, 1)]).toEqual([[1], [2]]);
  },
};

describe('every command of the table', () => {
  test.each(COMMANDS)('$name: $cycles', ({ name }) => {
    const rig = OnfiRig.ready();
    const script = SCRIPTS[name];
    expect(script).toBeDefined();
    script!(rig);
    expect(rig.broken).toEqual([]);
  });

  test('no script is left over', () => {
    expect(Object.keys(SCRIPTS).sort()).toEqual(COMMANDS.map(({ name }) => name).sort());
  });

  test('every opcode stands in a command, with its address cycles', () => {
    const cycles = COMMANDS.map((row) => row.cycles).join(' ');
    for (const { opcode, addressCycles } of OPCODES) {
      if (opcode === Opcode.ProgramPageSecond) continue;
      const name = `${opcode.toString(16).toUpperCase().padStart(2, '0')}h`;
      expect(cycles).toContain(name);
      expect(ADDRESS_CYCLES[opcode]).toBe(addressCycles);
    }
  });

  test('the README shows the table', () => {
    const path = new URL('../../../nand/onfi/README.md', import.meta.url);
    const readme = readFileSync(path, 'utf8');
    for (const { name, cycles, busy } of COMMANDS) {
      expect(readme).toContain(`| ${name} | \`${cycles}\` | ${busy} |`);
    }
  });
});

describe('registers', () => {
  test('80h clears those of all planes, with the program clear bit only its own', () => {
    const otherPlane = (rig: OnfiRig) => {
      rig.program({ block: 5, page: 0 }, 7).at(0x00, { block: 5, page: 0 }).command(0x30).wait();
      rig.program({ block: 4, page: 0 }, 1);
      return rig.at(0x06, { block: 5, page: 0 }).command(0xe0).read(1);
    };
    expect(otherPlane(OnfiRig.ready())).toEqual([0xff]);
    expect(otherPlane(OnfiRig.ready().setFeature(0x01, 0x40))).toEqual([7]);
  });

  test('the interface changes when CE# rises after tITC, and not before', () => {
    const rig = OnfiRig.ready();
    rig.setFeature(0x01, 0x13).pass(2_000);
    expect(rig.die.features.bus).toEqual({ synchronous: false, mode: 0 });
    rig.die.chipEnable(1, rig.nowNs);
    expect(rig.die.features.bus).toEqual({ synchronous: true, mode: 3 });
  });

  test('a mode of the same interface changes by itself after tITC', () => {
    const rig = OnfiRig.ready();
    rig.setFeature(0x01, 0x05);
    expect(rig.die.features.mode).toBe(0);
    rig.pass(1_000);
    expect(rig.die.features.bus).toEqual({ synchronous: false, mode: 5 });
  });

  test('a deselected die hears nothing', () => {
    const rig = OnfiRig.ready();
    rig.die.chipEnable(1, rig.nowNs);
    rig.at(0x60, HERE).command(0xd0, 0x99);
    expect(rig.read(2)).toEqual([0xff, 0xff]);
    rig.die.chipEnable(0, rig.nowNs);
    expect(rig.status()).toBe(0xe0);
    expect(rig.broken).toEqual([]);
  });
});

describe('OTP area', () => {
  const OTP = { block: 0, page: 2 };

  test('lies beside the array, loses ones, and can be protected for good', () => {
    const rig = OnfiRig.ready();
    rig.setFeature(0x90, 1).program(OTP, 0xf0).program(OTP, 0x3f);
    expect(rig.readPage(OTP, 2)).toEqual([0x30, 0xff]);
    rig.program({ block: 0, page: 1 }, 0);
    expect(rig.status()).toBe(0xe0);
    rig.at(0x80, OTP).data(0).command(0x10);
    expect(rig.die.readyAtNs - rig.nowNs).toBe(30_000);
    expect(rig.wait().status()).toBe(0x60);
    expect(rig.readPage(OTP, 1)).toEqual([0x30]);
    rig.setFeature(0x90, 0);
    expect(rig.readPage(OTP, 1)).toEqual([0xff]);
    expect(rig.array.pageOf(0, 2)).toBeNull();
    expect(rig.broken).toEqual([]);
  });
});
