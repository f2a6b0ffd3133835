/**
 * Where a host adapter's commands come from: workloads, replayed traces, queues of tools and tests.
 */

import type { Saved } from '../../hal/sim/snapshot.ts';
import type { HostAdapter } from './adapter.ts';

/** Answers of CommandSource.next besides a slot number. */
export const NOTHING_YET = -1;
/** The next command is due at `wakeAtNs`. */
export const NOT_BEFORE = -2;

/** Where the adapter's commands come from. */
export interface CommandSource {
  /**
   * Fills in the registers (and, for a write, the data handles) of the next command with one of the
   * adapter's methods for `tag`, or for UNQUEUED_SLOT, and returns the slot used.
   */
  next(adapter: HostAdapter, tag: number): number;
  /** With NOT_BEFORE: when to ask again, in ns. */
  readonly wakeAtNs: number;
  /** A command has ended; its data handles are valid until this returns. */
  completed(adapter: HostAdapter, slot: number, status: number, error: number): void;
  /** A command was lost in a reset. */
  lost(adapter: HostAdapter, slot: number): void;
  save(): Saved;
  restore(saved: Saved): void;
}
