/**
 * Goal: a machine comes back out of a file exactly as it went in, and a file that is damaged or of
 * another machine changes nothing. Method: the toy machine; a reader of the format written again
 * here from its description; damage of every kind, with and without correct checksums.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BigTable } from '../../../hal/sim/big-table.ts';
import { Bytes } from '../../../hal/sim/bytes.ts';
import { checksumOf } from '../../../hal/sim/checksum.ts';
import { InvariantBroken } from '../../../hal/sim/invariant.ts';
import { Machine, type Saveable, type Saved, SnapshotMismatch } from '../../../hal/sim/snapshot.ts';
import {
  encodeSnapshot,
  SnapshotFile,
  SnapshotFileError,
  type SnapshotSource,
} from '../../../hal/sim/snapshot-file.ts';
import { Timeline } from '../../../hal/sim/timeline.ts';
import { UndoLog } from '../../../hal/sim/undo-log.ts';
import { ToyMachine } from '../../kit/toy-machine.ts';

const HEADER_BYTES = 40;

type Json = { [name: string]: unknown };

function toyAt(ordinal: number, cells?: number): ToyMachine {
  const toy = new ToyMachine(cells);
  toy.timeline.runToOrdinal(ordinal);
  return toy;
}

function fileOf(machine: Machine, metadata?: { [name: string]: string }): Uint8Array {
  return Buffer.concat(encodeSnapshot(machine, metadata));
}

/** A file with correct lengths and checksums around any structure. */
function seal(json: unknown, binary: Uint8Array, header: { version?: number } = {}): Uint8Array {
  const text = Buffer.from(typeof json === 'string' ? json : JSON.stringify(json));
  const padded = Buffer.concat([text, Buffer.alloc(-text.length & 7, ' ')]);
  const head = Buffer.alloc(HEADER_BYTES);
  head.write('BF3SNAP\0', 'latin1');
  head.writeUInt32LE(header.version ?? 1, 8);
  head.writeUInt32LE(padded.length, 12);
  head.writeUIntLE(binary.length, 16, 6);
  head.writeUInt32LE(checksumOf(padded), 24);
  head.writeUInt32LE(checksumOf(binary), 28);
  head.writeUInt32LE(checksumOf(head.subarray(0, 36)), 36);
  return Buffer.concat([head, padded, binary]);
}

/** Structure and binary block of a file, by the description of the format alone. */
function split(file: Uint8Array): { json: Json; binary: Uint8Array } {
  const bytes = Buffer.from(file);
  const jsonBytes = bytes.readUInt32LE(12);
  const text = bytes.subarray(HEADER_BYTES, HEADER_BYTES + jsonBytes).toString('utf8');
  return { json: JSON.parse(text) as Json, binary: bytes.subarray(HEADER_BYTES + jsonBytes) };
}

/** Restores into a machine that has run elsewhere; throws what restoring throws. */
function attempt(file: Uint8Array | SnapshotSource, toy = toyAt(31)): void {
  const before = toy.fingerprint;
  try {
    SnapshotFile.open(file).restoreInto(toy.machine);
  } catch (error) {
    if (toy.fingerprint !== before) throw new Error(`half restored after ${String(error)}`);
    throw error;
  }
}

function errorOf(file: Uint8Array | SnapshotSource, toy?: ToyMachine): Error | null {
  try {
    attempt(file, toy);
  } catch (error) {
    return error as Error;
  }
  return null;
}

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

describe('snapshot file: damage', () => {
  const toy = toyAt(200);
  const file = fileOf(toy.machine, { profile: 'toy' });

  it('of any header byte is found', () => {
    for (let at = 0; at < HEADER_BYTES; at++) {
      for (const flip of [1, 0x80, 0xff]) {
        const damaged = Buffer.from(file);
        damaged[at]! ^= flip;
        const error = errorOf(damaged);
        expect(error).toBeInstanceOf(SnapshotFileError);
        expect(error?.message).toMatch(/^snapshot file, byte \d+: /);
        const message = at < 8 ? /does not begin with/ : at < 12 ? /version/ : /header is damaged/;
        expect(error?.message).toMatch(message);
      }
    }
  });

  it('of any other byte is found', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 255 }), (place, flip) => {
        const damaged = Buffer.from(file);
        damaged[HEADER_BYTES + (place % (file.length - HEADER_BYTES))]! ^= flip;
        const error = errorOf(damaged);
        expect(error).toBeInstanceOf(SnapshotFileError);
        expect(error?.message).toMatch(/damaged|runs: run \d+/);
      }),
      { numRuns: 300 },
    );
  });

  it('by cutting or lengthening is found', () => {
    const lengths = [...Array(64).keys(), 1000, file.length - 8, file.length - 1];
    for (const length of lengths) {
      const error = errorOf(file.subarray(0, length));
      expect(error).toBeInstanceOf(SnapshotFileError);
      expect(error?.message).toMatch(length < HEADER_BYTES ? /too short/ : /cut short/);
      if (length >= HEADER_BYTES) expect((error as SnapshotFileError).offset).toBe(length);
    }
    const longer = errorOf(Buffer.concat([file, Buffer.alloc(8)]));
    expect(longer).toBeInstanceOf(SnapshotFileError);
    expect(longer?.message).toMatch(/bytes are left over at the end/);
  });

  it('by a reader that gives too little is found', () => {
    const source = (less: (offset: number) => number): SnapshotSource => ({
      size: file.length,
      read: (offset, length) => file.subarray(offset, offset + length - less(offset)),
    });
    for (const from of [0, HEADER_BYTES, HEADER_BYTES + 1]) {
      const error = errorOf(source((offset) => (offset >= from ? 1 : 0)));
      expect(error).toBeInstanceOf(SnapshotFileError);
      expect(error?.message).toMatch(/bytes expected, the reader gave/);
    }
  });

  it('leaves a machine that can be restored afterwards', () => {
    const other = toyAt(9);
    const damaged = Buffer.from(file);
    damaged[file.length - 1]! ^= 1;
    expect(errorOf(damaged, other)).toBeInstanceOf(SnapshotFileError);
    attempt(file, other);
    expect(other.fingerprint).toBe(toy.fingerprint);
  });
});

