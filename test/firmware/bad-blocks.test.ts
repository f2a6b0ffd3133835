/**
 * Goal: a bad die of a superblock is never written, every good one is written exactly once, and a
 * checkpoint is read from where it was written.
 * Method: the table beside a plain set; frontiers and checkpoint units over random tables, against
 * the list of units that a reader of the rule would make: pages in order, dies in order, no bad one.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BAD_WORDS, BadBlocks } from '../../firmware/ftl/bad-blocks.ts';
import { CheckpointUnits } from '../../firmware/ftl/checkpoint-units.ts';
import { Frontier } from '../../firmware/ftl/frontier.ts';
import {
  type CheckpointPlace,
  decodeRoot,
  encodeRoot,
  LAYOUT_VERSION,
  ROOT_MAGIC,
  RootState,
} from '../../firmware/ftl/layouts.ts';
import {
  ROOT_SUPERBLOCK,
  SUPERBLOCK_TABLE,
  SuperblockState,
  Superblocks,
} from '../../firmware/ftl/superblocks.ts';
import { TOY } from '../../firmware/profiles/toy.ts';
import { Geometry } from '../../hal/geometry.ts';
import { PagePairing } from '../../hal/pairing.ts';
import { InvariantBroken } from '../../hal/sim/invariant.ts';
import { Probe, ProbeKind } from '../../hal/sim/probe.ts';
import { TransitionWatch } from '../kit/transition-watch.ts';

/** Runs of a property over whole superblocks of 64 dies: each takes some thousand units. */
const RUNS = { numRuns: 40 };

const PAIRING = new PagePairing(TOY.geometry.pagesPerBlock);
/** 4 dies; 64 dies, which need both words. */
const SMALL = new Geometry(TOY.geometry);
const WIDE = new Geometry({ ...TOY.geometry, channels: 8, diesPerChannel: 8 });
const { superblocks: COUNT } = SMALL;

/** One unit: [superblock, page, die]. */
type Unit = readonly [number, number, number];

/** A geometry with the bad dies of each of its superblocks. */
interface Holes {
  geometry: Geometry;
  bad: number[][];
}

const holes: fc.Arbitrary<Holes> = fc.constantFrom(SMALL, WIDE).chain((geometry) =>
  fc.record({
    geometry: fc.constant(geometry),
    bad: fc.array(fc.uniqueArray(fc.nat(geometry.dies - 1), { maxLength: geometry.dies }), {
      minLength: COUNT,
      maxLength: COUNT,
    }),
  }),
);

const pagesOf = (lsbOnly: boolean): number[] =>
  lsbOnly ? [...PAIRING.lsbPages] : Array.from(PAIRING.isMsb, (_, page) => page);

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** The good units of a superblock in the order in which they are written. */
function goodUnits(superblock: number, lsbOnly: boolean, { geometry, bad }: Holes): Unit[] {
  const good = range(geometry.dies).filter((die) => !bad[superblock]!.includes(die));
  return pagesOf(lsbOnly).flatMap((page) => good.map((die): Unit => [superblock, page, die]));
}

/** The block table of a drive whose factory has marked these holes. */
function formatted({ geometry, bad }: Holes): Superblocks {
  const table = new Superblocks(geometry.superblocks, geometry.dies, new Probe());
  bad.forEach((dies, superblock) => {
    for (const die of dies) table.bad.addFactory(superblock, die);
  });
  table.format();
  return table;
}

/** Holes of the toy: none but those named. */
function toyHoles(named: { [superblock: number]: number[] }): Holes {
  return { geometry: SMALL, bad: range(COUNT).map((superblock) => named[superblock] ?? []) };
}

function takeAll(frontier: Frontier): Unit[] {
  const taken: Unit[] = [];
  while (frontier.isOpen) taken.push([frontier.take(), frontier.page, frontier.die]);
  return taken;
}

