/**
 * Goal: a batch gives back each unit once, in runs that cover exactly the units put in, and takes
 * no second unit of a die. Method: random units of a small flash against a plain set.
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

it('gives its units back in runs, lowest first, and is empty afterwards', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(UNITS - 1), { maxLength: 40 }), (units) => {
      const batch = new UnitBatch(GEOMETRY);
      const held = new Set<number>();
      const dies = new Set<number>();
      for (const unit of units) {
        const slot = unit * GEOMETRY.slotsPerUnit;
        const die = GEOMETRY.dieOf(slot);
        expect(batch.takes(slot)).toBe(!dies.has(die));
        if (dies.has(die)) continue;
        batch.add(slot);
        held.add(slot);
        dies.add(die);
      }
      const runs = runsOf(batch);
      const back: number[] = [];
      for (const [first, count] of runs) {
        for (let slot = first; slot < first + count; slot += GEOMETRY.slotsPerUnit) back.push(slot);
      }
      expect(back).toEqual([...held].sort((a, b) => a - b));
      const touching = runs.some(
        ([first], i) => i > 0 && runs[i - 1]![0] + runs[i - 1]![1] === first,
      );
      expect(touching).toBe(false);
      expect([batch.isEmpty, runsOf(batch)]).toEqual([true, []]);
    }),
  );
});

it('writes units that lie side by side as one run', () => {
  const batch = new UnitBatch(GEOMETRY);
  const { slotsPerUnit, dies } = GEOMETRY;
  const row = GEOMETRY.unitSlotOf(0, 3, 5);
  for (const die of [2, 0, 1]) batch.add(row + die * slotsPerUnit);
  expect(dies).toBeGreaterThan(2);
  expect(runsOf(batch)).toEqual([[row, 3 * slotsPerUnit]]);
});
