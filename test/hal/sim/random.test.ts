/**
 * Goal: every purpose has a stream of its own that is the same on every run and every engine.
 * Method: Marsaglia's recurrence written out with unlimited integers, values fixed once, and
 * streams drawn from in different orders.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvariantBroken } from '../../../hal/sim/invariant.ts';
import { RandomStream } from '../../../hal/sim/random.ts';

const WORD = 2n ** 32n;
/** Values that every recorded run and every user's seed depends on. */
const GOLDEN = {
  bitErrors: [1752722965, 348720306, 3314972309, 1300796255],
  workload: [4012874971, 1241057942, 1990565351, 1238065037],
  otherSeed: [18998636, 1225524198, 4023166748, 2348248986],
  dice: [2, 5, 1, 2, 4, 2, 4, 4, 3, 0, 2, 4],
};

/** The next draw of xorshift128 from a state (Marsaglia, "Xorshift RNGs", section 4). */
function xorshift128(state: bigint[]): bigint {
  const [x, , , w] = state as [bigint, bigint, bigint, bigint];
  const t = (x ^ (x << 11n)) % WORD;
  const next = w ^ (w >> 19n) ^ t ^ (t >> 8n);
  state.shift();
  state.push(next);
  return next;
}

function draw(stream: RandomStream, count: number): number[] {
  return Array.from({ length: count }, () => stream.uint32());
}

describe('random stream', () => {
  it('is Marsaglia’s xorshift128', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (seed, purpose) => {
        const stream = new RandomStream(seed, purpose);
        const { x, y, z, w } = stream.save();
        const state = [x, y, z, w].map((word) => BigInt((word as number) >>> 0));
        const expected = Array.from({ length: 8 }, () => Number(xorshift128(state)));
        expect(draw(stream, 8)).toEqual(expected);
      }),
    );
  });

  it('begins with these values, today and in ten years', () => {
    expect(draw(new RandomStream('1', 'nand.bit-errors'), 4)).toEqual(GOLDEN.bitErrors);
    expect(draw(new RandomStream('1', 'host.workload'), 4)).toEqual(GOLDEN.workload);
    expect(draw(new RandomStream('2', 'host.workload'), 4)).toEqual(GOLDEN.otherSeed);
    const below = new RandomStream('1', 'dice');
    expect(Array.from({ length: 12 }, () => below.below(6))).toEqual(GOLDEN.dice);
  });

  it('does not shift when another stream is drawn from', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 60 }), (order) => {
        const alone = draw(new RandomStream('s', 'a'), order.length);
        const a = new RandomStream('s', 'a');
        const b = new RandomStream('s', 'b');
        const found = order.map((first) => (first ? a.uint32() : b.uint32() * 0 - 1));
        expect(found.filter((value) => value >= 0)).toEqual(
          alone.slice(0, order.filter((first) => first).length),
        );
      }),
    );
  });

  it('goes on from a saved state, also in another stream of the purpose', () => {
    fc.assert(
      fc.property(fc.nat(100), fc.nat(100), (before, wander) => {
        const stream = new RandomStream('s', 'a');
        draw(stream, before);
        const saved = stream.save();
        const expected = draw(stream, 20);
        const other = new RandomStream('t', 'a');
        draw(other, wander);
        other.restore(saved);
        expect(draw(other, 20)).toEqual(expected);
        stream.restore(JSON.parse(JSON.stringify(saved)));
        expect(draw(stream, 20)).toEqual(expected);
      }),
    );
  });

  it('saves a copy', () => {
    const stream = new RandomStream('s', 'a');
    const saved = { ...stream.save() };
    const kept = stream.save();
    draw(stream, 3);
    expect(kept).toEqual(saved);
  });

  it('draws below a limit, every outcome about as often', () => {
    const stream = new RandomStream('s', 'dice');
    const counts = new Array<number>(10).fill(0);
    for (let i = 0; i < 100_000; i++) counts[stream.below(10)]!++;
    // Ten thousand each; five standard deviations of a binomial are 474.
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(474);
    for (const limit of [1, 2 ** 31, 2 ** 32]) {
      const value = stream.below(limit);
      expect(Number.isInteger(value) && value >= 0 && value < limit).toBe(true);
    }
    expect(new RandomStream('s', 'a').below(2 ** 32)).toBe(new RandomStream('s', 'a').uint32());
    expect(() => stream.below(0)).toThrow(InvariantBroken);
  });

  it('is called after its purpose', () => {
    expect(new RandomStream('s', 'nand.bit-errors').kind).toBe('random.nand.bit-errors');
  });
});
