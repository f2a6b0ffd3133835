/**
 * A big table: a flat Int32Array whose writes can be undone while a run is recorded (law L3).
 *
 * 0 means unmapped or erased; the value is stored plus one where 0 is a value of its own. Pages of
 * the array that were never written cost no memory. Readers index `values` directly.
 */

import { invariant } from './invariant.ts';
import { prefetch } from './prefetch.ts';
import type { Undoable, UndoLog } from './undo-log.ts';

export class BigTable implements Undoable {
  readonly name: string;
  /** Cells at construction: what belongs to the machine's shape; a table only grows from there. */
  readonly firstLength: number;
  /** The cells; read freely, write only through `write` and `clear`. */
  values: Int32Array;
  readonly log: UndoLog;
  readonly number: number;

  constructor(name: string, length: number, log: UndoLog) {
    this.name = name;
    this.firstLength = length;
    this.values = new Int32Array(length);
    this.log = log;
    this.number = log.register(this);
  }

  /** The cell will be wanted some events from now (prefetch.ts). */
  expect(index: number): void {
    prefetch.expect(this.values, index);
  }

  /** The cell is wanted at the next event: it is fetched with all that are expected. */
  need(index: number): void {
    prefetch.expect(this.values, index);
    prefetch.fetch();
  }

  write(index: number, value: number): void {
    if (this.log.on) this.log.append(this.number, index, this.values[index]!);
    this.values[index] = value;
  }

  /** Sets `count` cells from `first` to 0. */
  clear(first: number, count: number): void {
    const values = this.values;
    if (this.log.on) {
      for (let i = first; i < first + count; i++) {
        if (values[i] !== 0) this.log.append(this.number, i, values[i]!);
      }
    }
    values.fill(0, first, first + count);
  }

  /** Makes the table longer; new cells are 0. */
  growTo(length: number): void {
    const longer = new Int32Array(length);
    longer.set(this.values);
    this.values = longer;
  }

  /** Puts `values` in the place of all cells, as restoring does, and returns the old ones. */
  exchange(values: Int32Array): Int32Array {
    invariant(!this.log.on, 'a big table is not exchanged while a run is recorded');
    const old = this.values;
    this.values = values;
    return old;
  }

  undo(index: number, value: number): void {
    this.values[index] = value;
  }
}
