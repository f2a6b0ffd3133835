/**
 * Goal: TRIM unmaps whole pages of its ranges and nothing else.
 * Method: toy drives; the map is read before and after, and compared with what the ranges say.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Host } from '../../firmware/host.ts';
import { TOY } from '../../firmware/profiles/toy.ts';
import { STATUS_GOOD } from '../../hal/ata.ts';
import { FlashOp } from '../../hal/flash-ops.ts';
import { newestCopies } from '../kit/raw-flash.ts';

const SECTORS = TOY.identity.sectors;
const PAGES = SECTORS / 8;
const GROUP = 64;

/** A booted drive whose pages all hold tag `lpn + 1`. */
function filled(): Host {
  const host = new Host('toy');
  host.boot();
  for (let lpn = 0; lpn < PAGES; lpn += GROUP) {
    host.write(
      lpn * 8,
      Array.from({ length: GROUP }, (_, i) => lpn + i + 1),
    );
  }
  return host;
}

function mapped(host: Host): boolean[] {
  return Array.from(host.drive.l2p.values, (cell) => cell !== 0);
}

const range = fc
  .oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 3000 }))
  .chain((sectors) =>
    fc.record({
      lba: fc.integer({ min: 0, max: SECTORS - sectors }),
      sectors: fc.constant(sectors),
    }),
  );

describe('trim: ranges', () => {
  test('unmap exactly the whole pages inside; edges keep their data', () => {
    const host = filled();
    fc.assert(
      fc.property(fc.array(range, { minLength: 1, maxLength: 70 }), (ranges) => {
        const expected = mapped(host);
        let unmapped = host.drive.firmware.trimmer.unmappedCount;
        for (const { lba, sectors } of ranges) {
          for (let lpn = Math.ceil(lba / 8); (lpn + 1) * 8 <= lba + sectors; lpn++) {
            if (expected[lpn] === true) unmapped++;
            expected[lpn] = false;
          }
        }
        expect(host.trim(ranges).status).toBe(STATUS_GOOD);
        expect(mapped(host)).toEqual(expected);
        expect(host.drive.firmware.trimmer.unmappedCount).toBe(unmapped);
        host.drive.firmware.verify();
        // Something to trim for the next one.
        const { lba } = ranges[0]!;
        const lpn = Math.min(PAGES - GROUP, Math.floor(lba / 8));
        host.write(
          lpn * 8,
          Array.from({ length: GROUP }, (_, i) => lpn + i + 1),
        );
      }),
      { numRuns: 60 },
    );
    const read = host.read(0, 512).tags!;
    const map = mapped(host);
    const right = Array.from(read, (_, i) => (map[i >> 3] === true ? (i >> 3) + 1 : 0));
    expect([...read]).toEqual(right);
  });

  test('a range inside one page, or across two halves, unmaps nothing', () => {
    const host = filled();
    const before = host.drive.l2p.values.slice();
    host.trim([
      { lba: 1, sectors: 7 },
      { lba: 20, sectors: 8 },
      { lba: 4, sectors: 4 },
    ]);
    expect(host.drive.l2p.values).toEqual(before);
    expect([...host.read(0, 32).tags!]).toEqual(Array.from({ length: 32 }, (_, i) => (i >> 3) + 1));
  });
});

describe('trim: the whole drive', () => {
  test('takes several steps of Aragon, and leaves nothing mapped and nothing valid', () => {
    const host = filled();
    const { aragon, firmware, l2p } = host.drive;
    const tasks = aragon.core.taskCount;
    host.trim([
      { lba: 0, sectors: SECTORS / 2 },
      { lba: SECTORS / 2, sectors: SECTORS / 2 },
    ]);
    expect(aragon.core.taskCount - tasks).toBeGreaterThan(1);
    expect(l2p.values.every((cell) => cell === 0)).toBe(true);
    expect(firmware.superblocks.validCount.every((count) => count === 0)).toBe(true);
    const reads = host.drive.array.counters.done[FlashOp.Read];
    expect(host.read(0, 2048).tags!.every((tag) => tag === 0)).toBe(true);
    expect(host.drive.array.counters.done[FlashOp.Read]).toBe(reads);
  });

  test('everything but open superblocks is erased afterwards, though nothing was short', () => {
    const host = filled();
    const { superblocks } = host.drive.firmware;
    const halves = [0, SECTORS / 2].map((lba) => ({ lba, sectors: SECTORS / 2 }));
    host.flush();
    host.trim(halves);
    const { timeline } = host.drive;
    timeline.runUntil(timeline.nowNs + 500_000_000);
    // Root, the host frontier, and a collection frontier when one is open.
    expect(superblocks.freeCount).toBeGreaterThanOrEqual(superblocks.count - 3);
    host.drive.firmware.verify();
  });
});

describe('trim: data in the write buffer', () => {
  test('falls away, and its late program does not bring it back', () => {
    const host = new Host('toy');
    host.boot();
    host.write(0, [1, 2, 3]);
    expect(host.drive.firmware.buffer.dirtyCount).toBe(3);
    host.trim([{ lba: 8, sectors: 8 }]);
    expect([...host.read(0, 24).tags!].filter((_, i) => i % 8 === 0)).toEqual([1, 0, 3]);
    host.flush();
    expect(newestCopies(host.drive.image).get(1)!.content).toBe(2);
    expect([...host.read(0, 24).tags!].filter((_, i) => i % 8 === 0)).toEqual([1, 0, 3]);
    expect(host.drive.firmware.superblocks.validCount.reduce((a, b) => a + b)).toBe(2);
  });

  test('written again after the trim is the new data', () => {
    const host = new Host('toy');
    host.boot();
    for (let round = 1; round <= 30; round++) {
      host.write(8, [round]);
      host.trim([{ lba: 8, sectors: 8 }]);
      if (round % 3 === 0) host.flush();
      host.write(8, [100 + round]);
      expect(host.read(8, 8).tags![0]).toBe(100 + round);
    }
    host.flush();
    expect(host.read(8, 8).tags![0]).toBe(130);
    host.drive.firmware.verify();
  });
});

test('trim: a superblock remembers the order of the trim that emptied it', () => {
  const host = new Host('toy');
  host.boot();
  host.write(0, [1, 2, 3, 4]); // order 1
  host.flush();
  host.write(800, [5]); // order 2
  host.trim([{ lba: 0, sectors: 8 }]); // order 3
  const superblock = host.drive.geometry.superblockOf(host.drive.l2p.values[1]! - 1);
  expect(host.drive.firmware.superblocks.invalidatedOrder[superblock]).toBe(3);
});

test('trim: ranges that continue each other leave no page at their seams', () => {
  const host = new Host('toy');
  host.boot();
  host.write(
    0,
    Array.from({ length: 16 }, (_, page) => page + 1),
  );
  host.flush();
  // Seams at sectors 13 and 50 lie inside pages 1 and 6.
  host.trim([
    { lba: 0, sectors: 13 },
    { lba: 13, sectors: 37 },
    { lba: 50, sectors: 46 },
  ]);
  const mapped = Array.from(host.drive.l2p.values.subarray(0, 16), (cell) => cell !== 0);
  expect(mapped).toEqual(Array.from({ length: 16 }, (_, page) => page >= 12));
});
