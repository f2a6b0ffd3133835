/**
 * Goal: a batch gives back each unit once and in order, in runs as long as can be, takes no second
 * unit of a die, and keeps what could not be written. Method: random units of a small flash against
 * a plain list.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Geometry } from '../../../hal/geometry.ts';
import { UnitBatch } from '../../../tools/image/unit-batch.ts';
import { SMALL } from './image-kit.ts';

const GEOMETRY = new Geometry(SMALL.geometry);
const UNITS = GEOMETRY.slots / GEOMETRY.slotsPerUnit;

function runsOf(batch: UnitBatch): [number, number][] {
  const runs: [number, number][] = [];
  batch.take((first, count) => runs.push([first, count]));
  return runs;
}

it('gives its units back in runs, in their order, and is empty afterwards', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(UNITS - 1), { maxLength: 40 }), (units) => {
      const batch = new UnitBatch(GEOMETRY);
      const held: number[] = [];
      const dies = new Set<number>();
      for (const unit of units) {
        const slot = unit * GEOMETRY.slotsPerUnit;
        const die = GEOMETRY.dieOf(slot);
        expect(batch.takes(slot)).toBe(!dies.has(die));
        if (dies.has(die)) continue;
        batch.add(slot);
        held.push(slot);
        dies.add(die);
      }
      const runs = runsOf(batch);
      const back: number[] = [];
      for (const [first, count] of runs) {
        for (let slot = first; slot < first + count; slot += GEOMETRY.slotsPerUnit) back.push(slot);
      }
      expect(back).toEqual(held);
      const touching = runs.some(
        ([first], i) => i > 0 && runs[i - 1]![0] + runs[i - 1]![1] === first,
      );
      expect(touching).toBe(false);
      expect([batch.isEmpty, runsOf(batch)]).toEqual([true, []]);
    }),
  );
});

const { slotsPerUnit } = GEOMETRY;
const ROW = GEOMETRY.unitSlotOf(0, 3, 5);

function batchOf(...dies: number[]): UnitBatch {
  const batch = new UnitBatch(GEOMETRY);
  for (const die of dies) batch.add(ROW + die * slotsPerUnit);
  return batch;
}

it('joins units that lie side by side, and never puts one before an earlier one', () => {
  expect(GEOMETRY.dies).toBe(4);
  expect(runsOf(batchOf(0, 1, 2))).toEqual([[ROW, 3 * slotsPerUnit]]);
  expect(runsOf(batchOf(2, 3, 0, 1))).toEqual([
    [ROW + 2 * slotsPerUnit, 2 * slotsPerUnit],
    [ROW, 2 * slotsPerUnit],
  ]);
});

it('keeps the run that could not be written, and those behind it', () => {
  const batch = batchOf(3, 1, 0);
  const full = () => batch.take((first) => expect(first).toBe(ROW + 3 * slotsPerUnit));
  expect(full).toThrow();
  expect(batch.takes(ROW + 3 * slotsPerUnit)).toBe(false);
  expect(runsOf(batch)).toEqual([
    [ROW + slotsPerUnit, slotsPerUnit],
    [ROW, slotsPerUnit],
  ]);
  expect(batch.takes(ROW + 3 * slotsPerUnit)).toBe(true);
});
