import { describe, expect, it } from 'vitest';
import { VECTOR_256 } from '../../firmware/profiles/vector.ts';
import { Dram } from '../../hal/dram.ts';
import { InterruptController } from '../../hal/interrupts.ts';
import { PowerRails, RAILS } from '../../hal/power.ts';
import { Timeline } from '../../hal/sim/timeline.ts';

describe('register views', () => {
  const power = new PowerRails();
  const parts = [new Dram(VECTOR_256.dram, new Timeline()), new InterruptController(), power];
  const views = parts.map((part) => part.registers());

  it('have block addresses of their own', () => {
    const addresses = views.map((view) => view.baseAddress);
    expect(new Set(addresses).size).toBe(addresses.length);
    expect(new Set(views.map((view) => view.name)).size).toBe(views.length);
  });

  it.each(views)('$name: aligned offsets and names of their own, each with a sentence', (view) => {
    const { registers } = view;
    expect(new Set(registers.map((one) => one.offset)).size).toBe(registers.length);
    expect(new Set(registers.map((one) => one.name)).size).toBe(registers.length);
    expect(registers.filter((one) => one.offset % 4 !== 0 || one.says === '')).toEqual([]);
  });

  it('are read without a side effect', () => {
    const read = () => views.map((view) => view.registers.map((one) => one.read()));
    expect(read()).toEqual(read());
  });

  it('show the DRAM that is fitted', () => {
    const values = views[0]!.registers.map((one) => one.read());
    expect(values).toEqual([512 * 2 ** 20, 0, 2, 0, 0, 0, 0]);
  });
});

describe('power rails', () => {
  it('all rise and fall with the input', () => {
    const power = new PowerRails();
    const millivolts = () => power.registers().registers.map((rail) => rail.read());
    expect(millivolts()).toEqual(RAILS.map(() => 0));
    power.on = true;
    expect(millivolts()).toEqual([5000, 3300, 1800, 1350, 1200]);
  });

  it('count their cycles in the snapshot', () => {
    const power = new PowerRails();
    Object.assign(power, { on: true, cycleCount: 3, unplannedCount: 1 });
    const fresh = new PowerRails();
    fresh.restore(power.save());
    expect([fresh.on, fresh.cycleCount, fresh.unplannedCount]).toEqual([true, 3, 1]);
  });
});
