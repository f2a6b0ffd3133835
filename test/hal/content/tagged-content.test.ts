import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TaggedContent } from '../../../hal/content/tagged-content.ts';
import { DramTable } from '../../../hal/dram-table.ts';
import { Machine } from '../../../hal/sim/snapshot.ts';
import { Timeline } from '../../../hal/sim/timeline.ts';
import { UndoLog } from '../../../hal/sim/undo-log.ts';

function newMachine(): Machine {
  return new Machine(new Timeline(), new UndoLog());
}

function newContent(machine = newMachine()): TaggedContent {
  return machine.add(new TaggedContent(machine));
}

function tagsOf(content: TaggedContent, handle: number): number[] {
  return Array.from({ length: 8 }, (_, sector) => content.sectorTag(handle, sector));
}

/** A reference that somebody holds, and what its page must hold. */
interface Held {
  handle: number;
  tags: number[];
}

interface Action {
  kind: 'merge' | 'retain' | 'release';
  below: number;
  above: number;
  mask: number;
  tag: number;
}

const anyActions: fc.Arbitrary<Action[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('merge', 'merge', 'retain', 'release') as fc.Arbitrary<Action['kind']>,
    below: fc.nat({ max: 60 }),
    above: fc.nat({ max: 60 }),
    mask: fc.nat({ max: 255 }),
    tag: fc.integer({ min: 0, max: 3 }),
  }),
  { maxLength: 60 },
);

/** The store beside a list of who holds what: eight tags a page, written out in full. */
class Model {
  readonly content: TaggedContent;
  held: Held[] = [];

  constructor(content: TaggedContent) {
    this.content = content;
  }

  /** A held page, or a whole tag where the choice points past the list. */
  pick(choice: number, tag: number): Held {
    return this.held[choice] ?? { handle: tag, tags: new Array(8).fill(tag) };
  }

  apply(action: Action): void {
    const below = this.pick(action.below, action.tag);
    switch (action.kind) {
      case 'merge': {
        const above = this.pick(action.above, action.tag + 1);
        const tags = below.tags.map((tag, sector) =>
          (action.mask >> sector) & 1 ? above.tags[sector]! : tag,
        );
        this.held.push({
          handle: this.content.merge(below.handle, above.handle, action.mask),
          tags,
        });
        return;
      }
      case 'retain':
        this.content.retain(below.handle);
        this.held.push(below);
        return;
      case 'release':
        if (this.held.length === 0) return;
        this.content.release(this.held.splice(action.below % this.held.length, 1)[0]!.handle);
    }
  }

  check(): void {
    const found = this.held.map(({ handle }) => tagsOf(this.content, handle));
    expect(found).toEqual(this.held.map(({ tags }) => tags));
    const mixtures = new Set(this.held.map(({ handle }) => handle).filter((handle) => handle < 0));
    expect(this.content.mixtureCount).toBe(mixtures.size);
  }

  releaseAll(): void {
    for (const { handle } of this.held) this.content.release(handle);
    this.held = [];
  }
}

describe('mixtures', () => {
  it('hold eight tags each and live as long as they are referred to', () => {
    fc.assert(
      fc.property(anyActions, (actions) => {
        const model = new Model(newContent());
        for (const action of actions) {
          model.apply(action);
          model.check();
        }
        model.releaseAll();
        expect(model.content.mixtureCount).toBe(0);
      }),
    );
  });

  it('are not made for a page of one tag', () => {
    const content = newContent();
    expect(content.merge(5, 9, 0xff)).toBe(9);
    expect(content.merge(7, 7, 0x0f)).toBe(7);
    expect(content.merge(0, 0, 0x01)).toBe(0);
    const mixture = content.merge(0, 9, 0x0f);
    expect(mixture).toBeLessThan(0);
    // The other half makes the page whole again.
    expect(content.merge(mixture, 9, 0xf0)).toBe(9);
    expect(content.mixtureCount).toBe(1);
    content.release(mixture);
    expect(content.mixtureCount).toBe(0);
  });

  it('find room beyond the first pool and use freed places again', () => {
    const content = newContent();
    const mixtures = Array.from({ length: 5000 }, (_, i) => content.merge(i, i + 1, 0x3c));
    expect(content.mixtureCount).toBe(5000);
    const wrong = mixtures.filter((mixture, i) => {
      const tags = [i, i, i + 1, i + 1, i + 1, i + 1, i, i];
      return tagsOf(content, mixture).some((tag, sector) => tag !== tags[sector]);
    });
    expect(wrong).toEqual([]);
    for (const mixture of mixtures) content.release(mixture);
    expect(content.mixtureCount).toBe(0);
    const again = new Set(Array.from({ length: 5000 }, () => content.merge(1, 2, 0x01)));
    expect([...again].every((mixture) => mixtures.includes(mixture))).toBe(true);
    expect(again.size).toBe(5000);
  });

  it('cost nothing for tags and zeros: those are not counted', () => {
    const content = newContent();
    content.retain(0);
    content.retain(12);
    content.release(12);
    expect(content.mixtureCount).toBe(0);
  });
});

describe('the bytes of a tagged page', () => {
  it('are zeros for 0 and otherwise the tag in every 32-bit word of its sector', () => {
    const content = newContent();
    const mixture = content.merge(0, 0x01020304, 0b10);
    const bytes = content.bytesOf(mixture);
    const view = new DataView(bytes.buffer);
    const words = Array.from({ length: 1024 }, (_, i) => view.getInt32(i * 4, true));
    expect(words).toEqual(words.map((_, i) => (i >> 7 === 1 ? 0x01020304 : 0)));
    expect(Buffer.compare(content.bytesOf(0), new Uint8Array(4096))).toBe(0);
    expect(Buffer.compare(content.bytesOf(mixture), bytes)).toBe(0);
  });
});

describe('forks and snapshots', () => {
  it('a fork has the same handles and goes its own way', () => {
    fc.assert(
      fc.property(anyActions, anyActions, anyActions, (before, ours, theirs) => {
        const model = new Model(newContent());
        for (const action of before) model.apply(action);
        const fork = new Model(model.content.fork(newMachine()));
        fork.held = [...model.held];
        for (const action of ours) model.apply(action);
        for (const action of theirs) fork.apply(action);
        model.check();
        fork.check();
        fork.releaseAll();
        expect(fork.content.mixtureCount).toBe(0);
        model.check();
      }),
    );
  });

  it('undoing a recorded run brings back every mixture', () => {
    fc.assert(
      fc.property(anyActions, anyActions, (before, during) => {
        const machine = newMachine();
        const model = new Model(newContent(machine));
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
      }),
      { numRuns: 50 },
    );
  });

  it('a new machine finds the table that metadata pages refer to', () => {
    const build = () => {
      const machine = newMachine();
      const content = newContent(machine);
      const table = machine.addTable(new DramTable('l2p', 2048, machine.log)) as DramTable;
      return { machine, content, table };
    };
    const old = build();
    old.table.write(1030, 77);
    const page = old.content.lend(old.table, 1024);
    const fresh = build();
    fresh.table.values.set(old.table.values);
    fresh.machine.restoreParts(old.machine.saveParts());
    fresh.table.write(1030, 78);
    expect(fresh.table.lentCount[1]).toBe(0);
    expect(new DataView(fresh.content.bytesOf(page).buffer).getInt32(6 * 4, true)).toBe(77);
  });
});
