/**
 * Goal: when a flush of any kind has ended, all that was acknowledged before is on flash.
 * Method: toy drives; at each end the raw flash is read and its newest copies are held against what
 * was written.
 */

import { describe, expect, test } from 'vitest';
import { Host } from '../../firmware/host.ts';
import { TOY } from '../../firmware/profiles/toy.ts';
import { AtaOpcode, STATUS_GOOD } from '../../hal/ata.ts';
import { FlashOp } from '../../hal/flash-ops.ts';
import { RandomStream } from '../../hal/sim/random.ts';
import { missingOnFlash, newestCopies } from '../kit/raw-flash.ts';

const PAGES = TOY.identity.sectors / 8;
const { idleFlushNs } = TOY.policy;
/** Longest a program of one unit may take from the log to its end: tPROG MSB and transfers. */
const PROGRAM_NS = 2_040_000 + 200_000;
const WRITE_CACHE_OFF = 0x82;
const WRITE_CACHE_ON = 0x02;

class Rig {
  readonly host = new Host('toy');
  /** Tag of each page whose write was acknowledged. */
  readonly acknowledged = new Map<number, number>();
  readonly #random = new RandomStream('flush', 'pages');
  #tag = 1;
  #burstPage = 0;

  constructor() {
    this.host.boot();
  }

