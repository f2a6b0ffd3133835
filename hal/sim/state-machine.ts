/**
 * State machines as data (law L8).
 *
 * A machine is declared once as a table of states, events and transitions with one sentence each.
 * Cold control machines run on `typescript-fsm` behind the checked wrapper here: an event that the
 * state does not accept throws, an action may not dispatch again, every transition is counted and
 * can be observed, and the state can be saved. The same table draws the diagrams.
 */

import { type SyncCallback, SyncStateMachine, t } from 'typescript-fsm';
import { invariant } from './invariant.ts';
import { type Probe, ProbeKind } from './probe.ts';
import type { Saveable, Saved } from './snapshot.ts';

export interface Transition {
  readonly from: number;
  readonly on: number;
  readonly to: number;
  /** One sentence: why this happens. */
  readonly says: string;
}

/** Numeric enum object of TypeScript: names by number. */
export type NameOf = { readonly [value: number]: string };

export interface MachineTable {
  readonly name: string;
  readonly states: NameOf;
  readonly events: NameOf;
  readonly initial: number;
  readonly transitions: readonly Transition[];
}

/** Mermaid `stateDiagram-v2` text of a table. */
export function toMermaid(table: MachineTable): string {
  const rows = table.transitions.map(
    (row) => `  ${table.states[row.from]} --> ${table.states[row.to]}: ${table.events[row.on]}`,
  );
  return ['stateDiagram-v2', `  [*] --> ${table.states[table.initial]}`, ...rows].join('\n');
}

/** What to do on an event: by event number; events without an entry only change the state. */
export type Actions = { readonly [event: number]: () => void };

export class ControlMachine implements Saveable {
  readonly kind: string;
  readonly version = 1;
  readonly table: MachineTable;
  /** Times each transition of the table was taken since construction. */
  readonly takenCount: Int32Array;
  readonly #probe: Probe;
  readonly #number: number;
  readonly #actions: Actions;
  #machine: SyncStateMachine<number, number>;
  #dispatching = false;

  constructor(table: MachineTable, number: number, probe: Probe, actions: Actions = {}) {
    this.kind = `machine.${table.name}`;
    this.table = table;
    this.takenCount = new Int32Array(table.transitions.length);
    this.#number = number;
    this.#probe = probe;
    this.#actions = actions;
    this.#machine = this.#build(table.initial);
  }

  get state(): number {
    return this.#machine.getState();
  }

  get stateName(): string {
    return this.table.states[this.state] ?? '?';
  }

  can(event: number): boolean {
    return this.#machine.can(event);
  }

  /** Takes the transition of `event`; throws when the present state does not accept it. */
  dispatch(event: number): void {
    invariant(!this.#dispatching, 'an action of a state machine never dispatches again');
    const from = this.state;
    const row = this.table.transitions.findIndex((r) => r.from === from && r.on === event);
    invariant(row >= 0, 'a state machine receives only events that its state accepts');
    this.#dispatching = true;
    try {
      this.#machine.syncDispatch(event);
      this.takenCount[row] = this.takenCount[row]! + 1;
      const listener = this.#probe.listener;
      if (listener !== null) listener.note(ProbeKind.Transition, this.#number, from, this.state);
      this.#actions[event]?.();
    } finally {
      this.#dispatching = false;
    }
  }

  /** Puts the machine into its initial state, as at power-on. */
  reset(): void {
    this.#machine = this.#build(this.table.initial);
  }

  save(): Saved {
    return { state: this.state };
  }

  restore(saved: Saved): void {
    this.#machine = this.#build(saved.state as number);
  }

  /** Every row has a do-nothing callback: the library misroutes rows without one. */
  #build(state: number): SyncStateMachine<number, number> {
    const nothing: SyncCallback = () => {};
    const rows = this.table.transitions.map((row) => t(row.from, row.on, row.to, nothing));
    return new SyncStateMachine<number, number>(state, rows);
  }
}
