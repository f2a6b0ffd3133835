/**
 * Goal: every error that the code can correct is corrected, every other is told, nothing is touched
 * that should not be, and both engines agree to the bit.
 * Method: errors at random places, parity included; properties of linear codes; random codes.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RandomStream } from '../../../hal/sim/random.ts';
import { Bch } from '../../../nand/ecc/bch.ts';
import { BchWasm } from '../../../nand/ecc/bch-wasm.ts';
import { type BchEngine, type BchParameters, UNCORRECTABLE } from '../../../nand/ecc/code.ts';
import { CodewordSet } from '../../../nand/ecc/codeword-set.ts';
import { createBch, DRIVE_CODE } from '../../../nand/ecc/engine.ts';
import { hex } from './vectors.ts';

const BUILDERS: readonly [string, (parameters: BchParameters) => BchEngine][] = [
  ['typescript', (parameters) => new Bch(parameters)],
  ['webassembly', (parameters) => new BchWasm(parameters)],
];

/** A codeword with random data and what it takes to damage and decode it. */
class Sample {
  readonly engine: BchEngine;
  readonly random: RandomStream;
  readonly good: Uint8Array;
  readonly bad: Uint8Array;

  constructor(engine: BchEngine, seed: string) {
    this.engine = engine;
    this.random = new RandomStream(seed, 'test');
    this.good = new Uint8Array(engine.dataBytes + engine.parityBytes);
    for (let i = 0; i < engine.dataBytes; i++) this.good[i] = this.random.below(256);
    engine.encode(this.good, 0, this.good, engine.dataBytes);
    this.bad = this.good.slice();
  }

  /** Turns over `count` different bits and returns their indexes in rising order. */
  damage(count: number, firstBit = 0): number[] {
    const { dataBytes, parityBits } = this.engine;
    const bits = new Set<number>();
    while (bits.size < count) {
      bits.add((firstBit + this.random.below(8 * dataBytes + parityBits - firstBit)) ^ 7);
    }
    this.bad.set(this.good);
    for (const bit of bits) this.bad[bit >> 3]! ^= 1 << (bit & 7);
    return [...bits].sort((a, b) => a - b);
  }

  decode(): number {
    return this.engine.decode(this.bad, 0, this.bad, this.engine.dataBytes);
  }

  errorBits(): number[] {
    return [...this.engine.errorBits.slice(0, this.engine.errorCount)];
  }

  isGood(): boolean {
    return Buffer.compare(this.bad, this.good) === 0;
  }
}

