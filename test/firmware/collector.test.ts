/**
 * Goal: collection takes the emptiest superblock, keeps what it moves, and costs what theory says.
 * Method: random writes over the whole span, watched through the probe; write amplification against
 * the closed formula for uniform writes (Desnoyers, SYSTOR 2012).
 */

import { describe, expect, test } from 'vitest';
import { type Firmware, MachineNumber } from '../../firmware/firmware.ts';
import { SuperblockState } from '../../firmware/ftl/superblocks.ts';
import { Host } from '../../firmware/host.ts';
import { TOY } from '../../firmware/profiles/toy.ts';
import type { DriveProfile } from '../../hal/profile.ts';
import { ProbeKind } from '../../hal/sim/probe.ts';
import { WorkloadRig } from '../../tools/workload/rig.ts';
import { newestCopies } from '../kit/raw-flash.ts';

const PAGES = TOY.identity.sectors / 8;
/** Slots of a superblock of the toy. */
const SLOTS = 256;
const SAMPLES = 64;

/** A toy of many small superblocks: 256 of 256 slots, whose edges weigh little. */
function wideToy(userPages: number): DriveProfile {
  return {
    ...TOY,
    id: 'wide-toy',
    identity: { ...TOY.identity, sectors: userPages * 8 },
    geometry: { ...TOY.geometry, blocksPerDie: 512 },
    policy: { ...TOY.policy, performanceMode: false },
  };
}

/** Amplification of uniform random writes, oldest first: A e^(-alpha/A) = A - 1. */
function fifoAmplification(alpha: number): number {
  let amplification = 10;
  for (let i = 0; i < 500; i++) amplification = 1 / (1 - Math.exp(-alpha / amplification));
  return amplification;
}

/** The same for greedy choice among blocks of `slots` slots. */
function greedyAmplification(alpha: number, slots: number): number {
  const k = 1 + 1 / (2 * slots);
  return fifoAmplification(k * alpha) / k;
}

/**
 * Slots that data cannot lie in now: erased superblocks, what two frontiers have not written yet,
 * and what is stale in the victim (the formula empties victims in no time).
 */
function unusableSlotsOf(firmware: Firmware): number {
  const { superblocks, hostFrontier, collectorFrontier, collector } = firmware;
  const { victim } = collector;
  const stale = victim < 0 ? 0 : SLOTS - superblocks.validCount[victim]!;
  const left = [hostFrontier, collectorFrontier].map(({ isOpen, units, unit }) =>
    isOpen ? (units - unit) * 4 : 0,
  );
  const erased = superblocks.freeCount + superblocks.countIn(SuperblockState.Erasing);
  return erased * SLOTS + left[0]! + left[1]! + stale;
}

describe('collector: the formula of the test', () => {
  test('is the published one', () => {
    // Desnoyers gives 2.36 at an over-provisioning of 0.3; the others are its own fixed points.
    expect(fifoAmplification(1.3)).toBeCloseTo(2.364, 3);
    for (const alpha of [1.07, 1.12, 1.28, 1.5]) {
      const a = fifoAmplification(alpha);
      expect(a * Math.exp(-alpha / a)).toBeCloseTo(a - 1, 9);
      expect(greedyAmplification(alpha, 64)).toBeLessThan(a);
    }
  });
});

describe('collector: write amplification of uniform random writes', () => {
  test.each([0.72, 0.82, 0.88])('with %f of the slots for users', (share) => {
    const slots = 256 * SLOTS;
    const userPages = Math.floor((slots * share) / 64) * 64;
    const rig = new WorkloadRig(wideToy(userPages));
    rig.boot();
    const { stream, collector } = rig.drive.firmware;
    rig.run({ kind: 'write', order: 'sequential', pages: 32, count: userPages / 32 });
    const write = (count: number) => rig.run({ kind: 'write', order: 'random', pages: 1, count });
    write(3 * userPages);
    const [host, moved] = [stream.slotCount, collector.movedCount];
    // Data can lie in all but the root superblock and what is erased, in part or wholly.
    let unusable = 0;
    for (let i = 0; i < SAMPLES; i++) {
      write(Math.floor(userPages / SAMPLES));
      unusable += unusableSlotsOf(rig.drive.firmware) / SAMPLES;
    }
    const measured = 1 + (collector.movedCount - moved) / (stream.slotCount - host);
    const alpha = (slots - SLOTS - unusable) / userPages;
    const expected = greedyAmplification(alpha, SLOTS);
    // The formula knows no slots in flight: with them it is 1 to 3.5 % low here.
    expect(Math.abs(measured / expected - 1)).toBeLessThan(0.04);
    rig.drive.firmware.verify();
  });
});

describe('collector: victims', () => {
  test('have the fewest valid slots of all closed superblocks', () => {
    const host = new Host('toy');
    host.boot();
    const { superblocks } = host.drive.firmware;
    const wrong: string[] = [];
    let victims = 0;
    host.drive.probe.listener = {
      note: (kind, superblock, _from, to) => {
        if (kind !== ProbeKind.Superblock || to !== SuperblockState.Victim) return;
        victims++;
        const valid = superblocks.validCount[superblock]!;
        superblocks.state.forEach((state, other) => {
          const candidate =
            state === SuperblockState.Closed && superblocks.programsInFlight[other] === 0;
          if (!candidate || superblocks.validCount[other]! >= valid) return;
          wrong.push(`${superblock} with ${valid}, ${other} had ${superblocks.validCount[other]}`);
        });
      },
    };
    for (let i = 1; i <= 12_000; i++) host.write(((i * 7919) % 4999) * 8, [i]);
    expect(wrong).toEqual([]);
    expect(victims).toBeGreaterThan(30);
    expect(victims).toBe(host.drive.firmware.collector.victimCount);
  });
});

