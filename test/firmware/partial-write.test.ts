/**
 * Goal: writes of less than a page change their sectors and nothing beside them.
 * Method: toy drives with real bytes against a plain array; single cases counted in flash reads.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Host } from '../../firmware/host.ts';
import { ByteContent } from '../../hal/content/byte-content.ts';
import { FlashOp } from '../../hal/flash-ops.ts';
import { findLeak } from '../kit/leaks.ts';

/** Few pages, so that parts of one page meet in buffer, flash and in flight. */
const SECTORS = 6 * 8;

const write = fc.integer({ min: 1, max: 20 }).chain((sectors) =>
  fc.record({
    lba: fc.integer({ min: 0, max: SECTORS - sectors }),
    sectors: fc.constant(sectors),
    fill: fc.integer({ min: 1, max: 255 }),
  }),
);
const round = fc.record({
  writes: fc.array(write, { minLength: 1, maxLength: 32 }),
  /** Events between a write and the next. */
  gap: fc.integer({ min: 0, max: 12 }),
  flush: fc.boolean(),
});

function booted(): Host {
  const host = new Host('toy');
  host.boot();
  return host;
}

/** Everything on flash, collection and erases over. */
function atRest(host: Host): void {
  host.flush();
  host.runUntil(() => host.drive.ops.usedCount === 0);
}

describe('partial writes: sectors', () => {
  test('one at a time, real bytes: the drive is a plain array of bytes', () => {
    fc.assert(
      fc.property(fc.array(round, { minLength: 1, maxLength: 6 }), (rounds) => {
        const host = new Host('toy', { contents: (machine) => new ByteContent(64, null, machine) });
        host.boot();
        const plain = new Uint8Array(SECTORS * 512);
        for (const { writes, flush } of rounds) {
          for (const { lba, sectors, fill } of writes) {
            const bytes = Uint8Array.from({ length: sectors * 512 }, (_, i) => fill + (i >> 9));
            host.writeBytes(lba, bytes);
            plain.set(bytes, lba * 512);
          }
          if (flush) host.flush();
          expect(Buffer.compare(host.read(0, SECTORS).bytes!, plain)).toBe(0);
        }
      }),
      { numRuns: 40 },
    );
  });

  test('many at once to the same pages: each sector holds a write that nothing came after', () => {
    fc.assert(
      fc.property(fc.array(round, { minLength: 1, maxLength: 6 }), (rounds) => {
        const host = booted();
        const sectors = Array.from({ length: SECTORS }, () => [0]);
        let tag = 1;
        for (const { writes, gap, flush } of rounds) {
          const issued = writes.map(({ lba, sectors: count }, i) => {
            const pages = Math.ceil(((lba % 8) + count) / 8);
            const id = host.submitWrite(lba, new Array(pages).fill(tag + i), count);
            for (let event = 0; event < gap; event++) host.step();
            return { id, lba, count, tag: tag + i };
          });
          tag += writes.length;
          host.runUntil(() => issued.every(({ id }) => host.result(id) !== null));
          for (let sector = 0; sector < SECTORS; sector++) {
            const over = issued.filter((w) => w.lba <= sector && sector < w.lba + w.count);
            if (over.length > 0) sectors[sector] = over.map((w) => w.tag);
          }
          if (flush) host.flush();
          const wrong = [...host.read(0, SECTORS).tags!].findIndex(
            (found, sector) => !sectors[sector]!.includes(found),
          );
          expect(wrong).toBe(-1);
          host.read(0, SECTORS).tags!.forEach((found, sector) => {
            sectors[sector] = [found];
          });
        }
        atRest(host);
        host.drive.firmware.verify();
        expect(findLeak(host)).toBeNull();
      }),
      { numRuns: 120 },
    );
  });

  test('of two writes, the one issued after the other has ended wins, whatever is under way', () => {
    const host = booted();
    host.write(
      0,
      Array.from({ length: 6 }, (_, i) => i + 1),
    );
    host.flush(); // so that partial writes must read flash first
    for (let i = 10; i < 40; i++) {
      const slow = host.submitWrite(13, [i * 100, i * 100, i * 100], 6 + (i % 7));
      const first = host.submitWrite(16, [i], 8);
      host.runUntil(() => host.result(first) !== null);
      const second = host.submitWrite(24, [i + 1000], 8);
      host.runUntil(() => host.result(slow) !== null && host.result(second) !== null);
      const third = host.submitWrite(17, [i + 2000], 3);
      host.runUntil(() => host.result(third) !== null);
      const tags = host.read(16, 16).tags!;
      expect([...tags.slice(1, 4), tags[15]]).toEqual([...Array(3).fill(i + 2000), i + 1000]);
      if (i % 3 === 0) host.flush();
    }
  });
});

