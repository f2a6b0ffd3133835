/**
 * Goal: the page store holds what was programmed and what its blocks went through, and forks of it
 * are copies, whoever changes first.
 * Method: random programs, erases, reads and damage on stores and their forks, beside plain copies.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TaggedContent } from '../../hal/content/tagged-content.ts';
import { Geometry } from '../../hal/geometry.ts';
import { InvariantBroken } from '../../hal/sim/invariant.ts';
import { Machine } from '../../hal/sim/snapshot.ts';
import { Timeline } from '../../hal/sim/timeline.ts';
import { UndoLog } from '../../hal/sim/undo-log.ts';
import { PageStore } from '../../nand/page-store.ts';

/** 2 dies of 4 blocks of 4 pages of 2 slots: 64 slots. */
const GEOMETRY = new Geometry({
  channels: 1,
  diesPerChannel: 2,
  planes: 2,
  blocksPerDie: 4,
  pagesPerBlock: 4,
  pageBytes: 8192,
  spareBytes: 448,
});
const { blocks: BLOCKS, slots: SLOTS, pagesPerBlock: PAGES } = GEOMETRY;

/** First slot of a page; blocks are counted over both dies. */
function slotOf(block: number, page: number): number {
  return GEOMETRY.pageSlotOf(block, page);
}

function newMachine(): Machine {
  return new Machine(new Timeline(), new UndoLog());
}

/** A page of two slots: a whole tag and, when `mixed`, a mixture. */
interface Programming {
  block: number;
  page: number;
  tag: number;
  mixed: boolean;
}

/** A store beside a plain copy of everything it should hold. */
class Model {
  readonly machine: Machine;
  readonly contents: TaggedContent;
  readonly store: PageStore;
  /** By slot: first and last sector tag, page word, order; null when erased. */
  cells: (readonly number[] | null)[];
  nextPage: number[];
  eraseCount: number[];
  reads: number[];
  /** First and last minute at which a page was programmed. */
  minutes: (readonly [number, number])[];
  /** Extra RBER of damaged pages, by block and page. */
  damage: Map<string, number>;
  /** Minute of the retention clock: one passes with each change. */
  minute = 0;

  constructor(origin: Model | null = null) {
    this.machine = newMachine();
    if (origin === null) {
      this.contents = this.machine.add(new TaggedContent(this.machine));
      this.store = new PageStore(GEOMETRY, this.contents, this.machine);
    } else {
      this.contents = this.machine.add(origin.contents.fork(this.machine));
      this.store = origin.store.fork(this.contents, this.machine);
    }
    this.machine.add(this.store.damage);
    this.cells = origin === null ? new Array(SLOTS).fill(null) : [...origin.cells];
    this.nextPage = origin === null ? new Array(BLOCKS).fill(0) : [...origin.nextPage];
    this.eraseCount = origin === null ? new Array(BLOCKS).fill(0) : [...origin.eraseCount];
    this.reads = origin === null ? new Array(BLOCKS).fill(0) : [...origin.reads];
    this.minutes = origin === null ? new Array(BLOCKS).fill([-1, -1]) : [...origin.minutes];
    this.damage = new Map(origin?.damage);
    this.minute = origin?.minute ?? 0;
  }

  program({ block, page, tag, mixed }: Programming): void {
    if (page < this.nextPage[block]!) return;
    this.store.openPage(block, page, this.minute);

    const first = slotOf(block, page);
    const mixture = mixed ? this.contents.merge(tag, tag + 1, 0xf0) : 0;
    this.store.program(first, tag, tag + 100, tag + 200);
    this.store.program(first + 1, mixture, mixed ? tag + 300 : 0, mixed ? tag + 400 : 0);
    this.nextPage[block] = page + 1;
    const [opened] = this.minutes[block]!;
    this.minutes[block] = [opened < 0 ? this.minute : opened, this.minute];
    this.cells[first] = [tag, tag, tag + 100, tag + 200];
    this.cells[first + 1] = mixed ? [tag, tag + 1, tag + 300, tag + 400] : null;
  }

  erase(block: number): void {
    this.store.erase(block);
    this.cells.forEach((_, slot) => {
      if (GEOMETRY.blockIndexOf(slot) === block) this.cells[slot] = null;
    });
    this.nextPage[block] = 0;
    this.eraseCount[block] = this.eraseCount[block]! + 1;
    this.reads[block] = 0;
    this.minutes[block] = [-1, -1];
    for (let page = 0; page < PAGES; page++) this.damage.delete(`${block}.${page}`);
  }

