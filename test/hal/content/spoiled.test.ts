/**
 * Goal: a sector that was lost stays lost wherever its page goes, no other sector is, and a page
 * that is freed leaves no mark behind.
 * Method: random stores, merges, spoilings and releases beside a model of eight sectors a page, the
 * same for tags and for bytes; then forks, snapshots and losses of power in the middle of it.
 */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteContent, type PageBacking } from '../../../hal/content/byte-content.ts';
import type { Content } from '../../../hal/content/content.ts';
import { TaggedContent } from '../../../hal/content/tagged-content.ts';
import { Machine } from '../../../hal/sim/snapshot.ts';
import { Timeline } from '../../../hal/sim/timeline.ts';
import { UndoLog } from '../../../hal/sim/undo-log.ts';

const PAGE = 4096;
const SECTORS = [0, 1, 2, 3, 4, 5, 6, 7];
/** What the model says of a sector that is lost. */
const LOST = 'lost';
type Sector = number | typeof LOST;

function newMachine(): Machine {
  return new Machine(new Timeline(), new UndoLog());
}

/** A file in memory, for the pages that find no frame. */
class MapBacking implements PageBacking {
  readonly pages = new Map<number, Uint8Array>();

  write(page: number, bytes: Uint8Array): void {
    this.pages.set(page, bytes.slice());
  }

  read(page: number, into: Uint8Array): void {
    into.set(this.pages.get(page)!);
  }
}

/** One of the two stores: how to make it, fill a page with one number, and count its pages. */
interface Kind {
  name: string;
  make(machine: Machine): Content;
  whole(content: Content, value: number): number;
  count(content: Content): number;
}

const KINDS: Kind[] = [
  {
    name: 'tags',
    make: (machine) => machine.add(new TaggedContent(machine)),
    whole: (_content, value) => value,
    count: (content) => (content as TaggedContent).mixtureCount,
  },
  {
    name: 'bytes',
    make: (machine) => machine.add(new ByteContent(64, new MapBacking(), machine)),
    whole: (content, value) => (content as ByteContent).store(new Uint8Array(PAGE).fill(value)),
    count: (content) => (content as ByteContent).pageCount,
  },
];

/** A reference that somebody holds, and what its page must hold. */
interface Held {
  handle: number;
  sectors: Sector[];
}

interface Action {
  kind: 'whole' | 'merge' | 'retain' | 'release' | 'spoil';
  first: number;
  second: number;
  mask: number;
  value: number;
}

const anyActions: fc.Arbitrary<Action[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(
      ...(['whole', 'merge', 'merge', 'retain', 'release', 'spoil', 'spoil'] as const),
    ),
    first: fc.nat({ max: 1000 }),
    second: fc.nat({ max: 1000 }),
    mask: fc.nat({ max: 255 }),
    value: fc.integer({ min: 1, max: 250 }),
  }),
  { maxLength: 60 },
);

const mix = (below: Sector[], above: Sector[], mask: number): Sector[] =>
  below.map((sector, i) => ((mask >> i) & 1 ? above[i]! : sector));

/** The store beside a list of who holds what. */
class Model {
  readonly kind: Kind;
  readonly content: Content;
  held: Held[] = [];

  constructor(kind: Kind, content = kind.make(newMachine())) {
    this.kind = kind;
    this.content = content;
  }

  apply({ kind, first, second, mask, value }: Action): void {
    const { content, held } = this;
    if (kind === 'whole' || held.length === 0) {
      held.push({ handle: this.kind.whole(content, value), sectors: SECTORS.map(() => value) });
      return;
    }
    const at = first % held.length;
    const one = held[at]!;
    switch (kind) {
      case 'merge': {
        const zeros = { handle: 0, sectors: SECTORS.map(() => 0) };
        const other = second % 8 === 0 ? zeros : held[second % held.length]!;
        const handle = content.merge(one.handle, other.handle, mask);
        held.push({ handle, sectors: mix(one.sectors, other.sectors, mask) });
        return;
      }
      case 'retain':
        content.retain(one.handle);
        held.push(one);
        return;
      case 'release':
        content.release(one.handle);
        held.splice(at, 1);
        return;
      case 'spoil': {
        const lost = SECTORS.map((): Sector => LOST);
        const handle = content.spoil(one.handle, mask);
        held[at] = { handle, sectors: mix(one.sectors, lost, mask) };
      }
    }
  }

