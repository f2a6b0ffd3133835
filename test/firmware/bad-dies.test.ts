/**
 * Goal: a drive with bad blocks keeps its data and never touches a block group that is bad.
 * Method: toy drives whose factory has marked blocks at random, filled and overwritten through
 * standbys and power cycles; the flash is looked at, not the table.
 */

import { describe, expect, test } from 'vitest';
import { ROOT_SUPERBLOCK, SuperblockState } from '../../firmware/ftl/superblocks.ts';
import { Host } from '../../firmware/host.ts';
import { TOY } from '../../firmware/profiles/toy.ts';
import { AtaOpcode } from '../../hal/ata.ts';
import { RandomStream } from '../../hal/sim/random.ts';
import { BlockFlag } from '../../nand/block-history.ts';
import { findLeak } from '../kit/leaks.ts';

const PAGES = TOY.identity.sectors / 8;
const { planes } = TOY.geometry;

/** Marks one block, of either plane, in so many block groups; returns 'superblock.die' of each. */
function markAtRandom({ drive }: Host, count: number, random: RandomStream): Set<string> {
  const { geometry, array } = drive;
  const marked = new Set<string>();
  while (marked.size < count) {
    const superblock = 1 + random.below(geometry.superblocks - 1);
    const die = random.below(geometry.dies);
    const block = superblock * planes + random.below(planes);
    array.store.flag(geometry.blockIndex(die, block), BlockFlag.FactoryMark);
    marked.add(`${superblock}.${die}`);
  }
  return marked;
}

/** Block groups that the drive's table calls bad. */
function tableOf({ drive }: Host): Set<string> {
  const { bad, count } = drive.firmware.superblocks;
  const groups = new Set<string>();
  for (let superblock = 0; superblock < count; superblock++) {
    for (let die = 0; die < bad.dies; die++) {
      if (bad.isBad(superblock, die)) groups.add(`${superblock}.${die}`);
    }
  }
  return groups;
}

/** Block groups that hold a programmed slot, or have been erased. */
function touchedOf({ drive }: Host): Set<string> {
  const { geometry, image, array } = drive;
  const groups = new Set<string>();
  for (const { slot } of image.programmedSlots()) {
    groups.add(`${geometry.superblockOf(slot)}.${geometry.dieOf(slot)}`);
  }
  for (let block = 0; block < geometry.blocksPerDie; block++) {
    for (let die = 0; die < geometry.dies; die++) {
      const erases = array.store.history.eraseCountOf(geometry.blockIndex(die, block));
      if (erases > 0) groups.add(`${block >> geometry.planeBits}.${die}`);
    }
  }
  return groups;
}

/** Events within which a command ends, collection included: ten times what one ever takes. */
const EVENTS_MAX = 50_000;

/** Runs until a command has ended; one that collection holds up for ever is found at once. */
function end(host: Host, id: number, name: string): void {
  const { timeline } = host.drive;
  const limit = timeline.ordinal + EVENTS_MAX;
  host.runUntil(() => host.result(id) !== null || timeline.ordinal >= limit);
  if (host.result(id) === null) throw new Error(`${name} does not end`);
}

function standby(host: Host): void {
  end(host, host.submit({ opcode: AtaOpcode.StandbyImmediate }), 'a standby');
}

function wrongPages(host: Host, tags: Int32Array): number[] {
  const wrong: number[] = [];
  for (let lpn = 0; lpn < PAGES; lpn += 64) {
    const read = host.read(lpn * 8, 64 * 8).tags!;
    for (let i = 0; i < 64; i++) if (read[i * 8] !== tags[lpn + i]) wrong.push(lpn + i);
  }
  return wrong;
}

