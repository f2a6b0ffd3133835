/**
 * Goal: a read sees what was programmed less what wear, age, reads and faults took, the same each
 * time, and both kinds of decoding agree.
 * Method: the store is filled by hand; counts are asked of the error model with a history that is
 * made up here.
 */
import { describe, expect, it } from 'vitest';
import { BAD_BLOCK_MARK } from '../../hal/flash-ops.ts';
import { BlockFlag } from '../../nand/block-history.ts';
import { PageHistory } from '../../nand/physics/page-history.ts';
import { NandRig, type NandRigOptions } from '../kit/nand-rig.ts';

const PAGES = 16;
const BITS = 8640;
const CORRECTABLE = 28;
const DAY_MINUTES = 1440;

/** A rig in which every page of these blocks is programmed, each slot with a tag of its own. */
function filledRig(options: NandRigOptions, blocks: number, eraseCount = 0): NandRig {
  const rig = new NandRig(options);
  const { store, geometry } = rig;
  for (let block = 0; block < blocks; block++) {
    store.history.load(block, 0, eraseCount);
    for (let page = 0; page < PAGES; page++) {
      store.openPage(block, page, 0);
      const first = geometry.pageSlotOf(block, page);
      for (const slot of [first, first + 1]) store.program(slot, slot + 1, slot + 2, slot + 3);
    }
  }
  return rig;
}

function slotsOf(rig: NandRig, blocks: number): number[] {
  return Array.from({ length: blocks * PAGES * 2 }, (_, i) => {
    const [block, page] = [Math.floor(i / (2 * PAGES)), Math.floor(i / 2) % PAGES];
    return rig.geometry.pageSlotOf(block, page) + (i & 1);
  });
}

interface Seen {
  corrected: number;
  cells: [number, number, number];
  badSectors: number;
}

function read(rig: NandRig, slot: number, addedBits = 0): Seen {
  const { media } = rig;
  const corrected = media.read(slot, addedBits);
  const cells: Seen['cells'] = [media.content, media.pageWord, media.order];
  return { corrected, cells, badSectors: media.badSectors };
}

/** Wrong bits of a slot's codewords by the error model, for a page with this past. */
function modelled(rig: NandRig, slot: number, past: Partial<PageHistory>): number[] {
  const { geometry, media } = rig;
  const history = new PageHistory().place(geometry.blockIndexOf(slot), geometry.pageOf(slot), 0);
  Object.assign(history, past);
  const counts = new Int32Array(4);
  media.errors!.slotErrors(history, (slot & 1) * 4, counts);
  return [...counts];
}

/** What the controller must make of the counts of a programmed slot. */
function judged(slot: number, counts: readonly number[]): Seen {
  const lost = counts.map((count) => count > CORRECTABLE);
  const badSectors = lost.reduce((mask, isLost, i) => mask | (isLost ? 3 << (2 * i) : 0), 0);
  return {
    corrected: badSectors === 0 ? Math.max(...counts) : -1,
    // The spare record begins in the first codeword; the data is named all the same.
    cells: lost[0] ? [slot + 1, 0, 0] : [slot + 1, slot + 2, slot + 3],
    badSectors,
  };
}

describe('fresh pages', () => {
  it('read as they were programmed, with as many errors as a young die has', () => {
    const blocks = 256;
    const rig = filledRig({ errors: true }, blocks);
    const slots = slotsOf(rig, blocks);
    const seen = slots.map((slot) => read(rig, slot));
    const wrong = seen.filter(({ cells, badSectors }, i) => {
      const slot = slots[i]!;
      return badSectors !== 0 || `${cells}` !== `${[slot + 1, slot + 2, slot + 3]}`;
    });
    expect(wrong).toEqual([]);
    // A slot reads clean with chance (1 + lambda / 6)^-24: four codewords, negative binomial.
    const chances = slots.map((slot) => {
      const rber = rig.media.rberOf(rig.geometry.blockIndexOf(slot), rig.geometry.pageOf(slot));
      return 1 - (1 + (rber * BITS) / 6) ** -24;
    });
    const expected = chances.reduce((sum, chance) => sum + chance, 0);
    const deviation = Math.sqrt(chances.reduce((sum, chance) => sum + chance * (1 - chance), 0));
    const dirty = seen.filter(({ corrected }) => corrected > 0).length;
    expect(expected).toBeGreaterThan(50);
    expect(Math.abs(dirty - expected)).toBeLessThan(5 * deviation);
  });

  it('without error physics read clean for ever', () => {
    const rig = filledRig({}, 4, 5000);
    rig.clock.age(3650, 40);
    const slots = slotsOf(rig, 4);
    const seen = slots.map((slot) => read(rig, slot));
    expect(seen).toEqual(slots.map((slot) => judged(slot, [0, 0, 0, 0])));
    expect(rig.media.rberOf(0, 0)).toBe(0);
  });
});

