/**
 * Goal: the codes are those of the Linux kernel, bit for bit, in both engines.
 * Method: golden vectors from outside; and, with arithmetic of its own that shares nothing with the
 * engines, the definition of the code: a codeword is zero at alpha^1 to alpha^2t.
 */
import { describe, expect, test } from 'vitest';
import { Bch } from '../../../nand/ecc/bch.ts';
import { BchWasm, wasmHandles } from '../../../nand/ecc/bch-wasm.ts';
import type { BchEngine } from '../../../nand/ecc/code.ts';
import { primitivePolynomial } from '../../../nand/ecc/galois.ts';
import { GOLDEN_VECTORS, goldenData, hex } from './vectors.ts';

const CASES = GOLDEN_VECTORS.flatMap((vector) => {
  const engines = [{ engine: 'typescript', vector, build: () => new Bch(vector) as BchEngine }];
  if (wasmHandles(vector)) {
    engines.push({ engine: 'webassembly', vector, build: () => new BchWasm(vector) });
  }
  return engines.map((entry) => ({ ...entry, ...vector }));
});

test('WebAssembly with SIMD works here and takes the codes of GF(2^14) up to 512 parity bits', () => {
  const taken = GOLDEN_VECTORS.filter((vector) => wasmHandles(vector));
  expect(taken.map(({ t }) => t)).toEqual([24, 28, 31, 28]);
});

describe.each(CASES)('m $m, t $t, $dataBytes bytes, $engine', ({ build, vector }) => {
  const { dataBytes, parity } = vector;
  const engine = build();

  test('parity of the golden data', () => {
    const found = new Uint8Array(engine.parityBytes);
    engine.encode(goldenData(dataBytes), 0, found, 0);
    expect(hex(found)).toBe(parity);
    expect(engine.parityBits).toBe(vector.m * vector.t);
  });

  test('the codeword is zero at alpha^1 to alpha^2t', () => {
    const data = goldenData(dataBytes);
    const found = new Uint8Array(engine.parityBytes);
    engine.encode(data, 0, found, 0);
    const bits = bitsOf(data).concat(bitsOf(found).slice(0, engine.parityBits));
    const values = Array.from({ length: 2 * vector.t }, (_, i) => valueAt(vector.m, i + 1, bits));
    expect(values.filter((value) => value !== 0)).toEqual([]);
    bits[5] = 1 - bits[5]!;
    expect(valueAt(vector.m, 1, bits)).not.toBe(0);
  });
});

const MASKED = CASES.filter(({ mask }) => mask !== undefined);

test.each(MASKED)(
  'mask that makes an erased codeword valid: t $t, $dataBytes bytes, $engine',
  ({ build, dataBytes, mask }) => {
    const engine = build();
    const found = new Uint8Array(engine.parityBytes);
    engine.encode(new Uint8Array(dataBytes).fill(0xff), 0, found, 0);
    expect(hex(found.map((byte) => ~byte))).toBe(mask);
  },
);

/** Bits of bytes, most significant first. */
function bitsOf(bytes: Uint8Array): number[] {
  return [...bytes].flatMap((byte) => [7, 6, 5, 4, 3, 2, 1, 0].map((bit) => (byte >> bit) & 1));
}

/** Value of a polynomial with the given coefficients, highest first, at alpha^power: Horner. */
function valueAt(m: number, power: number, bits: readonly number[]): number {
  const polynomial = primitivePolynomial(m);
  let point = 1;
  for (let i = 0; i < power; i++) point = product(point, 2, m, polynomial);
  let value = 0;
  for (const bit of bits) value = product(value, point, m, polynomial) ^ bit;
  return value;
}

/** Shift-and-add product in GF(2^m). */
function product(a: number, b: number, m: number, polynomial: number): number {
  let sum = 0;
  for (let i = m - 1; i >= 0; i--) {
    sum <<= 1;
    if ((sum >> m) & 1) sum ^= polynomial;
    if ((b >> i) & 1) sum ^= a;
  }
  return sum;
}
