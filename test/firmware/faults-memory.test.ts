/**
 * Goal: a bit that turns over in DRAM or SRAM does what it would do: data reads as uncorrectable,
 * a wrong map ends in UNC or a panic, never in wrong data of another sector or a crash.
 * Method: single flips with known outcomes, then random flips under random commands on the toy
 * drive, held against a model disk.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BootState } from '../../firmware/boot.ts';
import { Host } from '../../firmware/host.ts';
import { TOY } from '../../firmware/profiles/toy.ts';
import type { Fault, SramFlip } from '../../hal/faults/fault.ts';
import { DESCRIPTOR_FIELDS } from '../../hal/faults/fault-kinds.ts';
import { PAGES_PER_COMMAND } from '../../hal/ports.ts';
import { History } from '../../hal/sim/history.ts';
import { InvariantBroken } from '../../hal/sim/invariant.ts';
import { RandomStream } from '../../hal/sim/random.ts';
import type { Saved } from '../../hal/sim/snapshot.ts';
import { encodeSnapshot, SnapshotFile } from '../../hal/sim/snapshot-file.ts';
import { findLeak } from '../kit/leaks.ts';
import { runToRest, toyRun } from '../kit/toy-run.ts';

const GOOD = 0x50;
const UNC = 0x40;
const PAGES = TOY.identity.sectors / 8;
const DESCRIPTOR_RULE = 'a flash descriptor names what exists';

type Flip = { region: string; cell?: number; byte?: number; bit: number };

function booted(profile = TOY): Host {
  const host = new Host(profile);
  host.boot();
  return host;
}

/** Turns a bit over at the next event. */
function flip(host: Host, fault: Flip): void {
  const { drive } = host;
  const id = drive.faults.add({ kind: 'dram-flip', ...fault });
  while (drive.faults.list()[id - 1]!.firedCount === 0) host.step();
}

function flipDescriptor(host: Host, fault: Omit<SramFlip, 'kind'>): void {
  host.drive.faults.add({ kind: 'sram-flip', ...fault });
  host.step();
}

/** Runs until power-on work is over and everything is on flash. */
function settled(host: Host): void {
  host.flush();
  while (host.drive.firmware.buffer.dirtyCount > 0) host.step();
}

function readPage(host: Host, lpn: number): { error: number; tag: number | null; lba: number } {
  const { status, error, tags, lba } = host.read(lpn * 8, 8);
  return { error: status === GOOD ? 0 : error, tag: tags?.[0] ?? null, lba };
}

/** Steps until a descriptor fits; returns its number. */
function descriptorWhere(host: Host, fits: (op: number) => boolean): number {
  const { ops, array } = host.drive;
  for (let left = 100_000; left > 0; left--) {
    for (let die = 0; die < array.dies.length; die++) {
      const current = array.currentOf(die);
      for (let op = 0; array.waitingCount(die) > 0 && op < ops.usedCount; op++) {
        if (op !== current && ops.die[op] === die && fits(op)) return op;
      }
    }
    host.step();
  }
  throw new Error('no descriptor fits');
}

