/**
 * Metadata pages: 4 KiB of bytes that firmware wrote, or a reference to a page of a DRAM table.
 *
 * Bytes are immutable once written, so that snapshots share them. A reference becomes bytes when
 * its cells change (dram-table.ts) or when the flash array is forked. A page that has a home
 * (page-home.ts) is neither: it is read where it lies, each time it is looked at.
 */

import { type Borrower, CELLS_PER_PAGE, DramTable } from '../dram-table.ts';
import { invariant } from '../sim/invariant.ts';
import type { Machine, Saved } from '../sim/snapshot.ts';
import { SLOT_BYTES } from '../sim/units.ts';
import { NO_HOME, type PageHome } from './page-home.ts';

/** Data handles at or below this number are metadata pages. */
export const METADATA_TOP = -(2 ** 30);
const NO_PAGE = -1;

export function isMetadata(content: number): boolean {
  return content <= METADATA_TOP;
}

/** How often each metadata page (by index) and each other counted page occurs in `handles`. */
export function countHandles(handles: readonly number[]): {
  metadata: Map<number, number>;
  pages: Map<number, number>;
} {
  const metadata = new Map<number, number>();
  const pages = new Map<number, number>();
  for (const handle of handles) {
    const [map, index] = isMetadata(handle)
      ? [metadata, METADATA_TOP - handle]
      : [pages, -handle - 1];
    map.set(index, (map.get(index) ?? 0) + 1);
  }
  return { metadata, pages };
}

/** The table of a machine that lends its pages, null when it has none. */
export function lenderOf(machine: Machine): DramTable | null {
  for (const table of machine.tables) if (table instanceof DramTable) return table;
  return null;
}

export class MetadataPages implements Borrower {
  /** Bytes by page index, null for a reference, a page at home or a free index. */
  #bytes: (Uint8Array | null)[] = [];
  #references: number[] = [];
  /** First cell of a reference, NO_PAGE when the page holds bytes or is free. */
  #firstCell: number[] = [];
  /** Flash slot that holds the page instead of memory, NO_HOME for the others. */
  #homeOf: number[] = [];
  #home: PageHome | null = null;
  #free: number[] = [];
  /** Indices of the pages that refer to each page of the table. */
  #lent = new Map<number, number[]>();
  #table: DramTable | null = null;

  write(bytes: Uint8Array): number {
    invariant(bytes.length === SLOT_BYTES, 'a metadata page has 4096 bytes');
    return this.#add(bytes, NO_PAGE);
  }

