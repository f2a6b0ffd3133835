/**
 * Goal: the drive boots as its table says, in the time its stages take, and finds again what it held.
 * Method: toy drives, watched through the probe; flash of one drive is taken over by the next.
 */

import { describe, expect, test } from 'vitest';
import { BOOT_TABLE, BootState } from '../../firmware/boot.ts';
import { MachineNumber } from '../../firmware/firmware.ts';
import { Host } from '../../firmware/host.ts';
import { TOY } from '../../firmware/profiles/toy.ts';
import { AtaOpcode, AtaStatus, STATUS_GOOD } from '../../hal/ata.ts';
import { FlashOp } from '../../hal/flash-ops.ts';
import { ProbeKind } from '../../hal/sim/probe.ts';
import { attributesOfData } from '../../sata/smart.ts';
import { newestCopies } from '../kit/raw-flash.ts';
import { TransitionWatch } from '../kit/transition-watch.ts';

const PAGES = TOY.identity.sectors / 8;
const ABRT = 0x04;
const SMART_READ_DATA = { opcode: AtaOpcode.Smart, feature: 0xd0, lba: 0xc24f00, count: 1 };
const EARLY = [BootState.Rom, BootState.DramUp, BootState.Identify, BootState.Mount];
const STATES = [...EARLY, BootState.LinkUp, BootState.Ready];

function booted(nand?: ReturnType<Host['cutPower']>): Host {
  const host = new Host('toy', nand === undefined ? {} : { nand });
  host.boot();
  return host;
}

/** Overwrites at random until collection has run; returns the tag of each page. */
function overwritten(host: Host, writes = 9000): Int32Array {
  const tags = new Int32Array(PAGES);
  for (let i = 1; i <= writes; i++) {
    const lpn = i <= PAGES ? i - 1 : (i * 7919) % 1777;
    tags[lpn] = i;
    host.write(lpn * 8, [i]);
  }
  return tags;
}

function readAll(host: Host): Int32Array {
  const tags = new Int32Array(PAGES);
  for (let lpn = 0; lpn < PAGES; lpn += 64) {
    const read = host.read(lpn * 8, 64 * 8).tags!;
    for (let i = 0; i < 64; i++) tags[lpn + i] = read[i * 8]!;
  }
  return tags;
}

function smart(host: Host): Map<number, number> {
  const { bytes } = host.run(SMART_READ_DATA);
  return new Map(attributesOfData(bytes!).map(({ id, raw }) => [id, raw]));
}

function sameBytes(one: ArrayBufferView, other: ArrayBufferView): boolean {
  const bytes = (view: ArrayBufferView) =>
    Buffer.from(view.buffer, view.byteOffset, view.byteLength);
  return Buffer.compare(bytes(one), bytes(other)) === 0;
}

