/**
 * Goal: the published speeds of the drive come out of its mechanism.
 * Method: the emulated Vector under short workloads of the published kind; emulated time is exact,
 * so the figures do not depend on the machine that runs the test.
 */

import { describe, expect, test } from 'vitest';
import { VECTOR_128, VECTOR_256 } from '../../firmware/profiles/vector.ts';
import type { DriveProfile } from '../../hal/profile.ts';
import { WorkloadRig } from '../../tools/workload/rig.ts';

/** Span of the published random tests: 8 GiB. */
const SPAN_PAGES = 2 * 2 ** 20;
const COMMANDS = 60_000;
/** Where published 4 KiB figures lie; they agree within the noise of a review. */
const LEAST_IOPS = 91_000;
const MOST_IOPS = 94_500;

function booted(profile: DriveProfile): WorkloadRig {
  const rig = new WorkloadRig(profile);
  rig.boot();
  return rig;
}

/** Cycles of the ARM for each command of a run. */
function armCycles(rig: WorkloadRig, commands: number, run: () => void): number {
  const { arm } = rig.drive;
  const before = arm.busyNs;
  run();
  return (arm.busyNs - before) / arm.nsPerCycle / commands;
}

/** How far a figure is from the one published, as a share of it. */
function away(bytesPerSecond: number, megabytesPerSecond: number): number {
  return Math.abs(bytesPerSecond / (megabytesPerSecond * 1e6) - 1);
}

describe('calibration: Vector 256', () => {
  const rig = booted(VECTOR_256);
  const stream = (kind: 'read' | 'write', count: number) =>
    rig.run({ kind, order: 'sequential', pages: 32, count, spanPages: SPAN_PAGES });
  const random = (kind: 'read' | 'write', count = COMMANDS) =>
    rig.run({ kind, order: 'random', pages: 1, count, spanPages: SPAN_PAGES });

  test('128 KiB sequential write at depth 32: 530 MB/s', () => {
    stream('write', 8_192);
    // The whole span is written here, so that the reads below find data everywhere.
    const { bytesPerSecond } = stream('write', SPAN_PAGES / 32);
    expect(away(bytesPerSecond, 530)).toBeLessThan(0.03);
  });

  test('128 KiB sequential read at depth 32: 550 MB/s', () => {
    stream('read', 1_024);
    expect(away(stream('read', 8_192).bytesPerSecond, 550)).toBeLessThan(0.03);
  });

  test('4 KiB random read at depth 32: 91,000 to 94,500 a second, few ARM cycles each', () => {
    random('read', 5_000);
    let iops = 0;
    const cycles = armCycles(rig, COMMANDS, () => {
      iops = random('read').iops;
    });
    expect(iops).toBeGreaterThan(LEAST_IOPS);
    expect(iops).toBeLessThan(MOST_IOPS);
    expect(cycles).toBeLessThan(4_000);
  });

  test('4 KiB random write on the fresh drive: the same', () => {
    random('write', 5_000);
    let iops = 0;
    const cycles = armCycles(rig, COMMANDS, () => {
      iops = random('write').iops;
    });
    expect(iops).toBeGreaterThan(LEAST_IOPS);
    expect(iops).toBeLessThan(MOST_IOPS);
    expect(cycles).toBeLessThan(4_000);
    rig.drive.firmware.verify();
  });
});

describe('calibration: Vector 128', () => {
  test('128 KiB sequential write at depth 32: 400 MB/s, limited by its sixteen dies', () => {
    const rig = booted(VECTOR_128);
    const write = (count: number) =>
      rig.run({ kind: 'write', order: 'sequential', pages: 32, count });
    write(2_048);
    const { bytesPerSecond } = write(16_384);
    expect(away(bytesPerSecond, 400)).toBeLessThan(0.05);
  });
});