  write(): void {
    const lpn = this.#random.below(PAGES);
    this.host.write(lpn * 8, [this.#tag]);
    this.acknowledged.set(lpn, this.#tag++);
  }

  /** Queues writes to pages that no other burst touches, until `enough` are acknowledged. */
  burst(count: number, enough: number): void {
    const ids = Array.from({ length: count }, () => {
      this.#burstPage += 3;
      return { lpn: this.#burstPage, tag: this.#tag++, id: -1 };
    });
    for (const each of ids) each.id = this.host.submitWrite(each.lpn * 8, [each.tag]);
    const ended = () => ids.filter(({ id }) => this.host.result(id) !== null);
    this.host.runUntil(() => ended().length >= enough);
    for (const { lpn, tag } of ended()) this.acknowledged.set(lpn, tag);
  }

  get missing(): string[] {
    return missingOnFlash(this.host.drive.image, this.acknowledged);
  }

  run(ns: number): void {
    this.host.drive.timeline.runUntil(this.host.drive.timeline.nowNs + ns);
  }
}

describe('flush: what was acknowledged before is on flash', () => {
  const ENDS: [string, (rig: Rig) => number][] = [
    ['FLUSH CACHE', ({ host }) => host.run({ opcode: AtaOpcode.FlushCache }).status],
    ['FLUSH CACHE EXT', ({ host }) => host.flush().status],
    ['STANDBY IMMEDIATE', ({ host }) => host.standby().status],
    ['STANDBY', ({ host }) => host.run({ opcode: AtaOpcode.Standby }).status],
    [
      'FUA write',
      ({ host, acknowledged }) => {
        const id = host.submitWrite(8 * (PAGES - 1), [77_777], 8, true);
        host.runUntil(() => host.result(id) !== null);
        acknowledged.set(PAGES - 1, 77_777);
        return host.result(id)!.status;
      },
    ],
  ];

  test.each(ENDS)('%s', (_name, end) => {
    const rig = new Rig();
    for (let round = 0; round < 25; round++) {
      for (let i = 0; i < round; i++) rig.write();
      expect(rig.missing.length).toBeGreaterThanOrEqual(round > 0 ? 1 : 0);
      expect(end(rig)).toBe(STATUS_GOOD);
      expect(rig.missing).toEqual([]);
    }
  });

  test.each(ENDS)('%s behind a full queue', (_name, end) => {
    const rig = new Rig();
    for (let round = 0; round < 20; round++) {
      rig.burst(40, 1 + round);
      expect(end(rig)).toBe(STATUS_GOOD);
      expect(rig.missing).toEqual([]);
    }
  });

  test('also while collection moves what is flushed', () => {
    const rig = new Rig();
    for (let i = 0; i < 9000; i++) rig.write();
    expect(rig.host.drive.firmware.collector.victimCount).toBeGreaterThan(10);
    for (let round = 0; round < 60; round++) {
      for (let i = 0; i < 30; i++) rig.write();
      rig.host.flush();
      expect(rig.missing).toEqual([]);
    }
  });

  test('SLEEP, and only a reset wakes the drive', () => {
    const rig = new Rig();
    for (let i = 0; i < 30; i++) rig.write();
    expect(rig.host.run({ opcode: AtaOpcode.Sleep }).status).toBe(STATUS_GOOD);
    expect(rig.missing).toEqual([]);
  });
});

describe('flush: the write cache', () => {
  test('off: every write is on flash when it ends; on again: it is not', () => {
    const rig = new Rig();
    const { host } = rig;
    const set = (feature: number) => host.run({ opcode: AtaOpcode.SetFeatures, feature });
    expect(set(WRITE_CACHE_OFF).status).toBe(STATUS_GOOD);
    for (let i = 0; i < 40; i++) {
      rig.write();
      expect(rig.missing).toEqual([]);
    }
    rig.burst(32, 32);
    expect(rig.missing).toEqual([]);
    expect(set(WRITE_CACHE_ON).status).toBe(STATUS_GOOD);
    rig.write();
    expect(rig.missing).toHaveLength(1);
  });

  test('a write ends in microseconds with it, after a program without it', () => {
    const { host } = new Rig();
    expect(host.write(0, [1]).latencyNs).toBeLessThan(50_000);
    host.run({ opcode: AtaOpcode.SetFeatures, feature: WRITE_CACHE_OFF });
    expect(host.write(8, [2]).latencyNs).toBeGreaterThan(560_000);
  });
});

describe('flush: partial units', () => {
  test('are padded: the next write begins a unit of its own', () => {
    const { host } = new Rig();
    const { array, geometry, firmware } = host.drive;
    for (let pages = 1; pages <= geometry.slotsPerUnit; pages++) {
      const programs = array.counters.done[FlashOp.Program]!;
      const unit = firmware.hostFrontier.unit;
      const tags = Array.from({ length: pages }, (_, i) => 10 * pages + i);
      host.write(0, tags);
      host.flush();
      // The first write also programs the record that says the drive is dirty.
      const records = pages === 1 ? 1 : 0;
      expect(array.counters.done[FlashOp.Program]! - programs).toBe(1 + records);
      expect(firmware.hostFrontier.unit).toBe(unit + 1);
      const first = newestCopies(host.drive.image).get(0)!.slot;
      expect(geometry.indexInUnit(first)).toBe(0);
      const words = [0, 1, 2, 3].map((j) => array.store.pageWordOf(first + j) !== 0);
      expect(words).toEqual([0, 1, 2, 3].map((j) => j < pages));
    }
  });

  test('without a flush wait for company', () => {
    const rig = new Rig();
    const { host } = rig;
    host.write(0, [1, 2, 3]);
    rig.run(idleFlushNs / 2);
    expect(newestCopies(host.drive.image).size).toBe(0);
    host.write(24, [4, 5]);
    rig.run(PROGRAM_NS);
    expect([...newestCopies(host.drive.image).keys()].sort()).toEqual([0, 1, 2, 3]);
  });

  test('a flush of nothing programs nothing', () => {
    const { host } = new Rig();
    host.write(0, [1]);
    host.flush();
    const { done } = host.drive.array.counters;
    const programs = done[FlashOp.Program];
    expect(host.flush().latencyNs).toBeLessThan(50_000);
    expect(done[FlashOp.Program]).toBe(programs);
  });
});

describe('flush: an idle host', () => {
  test('a partial unit goes out one to two idle times after the last write, not before', () => {
    const rig = new Rig();
    const { host } = rig;
    host.write(0, [1, 2]);
    rig.run(idleFlushNs - 100_000);
    expect(host.drive.firmware.buffer.waitingCount).toBe(2);
    rig.run(100_000 + PROGRAM_NS);
    expect(host.drive.firmware.buffer.dirtyCount).toBe(0);
    expect([...newestCopies(host.drive.image).values()].map((slot) => slot.content)).toEqual([
      ...[1, 2],
    ]);
  });

  test('a host that goes on writing is not idle', () => {
    const rig = new Rig();
    const { host } = rig;
    host.write(0, [1]);
    rig.run(0.7 * idleFlushNs);
    host.write(8, [2]);
    rig.run(0.7 * idleFlushNs); // the timer has run out once: the log had grown since
    expect(host.drive.firmware.buffer.waitingCount).toBe(2);
    rig.run(idleFlushNs + PROGRAM_NS);
    expect(host.drive.firmware.buffer.dirtyCount).toBe(0);
  });

  test('works again and again', () => {
    const rig = new Rig();
    for (let i = 0; i < 10; i++) {
      rig.write();
      rig.run(2 * idleFlushNs + PROGRAM_NS);
      expect(rig.missing).toEqual([]);
    }
  });
});