describe.each(BUILDERS)('the code of the drive, %s', (name, build) => {
  const sample = new Sample(build(DRIVE_CODE), name);
  const { t, dataBytes } = DRIVE_CODE;
  const counts = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, i) => from + i);

  test('corrects every number of errors from 0 to t, and says where they were', () => {
    const wrong = counts(0, t).flatMap((count) =>
      counts(1, 12).filter(() => {
        const bits = sample.damage(count);
        const fine = sample.decode() === count && sample.isGood();
        return !fine || sample.errorBits().join() !== bits.join();
      }),
    );
    expect(wrong).toEqual([]);
  });

  test('corrects errors that all lie in the parity', () => {
    for (const count of [1, 2, 3, t]) {
      const bits = sample.damage(count, 8 * dataBytes);
      expect(bits[0]! >> 3).toBeGreaterThanOrEqual(dataBytes);
      expect(sample.decode()).toBe(count);
      expect(sample.isGood()).toBe(true);
    }
  });

  test('gives up on t + 1 to t + 10 errors and leaves the codeword alone', () => {
    const verdicts = counts(t + 1, t + 10).flatMap((count) =>
      counts(1, 12).map(() => {
        sample.damage(count);
        const before = hex(sample.bad);
        const verdict = sample.decode();
        return verdict === UNCORRECTABLE && before === hex(sample.bad);
      }),
    );
    expect(verdicts.filter((fine) => !fine)).toEqual([]);
    expect(sample.engine.errorCount).toBe(0);
  });

  test('gives up on bursts, an inverted codeword and noise', () => {
    sample.bad.set(sample.good);
    sample.bad.fill(0xa5, 100, 200);
    expect(sample.decode()).toBe(UNCORRECTABLE);
    sample.bad.set(sample.good.map((byte) => ~byte));
    expect(sample.decode()).toBe(UNCORRECTABLE);
    for (let i = 0; i < sample.bad.length; i++) sample.bad[i] = sample.random.below(256);
    expect(sample.decode()).toBe(UNCORRECTABLE);
  });

  test('corrects the first and the last bit', () => {
    const last = 8 * sample.bad.length - 8;
    sample.bad.set(sample.good);
    sample.bad[0]! ^= 0x80;
    sample.bad[last >> 3]! ^= 1;
    expect(sample.decode()).toBe(2);
    expect(sample.errorBits()).toEqual([7, last]);
    expect(sample.isGood()).toBe(true);
  });

  test('decodes data and parity that lie apart, at any place', () => {
    const data = new Uint8Array(dataBytes + 5);
    const parity = new Uint8Array(sample.engine.parityBytes + 3);
    sample.damage(9);
    data.set(sample.bad.subarray(0, dataBytes), 5);
    parity.set(sample.bad.subarray(dataBytes), 3);
    expect(sample.engine.decode(data, 5, parity, 3)).toBe(9);
    const decoded = Buffer.concat([data.subarray(5), parity.subarray(3)]);
    expect(Buffer.compare(decoded, sample.good)).toBe(0);
  });

  test('decodes in its workspace without a copy', () => {
    const { engine } = sample;
    sample.damage(t);
    engine.workspace.set(sample.bad);
    expect(engine.decode(engine.workspace, 0, engine.workspace, dataBytes)).toBe(t);
    expect(Buffer.compare(engine.workspace, sample.good)).toBe(0);
    engine.workspace.fill(0, dataBytes);
    engine.encode(engine.workspace, 0, engine.workspace, dataBytes);
    expect(Buffer.compare(engine.workspace, sample.good)).toBe(0);
  });

  test('says what does not fit', () => {
    const { engine } = sample;
    const short = new Uint8Array(dataBytes - 1);
    const parity = new Uint8Array(engine.parityBytes);
    const message = 'BCH data: 1031 bytes at 0 do not fit in 1030 bytes';
    expect(() => engine.encode(short, 0, parity, 0)).toThrow(message);
    expect(() => engine.decode(short, 0, parity, 0)).toThrow(message);
    const data = new Uint8Array(dataBytes);
    expect(() => engine.decode(data, -1, parity, 0)).toThrow(RangeError);
    expect(() => engine.encode(data, 0, parity, 1)).toThrow(
      'BCH parity: 49 bytes at 1 do not fit in 49 bytes',
    );
    expect(() => engine.decode(data, 0, parity, 0.5)).toThrow(RangeError);
  });

  test('parity is linear: that of a sum is the sum of parities', () => {
    const { engine } = sample;
    const other = new Sample(engine, 'other').good;
    const sum = sample.good.map((byte, i) => byte ^ other[i]!);
    const parity = new Uint8Array(engine.parityBytes);
    engine.encode(sum, 0, parity, 0);
    expect(hex(parity)).toBe(hex(sum.subarray(dataBytes)));
  });

  test('zeros before the data change nothing: the code is a shortened one', () => {
    const shorter = build({ ...DRIVE_CODE, dataBytes: dataBytes - 6 });
    const data = new Uint8Array(dataBytes);
    data.set(sample.good.subarray(0, dataBytes - 6), 6);
    const parity = new Uint8Array(shorter.parityBytes);
    const expected = new Uint8Array(shorter.parityBytes);
    sample.engine.encode(data, 0, parity, 0);
    shorter.encode(sample.good, 0, expected, 0);
    expect(hex(parity)).toBe(hex(expected));
  });
});