describe.each<[string, number, number, number]>([
  ['a year at half of the rated cycles', 1500, 365, 0],
  ['the rated cycles, a year and many reads', 3000, 365, 20_000],
  ['five lives and ten years', 15_000, 3650, 0],
])('after %s', (_, eraseCount, days, reads) => {
  const blocks = 8;
  const rig = filledRig({ errors: true }, blocks, eraseCount);
  rig.clock.age(days, 30);
  for (let block = 0; block < blocks; block++) {
    for (let i = 0; i < reads; i++) rig.store.history.read(block);
  }
  const past = { eraseCount, ageMinutes: days * DAY_MINUTES, readCount: reads };
  const slots = slotsOf(rig, blocks);

  it('reads show the counts of the model, sector by sector, each time the same', () => {
    const right = slots.map((slot) => judged(slot, modelled(rig, slot, past)));
    expect(slots.map((slot) => read(rig, slot))).toEqual(right);
    expect(slots.map((slot) => read(rig, slot))).toEqual(right);
  });

  it('the rate is that of the model for every page', () => {
    const wrong = slots.filter((slot) => {
      const [block, page] = [rig.geometry.blockIndexOf(slot), rig.geometry.pageOf(slot)];
      const history = Object.assign(new PageHistory().place(block, page, eraseCount), past);
      return rig.media.rberOf(block, page) !== rig.media.errors!.rberOf(history);
    });
    expect(wrong).toEqual([]);
  });
});

describe('very old pages', () => {
  const rig = filledRig({ errors: true }, 16, 9000);
  rig.clock.age(1000, 30);
  const seen = slotsOf(rig, 16).map((slot) => read(rig, slot));

  it('come in all kinds: correctable, lost with their record, and lost beside it', () => {
    const lost = seen.filter(({ corrected }) => corrected < 0);
    const hidden = lost.filter(({ cells }) => cells[1] === 0);
    const kinds = [seen.length - lost.length, hidden.length, lost.length - hidden.length];
    expect(Math.min(...kinds)).toBeGreaterThan(5);
    // The record is gone if and only if the first two sectors are.
    expect(
      lost.filter(({ badSectors, cells }) => ((badSectors & 3) === 3) !== (cells[1] === 0)),
    ).toEqual([]);
  });

  it('lose whole codewords: two sectors at a time', () => {
    const odd = seen.filter(({ badSectors }) => ((badSectors >> 1) & 0x55) !== (badSectors & 0x55));
    expect(odd).toEqual([]);
  });
});

describe('both kinds of decoding', () => {
  it.each<[string, number, number]>([
    ['young pages', 100, 0],
    ['pages at the edge of the code', 9000, 0],
    ['pages with a fault over them', 3000, 20],
  ])('come to the same verdicts: %s', (_, eraseCount, addedBits) => {
    const blocks = 6;
    const [counted, exact] = [false, true].map((isExact) => {
      const rig = filledRig({ errors: true, exact: isExact }, blocks, eraseCount);
      rig.clock.age(700, 30);
      return slotsOf(rig, blocks).map((slot) => read(rig, slot, addedBits));
    });
    expect(exact).toEqual(counted);
  });

  it('keep what sectors were spoiled before, in the record and out of the verdict', () => {
    const rig = filledRig({ errors: true, exact: true }, 0);
    const spoiled = rig.contents.spoil(77, 0b0001_0010);
    rig.store.openPage(0, 0, 0);
    rig.store.program(0, spoiled, 1, 2);
    expect(read(rig, 0)).toEqual({ corrected: 0, cells: [spoiled, 1, 2], badSectors: 0 });
    expect(rig.contents.spoiledOf(rig.media.content)).toBe(0b0001_0010);
  });
});

describe.each([false, true])('bits that faults add, decoded exactly: %s', (exact) => {
  const rig = filledRig({ exact }, 1);

  it.each([
    [1, 1],
    [28, 28],
    [29, -1],
    [540, -1],
    [65_535, -1],
  ])('%i in each codeword come to %i', (bits, corrected) => {
    const slot = rig.geometry.pageSlotOf(0, 3);
    const right = judged(slot, Array(4).fill(bits));
    expect(right.corrected).toBe(corrected);
    expect(read(rig, slot, bits)).toEqual(right);
    // They lie on top: the page itself is as it was.
    expect(read(rig, slot)).toEqual(judged(slot, [0, 0, 0, 0]));
  });

  it('leave an erased page erased up to 14 zeros a codeword, half of what the code corrects', () => {
    const slot = rig.geometry.pageSlotOf(9, 0);
    const erased = [0, 1, 14].map((bits) => read(rig, slot, bits));
    expect(erased).toEqual(
      [0, 1, 14].map((corrected) => ({ corrected, cells: [0, 0, 0], badSectors: 0 })),
    );
    expect(read(rig, slot, 15)).toEqual({ corrected: -1, cells: [0, 0, 0], badSectors: 0xff });
  });
});