describe('snapshot file: structure that is wrong under correct checksums', () => {
  const file = fileOf(toyAt(200).machine);

  interface Parts {
    json: Json & { metadata: unknown };
    parts: { kind: unknown; version: unknown; state: Json }[];
    tables: Json[];
    writer: Json;
    recent: Json;
    cells: Json;
    runs: Json;
  }

  /** The file with one thing changed. */
  function changed(change: (parts: Parts) => unknown, longer = 0): Uint8Array {
    const { json, binary } = split(file);
    const parts = json.parts as Parts['parts'];
    const tables = json.tables as Json[];
    const writer = parts[2]!.state;
    change({
      json: json as Parts['json'],
      parts,
      tables,
      writer,
      recent: writer.recent as Json,
      cells: tables[0]!.cells as Json,
      runs: tables[0]!.runs as Json,
    });
    return seal(json, Buffer.concat([binary, Buffer.alloc(longer)]));
  }

  type Case = [what: string, file: Uint8Array, message: RegExp];
  const faults: Case[] = [
    ['version of tomorrow', seal({}, new Uint8Array(0), { version: 2 }), /byte 8: .*version 2/],
    ['no JSON', seal('{"metadata": ', new Uint8Array(0)), /byte 40: the structure is no JSON/],
    ['no UTF-8', seal('\u{0}', new Uint8Array(0)), /the structure is no JSON/],
    ['a list', seal([], new Uint8Array(0)), /structure: expected an object/],
    ['nothing in it', seal({}, new Uint8Array(0)), /metadata: expected an object/],
    ['an unknown field', changed(({ json }) => Object.assign(json, { more: 1 })), /'more' is no/],
    ['no parts', changed(({ json }) => delete json.parts), /parts: expected a list/],
    ['a part that is none', changed(({ parts }) => parts.splice(1, 1, 5 as never)), /parts\[1\]/],
    ['a part without state', changed(({ parts }) => delete (parts[1] as Json).state), /\.state/],
    ['a part with more', changed(({ parts }) => Object.assign(parts[1]!, { x: 1 })), /parts\[1\]/],
    ['a number as kind', changed(({ parts }) => (parts[0]!.kind = 5)), /parts\[0\]\.kind/],
    ['a text as version', changed(({ parts }) => (parts[0]!.version = '1')), /\.version/],
    ['a table with more', changed(({ tables }) => (tables[0]!.x = 1)), /tables\[0\]/],
    ['a nameless table', changed(({ tables }) => delete tables[0]!.name), /tables\[0\]\.name/],
    ['a shrunk table', changed(({ tables }) => (tables[0]!.length = 4095)), /from 4096 to/],
    ['an endless table', changed(({ tables }) => (tables[1]!.length = 2 ** 31)), /length/],
    ['a broken table', changed(({ tables }) => (tables[0]!.firstLength = -1)), /firstLength/],
    ['a foreign array type', changed(({ recent }) => (recent.$array = 'Array')), /"Array" is none/],
    ['no array type', changed(({ recent }) => (recent.$array = null)), /recent: null is none/],
    ['an overlap', changed(({ recent }) => (recent.offset = 0)), /lies at 0, \d+ expected/],
    ['a gap', changed(({ recent }) => (recent.offset = 1e6)), /lies at 1000000, \d+ expected/],
    ['a long array', changed(({ recent }) => (recent.length = 2 ** 40)), /length 1099511627776/],
    ['a negative length', changed(({ recent }) => (recent.length = -1)), /length -1, expected/],
    ['half a length', changed(({ recent }) => (recent.length = 0.5)), /length 0.5, expected/],
    ['a text as length', changed(({ recent }) => (recent.length = '8')), /length "8", expected/],
    ['a spare field', changed(({ recent }) => (recent.more = 8)), /'more' is no field of a ref/],
    ['an unknown $name', changed(({ writer }) => (writer.x = { $map: 1 })), /'\$map' is no ref/],
    ['an odd number', changed(({ writer }) => (writer.x = { $number: '5' })), /is none of NaN/],
    ['signed runs', changed(({ runs }) => (runs.$array = 'Int32Array')), /expected a Uint32Array/],
    ['no runs', changed(({ tables }) => (tables[0]!.runs = null)), /reference .* is missing/],
    ['too few cells', changed(({ cells }) => (cells.length = 1)), /1 of Int32Array, \d+ of Int32/],
    ['unsigned cells', changed(({ cells }) => (cells.$array = 'Uint32Array')), /of Uint32Array/],
    ['bytes left over', changed(() => 0, 16), /16 bytes are left over that no array refers to/],
  ];
  it.for(faults)('is found: %s', ([, wrong, message]) => {
    const error = errorOf(wrong);
    expect(error).toBeInstanceOf(SnapshotFileError);
    expect(error?.message).toMatch(message);
  });

  it('is found: deeper than any machine', () => {
    let deep: Json = {};
    for (let i = 0; i < 200; i++) deep = { deep };
    const error = errorOf(changed(({ writer }) => (writer.deep = deep)));
    expect(error).toBeInstanceOf(SnapshotFileError);
    expect(error?.message).toMatch(/deeper than 64 levels/);
  });

  it('is found: runs outside their table', () => {
    const { json, binary } = split(file);
    const { runs } = (json.tables as { runs: { offset: number } }[])[0]!;
    const wrong = Buffer.from(binary);
    wrong.writeUInt32LE(0xffffffff, runs.offset);
    const error = errorOf(seal(json, wrong));
    expect(error).toBeInstanceOf(SnapshotFileError);
    expect(error?.message).toMatch(/toy-cells\.runs: run 0 ends at cell/);
    const binaryStart = file.length - binary.length;
    expect((error as SnapshotFileError).offset).toBe(binaryStart + runs.offset);
  });

  const foreign: Case[] = [
    ['a kind', changed(({ parts }) => (parts[3]!.kind = 'toy.other')), /expected .*'toy.reader'/],
    ['a version', changed(({ parts }) => (parts[3]!.version = 4)), /saved as version 4/],
    ['a missing part', changed(({ parts }) => parts.pop()), /expected .* 'toy.reader', found/],
    ['a spare part', changed(({ parts }) => parts.push(parts[0]!)), /has no place/],
    ['a table name', changed(({ tables }) => (tables[0]!.name = 'l2p')), /found 'l2p'/],
    ['a missing table', changed(({ tables }) => tables.pop()), /expected .* 'toy-marks'/],
    ['a spare table', changed(({ tables }) => tables.push(tables[0]!)), /has no place/],
    ['another size', fileOf(toyAt(20, 8192).machine), /8192 cells in the file, 4096 here/],
    ['a missing field', changed(({ writer }) => delete writer.writeCount), /lacks .*'writeCount'/],
    ['a spare field', changed(({ writer }) => (writer.more = 1)), /has no field 'more'/],
    ['another form', changed(({ writer }) => (writer.writeCount = '1')), /is string in the file/],
    ['another array', changed(({ recent }) => (recent.$array = 'Uint32Array')), /Int32Array here/],
  ];
  it.for(foreign)('is another machine’s: %s', ([, wrong, message]) => {
    const error = errorOf(wrong);
    expect(error).toBeInstanceOf(SnapshotMismatch);
    expect(error?.message).toMatch(message);
  });
});

