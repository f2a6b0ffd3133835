import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Geometry } from '../../../hal/geometry.ts';
import { crc32Of } from '../../../hal/sim/crc.ts';
import { dataCrc, wordsCrc } from '../../../tools/image/crc.ts';
import {
  BlockRecord,
  BlockState,
  HeaderRecord,
  ImageLayout,
  JSON_AT,
  PageHead,
  PageState,
  SlotKind,
  SlotRecord,
} from '../../../tools/image/format.ts';
import { PageRecords, SlotValues } from '../../../tools/image/page-records.ts';
import { SMALL } from './image-kit.ts';

const GEOMETRY = new Geometry(SMALL.geometry);
const LAYOUT = new ImageLayout(GEOMETRY);

it('places areas one behind the other, as the geometry says', () => {
  expect([HeaderRecord.span, JSON_AT, BlockRecord.span]).toEqual([64, 64, 64]);
  expect(LAYOUT.pageRecordBytes).toBe(64);
  // 32 blocks of 64 bytes and 256 pages of 64 bytes fit into one 64 KiB each; 512 slots follow.
  const { blockTableAt, pageRecordsAt, dataAt, fileBytes } = LAYOUT;
  expect([blockTableAt, pageRecordsAt, dataAt]).toEqual([65536, 131072, 196608]);
  expect(fileBytes).toBe(196608 + 512 * 4096);
});

it('a 16 KiB page has a record of 128 bytes', () => {
  const geometry = new Geometry({ ...SMALL.geometry, pageBytes: 16384, spareBytes: 896 });
  expect(new ImageLayout(geometry).pageRecordBytes).toBe(128);
});

it('checksums are CRC-32, whichever way they are worked out', () => {
  expect(dataCrc(new TextEncoder().encode('123456789'))).toBe(0xcbf43926);
  fc.assert(
    fc.property(fc.int32Array({ minLength: 1, maxLength: 40 }), fc.integer(), (words, seed) => {
      const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
      expect(wordsCrc(words, 0, words.length, seed) >>> 0).toBe(crc32(bytes, seed >>> 0));
      expect(dataCrc(bytes)).toBe(crc32Of(bytes));
    }),
  );
});

it('page records written by words are those that the records declare', () => {
  const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
  const anySlot = fc.record({
    ...{ pageWord: int32, order: int32, tag: int32, dataCrc: int32 },
    kind: fc.integer({ min: 0, max: SlotKind.Mixture }),
    badSectors: fc.nat({ max: 255 }),
  });
  const slots = fc.array(anySlot, { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(slots, int32, fc.nat({ max: 200 }), (values, eraseCount, firstPage) => {
      const records = new PageRecords(LAYOUT, 2);
      records.begin(firstPage, 2);
      values.forEach((slot, i) => {
        records.setSlot(i, Object.assign(new SlotValues(), slot));
      });
      for (const page of [0, 1]) {
        records.seal(page, PageState.Programmed, eraseCount, 2 ** 31 * page);
      }
      for (const page of [0, 1]) {
        const at = page * LAYOUT.pageRecordBytes;
        const head = PageHead.decode(records.bytes, at);
        const body = records.bytes.subarray(at + 4, at + LAYOUT.pageRecordBytes);
        expect(head).toEqual({
          crc: crc32(body, firstPage + page) | 0,
          state: PageState.Programmed,
          slotCount: 2,
          eraseCount,
          damage: 2 ** 31 * page,
        });
        for (const j of [0, 1]) {
          const decoded = SlotRecord.decode(records.bytes, at + 16 + j * SlotRecord.span);
          expect(decoded).toEqual(values[page * 2 + j]);
          const back = new SlotValues();
          records.slot(page * 2 + j, back);
          expect({ ...back }).toEqual(values[page * 2 + j]);
        }
      }
    }),
  );
});

it('a record is stale when its block is erased or was erased since', () => {
  const records = new PageRecords(LAYOUT, 1);
  records.begin(5, 1);
  records.seal(0, PageState.Programmed, 3, 0);
  const judged = (state: BlockState, eraseCount: number) =>
    PageState[
      records.stateOf(0, {
        blockStates: new Uint8Array(GEOMETRY.blocks).fill(state),
        eraseCountOf: () => eraseCount,
      })
    ];
  expect(judged(BlockState.Written, 3)).toBe('Programmed');
  expect(judged(BlockState.Written, 4)).toBe('Erased');
  // A page that is younger than its block cannot be.
  expect(judged(BlockState.Written, 2)).toBe('Damaged');
  expect(judged(BlockState.Erased, 3)).toBe('Erased');
  expect(judged(BlockState.Erasing, 3)).toBe('Programmed');
  expect(judged(BlockState.Damaged, 3)).toBe('Damaged');
  // At another place it is not the same record.
  records.firstPage = 6;
  expect(judged(BlockState.Written, 3)).toBe('Damaged');
});
