/**
 * Goal: a control machine is exactly its table. Method: random tables walked against a look-up of
 * rows; the traps of the library underneath, one by one.
 */
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { InvariantBroken } from '../../../hal/sim/invariant.ts';
import { Probe, ProbeKind } from '../../../hal/sim/probe.ts';
import {
  type Actions,
  ControlMachine,
  type MachineTable,
  toMermaid,
} from '../../../hal/sim/state-machine.ts';

enum Door {
  Open,
  Closed,
  Locked,
}

enum Push {
  Close,
  Open,
  Turn,
}

const DOOR: MachineTable = {
  name: 'door',
  states: Door,
  events: Push,
  initial: Door.Open,
  transitions: [
    { from: Door.Open, on: Push.Close, to: Door.Closed, says: 'Somebody leaves.' },
    { from: Door.Closed, on: Push.Open, to: Door.Open, says: 'Somebody comes.' },
    { from: Door.Closed, on: Push.Turn, to: Door.Locked, says: 'It is night.' },
    { from: Door.Locked, on: Push.Turn, to: Door.Closed, says: 'It is day.' },
  ],
};

function door(actions: Actions = {}, probe = new Probe()): ControlMachine {
  return new ControlMachine(DOOR, 7, probe, actions);
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('control machine: the table', () => {
  const size = 5;
  const cell = fc.option(fc.nat(size - 1), { nil: -1 });
  /** `next[from][on]` is the state that follows, -1 where the event is not accepted. */
  const grid = fc.array(fc.array(cell, { minLength: size, maxLength: size }), {
    minLength: size,
    maxLength: size,
  });
  const names = Object.fromEntries(Array.from({ length: size }, (_, i) => [i, `n${i}`]));

  function tableOf(next: number[][]): MachineTable {
    const transitions = next.flatMap((row, from) =>
      row.flatMap((to, on) => (to < 0 ? [] : [{ from, on, to, says: 'By chance.' }])),
    );
    return { name: 'random', states: names, events: names, initial: 0, transitions };
  }

  it('takes every row of any table, counts it, and refuses everything else', () => {
    fc.assert(
      fc.property(grid, (next) => {
        const table = tableOf(next);
        const machine = new ControlMachine(table, 0, new Probe());
        const errors = vi.spyOn(console, 'error');
        for (let from = 0; from < size; from++) {
          for (let on = 0; on < size; on++) {
            machine.restore({ state: from });
            const to = next[from]![on]!;
            expect(machine.can(on)).toBe(to >= 0);
            if (to >= 0) machine.dispatch(on);
            else expect(() => machine.dispatch(on)).toThrow(InvariantBroken);
            expect(machine.state).toBe(to >= 0 ? to : from);
          }
        }
        expect([...machine.takenCount]).toEqual(table.transitions.map(() => 1));
        expect(errors).not.toHaveBeenCalled();
      }),
    );
  });

  it('moves one row an event, where the bare library would run on to the next row', () => {
    const chain: MachineTable = {
      name: 'chain',
      states: names,
      events: names,
      initial: 0,
      transitions: [0, 1, 2].map((from) => ({ from, on: 0, to: from + 1, says: 'One on.' })),
    };
    const machine = new ControlMachine(chain, 0, new Probe());
    const visited = [0, 1, 2].map(() => {
      machine.dispatch(0);
      return machine.state;
    });
    expect(visited).toEqual([1, 2, 3]);
  });

  it('is drawn as it runs', () => {
    expect(toMermaid(DOOR)).toBe(
      [
        'stateDiagram-v2',
        '  [*] --> Open',
        '  Open --> Closed: Close',
        '  Closed --> Open: Open',
        '  Closed --> Locked: Turn',
        '  Locked --> Closed: Turn',
      ].join('\n'),
    );
  });
});

describe('control machine: events and actions', () => {
  it('refuses an event that the state does not accept, and stays', () => {
    const errors = vi.spyOn(console, 'error');
    const machine = door();
    expect(() => machine.dispatch(Push.Turn)).toThrow(InvariantBroken);
    expect(() => machine.dispatch(99)).toThrow(InvariantBroken);
    expect([machine.state, machine.stateName]).toEqual([Door.Open, 'Open']);
    expect([...machine.takenCount]).toEqual([0, 0, 0, 0]);
    expect(errors).not.toHaveBeenCalled();
    machine.dispatch(Push.Close);
    expect(machine.stateName).toBe('Closed');
  });

  it('acts in the new state, once an event', () => {
    const seen: string[] = [];
    const machine = door({
      [Push.Turn]: () => {
        seen.push(machine.stateName);
      },
    });
    for (const event of [Push.Close, Push.Turn, Push.Turn, Push.Open]) machine.dispatch(event);
    expect(seen).toEqual(['Locked', 'Closed']);
    expect([...machine.takenCount]).toEqual([1, 1, 1, 1]);
  });

  it('refuses another event while an action runs', () => {
    const machine = door({ [Push.Close]: () => machine.dispatch(Push.Turn) });
    expect(() => machine.dispatch(Push.Close)).toThrow(InvariantBroken);
    expect(machine.state).toBe(Door.Closed);
    machine.dispatch(Push.Turn);
    expect(machine.state).toBe(Door.Locked);
  });

  it('has made its transition when an action fails, and goes on afterwards', () => {
    const machine = door({
      [Push.Close]: () => {
        throw new RangeError('the latch is broken');
      },
    });
    expect(() => machine.dispatch(Push.Close)).toThrow('the latch is broken');
    expect(machine.stateName).toBe('Closed');
    expect(machine.takenCount[0]).toBe(1);
    machine.dispatch(Push.Open);
    expect(machine.stateName).toBe('Open');
  });

  it('tells the probe before it acts', () => {
    const probe = new Probe();
    const notes: (number | string)[][] = [];
    const machine = door({ [Push.Close]: () => notes.push(['action']) }, probe);
    machine.dispatch(Push.Close);
    notes.length = 0;
    machine.dispatch(Push.Open);
    probe.listener = { note: (...note) => notes.push(note) };
    machine.dispatch(Push.Close);
    expect(notes).toEqual([[ProbeKind.Transition, 7, Door.Open, Door.Closed], ['action']]);
  });
});

describe('control machine: save and restore', () => {
  it('puts the state back without acting', () => {
    let acted = 0;
    const machine = door({ [Push.Turn]: () => acted++ });
    machine.dispatch(Push.Close);
    machine.dispatch(Push.Turn);
    const saved = machine.save();
    machine.dispatch(Push.Turn);
    machine.dispatch(Push.Open);
    machine.restore(saved);
    expect([machine.state, acted]).toEqual([Door.Locked, 2]);
    const other = door();
    other.restore(JSON.parse(JSON.stringify(saved)));
    other.dispatch(Push.Turn);
    expect(other.stateName).toBe('Closed');
    other.reset();
    expect([other.stateName, other.kind]).toEqual(['Open', 'machine.door']);
  });
});
