/**
 * Goal: the status byte tells a controller what it must know, at every moment of a pipeline.
 * Method: the bytes that the data sheet names, each in its situation; failures of single planes and
 * of pages behind a cache program.
 */
import { describe, expect, test } from 'vitest';
import { LunState } from '../../../nand/onfi/lun-table.ts';
import { OnfiRig, PROGRAM_LSB, READ_LSB } from './rig.ts';

const HERE = { block: 4, page: 0 };
const OTHER_PLANE = { block: 5, page: 0 };

/** A rig whose programs of these pages fail. */
function failing(...pages: [block: number, page: number][]): OnfiRig {
  const rig = OnfiRig.ready();
  for (const [block, page] of pages) rig.array.failingPrograms.add(rig.array.key(block, page));
  return rig;
}

describe('status of plain operations', () => {
  test('E0h idle, 80h busy, E1h after a failed program, E0h after the next operation', () => {
    const rig = failing([4, 0]);
    expect(rig.status()).toBe(0xe0);
    rig.at(0x80, HERE).data(1).command(0x10);
    expect(rig.status()).toBe(0x80);
    expect(rig.wait().status()).toBe(0xe1);
    expect(rig.status()).toBe(0xe1);
    rig.readPage(HERE, 1);
    expect(rig.status()).toBe(0xe0);
  });

  test('E1h after a failed erase', () => {
    const rig = OnfiRig.ready();
    rig.array.failingErases.add(4);
    expect(rig.erase(4).status()).toBe(0xe1);
  });

  test('60h when WP# forbids a program, and the cells stay', () => {
    const rig = OnfiRig.ready();
    rig.die.writeProtect(0, rig.nowNs);
    expect(rig.at(0x80, HERE).data(1).command(0x10).status()).toBe(0x60);
    expect(rig.at(0x60, HERE).command(0xd0).status()).toBe(0x60);
    expect(rig.array.pageOf(4, 0)).toBeNull();
    expect(rig.array.eraseCounts[4]).toBe(0);
    rig.die.writeProtect(1, rig.nowNs);
    expect(rig.status()).toBe(0xe0);
  });
});

describe('status of a group of planes', () => {
  test('70h ors them, 78h tells each, and picks the plane for data out', () => {
    const rig = failing([5, 0]);
    rig.at(0x80, HERE).data(1).command(0x11);
    expect(rig.status()).toBe(0x80);
    rig.wait().at(0x80, OTHER_PLANE).data(2).command(0x10).wait();
    expect(rig.status()).toBe(0xe1);
    expect(rig.planeStatus(0)).toBe(0xe0);
    expect(rig.planeStatus(1)).toBe(0xe1);
    rig.at(0x00, HERE).command(0x32).wait().at(0x00, OTHER_PLANE).command(0x30).wait();
    expect(rig.planeStatus(0)).toBe(0xe0);
    expect(rig.command(0x00).read(1)).toEqual([1]);
    expect(rig.planeStatus(1)).toBe(0xe0);
    rig.command(0x05).address(0, 0).command(0xe0);
    expect(rig.read(1)).toEqual([2]);
    expect(rig.broken).toEqual([]);
  });
});