describe('the map', () => {
  test('a turned bit ends in UNC, and the way back in the data', () => {
    const host = booted();
    host.write(80, [11, 12, 13]);
    settled(host);
    flip(host, { region: 'l2p', cell: 11, bit: 4 });
    expect(readPage(host, 11)).toEqual({ error: UNC, tag: null, lba: 88 });
    expect([readPage(host, 10).tag, readPage(host, 12).tag]).toEqual([11, 13]);
    flip(host, { region: 'l2p', byte: 44, bit: 4 });
    expect(readPage(host, 11)).toMatchObject({ error: 0, tag: 12 });
    expect(host.drive.dram.flippedCount).toBe(2);
    host.drive.firmware.verify();
  });

  test('any of the 32 bits: UNC, or data of the page itself', () => {
    const host = booted();
    host.write(0, [21]);
    host.write(0, [22, 23]);
    settled(host);
    for (let bit = 0; bit < 31; bit++) {
      flip(host, { region: 'l2p', cell: 0, bit });
      const { error, tag } = readPage(host, 0);
      // Its older copy is its own data too; a cell of 0 says that nothing was written.
      if (error === 0) expect([0, 21, 22]).toContain(tag);
      else expect(error).toBe(UNC);
      flip(host, { region: 'l2p', cell: 0, bit });
      expect(readPage(host, 0).tag).toBe(22);
    }
    expect(host.drive.panic).toBeNull();
    // With the highest bit the cell is below all flash slots: UNC, or a panic (ABRT).
    flip(host, { region: 'l2p', cell: 0, bit: 31 });
    expect(readPage(host, 0).error).toBe(host.drive.panic === null ? UNC : 4);
  });

  test('with a parity device bits are put right and counted', () => {
    const host = booted({ ...TOY, dram: { ...TOY.dram, parityDevice: true } });
    host.write(0, [31]);
    flip(host, { region: 'l2p', cell: 0, bit: 3 });
    flip(host, { region: 'firmware', byte: 5, bit: 0 });
    expect(readPage(host, 0)).toMatchObject({ error: 0, tag: 31 });
    const registers = host.drive.dram.registers().registers;
    const value = (name: string) => registers.find((each) => each.name === name)!.read();
    expect([value('CORRECTED'), value('FLIPPED'), host.drive.panic]).toEqual([2, 0, null]);
  });

  test('a valid bit more or less is what a walk of the tables finds', () => {
    const host = booted();
    host.write(0, [1, 2, 3]);
    settled(host);
    const slot = host.drive.l2p.values[1]! - 1;
    flip(host, { region: 'valid-bits', cell: slot >>> 5, bit: slot & 31 });
    expect(() => host.drive.firmware.verify()).toThrow('a mapped slot has its valid bit set');
    flip(host, { region: 'valid-bits', byte: slot >>> 3, bit: slot & 7 });
    host.drive.firmware.verify();
  });
});

