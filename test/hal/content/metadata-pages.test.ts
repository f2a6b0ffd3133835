import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isMetadata, METADATA_TOP, MetadataPages } from '../../../hal/content/metadata-pages.ts';
import { TaggedContent } from '../../../hal/content/tagged-content.ts';
import { CELLS_PER_PAGE, DramTable } from '../../../hal/dram-table.ts';
import { InvariantBroken } from '../../../hal/sim/invariant.ts';
import { Machine } from '../../../hal/sim/snapshot.ts';
import { Timeline } from '../../../hal/sim/timeline.ts';
import { UndoLog } from '../../../hal/sim/undo-log.ts';

/** Three pages of cells, the last one cut short. */
const CELLS = 2 * CELLS_PER_PAGE + 100;

class TableRig {
  readonly log = new UndoLog();
  readonly table = new DramTable('l2p', CELLS, this.log);
  readonly pages = new MetadataPages();

  /** The bytes that page `page` of the table should be stored as now. */
  bytes(page: number): Uint8Array {
    const view = new DataView(new ArrayBuffer(4096));
    const cells = this.table.values.subarray(page * CELLS_PER_PAGE, (page + 1) * CELLS_PER_PAGE);
    cells.forEach((cell, i) => {
      view.setInt32(i * 4, cell, true);
    });
    return new Uint8Array(view.buffer);
  }

  holds(content: number, bytes: Uint8Array): boolean {
    return Buffer.compare(this.pages.read(content), bytes) === 0;
  }
}

describe('a page of bytes', () => {
  it('is read back as it was written, until it is released', () => {
    const { pages } = new TableRig();
    const bytes = Uint8Array.from({ length: 4096 }, (_, i) => i * 7);
    const content = pages.write(bytes);
    expect(isMetadata(content)).toBe(true);
    expect(Buffer.compare(pages.read(content), bytes)).toBe(0);
    pages.retain(content);
    pages.release(content);
    expect(Buffer.compare(pages.read(content), bytes)).toBe(0);
    pages.release(content);
    expect(() => pages.read(content)).toThrow(InvariantBroken);
    expect(() => pages.release(content)).toThrow(InvariantBroken);
  });

  it('has 4096 bytes', () => {
    expect(() => new MetadataPages().write(new Uint8Array(512))).toThrow(InvariantBroken);
  });

  it('has a handle of its own, apart from mixtures and stored pages, used again when freed', () => {
    const { pages } = new TableRig();
    const contents = [1, 2, 3].map((fill) => pages.write(new Uint8Array(4096).fill(fill)));
    expect(contents).toEqual([METADATA_TOP, METADATA_TOP - 1, METADATA_TOP - 2]);
    expect([0, 1, -1, METADATA_TOP + 1].map(isMetadata)).toEqual([false, false, false, false]);
    pages.release(contents[1]!);
    expect(pages.write(new Uint8Array(4096))).toBe(contents[1]);
  });
});