describe('a drive with factory marks', () => {
  test.each(['a', 'b', 'c'])('keeps its data and leaves marked block groups alone: %s', (seed) => {
    const host = new Host('toy');
    const random = new RandomStream(seed, 'bad-dies');
    // 12 of 128 block groups: a tenth, more than any part is sold with.
    const marked = markAtRandom(host, 12, random);
    host.boot();
    expect(tableOf(host)).toEqual(marked);
    const { superblocks } = host.drive.firmware;
    expect([superblocks.bad.factoryCount, superblocks.bad.grownCount]).toEqual([12, 0]);

    const tags = new Int32Array(PAGES);
    for (let i = 1; i <= 3 * PAGES; i++) {
      const lpn = i <= PAGES ? i - 1 : random.below(PAGES);
      tags[lpn] = i;
      end(host, host.submitWrite(lpn * 8, [i]), `write ${i}`);
      if (i % 2000 !== 0) continue;
      standby(host);
      host.drive.powerOff();
      host.boot();
      expect(tableOf(host)).toEqual(marked);
      host.drive.firmware.verify();
    }
    host.flush();
    host.runUntil(() => host.drive.ops.usedCount === 0);
    expect(wrongPages(host, tags)).toEqual([]);
    const touched = touchedOf(host);
    expect([...marked].filter((group) => touched.has(group))).toEqual([]);
    // The marks are still there for whoever looks next.
    const { history } = host.drive.array.store;
    const { geometry } = host.drive;
    const flags = Array.from({ length: geometry.blocks }, (_, block) => history.flagsOf(block));
    expect(flags.filter((each) => (each & BlockFlag.FactoryMark) !== 0)).toHaveLength(12);
    expect(findLeak(host)).toBeNull();
    expect(superblocks.bad.factoryCount).toBe(12);
  });

  test('finds a checkpoint that steps over bad dies in every superblock', () => {
    const host = new Host('toy');
    const { array, geometry } = host.drive;
    // One die is bad everywhere but where the roots are, another in every second superblock.
    for (let superblock = 1; superblock < geometry.superblocks; superblock++) {
      const block = superblock * planes;
      array.store.flag(geometry.blockIndex(0, block), BlockFlag.FactoryMark);
      if (superblock % 2 === 0) continue;
      array.store.flag(geometry.blockIndex(3, block + 1), BlockFlag.FactoryMark);
    }
    host.boot();
    const written = Array.from({ length: 40 }, (_, i) => i * 100);
    for (const lpn of written) host.write(lpn * 8, [lpn + 1]);
    for (let cycle = 0; cycle < 4; cycle++) {
      host.standby();
      host.drive.powerOff();
      host.boot();
      expect(written.map((lpn) => host.read(lpn * 8, 8).tags![0])).toEqual(
        written.map((lpn) => lpn + 1),
      );
      host.write(8 * (7 + cycle), [500 + cycle]);
    }
    const dies = host.drive.image
      .programmedSlots()
      .filter(({ slot }) => geometry.superblockOf(slot) !== ROOT_SUPERBLOCK)
      .map(({ slot }) => geometry.dieOf(slot));
    expect(new Set(dies)).not.toContain(0);
    host.drive.firmware.verify();
  });
});

describe('a superblock all of whose dies have gone bad', () => {
  test('is given up when it is emptied; its data stays readable until then', () => {
    const host = new Host('toy');
    host.boot();
    const { superblocks } = host.drive.firmware;
    for (let i = 0; i < 600; i++) host.write(i * 8, [i + 1]);
    host.flush();
    const superblock = superblocks.state.indexOf(SuperblockState.Closed);
    expect(superblock).toBeGreaterThan(0);
    for (let die = 0; die < superblocks.bad.dies; die++) superblocks.bad.addGrown(superblock, die);
    expect(Array.from({ length: 600 }, (_, i) => host.read(i * 8, 8).tags![0])).toEqual(
      Array.from({ length: 600 }, (_, i) => i + 1),
    );
    host.trim([{ lba: 0, sectors: 600 * 8 }]);
    host.runUntil(() => host.drive.ops.usedCount === 0);
    expect(superblocks.state[superblock]).toBe(SuperblockState.Bad);
    standby(host); // ends only when no erase is outstanding
    host.drive.powerOff();
    host.boot();
    expect(superblocks.state[superblock]).toBe(SuperblockState.Bad);
    expect(superblocks.bad.grownCount).toBe(4);
    host.drive.firmware.verify();
  });
});