describe('page data', () => {
  test('in the write buffer: UNC now and from flash, until it is written again', () => {
    const host = booted();
    host.write(0, [1, 2, 3]);
    expect(host.drive.firmware.buffer.dirtyCount).toBe(3);
    flip(host, { region: 'write-buffer', byte: 4096 + 77, bit: 5 });
    expect(readPage(host, 1)).toEqual({ error: UNC, tag: null, lba: 8 });
    settled(host);
    expect(readPage(host, 1).error).toBe(UNC);
    expect([readPage(host, 0).tag, readPage(host, 2).tag]).toEqual([1, 3]);
    // Three sectors written again are good, the others of the page are not.
    host.write(8, [9], 3);
    expect(host.read(8, 3).status).toBe(GOOD);
    expect(host.read(8, 4)).toMatchObject({ error: UNC, lba: 11 });
    host.write(8, [10]);
    settled(host);
    expect(readPage(host, 1)).toMatchObject({ error: 0, tag: 10 });
  });

  test('in the write buffer, when a program waits for its die: flash gets it as it is', () => {
    const host = booted();
    const tags = Array.from({ length: 60 }, (_, i) => 100 + i);
    host.submitWrite(0, tags);
    const { ops, firmware } = host.drive;
    const op = descriptorWhere(host, (each) => ops.op[each] === 1 && ops.argument[each] === 4);
    const place = ops.target[op * 8]!;
    const lpn = firmware.buffer.lpn[place]!;
    flip(host, { region: 'write-buffer', cell: place * 1024, bit: 0 });
    settled(host);
    expect(readPage(host, lpn).error).toBe(UNC);
    expect(readPage(host, lpn + 1)).toMatchObject({ error: 0, tag: 101 + lpn });
  });

  test('in a free place nothing is there to be lost', () => {
    const host = booted();
    host.write(0, [1]);
    settled(host);
    const state = host.drive.contents.save();
    for (const region of ['write-buffer', 'read-buffer', 'copy-buffer']) {
      flip(host, { region, byte: 0, bit: 1 });
    }
    expect(host.drive.contents.save()).toEqual(state);
    expect(readPage(host, 0).tag).toBe(1);
    expect(host.drive.faults.unfired()).toEqual([]);
  });

  test('in the read buffer: the read ends with UNC at that page, the next one is good', () => {
    const host = booted();
    const tags = Array.from({ length: 64 }, (_, i) => 1 + i);
    host.write(80, tags);
    settled(host);
    const id = host.submit({ opcode: 0x60, lba: 80, sectors: 512 });
    const { port } = host.drive;
    const slot = 0;
    const page = 33;
    host.runUntil(() => port.content[slot * PAGES_PER_COMMAND + page] !== 0);
    // The second window of 32 pages begins at the first place of the slot again.
    flip(host, { region: 'read-buffer', cell: (page - 32) * 1024 + 5, bit: 30 });
    host.runUntil(() => host.result(id) !== null);
    expect(host.result(id)).toMatchObject({ error: UNC, lba: 80 + page * 8 });
    const again = host.read(80, 512);
    expect([again.status, again.tags![page * 8]]).toEqual([GOOD, 1 + page]);
  });

  test('in the copy buffer: that page is lost, those beside it move on', () => {
    const host = booted();
    const { collector } = host.drive.firmware;
    const random = new RandomStream('copies', 'test');
    const copies = () => collector.save().copies as Saved;
    const written = new Map<number, number>();
    for (let tag = 1; (copies().count as number) < 3 && tag < 60_000; tag++) {
      const lpn = random.below(PAGES);
      host.submitWrite(lpn * 8, [tag]);
      written.set(lpn, tag);
      while (host.drive.queue!.pendingCount > 16 && (copies().count as number) < 3) host.step();
    }
    const { head, pageWord, content } = copies() as Record<string, number | Int32Array>;
    const place = ((head as number) + 2) % (content as Int32Array).length;
    const lpn = ((pageWord as Int32Array)[place]! & 0x0fff_ffff) - 1;
    host.drive.faults.add({ kind: 'dram-flip', region: 'copy-buffer', cell: place * 1024, bit: 7 });
    host.runUntil(() => host.drive.queue!.pendingCount === 0);
    settled(host);
    expect(host.drive.faults.unfired()).toEqual([]);
    const lost = [...written].filter(([page, tag]) => readPage(host, page).tag !== tag);
    expect(lost.map(([page]) => page)).toEqual([lpn]);
    expect(readPage(host, lpn).error).toBe(UNC);
  });
});

