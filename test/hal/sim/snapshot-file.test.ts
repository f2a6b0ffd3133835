/**
 * Goal: a machine comes back out of a file exactly as it went in. Method: the toy machine; a reader
 * of the format written again in the kit from its description; random saved values.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BigTable } from '../../../hal/sim/big-table.ts';
import { Bytes } from '../../../hal/sim/bytes.ts';
import { InvariantBroken } from '../../../hal/sim/invariant.ts';
import { Machine, type Saveable, type Saved } from '../../../hal/sim/snapshot.ts';
import {
  encodeSnapshot,
  SnapshotFile,
  type SnapshotSource,
} from '../../../hal/sim/snapshot-file.ts';
import { Timeline } from '../../../hal/sim/timeline.ts';
import { UndoLog } from '../../../hal/sim/undo-log.ts';
import { fileOf, type Json, seal, split, toyAt } from '../../kit/snapshot-files.ts';

class Box implements Saveable {
  readonly kind = 'box';
  readonly version = 1;
  content: Saved;

  constructor(content: Saved) {
    this.content = content;
  }

  save(): Saved {
    return this.content;
  }

  restore(saved: Saved): void {
    this.content = saved;
  }
}

function boxed(content: unknown): { machine: Machine; box: Box } {
  const machine = new Machine(new Timeline(), new UndoLog());
  return { machine, box: machine.add(new Box(content as Saved)) };
}

describe('snapshot file: round trip', () => {
  it('brings the machine back, and the run goes on as before', () => {
    fc.assert(
      fc.property(fc.nat(600), fc.nat(600), fc.nat(200), (at, wander, on) => {
        const toy = toyAt(at);
        const file = fileOf(toy.machine);
        const other = toyAt(wander);
        SnapshotFile.open(file).restoreInto(other.machine);
        expect(other.fingerprint).toBe(toy.fingerprint);
        expect(other.marks.values).toEqual(toy.marks.values);
        toy.timeline.runToOrdinal(at + on);
        other.timeline.runToOrdinal(at + on);
        expect(other.fingerprint).toBe(toy.fingerprint);
        expect(Buffer.compare(fileOf(other.machine), fileOf(toy.machine))).toBe(0);
      }),
      { numRuns: 40 },
    );
  });

  it('reads through a reader that gives one buffer again and again', () => {
    const toy = toyAt(500, 400_000);
    for (let cell = 0; cell < 400_000; cell++) toy.table.write(cell, cell ^ 0x5a5a5a5a);
    const file = fileOf(toy.machine);
    const shared = new Uint8Array(2 ** 20);
    let largest = 0;
    const source: SnapshotSource = {
      size: file.length,
      read(offset, length) {
        largest = Math.max(largest, length);
        shared.fill(0xee);
        shared.set(file.subarray(offset, offset + length));
        return shared.subarray(0, length);
      },
    };
    const other = toyAt(3, 400_000);
    SnapshotFile.open(source).restoreInto(other.machine);
    expect(other.fingerprint).toBe(toy.fingerprint);
    expect(file.length).toBeGreaterThan(1_600_000);
    expect(largest).toBeLessThanOrEqual(2 ** 20);
  });

  it('tells what is inside before a machine is built', () => {
    const metadata = { profile: 'vector-256', program: '0.1.0', 'ünïcode 😀': '\ud800' };
    const opened = SnapshotFile.open(fileOf(toyAt(400).machine, metadata));
    expect(opened.metadata).toEqual(metadata);
    expect(opened.parts.map((part) => part.kind)).toEqual([
      'sim.timeline',
      'random.draws',
      'toy.writer',
      'toy.reader',
    ]);
    expect(opened.tables[0]).toEqual({ name: 'toy-cells', firstLength: 4096, length: 4096 });
    expect(opened.tables[1]?.length).toBeGreaterThan(2);
  });

  it('has the documented form', () => {
    const toy = toyAt(300);
    const file = fileOf(toy.machine, { profile: 'toy' });
    const { json, binary } = split(file);
    expect(Buffer.compare(file, seal(json, binary))).toBe(0);
    expect(Object.keys(json)).toEqual(['metadata', 'parts', 'tables']);
    const [writer] = (json.parts as { kind: string; state: Json }[]).filter(
      (part) => part.kind === 'toy.writer',
    );
    const recent = writer!.state.recent as { offset: number; length: number };
    expect(recent).toEqual({ $array: 'Int32Array', offset: recent.offset, length: 8 });
    const view = new DataView(binary.buffer, binary.byteOffset + recent.offset);
    const values = Array.from({ length: 8 }, (_, i) => view.getInt32(i * 4, true));
    expect(values).toEqual([...toy.writer.recent]);
    expect((file.length - binary.length) % 8).toBe(0);
  });
});

describe('snapshot file: values', () => {
  const array = fc.oneof(
    fc.int8Array(),
    fc.uint8Array({ maxLength: 9000 }),
    fc.int16Array(),
    fc.uint16Array(),
    fc.int32Array(),
    fc.uint32Array(),
    fc.float64Array(),
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.double(),
      fc.integer(),
      fc.string({ unit: 'binary' }),
      fc.boolean(),
      fc.constant(null),
      array,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(
        fc.string().filter((name) => !name.startsWith('$')),
        tie('value'),
        { maxKeys: 4, noNullPrototype: true },
      ),
    ),
  }));

  it('come back as they were, wherever arrays are nested', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c'), value), (content) => {
        const one = boxed({ ...content });
        const other = boxed({ ...content });
        SnapshotFile.open(fileOf(one.machine)).restoreInto(other.machine);
        expect(other.box.content).not.toBe(content);
        expect(other.box.content).toStrictEqual({ ...content });
      }),
      { numRuns: 300 },
    );
  });

  it('come back as they were: odd names, odd numbers, views of larger buffers', () => {
    const shifted = new Uint8Array(20_000).map((_, i) => i * 7).subarray(3, 9999);
    const content = {
      numbers: [
        Number.NaN,
        Number.POSITIVE_INFINITY,
        Number.NEGATIVE_INFINITY,
        -0,
        2 ** 53,
        5e-324,
      ],
      shifted,
      cells: new Int32Array(5000).fill(-5).subarray(1, 4999),
      empty: [new Float64Array(0), [], {}],
      bytes: new Bytes(5).fill(9),
      nested: JSON.parse('{"__proto__": {"constructor": 1}, "5": 5, "": ""}') as Saved,
    };
    const { machine } = boxed(content);
    const other = boxed(content);
    SnapshotFile.open(fileOf(machine)).restoreInto(other.machine);
    const { bytes, ...rest } = other.box.content;
    const { bytes: given, ...expected } = content;
    expect(rest).toStrictEqual(expected);
    expect(Object.getPrototypeOf(bytes)).toBe(Uint8Array.prototype);
    expect(bytes).toEqual(new Uint8Array(given));
    expect(Object.hasOwn(other.box.content.nested as object, '__proto__')).toBe(true);
  });

  const unsavable: [what: string, value: unknown, message: RegExp][] = [
    ['a Map', new Map(), /box\.field is an object of Map, which cannot be saved/],
    ['undefined', undefined, /box\.field is undefined/],
    ['a function', () => 0, /box\.field is function/],
    ['a bigint', 5n, /box\.field is bigint/],
    ['64-bit integers', new BigInt64Array(1), /type BigInt64Array cannot be saved/],
    ['a DataView', new DataView(new ArrayBuffer(8)), /type DataView cannot be saved/],
    ['a hole of a list', [1, new Array(1)], /box\.field\[1\]\[0\] is undefined/],
    ['a reserved name', { a: { $array: 1 } }, /box\.field\.a: a saved name does not begin with \$/],
  ];
  it.for(unsavable)('are refused when no file could bring them back: %s', ([, field, message]) => {
    const { machine } = boxed({ field });
    expect(() => encodeSnapshot(machine)).toThrow(InvariantBroken);
    expect(() => encodeSnapshot(machine)).toThrow(message);
  });
});

describe('snapshot file: big tables', () => {
  it('cost what is not zero in them', () => {
    const machine = new Machine(new Timeline(), new UndoLog());
    const build = (of: Machine): BigTable =>
      of.addTable(new BigTable('flash', 200_000_000, of.log));
    const table = build(machine);
    const cells = [0, 77, 99_999_999, 199_999_999];
    for (const cell of cells) table.write(cell, cell + 1);
    for (let cell = 5_000_000; cell < 5_100_000; cell++) table.write(cell, ~cell);
    const chunks = encodeSnapshot(machine);
    const total = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    // 100 004 cells of four bytes, five runs of eight bytes, and the structure.
    expect(total).toBeLessThan(100_004 * 4 + 5 * 8 + 2000);
    expect(chunks.filter((chunk) => chunk.buffer === table.values.buffer).length).toBe(1);

    const other = new Machine(new Timeline(), new UndoLog());
    const target = build(other);
    target.write(123, 4);
    SnapshotFile.open(Buffer.concat(chunks)).restoreInto(other);
    expect(target.values[123]).toBe(0);
    expect([...cells, 5_000_000, 5_099_999].map((cell) => target.values[cell])).toEqual([
      ...cells.map((cell) => cell + 1),
      ~5_000_000,
      ~5_099_999,
    ]);
  });

  it('that are all short runs come in few pieces', () => {
    const machine = new Machine(new Timeline(), new UndoLog());
    const table = machine.addTable(new BigTable('flash', 4_000_000, machine.log));
    for (let cell = 0; cell < 4_000_000; cell += 100) table.write(cell, 1);
    const chunks = encodeSnapshot(machine);
    expect(chunks.length).toBeLessThan(20);
    expect(chunks.every((chunk) => chunk.length % 4 === 0)).toBe(true);
  });

  it('that grew come back as long as they were saved, longer or shorter than here', () => {
    const young = toyAt(5);
    const old = toyAt(2000);
    const lengths = [young.marks.values.length, old.marks.values.length];
    expect(lengths[1]).toBeGreaterThan(lengths[0]!);
    const [youngFile, oldFile] = [fileOf(young.machine), fileOf(old.machine)];
    const fingerprints = [young.fingerprint, old.fingerprint];
    SnapshotFile.open(oldFile).restoreInto(young.machine);
    SnapshotFile.open(youngFile).restoreInto(old.machine);
    expect([old.fingerprint, young.fingerprint]).toEqual(fingerprints);
    expect([old.marks.values.length, young.marks.values.length]).toEqual(lengths);
  });
});