describe('a lent page', () => {
  it('is the cells of the table, little-endian, zeros behind the last', () => {
    const rig = new TableRig();
    rig.table.write(5, -2);
    rig.table.write(CELLS - 1, 0x01020304);
    const contents = [0, 1, 2].map((page) => rig.pages.lend(rig.table, page * CELLS_PER_PAGE));
    expect(contents.map((content, page) => rig.holds(content, rig.bytes(page)))).toEqual([
      true,
      true,
      true,
    ]);
    expect([...rig.pages.read(contents[0]!).subarray(20, 24)]).toEqual([0xfe, 0xff, 0xff, 0xff]);
    expect([...rig.table.lentCount]).toEqual([1, 1, 1]);
  });

  it('keeps its bytes when the cells change, once, and the next loan has the new ones', () => {
    const rig = new TableRig();
    rig.table.write(1030, 1);
    const old = rig.pages.lend(rig.table, CELLS_PER_PAGE);
    const oldBytes = rig.bytes(1);
    rig.table.write(1030, 2);
    expect([...rig.table.lentCount]).toEqual([0, 0, 0]);
    const next = rig.pages.lend(rig.table, CELLS_PER_PAGE);
    rig.table.write(0, 9);
    expect(rig.holds(old, oldBytes)).toBe(true);
    expect(rig.holds(next, rig.bytes(1))).toBe(true);
    expect([...rig.table.lentCount]).toEqual([0, 1, 0]);
  });

  it('keeps its bytes when the cells are cleared', () => {
    const rig = new TableRig();
    rig.table.write(3, 5);
    rig.table.write(2000, 6);
    const contents = [0, 1].map((page) => rig.pages.lend(rig.table, page * CELLS_PER_PAGE));
    const bytes = [rig.bytes(0), rig.bytes(1)];
    rig.table.clear(1, 1500);
    expect(rig.table.values[3]).toBe(0);
    expect(rig.table.values[2000]).toBe(6);
    expect(contents.map((content, i) => rig.holds(content, bytes[i]!))).toEqual([true, true]);
  });

  it('may be lent any number of times', () => {
    const rig = new TableRig();
    rig.table.write(7, 1);
    const contents = Array.from({ length: 300 }, () => rig.pages.lend(rig.table, 0));
    const bytes = rig.bytes(0);
    for (const content of contents.slice(0, 44)) rig.pages.release(content);
    expect(rig.table.lentCount[0]).toBe(256);
    rig.table.write(7, 2);
    expect(contents.slice(44).filter((content) => !rig.holds(content, bytes))).toEqual([]);
    expect(rig.table.lentCount[0]).toBe(0);
  });

  it('is given back when its last reference goes', () => {
    const rig = new TableRig();
    const content = rig.pages.lend(rig.table, 0);
    rig.pages.retain(content);
    rig.pages.release(content);
    expect(rig.table.lentCount[0]).toBe(1);
    rig.pages.release(content);
    expect(rig.table.lentCount[0]).toBe(0);
    rig.table.write(0, 1);
    expect(() => rig.pages.read(content)).toThrow(InvariantBroken);
  });

  it('comes from one table', () => {
    const rig = new TableRig();
    rig.pages.lend(rig.table, 0);
    const other = new DramTable('other', CELLS, rig.log);
    expect(() => rig.pages.lend(other, 0)).toThrow(InvariantBroken);
  });
});

describe('loss of power', () => {
  it('leaves exactly the pages that flash holds by reference', () => {
    const rig = new TableRig();
    for (const cell of [1, 1025, 2049]) rig.table.write(cell, cell);
    const content = rig.pages.lend(rig.table, CELLS_PER_PAGE);
    rig.table.loseContents();
    expect([1, 1025, 2049].map((cell) => rig.table.values[cell])).toEqual([0, 1025, 0]);
    expect(rig.holds(content, rig.bytes(1))).toBe(true);
  });
});

describe('loading', () => {
  it('does nothing for the cells the page stands for', () => {
    const rig = new TableRig();
    rig.table.write(3, 8);
    const content = rig.pages.lend(rig.table, 0);
    rig.log.start(2 ** 21);
    rig.pages.load(content, rig.table, 0);
    expect(rig.log.position).toBe(0);
    expect(rig.table.lentCount[0]).toBe(1);
    rig.log.stop();
  });

  it('brings back what the page held when the cells have changed since', () => {
    const rig = new TableRig();
    rig.table.write(3, 8);
    const content = rig.pages.lend(rig.table, 0);
    rig.table.write(3, 9);
    rig.table.write(4, 1);
    rig.pages.load(content, rig.table, 0);
    expect([...rig.table.values.subarray(0, 6)]).toEqual([0, 0, 0, 8, 0, 0]);
  });

  it('fills other cells, up to the end of the table', () => {
    const rig = new TableRig();
    for (const cell of [0, 99, 100]) rig.table.write(cell, 40 + cell);
    const content = rig.pages.lend(rig.table, 0);
    rig.pages.load(content, rig.table, 2 * CELLS_PER_PAGE);
    const last = rig.table.values.subarray(2 * CELLS_PER_PAGE);
    expect([last.length, last[0], last[99]]).toEqual([100, 40, 139]);
  });

  it('is refused by the content store for a page that is not metadata', () => {
    const machine = new Machine(new Timeline(), new UndoLog());
    const content = new TaggedContent(machine);
    const table = new DramTable('l2p', CELLS, machine.log);
    const mixture = content.merge(1, 2, 1);
    expect([0, 5, mixture].map((page) => content.load(page, table, 0))).toEqual([
      false,
      false,
      false,
    ]);
    expect([0, 5, mixture].map((page) => content.read(page))).toEqual([null, null, null]);
    const page = content.write(new Uint8Array(4096).fill(1));
    expect(content.load(page, table, 0)).toBe(true);
    expect(table.values[0]).toBe(0x01010101);
  });
});