describe('boot: the path', () => {
  test('each stage begins when the stages before it have taken their time', () => {
    const host = new Host('toy');
    const path: [number, number][] = [];
    host.drive.probe.listener = {
      note: (kind, machine, _from, to) => {
        if (kind !== ProbeKind.Transition || machine !== MachineNumber.Boot) return;
        path.push([to, host.drive.timeline.nowNs]);
      },
    };
    host.boot();
    const { romNs, dramNs, resetDiesNs, identifyDieNs } = TOY.boot;
    const { dies, planes, diesPerChannel, superblocks } = host.drive.geometry;
    const mountAt = romNs + dramNs + resetDiesNs + identifyDieNs * dies;
    expect(path.map(([state]) => state)).toEqual(STATES);
    expect(path.slice(0, 4).map(([, at]) => at)).toEqual([0, romNs, romNs + dramNs, mountAt]);
    // A new drive's mount reads one page of each root block, then the mark of every block group,
    // and programs one record. All dies read at once; those of a channel wait for each other's
    // transfers. Cycles and the record's transfer take less than 0.2 ms.
    const { part, sequencer } = host.drive.array;
    const { readNs, outputNs, slotsNs } = sequencer;
    const reads = 1 + superblocks;
    const busNs = readNs[planes]! + outputNs[planes]! + slotsNs[planes]!;
    const mountNs = path[4]![1] - mountAt;
    expect(mountNs).toBeGreaterThan(reads * part.readLsbNs + part.programLsbNs);
    const readsNs = reads * (part.readLsbNs + diesPerChannel * busNs);
    expect(mountNs).toBeLessThan(readsNs + part.programLsbNs + 200_000);
    expect(path[5]![1]).toBeGreaterThan(path[4]![1]);
  });

  test('the host may not send before the signature', () => {
    const host = new Host('toy');
    host.drive.powerOn();
    while (host.drive.bootState < BootState.Ready) {
      expect(host.drive.isReady).toBe(false);
      host.step();
    }
    host.runUntil(() => host.drive.isReady);
    expect(host.write(0, [1]).status).toBe(STATUS_GOOD);
  });

  test('power may be lost in every state; every row of the table is taken, and no other', () => {
    const host = new Host('toy');
    const { drive } = host;
    const watch = new TransitionWatch(BOOT_TABLE, {
      ...{ kind: ProbeKind.Transition, number: MachineNumber.Boot },
    });
    drive.probe.listener = watch;
    for (const state of STATES) {
      drive.powerOn();
      host.runUntil(() => drive.bootState === state);
      drive.powerOff();
      expect(drive.bootState).toBe(BootState.Off);
      expect(drive.timeline.pendingCount).toBe(0);
    }
    host.boot();
    host.write(0, [1]);
    host.flush();
    drive.powerOff();
    host.boot(); // dirty: the mount fails, the link comes up
    expect([...watch.strange]).toEqual([]);
    expect([...drive.firmware.boot.machine.takenCount].filter((count) => count === 0)).toEqual([]);
  });
});

describe('boot: a drive fresh from the factory', () => {
  test('is formatted once', () => {
    const host = booted();
    const { done } = host.drive.array.counters;
    const { superblocks, dies } = host.drive.geometry;
    const marks = superblocks * dies;
    // Both root blocks begin empty.
    expect([done[FlashOp.Read], done[FlashOp.Program]]).toEqual([2 + marks, 1]);
    for (let i = 0; i < 3; i++) {
      host.drive.powerOff();
      host.boot();
      // The record, and the empty page behind it; marks are read as long as nothing is written.
      expect(done[FlashOp.Read]).toBe(3 + marks);
      expect(done[FlashOp.Program]).toBe(0);
      expect(done[FlashOp.Erase]).toBe(0);
    }
    expect(host.drive.image.programmedSlots()).toHaveLength(1);
    expect(readAll(host).every((tag) => tag === 0)).toBe(true);
  });

  test('keeps nothing of what it has read: flash alone refers to its record', () => {
    const host = booted();
    for (let i = 0; i < 3; i++) {
      host.drive.powerOff();
      host.boot();
      const { references } = host.drive.contents.metadata.save();
      expect([...(references as Int32Array)]).toEqual([1]);
    }
  });
});