describe('bad blocks: the table', () => {
  test('is a set of dies for each superblock, counted by where it comes from', () => {
    const marks = fc.array(
      fc.record({ superblock: fc.nat(COUNT - 1), die: fc.nat(63), grown: fc.boolean() }),
      { maxLength: 200 },
    );
    fc.assert(
      fc.property(marks, (list) => {
        const table = new BadBlocks(COUNT, 64);
        const known = new Map<number, boolean>();
        for (const { superblock, die, grown } of list) {
          if (grown) table.addGrown(superblock, die);
          else table.addFactory(superblock, die);
          const key = superblock * 64 + die;
          if (!known.has(key)) known.set(key, grown); // what is bad already is not counted twice
        }
        const found = range(COUNT * 64).filter((key) => table.isBad(key >> 6, key & 63));
        expect(found).toEqual([...known.keys()].sort((a, b) => a - b));
        const grownCount = [...known.values()].filter((grown) => grown).length;
        expect([table.factoryCount, table.grownCount]).toEqual([
          ...[known.size - grownCount, grownCount],
        ]);
        const badOf = range(COUNT).map((i) => found.filter((key) => key >> 6 === i).length);
        expect(range(COUNT).map((i) => 64 - table.usableDies(i))).toEqual(badOf);
        expect(range(COUNT).map((i) => table.hasBad(i))).toEqual(badOf.map((count) => count > 0));
      }),
    );
  });

  test('keeps die n in bit n of its words: the first and last die of each', () => {
    const table = new BadBlocks(2, 64);
    for (const die of [0, 31, 32, 63]) table.addGrown(1, die);
    const edges = 0x8000_0001 | 0;
    expect([...table.words]).toEqual([0, 0, edges, edges]);
    expect(table.usableDies(1)).toBe(60);
  });

  test('comes back through save and restore, and word by word through load', () => {
    fc.assert(
      fc.property(holes, fc.nat(COUNT - 1), fc.nat(3), ({ geometry, bad }, superblock, die) => {
        const table = formatted({ geometry, bad }).bad;
        table.addGrown(superblock, die);
        const saved = table.save();
        const copy = new BadBlocks(COUNT, geometry.dies);
        copy.addFactory(7, 1); // what was there before is replaced
        copy.restore(saved);
        expect(copy.save()).toEqual(saved);
        const loaded = new BadBlocks(COUNT, geometry.dies);
        loaded.addFactory(7, 1);
        for (let i = 0; i < COUNT; i++) {
          loaded.load(i, table.words[i * BAD_WORDS]!, table.words[i * BAD_WORDS + 1]!);
        }
        expect(loaded.words).toEqual(table.words);
        expect(range(COUNT).map((i) => loaded.usableDies(i))).toEqual(
          range(COUNT).map((i) => table.usableDies(i)),
        );
        // A saved state does not change with the table.
        table.addGrown((superblock + 1) % COUNT, geometry.dies - 1);
        table.reset();
        expect(copy.save()).toEqual(saved);
        expect(table.save()).toEqual(new BadBlocks(COUNT, geometry.dies).save());
      }),
      { numRuns: 50 },
    );
  });

  test('travels with the block table that it belongs to', () => {
    const table = formatted(toyHoles({ 3: [0, 2], 5: [0, 1, 2, 3] }));
    const copy = new Superblocks(COUNT, SMALL.dies, new Probe());
    copy.restore(table.save());
    expect(copy.save()).toEqual(table.save());
    expect([copy.bad.isBad(3, 2), copy.bad.isBad(3, 1)]).toEqual([true, false]);
  });
});