  /** What the store says of a page: a sector's number, or that it is lost. */
  sectorsOf(handle: number): Sector[] {
    const lost = this.content.spoiledOf(handle);
    return SECTORS.map((i) => ((lost >> i) & 1 ? LOST : this.#numberOf(handle, i)));
  }

  check(): void {
    expect(this.held.map(({ handle }) => this.sectorsOf(handle))).toEqual(
      this.held.map(({ sectors }) => sectors),
    );
    const pages = new Set(this.held.map(({ handle }) => handle).filter((handle) => handle < 0));
    expect(this.kind.count(this.content)).toBe(pages.size);
  }

  releaseAll(): void {
    for (const { handle } of this.held) this.content.release(handle);
    this.held = [];
  }

  /** The number that fills a sector, -1 when more than one does. */
  #numberOf(handle: number, sector: number): number {
    if (!this.content.holdsBytes) return this.content.sectorTag(handle, sector);
    const bytes = this.content.bytesOf(handle).subarray(sector * 512, (sector + 1) * 512);
    return bytes.every((byte) => byte === bytes[0]) ? bytes[0]! : -1;
  }
}

describe.each(KINDS)('spoiled pages of $name', (kind) => {
  it('are lost in the sectors named, through every merge, and nowhere else', () => {
    fc.assert(
      fc.property(anyActions, (actions) => {
        const model = new Model(kind);
        for (const action of actions) model.apply(action);
        model.check();
        model.releaseAll();
        model.check();
      }),
    );
  });

  it('add up: what was lost before stays lost', () => {
    const { content } = new Model(kind);
    const once = content.spoil(kind.whole(content, 7), 0b0000_0110);
    const twice = content.spoil(once, 0b1000_0010);
    expect(content.spoiledOf(twice)).toBe(0b1000_0110);
    expect(kind.count(content)).toBe(1);
    content.release(twice);
    expect(kind.count(content)).toBe(0);
  });

  it('do not spoil the page for others who hold it', () => {
    const { content } = new Model(kind);
    const page = content.merge(kind.whole(content, 1), kind.whole(content, 2), 0x0f);
    const before = SECTORS.map((sector) => content.sectorTag(page, sector));
    content.retain(page);
    const spoiled = content.spoil(page, 0xff);
    expect(spoiled).not.toBe(page);
    expect([content.spoiledOf(page), content.spoiledOf(spoiled)]).toEqual([0, 0xff]);
    expect(SECTORS.map((sector) => content.sectorTag(page, sector))).toEqual(before);
  });

  it('are made of zeros too', () => {
    const model = new Model(kind);
    const page = model.content.spoil(0, 0b0001_0000);
    model.held.push({ handle: page, sectors: [0, 0, 0, 0, LOST, 0, 0, 0] });
    model.check();
    expect([model.content.spoiledOf(0), kind.count(model.content)]).toEqual([0, 1]);
  });

  it('are healed only by the sectors that are written again', () => {
    const { content } = new Model(kind);
    const page = content.spoil(kind.whole(content, 3), 0xff);
    const fresh = kind.whole(content, 4);
    expect(content.spoiledOf(content.merge(page, fresh, 0b0011_1100))).toBe(0b1100_0011);
    // Lost data over good data is lost data, whole or in part.
    expect(content.spoiledOf(content.merge(fresh, page, 0b0011_1100))).toBe(0b0011_1100);
    expect(content.spoiledOf(content.merge(fresh, page, 0xff))).toBe(0xff);
    expect(content.spoiledOf(content.merge(page, fresh, 0xff))).toBe(0);
    // All eight sectors lost are no page of one kind: they stay lost when merged with their like.
    expect(content.spoiledOf(content.merge(page, page, 0x0f))).toBe(0xff);
  });

  it('leave no mark on what takes their place in the store', () => {
    const { content } = new Model(kind);
    const spoiled = Array.from({ length: 20 }, (_, i) =>
      content.spoil(kind.whole(content, i + 1), 0xff),
    );
    for (const page of spoiled) content.release(page);
    const again = Array.from({ length: 20 }, (_, i) =>
      content.merge(kind.whole(content, i + 1), kind.whole(content, i + 2), 0x3c),
    );
    expect(again.some((page) => spoiled.includes(page))).toBe(true);
    expect(again.map((page) => content.spoiledOf(page))).toEqual(again.map(() => 0));
  });

  it('metadata pages are none of them', () => {
    const { content } = new Model(kind);
    expect(content.spoiledOf(content.write(new Uint8Array(PAGE).fill(0x80)))).toBe(0);
  });
});

describe.each(KINDS)('spoiled pages of $name in copies', (kind) => {
  it('a fork has them and goes its own way', () => {
    fc.assert(
      fc.property(anyActions, anyActions, anyActions, (before, ours, theirs) => {
        const model = new Model(kind);
        for (const action of before) model.apply(action);
        const fork = new Model(kind, model.content.fork(newMachine()));
        fork.held = [...model.held];
        fork.check();
        for (const action of ours) model.apply(action);
        for (const action of theirs) fork.apply(action);
        model.check();
        fork.check();
        fork.releaseAll();
        fork.check();
        model.check();
      }),
      { numRuns: 40 },
    );
  });

  it('a loss of power keeps those on flash and forgets the others', () => {
    fc.assert(
      fc.property(anyActions, anyActions, fc.nat({ max: 7 }), (before, after, stride) => {
        const model = new Model(kind);
        for (const action of before) model.apply(action);
        // What every so many references hold is on flash; the rest was in buffers.
        model.held = model.held.filter((_, i) => stride > 0 && i % stride === 0);
        model.content.sweep(model.held.map(({ handle }) => handle).filter((handle) => handle < 0));
        model.check();
        for (const action of after) model.apply(action);
        model.check();
        model.releaseAll();
        model.check();
      }),
      { numRuns: 40 },
    );
  });

  it('a recorded run that is undone, or a state that is restored, has them again', () => {
    fc.assert(
      fc.property(anyActions, anyActions, (before, during) => {
        const machine = newMachine();
        const model = new Model(kind, kind.make(machine));
        for (const action of before) model.apply(action);
        const held = [...model.held];
        machine.log.start(2 ** 21);
        const position = machine.log.position;
        const parts = machine.saveParts();
        const hash = machine.stateHash();
        for (const action of during) model.apply(action);
        machine.log.unwindTo(position);
        machine.restoreParts(parts);
        machine.log.stop();
        model.held = held;
        model.check();
        expect(machine.stateHash()).toBe(hash);
        for (const action of during) model.apply(action);
        model.check();
      }),
      { numRuns: 40 },
    );
  });
});

describe('spoiled pages of bytes', () => {
  it('keep their mark while they are out of memory', () => {
    const content = new ByteContent(64, new MapBacking());
    const page = (i: number) => content.store(new Uint8Array(PAGE).fill(i));
    const handles = Array.from({ length: 200 }, (_, i) => content.spoil(page(i), i));
    expect(content.residentCount).toBeLessThanOrEqual(64);
    expect(handles.map((handle) => content.spoiledOf(handle))).toEqual(handles.map((_, i) => i));
    const wrong = handles.filter((handle, i) => content.bytesOf(handle)[511] !== i);
    expect(wrong).toEqual([]);
  });

  it('are known from the start when they come from a flash slot', () => {
    const content = new ByteContent(64, null);
    content.setHome({ read: (slot, into) => void into.fill(slot) });
    const [good, bad] = [content.adopt(3), content.adopt(4, 0b0101)];
    expect([content.spoiledOf(good), content.spoiledOf(bad)]).toEqual([0, 0b0101]);
    const merged = content.merge(bad, good, 0b0100);
    expect(content.spoiledOf(merged)).toBe(0b0001);
    expect(content.bytesOf(merged)[2 * 512]).toBe(3);
    content.settleAt(merged, 9);
    expect(content.spoiledOf(merged)).toBe(0b0001);
  });

  it('are saved in page order, whatever the order in which they were spoiled', () => {
    const content = new ByteContent(64, null);
    const freed = [1, 2, 3, 4, 5].map((value) => content.store(new Uint8Array(PAGE).fill(value)));
    for (const page of freed) content.release(page);
    // Places are taken again from the last one freed to the first.
    const spoiled = [1, 2, 4].map((mask) => content.spoil(0, mask));
    const pages = spoiled.map((handle) => -handle - 1);
    expect(pages).toEqual([4, 3, 2]);
    expect(content.save().spoiled).toEqual(Int32Array.of(2, 4, 3, 2, 4, 1));
  });
});
