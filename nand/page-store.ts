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
import type { Geometry } from '../hal/geometry.ts';
import { BigTable } from '../hal/sim/big-table.ts';
import { invariant } from '../hal/sim/invariant.ts';
import type { Machine } from '../hal/sim/snapshot.ts';

export class PageStore {
  readonly geometry: Geometry;
  /** Data handle of each slot; the store owns one reference. */
  readonly content: BigTable;
  /** Logical page plus one and flags (flash-ops.ts); 0 in erased and padding slots. */
  readonly pageWord: BigTable;
  /** Low 32 bits of the order number. */
  readonly order: BigTable;
  /** Next page each block accepts; pages behind it are never programmed before an erase. */
  readonly nextPage: BigTable;
  readonly eraseCount: BigTable;
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
    this.content = table('flash-content', geometry.slots);
    this.pageWord = table('flash-page-word', geometry.slots);
    this.order = table('flash-order', geometry.slots);
    this.nextPage = table('flash-next-page', geometry.blocks);
    this.eraseCount = table('flash-erase-count', geometry.blocks);
  }

  /** Opens `page` of a block for programming: pages only ever go upwards in a block. */
  openPage(blockIndex: number, page: number): void {
    if (this.#forks.length > 0) this.#handOver(blockIndex);
    if (this.#inherited !== null) this.#adopt(blockIndex);
    invariant(page >= this.nextPage.values[blockIndex]!, 'a block takes its pages in rising order');
    this.nextPage.write(blockIndex, page + 1);
  }

  /** Programs one slot of an open page; takes over one reference to `content`. */
  program(slot: number, content: number, pageWord: number, order: number): void {
    if (content !== 0) this.content.write(slot, content);
    if (pageWord !== 0) this.pageWord.write(slot, pageWord);
    if (order !== 0) this.order.write(slot, order);
  }

  erase(blockIndex: number): void {
    if (this.#forks.length > 0) this.#handOver(blockIndex);
    if (this.#inherited !== null) this.#adopt(blockIndex);
    const count = this.geometry.slotsPerBlock;
    const first = blockIndex * count;
    const contents = this.content.values;
    for (let slot = first; slot < first + count; slot++) {
      if (contents[slot]! < 0) this.#contents.release(contents[slot]!);
    }
    this.content.clear(first, count);
    this.pageWord.clear(first, count);
    this.order.clear(first, count);
    this.nextPage.write(blockIndex, 0);
    this.eraseCount.write(blockIndex, this.eraseCount.values[blockIndex]! + 1);
  }

  /** The store that holds a block's cells: this one, or the origin for a block still shared. */
  of(blockIndex: number): PageStore {
    const inherited = this.#inherited;
    if (inherited === null || inherited[blockIndex] === 0) return this;
    return this.#origin!.of(blockIndex);
  }

  /** A store with the same cells over `contents`; see the header for its cost. */
  fork(contents: Content, machine: Machine): PageStore {
    const fork = new PageStore(this.geometry, contents, machine);
    fork.#origin = this;
    fork.#inherited = new Uint8Array(this.geometry.blocks).fill(1);
    this.#forks.push(fork);
    return fork;
  }

  /** Copies every block a fork still shares: before this store is changed by other means. */
  settleForks(): void {
    for (const fork of [...this.#forks]) {
      for (let block = 0; block < this.geometry.blocks; block++) fork.#adopt(block);
      fork.release();
    }
  }

  /** Ends a fork's tie to its origin; its shared blocks are lost unless settled before. */
  release(): void {
    const origin = this.#origin;
    if (origin !== null) origin.#forks = origin.#forks.filter((fork) => fork !== this);
    this.#origin = null;
    this.#inherited = null;
  }

  #handOver(blockIndex: number): void {
    for (const fork of this.#forks) fork.#adopt(blockIndex);
  }

  #adopt(blockIndex: number): void {
    const inherited = this.#inherited;
    if (inherited === null || inherited[blockIndex] === 0) return;
    const origin = this.of(blockIndex);
    inherited[blockIndex] = 0;
    this.nextPage.write(blockIndex, origin.nextPage.values[blockIndex]!);
    this.eraseCount.write(blockIndex, origin.eraseCount.values[blockIndex]!);
    if (origin.nextPage.values[blockIndex] === 0) return;
    const count = this.geometry.slotsPerBlock;
    for (let slot = blockIndex * count; slot < (blockIndex + 1) * count; slot++) {
      this.content.write(slot, origin.content.values[slot]!);
      this.pageWord.write(slot, origin.pageWord.values[slot]!);
      this.order.write(slot, origin.order.values[slot]!);
    }
  }
}
