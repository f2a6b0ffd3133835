import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { Bytes } from '../../../hal/sim/bytes.ts';
import { InvariantBroken } from '../../../hal/sim/invariant.ts';
import {
  bits,
  bytes,
  type Decoded,
  record,
  reserved,
  s8,
  s16,
  s24be,
  s32,
  s48be,
  s64,
  u8,
  u16,
  u16be,
  u24,
  u32,
  u32be,
  u48,
  u64,
  u64be,
} from '../../../hal/sim/record.ts';

const Sample = record({
  logicalPage: u32,
  sequence: u48,
  kind: u8,
  flags: bits(1, { last: [0, 1], tag: [3, 5] }),
  pad: reserved(2),
  lba: u16be,
  seal: bytes(4),
  crc: u32,
});

const SAMPLE = {
  logicalPage: 0x01020304,
  sequence: 0x060504030201,
  kind: 7,
  flags: { last: 1, tag: 31 },
  lba: 0x1234,
  seal: Uint8Array.of(0x42, 0x46, 0x33, 0x21),
  crc: 0xfffffffe,
};

describe('Bytes', () => {
  const widths = fc.integer({ min: 1, max: 6 });

  it('reads and writes unsigned integers as Node does', () => {
    fc.assert(
      fc.property(
        widths,
        fc.nat({ max: 5 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (width, at, part) => {
          const value = Math.floor(part * (256 ** width - 1));
          const ours = new Bytes(16);
          const node = Buffer.alloc(16);
          expect(ours.writeUIntLE(value, at, width)).toBe(node.writeUIntLE(value, at, width));
          expect(Buffer.compare(ours, node)).toBe(0);
          expect(ours.readUIntLE(at, width)).toBe(value);
          expect(ours.readUIntBE(at, width)).toBe(node.readUIntBE(at, width));
          ours.writeUIntBE(value, at + 5, width);
          node.writeUIntBE(value, at + 5, width);
          expect(Buffer.compare(ours, node)).toBe(0);
        },
      ),
    );
  });

  it('reads and writes signed integers as Node does', () => {
    fc.assert(
      fc.property(widths, fc.double({ min: -1, max: 1, noNaN: true }), (width, part) => {
        const value = Math.trunc(part * (256 ** width / 2 - 1));
        const ours = new Bytes(12);
        const node = Buffer.alloc(12);
        ours.writeIntLE(value, 0, width);
        node.writeIntLE(value, 0, width);
        ours.writeIntBE(value, 6, width);
        node.writeIntBE(value, 6, width);
        expect(Buffer.compare(ours, node)).toBe(0);
        expect(ours.readIntLE(0, width)).toBe(node.readIntLE(0, width));
        expect(ours.readIntBE(6, width)).toBe(node.readIntBE(6, width));
      }),
    );
  });

  it('refuses places outside and values that do not fit', () => {
    const array = new Bytes(4);
    expect(() => array.readUIntLE(1, 4)).toThrow('4 bytes at offset 1 lie outside 4 bytes');
    expect(() => array.readUIntLE(0, 7)).toThrow('1 to 6 bytes wide, not 7');
    expect(() => array.writeUIntLE(256, 0, 1)).toThrow('256 is not an integer from 0 to 255');
    expect(() => array.writeIntBE(-129, 0, 1)).toThrow('-129 is not an integer from -128 to 127');
  });

  it('shares memory with the array it is laid over', () => {
    const source = new Uint8Array(8);
    Bytes.over(source.subarray(2, 6)).writeUInt32BE(0x01020304, 0);
    expect([...source]).toEqual([0, 0, 1, 2, 3, 4, 0, 0]);
  });
});

describe('record', () => {
  it('lays fields out in order without padding', () => {
    expect(Sample.span).toBe(24);
    expect(Sample.offsetOf('lba')).toBe(14);
    expect([...Sample.encode(SAMPLE)]).toEqual([
      4, 3, 2, 1, 1, 2, 3, 4, 5, 6, 7, 0xf9, 0, 0, 0x12, 0x34, 0x42, 0x46, 0x33, 0x21, 0xfe, 0xff,
      0xff, 0xff,
    ]);
    expect(Sample.decode(Sample.encode(SAMPLE))).toEqual(SAMPLE);
  });

  it('infers the decoded type from the fields, without reserved ones', () => {
    expectTypeOf<Decoded<typeof Sample>>().toEqualTypeOf<{
      logicalPage: number;
      sequence: number;
      kind: number;
      flags: { last: number; tag: number };
      lba: number;
      seal: Uint8Array;
      crc: number;
    }>();
    expect(Object.keys(Sample.decode(new Uint8Array(24)))).not.toContain('pad');
  });

  it('agrees with DataView on every integer width and byte order', () => {
    const All = record({ a: s8, b: s16, c: u16be, d: s32, e: u32be, f: u64, g: s64, h: u64be });
    const safe = fc.maxSafeNat();
    const values = fc.record({
      a: fc.integer({ min: -128, max: 127 }),
      b: fc.integer({ min: -32768, max: 32767 }),
      c: fc.integer({ min: 0, max: 0xffff }),
      d: fc.integer(),
      e: fc.integer({ min: 0, max: 0xffffffff }),
      f: safe,
      g: fc.maxSafeInteger(),
      h: safe,
    });
    fc.assert(
      fc.property(values, (value) => {
        const encoded = All.encode(value);
        const view = new DataView(encoded.buffer);
        const read = {
          a: view.getInt8(All.offsetOf('a')),
          b: view.getInt16(All.offsetOf('b'), true),
          c: view.getUint16(All.offsetOf('c')),
          d: view.getInt32(All.offsetOf('d'), true),
          e: view.getUint32(All.offsetOf('e')),
          f: Number(view.getBigUint64(All.offsetOf('f'), true)),
          g: Number(view.getBigInt64(All.offsetOf('g'), true)),
          h: Number(view.getBigUint64(All.offsetOf('h'))),
        };
        expect(read).toEqual(value);
        expect(All.decode(encoded)).toEqual(value);
      }),
    );
  });

  it('reads three and six bytes with sign', () => {
    const Odd = record({ low: u24, high: s24be, wide: s48be });
    const value = { low: 0xabcdef, high: -2, wide: -(2 ** 47) };
    expect(Odd.decode(Odd.encode(value))).toEqual(value);
    expect(Odd.span).toBe(12);
  });

  it('writes and reads at an offset and leaves the neighbours alone', () => {
    const room = new Uint8Array(30).fill(0xee);
    Sample.encodeInto(SAMPLE, room, 3);
    expect([...room.subarray(0, 3), ...room.subarray(27)]).toEqual(Array(6).fill(0xee));
    expect([...room.subarray(15, 17)]).toEqual([0, 0]);
    expect(Sample.decode(room, 3)).toEqual(SAMPLE);
  });

  it('copies byte fields out, so that later writes do not reach them', () => {
    const encoded = Sample.encode(SAMPLE);
    const decoded = Sample.decode(encoded);
    encoded.fill(0);
    expect([...decoded.seal]).toEqual([0x42, 0x46, 0x33, 0x21]);
  });

  it('fills a whole word with bit fields', () => {
    const Word = record({ word: bits(4, { all: [0, 32] }), halves: bits(2, { high: [15, 1] }) });
    const value = { word: { all: 0x89abcdef }, halves: { high: 1 } };
    expect([...Word.encode(value)]).toEqual([0xef, 0xcd, 0xab, 0x89, 0x00, 0x80]);
    expect(Word.decode(Word.encode(value))).toEqual(value);
  });
});

describe('a record refuses', () => {
  it.each([
    [
      'a missing field',
      { crc: undefined },
      'crc: undefined is not an integer from 0 to 4294967295',
    ],
    ['a value too large', { lba: 65536 }, 'lba: 65536 is not an integer from 0 to 65535'],
    ['a negative value', { kind: -1 }, 'kind: -1 is not an integer from 0 to 255'],
    ['a fraction', { sequence: 0.5 }, 'sequence: 0.5 is not an integer from 0 to 281474976710655'],
    ['a bit field too large', { flags: { last: 2, tag: 0 } }, 'flags.last: 2 is not an integer'],
    ['a missing bit field', { flags: { last: 1 } }, 'flags.tag: undefined is not an integer'],
    ['bytes of another length', { seal: new Uint8Array(3) }, 'seal: 3 bytes given, 4 bytes needed'],
  ])('%s', (_, wrong, message) => {
    const values = { ...SAMPLE, ...wrong } as typeof SAMPLE;
    expect(() => Sample.encode(values)).toThrow(InvariantBroken);
    expect(() => Sample.encode(values)).toThrow(`record field ${message}`);
  });

  it('to change anything when one value is wrong', () => {
    const room = new Uint8Array(24).fill(0xee);
    expect(() => Sample.encodeInto({ ...SAMPLE, crc: -1 }, room)).toThrow(InvariantBroken);
    expect([...room]).toEqual(Array(24).fill(0xee));
  });

  it('places where it does not fit', () => {
    expect(() => Sample.decode(new Uint8Array(23))).toThrow(RangeError);
    expect(() => Sample.decode(new Uint8Array(30), 7)).toThrow(
      'record of 24 bytes does not fit at offset 7 of 30 bytes',
    );
    expect(() => Sample.decode(new Uint8Array(30), -1)).toThrow('offset -1');
    expect(() => Sample.encodeInto(SAMPLE, new Uint8Array(23))).toThrow(InvariantBroken);
  });

  it('stored integers that a number cannot hold', () => {
    const Wide = record({ order: u64 });
    expect(Wide.decode(Wide.encode({ order: 2 ** 53 - 1 })).order).toBe(2 ** 53 - 1);
    expect(() => Wide.decode(new Uint8Array(8).fill(0xff))).toThrow('record field order');
    expect(() => Wide.encode({ order: 2 ** 53 })).toThrow('is not an integer from 0 to');
  });

  it('declarations that cannot be laid out', () => {
    expect(() => record({ 7: u8 })).toThrow('a name must not be a number');
    expect(() => record({ pad: reserved(0) })).toThrow('0 is not a length');
    expect(() => record({ w: bits(1, { a: [0, 4], b: [3, 1] }) })).toThrow('w.b: the bits overlap');
    expect(() => record({ w: bits(1, { a: [4, 5] }) })).toThrow('w.a: the bits lie outside');
  });
});

it('works where no Buffer exists, as in a browser', () => {
  const kept = globalThis.Buffer;
  let decoded: Decoded<typeof Sample>;
  try {
    Reflect.deleteProperty(globalThis, 'Buffer');
    const Fresh = record({ tag: u8, seal: bytes(3), flags: bits(2, { on: [9, 1] }), wide: u64 });
    Fresh.decode(Fresh.encode({ tag: 1, seal: new Uint8Array(3), flags: { on: 1 }, wide: 5 }));
    decoded = Sample.decode(Sample.encode(SAMPLE));
  } finally {
    globalThis.Buffer = kept;
  }
  expect(decoded).toEqual(SAMPLE);
  expect(record({ length: u16 }).span).toBe(2);
});