describe('firmware and its tables', () => {
  test('a bit of the image stops both cores; the host sees a device fault', () => {
    const host = booted();
    const id = host.submitWrite(0, [1, 2]);
    flip(host, { region: 'firmware', byte: 1000, bit: 7 });
    expect(host.drive.panic!.rule).toBe('a bit of the firmware image has flipped');
    expect(host.drive.aragon.core.panic).not.toBeNull();
    host.runUntil(() => host.result(id) !== null);
    // ERR and DF of the status register.
    expect(host.result(id)!.status & 0x21).toBe(0x21);
    host.drive.powerOff();
    host.boot();
    expect([host.drive.panic, host.drive.bootState]).toEqual([null, BootState.Ready]);
  });

  test('a row of the block table: each of its fields', () => {
    const host = booted();
    const { superblocks } = host.drive.firmware;
    const row = 5;
    const at = (byte: number, bit: number) =>
      flip(host, { region: 'block-table', byte: row * 32 + byte, bit });
    at(1, 0);
    at(3, 1);
    at(4, 2);
    at(11, 7);
    at(17, 6);
    at(18, 0);
    at(24, 3);
    expect(superblocks.lsbOnly[row]).toBe(1);
    expect(superblocks.programsInFlight[row]).toBe(512);
    expect(superblocks.eraseCount[row]).toBe(4);
    expect(superblocks.validCount[row]).toBe(-(2 ** 31));
    expect(superblocks.invalidatedOrder[row]).toBe(2 ** 46);
    expect(superblocks.openedNumber[row]).toBe(1);
    expect(superblocks.bad.isBad(row, 3)).toBe(true);
    at(0, 2);
    expect([superblocks.state[row], host.drive.panic]).toEqual([4, null]);
    at(0, 3);
    expect(host.drive.panic!.rule).toBe('a row of the block table has a state that exists');
    expect(superblocks.state[row]).toBe(4);
  });

  test('memory without power holds nothing', () => {
    const cutAtEvent = (from: number): Host => {
      const host = booted();
      host.drive.faults.add({
        ...{ kind: 'dram-flip', region: 'firmware', byte: 0, bit: 0 },
        when: { from },
      });
      host.drive.cutPowerAt(host.drive.timeline.nowNs + 1_000);
      while (host.drive.power.on) host.step();
      return host;
    };
    const { ordinal } = cutAtEvent(1e9).drive.timeline;
    const host = cutAtEvent(ordinal);
    expect([host.drive.faults.unfired(), host.drive.panic]).toEqual([[], null]);
    host.boot();
  });
});

describe('flash descriptors', () => {
  /** A write of which a program waits for its die. */
  function waiting(): { host: Host; op: number } {
    const host = booted();
    host.submitWrite(
      0,
      Array.from({ length: 60 }, (_, i) => 100 + i),
    );
    const { ops } = host.drive;
    const op = descriptorWhere(host, (each) => ops.op[each] === 1 && ops.argument[each] === 4);
    return { host, op };
  }

  test.each([
    ['op', 1],
    ['die', 2],
    ['die', 31],
    ['block', 0],
    ['block', 6],
    ['page', 4],
    ['slotMask', 4],
    ['urgent', 1],
    ['owner', 3],
    ['argument', 20],
  ])('%s: bit %i names what does not exist: both cores stop', (field, bit) => {
    const { host, op } = waiting();
    const column = (host.drive.ops as unknown as Record<string, Int32Array>)[field]!;
    const was = column[op]!;
    flipDescriptor(host, { descriptor: op, field, bit });
    expect(host.drive.panic?.rule).toBe(DESCRIPTOR_RULE);
    expect(host.drive.aragon.core.panic?.rule).toBe(DESCRIPTOR_RULE);
    expect(column[op]).toBe(was);
  });

  test('a page in another block of the die: what was meant to be there is UNC', () => {
    const { host, op } = waiting();
    const { ops, firmware } = host.drive;
    const lpn = firmware.buffer.lpn[ops.target[op * 8]!]!;
    flipDescriptor(host, { descriptor: op, field: 'pageWord', slot: 0, bit: 9 });
    expect(host.drive.panic).toBeNull();
    settled(host);
    expect(readPage(host, lpn).error).toBe(UNC);
    expect(readPage(host, lpn + 1)).toMatchObject({ error: 0, tag: 101 + lpn });
  });

  test('a status counts when the operation has ended: a good program that seems failed', () => {
    const doneHead = ({ drive }: Host) => (drive.array.save().queues as Saved).doneHead as number;
    /** Runs to the first end of a program of which every slot is a mixture. */
    const programEnded = (fault: Omit<SramFlip, 'kind'> | null): Host => {
      const host = booted();
      if (fault !== null) host.drive.faults.add({ kind: 'sram-flip', ...fault });
      for (let page = 0; page < 8; page++) host.submitWrite(page * 8, [50 + page], 3);
      const { ops } = host.drive;
      host.runUntil(() => {
        const op = doneHead(host);
        return op >= 0 && ops.op[op] === 1 && ops.content[op * 8]! < 0 && ops.argument[op] === 4;
      });
      return host;
    };
    const dry = programEnded(null);
    const { ordinal } = dry.drive.timeline;
    const flipped = { descriptor: doneHead(dry), field: 'status', bit: 0 };
    for (const [from, failures] of [
      [ordinal - 1, 0],
      [ordinal, 1],
    ] as const) {
      const host = programEnded({ ...flipped, when: { from } });
      settled(host);
      expect(host.drive.firmware.smart.programFailures).toBe(failures);
      for (let page = 0; page < 8; page++) {
        expect(host.read(page * 8, 3).tags![2]).toBe(50 + page);
      }
      expect([host.drive.panic, findLeak(host)]).toEqual([null, null]);
    }
  });

  test('data is found by its address: a wrong one stops both cores', () => {
    const { host, op } = waiting();
    flipDescriptor(host, { descriptor: op, field: 'content', slot: 1, bit: 3 });
    expect(host.drive.panic?.rule).toBe(DESCRIPTOR_RULE);
  });

  test('a free descriptor is filled in anew', () => {
    const host = booted();
    for (const [field, { bits, isPerSlot }] of Object.entries(DESCRIPTOR_FIELDS)) {
      const slot = isPerSlot ? { slot: 2 } : {};
      flip(host, { region: 'copy-buffer', byte: 0, bit: 0 });
      host.drive.faults.add({ kind: 'sram-flip', descriptor: 3, field, bit: bits - 1, ...slot });
    }
    host.write(0, [1, 2, 3]);
    settled(host);
    expect(host.drive.faults.unfired()).toEqual([]);
    expect([host.drive.panic, readPage(host, 2).tag]).toEqual([null, 3]);
  });
});

