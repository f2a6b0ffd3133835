/**
 * Goal: the dumped tables are the drive's.
 * Method: exact rows of a tiny scripted run, derived by hand from the geometry; the map both ways
 * against each other after random writes and trims; every narrowing against the whole table.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Drive } from '../../../firmware/drive.ts';
import { Host } from '../../../firmware/host.ts';
import { AtaOpcode } from '../../../hal/ata.ts';
import {
  DUMP_TABLES,
  type DumpOptions,
  dumpColumns,
  dumpRows,
  dumpTable,
} from '../../../tools/dump/tables.ts';

function rows(drive: Drive, name: string, options: DumpOptions = {}): Record<string, unknown>[] {
  const { columns, rows } = dumpTable(drive, name, options);
  return rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at]])));
}

/** Writes and trims over the whole drive, from a fixed sequence. */
function shuffle(host: Host, commands: number): void {
  let state = 12345;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  for (let i = 1; i <= commands; i++) {
    const pages = 1 + below(8);
    const lba = 8 * below(5120 - pages + 1);
    if (i % 16 === 0) host.trim([{ lba, sectors: pages * 8 }]);
    else
      host.write(
        lba,
        Array.from({ length: pages }, (_, page) => i * 16 + page),
      );
  }
}

describe('a tiny run', () => {
  const host = new Host('toy');
  const { drive } = host;

  test('a drive that was just booted maps nothing and has one root superblock', () => {
    host.boot();
    expect(dumpTable(drive, 'l2p').rows).toEqual([]);
    expect(dumpTable(drive, 'cache').rows).toEqual([]);
    expect(dumpTable(drive, 'ncq').rows).toEqual([]);
    // Superblock 0 holds the root records, and the others are in their numbers' order.
    const free = Array.from({ length: 31 }, (_, i) => [i + 1, 0]);
    expect(dumpTable(drive, 'free').rows).toEqual(free);
    expect(rows(drive, 'superblocks', { count: 1 })).toMatchObject([
      { superblock: 0, state: 'Root', validSlots: 0 },
    ]);
  });

  test('pages that were written wait in the buffer', () => {
    host.write(0, [11, 12]);
    host.write(40, [13]);
    expect(dumpTable(drive, 'cache').rows).toEqual([
      [0, 0, 0, 1, 0, 'waiting', 11],
      [1, 1, 1, 1, 1, 'waiting', 12],
      [2, 2, 5, 2, 1, 'waiting', 13],
    ]);
    // The toy has 32 superblocks of 256 slots: cells above 8192 are places in the buffer.
    expect(dumpTable(drive, 'l2p').rows).toEqual([
      [0, 8193, 'buffer 0'],
      [1, 8194, 'buffer 1'],
      [5, 8195, 'buffer 2'],
    ]);
    expect(rows(drive, 'p2l').filter(({ lpn }) => lpn !== null)).toEqual([]);
  });

  test('after a flush they are in the first unit of the first erased superblock', () => {
    host.flush();
    expect(dumpTable(drive, 'cache').rows).toEqual([]);
    const places = [
      'ch0.die0 block 2 page 0 slot 0',
      'ch0.die0 block 2 page 0 slot 1',
      'ch0.die0 block 3 page 0 slot 0',
    ];
    const { geometry } = drive;
    const slots = [
      geometry.slotOf(0, 2, 0, 0),
      geometry.slotOf(0, 2, 0, 1),
      geometry.slotOf(0, 3, 0, 0),
    ];
    expect(dumpTable(drive, 'l2p').rows).toEqual([
      [0, slots[0]! + 1, places[0]],
      [1, slots[1]! + 1, places[1]],
      [5, slots[2]! + 1, places[2]],
    ]);
    expect(dumpTable(drive, 'p2l', { superblock: 1 }).rows).toEqual([
      [slots[0], places[0], 1, 0, null, 1, '', 1, 11],
      [slots[1], places[1], 1, 1, null, 1, 'last', 1, 12],
      [slots[2], places[2], 1, 5, null, 2, 'last', 1, 13],
    ]);
    expect(rows(drive, 'superblocks', { superblock: 1 })).toMatchObject([
      { superblock: 1, state: 'Open', lsbOnly: 1, eraseCount: 0, validSlots: 3 },
    ]);
  });

  test('root records are metadata: they have a page number and no logical page', () => {
    const root = rows(drive, 'p2l', { superblock: 0 });
    expect(root.length).toBeGreaterThan(0);
    for (const row of root) expect(row).toMatchObject({ lpn: null, flags: 'metadata', valid: 0 });
  });

  test('a command under way is in its slot', () => {
    host.submit({ opcode: AtaOpcode.ReadFpdmaQueued, lba: 8, sectors: 16 });
    host.runUntil(() => dumpTable(drive, 'ncq').rows.length > 0);
    expect(rows(drive, 'ncq')).toMatchObject([
      { slot: 0, phase: 'Held', opcode: 'READ FPDMA QUEUED', lba: 8, sectors: 16, pages: 2 },
    ]);
    const machines = rows(drive, 'machines');
    expect(machines).toContainEqual({
      ...{ machine: 'slot0', state: 'Held', detail: 'READ FPDMA QUEUED lba 8 +16' },
    });
    expect(machines).toContainEqual({ machine: 'boot', state: 'Ready', detail: '' });
  });

  test('the timeline is in firing order and begins with what fires next', () => {
    const alarms = rows(drive, 'timeline');
    expect(alarms[0]).toMatchObject({ alarm: drive.timeline.nextName });
    const times = alarms.map(({ inNs }) => inNs as number);
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });

  test('registers, memory and SMART say what the parts say', () => {
    const registers = rows(drive, 'registers');
    expect(registers).toContainEqual({
      ...{ block: 'PMU', address: '0x8000_0000', register: 'VIN', value: '0x0000_1388' },
      says: 'SATA connector, mV',
    });
    const regions = rows(drive, 'dram');
    const bytes = regions.reduce((sum, region) => sum + (region.bytes as number), 0);
    expect(bytes).toBe(drive.dram.bytes);
    expect(rows(drive, 'smart')).toContainEqual({
      ...{ id: 12, attribute: 'power cycles', value: 100, raw: 1 },
    });
  });
});

