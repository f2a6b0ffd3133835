/**
 * Goal: a drive that counts errors comes to the verdicts of one that decodes bytes.
 * Method: 100,000 codewords with error counts spread over 0 to 40 and errors at random places, each
 * judged by both engines; pages, programmed and erased, likewise.
 */
import { expect, test } from 'vitest';
import { RandomStream } from '../../../hal/sim/random.ts';
import { UNCORRECTABLE } from '../../../nand/ecc/code.ts';
import { CountedCodec, countedVerdict, erasedThreshold } from '../../../nand/ecc/counted.ts';
import { createBch, DRIVE_CODE } from '../../../nand/ecc/engine.ts';
import { PageCodec } from '../../../nand/ecc/page-codec.ts';
import { PageFlips } from './page-flips.ts';

test('counted and exact verdicts of 100,000 codewords are the same', () => {
  const engine = createBch(DRIVE_CODE);
  const { dataBytes } = engine;
  const random = new RandomStream('counted', 'test');
  const codewords = Array.from({ length: 64 }, () => {
    const codeword = Uint8Array.from({ length: 1080 }, () => random.below(256));
    engine.encode(codeword, 0, codeword, dataBytes);
    return codeword;
  });
  const seen = new Map<number, number>();
  let wrong = 0;
  const bits = new Set<number>();
  for (let i = 0; i < 100_000; i++) {
    const codeword = codewords[i & 63]!;
    const count = random.below(41);
    bits.clear();
    while (bits.size < count) bits.add(random.below(8640));
    for (const bit of bits) codeword[bit >> 3]! ^= 1 << (bit & 7);
    const verdict = engine.decode(codeword, 0, codeword, dataBytes);
    if (verdict !== countedVerdict(count, DRIVE_CODE.t)) wrong++;
    seen.set(verdict, (seen.get(verdict) ?? 0) + 1);
    if (verdict === UNCORRECTABLE) for (const bit of bits) codeword[bit >> 3]! ^= 1 << (bit & 7);
  }
  expect(wrong).toBe(0);
  // 0 to 28 corrected, and uncorrectable in 12 of 41 cases.
  expect(seen.size).toBe(30);
  expect(Math.abs(seen.get(UNCORRECTABLE)! / 100_000 - 12 / 41)).toBeLessThan(0.01);
});

const codec = new PageCodec({ pageBytes: 8192, spareBytes: 448 });
const counted = new CountedCodec(codec.codewordCount, DRIVE_CODE.t);
const PLACE = { block: 12, page: 34 };

function exactVerdict(raw: Uint8Array): object {
  const verdict = codec.decodePage(PLACE, raw, new Uint8Array(8192), codec.newRecords());
  return { ...verdict, corrected: [...verdict.corrected] };
}

test('counted and exact verdicts of programmed pages are the same', () => {
  const random = new RandomStream('pages', 'test');
  const raw = new Uint8Array(8640);
  codec.encodePage(PLACE, new Uint8Array(8192), codec.newRecords(), raw);
  for (let i = 0; i < 50; i++) {
    const counts = Array.from({ length: 8 }, () => random.below(i < 25 ? 29 : 34));
    const flips = new PageFlips(raw, random);
    counts.forEach((count, codeword) => {
      flips.flip(codeword, count);
    });
    const verdict = counted.decodePage(counts);
    expect({ ...verdict, corrected: [...verdict.corrected] }).toEqual(exactVerdict(flips.raw));
  }
});

test('counted and exact verdicts of erased pages are the same', () => {
  const threshold = erasedThreshold(DRIVE_CODE.t);
  const random = new RandomStream('erased', 'test');
  for (const most of [0, 1, threshold, threshold + 1, DRIVE_CODE.t, DRIVE_CODE.t + 2]) {
    const counts = [0, 1, 2, 3, 4, most, 5, 6];
    const flips = new PageFlips(new Uint8Array(8640).fill(0xff), random);
    counts.forEach((count, codeword) => {
      flips.flip(codeword, count);
    });
    const verdict = counted.decodeErasedPage(counts);
    expect(verdict.erased).toBe(most <= threshold);
    expect({ ...verdict, corrected: [...verdict.corrected] }).toEqual(exactVerdict(flips.raw));
  }
});

test('refuses counts for another number of codewords', () => {
  expect(() => counted.decodePage([1, 2])).toThrow('one count of bits for each of its codewords');
});
