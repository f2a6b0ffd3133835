import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FlashOps, SLOTS_PER_OP } from '../../hal/flash-ops.ts';
import { InvariantBroken } from '../../hal/sim/invariant.ts';

it('gives every descriptor out once, then none', () => {
  const ops = new FlashOps(16);
  const taken = Array.from({ length: 16 }, () => ops.take());
  expect([...taken].sort((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, i) => i));
  expect([ops.usedCount, ops.freeCount]).toEqual([16, 0]);
  expect(() => ops.take()).toThrow(InvariantBroken);
  ops.give(taken[5]!);
  expect(ops.take()).toBe(taken[5]);
});

it('never has a descriptor in use twice, whatever the order of taking and giving', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 99 }), { maxLength: 200 }), (choices) => {
      const ops = new FlashOps(8);
      const used: number[] = [];
      for (const choice of choices) {
        const give = ops.freeCount === 0 || (used.length > 0 && choice % 2 === 0);
        if (give) ops.give(used.splice(choice % used.length, 1)[0]!);
        else used.push(ops.take());
      }
      expect(new Set(used).size).toBe(used.length);
      expect([ops.usedCount, ops.freeCount]).toEqual([used.length, 8 - used.length]);
    }),
  );
});

it('has all descriptors free again after loss of power', () => {
  const ops = new FlashOps(4);
  ops.take();
  ops.take();
  ops.reset();
  expect(ops.freeCount).toBe(4);
  expect(new Set(Array.from({ length: 4 }, () => ops.take())).size).toBe(4);
});

it('saves every column and the free list', () => {
  const ops = new FlashOps(4);
  ops.give(ops.take());
  const op = ops.take();
  ops.take();
  ops.die[op] = 3;
  ops.block[op] = 77;
  ops.slotMask[op] = 0b1010;
  ops.urgent[op] = 1;
  for (let j = 0; j < SLOTS_PER_OP; j++) {
    ops.content[op * SLOTS_PER_OP + j] = -1 - j;
    ops.pageWord[op * SLOTS_PER_OP + j] = 100 + j;
    ops.order[op * SLOTS_PER_OP + j] = 200 + j;
    ops.target[op * SLOTS_PER_OP + j] = 300 + j;
  }
  const saved = ops.save();
  const fresh = new FlashOps(4);
  fresh.restore(saved);
  expect(fresh.save()).toEqual(saved);
  // The copy is not shared.
  ops.die[op] = 1;
  expect(fresh.die[op]).toBe(3);
  expect(fresh.take()).toBe(ops.take());
});