describe('what no code helps against', () => {
  it.each([true, false])('a damaged page is lost, with error physics: %s', (errors) => {
    const rig = filledRig({ errors }, 2);
    rig.store.damagePage(0, 5, 0.25);
    const slots = slotsOf(rig, 2);
    const lost = slots.filter((slot) => read(rig, slot).corrected < 0);
    expect(lost).toEqual([0, 1].map((i) => rig.geometry.pageSlotOf(0, 5) + i));
    rig.store.erase(0);
    expect(read(rig, lost[0]!).corrected).toBe(0);
  });

  it('little damage is corrected', () => {
    const rig = filledRig({}, 1);
    rig.store.damagePage(0, 5, 20 / BITS);
    expect(read(rig, rig.geometry.pageSlotOf(0, 5)).corrected).toBe(20);
  });

  it('the mark of the factory stands in page 0 and is read as such', () => {
    const rig = new NandRig({ errors: true });
    rig.store.flag(3, BlockFlag.FactoryMark);
    const marked = { corrected: -1, cells: [0, BAD_BLOCK_MARK, 0], badSectors: 0xff };
    const [first, second] = [0, 1].map((page) => rig.geometry.pageSlotOf(3, page));
    expect([read(rig, first!), read(rig, first! + 1)]).toEqual([marked, marked]);
    expect(read(rig, second!)).toEqual({ corrected: 0, cells: [0, 0, 0], badSectors: 0 });
    rig.store.erase(3);
    expect(read(rig, first!).cells).toEqual([0, 0, 0]);
  });

  it('a read that fails holds a reference to what the page should be', () => {
    const rig = new NandRig();
    const mixture = rig.contents.merge(1, 2, 0x0f);
    rig.store.openPage(0, 0, 0);
    rig.store.program(0, mixture, 5, 6);
    expect(read(rig, 0, 29).cells[0]).toBe(mixture);
    rig.store.erase(0);
    expect(rig.contents.mixtureCount).toBe(1);
    rig.contents.release(mixture);
    expect(rig.contents.mixtureCount).toBe(0);
  });
});

it('reading with shifted references wins back what age has taken, never what wear has', () => {
  const rig = filledRig({ errors: true }, 16, 5000);
  rig.clock.age(1000, 30);
  const slots = slotsOf(rig, 16);
  const lostAt = (scale: number) => {
    return slots.filter((slot) => rig.media.read(slot, 0, scale) < 0).length;
  };
  const lost = [1, 0.5, 0.25].map(lostAt);
  expect(lost[0]).toBeGreaterThan(lost[1]!);
  expect(lost[1]).toBeGreaterThan(lost[2]!);
  const worn = filledRig({ errors: true }, 1, 20_000);
  const slot = worn.geometry.pageSlotOf(0, 0);
  expect(worn.media.read(slot, 0, 0.125)).toBe(worn.media.read(slot, 0));
});

it('erased pages have the zero bits that disturb has put there, and never fewer', () => {
  const rig = new NandRig({ errors: true });
  const { store, geometry, media } = rig;
  const block = 3;
  store.history.load(block, 0, 3000);
  const slots = Array.from({ length: PAGES * 2 }, (_, i) => {
    return geometry.pageSlotOf(block, i >> 1) + (i & 1);
  });
  let before = slots.map(() => 0);
  for (const reads of [0, 100_000, 400_000]) {
    while (store.history.readsOf(block) < reads) store.history.read(block);
    const seen = slots.map((slot) => read(rig, slot));
    const expected = slots.map((slot) => {
      const past = { eraseCount: 3000, readCount: reads, ageMinutes: 0 };
      const history = new PageHistory().place(block, geometry.pageOf(slot), 0);
      return media.errors!.erasedSlotErrors(
        Object.assign(history, past),
        (slot & 1) * 4,
        new Int32Array(4),
      );
    });
    const corrected = seen.map((each) => each.corrected);
    expect(corrected).toEqual(expected);
    expect(corrected.every((bits, i) => bits >= before[i]!)).toBe(true);
    expect(seen.every(({ cells, badSectors }) => `${cells}/${badSectors}` === '0,0,0/0')).toBe(
      true,
    );
    before = corrected;
  }
  expect(Math.max(...before)).toBeGreaterThan(0);
});