  read(block: number): void {
    this.store.history.read(block);
    this.reads[block] = this.reads[block]! + 1;
  }

  spoil(block: number, page: number): void {
    const key = `${block}.${page}`;
    this.store.damagePage(block, page, 0.125);
    this.damage.set(key, Math.min(0.5, (this.damage.get(key) ?? 0) + 0.125));
  }

  /** Records a run of programs and erases, then takes it all back. */
  recordAndUndo(during: readonly Change[]): void {
    const { machine } = this;
    const { cells, nextPage, eraseCount, reads, minutes, damage, minute } = this;
    Object.assign(this, {
      cells: [...cells],
      nextPage: [...nextPage],
      eraseCount: [...eraseCount],
      reads: [...reads],
      minutes: [...minutes],
      damage: new Map(damage),
    });
    machine.log.start(2 ** 21);
    const position = machine.log.position;
    const parts = machine.saveParts();
    for (const change of during) this.change(change);
    this.store.settleForks();
    machine.log.unwindTo(position);
    machine.restoreParts(parts);
    machine.log.stop();
    Object.assign(this, { cells, nextPage, eraseCount, reads, minutes, damage, minute });
  }

  change(change: Change): void {
    this.minute++;
    const { kind, block, page } = change;
    if (kind === 'erase') this.erase(block);
    else if (kind === 'read') this.read(block);
    else if (kind === 'damage') this.spoil(block, page);
    else this.program(change);
  }

  check(): void {
    const { store, contents } = this;
    const cells = this.cells.map((_, slot) => {
      const content = store.contentOf(slot);
      const spare = [store.pageWordOf(slot), store.orderOf(slot)];
      if (content === 0 && spare[0] === 0 && spare[1] === 0) return null;
      return [contents.sectorTag(content, 0), contents.sectorTag(content, 7), ...spare];
    });
    expect(cells).toEqual(this.cells);
    const holders = this.nextPage.map((_, block) => store.of(slotOf(block, 0)));
    expect(holders.map((one, b) => one.history.nextPageOf(b))).toEqual(this.nextPage);
    expect(holders.map((one, b) => one.history.eraseCountOf(b))).toEqual(this.eraseCount);
    const blocks = Array.from({ length: BLOCKS }, (_, block) => block);
    const { history, damage } = store;
    expect(blocks.map((block) => history.readsOf(block))).toEqual(this.reads);
    expect(
      blocks.map((block) => [history.firstMinuteOf(block), history.lastMinuteOf(block)]),
    ).toEqual(this.minutes);
    const damaged = damage.list().map(({ block, page, rber }) => [`${block}.${page}`, rber]);
    expect(damaged).toEqual([...this.damage].sort(([a], [b]) => (a < b ? -1 : 1)));
    // Each mixture is in one place; what was erased is freed.
    const mixtures = this.cells.filter((cell) => cell !== null && cell[0] !== cell[1]);
    expect(contents.mixtureCount).toBe(mixtures.length);
  }
}

describe('a block', () => {
  it('takes its pages in rising order, gaps allowed', () => {
    const { store } = new Model();
    store.openPage(3, 0, 0);
    store.openPage(3, 2, 0);
    expect(() => store.openPage(3, 2, 0)).toThrow(InvariantBroken);
    expect(() => store.openPage(3, 1, 0)).toThrow(InvariantBroken);
    expect(store.history.nextPageOf(3)).toBe(3);
    store.openPage(2, 1, 0);
    store.erase(3);
    store.openPage(3, 0, 0);
  });

  it('is empty after an erase, which is counted, and its neighbours are not', () => {
    const model = new Model();
    for (const block of [0, 1, 2]) model.program({ block, page: 3, tag: 9, mixed: true });
    model.erase(1);
    model.erase(1);
    model.check();
    expect(model.store.history.eraseCountOf(1)).toBe(2);
    expect(model.contents.mixtureCount).toBe(2);
  });

  it('costs nothing for padding: zeros are not written', () => {
    const model = new Model();
    model.machine.log.start(2 ** 21);
    model.store.openPage(0, 0, 0);
    model.store.program(0, 0, 0, 0);
    // Only the block's history: next page, first and last minute.
    expect(model.machine.log.position).toBe(3);
    model.store.openPage(0, 1, 0);
    model.store.program(2, 0, 0, 0);
    expect(model.machine.log.position).toBe(4);
    model.machine.log.stop();
  });
});

