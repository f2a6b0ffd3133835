/**
 * Goal: the block table obeys its table of transitions, frontiers write in their order, and the
 * walk over map and table finds every error planted in them.
 * Method: a long random run with standbys and power cycles, watched; single parts by themselves.
 */

import { describe, expect, test } from 'vitest';
import { Frontier } from '../../firmware/ftl/frontier.ts';
import { SUPERBLOCK_TABLE, SuperblockState, Superblocks } from '../../firmware/ftl/superblocks.ts';
import { Host } from '../../firmware/host.ts';
import { TOY } from '../../firmware/profiles/toy.ts';
import { Geometry } from '../../hal/geometry.ts';
import { PagePairing } from '../../hal/pairing.ts';
import { InvariantBroken } from '../../hal/sim/invariant.ts';
import { Probe, ProbeKind } from '../../hal/sim/probe.ts';
import { RandomStream } from '../../hal/sim/random.ts';
import { BlockFlag } from '../../nand/block-history.ts';
import { TransitionWatch } from '../kit/transition-watch.ts';

const GEOMETRY = new Geometry(TOY.geometry);
const PAIRING = new PagePairing(TOY.geometry.pagesPerBlock);
const PAGES = TOY.identity.sectors / 8;

function table(): Superblocks {
  const superblocks = new Superblocks(GEOMETRY.superblocks, GEOMETRY.dies, new Probe());
  superblocks.format();
  return superblocks;
}

/** The factory finds every block of a superblock bad. */
function markByFactory({ drive }: Host, superblock: number): void {
  const { geometry, array } = drive;
  for (let plane = 0; plane < geometry.planes; plane++) {
    for (let die = 0; die < geometry.dies; die++) {
      const block = geometry.blockIndex(die, superblock * geometry.planes + plane);
      array.store.flag(block, BlockFlag.FactoryMark);
    }
  }
}

/** The first superblock that is erased turns bad on all dies meanwhile. */
function wearOutOne({ drive }: Host): void {
  const { bad, state } = drive.firmware.superblocks;
  if (bad.grownCount > 0) return;
  const superblock = state.indexOf(SuperblockState.Erasing);
  for (let die = 0; superblock >= 0 && die < bad.dies; die++) bad.addGrown(superblock, die);
}

describe('superblocks: the table of transitions', () => {
  test('is obeyed by a long random run, and every row of it is taken', () => {
    const host = new Host('toy');
    const watch = new TransitionWatch(SUPERBLOCK_TABLE, { kind: ProbeKind.Superblock });
    host.drive.probe.listener = watch;
    markByFactory(host, 9);
    host.boot();
    const random = new RandomStream('superblocks', 'pages');
    let tag = 1;
    for (let round = 0; round < 60; round++) {
      const ids = Array.from({ length: 150 + random.below(150) }, () => {
        const lpn = random.below(PAGES - 4);
        return host.submitWrite(lpn * 8, [tag++, tag++, tag++, tag++].slice(random.below(4)));
      });
      host.runUntil(() => {
        wearOutOne(host);
        return ids.every((id) => host.result(id) !== null);
      });
      if (round % 3 === 2) host.standby();
      if (round % 6 === 5) {
        host.drive.powerOff();
        host.boot();
      }
      host.drive.firmware.verify();
    }
    expect([...watch.strange]).toEqual([]);
    expect(watch.untaken).toEqual([]);
    expect(host.drive.firmware.superblocks.countIn(SuperblockState.Bad)).toBe(2);
  });

  test('a new drive has one root superblock, all others are erased', () => {
    const superblocks = table();
    expect(superblocks.countIn(SuperblockState.Root)).toBe(1);
    expect(superblocks.countIn(SuperblockState.Free)).toBe(superblocks.count - 1);
    expect(superblocks.freeCount).toBe(superblocks.count - 1);
    superblocks.verify();
  });
});

describe('superblocks: choices', () => {
  test('the least worn erased superblock is opened, the first of equals', () => {
    const superblocks = table();
    superblocks.eraseCount.fill(5);
    superblocks.eraseCount.set([0, 7, 3, 9, 3]);
    const opened = [0, 1, 2].map(() => superblocks.open(false, SuperblockState.Open));
    expect(opened).toEqual([2, 4, 5]); // the root is never among them
    expect(opened.map((i) => superblocks.openedNumber[i])).toEqual([1, 2, 3]);
    expect(superblocks.freeCount).toBe(superblocks.count - 4);
  });

  test('there is nothing to open when nothing is erased', () => {
    const superblocks = table();
    while (superblocks.freeCount > 0) superblocks.open(true, SuperblockState.Metadata);
    expect(superblocks.open(false, SuperblockState.Open)).toBe(-1);
    expect(superblocks.countIn(SuperblockState.Metadata)).toBe(superblocks.count - 1);
  });

  test('the victim is closed, at rest, and has the fewest valid slots', () => {
    const superblocks = table();
    expect(superblocks.leastValid(16)).toBe(-1);
    for (let i = 0; i < 5; i++) superblocks.open(false, SuperblockState.Open);
    [9, 2, 4, 3, 1].forEach((valid, i) => {
      superblocks.validCount[i + 1] = valid;
    });
    for (const i of [1, 2, 3, 4]) superblocks.change(i, SuperblockState.Closed);
    superblocks.programsInFlight[2] = 1;
    expect(superblocks.leastValid(16)).toBe(4); // 5 is open, 2 is being programmed
    superblocks.programsInFlight[2] = 0;
    expect(superblocks.leastValid(16)).toBe(2);
  });

  test('erasing counts wear and gives the superblock back', () => {
    const superblocks = table();
    const opened = superblocks.open(true, SuperblockState.Open);
    superblocks.change(opened, SuperblockState.Erasing);
    superblocks.erased(opened);
    const { eraseCount, lsbOnly, state, freeCount, count } = superblocks;
    expect([eraseCount[opened], lsbOnly[opened], state[opened]]).toEqual([1, 0, 0]);
    expect(freeCount).toBe(count - 1);
  });
});