describe('collector: what it moves', () => {
  test('keeps page, content, order and last flag', () => {
    const host = new Host('toy');
    host.boot();
    // Three pages a command: the middle page of the first 300 commands is never written again.
    const kept = 300;
    for (let i = 0; i < kept; i++) host.write(i * 24, [3 * i + 1, 3 * i + 2, 3 * i + 3]);
    host.flush();
    const before = newestCopies(host.drive.image);
    for (let i = 0; i < 9000; i++) {
      const lpn = 3 * kept + ((i * 7919) % (PAGES - 3 * kept));
      host.write(lpn * 8, [10_000 + i]);
    }
    expect(host.drive.firmware.collector.movedCount).toBeGreaterThan(3 * kept);
    let moved = 0;
    const { l2p, image } = host.drive;
    const slots = new Map(image.programmedSlots().map((slot) => [slot.slot, slot]));
    for (let lpn = 0; lpn < 3 * kept; lpn++) {
      const then = before.get(lpn)!;
      const now = slots.get(l2p.values[lpn]! - 1)!;
      if (now.slot !== then.slot) moved++;
      const { content, order, isLastOfCommand } = then;
      expect(now).toMatchObject({ lpn, content, order, isLastOfCommand });
    }
    expect(moved).toBeGreaterThan(kept);
    // Copies have the order of their original: no page has two contents of one order.
    const byOrder = new Map<string, number>();
    for (const slot of slots.values()) {
      if (slot.isMetadata) continue;
      const key = `${slot.lpn} ${slot.order}`;
      expect(byOrder.get(key) ?? slot.content).toBe(slot.content);
      byOrder.set(key, slot.content);
    }
  });

  test('a page overwritten while it is on its way is dropped', () => {
    const host = new Host('toy');
    host.boot();
    const tags = new Int32Array(PAGES);
    let tag = 0;
    for (let round = 0; round < 400; round++) {
      const ids = Array.from({ length: 32 }, (_, i) => {
        const lpn = ((round * 32 + i) * 7919) % PAGES;
        tags[lpn] = ++tag;
        return host.submitWrite(lpn * 8, [tag]);
      });
      host.runUntil(() => ids.every((id) => host.result(id) !== null));
      if (round % 20 === 0) host.drive.firmware.verify();
    }
    let wrong = 0;
    for (let lpn = 0; lpn < PAGES; lpn += 64) {
      const read = host.read(lpn * 8, 512).tags!;
      for (let i = 0; i < 64; i++) if (read[i * 8] !== tags[lpn + i]) wrong++;
    }
    expect(wrong).toBe(0);
    host.drive.firmware.verify();
  });
});

describe('collector: erased superblocks', () => {
  test('the host leaves the floor alone; collection needs one of it at most', () => {
    const rig = new WorkloadRig({ ...TOY, policy: { ...TOY.policy, performanceMode: false } });
    rig.boot();
    const { superblocks, hostFrontier, collectorFrontier } = rig.drive.firmware;
    let fewest = superblocks.count;
    let fewestForHost = superblocks.count;
    rig.drive.probe.listener = {
      note: (kind, superblock, from, to) => {
        if (kind === ProbeKind.Transition && superblock === MachineNumber.Boot) return;
        if (kind !== ProbeKind.Superblock || to !== SuperblockState.Open) return;
        expect(from).toBe(SuperblockState.Free);
        fewest = Math.min(fewest, superblocks.freeCount);
        // The frontier that is not open is the one that opens.
        if (collectorFrontier.isOpen && !hostFrontier.isOpen) {
          fewestForHost = Math.min(fewestForHost, superblocks.freeCount);
        }
      },
    };
    rig.run({ kind: 'write', order: 'sequential', pages: 32, count: PAGES / 32 });
    rig.run({ kind: 'write', order: 'random', pages: 1, count: 60_000 });
    rig.run({ kind: 'write', order: 'random', pages: 8, count: 5_000 });
    const { freeSuperblocksFloor } = TOY.policy;
    expect(fewestForHost).toBeGreaterThanOrEqual(freeSuperblocksFloor);
    expect(fewest).toBeGreaterThanOrEqual(freeSuperblocksFloor - 1);
    rig.drive.firmware.verify();
  });

  test('wear is spread: the least worn one is opened', () => {
    const rig = new WorkloadRig({ ...TOY, policy: { ...TOY.policy, performanceMode: false } });
    rig.boot();
    const { superblocks } = rig.drive.firmware;
    let wrong = 0;
    rig.drive.probe.listener = {
      note: (kind, superblock, _from, to) => {
        if (kind !== ProbeKind.Superblock || to !== SuperblockState.Open) return;
        const worn = superblocks.eraseCount[superblock]!;
        superblocks.state.forEach((state, other) => {
          const isFree = state === SuperblockState.Free;
          if (isFree && superblocks.eraseCount[other]! < worn) wrong++;
        });
      },
    };
    rig.run({ kind: 'write', order: 'random', pages: 1, count: 60_000 });
    expect(wrong).toBe(0);
    const counts = [...superblocks.eraseCount].slice(1);
    expect(Math.min(...counts)).toBeGreaterThan(0);
  });
});