describe('cache program', () => {
  test('RDY after tCBSY, ARDY after tPROG; the next waits for the one before', () => {
    const rig = OnfiRig.ready();
    rig.at(0x80, HERE).data(1).command(0x15);
    const startNs = rig.nowNs;
    expect(rig.status()).toBe(0x80);
    expect(rig.wait().status()).toBe(0xc0);
    expect(rig.die.arrayReadyAtNs).toBe(startNs + 12_000 + PROGRAM_LSB);
    rig.at(0x80, { block: 4, page: 1 }).data(2).command(0x15);
    expect(rig.die.readyAtNs).toBe(startNs + 12_000 + PROGRAM_LSB + 12_000);
    expect(rig.stored(4, 0, 1)).toEqual([0xff]);
    expect(rig.wait().status()).toBe(0xc0);
    expect(rig.stored(4, 0, 1)).toEqual([1]);
    expect(rig.die.arrayReadyAtNs).toBe(startNs + 2 * (12_000 + PROGRAM_LSB));
    expect(rig.waitArray().status()).toBe(0xe0);
    expect(rig.stored(4, 1, 1)).toEqual([2]);
    expect(rig.broken).toEqual([]);
  });

  test('a failure is FAILC while the next page runs, FAIL when it was the last', () => {
    const rig = failing([4, 0], [4, 2]);
    rig.at(0x80, HERE).data(1).command(0x15).wait();
    rig.at(0x80, { block: 4, page: 1 }).data(2).command(0x15).wait();
    expect(rig.status()).toBe(0xc2);
    rig.at(0x80, { block: 4, page: 2 }).data(3).command(0x10).wait();
    expect(rig.status()).toBe(0xe1);
  });

  test('a host that comes late finds FAIL first, then FAILC', () => {
    const rig = failing([4, 0]);
    rig.at(0x80, HERE).data(1).command(0x15).waitArray();
    expect(rig.status()).toBe(0xe1);
    rig.at(0x80, { block: 4, page: 1 }).data(2).command(0x10).wait();
    expect(rig.status()).toBe(0xe2);
  });

  test('a group: 11h while the array programs', () => {
    const rig = OnfiRig.ready();
    for (let page = 0; page < 3; page++) {
      rig.at(0x80, { block: 4, page }).data(page).command(0x11).wait();
      rig
        .at(0x80, { block: 5, page })
        .data(100 + page)
        .command(page < 2 ? 0x15 : 0x10)
        .wait();
    }
    for (let page = 0; page < 3; page++) {
      expect([rig.stored(4, page, 1), rig.stored(5, page, 1)]).toEqual([[page], [100 + page]]);
    }
    expect(rig.broken).toEqual([]);
  });
});

describe('cache read', () => {
  test('RDY after tRCBSY while the array senses the next page', () => {
    const rig = OnfiRig.ready();
    for (let page = 0; page < 4; page++) rig.program({ block: 4, page }, 10 + page);
    rig.at(0x00, HERE).command(0x30).wait();
    rig.command(0x31);
    const startNs = rig.nowNs;
    expect(rig.status()).toBe(0x80);
    expect(rig.wait().status()).toBe(0xc0);
    expect(rig.die.arrayReadyAtNs).toBe(startNs + 9_000 + READ_LSB);
    expect(rig.command(0x00).read(1)).toEqual([10]);
    rig.command(0x31);
    expect(rig.die.readyAtNs).toBe(startNs + 9_000 + READ_LSB + 9_000);
    expect(rig.wait().read(1)).toEqual([11]);
    expect(rig.waitArray().status()).toBe(0xe0);
    rig.command(0x3f).wait();
    expect(rig.command(0x00).read(1)).toEqual([12]);
    expect(rig.die.lun.state).toBe(LunState.Idle);
    expect(rig.broken).toEqual([]);
  });

  test('at the end of a block the next block of the same plane follows', () => {
    const rig = OnfiRig.ready();
    rig.program({ block: 4, page: 15 }, 1).program({ block: 6, page: 0 }, 2);
    rig.at(0x00, { block: 4, page: 15 }).command(0x30).wait();
    rig.command(0x31).wait();
    expect(rig.command(0x3f).wait().read(1)).toEqual([2]);
    expect(rig.broken).toEqual([]);
  });

  test('a group of planes, random', () => {
    const rig = OnfiRig.ready();
    for (const block of [4, 5, 8, 9]) rig.program({ block, page: 0 }, block);
    rig.at(0x00, HERE).command(0x32).wait().at(0x00, OTHER_PLANE).command(0x30).wait();
    rig.at(0x00, { block: 8, page: 0 }).command(0x32).wait();
    rig.at(0x00, { block: 9, page: 0 }).command(0x31).wait();
    const both = () =>
      [4, 5].flatMap((block) => rig.at(0x06, { block, page: 0 }).command(0xe0).read(1));
    expect(both()).toEqual([4, 5]);
    rig.command(0x3f).wait();
    expect(both()).toEqual([8, 9]);
    expect(rig.broken).toEqual([]);
  });
});