describe('codes in general', () => {
  /** Small fields with t near their limit hold codes whose generator is shorter than m t bits. */
  const codes = fc
    .record({ m: fc.integer({ min: 5, max: 15 }), strength: fc.nat(11), length: fc.nat(300) })
    .map(({ m, strength, length }) => {
      const t = Math.min(4 + strength, Math.floor((2 ** m - 9) / m));
      const mostBytes = Math.floor((2 ** m - 1 - m * t) / 8);
      return { m, t, dataBytes: 1 + (length % mostBytes) };
    });

  test('any code of any field corrects up to t errors', () => {
    fc.assert(
      fc.property(codes, fc.nat(), (code, pick) => {
        const sample = new Sample(new Bch(code), `${pick}`);
        const count = pick % (code.t + 1);
        sample.damage(count);
        return sample.decode() === count && sample.isGood();
      }),
      { numRuns: 60 },
    );
  });

  test('both engines give the same parity, verdicts and places', () => {
    const wasmCodes = fc.record({
      m: fc.constant(14),
      t: fc.integer({ min: 1, max: 36 }),
      dataBytes: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 1900 })),
    });
    fc.assert(
      fc.property(wasmCodes, fc.nat(), (code, pick) => {
        const one = new Sample(new Bch(code), `${pick}`);
        const other = new Sample(new BchWasm(code), `${pick}`);
        if (hex(one.good) !== hex(other.good)) return false;
        return [pick % (code.t + 1), code.t, code.t + 1, code.t + 7].every((count) => {
          one.damage(count);
          other.damage(count);
          const same = one.decode() === other.decode() && hex(one.bad) === hex(other.bad);
          return same && one.errorBits().join() === other.errorBits().join();
        });
      }),
      { numRuns: 40 },
    );
  });

  test('the Hamming code is perfect: two errors become another codeword', () => {
    const sample = new Sample(new Bch({ m: 5, t: 1, dataBytes: 3 }), 'hamming');
    sample.damage(2);
    // A shortened code misses the third bit now and then, but never finds the right word.
    expect([1, UNCORRECTABLE]).toContain(sample.decode());
    expect(sample.isGood()).toBe(false);
  });

  test('bits behind the parity are ignored', () => {
    for (const engine of BUILDERS.map(([, build]) => build({ m: 14, t: 31, dataBytes: 1024 }))) {
      const sample = new Sample(engine, 'padding');
      expect(engine.parityBits).toBe(8 * engine.parityBytes - 6);
      sample.bad[sample.bad.length - 1]! |= 0x3f;
      expect(sample.decode()).toBe(0);
    }
  });

  test.each([
    [{ m: 4, t: 1, dataBytes: 1 }, 'BCH code: m is 5 to 15, not 4'],
    [{ m: 14, t: 0, dataBytes: 1 }, 'BCH code: t is 1 or more with m t below 16383, not 0'],
    [{ m: 5, t: 7, dataBytes: 1 }, 'BCH code: t is 1 or more with m t below 31, not 7'],
    [
      { m: 14, t: 28, dataBytes: 1999 },
      'BCH code: dataBytes is 1 to 1998 for m = 14 and t = 28, not 1999',
    ],
  ])('refuses %o', (code, message) => {
    expect(() => new Bch(code)).toThrow(message);
    expect(() => new BchWasm(code)).toThrow(message);
  });
});

describe('the choice of an engine', () => {
  test('WebAssembly where it can, TypeScript elsewhere or when asked', () => {
    expect(createBch(DRIVE_CODE)).toBeInstanceOf(BchWasm);
    expect(createBch({ ...DRIVE_CODE, engine: 'typescript' })).toBeInstanceOf(Bch);
    expect(createBch({ m: 13, t: 16, dataBytes: 512 })).toBeInstanceOf(Bch);
    expect(createBch({ m: 14, t: 40, dataBytes: 1024 })).toBeInstanceOf(Bch);
    expect(() => createBch({ m: 13, t: 16, dataBytes: 512, engine: 'webassembly' })).toThrow(
      'BCH in WebAssembly: m is 14',
    );
  });
});

test('a set of codewords counts the user data that went through', () => {
  const engine = createBch(DRIVE_CODE);
  for (const errors of [0, 8, 28, 33]) {
    const set = new CodewordSet(engine, errors, 10);
    expect(set.decodeAll()).toBe(10 * 1024);
    expect(set.decodeAll()).toBe(10 * 1024);
  }
});
