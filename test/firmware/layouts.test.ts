/**
 * Goal: a record of metadata comes back as it was written, and damage does not pass.
 * Method: round trips of random records; flipped bits.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CheckpointHeader,
  type CheckpointPlace,
  decodeHeader,
  decodeRoot,
  encodeHeader,
  encodeRoot,
  HEADER_MAGIC,
  type Header,
  LAYOUT_VERSION,
  ROOT_MAGIC,
  ROWS_PER_PAGE,
  type Root,
  RootRecord,
  RootState,
  SuperblockRow,
} from '../../firmware/ftl/layouts.ts';
import { Bytes } from '../../hal/sim/bytes.ts';

const PAGE = 4096;

const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
const u48 = fc.integer({ min: 0, max: 2 ** 48 - 1 });
const u8 = fc.integer({ min: 0, max: 255 });

const root: fc.Arbitrary<Root> = fc.record({
  magic: fc.constant(ROOT_MAGIC),
  version: fc.constant(LAYOUT_VERSION),
  state: fc.constantFrom(RootState.Formatted, RootState.Clean, RootState.Dirty),
  superblockCount: fc.integer({ min: 0, max: 16 }),
  sequence: u48,
  checkpointPages: u32,
  nextOrder: u48,
  powerCycles: u32,
  unplannedLosses: u32,
});

const header: fc.Arbitrary<Header> = fc.record({
  magic: fc.constant(HEADER_MAGIC),
  version: fc.constant(LAYOUT_VERSION),
  tablePages: u32,
  mapPages: u32,
  openings: u48,
  hostSuperblock: u32,
  hostUnit: u32,
  hostLsbOnly: u8,
  writeMode: u8,
  collectorSuperblock: u32,
  collectorUnit: u32,
  collectorLsbOnly: u8,
  hostWrittenSectors: u48,
  hostReadSectors: u48,
  programUnits: u48,
  factoryBad: u32,
  grownBad: u32,
  programFailures: u32,
  eraseFailures: u32,
  uncorrectableReads: u32,
});

/** Superblocks with bad dies, the words as the table has them: signed. */
const list = (count: number): CheckpointPlace[] =>
  Array.from({ length: count }, (_, i) => ({
    superblock: (i * 0x0101_0101) >>> 0,
    badLow: (i * 0x9876_5431) | 0,
    badHigh: ~(i * 0x0f1e_2d3c),
  }));

describe('layouts', () => {
  test('a root record and its superblocks come back, with their bad dies', () => {
    fc.assert(
      fc.property(root, (record) => {
        const places = list(record.superblockCount);
        const page = encodeRoot(record, places);
        expect(page.length).toBe(PAGE);
        expect(decodeRoot(page)).toEqual({ root: record, places });
      }),
    );
  });

  test('a header comes back', () => {
    fc.assert(
      fc.property(header, (record) => {
        const page = encodeHeader(record);
        expect(page.length).toBe(PAGE);
        expect(decodeHeader(page)).toEqual(record);
      }),
    );
  });

  test('a row of the block table comes back; 128 of them fill a page', () => {
    const row = fc.record({
      ...{ state: u8, lsbOnly: u8, eraseCount: u32, invalidatedOrder: u48, openedNumber: u48 },
      ...{ badLow: u32, badHigh: u32 },
    });
    fc.assert(
      fc.property(row, (each) => {
        const page = new Bytes(PAGE);
        SuperblockRow.encodeInto(each, page, 127 * SuperblockRow.span);
        expect(SuperblockRow.decode(page, 127 * SuperblockRow.span)).toEqual(each);
      }),
    );
    expect([SuperblockRow.span, ROWS_PER_PAGE]).toEqual([32, 128]);
  });

  test('any flipped bit makes a record no record', () => {
    const record = fc.sample(root, { numRuns: 1, seed: 7 })[0]!;
    const head = fc.sample(header, { numRuns: 1, seed: 7 })[0]!;
    const rootPage = encodeRoot(record, list(record.superblockCount));
    const headerPage = encodeHeader(head);
    const last = PAGE * 8 - 1;
    let passed = 0;
    // Every bit of the fields, of a full list (64 + 16 * 12 bytes) and of the CRC; some of the rest.
    for (let bit = 0; bit <= last; bit += bit < 2100 || bit > last - 40 ? 1 : 97) {
      for (const page of [rootPage, headerPage]) {
        page[bit >> 3]! ^= 1 << (bit & 7);
        if (decodeRoot(page) !== null || decodeHeader(page) !== null) passed++;
        page[bit >> 3]! ^= 1 << (bit & 7);
      }
    }
    expect(passed).toBe(0);
    expect(decodeRoot(rootPage)).not.toBeNull();
    expect(decodeHeader(headerPage)).not.toBeNull();
  });

  test('one kind of page is never taken for the other, nor an erased page for either', () => {
    const record = fc.sample(root, { numRuns: 1, seed: 7 })[0]!;
    const head = fc.sample(header, { numRuns: 1, seed: 7 })[0]!;
    expect(decodeHeader(encodeRoot(record, list(record.superblockCount)))).toBeNull();
    expect(decodeRoot(encodeHeader(head))).toBeNull();
    for (const fill of [0x00, 0xff]) {
      const page = new Uint8Array(PAGE).fill(fill);
      expect([decodeRoot(page), decodeHeader(page)]).toEqual([null, null]);
    }
  });

  test('a sealed record of another version, or with too long a list, is refused', () => {
    const record = fc.sample(root, { numRuns: 1, seed: 7 })[0]!;
    const head = fc.sample(header, { numRuns: 1, seed: 7 })[0]!;
    for (const version of [LAYOUT_VERSION - 1, LAYOUT_VERSION + 1]) {
      expect(decodeRoot(encodeRoot({ ...record, version }, []))).toBeNull();
      expect(decodeHeader(encodeHeader({ ...head, version }))).toBeNull();
    }
    expect(decodeRoot(encodeRoot({ ...record, superblockCount: 17 }, list(17)))).toBeNull();
  });

  test('the fields lie where the layout says', () => {
    expect([RootRecord.span, CheckpointHeader.span <= PAGE - 4]).toEqual([32, true]);
    const record = fc.sample(root, { numRuns: 1, seed: 7 })[0]!;
    const places = list(16);
    const page = Buffer.from(encodeRoot(record, places));
    expect(page.subarray(0, 4).toString('latin1')).toBe('RBF3');
    expect(page.readUIntLE(8, 6)).toBe(record.sequence);
    const last = 64 + 15 * 12; // the sixteenth entry: superblock, bad dies 0-31, bad dies 32-63
    const { superblock, badLow, badHigh } = places[15]!;
    expect(page.readUInt32LE(last)).toBe(superblock);
    expect([page.readInt32LE(last + 4), page.readInt32LE(last + 8)]).toEqual([badLow, badHigh]);
  });
});
