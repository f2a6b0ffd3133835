/**
 * The undo log: what big tables held before each write, while a run is recorded (law L3).
 *
 * Going back unwinds the log from its end. An entry is two Int32: a key of (table number, index)
 * and the value that was overwritten. The log is a ring of blocks within a byte budget: when it is
 * full the oldest block is dropped, and with it the oldest point one can go back to. Off, it costs
 * its callers one branch.
 */

import { invariant } from './invariant.ts';

/** Something whose writes can be taken back; see {@link UndoLog.register}. */
export interface Undoable {
  /** Puts back what an entry (index, value) says. */
  undo(index: number, value: number): void;
}

const INDEX_BITS = 27;
const INDEX_MASK = 2 ** INDEX_BITS - 1;
/** Largest index an entry can name: the slots of a 512 GB drive. */
export const UNDO_INDEX_MAX = INDEX_MASK;
const TABLES_MAX = 2 ** (32 - INDEX_BITS);
const ENTRIES_PER_BLOCK = 1 << 17;
const BYTES_PER_BLOCK = ENTRIES_PER_BLOCK * 8;

export class UndoLog {
  /** True while a run is recorded: then every write of a big table is appended. */
  on = false;

  readonly #tables: Undoable[] = [];
  /** Blocks by their number modulo the ring; the first is the oldest one kept. */
  #blocks: Int32Array[] = [];
  /** Number of blocks dropped from the front. */
  #droppedCount = 0;
  /** Block that is being filled. */
  #tail: Int32Array = new Int32Array(0);
  /** Int32 index in the tail block of the next entry. */
  #at = 0;
  #blocksMax = 512;
  /** Dropped blocks are filled again instead of being allocated anew. */
  #spare: Int32Array | null = null;

  /** Gives a table its number; the order of registration is the order of construction. */
  register(table: Undoable): number {
    invariant(this.#tables.length < TABLES_MAX, 'the undo log has a number for every table');
    this.#tables.push(table);
    return this.#tables.length - 1;
  }

  /** Starts recording with at most `budgetBytes` of log; forgets what was recorded before. */
  start(budgetBytes: number): void {
    this.on = true;
    this.#blocksMax = Math.max(2, Math.floor(budgetBytes / BYTES_PER_BLOCK));
    this.#blocks = [];
    this.#droppedCount = 0;
    this.#openBlock();
  }

  stop(): void {
    this.on = false;
    this.#blocks = [];
    this.#spare = null;
    this.#tail = new Int32Array(0);
    this.#at = 0;
  }

  /** Entries ever appended and not unwound: names a point of the log. */
  get position(): number {
    const blocks = this.#droppedCount + Math.max(0, this.#blocks.length - 1);
    return blocks * ENTRIES_PER_BLOCK + (this.#at >> 1);
  }

  /** Oldest position that can still be unwound to. */
  get oldestPosition(): number {
    return this.#droppedCount * ENTRIES_PER_BLOCK;
  }

  /** Remembers that `table` held `value` at `index`. */
  append(table: number, index: number, value: number): void {
    if (this.#at === this.#tail.length) this.#openBlock();
    const tail = this.#tail;
    tail[this.#at] = (table << INDEX_BITS) | index;
    tail[this.#at + 1] = value;
    this.#at += 2;
  }

  /** Takes every write back that was appended after `position`, newest first. */
  unwindTo(position: number): void {
    invariant(position >= this.oldestPosition, 'the log still holds the point to go back to');
    invariant(position <= this.position, 'the log is unwound backwards only');
    const wasOn = this.on;
    this.on = false;
    let left = this.position - position;
    while (left > 0) {
      if (this.#at === 0) this.#reopenPrevious();
      const run = Math.min(left, this.#at >> 1);
      this.#undo(run);
      left -= run;
    }
    this.on = wasOn;
  }

  #undo(count: number): void {
    const tail = this.#tail;
    let at = this.#at;
    for (let i = 0; i < count; i++) {
      at -= 2;
      const key = tail[at]!;
      this.#tables[key >>> INDEX_BITS]!.undo(key & INDEX_MASK, tail[at + 1]!);
    }
    this.#at = at;
  }

  #openBlock(): void {
    if (this.#blocks.length === this.#blocksMax) {
      this.#spare = this.#blocks.shift() ?? null;
      this.#droppedCount++;
    }
    this.#tail = this.#spare ?? new Int32Array(ENTRIES_PER_BLOCK * 2);
    this.#spare = null;
    this.#blocks.push(this.#tail);
    this.#at = 0;
  }

  #reopenPrevious(): void {
    this.#spare = this.#blocks.pop() ?? null;
    this.#tail = this.#blocks[this.#blocks.length - 1]!;
    this.#at = this.#tail.length;
  }
}
