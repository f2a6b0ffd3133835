/**
 * The page store: what was programmed, pristine (law L4).
 *
 * Per slot: the data handle and the spare record (page word with flags, order number); per block:
 * the next page it accepts and its erase count. All are flat columns in which 0 means erased, so an
 * empty drive costs no memory. What a read *sees* is decided above, by error model and faults.
 *
 * A fork shares every block with its origin until the origin writes it: then the origin hands the
 * block over first (copy before write). So a fork costs the blocks that change afterwards.
 */

import type { Content } from '../hal/content/content.ts';
import type { FlashOps } from '../hal/flash-ops.ts';
import type { Geometry } from '../hal/geometry.ts';
import { BigTable } from '../hal/sim/big-table.ts';
import { invariant } from '../hal/sim/invariant.ts';
import type { Machine } from '../hal/sim/snapshot.ts';
import { BlockFlag, BlockHistory, HISTORY_CELLS } from './block-history.ts';
import { Damage } from './damage.ts';
import type { StoreFollower } from './store-follower.ts';

export const CELLS_PER_SLOT = 3;
export const CONTENT = 0;
export const PAGE_WORD = 1;
export const ORDER = 2;

export class PageStore {
  readonly geometry: Geometry;
  /**
   * Three cells a slot, side by side so that a read touches one cache line: the data handle (the
   * store owns one reference), the page word (logical page plus one and flags, flash-ops.ts; 0 in
   * erased and padding slots) and the low 32 bits of the order number.
   */
  readonly cells: BigTable;
  /** Next page, erase count and history of each block. */
  readonly history: BlockHistory;
  /** What cut operations have left behind; a part of the machine of its own. */
  readonly damage: Damage;
  /** A second copy that follows every change; null when there is none. */
  follower: StoreFollower | null = null;
  readonly #contents: Content;
  /** Store this one was forked from, while it still reads some blocks there. */
  #origin: PageStore | null = null;
  /** Of a fork: 1 for a block that is still the origin's. */
  #inherited: Uint8Array | null = null;
  /** Forks that may still read blocks here. */
  #forks: PageStore[] = [];

  constructor(geometry: Geometry, contents: Content, machine: Machine) {
    const table = (name: string, cells: number) =>
      machine.addTable(new BigTable(name, cells, machine.log));
    this.geometry = geometry;
    this.#contents = contents;
    this.cells = table('flash-cells', geometry.slots * CELLS_PER_SLOT);
    this.history = new BlockHistory(table('flash-blocks', geometry.blocks * HISTORY_CELLS));
    this.damage = new Damage(geometry.pagesPerBlock);
    machine.beforeUnwind(() => this.settleForks());
  }

  /**
   * Opens `page` of a block for programming: pages only ever go upwards in a block.
   * @param minute of the retention clock
   */
  openPage(blockIndex: number, page: number, minute: number): void {
    this.#own(blockIndex);
    invariant(
      page >= this.history.nextPageOf(blockIndex),
      'a block takes its pages in rising order',
    );
    this.history.programmed(blockIndex, page, minute);
  }

  /** The block gets a flag. */
  flag(blockIndex: number, flag: BlockFlag): void {
    this.#own(blockIndex);
    this.history.set(blockIndex, flag);
  }

  /** A page reads with extra errors from now on. */
  damagePage(blockIndex: number, page: number, rber: number): void {
    if (rber <= 0) return;
    this.flag(blockIndex, BlockFlag.Damaged);
    this.damage.add(blockIndex, page, rber);
  }

  /** Programs one slot of an open page; takes over one reference to `content`. */
  program(slot: number, content: number, pageWord: number, order: number): void {
    const at = slot * CELLS_PER_SLOT;
    if (content !== 0) this.cells.write(at + CONTENT, content);
    if (pageWord !== 0) this.cells.write(at + PAGE_WORD, pageWord);
    if (order !== 0) this.cells.write(at + ORDER, order);
  }

  /** Programs the `count` slots of a page that a descriptor holds from column `from` on. */
  programPage(slot: number, count: number, ops: FlashOps, from: number): void {
    const { content, pageWord, order } = ops;
    const { values, log } = this.cells;
    let at = slot * CELLS_PER_SLOT;
    for (let i = from; i < from + count; i++, at += CELLS_PER_SLOT) {
      if (log.on) {
        this.program(slot + i - from, content[i]!, pageWord[i]!, order[i]!);
        continue;
      }
      values[at + CONTENT] = content[i]!;
      values[at + PAGE_WORD] = pageWord[i]!;
      values[at + ORDER] = order[i]!;
    }
  }

  contentOf(slot: number): number {
    return this.of(slot).cells.values[slot * CELLS_PER_SLOT + CONTENT]!;
  }