describe('after random writes and trims', () => {
  const host = new Host('toy');
  const { drive } = host;

  beforeAll(() => {
    host.boot();
    shuffle(host, 3000);
  });

  test('a page that the map finds in flash is the valid slot that carries its number', () => {
    const l2p = rows(drive, 'l2p').filter(({ cell }) => (cell as number) <= drive.geometry.slots);
    const valid = rows(drive, 'p2l').filter((row) => row.valid === 1);
    expect(valid.map(({ lpn, where }) => `${lpn} ${where}`).sort()).toEqual(
      l2p.map(({ lpn, where }) => `${lpn} ${where}`).sort(),
    );
    expect(l2p.length).toBeGreaterThan(1000);
  });

  test('a superblock counts the valid slots that p2l shows in it', () => {
    const counts = new Map<unknown, number>();
    for (const { superblock, valid } of rows(drive, 'p2l')) {
      if (valid === 1) counts.set(superblock, (counts.get(superblock) ?? 0) + 1);
    }
    for (const { superblock, validSlots } of rows(drive, 'superblocks')) {
      expect(validSlots).toBe(counts.get(superblock) ?? 0);
    }
  });

  test('free superblocks are those of the block table, least worn first', () => {
    const free = rows(drive, 'free');
    const table = rows(drive, 'superblocks').filter(({ state }) => state === 'Free');
    expect(new Set(free.map(({ superblock }) => superblock))).toEqual(
      new Set(table.map(({ superblock }) => superblock)),
    );
    const wear = free.map(({ eraseCount }) => eraseCount as number);
    expect(wear).toEqual([...wear].sort((a, b) => a - b));
  });

  test('narrowed tables are parts of the whole', () => {
    for (const table of ['l2p', 'p2l']) {
      const whole = dumpTable(drive, table).rows;
      const from = whole[100]![0] as number;
      expect(dumpTable(drive, table, { from, count: 7 }).rows).toEqual(whole.slice(100, 107));
    }
    const parts = Array.from(
      { length: drive.geometry.superblocks },
      (_, superblock) => dumpTable(drive, 'p2l', { superblock }).rows,
    ).flat();
    expect(parts.length).toBe(dumpTable(drive, 'p2l').rows.length);
    const free = dumpTable(drive, 'free').rows;
    expect(dumpTable(drive, 'free', { from: 2, count: 2 }).rows).toEqual(free.slice(2, 4));
  });

  test('every row has a cell a column, and dumping changes nothing', () => {
    const before = drive.machine.stateHash();
    for (const { name } of DUMP_TABLES) {
      const width = dumpColumns(name).length;
      const odd = [...dumpRows(drive, name)].find((row) => row.length !== width);
      expect(odd, name).toBeUndefined();
    }
    expect(drive.machine.stateHash()).toBe(before);
  });
});

describe('errors', () => {
  const { drive } = new Host('toy');

  test.each([
    ['lp2', {}, "no table 'lp2' (did you mean 'l2p'?); the tables are machines, l2p,"],
    ['l2p', { from: -1 }, 'from must be a whole number from 0, not -1'],
    ['l2p', { count: 1.5 }, 'count must be a whole number from 0, not 1.5'],
    ['p2l', { superblock: 32 }, 'superblock must be 0 to 31 on this drive, not 32'],
    ['ncq', { superblock: 1 }, "'ncq' cannot be narrowed to a superblock; l2p, p2l, superblocks"],
  ])('%s %o', (name, options, sentence) => {
    expect(() => dumpTable(drive, name, options)).toThrow(sentence);
  });

  test('no rows are asked for: none are made', () => {
    expect(dumpTable(drive, 'superblocks', { count: 0 }).rows).toEqual([]);
  });
});
