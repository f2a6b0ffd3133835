import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KEY_PERIOD, Scrambler, SEED_COUNT } from '../../../nand/ecc/scrambler.ts';

const scrambler = new Scrambler();
const PAGE_BYTES = 8192;

function key(page: number, block: number, count = PAGE_BYTES): Uint8Array {
  const bytes = new Uint8Array(count);
  scrambler.scramble(bytes, 0, count, page, block);
  return bytes;
}

function onesOf(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0);
}

/** The register bit by bit: x^15 + x + 1 says that bit n + 15 is the sum of bits n and n + 1. */
function registerBits(seed: number, count: number): number[] {
  const bits = Array.from({ length: 15 }, (_, i) => (seed >> i) & 1);
  while (bits.length < count) bits.push(bits[bits.length - 15]! ^ bits[bits.length - 14]!);
  return bits;
}

test('the key is the output of the register, from the seed of the page on', () => {
  for (const [page, block] of [
    [0, 0],
    [1, 0],
    [127, 4095],
    [255, 77],
  ] as const) {
    const bits = registerBits(scrambler.seedOf(page, block), 8 * PAGE_BYTES);
    const bytes = Uint8Array.from({ length: PAGE_BYTES }, (_, byte) =>
      bits.slice(8 * byte, 8 * byte + 8).reduce((sum, bit, i) => sum | (bit << i), 0),
    );
    expect(Buffer.compare(key(page, block), bytes)).toBe(0);
  }
});

test('half of the key is ones: exactly 16384 in a period of 32767 bits', () => {
  expect(onesOf(key(3, 5, KEY_PERIOD))).toBe(8 * 16384);
  // A page is two periods and a ninth, whose ones are random: 4.5 sigma of 3586 bits are 135.
  for (let page = 0; page < SEED_COUNT; page++) {
    const ones = onesOf(key(page, 9));
    expect(Math.abs(ones - 4 * PAGE_BYTES)).toBeLessThan(200);
  }
});

test('neighbouring pages and blocks differ in about half of their bits', () => {
  const one = key(10, 10);
  for (const other of [key(11, 10), key(9, 10), key(10, 11), key(10, 12)]) {
    const different = onesOf(one.map((byte, i) => byte ^ other[i]!)) / (8 * PAGE_BYTES);
    expect(Math.abs(different - 0.5)).toBeLessThan(0.01);
  }
});

test('every page of a block up to 128 has a seed of its own, none is zero', () => {
  for (let block = 0; block < 4096; block += 63) {
    const seeds = new Set(Array.from({ length: SEED_COUNT }, (_, i) => scrambler.seedOf(i, block)));
    expect(seeds.size).toBe(SEED_COUNT);
    expect(seeds.has(0)).toBe(false);
  }
  expect(scrambler.seedOf(SEED_COUNT, 7)).toBe(scrambler.seedOf(0, 7));
});

test('scrambling twice changes nothing, and pieces are scrambled as the whole is', () => {
  const places = fc.record({
    at: fc.nat(9),
    count: fc.nat(12_000),
    cut: fc.nat(12_000),
    page: fc.nat(255),
    block: fc.nat(4095),
  });
  fc.assert(
    fc.property(places, fc.uint8Array({ minLength: 20, maxLength: 20 }), (place, sample) => {
      const { at, count, page, block } = place;
      const cut = Math.min(place.cut, count);
      const before = Uint8Array.from({ length: 12_020 }, (_, i) => sample[i % 20]! ^ (i >> 3));
      const whole = before.slice();
      scrambler.scramble(whole, at, count, page, block);
      const pieces = before.slice();
      scrambler.scramble(pieces, at, cut, page, block);
      scrambler.scramble(pieces, at + cut, count - cut, page, block, cut);
      if (Buffer.compare(whole, pieces) !== 0) return false;
      if (count > 64 && Buffer.compare(whole, before) === 0) return false;
      scrambler.scramble(whole, at, count, page, block);
      return Buffer.compare(whole, before) === 0;
    }),
    { numRuns: 60 },
  );
});

test('refuses a stretch outside its bytes', () => {
  const message = 'a scrambled stretch lies inside its bytes';
  expect(() => scrambler.scramble(new Uint8Array(8), 4, 5, 0, 0)).toThrow(message);
  expect(() => scrambler.scramble(new Uint8Array(8), -1, 5, 0, 0)).toThrow(message);
});
