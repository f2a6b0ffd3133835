/**
 * The operations of a trace that a host has under way: at most one per command slot, and one of
 * which only some commands are issued. An operation too long for one command is several of them.
 */

import { HOST_SLOTS } from '../../hal/ports.ts';
import type { Saved } from '../../hal/sim/snapshot.ts';

const OPERATIONS_MAX = HOST_SLOTS + 1;
const FREE = -1;

export class Operations {
  /** Row of the trace, FREE for an unused entry. */
  readonly row = new Int32Array(OPERATIONS_MAX).fill(FREE);
  /** Commands issued that have not ended. */
  readonly pending = new Int32Array(OPERATIONS_MAX);
  /** Instant at which its first command was given to the adapter. */
  readonly issuedNs = new Float64Array(OPERATIONS_MAX);
  /** 1: a command of it failed. */
  readonly failed = new Uint8Array(OPERATIONS_MAX);
  /** Sectors that read wrong. */
  readonly wrongSectors = new Float64Array(OPERATIONS_MAX);
  /** Entries in use, in no order: the first `count`. */
  readonly used = new Int32Array(OPERATIONS_MAX).map((_, entry) => entry);
  count = 0;

  /** Takes an entry for a row of the trace. */
  open(row: number, nowNs: number): number {
    const entry = this.used[this.count++]!;
    this.row[entry] = row;
    this.pending[entry] = 0;
    this.issuedNs[entry] = nowNs;
    this.failed[entry] = 0;
    this.wrongSectors[entry] = 0;
    return entry;
  }

  /** Gives the entry back. */
  close(entry: number): void {
    this.row[entry] = FREE;
    const at = this.used.indexOf(entry);
    this.used[at] = this.used[--this.count]!;
    this.used[this.count] = entry;
  }

  #columns(): { [name: string]: Int32Array | Float64Array | Uint8Array } {
    const { row, pending, issuedNs, failed, wrongSectors, used } = this;
    return { row, pending, issuedNs, failed, wrongSectors, used };
  }

  save(): Saved {
    const columns = Object.entries(this.#columns()).map(([name, c]) => [name, c.slice()]);
    return { ...Object.fromEntries(columns), count: this.count };
  }

  restore(saved: Saved): void {
    for (const [name, column] of Object.entries(this.#columns())) {
      column.set(saved[name] as Int32Array);
    }
    this.count = saved.count as number;
  }
}