  lend(table: DramTable, firstCell: number): number {
    invariant(this.#table === null || this.#table === table, 'one table lends its pages');
    this.#table = table;
    const content = this.#add(null, firstCell);
    const page = firstCell / CELLS_PER_PAGE;
    const indices = this.#lent.get(page) ?? [];
    indices.push(METADATA_TOP - content);
    this.#lent.set(page, indices);
    table.lendTo(this, page);
    return content;
  }

  /** Where pages with a home are read from now on. */
  setHome(home: PageHome): void {
    this.#home = home;
  }

  /** A page that is already at home in a flash slot; the caller owns the handle. */
  adopt(slot: number): number {
    const content = this.#add(null, NO_PAGE);
    this.#homeOf[METADATA_TOP - content] = slot;
    return content;
  }

  /** The page has been stored in a flash slot: it lives there, and a reference is given back. */
  settleAt(content: number, slot: number): void {
    const index = METADATA_TOP - content;
    this.#empty(index);
    this.#homeOf[index] = slot;
  }

  /**
   * A flash slot is about to be erased: a page at home there that others refer to becomes bytes.
   */
  leaveHome(content: number, slot: number): void {
    const index = METADATA_TOP - content;
    if (this.#homeOf[index] !== slot || this.#references[index]! < 2) return;
    this.#bytes[index] = this.read(content);
    this.#homeOf[index] = NO_HOME;
  }

  read(content: number): Uint8Array {
    const index = METADATA_TOP - content;
    const bytes = this.#bytes[index];
    if (bytes !== null && bytes !== undefined) return bytes;
    invariant(this.#references[index]! > 0, 'only a live metadata page is read');
    return this.#make(index);
  }

  /** Loads a page into the table; a page that refers to those very cells is there already. */
  load(content: number, table: DramTable, firstCell: number): void {
    const index = METADATA_TOP - content;
    if (this.#firstCell[index] === firstCell) return;
    const bytes = this.read(content);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const count = Math.min(CELLS_PER_PAGE, table.values.length - firstCell);
    for (let i = 0; i < count; i++) {
      const value = view.getInt32(i * 4, true);
      if (table.values[firstCell + i] !== value) table.write(firstCell + i, value);
    }
  }

  retain(content: number): void {
    const index = METADATA_TOP - content;
    this.#references[index] = this.#references[index]! + 1;
  }

  release(content: number): void {
    const index = METADATA_TOP - content;
    const left = this.#references[index]! - 1;
    invariant(left >= 0, 'a metadata page is released once per reference');
    this.#references[index] = left;
    if (left > 0) return;
    this.#empty(index);
    this.#free.push(index);
  }

  settle(table: DramTable, page: number): void {
    for (const index of this.#lent.get(page) ?? []) {
      this.#bytes[index] = this.#serialise(page * CELLS_PER_PAGE);
      this.#firstCell[index] = NO_PAGE;
      table.giveBack(page);
    }
    this.#lent.delete(page);
  }

  /** Keeps the references in `counts` (by page index) and frees every other page. */
  sweep(counts: ReadonlyMap<number, number>): void {
    for (let index = 0; index < this.#references.length; index++) {
      const kept = counts.get(index) ?? 0;
      if (this.#references[index] === 0) continue;
      this.#references[index] = Math.max(1, kept);
      if (kept === 0) this.release(METADATA_TOP - index);
    }
  }

  /** A copy in which every page holds its own bytes. */
  fork(): MetadataPages {
    const copy = new MetadataPages();
    copy.#references = [...this.#references];
    copy.#free = [...this.#free];
    copy.#bytes = this.#bytes.map((bytes, index) =>
      bytes === null && this.#references[index]! > 0 ? this.#make(index) : bytes,
    );
    copy.#firstCell = copy.#bytes.map(() => NO_PAGE);
    copy.#homeOf = copy.#bytes.map(() => NO_HOME);
    return copy;
  }

  /** Saves the pages; those at home are saved as bytes. */
  save(): Saved {
    return {
      bytes: this.#bytes.map((bytes, index) =>
        this.#homeOf[index] === NO_HOME ? bytes : this.#make(index),
      ),
      references: Int32Array.from(this.#references),
      firstCell: Int32Array.from(this.#firstCell),
      free: Int32Array.from(this.#free),
    };
  }

  /** Restores the pages; references are lent again from `table`. */
  restore(saved: Saved, table: DramTable | null): void {
    this.#bytes = [...(saved.bytes as (Uint8Array | null)[])];
    this.#references = [...(saved.references as Int32Array)];
    this.#firstCell = [...(saved.firstCell as Int32Array)];
    this.#homeOf = this.#bytes.map(() => NO_HOME);
    this.#free = [...(saved.free as Int32Array)];
    this.#lent.clear();
    const owner = this.#table ?? table;
    owner?.lentCount.fill(0);
    this.#table = owner;
    this.#firstCell.forEach((firstCell, index) => {
      if (firstCell === NO_PAGE) return;
      invariant(owner !== null, 'pages held by reference are restored with the table they name');
      const page = firstCell / CELLS_PER_PAGE;
      this.#lent.set(page, [...(this.#lent.get(page) ?? []), index]);
      owner.lendTo(this, page);
    });
  }

  #add(bytes: Uint8Array | null, firstCell: number): number {
    const index = this.#free.pop() ?? this.#bytes.length;
    this.#bytes[index] = bytes;
    this.#references[index] = 1;
    this.#firstCell[index] = firstCell;
    this.#homeOf[index] = NO_HOME;
    return METADATA_TOP - index;
  }

  /** The bytes of a page that is held by reference or at home. */
  #make(index: number): Uint8Array {
    const slot = this.#homeOf[index]!;
    if (slot === NO_HOME) return this.#serialise(this.#firstCell[index]!);
    const bytes = new Uint8Array(SLOT_BYTES);
    this.#home!.read(slot, bytes);
    return bytes;
  }

  /** Forgets what a page holds. */
  #empty(index: number): void {
    if (this.#firstCell[index] !== NO_PAGE) this.#forgetLoan(index);
    this.#bytes[index] = null;
    this.#firstCell[index] = NO_PAGE;
    this.#homeOf[index] = NO_HOME;
  }

  #serialise(firstCell: number): Uint8Array {
    const bytes = new Uint8Array(SLOT_BYTES);
    const view = new DataView(bytes.buffer);
    const values = this.#table!.values;
    const count = Math.min(CELLS_PER_PAGE, values.length - firstCell);
    for (let i = 0; i < count; i++) view.setInt32(i * 4, values[firstCell + i]!, true);
    return bytes;
  }

  #forgetLoan(index: number): void {
    const page = this.#firstCell[index]! / CELLS_PER_PAGE;
    const indices = (this.#lent.get(page) ?? []).filter((other) => other !== index);
    if (indices.length === 0) this.#lent.delete(page);
    else this.#lent.set(page, indices);
    this.#table!.giveBack(page);
  }
}