describe('snapshot file: all or nothing', () => {
  it('puts everything back when a part refuses its state', () => {
    const file = fileOf(toyAt(300).machine);
    const toy = toyAt(40);
    const { restore } = toy.reader;
    let refusals = 0;
    toy.reader.restore = (saved) => {
      restore.call(toy.reader, saved);
      if (refusals++ === 0) throw new RangeError('the sum is odd');
    };
    const error = errorOf(file, toy);
    expect(error).toBeInstanceOf(SnapshotMismatch);
    expect(error?.message).toBe("'toy.reader' refuses its saved state: the sum is odd");
    toy.timeline.runToOrdinal(120);
    expect(toy.fingerprint).toBe(toyAt(120).fingerprint);
  });

  it('passes on what the reader throws, with the machine unchanged', () => {
    const file = fileOf(toyAt(300).machine);
    const failing: SnapshotSource = {
      size: file.length,
      read(offset, length) {
        if (offset > HEADER_BYTES) throw new RangeError('the disk is gone');
        return file.subarray(offset, offset + length);
      },
    };
    expect(errorOf(failing)?.message).toBe('the disk is gone');
  });

  it('is not done while a run is recorded', () => {
    const toy = toyAt(10);
    const file = fileOf(toy.machine);
    toy.log.start(2 ** 20);
    expect(() => SnapshotFile.open(file).restoreInto(toy.machine)).toThrow(InvariantBroken);
  });
});
