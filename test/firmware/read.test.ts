/**
 * Goal: a read costs the flash reads it must and no others, and sends what was written last.
 * Method: toy drives; flash operations are counted by the array.
 */

import { describe, expect, test } from 'vitest';
import { Host } from '../../firmware/host.ts';
import { TOY } from '../../firmware/profiles/toy.ts';
import { AtaOpcode, STATUS_GOOD } from '../../hal/ata.ts';
import { FlashOp } from '../../hal/flash-ops.ts';
import type { CommandResult } from '../../sata/host/command-queue.ts';

const SLOTS_PER_UNIT = 4;

function booted(): Host {
  const host = new Host('toy');
  host.boot();
  return host;
}

/** Runs and tells how many flash reads it took. */
function costOf(host: Host, run: () => CommandResult): { reads: number; pages: number[] } {
  const { done } = host.drive.array.counters;
  const before = done[FlashOp.Read]!;
  const { status, tags } = run();
  expect(status).toBe(STATUS_GOOD);
  const pages = Array.from(tags ?? []).filter((_, i) => i % 8 === 0);
  return { reads: done[FlashOp.Read]! - before, pages };
}

const iota = (count: number, first = 1) => Array.from({ length: count }, (_, i) => first + i);

describe('read: no flash read', () => {
  test('what was never written reads as zeros', () => {
    const host = booted();
    const { reads, pages } = costOf(host, () => host.read(0, 64 * 8));
    expect([reads, new Set(pages)]).toEqual([0, new Set([0])]);
  });

  test('what is in the write buffer is read from it, the newest of several', () => {
    const host = booted();
    host.write(0, [1, 2]);
    host.write(8, [3]);
    expect(costOf(host, () => host.read(0, 16))).toEqual({ reads: 0, pages: [1, 3] });
    expect(host.drive.firmware.reader.hitCount).toBe(2);
    expect(costOf(host, () => host.read(0, 24)).pages).toEqual([1, 3, 0]);
  });

  test('a page that is being programmed is still read from the buffer', () => {
    const host = booted();
    const { buffer } = host.drive.firmware;
    host.write(0, iota(SLOTS_PER_UNIT));
    host.runUntil(() => buffer.issued === SLOTS_PER_UNIT && buffer.head === 0);
    expect(costOf(host, () => host.read(0, 32))).toEqual({ reads: 0, pages: [1, 2, 3, 4] });
    expect(buffer.head).toBe(0); // the program had not ended: the read did not wait for it
  });

  test('half in the buffer, half in flash', () => {
    const host = booted();
    host.write(0, iota(SLOTS_PER_UNIT));
    host.flush();
    host.write(8, [12, 13]);
    expect(costOf(host, () => host.read(0, 32))).toEqual({ reads: 1, pages: [1, 12, 13, 4] });
  });
});

describe('read: flash reads', () => {
  test.each([
    [1, 1],
    [2, 1],
    [4, 1],
    [8, 2],
    [32, 8],
    [64, 16],
  ])('%i pages written together cost %i', (count, reads) => {
    const host = booted();
    host.write(0, iota(count));
    host.flush();
    expect(costOf(host, () => host.read(0, count * 8))).toEqual({ reads, pages: iota(count) });
  });

  test('a read not aligned to units costs the units it touches', () => {
    const host = booted();
    host.write(0, iota(16));
    host.flush();
    expect(costOf(host, () => host.read(3 * 8, 2 * 8))).toEqual({ reads: 2, pages: [4, 5] });
    expect(costOf(host, () => host.read(4 * 8 + 3, 8)).reads).toBe(1); // parts of two pages
  });

  test('pages written backwards share a unit; each run of neighbours is one read', () => {
    const host = booted();
    for (const lpn of [3, 2, 1, 0]) host.write(lpn * 8, [lpn + 1]);
    host.flush();
    expect(costOf(host, () => host.read(0, 32))).toEqual({ reads: 1, pages: [1, 2, 3, 4] });
  });

  test('pages written apart cost a read each', () => {
    const host = booted();
    const order = iota(16, 0).map((i) => (i * 5) % 16);
    for (const lpn of order) host.write(lpn * 8, [lpn + 1]);
    host.flush();
    const { reads, pages } = costOf(host, () => host.read(0, 128));
    expect(pages).toEqual(iota(16));
    // 0, 5, 10, 15 lie in one unit; only 3 and 4, 7 and 8, 11 and 12 are neighbours there.
    expect(reads).toBe(13);
  });

  test('only the pages asked for are moved over the bus', () => {
    const host = booted();
    host.write(0, iota(4));
    host.flush();
    const { slots } = host.drive.array.counters;
    const before = slots[0]!;
    host.read(8, 16);
    expect(slots[0]! - before).toBe(2);
  });

  test('a page takes tR and its transfer, and less than 40 us more', () => {
    const host = booted();
    host.write(0, [1]);
    host.flush();
    const { part, sequencer } = host.drive.array;
    const flashNs = part.readLsbNs + sequencer.slotsNs[1]!;
    const { latencyNs } = host.read(0, 8);
    expect(latencyNs).toBeGreaterThan(flashNs);
    expect(latencyNs).toBeLessThan(flashNs + 40_000);
  });
});

describe('read: long commands', () => {
  test('longer than a window and up to the largest: every page is right', () => {
    const host = booted();
    const pages = 640;
    for (let lpn = 0; lpn < pages; lpn += 160) host.write(lpn * 8, iota(160, lpn + 1));
    host.flush();
    const { burstPages } = TOY.policy;
    expect(pages).toBeGreaterThan(10 * burstPages);
    const { reads, pages: read } = costOf(host, () => host.read(0, pages * 8));
    expect(read).toEqual(iota(pages));
    expect(reads).toBe(pages / SLOTS_PER_UNIT);
    const whole = host.read(0, TOY.identity.sectors).tags!;
    expect(whole.length).toBe(TOY.identity.sectors);
    expect(whole.findLastIndex((tag) => tag !== 0)).toBe(pages * 8 - 1);
  });

  test('a verify reads flash and sends nothing', () => {
    const host = booted();
    host.write(0, iota(8));
    host.flush();
    const verify = { opcode: AtaOpcode.ReadVerifySectorsExt, lba: 0, count: 64 };
    const { reads, pages } = costOf(host, () => host.run(verify));
    expect([reads, pages]).toEqual([2, []]);
  });

  test('reads of 32 commands at once are spread over the dies', () => {
    const host = booted();
    host.write(0, iota(128));
    host.flush();
    const { timeline, array } = host.drive;
    const from = timeline.nowNs;
    const ids = iota(32, 0).map((i) =>
      host.submit({ opcode: AtaOpcode.ReadFpdmaQueued, lba: i * 32, sectors: 8 }),
    );
    host.runUntil(() => ids.every((id) => host.result(id) !== null));
    const oneByOneNs = 32 * (array.part.readLsbNs + array.sequencer.slotsNs[1]!);
    expect(timeline.nowNs - from).toBeLessThan(oneByOneNs / 2);
    expect(ids.map((id) => host.result(id)!.tags![0])).toEqual(iota(32, 0).map((i) => i * 4 + 1));
  });
});