describe('rules that break in a die', () => {
  test('after a fault they are a panic; without one they are thrown', () => {
    const host = booted();
    host.drive.faults.add({ kind: 'silent-no-op', op: 'erase', times: 'unlimited' });
    for (let tag = 1; host.drive.panic === null && tag < 60_000; tag++) {
      host.submitWrite(((tag * 37) % PAGES) * 8, [tag]);
      const { queue, panic } = host.drive;
      while (queue!.pendingCount > 16 && panic === null && host.step() && isRunning(host));
    }
    expect(host.drive.panic!.rule).toBe('a block takes its pages in rising order');
    host.drive.powerOff();
    host.boot();

    const plain = booted();
    plain.submitWrite(0, [1, 2, 3, 4]);
    const { array } = plain.drive;
    plain.runUntil(() => array.work.op.some((op) => op >= 0 && plain.drive.ops.op[op] === 1));
    for (let block = 0; block < plain.drive.geometry.blocks; block++) {
      array.store.history.load(block, 16, 0);
    }
    expect(() => plain.flush()).toThrow(InvariantBroken);
  });
});

function isRunning(host: Host): boolean {
  return host.drive.panic === null;
}

/** A random flip anywhere, but in the firmware image, due at a random ordinal. */
const anyFlip = fc.oneof(
  fc.record({
    region: fc.constantFrom(
      ...(['l2p', 'valid-bits', 'block-table', 'write-buffer', 'read-buffer'] as const),
      'copy-buffer' as const,
    ),
    place: fc.nat(2 ** 31 - 1),
    bit: fc.nat(31),
    from: fc.integer({ min: 100, max: 12_000 }),
  }),
  fc.record({
    field: fc.constantFrom(...Object.keys(DESCRIPTOR_FIELDS)),
    descriptor: fc.nat(40),
    bit: fc.nat(31),
    from: fc.integer({ min: 100, max: 12_000 }),
  }),
);

type AnyFlip = typeof anyFlip extends fc.Arbitrary<infer Value> ? Value : never;

