/**
 * The follower: writes what a page store programs and erases into an image.
 *
 * Units wait in a batch until it is full or `flush` is called, so that the file sees few and large
 * writes; what is erased or damaged goes after them, so the file is always the flash as it was at
 * some instant. A page that has been written is at home in the file, so it leaves memory. Before a
 * block is erased, pages that somebody else still refers to come back into memory first.
 */
import { ByteContent } from '../../hal/content/byte-content.ts';
import type { Content } from '../../hal/content/content.ts';
import { isMetadata } from '../../hal/content/metadata-pages.ts';
import { BlockFlag, HISTORY_CELLS } from '../../nand/block-history.ts';
import type { PageStore } from '../../nand/page-store.ts';
import type { StoreFollower } from '../../nand/store-follower.ts';
import { BLOCK_CELLS, BlockState, encodeRber, NEXT_PAGE, SlotKind } from './format.ts';
import type { ImageFile, SlotSource } from './image-file.ts';
import { setHome } from './load.ts';
import type { SlotValues } from './page-records.ts';
import { UnitBatch } from './unit-batch.ts';

export class ImageFollower implements StoreFollower, SlotSource {
  readonly #image: ImageFile;
  readonly #store: PageStore;
  readonly #contents: Content;
  readonly #cells = new Int32Array(BLOCK_CELLS);
  readonly #batch: UnitBatch;

  /**
   * @param store holds what the image holds: both are empty, or loadImage has filled it
   * @param contents the store's own; they read from the image from now on
   */
  constructor(image: ImageFile, store: PageStore, contents: Content) {
    this.#image = image;
    this.#store = store;
    this.#contents = contents;
    this.#batch = new UnitBatch(store.geometry);
    setHome(image, contents);
  }

  /** Writes the units that wait: from here on a killed process leaves them in the file. */
  flush(): void {
    if (!this.#batch.isEmpty) this.#batch.take(this.#write);
  }

  programmed(firstSlot: number, count: number): void {
    const { slotsPerPage, slotsPerUnit } = this.#store.geometry;
    if (!this.#batch.takes(firstSlot)) this.flush();
    if (count === slotsPerUnit && this.#isNew(firstSlot, count)) {
      this.#batch.add(firstSlot);
      return;
    }
    this.flush();
    for (let slot = firstSlot; slot < firstSlot + count; slot += slotsPerPage) {
      if (this.#isNew(slot, slotsPerPage)) this.#write(slot, slotsPerPage);
      else this.#image.writeDamage(slot, this.damageOf(slot));
    }
  }

  beforeErase(blockIndex: number): void {
    this.flush();
    const { geometry, history } = this.#store;
    const pages = history.nextPageOf(blockIndex);
    const contents = this.#contents;
    for (let page = 0; page < pages; page++) {
      const first = geometry.pageSlotOf(blockIndex, page);
      for (let slot = first; slot < first + geometry.slotsPerPage; slot++) {
        const content = this.#store.contentOf(slot);
        if (content >= 0) continue;
        if (contents instanceof ByteContent) contents.leaveHome(content, slot);
        else if (isMetadata(content)) contents.metadata.leaveHome(content, slot);
      }
    }
  }

  erased(blockIndex: number): void {
    this.#image.eraseBlock(blockIndex, this.#cellsOf(blockIndex));
  }

  /**
   * Brings everything to the disk, what blocks have been through since they were opened too: reads,
   * instants and what cut operations have left are only written here.
   */
  sync(): void {
    this.flush();
    const { blocks, geometry } = this.#image;
    for (const { block, page } of this.#store.damage.list()) {
      this.programmed(geometry.pageSlotOf(block, page), geometry.slotsPerPage);
    }
    for (let block = 0; block < blocks.blockStates.length; block++) {
      if (blocks.blockStates[block] !== BlockState.Damaged) this.#takeHistory(block);
    }
    this.#image.sync();
  }

  damageOf(firstSlot: number): number {
    const { geometry, history, damage } = this.#store;
    const block = geometry.blockIndexOf(firstSlot);
    if ((history.flagsOf(block) & BlockFlag.Damaged) === 0) return 0;
    return encodeRber(damage.rberOf(block, geometry.pageOf(firstSlot)));
  }

  /** All pages of a run are used in the store and not in the image: faults make it otherwise. */
  #isNew(firstSlot: number, count: number): boolean {
    const { geometry, history } = this.#store;
    for (let slot = firstSlot; slot < firstSlot + count; slot += geometry.slotsPerPage) {
      const block = geometry.blockIndexOf(slot);
      const page = geometry.pageOf(slot);
      if (page >= history.nextPageOf(block)) return false;
      if (page < this.#image.blocks.nextPageOf(block)) return false;
    }
    return true;
  }

  /** Writes pages that follow one another; their data is at home in the file from then on. */
  readonly #write = (firstSlot: number, count: number): void => {
    const { geometry } = this.#store;
    for (let slot = firstSlot; slot < firstSlot + count; slot += geometry.slotsPerPage) {
      const block = geometry.blockIndexOf(slot);
      // Its first page: the record that is written now says when that was.
      if (this.#image.blocks.blockStates[block] === BlockState.Erased) this.#open(block);
    }
    this.#image.writeRun(firstSlot, count, this);
    for (let slot = firstSlot; slot < firstSlot + count; slot++) {
      const content = this.#store.contentOf(slot);
      if (content >= 0) continue;
      if (this.#contents instanceof ByteContent) this.#contents.settleAt(content, slot);
      else if (isMetadata(content)) this.#contents.metadata.settleAt(content, slot);
    }
  };

  /** History of a block whose first page is programmed; the clock is never behind it. */
  #open(blockIndex: number): void {
    this.#takeHistory(blockIndex);
    const minute = this.#store.history.lastMinuteOf(blockIndex);
    if (minute <= this.#image.minute) return;
    this.#image.minute = minute;
    this.#image.writeClock();
  }

  /** Hands the cells of a block to the image when they differ; the next page it knows itself. */
  #takeHistory(blockIndex: number): void {
    const first = blockIndex * BLOCK_CELLS;
    const cells = this.#cellsOf(blockIndex);
    const { blocks } = this.#image;
    cells[NEXT_PAGE] = blocks.nextPageOf(blockIndex);
    for (let i = 0; i < BLOCK_CELLS; i++) {
      if (cells[i] === blocks.cells[first + i]) continue;
      this.#image.writeBlock(blockIndex, cells);
      return;
    }
  }

  #cellsOf(blockIndex: number): Int32Array {
    const cells = this.#cells;
    const { values } = this.#store.history.table;
    const first = blockIndex * HISTORY_CELLS;
    cells.set(values.subarray(first, first + BLOCK_CELLS));
    return cells;
  }

  /** One slot of the store as the image keeps it. */
  slot(slot: number, into: SlotValues): Uint8Array | null {
    const content = this.#store.contentOf(slot);
    into.pageWord = this.#store.pageWordOf(slot);
    into.order = this.#store.orderOf(slot);
    into.badSectors = content < 0 ? this.#contents.spoiledOf(content) : 0;
    into.tag = content > 0 ? content : 0;
    if (content === 0) into.kind = SlotKind.Zeros;
    else if (content > 0) into.kind = SlotKind.Tag;
    else if (isMetadata(content)) into.kind = SlotKind.Metadata;
    else into.kind = this.#contents.holdsBytes ? SlotKind.Bytes : SlotKind.Mixture;
    return content < 0 ? this.#contents.bytesOf(content) : null;
  }
}