describe('a fork', () => {
  it('holds the bytes of the instant it was made, and frees them without telling anyone', () => {
    const rig = new TableRig();
    rig.table.write(0, 1);
    const lent = rig.pages.lend(rig.table, 0);
    const written = rig.pages.write(new Uint8Array(4096).fill(3));
    const bytes = rig.bytes(0);
    const fork = rig.pages.fork();
    rig.table.write(0, 2);
    rig.pages.release(lent);
    rig.pages.release(written);
    expect(Buffer.compare(fork.read(lent), bytes)).toBe(0);
    expect(fork.read(written)[77]).toBe(3);
    fork.release(lent);
    expect(() => fork.read(lent)).toThrow(InvariantBroken);
    expect(rig.table.lentCount[0]).toBe(0);
  });

  it('lends from the table of its own machine', () => {
    const rig = new TableRig();
    const old = rig.pages.lend(rig.table, 0);
    const fork = rig.pages.fork();
    const table = new DramTable('l2p', CELLS, new UndoLog());
    table.write(0, 5);
    const content = fork.lend(table, 0);
    expect(new DataView(fork.read(content).buffer).getInt32(0, true)).toBe(5);
    expect(new DataView(fork.read(old).buffer).getInt32(0, true)).toBe(0);
    expect([table.lentCount[0], rig.table.lentCount[0]]).toEqual([1, 1]);
  });
});

const KINDS = ['set', 'set', 'lend', 'lend', 'write', 'retain', 'release', 'load', 'lose'] as const;

interface Action {
  kind: (typeof KINDS)[number];
  page: number;
  cell: number;
  value: number;
  choice: number;
}

const anyActions: fc.Arbitrary<Action[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...KINDS),
    page: fc.nat({ max: 2 }),
    cell: fc.nat({ max: 99 }),
    value: fc.integer({ min: -5, max: 5 }),
    choice: fc.nat(),
  }),
  { maxLength: 60 },
);

interface Held {
  content: number;
  bytes: Uint8Array;
}

function apply(rig: TableRig, held: Held[], action: Action): void {
  const { table, pages } = rig;
  const first = action.page * CELLS_PER_PAGE;
  const one = held[action.choice % Math.max(1, held.length)];
  switch (action.kind) {
    case 'set':
      table.write(first + action.cell, action.value);
      return;
    case 'lend':
      held.push({ bytes: rig.bytes(action.page), content: pages.lend(table, first) });
      return;
    case 'write': {
      const bytes = new Uint8Array(4096).fill(action.value);
      held.push({ bytes, content: pages.write(bytes.slice()) });
      return;
    }
    case 'lose':
      table.loseContents();
      return;
  }
  if (one === undefined) return;
  if (action.kind === 'retain') {
    pages.retain(one.content);
    held.push(one);
  } else if (action.kind === 'release') {
    pages.release(one.content);
    held.splice(held.indexOf(one), 1);
  } else {
    pages.load(one.content, table, first);
    const length = rig.table.values.length - first;
    const loaded = rig.bytes(action.page).subarray(0, length * 4);
    expect(Buffer.compare(loaded, one.bytes.subarray(0, length * 4))).toBe(0);
  }
}

it('every page holds its bytes for life, whatever happens to table and references', () => {
  fc.assert(
    fc.property(anyActions, (actions) => {
      const rig = new TableRig();
      const held: Held[] = [];
      for (const action of actions) apply(rig, held, action);
      expect(held.filter(({ content, bytes }) => !rig.holds(content, bytes))).toEqual([]);
      for (const { content } of held) rig.pages.release(content);
      expect([...rig.table.lentCount]).toEqual([0, 0, 0]);
    }),
  );
});

it('undoing a recorded run brings the table and its loans back', () => {
  fc.assert(
    fc.property(anyActions, anyActions, (before, during) => {
      const rig = new TableRig();
      const held: Held[] = [];
      for (const action of before) apply(rig, held, action);
      const saved = rig.pages.save();
      const pages = [0, 1, 2].map((page) => rig.bytes(page));
      const heldThen = [...held];
      const lentCount = [...rig.table.lentCount];
      rig.log.start(2 ** 21);
      for (const action of during) apply(rig, held, action);
      rig.log.unwindTo(0);
      rig.pages.restore(saved, null);
      rig.log.stop();
      expect(pages.map((bytes, page) => Buffer.compare(rig.bytes(page), bytes))).toEqual([0, 0, 0]);
      expect([...rig.table.lentCount]).toEqual(lentCount);
      expect(heldThen.filter(({ content, bytes }) => !rig.holds(content, bytes))).toEqual([]);
    }),
    { numRuns: 50 },
  );
});