describe('bad blocks: superblocks without a good die', () => {
  const ALL = [0, 1, 2, 3];

  test('are never opened; one good die is enough', () => {
    const table = formatted(toyHoles({ 4: ALL, 9: ALL, 11: [0, 1, 3] }));
    expect(table.countIn(SuperblockState.Bad)).toBe(2);
    expect(table.freeCount).toBe(COUNT - 3);
    table.verify();
    const opened: number[] = [];
    while (table.freeCount > 0) opened.push(table.open(false, SuperblockState.Open));
    expect(opened).toEqual(range(COUNT).filter((i) => ![ROOT_SUPERBLOCK, 4, 9].includes(i)));
    expect(table.open(false, SuperblockState.Open)).toBe(-1);
  });

  test('the superblock of the roots stays what it is, whatever is marked there', () => {
    const table = formatted(toyHoles({ [ROOT_SUPERBLOCK]: ALL }));
    expect(table.state[ROOT_SUPERBLOCK]).toBe(SuperblockState.Root);
    expect([table.countIn(SuperblockState.Bad), table.freeCount]).toEqual([0, COUNT - 1]);
  });

  test('leave the pool when their last die fails to erase, and by those rows only', () => {
    const probe = new Probe();
    const watch = new TransitionWatch(SUPERBLOCK_TABLE, { kind: ProbeKind.Superblock });
    probe.listener = watch;
    const table = new Superblocks(COUNT, SMALL.dies, probe);
    for (const die of ALL) table.bad.addFactory(8, die);
    table.format();
    const superblock = table.open(true, SuperblockState.Metadata);
    table.change(superblock, SuperblockState.Erasing);
    const { freeCount } = table;
    for (const die of ALL) table.bad.addGrown(superblock, die);
    table.erased(superblock);
    expect(table.state[superblock]).toBe(SuperblockState.Bad);
    expect([table.freeCount, table.eraseCount[superblock]]).toEqual([freeCount, 1]);
    table.verify();
    expect([...watch.strange]).toEqual([]);
    expect(watch.untaken.filter((row) => row.includes('WornOut'))).toEqual([]);
  });

  test('a row of which one die is left comes back to the pool', () => {
    const table = formatted(toyHoles({}));
    const superblock = table.open(true, SuperblockState.Open);
    table.change(superblock, SuperblockState.Erasing);
    for (const die of [0, 1, 2]) table.bad.addGrown(superblock, die);
    table.erased(superblock);
    expect(table.state[superblock]).toBe(SuperblockState.Free);
  });
});

describe('bad blocks: a frontier', () => {
  test('yields every good die of every page once, in order, and no bad one', () => {
    fc.assert(
      fc.property(holes, fc.boolean(), (each, lsbOnly) => {
        const table = formatted(each);
        const frontier = new Frontier(each.geometry, PAIRING, table);
        const taken: Unit[] = [];
        for (let i = 0; i < 4 && frontier.open(lsbOnly); i++) taken.push(...takeAll(frontier));
        const opened = [...new Set(taken.map(([superblock]) => superblock))];
        expect(taken).toEqual(opened.flatMap((i) => goodUnits(i, lsbOnly, each)));
        const inFlight = opened.map((i) => table.programsInFlight[i]);
        expect(inFlight).toEqual(opened.map((i) => goodUnits(i, lsbOnly, each).length));
        const states = opened.map((i) => table.state[i]);
        expect(states).toEqual(opened.map(() => SuperblockState.Closed));
      }),
      RUNS,
    );
  });

  test('starts again at any unit that it has saved, at the same next unit', () => {
    fc.assert(
      fc.property(holes, fc.boolean(), fc.nat(500), (each, lsbOnly, count) => {
        const table = formatted(each);
        const frontier = new Frontier(each.geometry, PAIRING, table);
        if (!frontier.open(lsbOnly)) return;
        const { superblock } = frontier;
        for (let i = 0; i < count && frontier.isOpen; i++) frontier.take();
        if (!frontier.isOpen) return;
        const restored = new Frontier(each.geometry, PAIRING, table);
        restored.restore(frontier.save());
        const mounted = new Frontier(each.geometry, PAIRING, table);
        mounted.start(superblock, frontier.unit, lsbOnly);
        const rest = goodUnits(superblock, lsbOnly, each).slice(count);
        for (const one of [frontier, restored, mounted]) expect(takeAll(one)).toEqual(rest);
      }),
      RUNS,
    );
  });

  test('steps over a die that goes bad while it is written, from then on', () => {
    const events = fc.array(fc.record({ after: fc.nat(120), die: fc.nat(3) }), { maxLength: 3 });
    fc.assert(
      fc.property(events, fc.boolean(), (failures, lsbOnly) => {
        const table = formatted(toyHoles({}));
        const frontier = new Frontier(SMALL, PAIRING, table);
        frontier.open(lsbOnly);
        const { superblock } = frontier;
        const taken: Unit[] = [];
        const expected: Unit[] = [];
        const all = goodUnits(superblock, lsbOnly, toyHoles({}));
        for (let at = 0; at < all.length; at++) {
          // A failure is known only after the unit before it was issued.
          for (const { after, die } of failures) {
            if (after === at) table.bad.addGrown(superblock, die);
          }
          frontier.stepOverBad();
          const [, , die] = all[at]!;
          if (table.bad.isBad(superblock, die)) continue;
          expected.push(all[at]!);
          if (frontier.isOpen) taken.push([frontier.take(), frontier.page, frontier.die]);
        }
        expect(taken).toEqual(expected);
        // With no good die left it is closed: whoever writes next opens another superblock.
        expect(frontier.isOpen).toBe(false);
      }),
    );
  });

  test('is not open any more when nothing but bad dies is left at a mount', () => {
    const each = toyHoles({ 1: [2, 3] });
    const table = formatted(each);
    table.open(true, SuperblockState.Open);
    const frontier = new Frontier(SMALL, PAIRING, table);
    frontier.start(1, PAIRING.lsbPages.length * 4 - 2, true); // the last row, die 2
    expect(frontier.isOpen).toBe(false);
    expect(table.state[1]).toBe(SuperblockState.Closed);
  });
});

