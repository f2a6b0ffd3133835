/**
 * Goal: a file that is damaged or of another machine is refused with a clear error and changes
 * nothing. Method: damage of every kind, with and without correct checksums; the machine is
 * compared with itself after every refusal.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvariantBroken } from '../../../hal/sim/invariant.ts';
import { SnapshotMismatch } from '../../../hal/sim/snapshot.ts';
import {
  SnapshotFile,
  SnapshotFileError,
  type SnapshotSource,
} from '../../../hal/sim/snapshot-file.ts';
import {
  attempt,
  errorOf,
  fileOf,
  HEADER_BYTES,
  type Json,
  seal,
  split,
  toyAt,
} from '../../kit/snapshot-files.ts';

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
        expect(error?.message).toMatch(/damaged|toy-\w+\.(runs|cells)/);
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

  it('lets the machine prepare while its tables are still there, and only when all is well', () => {
    const toy = toyAt(40);
    const seen: string[] = [];
    toy.machine.beforeUnwind(() => seen.push(toy.fingerprint));
    const file = fileOf(toyAt(300).machine);
    expect(errorOf(file.subarray(0, 1000), toy)).toBeInstanceOf(SnapshotFileError);
    expect(seen).toEqual([]);
    const before = toy.fingerprint;
    attempt(file, toy);
    expect(seen).toEqual([before]);
  });

  it('is not done while a run is recorded', () => {
    const toy = toyAt(10);
    const file = fileOf(toy.machine);
    toy.log.start(2 ** 20);
    expect(() => SnapshotFile.open(file).restoreInto(toy.machine)).toThrow(InvariantBroken);
  });
});
