import { describe, expect, test } from 'vitest';
import { DECODER, DecodeTiming } from '../../../nand/ecc/decode-timing.ts';

describe('decode timing', () => {
  const timing = new DecodeTiming();

  test('a clean transfer is late by the fixed latency, however long it is', () => {
    // 8 cycles of 5 ns.
    expect(timing.decodeNs(0, 1)).toBe(40);
    expect(timing.decodeNs(0, 8)).toBe(40);
  });

  test('errors cost both stages of the last codeword once', () => {
    // 8 + 28 * 2 + 8640 / 16 + 4 = 608 cycles of 5 ns.
    expect(timing.decodeNs(1, 1)).toBe(3040);
    expect(timing.decodeNs(28, 8)).toBe(3040);
  });

  test('a codeword that fails takes as long, and is found by index t + 1, beyond or -1', () => {
    for (const count of [29, 40, -1]) expect(timing.decodeNs(count, 8)).toBe(3040);
  });

  test('a search slower than the bus holds it up for every further codeword', () => {
    const slow = new DecodeTiming({ ...DECODER, positionsPerCycle: 4 });
    // 2160 cycles of search are 10.8 us, twice what the bus takes.
    expect(slow.decodeNs(3, 8) - slow.decodeNs(3, 1)).toBe(7 * (10_800 - 5400));
    expect(slow.decodeNs(0, 8)).toBe(40);
  });

  test('more errors never take less time', () => {
    for (let count = 0; count < 29; count++) {
      expect(timing.decodeNs(count + 1, 8)).toBeGreaterThanOrEqual(timing.decodeNs(count, 8));
    }
  });
});
