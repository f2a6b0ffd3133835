import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvariantBroken } from '../../../hal/sim/invariant.ts';
import { crc32c } from '../../../nand/ecc/crc32c.ts';

/** The same CRC by the package `crc-32`, whose types leave this file out. */
const oracle = createRequire(import.meta.url)('crc-32/crc32c.js') as {
  buf(bytes: Uint8Array, seed: number): number;
};

describe('CRC-32C', () => {
  test('of the digits 1 to 9', () => {
    expect(crc32c(new TextEncoder().encode('123456789'))).toBe(0xe3069283);
  });

  test.each([
    ['zeros', new Uint8Array(32), 0x8a9136aa],
    ['ones', new Uint8Array(32).fill(0xff), 0x62a8ab43],
    ['rising bytes', Uint8Array.from({ length: 32 }, (_, i) => i), 0x46dd794e],
    ['falling bytes', Uint8Array.from({ length: 32 }, (_, i) => 31 - i), 0x113fdb5c],
  ])('of 32 %s (RFC 3720, appendix B.4)', (_, bytes, expected) => {
    expect(crc32c(bytes)).toBe(expected);
  });

  test('is that of another implementation, for any stretch and seed', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.nat(),
        fc.nat(),
        fc.integer(),
        (bytes, a, b, seed) => {
          const [from, to] = [a % (bytes.length + 1), b % (bytes.length + 1)].sort((x, y) => x - y);
          const expected = oracle.buf(bytes.subarray(from, to), seed) >>> 0;
          return crc32c(bytes, from, to, seed) === expected;
        },
      ),
    );
  });

  test('of a whole is that of its end, seeded with that of its beginning', () => {
    const bytes = Uint8Array.from({ length: 100 }, (_, i) => i * i);
    expect(crc32c(bytes, 37, 100, crc32c(bytes, 0, 37))).toBe(crc32c(bytes));
  });

  test('refuses bytes that do not exist', () => {
    expect(() => crc32c(new Uint8Array(4), 0, 5)).toThrow(InvariantBroken);
    expect(() => crc32c(new Uint8Array(4), 3, 2)).toThrow(InvariantBroken);
  });
});