  pageWordOf(slot: number): number {
    const { cells } = this.of(slot);
    return cells.values[slot * CELLS_PER_SLOT + PAGE_WORD]!;
  }

  orderOf(slot: number): number {
    return this.of(slot).cells.values[slot * CELLS_PER_SLOT + ORDER]!;
  }

  /** The counted handle of every slot that holds one. */
  countedContents(): number[] {
    const handles: number[] = [];
    for (let block = 0; block < this.geometry.blocks; block++) {
      const { cells } = this.#holderOf(block);
      const pages = this.history.nextPageOf(block);
      const count = this.geometry.slotsPerPage * CELLS_PER_SLOT;
      for (let page = 0; page < pages; page++) {
        const first = this.#firstCell(block, page);
        for (let at = first + CONTENT; at < first + count; at += CELLS_PER_SLOT) {
          if (cells.values[at]! < 0) handles.push(cells.values[at]!);
        }
      }
    }
    return handles;
  }

  erase(blockIndex: number): void {
    this.#own(blockIndex);
    this.follower?.beforeErase(blockIndex);
    const pages = this.history.nextPageOf(blockIndex);
    for (let page = 0; page < pages; page++) this.#erasePage(this.#firstCell(blockIndex, page));
    if ((this.history.flagsOf(blockIndex) & BlockFlag.Damaged) !== 0) this.damage.heal(blockIndex);
    this.history.erased(blockIndex);
    this.follower?.erased(blockIndex);
  }

  /** The store that holds a slot's cells: this one, or the origin for a block still shared. */
  of(slot: number): PageStore {
    if (this.#inherited === null) return this;
    return this.#holderOf(this.geometry.blockIndexOf(slot));
  }

  #holderOf(blockIndex: number): PageStore {
    const inherited = this.#inherited;
    if (inherited === null || inherited[blockIndex] === 0) return this;
    return this.#origin!.#holderOf(blockIndex);
  }

  /** A store with the same cells over `contents`; see the header for its cost. */
  fork(contents: Content, machine: Machine): PageStore {
    const fork = new PageStore(this.geometry, contents, machine);
    fork.#origin = this;
    fork.#inherited = new Uint8Array(this.geometry.blocks).fill(1);
    fork.damage.copyFrom(this.damage);
    fork.history.table.values.set(this.history.table.values);
    this.#forks.push(fork);
    return fork;
  }

  /** Copies every block a fork still shares: before this store is changed by other means. */
  settleForks(): void {
    for (const fork of [...this.#forks]) {
      for (let block = 0; block < this.geometry.blocks; block++) fork.#adopt(block);
      fork.#untie();
    }
  }

  /**
   * Ends a fork's tie to its origin; its shared blocks are lost unless settled before. Forks of it
   * that live on get their blocks first.
   */
  release(): void {
    this.settleForks();
    this.#untie();
  }

  #untie(): void {
    const origin = this.#origin;
    if (origin !== null) origin.#forks = origin.#forks.filter((fork) => fork !== this);
    this.#origin = null;
    this.#inherited = null;
  }

  /** Before a block changes: forks get it as it was, and it is read through no more. */
  #own(blockIndex: number): void {
    if (this.#forks.length > 0) this.#handOver(blockIndex);
    if (this.#inherited !== null) this.#adopt(blockIndex);
  }

  #handOver(blockIndex: number): void {
    for (const fork of this.#forks) fork.#adopt(blockIndex);
  }

  /** Copies a block from the origin. Past the undo log: seen from outside, nothing changes. */
  #adopt(blockIndex: number): void {
    const inherited = this.#inherited;
    if (inherited === null || inherited[blockIndex] === 0) return;
    const origin = this.#holderOf(blockIndex);
    inherited[blockIndex] = 0;
    const count = this.geometry.slotsPerPage * CELLS_PER_SLOT;
    const pages = this.history.nextPageOf(blockIndex);
    for (let page = 0; page < pages; page++) {
      const first = this.#firstCell(blockIndex, page);
      for (let at = first; at < first + count; at++) {
        this.cells.values[at] = origin.cells.values[at]!;
      }
    }
  }

  #firstCell(blockIndex: number, page: number): number {
    return this.geometry.pageSlotOf(blockIndex, page) * CELLS_PER_SLOT;
  }

  #erasePage(first: number): void {
    const { values, log } = this.cells;
    const end = first + this.geometry.slotsPerPage * CELLS_PER_SLOT;
    for (let at = first + CONTENT; at < end; at += CELLS_PER_SLOT) {
      if (values[at]! < 0) this.#contents.release(values[at]!);
    }
    if (log.on) this.cells.clear(first, end - first);
    else for (let at = first; at < end; at++) values[at] = 0;
  }
}
