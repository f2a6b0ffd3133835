import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteContent, type PageBacking } from '../../../hal/content/byte-content.ts';
import { DramTable } from '../../../hal/dram-table.ts';
import { InvariantBroken } from '../../../hal/sim/invariant.ts';
import { Machine } from '../../../hal/sim/snapshot.ts';
import { Timeline } from '../../../hal/sim/timeline.ts';
import { UndoLog } from '../../../hal/sim/undo-log.ts';

const PAGE = 4096;

function newMachine(): Machine {
  return new Machine(new Timeline(), new UndoLog());
}

/** A file in memory. */
class MapBacking implements PageBacking {
  readonly pages = new Map<number, Uint8Array>();
  writeCount = 0;
  readCount = 0;

  write(page: number, bytes: Uint8Array): void {
    this.writeCount++;
    this.pages.set(page, bytes.slice());
  }

  read(page: number, into: Uint8Array): void {
    this.readCount++;
    const bytes = this.pages.get(page);
    if (bytes === undefined) throw new Error(`page ${page} was never put out`);
    into.set(bytes);
  }
}

/** 4096 bytes that differ in every sector and for every seed. */
function pattern(seed: number): Uint8Array {
  const bytes = new Uint8Array(PAGE);
  for (let i = 0; i < PAGE; i++) bytes[i] = (seed * 31 + (i >> 9) * 7 + i * 3) & 0xff;
  new DataView(bytes.buffer).setInt32(0, seed);
  return bytes;
}

interface Held {
  handle: number;
  bytes: Uint8Array;
}

interface Action {
  kind: 'store' | 'merge' | 'retain' | 'release' | 'look';
  first: number;
  second: number;
  mask: number;
}

const anyActions: fc.Arbitrary<Action[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(
      ...(['store', 'merge', 'merge', 'retain', 'release', 'release', 'look', 'look'] as const),
    ),
    first: fc.nat(),
    second: fc.nat(),
    mask: fc.nat({ max: 255 }),
  }),
  { maxLength: 120 },
);

/** The store beside a plain copy of the bytes of every page that somebody holds. */
class Model {
  readonly content: ByteContent;
  held: Held[] = [];

  constructor(content: ByteContent) {
    this.content = content;
  }

  store(seed: number): void {
    const bytes = pattern(seed);
    this.held.push({ handle: this.content.store(bytes), bytes });
  }

  pick(choice: number): Held {
    if (choice % 16 === 0) return { handle: 0, bytes: new Uint8Array(PAGE) };
    return this.held[choice % this.held.length]!;
  }

  apply({ kind, first, second, mask }: Action): void {
    if (kind === 'store' || this.held.length === 0) {
      this.store(first);
      return;
    }
    const one = this.pick(first);
    switch (kind) {
      case 'merge': {
        const other = this.pick(second);
        const bytes = one.bytes.slice();
        for (let sector = 0; sector < 8; sector++) {
          const at = sector * 512;
          if ((mask >> sector) & 1) bytes.set(other.bytes.subarray(at, at + 512), at);
        }
        this.held.push({ handle: this.content.merge(one.handle, other.handle, mask), bytes });
        return;
      }
      case 'retain':
        this.content.retain(one.handle);
        this.held.push(one);
        return;
      case 'release':
        this.content.release(this.held.splice(first % this.held.length, 1)[0]!.handle);
        return;
      case 'look':
        expect(this.holds(one)).toBe(true);
    }
  }

  holds({ handle, bytes }: Held): boolean {
    return Buffer.compare(this.content.bytesOf(handle), bytes) === 0;
  }

  check(): void {
    expect(this.held.filter((one) => !this.holds(one)).map((one) => one.handle)).toEqual([]);
    const pages = new Set(this.held.map(({ handle }) => handle).filter((handle) => handle < 0));
    expect(this.content.pageCount).toBe(pages.size);
  }

  releaseAll(): void {
    for (const { handle } of this.held) this.content.release(handle);
    this.held = [];
  }
}

