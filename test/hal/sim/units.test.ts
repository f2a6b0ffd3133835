/**
 * Goal: conversions at the edges of devices round up and never lose a nanosecond; small helpers are
 * what they say. Method: exact integer arithmetic beside them.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bitCount } from '../../../hal/sim/bits.ts';
import { InvariantBroken, invariant } from '../../../hal/sim/invariant.ts';
import * as units from '../../../hal/sim/units.ts';

function divideUp(dividend: number, divisor: number): number {
  return Number((BigInt(dividend) + BigInt(divisor) - 1n) / BigInt(divisor));
}

describe('units', () => {
  it('turns cycles into nanoseconds, rounded up', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000_000), fc.integer({ min: 1, max: 4000 }), (cycles, megahertz) => {
        expect(units.cyclesToNs(cycles, megahertz)).toBe(divideUp(cycles * 1000, megahertz));
      }),
    );
    expect([units.cyclesToNs(0, 400), units.cyclesToNs(1, 400), units.cyclesToNs(4, 400)]).toEqual([
      0, 3, 10,
    ]);
  });

  it('turns bytes into nanoseconds, rounded up', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 30), fc.integer({ min: 1, max: 64 }), (bytes, bytesPerNs) => {
        expect(units.bytesToNs(bytes, bytesPerNs)).toBe(divideUp(bytes, bytesPerNs));
      }),
    );
    // 333 MB/s: ONFI 2.2 with a transfer every 3 ns.
    expect(units.bytesToNs(4096, 1 / 3)).toBe(12_288);
    expect(units.bytesToNs(4096, 0.4)).toBe(10_240);
  });

  it('finds the exponent of a power of two and refuses everything else', () => {
    for (let bits = 0; bits < 32; bits++) expect(units.log2Exact(2 ** bits, 'cells')).toBe(bits);
    for (const wrong of [0, -1, -2, 3, 6, 0.5, 1.5, 2 ** 32, 2 ** 31 + 1, Number.NaN]) {
      expect(() => units.log2Exact(wrong, 'cells')).toThrow(
        new RangeError(`cells must be a power of two, not ${wrong}`),
      );
    }
  });

  it('agrees with itself about sizes', () => {
    expect(units.SECTOR_BYTES * units.SECTORS_PER_SLOT).toBe(units.SLOT_BYTES);
    expect(bitCount(units.WHOLE_SLOT)).toBe(units.SECTORS_PER_SLOT);
    expect([units.NS_PER_US, units.NS_PER_MS, units.NS_PER_S]).toEqual([1e3, 1e6, 1e9]);
  });
});

describe('bit count', () => {
  it('counts the ones of any 32-bit mask', () => {
    fc.assert(
      fc.property(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), (mask) => {
        const ones = (mask >>> 0).toString(2).replaceAll('0', '').length;
        expect(bitCount(mask)).toBe(ones);
      }),
    );
  });
});

describe('invariant', () => {
  it('lets pass what holds and throws the rule otherwise', () => {
    expect(() => invariant(true, 'the sun rises')).not.toThrow();
    expect(() => invariant(false, 'the sun rises')).toThrow(new InvariantBroken('the sun rises'));
    try {
      invariant(false, 'the sun rises');
    } catch (error) {
      expect(error).toBeInstanceOf(InvariantBroken);
      expect((error as Error).name).toBe('InvariantBroken');
    }
  });
});