describe('boot: after a standby', () => {
  const host = booted();
  const tags = overwritten(host);
  host.standby();
  const { firmware, l2p } = host.drive;
  const { superblocks, hostFrontier, collectorFrontier } = firmware;
  const place = () => ({
    host: hostFrontier.save(),
    collector: collectorFrontier.save(),
    mode: firmware.mode.mode,
    nextOrder: firmware.writer.nextOrder,
    openings: superblocks.openings,
    freeCount: superblocks.freeCount,
  });
  const before = {
    ...{ place: place(), l2p: l2p.values.slice(), rows: superblocks.save() },
    valid: superblocks.validCount.slice(),
  };
  const flashBefore = newestCopies(host.drive.image);
  host.drive.powerOff();
  host.boot();

  test('the map, the block table, the frontiers and the mode are as they were', () => {
    expect(host.drive.firmware.collector.victimCount).toBe(0);
    expect(before.rows.eraseCount).not.toEqual(new Int32Array(superblocks.count));
    expect(sameBytes(l2p.values, before.l2p)).toBe(true);
    expect(superblocks.eraseCount).toEqual(before.rows.eraseCount);
    expect(superblocks.state).toEqual(before.rows.state);
    expect(superblocks.lsbOnly).toEqual(before.rows.lsbOnly);
    expect(superblocks.openedNumber).toEqual(before.rows.openedNumber);
    expect(superblocks.invalidatedOrder).toEqual(before.rows.invalidatedOrder);
    expect(superblocks.validCount).toEqual(before.valid);
    expect(place()).toEqual(before.place);
    firmware.verify();
  });

  test('every page reads as it was written', () => {
    expect(sameBytes(readAll(host), tags)).toBe(true);
  });

  test('the host goes on in the open superblock, at the next unit, with the next order', () => {
    expect(hostFrontier.isOpen).toBe(true);
    const { unit, superblock } = before.place.host as { unit: number; superblock: number };
    host.write(0, [100_001]);
    host.flush();
    const copy = newestCopies(host.drive.image).get(0)!;
    const { geometry } = host.drive;
    const { slotsPerUnit, slotsPerSuperblock } = geometry;
    expect(hostFrontier.lsbOnly).toBe(false); // so units are numbered like slots
    expect(copy.slot).toBe(superblock * slotsPerSuperblock + unit * slotsPerUnit);
    expect(copy.order).toBe(before.place.nextOrder);
    expect(flashBefore.get(0)!.order).toBeLessThan(copy.order);
  });
});

describe('boot: after a cut without a standby', () => {
  const first = booted();
  first.write(0, [1, 2, 3]);
  first.flush();
  const host = booted(first.cutPower());

  test('identity answers and shows the capacity', () => {
    const { status, bytes } = host.run({ opcode: AtaOpcode.IdentifyDevice, count: 1 });
    expect(status).toBe(STATUS_GOOD);
    expect(Buffer.from(bytes!).readUIntLE(200, 6)).toBe(TOY.identity.sectors);
    const model = Buffer.from(bytes!.slice(54, 94)).swap16().toString('latin1').trim();
    expect(model).toBe(TOY.identity.model);
  });

  test.each([
    ['read', () => host.read(0, 8)],
    ['write', () => host.write(0, [9])],
    ['flush', () => host.flush()],
    ['trim', () => host.trim([{ lba: 0, sectors: 8 }])],
    ['verify', () => host.run({ opcode: AtaOpcode.ReadVerifySectorsExt, lba: 0, count: 8 })],
  ])('%s aborts', (_name, run) => {
    const { status, error } = run();
    expect([status & AtaStatus.Error, error]).toEqual([AtaStatus.Error, ABRT]);
  });

  test('nothing is programmed or erased', () => {
    const { done } = host.drive.array.counters;
    expect([done[FlashOp.Program], done[FlashOp.Erase]]).toEqual([0, 0]);
  });

  test('SMART tells of the power cycle and of the loss', () => {
    expect([smart(host).get(12), smart(host).get(174)]).toEqual([2, 1]);
  });
});

describe('boot: counters', () => {
  test('every boot after a standby is one more power cycle; programs only ever add up', () => {
    const host = booted();
    let programs = 0;
    for (let cycle = 1; cycle <= 6; cycle++) {
      const now = smart(host);
      expect([now.get(12), now.get(174)]).toEqual([cycle, 0]);
      expect(host.drive.power.cycleCount).toBe(cycle);
      expect(now.get(249)).toBeGreaterThanOrEqual(programs);
      for (let i = 0; i < 64; i++) host.write(i * 32, [i + 1, 2, 3, 4]);
      programs = smart(host).get(249)!;
      expect(programs).toBeGreaterThanOrEqual(cycle * 40);
      if (cycle % 2 === 0) host.standby(); // a second one changes nothing
      host.standby();
      host.drive.powerOff();
      host.boot();
    }
  });
});