function faultOf(flip: AnyFlip, host: Pick<Host, 'drive'>): Fault {
  const when = { from: flip.from };
  if ('region' in flip) {
    const { bytes } = host.drive.dram.regions.find(({ name }) => name === flip.region)!;
    const cell = flip.place % Math.floor(bytes / 4);
    return { kind: 'dram-flip', region: flip.region, cell, bit: flip.bit, when };
  }
  const { field, descriptor } = flip;
  const { bits, isPerSlot } = DESCRIPTOR_FIELDS[field]!;
  const slot = isPerSlot ? { slot: flip.bit & 3 } : {};
  return { kind: 'sram-flip', descriptor, field, bit: flip.bit % bits, ...slot, when };
}

describe('random flips', () => {
  test('anywhere: no event ever throws, and power brings the drive back', () => {
    let panics = 0;
    fc.assert(
      fc.property(fc.array(anyFlip, { minLength: 1, maxLength: 12 }), fc.nat(), (flips, seed) => {
        const drive = toyRun(`flips ${seed}`, 400);
        for (const each of flips) drive.faults.add(faultOf(each, { drive }));
        const { timeline } = drive;
        const limit = 60_000;
        while (timeline.ordinal < limit && drive.panic === null && timeline.step());
        for (let i = 0; i < 2000 && timeline.step(); i++);
        if (drive.panic !== null) panics++;
        drive.powerOff();
        drive.powerOn();
        for (let i = 0; i < 20_000 && !drive.isReady && timeline.step(); i++);
        if (!drive.isReady && drive.panic === null) throw new Error('it does not come up again');
      }),
      { numRuns: 40 },
    );
    expect(panics).toBeGreaterThan(0);
  });

  /** Random whole-page writes and reads, 8 pages at most; returns every tag each page ever had. */
  function play(host: Host, seed: string, commands: number): Map<number, number[]> {
    const random = new RandomStream(seed, 'flips');
    const tags = new Map<number, number[]>();
    let tag = 1;
    for (let i = 0; i < commands && isRunning(host); i++) {
      const lpn = random.below(600);
      const count = 1 + random.below(8);
      if (random.below(4) === 0) host.submit({ opcode: 0x60, lba: lpn * 8, sectors: count * 8 });
      else {
        const own = Array.from({ length: count }, () => tag++);
        host.submitWrite(lpn * 8, own);
        for (const [j, each] of own.entries()) {
          tags.set(lpn + j, [...(tags.get(lpn + j) ?? []), each]);
        }
      }
      while (host.drive.queue!.pendingCount > 8 && isRunning(host) && host.step());
    }
    while (host.drive.queue!.pendingCount > 0 && isRunning(host) && host.step());
    return tags;
  }

  test('of data: every page reads as last written or UNC, at most one a flip', () => {
    let lostCount = 0;
    const places = fc.record({
      region: fc.constantFrom('write-buffer', 'read-buffer', 'copy-buffer'),
      place: fc.nat(2 ** 31 - 1),
      bit: fc.nat(31),
      from: fc.integer({ min: 300, max: 12_000 }),
    });
    fc.assert(
      fc.property(fc.array(places, { minLength: 4, maxLength: 30 }), fc.nat(), (flips, seed) => {
        const host = booted();
        for (const each of flips) {
          // The data of 64 places: what is in use.
          const place = each.place % (64 * 1024);
          host.drive.faults.add(faultOf({ ...each, region: each.region as 'l2p', place }, host));
        }
        const tags = play(host, `${seed}`, 1200);
        host.drive.faults.liftAll();
        if (host.drive.panic !== null) throw new Error(host.drive.panic.rule);
        let lost = 0;
        for (const [lpn, own] of tags) {
          const { error, tag } = readPage(host, lpn);
          if (error === UNC) lost++;
          else if (tag !== own.at(-1)) throw new Error(`page ${lpn}: ${tag}, not ${own.at(-1)}`);
        }
        if (lost > flips.length) throw new Error(`${lost} pages are lost to ${flips.length} flips`);
        host.drive.firmware.verify();
        lostCount += lost;
      }),
      { numRuns: 15 },
    );
    expect(lostCount).toBeGreaterThan(0);
  });

  test('of map and valid bits: a page reads as one of its own versions or UNC, or a panic', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            region: fc.constantFrom('l2p', 'valid-bits'),
            place: fc.nat(599),
            bit: fc.nat(31),
            from: fc.integer({ min: 300, max: 12_000 }),
          }),
          { minLength: 1, maxLength: 20 },
        ),
        fc.nat(),
        (flips, seed) => {
          const host = booted();
          for (const each of flips) {
            host.drive.faults.add(faultOf({ ...each, region: each.region as 'l2p' }, host));
          }
          const tags = play(host, `${seed}`, 1200);
          for (const [lpn, own] of tags) {
            if (!isRunning(host)) return;
            const { error, tag } = readPage(host, lpn);
            if (error === 0 && tag !== 0 && !own.includes(tag!)) {
              throw new Error(`page ${lpn} reads ${tag}, which it never was`);
            }
          }
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe('flips and the run', () => {
  const FLIPS: Fault[] = [
    { kind: 'dram-flip', region: 'l2p', cell: 100, bit: 3, when: { from: 3_000 } },
    { kind: 'dram-flip', region: 'write-buffer', byte: 9_000, bit: 3, when: { from: 4_000 } },
    { kind: 'sram-flip', descriptor: 2, field: 'order', slot: 1, bit: 3, when: { from: 5_000 } },
    { kind: 'dram-flip', region: 'block-table', byte: 12 * 32 + 5, bit: 3, when: { from: 6_000 } },
  ];

  test('those that are not due yet change nothing of the run', () => {
    const plain = toyRun('memory', 300);
    runToRest(plain);
    const armed = toyRun('memory', 300);
    for (const each of FLIPS) armed.faults.add({ ...each, when: { from: 1e9 } } as Fault);
    runToRest(armed);
    expect(armed.timeline.hash).toBe(plain.timeline.hash);
    armed.faults.liftAll();
    expect(armed.timeline.alertOrdinal).toBe(Number.POSITIVE_INFINITY);
  });

  test('they fire just after their events, and again when the run has gone back', () => {
    const drive = toyRun('memory', 1_000);
    for (const each of FLIPS) drive.faults.add(each);
    const history = new History(drive.machine, { intervalEvents: 700 });
    const marks: { ordinal: number; state: number; fired: number[] }[] = [];
    const fired = () => drive.faults.list().map(({ firedCount }) => firedCount);
    for (let ordinal = 2_500; ordinal <= 9_000; ordinal += 250) {
      history.runToOrdinal(ordinal);
      marks.push({ ordinal, state: drive.machine.stateHash(), fired: fired() });
    }
    expect(marks.at(-1)!.fired).toEqual([1, 1, 1, 1]);
    expect(drive.faults.list().map((each) => each.firstFiredOrdinal)).toEqual([
      ...[3_000, 4_000, 5_000, 6_000],
    ]);
    for (let i = 0; i < marks.length; i++) {
      const mark = marks[(i * 11) % marks.length]!;
      history.goTo(mark.ordinal);
      expect(fired()).toEqual(mark.fired);
      expect(drive.machine.stateHash()).toBe(mark.state);
    }
  });

  test('they are saved and restored with the machine', () => {
    const drive = toyRun('memory', 600);
    for (const each of FLIPS) drive.faults.add(each);
    drive.timeline.runToOrdinal(4_500);
    const saved = Buffer.concat([...encodeSnapshot(drive.machine, { profile: 'toy' })]);
    const fresh = toyRun('memory', 600);
    SnapshotFile.open(saved).restoreInto(fresh.machine);
    expect(fresh.timeline.alertOrdinal).toBe(5_000);
    for (const each of [drive, fresh]) each.timeline.runToOrdinal(9_000);
    expect(fresh.timeline.hash).toBe(drive.timeline.hash);
    expect(fresh.machine.stateHash()).toBe(drive.machine.stateHash());
    expect(fresh.faults.unfired()).toEqual([]);
  });
});