/** Places of a checkpoint, with the words as the table has them. */
function placesOf(table: Superblocks, superblocks: number[]): CheckpointPlace[] {
  return superblocks.map((superblock) => ({
    superblock,
    badLow: table.bad.words[superblock * BAD_WORDS]!,
    badHigh: table.bad.words[superblock * BAD_WORDS + 1]!,
  }));
}

/** The same places as a mount finds them: out of the bytes of a root page. */
function placesReadBack(places: CheckpointPlace[]): CheckpointPlace[] {
  const record = {
    ...{ magic: ROOT_MAGIC, version: LAYOUT_VERSION, state: RootState.Clean, sequence: 2 },
    ...{ superblockCount: places.length, checkpointPages: 9, nextOrder: 5 },
    ...{ powerCycles: 1, unplannedLosses: 0 },
  };
  return decodeRoot(encodeRoot(record, places))!.places;
}

function takeUnits(units: CheckpointUnits, count: number): Unit[] {
  return range(count).map((): Unit => {
    units.take();
    return [units.block / SMALL.planes, units.page, units.die];
  });
}

const someSuperblocks = fc.uniqueArray(fc.integer({ min: 1, max: COUNT - 1 }), {
  minLength: 1,
  maxLength: 5,
});

describe('bad blocks: the units of a checkpoint', () => {
  test('are the good LSB pages of its superblocks in order, the same for writer and reader', () => {
    fc.assert(
      fc.property(holes, someSuperblocks, (each, superblocks) => {
        const table = formatted(each);
        const places = placesOf(table, superblocks);
        const expected = superblocks.flatMap((i) => goodUnits(i, true, each));
        const writer = new CheckpointUnits(each.geometry, PAIRING);
        const reader = new CheckpointUnits(each.geometry, PAIRING);
        writer.start(places);
        reader.start(placesReadBack(places));
        expect(takeUnits(writer, expected.length)).toEqual(expected);
        expect(takeUnits(reader, expected.length)).toEqual(expected);
        const room = superblocks.map((i) => writer.unitsOf(table.bad.usableDies(i)));
        expect(room.reduce((sum, units) => sum + units, 0)).toBe(expected.length);
        // There is no unit more than that.
        for (const units of [writer, reader]) expect(() => units.take()).toThrow(InvariantBroken);
      }),
      RUNS,
    );
  });

  test('saved half-way go on at the next unit', () => {
    fc.assert(
      fc.property(holes, someSuperblocks, fc.nat(400), (each, superblocks, count) => {
        const expected = superblocks.flatMap((i) => goodUnits(i, true, each));
        const before = Math.min(count, expected.length);
        const units = new CheckpointUnits(each.geometry, PAIRING);
        units.start(placesOf(formatted(each), superblocks));
        takeUnits(units, before);
        const copy = new CheckpointUnits(each.geometry, PAIRING);
        copy.restore(units.save());
        const rest = expected.slice(before);
        expect(takeUnits(copy, rest.length)).toEqual(rest);
        expect(takeUnits(units, rest.length)).toEqual(rest);
      }),
      RUNS,
    );
  });

  test('begin at the first one again after a start', () => {
    const each = toyHoles({ 2: [0], 6: [1, 3] });
    const table = formatted(each);
    const units = new CheckpointUnits(SMALL, PAIRING);
    units.start(placesOf(table, [2]));
    takeUnits(units, 11);
    units.start(placesOf(table, [6, 2]));
    expect(takeUnits(units, 3)).toEqual([
      [6, 0, 0],
      [6, 0, 2],
      [6, 1, 0],
    ]);
  });
});
