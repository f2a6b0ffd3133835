/**
 * A listener that holds what it sees of a machine against the machine's table.
 */

import { ProbeKind, type ProbeListener } from '../../hal/sim/probe.ts';
import type { MachineTable } from '../../hal/sim/state-machine.ts';

/** Which notes belong to the table: superblocks, or one cold machine by its number. */
export type Watched =
  | { kind: ProbeKind.Superblock }
  | { kind: ProbeKind.Transition; number: number };

export class TransitionWatch implements ProbeListener {
  readonly table: MachineTable;
  /** Times each row of the table was taken. */
  readonly taken: number[];
  /** Changes of state that no row of the table allows: 'Free -> Erasing'. */
  readonly strange = new Set<string>();
  /** Called at each change, after it was counted: the state it leads to. */
  onChange: (to: number, from: number) => void = () => {};
  readonly #watched: Watched;

  constructor(table: MachineTable, watched: Watched) {
    this.table = table;
    this.taken = table.transitions.map(() => 0);
    this.#watched = watched;
  }

  note(kind: ProbeKind, a: number, b: number, c: number): void {
    if (kind !== this.#watched.kind) return;
    if (this.#watched.kind === ProbeKind.Transition && a !== this.#watched.number) return;
    const row = this.table.transitions.findIndex((each) => each.from === b && each.to === c);
    if (row < 0) this.strange.add(`${this.table.states[b]} -> ${this.table.states[c]}`);
    else this.taken[row]!++;
    this.onChange(c, b);
  }

  /** Events of the rows that were never taken. */
  get untaken(): string[] {
    return this.table.transitions
      .filter((_, row) => this.taken[row] === 0)
      .map((row) => `${this.table.states[row.from]} on ${this.table.events[row.on]}`);
  }
}
