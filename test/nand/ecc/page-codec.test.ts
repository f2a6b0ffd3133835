/**
 * Goal: what is written to a page comes back, through any errors that the code can bear; what
 * cannot come back is told for exactly the codewords and slots concerned.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LAST_OF_COMMAND, METADATA } from '../../../hal/flash-ops.ts';
import { RandomStream } from '../../../hal/sim/random.ts';
import { Bch } from '../../../nand/ecc/bch.ts';
import { UNCORRECTABLE } from '../../../nand/ecc/code.ts';
import { crc32c } from '../../../nand/ecc/crc32c.ts';
import { createBch, DRIVE_CODE } from '../../../nand/ecc/engine.ts';
import { PageCodec, SpareRecord, slotFailed } from '../../../nand/ecc/page-codec.ts';
import { Scrambler } from '../../../nand/ecc/scrambler.ts';
import { PageFlips } from './page-flips.ts';

const SIZE = { pageBytes: 8192, spareBytes: 448 };
const PLACE = { block: 1234, page: 201 };
const RECORDS = [
  { pageWord: 1001 | LAST_OF_COMMAND, order: 2 ** 48 - 1, badSectors: 0x81 },
  { pageWord: 77 | METADATA | (1 << 31), order: 5, badSectors: 0 },
];
const codec = new PageCodec(SIZE);
const random = new RandomStream('page-codec', 'test');
const DATA = Uint8Array.from({ length: 8192 }, () => random.below(256));

function encoded(data = DATA, place = PLACE, through = codec): Uint8Array {
  const raw = new Uint8Array(through.rawBytes);
  through.encodePage(place, data, RECORDS.slice(0, through.slotCount), raw);
  return raw;
}

function decoded(raw: Uint8Array, place = PLACE, through = codec) {
  const data = new Uint8Array(through.pageBytes);
  const records = through.newRecords();
  const verdict = through.decodePage(place, raw, data, records);
  return { data, records, verdict };
}

describe('page codec: layout', () => {
  test('eight codewords of 1080 bytes fill the page and its spare area', () => {
    expect(codec.rawBytes).toBe(8640);
    expect(codec.codewordCount * 1080).toBe(codec.rawBytes);
    expect(SpareRecord.span).toBe(28);
  });

  test('columns hold scrambled data, scrambled records and the parity of both', () => {
    const raw = encoded();
    const scrambler = new Scrambler();
    const data = raw.slice(0, 8192);
    scrambler.scramble(data, 0, 8192, PLACE.page, PLACE.block);
    expect(Buffer.compare(data, DATA)).toBe(0);

    const engine = createBch(DRIVE_CODE);
    for (let codeword = 0; codeword < 8; codeword++) {
      const spareAt = 8192 + 56 * codeword;
      const covered = Buffer.concat([
        raw.subarray(1024 * codeword, 1024 * codeword + 1024),
        raw.subarray(spareAt, spareAt + 7),
      ]);
      const parity = new Uint8Array(49);
      engine.encode(covered, 0, parity, 0);
      expect(Buffer.compare(parity, raw.subarray(spareAt + 7, spareAt + 56))).toBe(0);
    }

    const spare = Buffer.concat(
      Array.from({ length: 8 }, (_, c) => raw.subarray(8192 + 56 * c, 8192 + 56 * c + 7)),
    );
    scrambler.scramble(spare, 1, 27, PLACE.page, PLACE.block, 8193);
    scrambler.scramble(spare, 29, 27, PLACE.page, PLACE.block, 8221);
    RECORDS.forEach((expected, slot) => {
      const crc = crc32c(DATA, 4096 * slot, 4096 * slot + 4096, expected.pageWord);
      const found = SpareRecord.decode(spare, 28 * slot);
      expect(found).toEqual({ ...expected, marker: 0xff, kind: 1, crc });
    });
  });

  test('the bad-block column of a programmed page always shows FFh', () => {
    for (let page = 0; page < 256; page++) {
      const raw = encoded(DATA, { block: page * 3, page });
      expect(raw[8192]).toBe(0xff);
      expect(raw[8192 + 4 * 56]).toBe(0xff);
    }
  });

  test('half of the bits of a page are ones, whatever the host writes', () => {
    for (const byte of [0x00, 0xff]) {
      const raw = encoded(new Uint8Array(8192).fill(byte));
      let ones = 0;
      for (const value of raw) for (let bit = 0; bit < 8; bit++) ones += (value >> bit) & 1;
      expect(Math.abs(ones / (8 * raw.length) - 0.5)).toBeLessThan(0.01);
    }
  });

  test('both engines write the same page', () => {
    const other = new PageCodec(SIZE, new Bch(DRIVE_CODE));
    expect(Buffer.compare(encoded(DATA, PLACE, other), encoded())).toBe(0);
  });
});

describe('page codec: round trip', () => {
  test('any data and records come back through up to t errors a codeword', () => {
    const sample = fc.record({
      seed: fc.nat(),
      block: fc.nat(4095),
      page: fc.nat(255),
      pageWords: fc.tuple(fc.integer(), fc.integer()),
      orders: fc.tuple(fc.nat(2 ** 48 - 1), fc.nat(2 ** 48 - 1)),
      badSectors: fc.tuple(fc.nat(255), fc.nat(255)),
      counts: fc.array(fc.nat(28), { minLength: 8, maxLength: 8 }),
    });
    fc.assert(
      fc.property(sample, ({ seed, block, page, pageWords, orders, badSectors, counts }) => {
        const stream = new RandomStream(`${seed}`, 'test');
        const data = Uint8Array.from({ length: 8192 }, () => stream.below(256));
        const records = [0, 1].map((slot) => {
          return {
            pageWord: pageWords[slot]!,
            order: orders[slot]!,
            badSectors: badSectors[slot]!,
          };
        });
        const raw = new Uint8Array(8640);
        codec.encodePage({ block, page }, data, records, raw);
        const flips = new PageFlips(raw, stream);
        counts.forEach((count, codeword) => {
          flips.flip(codeword, count);
        });
        const found = decoded(flips.raw, { block, page });
        expect(Buffer.compare(found.data, data)).toBe(0);
        expect(found.records).toEqual(records);
        expect([...found.verdict.corrected]).toEqual(counts);
        expect(found.verdict).toMatchObject({ worst: Math.max(...counts), crcWrong: 0 });
      }),
      { numRuns: 50 },
    );
  });

  test('a failing codeword is told, and the other slot is whole', () => {
    const flips = new PageFlips(encoded(), random);
    flips.flip(2, 29);
    flips.flip(5, 28);
    const before = flips.raw.slice();
    const { data, records, verdict } = decoded(flips.raw);
    expect([...verdict.corrected]).toEqual([0, 0, UNCORRECTABLE, 0, 0, 28, 0, 0]);
    expect(verdict).toMatchObject({ worst: UNCORRECTABLE, failedCodewords: 4, crcWrong: 0 });
    expect([slotFailed(verdict, 0), slotFailed(verdict, 1)]).toEqual([true, false]);
    expect(Buffer.compare(data.subarray(4096), DATA.subarray(4096))).toBe(0);
    // The record of slot 0 lies in codewords 0 to 2, its page word in codeword 0.
    expect(records[0]!.pageWord).toBe(RECORDS[0]!.pageWord);
    expect(records[1]).toEqual(RECORDS[1]);
    expect(Buffer.compare(flips.raw, before)).toBe(0);
  });

  test('the CRC finds a codeword that was taken for another one', () => {
    // The nearest thing to a miscorrection: codeword 4 of the page before, valid in itself.
    const raw = encoded();
    const stale = encoded(DATA.map((byte) => byte ^ 1));
    raw.set(stale.subarray(4096, 5120), 4096);
    raw.set(stale.subarray(8192 + 4 * 56, 8192 + 5 * 56), 8192 + 4 * 56);
    const { verdict } = decoded(raw);
    expect(verdict).toMatchObject({ worst: 0, failedCodewords: 0, crcWrong: 0b10 });
  });

  test('the CRC finds a page read from the wrong place', () => {
    expect(decoded(encoded(), { ...PLACE, page: PLACE.page + 1 }).verdict.crcWrong).toBe(0b11);
    expect(decoded(encoded(), { ...PLACE, block: 1 }).verdict.crcWrong).toBe(0b11);
  });

  test('pages of another size: 4 KiB with a larger spare area, 16 KiB', () => {
    for (const [pageBytes, spareBytes] of [
      [4096, 240],
      [16_384, 896],
    ] as const) {
      const other = new PageCodec({ pageBytes, spareBytes });
      const data = Uint8Array.from({ length: pageBytes }, () => random.below(256));
      const records = other.newRecords().map((entry, i) => ({ ...entry, pageWord: i + 1 }));
      const raw = new Uint8Array(other.rawBytes);
      other.encodePage(PLACE, data, records, raw);
      const flips = new PageFlips(raw, random, pageBytes);
      for (let codeword = 0; codeword < other.codewordCount; codeword++) flips.flip(codeword, 3);
      const found = decoded(flips.raw, PLACE, other);
      expect(Buffer.compare(found.data, data)).toBe(0);
      expect(found.records).toEqual(records);
      expect(found.verdict.worst).toBe(3);
      // What no codeword uses stays erased.
      const used = pageBytes + other.codewordCount * 56;
      expect(raw.subarray(used).every((byte) => byte === 0xff)).toBe(true);
    }
  });
});

describe('page codec: erased pages', () => {
  test('zeros and empty records, with up to t / 2 zero bits in every codeword', () => {
    for (const count of [0, 1, 14]) {
      const flips = new PageFlips(new Uint8Array(8640).fill(0xff), random);
      for (let codeword = 0; codeword < 8; codeword++) flips.flip(codeword, count);
      const { data, records, verdict } = decoded(flips.raw);
      expect(verdict).toMatchObject({ erased: true, worst: count, crcWrong: 0 });
      expect(data.every((byte) => byte === 0)).toBe(true);
      expect(records).toEqual(codec.newRecords());
    }
  });

  test('one more zero bit and nothing can be said of the page', () => {
    const flips = new PageFlips(new Uint8Array(8640).fill(0xff), random);
    flips.flip(7, 15);
    const { verdict } = decoded(flips.raw);
    expect(verdict).toMatchObject({ erased: false, worst: UNCORRECTABLE, failedCodewords: 0xff });
  });

  test('a programmed page is not erased, whatever it holds', () => {
    expect(codec.isErased(encoded(new Uint8Array(8192).fill(0xff)))).toBe(false);
    expect(codec.isErased(encoded(new Uint8Array(8192)))).toBe(false);
  });
});

describe('page codec: refusals', () => {
  test('sizes', () => {
    expect(() => new PageCodec({ pageBytes: 6144, spareBytes: 448 })).toThrow(
      'page codec: pageBytes is 4096 to 28672 in steps of 4096: 6144',
    );
    expect(() => new PageCodec({ pageBytes: 8192, spareBytes: 447 })).toThrow(
      'page codec: 8 codewords need 448 spare bytes, there are 447',
    );
    const weak = new Bch({ m: 14, t: 24, dataBytes: 1024 });
    expect(() => new PageCodec(SIZE, weak)).toThrow('not 1024 and 42');
    expect(() => decoded(new Uint8Array(8639))).toThrow('8640 raw bytes, not 8192, 2 and 8639');
  });

  test('records that do not fit their fields', () => {
    const raw = new Uint8Array(8640);
    const records = [{ pageWord: 0, order: -1, badSectors: 0 }, RECORDS[1]!];
    expect(() => codec.encodePage(PLACE, DATA, records, raw)).toThrow('record field order: -1');
  });
});
