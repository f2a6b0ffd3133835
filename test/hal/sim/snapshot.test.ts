/**
 * Goal: parts are saved and put back by kind and version, and the state hash sees every field.
 * Method: the toy machine, and machines whose parts do not fit one another.
 */
import { describe, expect, it } from 'vitest';
import { BigTable } from '../../../hal/sim/big-table.ts';
import { InvariantBroken } from '../../../hal/sim/invariant.ts';
import {
  Machine,
  type Saveable,
  type Saved,
  type SavedPart,
  SnapshotMismatch,
} from '../../../hal/sim/snapshot.ts';
import { Timeline } from '../../../hal/sim/timeline.ts';
import { UndoLog } from '../../../hal/sim/undo-log.ts';
import { ToyMachine } from '../../kit/toy-machine.ts';

class Box implements Saveable {
  readonly kind: string;
  readonly version: number;
  content: Saved;

  constructor(kind: string, version: number, content: Saved = {}) {
    this.kind = kind;
    this.version = version;
    this.content = content;
  }

  save(): Saved {
    return this.content;
  }

  restore(saved: Saved): void {
    this.content = saved;
  }
}

function machineOf(...parts: Saveable[]): Machine {
  const machine = new Machine(new Timeline(), new UndoLog());
  for (const part of parts) machine.add(part);
  return machine;
}

describe('machine: parts', () => {
  it('puts every part back, and the run goes on as before', () => {
    const toy = new ToyMachine();
    toy.timeline.runToOrdinal(200);
    const parts = toy.machine.saveParts();
    expect(parts.map(({ kind, version }) => `${kind} ${version}`)).toEqual([
      'sim.timeline 1',
      'random.draws 1',
      'toy.writer 1',
      'toy.reader 3',
    ]);
    const cells = toy.table.values.slice();
    const marks = toy.marks.values.slice();
    toy.timeline.runToOrdinal(300);
    const later = toy.fingerprint;
    const other = new ToyMachine();
    other.timeline.runToOrdinal(77);
    other.table.exchange(cells);
    other.marks.exchange(marks);
    other.machine.restoreParts(parts);
    other.timeline.runToOrdinal(300);
    expect(other.fingerprint).toBe(later);
  });

  it('saves copies: what runs on does not change what was saved', () => {
    const toy = new ToyMachine();
    toy.timeline.runToOrdinal(50);
    const parts = toy.machine.saveParts();
    const text = JSON.stringify(parts);
    toy.timeline.runToOrdinal(150);
    expect(JSON.stringify(parts)).toBe(text);
  });

  it('restores into the arrays that are there', () => {
    const toy = new ToyMachine();
    const parts = toy.machine.saveParts();
    const { recent } = toy.writer;
    toy.timeline.runToOrdinal(50);
    toy.machine.restoreParts(parts);
    expect(toy.writer.recent).toBe(recent);
    expect([...recent]).toEqual(new Array(8).fill(0));
  });

  it('has every kind once', () => {
    const machine = machineOf(new Box('a', 1));
    expect(() => machine.add(new Box('a', 2))).toThrow(InvariantBroken);
    expect(machine.parts.map((part) => part.kind)).toEqual(['sim.timeline', 'a']);
  });

  const foreign: [what: string, parts: Saveable[], message: string][] = [
    ['a part is missing', [], "expected the saved part 'a', found 'undefined'"],
    ['a part is of another kind', [new Box('b', 1)], "expected the saved part 'a', found 'b'"],
    [
      'a part is spare',
      [new Box('a', 1), new Box('b', 1)],
      "the saved part 'b' has no place in this machine",
    ],
    [
      'a part has another version',
      [new Box('a', 2)],
      "'a' was saved as version 2; this program reads 1",
    ],
  ];
  it.for(foreign)('refuses a saved machine in which %s', ([, parts, message]) => {
    const saved: SavedPart[] = machineOf(...parts).saveParts();
    const box = new Box('a', 1, { kept: true });
    const machine = machineOf(box);
    expect(() => machine.restoreParts(saved)).toThrow(new SnapshotMismatch(message));
    expect(box.content).toEqual({ kept: true });
  });
});

describe('machine: state hash', () => {
  const hashOf = (content: Saved): number => machineOf(new Box('a', 1, content)).stateHash();

  it('is the same for equal states', () => {
    const content = (): Saved => ({ a: 1, b: 'x', c: [Int8Array.of(1), { d: null }], e: 0.5 });
    expect(hashOf(content())).toBe(hashOf(content()));
  });

  it('sees every kind of value', () => {
    const contents: Saved[] = [
      {},
      { a: 0 },
      { b: 0 },
      { a: 1 },
      { a: -1 },
      { a: 2 ** 32 },
      { a: 2 ** 40 },
      { a: 0.5 },
      { a: 0.25 },
      { a: '' },
      { a: 'x' },
      { a: 'xy' },
      { a: 'yx' },
      { a: false },
      { a: null },
      { a: [1, 2] },
      { a: [2, 1] },
      { a: Int32Array.of(0, 1) },
      { a: Int32Array.of(1, 0) },
      { a: Float64Array.of(0.5, 1e15) },
      { a: { b: 5 } },
    ];
    const seen = new Map<number, string>();
    for (const content of contents) {
      const hash = hashOf(content);
      expect(seen.get(hash)).toBeUndefined();
      seen.set(hash, JSON.stringify(content));
    }
  });

  it('sees every cell of every table, but not how long a table is', () => {
    const machine = machineOf();
    const one = machine.addTable(new BigTable('one', 8, machine.log));
    const two = machine.addTable(new BigTable('two', 8, machine.log));
    const hashes = [machine.stateHash()];
    for (const table of [one, two]) {
      for (const index of [0, 7]) {
        for (const value of [1, -1]) {
          table.write(index, value);
          hashes.push(machine.stateHash());
          table.write(index, 0);
        }
      }
    }
    expect(new Set(hashes).size).toBe(9);
    one.growTo(100);
    expect(machine.stateHash()).toBe(hashes[0]);
  });
});
