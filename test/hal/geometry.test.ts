import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VECTOR_128, VECTOR_256, VECTOR_512 } from '../../firmware/profiles/vector.ts';
import { Geometry, type GeometryCounts } from '../../hal/geometry.ts';
import { InvariantBroken } from '../../hal/sim/invariant.ts';

const COUNTS = VECTOR_256.geometry;

/** A power of two from 2^least to 2^most. */
function powerOfTwo(least: number, most: number): fc.Arbitrary<number> {
  return fc.integer({ min: least, max: most }).map((bits) => 2 ** bits);
}

const anyCounts: fc.Arbitrary<GeometryCounts> = fc.record({
  channels: powerOfTwo(0, 3),
  diesPerChannel: powerOfTwo(0, 3),
  planes: powerOfTwo(0, 1),
  blocksPerDie: powerOfTwo(1, 12),
  pagesPerBlock: powerOfTwo(0, 8),
  pageBytes: powerOfTwo(12, 14),
  spareBytes: fc.nat({ max: 1024 }),
});

describe('the 256 GB drive', () => {
  const geometry = new Geometry(COUNTS);

  it('has the counts that its dies give', () => {
    expect(geometry.dies).toBe(32);
    expect(geometry.blocks).toBe(32 * 4096);
    // 32 dies of 8 GiB in places of 4 KiB.
    expect(geometry.slots).toBe(2 ** 26);
    expect(geometry.superblocks).toBe(2048);
    expect(geometry.slotsPerSuperblock).toBe(32_768);
    expect(geometry.slotsPerSuperblock * 4096).toBe(128 * 2 ** 20);
    expect(geometry.slotsPerUnit).toBe(4);
    expect(geometry.unitsPerSuperblock).toBe(32 * 256);
  });

  it('holds the user capacity and between 7 and 8 % more', () => {
    const userSlots = VECTOR_256.identity.sectors / 8;
    expect(userSlots).toBe(62_514_774);
    expect(geometry.slots / userSlots).toBeGreaterThan(1.07);
    expect(geometry.slots / userSlots).toBeLessThan(1.08);
  });

  it('halves and doubles for its sisters', () => {
    expect(new Geometry(VECTOR_128.geometry).slots).toBe(2 ** 25);
    expect(new Geometry(VECTOR_512.geometry).slots).toBe(2 ** 27);
    expect(new Geometry(VECTOR_512.geometry).superblocks).toBe(2048);
  });
});

describe('slot numbers', () => {
  it('are one to one with (die, block, page, slot in page)', () => {
    const place = fc.tuple(fc.nat(), fc.nat(), fc.nat(), fc.nat());
    fc.assert(
      fc.property(anyCounts, place, (counts, [a, b, c, d]) => {
        const geometry = new Geometry(counts);
        const die = a % geometry.dies;
        const block = b % geometry.blocksPerDie;
        const page = c % geometry.pagesPerBlock;
        const inPage = d % geometry.slotsPerPage;
        const slot = geometry.slotOf(die, block, page, inPage);
        expect(slot).toBeGreaterThanOrEqual(0);
        expect(slot).toBeLessThan(geometry.slots);
        expect([
          geometry.dieOf(slot),
          geometry.blockOf(slot),
          geometry.pageOf(slot),
          slot % geometry.slotsPerPage,
        ]).toEqual([die, block, page, inPage]);
      }),
    );
  });

  it('cover a small array exactly once, in the order in which superblocks are written', () => {
    const geometry = new Geometry({
      ...COUNTS,
      channels: 2,
      diesPerChannel: 2,
      blocksPerDie: 8,
      pagesPerBlock: 16,
    });
    const slots: number[] = [];
    const units: number[] = [];
    for (let superblock = 0; superblock < 4; superblock++) {
      for (let page = 0; page < 16; page++) {
        for (let die = 0; die < 4; die++) {
          units.push(geometry.unitSlotOf(die, superblock, page));
          for (let j = 0; j < 4; j++) {
            slots.push(geometry.slotOf(die, superblock * 2 + (j >> 1), page, j & 1));
          }
        }
      }
    }
    expect(slots).toEqual(Array.from({ length: geometry.slots }, (_, slot) => slot));
    expect(units).toEqual(units.map((_, unit) => unit * 4));
    expect(slots.filter((slot) => geometry.indexInUnit(slot) !== slot % 4)).toEqual([]);
  });

  it('name blocks die by die', () => {
    const geometry = new Geometry(COUNTS);
    expect(geometry.blockIndexOf(geometry.slotOf(3, 77, 200, 1))).toBe(38 * 64 + 3 * 2 + 1);
    expect(geometry.blockIndex(3, 77)).toBe(38 * 64 + 3 * 2 + 1);
    expect(geometry.pageSlotOf(geometry.blockIndex(3, 77), 200)).toBe(
      geometry.slotOf(3, 77, 200, 0),
    );
  });

  it('stay positive integers up to the last slot of the largest drive', () => {
    const geometry = new Geometry(VECTOR_512.geometry);
    const last = geometry.slotOf(63, 4095, 255, 1);
    expect(last).toBe(2 ** 27 - 1);
    expect(geometry.dieOf(last)).toBe(63);
    expect(geometry.blockIndexOf(last)).toBe(geometry.blocks - 1);
  });

  it('put the planes of a superblock into neighbouring blocks', () => {
    const geometry = new Geometry(COUNTS);
    for (const superblock of [0, 1, 1023, 2047]) {
      const blocks = [0, 1].map((plane) => superblock * 2 + plane);
      const found = blocks.map((block) => geometry.superblockOf(geometry.slotOf(5, block, 9, 1)));
      expect(found).toEqual([superblock, superblock]);
    }
  });

  it('spread neighbouring dies over the channels', () => {
    const geometry = new Geometry(COUNTS);
    const channels = Array.from({ length: 10 }, (_, die) => geometry.channelOf(die));
    expect(channels).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 0, 1]);
  });

  it('are told to people by channel, die and block', () => {
    const geometry = new Geometry(COUNTS);
    const text = geometry.describe(geometry.slotOf(11, 77, 12, 1));
    expect(text).toBe('ch3.die1 block 77 page 12 slot 1');
  });
});

describe('a geometry refuses', () => {
  it.each([
    ['pagesPerBlock', { pagesPerBlock: 255 }, 'pagesPerBlock must be a power of two, not 255'],
    ['blocksPerDie', { blocksPerDie: 4000 }, 'blocksPerDie must be a power of two, not 4000'],
    ['planes', { planes: 3 }, 'planes must be a power of two, not 3'],
    ['channels', { channels: 6 }, 'channels * diesPerChannel must be a power of two, not 24'],
    ['no dies', { diesPerChannel: 0 }, 'channels * diesPerChannel must be a power of two, not 0'],
    [
      'pageBytes',
      { pageBytes: 12_288 },
      'slots per page (pageBytes / 4096) must be a power of two, not 3',
    ],
    [
      'small pages',
      { pageBytes: 2048 },
      'slots per page (pageBytes / 4096) must be a power of two, not 0.5',
    ],
  ])('%s', (_, wrong, message) => {
    expect(() => new Geometry({ ...COUNTS, ...wrong })).toThrow(new RangeError(message));
  });

  it('more slots in a multi-plane page than a descriptor carries', () => {
    expect(() => new Geometry({ ...COUNTS, planes: 4, pageBytes: 16_384 })).toThrow(
      InvariantBroken,
    );
  });
});
