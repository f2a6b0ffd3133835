/**
 * The undo log: what big tables held before each write, while a run is recorded (law L3).
 *
 * Going back unwinds the log from its end. An entry is a table number, an index and the value that
 * was overwritten: nine bytes. The log is a ring of blocks within a byte budget: when it is
 * full the oldest block is dropped, and with it the oldest point one can go back to. Off, it costs
 * its callers one branch.
 */

import { invariant } from './invariant.ts';

/** Something whose writes can be taken back; see {@link UndoLog.register}. */
export interface Undoable {
  /** Puts back what an entry (index, value) says. */
  undo(index: number, value: number): void;
}

const TABLES_MAX = 256;
const ENTRIES_PER_BLOCK = 1 << 17;
const BYTES_PER_BLOCK = ENTRIES_PER_BLOCK * 9;

/** Entries in three columns. */
class Block {
  readonly table = new Uint8Array(ENTRIES_PER_BLOCK);
  readonly index = new Int32Array(ENTRIES_PER_BLOCK);
  readonly value = new Int32Array(ENTRIES_PER_BLOCK);
}

export class UndoLog {
  /** True while a run is recorded: then every write of a big table is appended. */
  on = false;

  readonly #tables: Undoable[] = [];
  /** Blocks by their number modulo the ring; the first is the oldest one kept. */
  #blocks: Block[] = [];
  /** Number of blocks dropped from the front. */
  #droppedCount = 0;
  /** Block that is being filled. */
  #tail: Block | null = null;
  /** Place in the tail block of the next entry. */
  #at = ENTRIES_PER_BLOCK;
  #blocksMax = 512;
  /** Dropped blocks are filled again instead of being allocated anew. */
  #spare: Block | null = null;

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
    this.#tail = null;
    this.#at = ENTRIES_PER_BLOCK;
  }

  /** Entries ever appended and not unwound: names a point of the log. */
  get position(): number {
    if (this.#tail === null) return 0;
    const blocks = this.#droppedCount + this.#blocks.length - 1;
    return blocks * ENTRIES_PER_BLOCK + this.#at;
  }

  /** Oldest position that can still be unwound to. */
  get oldestPosition(): number {
    return this.#droppedCount * ENTRIES_PER_BLOCK;
  }

  /** Remembers that `table` held `value` at `index`. */
  append(table: number, index: number, value: number): void {
    if (this.#at === ENTRIES_PER_BLOCK) this.#openBlock();
    const tail = this.#tail!;
    const at = this.#at++;
    tail.table[at] = table;
    tail.index[at] = index;
    tail.value[at] = value;
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
      const run = Math.min(left, this.#at);
      this.#undo(run);
      left -= run;
    }
    this.on = wasOn;
  }

  #undo(count: number): void {
    const tail = this.#tail!;
    const end = this.#at - count;
    for (let at = this.#at - 1; at >= end; at--) {
      this.#tables[tail.table[at]!]!.undo(tail.index[at]!, tail.value[at]!);
    }
    this.#at = end;
  }

  #openBlock(): void {
    if (this.#blocks.length === this.#blocksMax) {
      this.#spare = this.#blocks.shift() ?? null;
      this.#droppedCount++;
    }
    this.#tail = this.#spare ?? new Block();
    this.#spare = null;
    this.#blocks.push(this.#tail);
    this.#at = 0;
  }

  #reopenPrevious(): void {
    this.#spare = this.#blocks.pop() ?? null;
    this.#tail = this.#blocks[this.#blocks.length - 1]!;
    this.#at = ENTRIES_PER_BLOCK;
  }
}
