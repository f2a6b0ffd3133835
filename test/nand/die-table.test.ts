/** Goal: the die table is one machine. Method: look at it as a graph. */
import { expect, it } from 'vitest';
import { DIE_TABLE, DiePhase } from '../../nand/die-table.ts';

it('the die table is sound: each state is reached, left, and answers an event in one way', () => {
  const states = Object.values(DiePhase).filter((value) => typeof value === 'number');
  const { transitions } = DIE_TABLE;
  expect(states.filter((state) => !transitions.some((row) => row.to === state))).toEqual([]);
  expect(states.filter((state) => !transitions.some((row) => row.from === state))).toEqual([]);
  const keys = transitions.map((row) => `${row.from} ${row.on}`);
  expect(new Set(keys).size).toBe(keys.length);
  expect(transitions.filter((row) => row.says === '')).toEqual([]);
});