describe('pages of bytes', () => {
  it('hold what was stored, merged by sectors, while frames are few', () => {
    fc.assert(
      fc.property(anyActions, (actions) => {
        const backing = new MapBacking();
        const model = new Model(new ByteContent(64, backing));
        for (let seed = 0; seed < 130; seed++) model.store(seed);
        for (const action of actions) {
          model.apply(action);
          if (model.content.residentCount > 64) throw new Error('more pages than frames in memory');
        }
        model.check();
        expect(backing.writeCount).toBeGreaterThanOrEqual(130 - 64);
        model.releaseAll();
        expect([model.content.pageCount, model.content.residentCount]).toEqual([0, 0]);
      }),
      { numRuns: 40 },
    );
  });

  it('come back from the backing in any order', () => {
    const backing = new MapBacking();
    const model = new Model(new ByteContent(64, backing));
    for (let seed = 0; seed < 500; seed++) model.store(seed);
    for (const stride of [7, 301, 499]) {
      const wrong = model.held.filter((_, i) => !model.holds(model.held[(i * stride) % 500]!));
      expect(wrong).toEqual([]);
    }
    expect(backing.readCount).toBeGreaterThan(400);
    expect(model.content.residentCount).toBe(64);
  });

  it('go out in the order in which they came into memory', () => {
    const backing = new MapBacking();
    const content = new ByteContent(64, backing);
    const handles = Array.from({ length: 70 }, (_, seed) => content.store(pattern(seed)));
    const out = () => [...backing.pages.keys()].map((page) => handles.indexOf(-page - 1));
    expect(out()).toEqual([0, 1, 2, 3, 4, 5]);
    content.bytesOf(handles[0]!);
    expect(out()).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it('stay in memory when there is no backing', () => {
    const model = new Model(new ByteContent(64, null));
    for (let seed = 0; seed < 1500; seed++) model.store(seed);
    model.check();
    expect(model.content.residentCount).toBe(1500);
  });

  it('are copied from any offset of what is stored', () => {
    const content = new ByteContent(64, null);
    const source = new Uint8Array(3 * PAGE + 5);
    source.set(pattern(9), PAGE + 5);
    const page = content.store(source, PAGE + 5);
    source.fill(0);
    expect(Buffer.compare(content.bytesOf(page), pattern(9))).toBe(0);
  });

  it('are zeros for handle 0, which is not counted', () => {
    const content = new ByteContent(64, null);
    content.retain(0);
    content.release(0);
    expect(Buffer.compare(content.bytesOf(0), new Uint8Array(PAGE))).toBe(0);
    expect(content.sectorTag(0, 3)).toBe(0);
    expect(content.pageCount).toBe(0);
  });

  it('keep both sources of a merge, and share the upper one that covers all', () => {
    const content = new ByteContent(64, null);
    const below = content.store(pattern(1));
    const above = content.store(pattern(2));
    expect(content.merge(below, above, 0xff)).toBe(above);
    content.release(above);
    expect(content.pageCount).toBe(2);
    const merged = content.merge(below, above, 0b0000_0100);
    const same = (one: number, other: number) =>
      Array.from(
        { length: 8 },
        (_, s) => content.sectorTag(one, s) === content.sectorTag(other, s),
      );
    expect(same(merged, above)).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((sector) => sector === 2));
    expect(same(merged, below)).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((sector) => sector !== 2));
    expect(content.pageCount).toBe(3);
  });

  it('refuse what was freed, and tags', () => {
    const content = new ByteContent(64, null);
    const page = content.store(pattern(1));
    content.release(page);
    expect(() => content.bytesOf(page)).toThrow(InvariantBroken);
    expect(() => content.release(page)).toThrow(InvariantBroken);
    expect(() => content.bytesOf(5)).toThrow(InvariantBroken);
  });
});

describe('forks and snapshots', () => {
  it('a fork has the same handles and goes its own way', () => {
    fc.assert(
      fc.property(anyActions, anyActions, (ours, theirs) => {
        const model = new Model(new ByteContent(64, new MapBacking()));
        for (let seed = 0; seed < 100; seed++) model.store(seed);
        const fork = new Model(model.content.fork(newMachine()));
        fork.held = [...model.held];
        for (const action of ours) model.apply(action);
        for (const action of theirs) fork.apply(action);
        model.check();
        fork.check();
        fork.releaseAll();
        expect(fork.content.pageCount).toBe(0);
      }),
      { numRuns: 20 },
    );
  });

  it('a restored store holds the same pages, in this machine or a new one', () => {
    fc.assert(
      fc.property(anyActions, anyActions, (before, after) => {
        const model = new Model(new ByteContent(64, new MapBacking()));
        for (let seed = 0; seed < 70; seed++) model.store(seed);
        for (const action of before) model.apply(action);
        const saved = model.content.save();
        const held = [...model.held];
        for (const action of after) model.apply(action);

        model.content.restore(saved);
        const fresh = new Model(new ByteContent(64, new MapBacking()));
        fresh.content.restore(saved);
        for (const restored of [model, fresh]) {
          restored.held = [...held];
          restored.check();
          for (const action of after) restored.apply(action);
          restored.check();
          expect(restored.content.residentCount).toBeLessThanOrEqual(64);
        }
        expect(fresh.held.map((one) => one.handle)).toEqual(model.held.map((one) => one.handle));
      }),
      { numRuns: 20 },
    );
  });

  it('a new machine finds the table that metadata pages refer to', () => {
    const build = () => {
      const machine = newMachine();
      const content = machine.add(new ByteContent(64, null, machine));
      const table = machine.addTable(new DramTable('l2p', 1024, machine.log)) as DramTable;
      return { machine, content, table };
    };
    const old = build();
    old.table.write(6, 77);
    const page = old.content.lend(old.table, 0);
    const fresh = build();
    fresh.table.values.set(old.table.values);
    fresh.machine.restoreParts(old.machine.saveParts());
    fresh.table.write(6, 78);
    expect(new DataView(fresh.content.bytesOf(page).buffer).getInt32(6 * 4, true)).toBe(77);
    const homeless = new ByteContent(64, null);
    expect(() => homeless.restore(old.content.save())).toThrow(InvariantBroken);
  });
});