describe('frontier', () => {
  test.each([false, true])('goes row by row over all dies, LSB pages only: %s', (lsbOnly) => {
    const superblocks = table();
    const frontier = new Frontier(GEOMETRY, PAIRING, superblocks);
    expect(frontier.open(lsbOnly)).toBe(true);
    const rows = lsbOnly
      ? [...PAIRING.lsbPages]
      : Array.from({ length: TOY.geometry.pagesPerBlock }, (_, page) => page);
    const superblock = frontier.superblock;
    const taken: number[][] = [];
    while (frontier.isOpen) {
      expect(frontier.take()).toBe(superblock);
      taken.push([frontier.page, frontier.die, frontier.block]);
    }
    const block = superblock * GEOMETRY.planes;
    expect(taken).toEqual(rows.flatMap((page) => [0, 1, 2, 3].map((die) => [page, die, block])));
    expect(superblocks.state[superblock]).toBe(SuperblockState.Closed);
    expect(superblocks.programsInFlight[superblock]).toBe(rows.length * GEOMETRY.dies);
    const slots = taken.map(([page, die]) => GEOMETRY.unitSlotOf(die!, superblock, page!));
    expect(slots.every((slot, i) => i === 0 || slot > slots[i - 1]!)).toBe(true);
  });

  test('saved half-way and restored goes on at the next unit', () => {
    const superblocks = table();
    const frontier = new Frontier(GEOMETRY, PAIRING, superblocks);
    frontier.open(true);
    for (let i = 0; i < 21; i++) frontier.take();
    const copy = new Frontier(GEOMETRY, PAIRING, superblocks);
    copy.restore(frontier.save());
    for (const each of [frontier, copy]) each.take();
    expect([copy.page, copy.die, copy.block]).toEqual([
      frontier.page,
      frontier.die,
      frontier.block,
    ]);
    expect([copy.page, copy.die]).toEqual([PAIRING.lsbPages[5], 1]); // unit 21 of 4 a row
  });

  test('does not open when nothing is erased', () => {
    const superblocks = table();
    while (superblocks.freeCount > 0) superblocks.open(false, SuperblockState.Open);
    const frontier = new Frontier(GEOMETRY, PAIRING, superblocks);
    expect([frontier.open(false), frontier.isOpen]).toEqual([false, false]);
  });
});

describe('the walk over map and block table finds', () => {
  /** A drive with data in flash, some of it stale. */
  function written(): Host {
    const host = new Host('toy');
    host.boot();
    for (let i = 1; i <= 300; i++) host.write(((i * 37) % 200) * 8, [i]);
    host.flush();
    host.drive.firmware.verify();
    return host;
  }

  const PLANTED: [string, (host: Host) => void, RegExp][] = [
    [
      'a page that points to a stale slot',
      ({ drive }) => {
        const { mapping } = drive.firmware;
        const at = mapping.l2p.values.findIndex((cell) => cell !== 0);
        let stale = 0;
        while (mapping.isValid(stale)) stale++;
        mapping.l2p.write(at, stale + 1);
      },
      /a mapped slot has its valid bit set/,
    ],
    [
      'a lost page',
      ({ drive }) => {
        const at = drive.l2p.values.findIndex((cell) => cell !== 0);
        drive.l2p.write(at, 0);
      },
      /no slot is valid that the map does not point to/,
    ],
    [
      'two pages that share a slot',
      ({ drive }) => {
        const [one, other] = [...drive.l2p.values.keys()].filter((i) => drive.l2p.values[i] !== 0);
        drive.l2p.write(one!, drive.l2p.values[other!]!);
      },
      /no two pages share a slot/,
    ],
    [
      'a valid bit too many',
      ({ drive }) => {
        const { validBits } = drive;
        const last = validBits.values.length - 1;
        validBits.write(last, validBits.values[last]! | 1);
      },
      /no slot is valid that the map does not point to/,
    ],
    [
      'a superblock that miscounts',
      ({ drive }) => drive.firmware.superblocks.addValid(3),
      /a superblock counts its valid slots/,
    ],
    [
      'a miscount of erased superblocks',
      ({ drive }) => void drive.firmware.superblocks.freeCount--,
      /erased rows are counted/,
    ],
    [
      'data in a superblock that counts as erased',
      ({ drive }) => {
        const { superblocks } = drive.firmware;
        const holder = superblocks.validCount.findIndex((count) => count > 0);
        superblocks.change(holder, SuperblockState.Free);
        superblocks.freeCount++;
      },
      /an erased superblock holds nothing valid/,
    ],
  ];

  test.each(PLANTED)('%s', (_name, plant, rule) => {
    const host = written();
    plant(host);
    expect(() => host.drive.firmware.verify()).toThrow(rule);
    expect(() => host.drive.firmware.verify()).toThrow(InvariantBroken);
  });
});
