/**
 * Loads an image: fills a page store with what the flash in the file holds.
 *
 * Records are read, data is not: pages of bytes are handed out as pages that are at home in the
 * file, and come when they are looked at. So opening takes as long as the records need.
 */
import { ByteContent } from '../../hal/content/byte-content.ts';
import type { Content } from '../../hal/content/content.ts';
import { SECTOR_BYTES, SECTORS_PER_SLOT, SLOT_BYTES } from '../../hal/sim/units.ts';
import { HISTORY_CELLS } from '../../nand/block-history.ts';
import type { PageStore } from '../../nand/page-store.ts';
import { RunError } from '../errors.ts';
import { BLOCK_CELLS, BlockState, decodeRber, ERASE_COUNT, PageState, SlotKind } from './format.ts';
import type { ContentKind } from './header.ts';
import type { ImageFile } from './image-file.ts';
import { PageRecords, SlotValues } from './page-records.ts';

/** What was found in the image, and what was not whole; pages by the number of their first slot. */
export interface LoadReport {
  readonly programmedPages: number;
  /**
   * Programs that were begun and have not ended: the page is used, empty in the store, and reads as
   * random bits.
   */
  readonly interruptedPages: readonly number[];
  /** Blocks whose erase was begun and has not ended: they still hold what they held. */
  readonly interruptedErases: readonly number[];
  /** Pages whose record is damaged: as interrupted ones in the store. */
  readonly damagedPages: readonly number[];
  readonly damagedBlocks: readonly number[];
}

/** Bit error rate of a page of which nothing is known: every other bit is wrong. */
const RANDOM_RBER = 0.5;

/** The kind of image that a store of contents goes with. */
export function contentKindOf(contents: Content): ContentKind {
  return contents.holdsBytes ? 'bytes' : 'tags';
}

/**
 * Fills an empty page store. `contents` are the store's own; they read from the image from now on.
 * @throws RunError when the image holds another kind of content or flash of another geometry
 */
export function loadImage(image: ImageFile, store: PageStore, contents: Content): LoadReport {
  checkStore(image, store, contents);
  setHome(image, contents);
  const report = {
    ...{ programmedPages: 0, interruptedPages: [] as number[], interruptedErases: [] as number[] },
    ...{ damagedPages: [] as number[], damagedBlocks: [] as number[] },
  };
  const { blocks, layout, geometry } = image;
  let pages = 0;
  for (let block = 0; block < geometry.blocks; block++) {
    loadCells(image, store, block);
    pages += blocks.nextPageOf(block);
    const state = blocks.blockStates[block];
    if (state === BlockState.Erasing) report.interruptedErases.push(block);
    if (state === BlockState.Damaged) report.damagedBlocks.push(block);
  }
  if (contents instanceof ByteContent) contents.reserve(pages * geometry.slotsPerPage);
  const records = new PageRecords(layout, layout.pagesPerSuperblock);
  const loader = new SlotLoader(image, store, contents, records);
  for (let superblock = 0; superblock < geometry.superblocks; superblock++) {
    if (isErased(image, superblock)) continue;
    const first = superblock * layout.pagesPerSuperblock;
    image.readPageRecords(first, layout.pagesPerSuperblock, records);
    for (let i = 0; i < records.count; i++) {
      const slot = (first + i) * geometry.slotsPerPage;
      const state = records.stateOf(i, blocks);
      if (state === PageState.Erased) continue;
      loader.usePage(slot);
      blocks.use(geometry.blockIndexOf(slot), geometry.pageOf(slot) + 1);
      if (state === PageState.Programmed) {
        report.programmedPages++;
        loader.loadPage(i, slot);
        const rber = decodeRber(records.damageOf(i));
        store.damagePage(geometry.blockIndexOf(slot), geometry.pageOf(slot), rber);
        continue;
      }
      const list = state === PageState.Damaged ? report.damagedPages : report.interruptedPages;
      list.push(slot);
      store.damagePage(geometry.blockIndexOf(slot), geometry.pageOf(slot), RANDOM_RBER);
    }
  }
  return report;
}

/**
 * Erase count and history of a block; the next page comes from the page records. Of a block that
 * has none the store knows more: the maker's mark.
 */