interface Change extends Programming {
  kind: 'program' | 'erase' | 'read' | 'damage';
}

const anyChange: fc.Arbitrary<Change> = fc.record({
  block: fc.nat({ max: BLOCKS - 1 }),
  page: fc.nat({ max: PAGES - 1 }),
  tag: fc.integer({ min: 1, max: 50 }),
  mixed: fc.boolean(),
  kind: fc.constantFrom(
    ...(['program', 'program', 'program', 'program', 'erase', 'read', 'damage'] as const),
  ),
});

type Step =
  | { kind: 'change'; store: number; change: Change }
  | { kind: 'fork' | 'settle' | 'release'; store: number }
  | { kind: 'undo'; store: number; during: Change[] };

const store = fc.nat();
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('change' as const), store, change: anyChange }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'fork' as const,
        'fork' as const,
        'settle' as const,
        'release' as const,
      ),
      store,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('undo' as const),
      store,
      during: fc.array(anyChange, { maxLength: 12 }),
    }),
  },
);

describe('forks', () => {
  it('and forks of forks equal naive copies, whoever changes, settles, ends or goes back', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 50 }), (steps) => {
        const models = [new Model()];
        for (const step of steps) {
          const model = models[step.store % models.length]!;
          switch (step.kind) {
            case 'change':
              model.change(step.change);
              break;
            case 'fork':
              models.push(new Model(model));
              break;
            case 'settle':
              model.store.settleForks();
              break;
            case 'release':
              if (models.length === 1) break;
              model.store.release();
              models.splice(models.indexOf(model), 1);
              break;
            case 'undo':
              model.recordAndUndo(step.during);
          }
        }
        for (const model of models) model.check();
      }),
      { numRuns: 300 },
    );
  });

  it('share every block until one side writes it', () => {
    const origin = new Model();
    for (const block of [0, 1, 2]) origin.program({ block, page: 0, tag: 7, mixed: false });
    const fork = new Model(origin);
    const shared = () => [0, 1, 2, 3].map((b) => fork.store.of(slotOf(b, 0)) === origin.store);
    expect(shared()).toEqual([true, true, true, true]);
    expect(fork.store.cells.values.some((cell) => cell !== 0)).toBe(false);
    origin.program({ block: 1, page: 1, tag: 8, mixed: false });
    expect(shared()).toEqual([true, false, true, true]);
    fork.erase(2);
    expect(shared()).toEqual([true, false, false, true]);
    origin.check();
    fork.check();
  });

  it('obey the order of programs that they inherited', () => {
    const origin = new Model();
    origin.program({ block: 0, page: 2, tag: 7, mixed: false });
    const fork = new Model(origin);
    expect(() => fork.store.openPage(0, 2, 0)).toThrow(InvariantBroken);
    fork.store.openPage(0, 3, 0);
  });

  it('settled, they no longer hold their origin', () => {
    const origin = new Model();
    origin.program({ block: 0, page: 0, tag: 7, mixed: true });
    const fork = new Model(origin);
    const grandchild = new Model(fork);
    origin.store.settleForks();
    expect(fork.store.of(0)).toBe(fork.store);
    origin.store.cells.values.fill(0);
    fork.check();
    grandchild.check();
  });

  it('of a fork keep its blocks when it ends', () => {
    const origin = new Model();
    origin.program({ block: 0, page: 0, tag: 7, mixed: true });
    const fork = new Model(origin);
    fork.program({ block: 1, page: 0, tag: 8, mixed: true });
    const grandchild = new Model(fork);
    fork.store.release();
    origin.erase(0);
    grandchild.check();
  });
});

describe('a recorded run', () => {
  it('is taken back on a fork to the blocks it inherited', () => {
    const origin = new Model();
    origin.program({ block: 0, page: 0, tag: 7, mixed: true });
    const fork = new Model(origin);
    fork.recordAndUndo([
      { block: 0, page: 1, tag: 9, mixed: true, kind: 'program' },
      { block: 0, page: 0, tag: 0, mixed: false, kind: 'erase' },
      { block: 5, page: 0, tag: 4, mixed: false, kind: 'program' },
    ]);
    fork.check();
    fork.program({ block: 0, page: 1, tag: 9, mixed: true });
    fork.check();
    origin.check();
  });
});
