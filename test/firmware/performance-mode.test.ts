/**
 * Goal: a fresh drive writes LSB pages only, folds them when erased superblocks run out, and comes
 * back after a TRIM.
 * Method: toy drives watched through the probe; page numbers are read from the raw flash.
 */

import { describe, expect, test } from 'vitest';
import { MachineNumber } from '../../firmware/firmware.ts';
import {
  WRITE_MODE_TABLE,
  WriteMode,
  WriteModeEvent,
} from '../../firmware/ftl/performance-mode.ts';
import { SuperblockState } from '../../firmware/ftl/superblocks.ts';
import { Host } from '../../firmware/host.ts';
import { TOY } from '../../firmware/profiles/toy.ts';
import type { DriveProfile } from '../../hal/profile.ts';
import { ProbeKind } from '../../hal/sim/probe.ts';
import { TransitionWatch } from '../kit/transition-watch.ts';

const PAGES = TOY.identity.sectors / 8;
const HALVES = [0, TOY.identity.sectors / 2].map((lba) => ({
  ...{ lba, sectors: TOY.identity.sectors / 2 },
}));

/** Of a block of 16: four to begin with, then every other pair, six MSB pages close it. */
const LSB_PAGES = [0, 1, 2, 3, 6, 7, 10, 11];

class Rig {
  readonly host: Host;
  readonly watch = new TransitionWatch(WRITE_MODE_TABLE, {
    ...{ kind: ProbeKind.Transition, number: MachineNumber.WriteMode },
  });
  #tag = 1;

  constructor(profile: DriveProfile | string = 'toy') {
    this.host = new Host(profile);
    this.host.drive.probe.listener = this.watch;
    this.host.boot();
  }

  get mode(): WriteMode {
    return this.host.drive.firmware.mode.mode;
  }

