/**
 * A big table in DRAM that flash may hold pages of by reference.
 *
 * A metadata page written from this table is not copied: flash holds the reference (content id),
 * and the page's bytes are made only when the cells change or someone asks. Every 1024 cells are
 * one 4 KiB page. So a map of hundreds of megabytes can be on flash and in DRAM and cost memory
 * once.
 */

import { BigTable } from './sim/big-table.ts';
import type { UndoLog } from './sim/undo-log.ts';
import { SLOT_BYTES } from './sim/units.ts';

export const CELLS_PER_PAGE = SLOT_BYTES / 4;
const PAGE_SHIFT = 10;

/** Keeps the pages that were lent from a table; told before lent cells change. */
export interface Borrower {
  /** The cells of `page` are about to change: turn every reference to them into bytes. */
  settle(table: DramTable, page: number): void;
}

export class DramTable extends BigTable {
  /** Per page of cells: references held on flash. */
  readonly lentCount: Int32Array;
  #borrower: Borrower | null = null;

  constructor(name: string, length: number, log: UndoLog) {
    super(name, length, log);
    this.lentCount = new Int32Array(Math.ceil(length / CELLS_PER_PAGE));
  }

  lendTo(borrower: Borrower, page: number): void {
    this.#borrower = borrower;
    this.lentCount[page] = this.lentCount[page]! + 1;
  }

  giveBack(page: number): void {
    this.lentCount[page] = this.lentCount[page]! - 1;
  }

  override write(index: number, value: number): void {
    if (this.lentCount[index >>> PAGE_SHIFT] !== 0) {
      this.#borrower!.settle(this, index >>> PAGE_SHIFT);
    }
    if (this.log.on) this.log.append(this.number, index, this.values[index]!);
    this.values[index] = value;
  }

  override clear(first: number, count: number): void {
    const endPage = Math.ceil((first + count) / CELLS_PER_PAGE);
    for (let page = first >>> PAGE_SHIFT; page < endPage; page++) {
      if (this.lentCount[page] !== 0) this.#borrower!.settle(this, page);
    }
    super.clear(first, count);
  }

  /** Loss of power: every cell is 0 but those that flash holds by reference. */
  loseContents(): void {
    for (let page = 0; page < this.lentCount.length; page++) {
      const first = page * CELLS_PER_PAGE;
      const count = Math.min(CELLS_PER_PAGE, this.values.length - first);
      if (this.lentCount[page] === 0) this.clear(first, count);
    }
  }
}
