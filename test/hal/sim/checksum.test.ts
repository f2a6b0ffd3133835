/**
 * Goal: the checksum is MurmurHash3_x86_32 and finds damage. Method: the published test vectors,
 * the same bytes in other pieces and at other places of memory, and flipped bits.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Checksum, checksumOf } from '../../../hal/sim/checksum.ts';
import { InvariantBroken } from '../../../hal/sim/invariant.ts';

/** Vectors that implementations of MurmurHash3 agree on: bytes, seed, hash. */
const VECTORS: [bytes: number[], seed: number, hash: number][] = [
  [[], 0, 0],
  [[], 1, 0x514e28b7],
  [[], 0xffffffff, 0x81f16f39],
  [[0, 0, 0, 0], 0, 0x2362f9de],
  [[0xff, 0xff, 0xff, 0xff], 0, 0x76293b50],
  [[0x21, 0x43, 0x65, 0x87], 0, 0xf55b516b],
  [[0x21, 0x43, 0x65, 0x87], 0x5082edee, 0x2362f9de],
  [[...'test'].map((letter) => letter.charCodeAt(0)), 0, 0xba6bd213],
  [[...'aaaa'].map((letter) => letter.charCodeAt(0)), 0x9747b28c, 0x5a97808a],
];

const words = fc.uint8Array({ maxLength: 200 }).map((bytes) => bytes.slice(0, bytes.length & ~3));

describe('checksum', () => {
  it('is MurmurHash3', () => {
    for (const [bytes, seed, hash] of VECTORS) {
      const checksum = new Checksum(seed);
      checksum.add(Uint8Array.from(bytes));
      expect(checksum.value).toBe(hash);
    }
  });

  it('does not depend on pieces nor on where the bytes lie in memory', () => {
    fc.assert(
      fc.property(words, fc.nat(50), fc.nat(3), (bytes, cut, shift) => {
        const moved = new Uint8Array(bytes.length + shift).subarray(shift);
        moved.set(bytes);
        const checksum = new Checksum();
        checksum.add(moved.subarray(0, Math.min(bytes.length, cut * 4)));
        checksum.add(moved.subarray(Math.min(bytes.length, cut * 4)));
        expect(checksum.value).toBe(checksumOf(bytes));
      }),
    );
  });

  it('finds every change within one word', () => {
    fc.assert(
      fc.property(words, fc.nat(), fc.integer({ min: 1, max: 255 }), (bytes, place, flip) => {
        if (bytes.length === 0) return;
        const damaged = bytes.slice();
        damaged[place % bytes.length]! ^= flip;
        expect(checksumOf(damaged)).not.toBe(checksumOf(bytes));
      }),
    );
  });

  it('tells zeros of different lengths apart and takes whole words only', () => {
    const lengths = [0, 4, 8, 4096];
    expect(new Set(lengths.map((length) => checksumOf(new Uint8Array(length)))).size).toBe(4);
    expect(() => checksumOf(new Uint8Array(5))).toThrow(InvariantBroken);
  });
});