describe('partial writes: what they cost', () => {
  const reads = (host: Host) => host.drive.array.counters.done[FlashOp.Read]!;

  test('over flash: one read an edge', () => {
    const host = booted();
    host.write(0, [1, 2, 3, 4]);
    host.flush();
    const before = reads(host);
    host.write(3, [10], 2);
    expect(reads(host) - before).toBe(1);
    host.write(12, [11, 12], 8); // second half of page 1, first half of page 2
    expect(reads(host) - before).toBe(3);
    const tags = [...host.read(0, 32).tags!];
    expect(tags.slice(0, 8)).toEqual([1, 1, 1, 10, 10, 1, 1, 1]);
    expect(tags.slice(8, 24)).toEqual([2, 11, 12, 3].flatMap((tag) => Array(4).fill(tag)));
  });

  test('over the buffer, or over nothing: none', () => {
    const host = booted();
    const before = reads(host);
    host.write(2, [1], 1);
    host.write(4, [2], 3);
    host.write(1, [3], 2);
    expect([...host.read(0, 8).tags!]).toEqual([0, 3, 3, 0, 2, 2, 2, 0]);
    expect(reads(host) - before).toBe(0);
  });

  test('whole pages between two edges are not read', () => {
    const host = booted();
    host.write(
      0,
      Array.from({ length: 12 }, (_, i) => i + 1),
    );
    host.flush();
    const before = reads(host);
    host.write(4, Array(11).fill(50), 80);
    expect(reads(host) - before).toBe(2);
  });

  test('eight writes of a sector make the page whole: no mixture is left', () => {
    const host = booted();
    for (let sector = 0; sector < 8; sector++) host.write(sector, [7], 1);
    const { buffer } = host.drive.firmware;
    expect(buffer.content[(buffer.tail - 1) & buffer.mask]).toBe(7);
    atRest(host);
    expect([...host.read(0, 8).tags!]).toEqual(Array(8).fill(7));
    expect(findLeak(host)).toBeNull();
  });
});

test('partial writes: a page that collection moves meanwhile keeps every sector', () => {
  const host = booted();
  const pages = host.drive.profile.identity.sectors / 8;
  const expected = new Int32Array(SECTORS);
  let state = 9;
  const below = (limit: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (state >>> 8) % limit;
  };
  let wrong = 0;
  for (let i = 1; i < 6000; i++) {
    const ids = [host.submitWrite((6 + below(pages - 6)) * 8, [i])];
    if (i % 6 === 0) {
      const lba = below(SECTORS);
      ids.push(host.submitWrite(lba, [i], 1));
      expected[lba] = i;
    }
    host.runUntil(() => ids.every((id) => host.result(id) !== null));
    if (i % 100 !== 0) continue;
    const tags = host.read(0, SECTORS).tags!;
    for (let s = 0; s < SECTORS; s++) if (tags[s] !== expected[s]) wrong++;
  }
  expect(wrong).toBe(0);
  expect(host.drive.firmware.collector.movedCount).toBeGreaterThan(500);
  atRest(host);
  expect(findLeak(host)).toBeNull();
});