  /** Writes pages from `first` on, in groups of 8. */
  write(first: number, count: number): void {
    for (let lpn = first; lpn < first + count; lpn += 8) {
      const tags = Array.from({ length: 8 }, () => this.#tag++);
      this.host.write((lpn % PAGES) * 8, tags);
    }
  }

  /** Single pages in a scattered order. */
  scatter(count: number): void {
    for (let i = 0; i < count; i++) this.host.write(((i * 7919) % PAGES) * 8, [this.#tag++]);
  }

  run(ns: number): void {
    this.host.drive.timeline.runUntil(this.host.drive.timeline.nowNs + ns);
  }

  /** Page numbers of the data in superblocks that `chosen` accepts. */
  pagesOf(chosen: (superblock: number) => boolean): Set<number> {
    const { geometry, image } = this.host.drive;
    const pages = image
      .programmedSlots()
      .filter(({ slot, isMetadata }) => !isMetadata && chosen(geometry.superblockOf(slot)))
      .map(({ slot }) => geometry.pageOf(slot));
    return new Set(pages);
  }
}

describe('performance mode: LSB pages only', () => {
  test('on a fresh drive, up to where erased superblocks run out', () => {
    const rig = new Rig();
    const { superblocks } = rig.host.drive.firmware;
    const { geometry, firmware } = rig.host.drive;
    const perSuperblock = geometry.slotsPerSuperblock / 2;
    // Every superblock but the root and the last `low` ones, half of each.
    const room = (superblocks.count - 1 - TOY.policy.freeSuperblocksLow) * perSuperblock;
    rig.write(0, room - 2 * perSuperblock);
    rig.host.flush();
    expect(rig.mode).toBe(WriteMode.Performance);
    expect(firmware.collector.victimCount).toBe(0);
    expect([...rig.pagesOf(() => true)].sort((a, b) => a - b)).toEqual(LSB_PAGES);
    rig.write(room - 2 * perSuperblock, 4 * perSuperblock);
    expect(rig.mode).not.toBe(WriteMode.Performance);
  });

  test('the log of every LSB-only superblock fills all of them', () => {
    const rig = new Rig();
    rig.write(0, 1024);
    rig.host.flush();
    const { geometry, image, firmware } = rig.host.drive;
    const count = new Map<number, number>();
    for (const { slot, isMetadata } of image.programmedSlots()) {
      if (isMetadata) continue;
      const superblock = geometry.superblockOf(slot);
      count.set(superblock, (count.get(superblock) ?? 0) + 1);
    }
    expect([...count.values()]).toEqual(Array(8).fill(geometry.slotsPerSuperblock / 2));
    for (const superblock of count.keys()) {
      expect(firmware.superblocks.lsbOnly[superblock]).toBe(1);
      expect(firmware.superblocks.state[superblock]).toBe(SuperblockState.Closed);
    }
  });

  test('switched off by the profile: all pages from the start', () => {
    const rig = new Rig({ ...TOY, policy: { ...TOY.policy, performanceMode: false } });
    rig.write(0, 1024);
    rig.host.flush();
    expect(rig.pagesOf(() => true).size).toBe(TOY.geometry.pagesPerBlock);
    expect(rig.host.drive.firmware.superblocks.lsbOnly.every((lsb) => lsb === 0)).toBe(true);
  });
});

describe('performance mode: from one mode to the next', () => {
  test('reorganises when erased superblocks are short, stores when nothing is half used', () => {
    const rig = new Rig();
    const { superblocks } = rig.host.drive.firmware;
    const seen: [number, number, number][] = [];
    const halfUsed = () =>
      superblocks.lsbOnly.filter((lsb, i) => lsb === 1 && superblocks.state[i] === 2).length;
    rig.watch.onChange = (to) => seen.push([to, superblocks.freeCount, halfUsed()]);
    rig.write(0, PAGES);
    rig.scatter(6000);
    expect(rig.mode).toBe(WriteMode.Storage);
    expect(seen.map(([to]) => to)).toEqual([WriteMode.Reorganise, WriteMode.Storage]);
    const [reorganise, storage] = seen;
    expect(reorganise![1]).toBeLessThanOrEqual(TOY.policy.freeSuperblocksLow);
    expect(reorganise![1]).toBeGreaterThan(TOY.policy.freeSuperblocksFloor);
    expect(reorganise![2]).toBeGreaterThan(20);
    expect(storage![2]).toBe(0);
    // Superblocks opened since take every page.
    const open = (superblock: number) => superblocks.lsbOnly[superblock] === 0;
    expect(rig.pagesOf(open).size).toBe(TOY.geometry.pagesPerBlock);
    rig.host.drive.firmware.verify();
  });

  test('a fold of two half-used superblocks fills one: each keeps its data', () => {
    const rig = new Rig();
    rig.write(0, PAGES);
    const tags = rig.host.read(0, TOY.identity.sectors).tags!;
    const sorted = [...tags].filter((_, i) => i % 8 === 0);
    expect(sorted).toEqual(Array.from({ length: PAGES }, (_, i) => i + 1));
  });

  test('a TRIM of the whole drive brings it back: LSB pages again, at full room', () => {
    const rig = new Rig();
    const { superblocks, hostFrontier } = rig.host.drive.firmware;
    rig.write(0, PAGES);
    rig.scatter(6000);
    expect(rig.mode).toBe(WriteMode.Storage);
    rig.host.flush();
    rig.host.trim(HALVES);
    rig.run(500_000_000);
    expect(rig.mode).toBe(WriteMode.Performance);
    expect(superblocks.freeCount).toBeGreaterThanOrEqual(superblocks.count - 3);
    rig.write(0, 2048);
    rig.host.flush();
    expect(hostFrontier.lsbOnly).toBe(true);
    const isLsbOnly = (superblock: number) => superblocks.lsbOnly[superblock] === 1;
    expect([...rig.pagesOf(isLsbOnly)].sort((a, b) => a - b)).toEqual(LSB_PAGES);
  });

  test('a TRIM of little does not', () => {
    const rig = new Rig();
    rig.write(0, PAGES);
    rig.scatter(6000);
    rig.host.trim([{ lba: 0, sectors: 800 }]);
    rig.run(500_000_000);
    expect(rig.mode).toBe(WriteMode.Storage);
  });

  test('every row of the table is taken, and nothing else', () => {
    const rig = new Rig();
    for (let round = 0; round < 2; round++) {
      rig.write(0, PAGES);
      rig.scatter(6000);
      rig.host.trim(HALVES);
      rig.run(500_000_000);
    }
    // Short of erased superblocks, then a TRIM while half-used ones are still being folded.
    while (rig.mode !== WriteMode.Reorganise) rig.write(0, 640);
    rig.host.trim(HALVES);
    rig.run(500_000_000);
    expect(rig.mode).toBe(WriteMode.Performance);
    expect([...rig.watch.strange]).toEqual([]);
    expect(rig.watch.untaken).toEqual([]);
    expect(rig.host.drive.firmware.mode.machine.takenCount).toEqual(
      Int32Array.from(rig.watch.taken),
    );
    rig.host.drive.firmware.verify();
  });

  test('an event that the mode does not accept is a broken rule', () => {
    const { machine } = new Rig().host.drive.firmware.mode;
    expect(() => machine.dispatch(WriteModeEvent.Folded)).toThrow(/accepts/);
    expect(machine.state).toBe(WriteMode.Performance);
  });

  test('the mode outlives a standby and a loss of power', () => {
    const rig = new Rig();
    rig.write(0, PAGES);
    rig.scatter(6000);
    rig.host.standby();
    rig.host.drive.powerOff();
    rig.host.boot();
    expect(rig.mode).toBe(WriteMode.Storage);
  });
});
