/**
 * Goal: prefetching loads exactly the cells that were noted, once, and keeps none. Method: cells
 * with bits of their own; the exclusive or of what was loaded says which they were.
 */
import { expect, it } from 'vitest';
import { BigTable } from '../../../hal/sim/big-table.ts';
import { Prefetch, prefetch } from '../../../hal/sim/prefetch.ts';
import { UndoLog } from '../../../hal/sim/undo-log.ts';

const CELLS = Int32Array.from({ length: 20 }, (_, i) => 1 << i);

it('loads what was noted since the last time', () => {
  const own = new Prefetch();
  for (const index of [0, 3, 5]) own.expect(CELLS, index);
  own.fetch();
  expect(own.loaded).toBe(0b101001);
  own.expect(CELLS, 1);
  own.fetch();
  expect(own.loaded).toBe(0b10);
  own.fetch();
  expect(own.loaded).toBe(0);
});

it('loads by itself when there is no room for another note', () => {
  const own = new Prefetch();
  for (let i = 0; i < 15; i++) own.expect(CELLS, i);
  expect(own.loaded).toBe(0);
  own.expect(CELLS, 15);
  expect(own.loaded).toBe(0xffff);
});

it('fetches the cell a table needs with those that others expect', () => {
  prefetch.fetch();
  const [one, other] = [1, 2].map((n) => new BigTable(`t${n}`, 4, new UndoLog()));
  one!.write(2, 0b01);
  other!.write(3, 0b10);
  one!.expect(2);
  other!.need(3);
  expect(prefetch.loaded).toBe(0b11);
});
