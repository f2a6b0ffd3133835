import { describe, expect, it } from 'vitest';
import {
  inverseNegativeBinomial,
  probabilityOfNone,
} from '../../../nand/physics/negative-binomial.ts';
import { binomialTail, negativeBinomialTail, uberOf } from '../../../nand/physics/uber.ts';
import { meanOf, varianceOf } from './statistics.ts';

describe('the negative binomial count', () => {
  it.each([0.01, 0.5, 3, 20])('lambda %d: mean and variance over a grid of uniforms', (lambda) => {
    const grid = 200_000;
    const counts = Float64Array.from({ length: grid }, (_, i) =>
      inverseNegativeBinomial(lambda, (i + 0.5) / grid, 8640),
    );
    // A grid has no sampling error but for the far tail; 1 % covers it.
    expect(Math.abs(meanOf(counts) / lambda - 1)).toBeLessThan(0.01);
    expect(Math.abs(varianceOf(counts) / (lambda + lambda ** 2 / 6) - 1)).toBeLessThan(0.01);
  });

  it('P(0) is exact and at least 1 - lambda, but for rounding', () => {
    const lambdas = [1e-9, 0.004, 0.3, 1, 7];
    expect(lambdas.every((l) => probabilityOfNone(l) >= 1 - l - 2 ** -52)).toBe(true);
    expect(probabilityOfNone(6)).toBe(1 / 64);
    expect(inverseNegativeBinomial(6, 1 / 64 - 1e-12, 9)).toBe(0);
    expect(inverseNegativeBinomial(6, 1 / 64 + 1e-12, 9)).toBe(1);
  });

  it('ends at the limit and never loops for a mean of half the bits', () => {
    expect(inverseNegativeBinomial(4320, 1 - 2 ** -40, 4320)).toBe(4320);
    expect(inverseNegativeBinomial(1e-6, 1 - 2 ** -40, 4320)).toBeLessThan(4);
  });

  it('over-dispersed counts fail a code sooner than independent bits', () => {
    const rber = 3e-4;
    expect(negativeBinomialTail(rber * 8640, 28) / binomialTail(8640, rber, 28)).toBeGreaterThan(
      1e3,
    );
  });

  it('the tail is what the counts show', () => {
    const grid = 400_000;
    let above = 0;
    for (let i = 0; i < grid; i++) {
      if (inverseNegativeBinomial(5, (i + 0.5) / grid, 8640) > 12) above++;
    }
    expect(Math.abs(above / grid - negativeBinomialTail(5, 12))).toBeLessThan(2 / grid);
  });
});

describe('codes sized by independent bits', () => {
  // User bytes, bits of the codeword, t, RBER limit for UBER 1e-15, its printed precision.
  it.each([
    [512, 4252, 12, 1.9e-4],
    [512, 4304, 16, 3.9e-4],
    [1024, 8528, 24, 5.1e-4],
    [1024, 8584, 28, 6.9e-4],
    [1024, 8626, 31, 8.3e-4],
    [1024, 8752, 40, 1.3e-3],
    [2048, 17104, 48, 9.2e-4],
    [2048, 17209, 55, 1.14e-3],
    [4096, 34368, 100, 1.41e-3],
  ])('%d bytes, %d bits, t = %#: UBER 1e-15 at the limit', (bytes, bits, t, limit) => {
    const uberAt = (rber: number): number => uberOf(binomialTail(bits, rber, t), bytes);
    let low = 1e-5;
    let high = 1e-2;
    for (let i = 0; i < 60; i++) {
      const middle = (low + high) / 2;
      if (uberAt(middle) < 1e-15) low = middle;
      else high = middle;
    }
    // Printed with two or three digits, the second of 1.3e-3 worth 4 %.
    expect(Math.abs(low / limit - 1)).toBeLessThan(0.04);
  });

  it.each([
    [1e-3, [3.5e-6, 3.4e-8, 7.9e-10, 2.4e-15]],
    [2e-3, [4.2e-2, 5.6e-3, 9.3e-4, 1.1e-6]],
    [3e-3, [0.57, 0.29, 0.14, 4.6e-3]],
  ])('P(uncorrectable 1 KiB) at RBER %d', (rber, row) => {
    const codes = [
      [8528, 24],
      [8584, 28],
      [8626, 31],
      [8752, 40],
    ] as const;
    const errors = codes.map(([bits, t], i) => binomialTail(bits, rber, t) / row[i]! - 1);
    // Two digits printed.
    expect(Math.max(...errors.map(Math.abs))).toBeLessThan(0.05);
  });
});