function loadCells({ blocks }: ImageFile, store: PageStore, block: number): void {
  const { table } = store.history;
  const { cells } = blocks;
  const from = block * BLOCK_CELLS;
  let any = 0;
  for (let i = 0; i < BLOCK_CELLS; i++) any |= cells[from + i]!;
  if (any === 0) return;
  const first = block * HISTORY_CELLS;
  for (let i = ERASE_COUNT; i < BLOCK_CELLS; i++) {
    if (table.values[first + i] !== cells[from + i]) table.write(first + i, cells[from + i]!);
  }
}

/** True when no block of the superblock holds anything. */
export function isErased(image: ImageFile, superblock: number): boolean {
  const { dies, planes } = image.geometry;
  const first = superblock * dies * planes;
  for (let block = first; block < first + dies * planes; block++) {
    if (image.blocks.blockStates[block] !== BlockState.Erased) return false;
  }
  return true;
}

/** Makes an image the home of the pages of `contents`. */
export function setHome(image: ImageFile, contents: Content): void {
  const home = { read: (slot: number, into: Uint8Array) => image.readData(slot, into) };
  if (contents instanceof ByteContent) contents.setHome(home);
  else contents.metadata.setHome(home);
}

function checkStore(image: ImageFile, store: PageStore, contents: Content): void {
  const { path, geometry, header } = image;
  const wanted = contentKindOf(contents);
  if (header.content !== wanted) {
    const right = `this run works with ${wanted}`;
    throw new RunError(`${path}: header: content is ${header.content}; ${right}`);
  }
  for (const name of ['dies', 'planes', 'blocksPerDie', 'pagesPerBlock', 'pageBytes'] as const) {
    if (geometry[name] === store.geometry[name]) continue;
    const right = `this drive has ${store.geometry[name]}`;
    throw new RunError(`${path}: header: geometry: ${name} is ${geometry[name]}; ${right}`);
  }
}

class SlotLoader {
  readonly #image: ImageFile;
  readonly #store: PageStore;
  readonly #contents: Content;
  readonly #records: PageRecords;
  readonly #values = new SlotValues();
  readonly #bytes = new Uint8Array(SLOT_BYTES);

  constructor(image: ImageFile, store: PageStore, contents: Content, records: PageRecords) {
    this.#image = image;
    this.#store = store;
    this.#contents = contents;
    this.#records = records;
  }

  /** The page can only be programmed again after an erase. */
  usePage(slot: number): void {
    const { geometry, history } = this.#store;
    const block = geometry.blockIndexOf(slot);
    const page = geometry.pageOf(slot);
    if (page >= history.nextPageOf(block)) {
      history.load(block, page + 1, history.eraseCountOf(block));
    }
  }

  loadPage(index: number, firstSlot: number): void {
    const { slotsPerPage } = this.#store.geometry;
    const values = this.#values;
    for (let j = 0; j < slotsPerPage; j++) {
      this.#records.slot(index * slotsPerPage + j, values);
      const content = this.#handleOf(firstSlot + j, values);
      this.#store.program(firstSlot + j, content, values.pageWord, values.order);
    }
  }

  #handleOf(slot: number, { kind, tag, badSectors }: SlotValues): number {
    const contents = this.#contents;
    switch (kind) {
      case SlotKind.Zeros:
        return 0;
      case SlotKind.Metadata:
        return contents.metadata.adopt(slot);
      case SlotKind.Bytes:
        if (contents instanceof ByteContent) return contents.adopt(slot, badSectors);
        break;
      case SlotKind.Tag:
        if (!contents.holdsBytes) return tag;
        break;
      case SlotKind.Mixture:
        if (!contents.holdsBytes) return this.#mixture(slot, badSectors);
    }
    const { path, geometry } = this.#image;
    const what = `a slot of kind ${SlotKind[kind]} in an image of ${contentKindOf(contents)}`;
    throw new RunError(`${path}: ${geometry.describe(slot)}: ${what}`);
  }

  /** A page of eight tags again, made by merging one sector after another. */
  #mixture(slot: number, badSectors: number): number {
    this.#image.readData(slot, this.#bytes);
    const view = new DataView(this.#bytes.buffer);
    const tagAt = (sector: number) =>
      (badSectors >> sector) & 1 ? 0 : view.getInt32(sector * SECTOR_BYTES, true);
    let content = tagAt(0);
    for (let sector = 1; sector < SECTORS_PER_SLOT; sector++) {
      const tag = tagAt(sector);
      const merged = this.#contents.merge(content, tag, 1 << sector);
      this.#contents.release(content);
      content = merged;
    }
    return badSectors === 0 ? content : this.#contents.spoil(content, badSectors);
  }
}
