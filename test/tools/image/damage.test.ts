import { readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { RunError } from '../../../tools/errors.ts';
import { HEADER_BYTES, SESSION_AT, SessionRecord } from '../../../tools/image/format.ts';
import { type Damage, verifyImage } from '../../../tools/image/verify.ts';
import { createImage, FollowedStore, newPath, openImage, removeImages } from './image-kit.ts';

afterEach(removeImages);

/** An image with one full superblock row: units of die 0 and 1, pages 0 and 1, and an erase. */
function makeImage(): { path: string; file: Buffer; made: FollowedStore } {
  const path = newPath();
  const made = new FollowedStore(createImage(path));
  made.program(3, 2, 0, [0, 0, 0, 0]);
  made.erase(3, 2);
  for (const die of [0, 1]) {
    for (const page of [0, 1]) {
      made.program(
        die,
        1,
        page,
        [1, 2, 3, 0].map((seed) => made.bytes(seed && seed + page * 8)),
      );
    }
  }
  made.image.close();
  return { path, file: readFileSync(path), made };
}

const { path, file, made } = makeImage();
const { layout } = made.image;
const { geometry } = made;

/** What verify says of the image with a byte changed. */
function verifyWith(at: number, flip: number): readonly Damage[] {
  const damaged = Buffer.from(file);
  damaged[at]! ^= flip;
  const copy = newPath();
  writeFileSync(copy, damaged);
  const image = openImage(copy, { readOnly: true });
  const { damage } = verifyImage(image);
  image.close();
  return damage;
}

const anyFlip = fc.integer({ min: 1, max: 255 });
const FLIPS = { numRuns: 60 };

describe('one changed byte', () => {
  it('was not there to begin with', () => {
    expect(path).toContain('drive.nand');
    expect(verifyWith(0, 0)).toEqual([]);
  });

  it('of the header or the session record: the image is refused', () => {
    const places = fc.oneof(
      fc.nat({ max: HEADER_BYTES - 1 }),
      fc.integer({ min: SESSION_AT, max: SESSION_AT + SessionRecord.span - 1 }),
    );
    // Bytes 1 to 3 of the session record mean nothing, and its CRC covers them too.
    fc.assert(
      fc.property(places, anyFlip, (at, flip) => {
        expect(() => verifyWith(at, flip)).toThrow(RunError);
      }),
      FLIPS,
    );
  });

  it('of a block record: damage of that block, of an erased block and of an unused one too', () => {
    const blocks = fc.nat({ max: geometry.blocks - 1 });
    fc.assert(
      fc.property(blocks, fc.nat({ max: 63 }), anyFlip, (block, at, flip) => {
        const byte = layout.blockRecordAt(block);
        const slot = geometry.pageSlotOf(block, 0);
        const place = geometry.describe(slot).replace(/ page .*/, '');
        expect(verifyWith(byte + at, flip)).toEqual([{ what: 'block record', place, byte }]);
      }),
      FLIPS,
    );
  });

  it('of a page record of a block in use: damage of that page', () => {
    const pages = fc.record({
      die: fc.nat({ max: 1 }),
      plane: fc.nat({ max: 1 }),
      // Page 5 was never programmed.
      page: fc.constantFrom(0, 1, 5),
    });
    fc.assert(
      fc.property(pages, fc.nat({ max: 63 }), anyFlip, ({ die, plane, page }, at, flip) => {
        const slot = geometry.slotOf(die, 2 + plane, page, 0);
        const byte = layout.pageRecordAt(layout.pageOf(slot));
        const place = geometry.describe(slot).replace(/ slot .*/, '');
        expect(verifyWith(byte + at, flip)).toEqual([{ what: 'page record', place, byte }]);
      }),
      FLIPS,
    );
  });

  it('of the data of a slot: damage of that slot', () => {
    const slots = fc.record({ die: fc.nat({ max: 1 }), page: fc.nat({ max: 1 }), j: fc.nat(2) });
    fc.assert(
      fc.property(slots, fc.nat({ max: 4095 }), anyFlip, ({ die, page, j }, at, flip) => {
        const slot = geometry.unitSlotOf(die, 1, page) + j;
        const byte = layout.slotDataAt(slot);
        const damage = [{ what: 'data', place: geometry.describe(slot), byte }];
        expect(verifyWith(byte + at, flip)).toEqual(damage);
      }),
      FLIPS,
    );
  });

  it('of an unused place changes nothing: erased blocks, holes, slots of zeros', () => {
    const zeros = geometry.unitSlotOf(0, 1, 0) + 3;
    const erased = geometry.unitSlotOf(3, 2, 0);
    const places = [layout.slotDataAt(zeros), layout.slotDataAt(erased)];
    places.push(layout.pageRecordAt(layout.pageOf(erased)), SESSION_AT + 2048);
    expect(places.map((at) => verifyWith(at + 20, 0x80))).toEqual([[], [], [], []]);
  });
});

describe('a damaged image', () => {
  it('loads what is whole, says what is not, and repairs nothing', () => {
    const damaged = Buffer.from(file);
    const lostPage = geometry.slotOf(1, 2, 1, 0);
    const lostBlock = geometry.blockIndex(0, 3);
    damaged[layout.pageRecordAt(layout.pageOf(lostPage)) + 9]! ^= 1;
    damaged[layout.blockRecordAt(lostBlock) + 4]! ^= 0x10;
    const copy = newPath();
    writeFileSync(copy, damaged);
    const { report, store, image, follower } = new FollowedStore(openImage(copy));
    expect(report.damagedBlocks).toEqual([lostBlock]);
    const ofBlock = [0, 1].map((page) => geometry.pageSlotOf(lostBlock, page));
    expect([...report.damagedPages].sort((a, b) => a - b)).toEqual(
      [...ofBlock, lostPage].sort((a, b) => a - b),
    );
    // Used, so that nothing is programmed over them.
    expect(store.history.nextPageOf(lostBlock)).toBe(2);
    const lost = [lostPage, ...ofBlock].map((slot) => store.contentOf(slot));
    expect(lost).toEqual([0, 0, 0]);
    store.openPage(lostBlock, 2, 70);
    expect(() => follower.programmed(geometry.slotOf(0, 3, 2, 0), 2)).toThrow(/erase it/);
    const before = verifyImage(image).damage;
    image.close();
    const again = openImage(copy);
    expect(verifyImage(again).damage).toEqual(before);
    expect(before.map(({ what }) => what)).toEqual(['block record', 'page record']);
    again.eraseBlock(lostBlock, Int32Array.from([0, 9, 0, 0, 0, 0, 0, 0]));
    expect(verifyImage(again).damage.map(({ what }) => what)).toEqual(['page record']);
  });
});
