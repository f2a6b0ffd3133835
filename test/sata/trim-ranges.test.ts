import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeTrimRanges, encodeTrimRanges } from '../../sata/trim-ranges.ts';

const CAPACITY = 1_048_576;

/** Payload in which the entries are written with BigInt: LBA 47:0, then the length in 63:48. */
function payloadOf(...entries: readonly (readonly [lba: number, sectors: number])[]): Uint8Array {
  const payload = Buffer.alloc(512 * Math.max(1, Math.ceil(entries.length / 64)));
  entries.forEach(([lba, sectors], i) => {
    payload.writeBigUInt64LE((BigInt(sectors) << 48n) | BigInt(lba), i * 8);
  });
  return new Uint8Array(payload);
}

describe('DATA SET MANAGEMENT payload', () => {
  it('decodes entries in order and skips unused ones wherever they stand', () => {
    const payload = payloadOf([8, 0], [100, 65535], [0, 0], [7, 1], [2 ** 47, 0]);
    expect(decodeTrimRanges(payload, CAPACITY)).toEqual({
      ranges: [
        { lba: 100, sectors: 65535 },
        { lba: 7, sectors: 1 },
      ],
      firstBadLba: -1,
    });
  });

  it('accepts a range that ends at the capacity', () => {
    const { ranges, firstBadLba } = decodeTrimRanges(payloadOf([CAPACITY - 8, 8]), CAPACITY);
    expect([ranges.length, firstBadLba]).toEqual([1, -1]);
  });

  it('trims nothing when one range passes the capacity, and names the first bad sector', () => {
    const straddling = payloadOf([0, 8], [CAPACITY - 8, 9]);
    expect(decodeTrimRanges(straddling, CAPACITY)).toEqual({ ranges: [], firstBadLba: CAPACITY });
    const beyond = payloadOf([0, 8], [2 ** 48 - 1, 65535]);
    expect(decodeTrimRanges(beyond, CAPACITY).firstBadLba).toBe(2 ** 48 - 1);
  });

  it('reads all 64 entries of every block', () => {
    const entries = Array.from({ length: 130 }, (_, i) => [i * 10, 3] as const);
    const { ranges } = decodeTrimRanges(payloadOf(...entries), CAPACITY);
    expect(ranges.map(({ lba }) => lba)).toEqual(entries.map(([lba]) => lba));
  });

  it('goes there and back for any list', () => {
    const range = fc.record({
      lba: fc.integer({ min: 0, max: 2 ** 40 }),
      sectors: fc.integer({ min: 1, max: 65535 }),
    });
    fc.assert(
      fc.property(fc.array(range, { maxLength: 200 }), (ranges) => {
        const payload = encodeTrimRanges(ranges);
        expect(payload.length).toBe(512 * Math.max(1, Math.ceil(ranges.length / 64)));
        expect(decodeTrimRanges(payload, 2 ** 48)).toEqual({ ranges, firstBadLba: -1 });
      }),
    );
  });

  it('refuses payloads that are no whole blocks, and empty ranges', () => {
    expect(() => decodeTrimRanges(new Uint8Array(500), CAPACITY)).toThrow('not 500');
    expect(() => encodeTrimRanges([{ lba: 0, sectors: 0 }])).toThrow('at least one sector');
    expect(() => encodeTrimRanges([{ lba: 0, sectors: 65536 }])).toThrow('sectors: 65536');
  });
});
