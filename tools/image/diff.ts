/** `bf3 image diff`: in which blocks, pages and slots two images of the same geometry differ. */
import { RunError } from '../errors.ts';
import { BLOCK_CELLS, ERASE_COUNT, PageState, SlotKind } from './format.ts';
import type { ImageFile } from './image-file.ts';
import { isErased } from './load.ts';
import { PageRecords, SlotValues } from './page-records.ts';
import {
  BLOCK_STATE_NAMES,
  describeBlock,
  describePage,
  type OnSuperblock,
  PAGE_STATE_NAMES,
} from './walk.ts';

/** One difference: what each image says of a place. */
export interface Difference {
  readonly what: 'block' | 'page' | 'slot';
  readonly place: string;
  readonly a: string;
  readonly b: string;
}

export interface DiffReport {
  readonly a: string;
  readonly b: string;
  /** Blocks, pages and slots that differ. */
  readonly blocks: number;
  readonly pages: number;
  readonly slots: number;
  /** The first of them, as many as were asked for. */
  readonly differences: readonly Difference[];
}

/**
 * Compares two images by their records: data by its checksum.
 * @param most differences to list; all are counted
 * @throws RunError when the geometries differ
 */
export function diffImages(
  a: ImageFile,
  b: ImageFile,
  most: number,
  onSuperblock: OnSuperblock = () => undefined,
): DiffReport {
  checkGeometry(a, b);
  const comparison = new Comparison(a, b, most);
  for (let superblock = 0; superblock < a.geometry.superblocks; superblock++) {
    comparison.compare(superblock);
    onSuperblock(superblock + 1);
  }
  return comparison.report();
}

function checkGeometry(a: ImageFile, b: ImageFile): void {
  for (const [name, count] of Object.entries(a.header.geometry)) {
    const other = b.header.geometry[name as keyof typeof b.header.geometry];
    if (count === other) continue;
    const right = `images of one geometry can be compared`;
    throw new RunError(`${b.path}: geometry.${name} is ${other}, of ${a.path} ${count}; ${right}`);
  }
}

class Comparison {
  readonly #images: readonly [ImageFile, ImageFile];
  readonly #records: readonly [PageRecords, PageRecords];
  readonly #values = [new SlotValues(), new SlotValues()] as const;
  readonly #most: number;
  readonly #differences: Difference[] = [];
  readonly #counts = { block: 0, page: 0, slot: 0 };

  constructor(a: ImageFile, b: ImageFile, most: number) {
    const { layout } = a;
    this.#images = [a, b];
    this.#records = [
      new PageRecords(layout, layout.pagesPerSuperblock),
      new PageRecords(layout, layout.pagesPerSuperblock),
    ];
    this.#most = most;
  }

  report(): DiffReport {
    const [a, b] = this.#images;
    const { block: blocks, page: pages, slot: slots } = this.#counts;
    return { a: a.path, b: b.path, blocks, pages, slots, differences: this.#differences };
  }

  compare(superblock: number): void {
    const [a, b] = this.#images;
    const { dies, planes, slotsPerPage } = a.geometry;
    const firstBlock = superblock * dies * planes;
    for (let block = firstBlock; block < firstBlock + dies * planes; block++) {
      this.#compareBlock(block);
    }
    if (isErased(a, superblock) && isErased(b, superblock)) return;
    const count = a.layout.pagesPerSuperblock;
    const first = superblock * count;
    this.#images.forEach((image, i) => {
      image.readPageRecords(first, count, this.#records[i]!);
    });
    for (let i = 0; i < count; i++) {
      const [stateA, stateB] = this.#statesOf(i);
      if (stateA !== stateB) {
        const place = describePage(a.geometry, (first + i) * slotsPerPage);
        this.#add('page', place, PAGE_STATE_NAMES[stateA], PAGE_STATE_NAMES[stateB]);
      } else if (stateA === PageState.Programmed) {
        this.#compareSlots(i, (first + i) * slotsPerPage);
      }
    }
  }

  #statesOf(index: number): [PageState, PageState] {
    const [a, b] = this.#images;
    const [recordsA, recordsB] = this.#records;
    return [recordsA.stateOf(index, a.blocks), recordsB.stateOf(index, b.blocks)];
  }

  #compareBlock(block: number): void {
    const [a, b] = this.#images.map(({ blocks }) => {
      const state = BLOCK_STATE_NAMES[blocks.blockStates[block] as keyof typeof BLOCK_STATE_NAMES];
      const first = block * BLOCK_CELLS;
      // The next page is compared page by page.
      const cells = blocks.cells.subarray(first + ERASE_COUNT, first + BLOCK_CELLS);
      const [eraseCount, ...history] = cells;
      return `${state}, erase count ${eraseCount}, history ${history.join(' ')}`;
    });
    if (a !== b) this.#add('block', describeBlock(this.#images[0].geometry, block), a!, b!);
  }

  #compareSlots(index: number, firstSlot: number): void {
    const { geometry } = this.#images[0];
    const [a, b] = this.#values;
    const [recordsA, recordsB] = this.#records;
    for (let j = 0; j < geometry.slotsPerPage; j++) {
      recordsA.slot(index * geometry.slotsPerPage + j, a);
      recordsB.slot(index * geometry.slotsPerPage + j, b);
      if (isSame(a, b)) continue;
      this.#add('slot', geometry.describe(firstSlot + j), describeSlot(a), describeSlot(b));
    }
  }

  #add(what: Difference['what'], place: string, a: string, b: string): void {
    this.#counts[what]++;
    if (this.#differences.length < this.#most) this.#differences.push({ what, place, a, b });
  }
}

function isSame(a: SlotValues, b: SlotValues): boolean {
  const sameContent = a.kind === b.kind && a.tag === b.tag && a.dataCrc === b.dataCrc;
  const sameSpare = a.pageWord === b.pageWord && a.order === b.order;
  return sameContent && sameSpare && a.badSectors === b.badSectors;
}

function describeSlot({ kind, pageWord, order, tag, dataCrc, badSectors }: SlotValues): string {
  const content = kind === SlotKind.Tag ? `tag ${tag}` : `CRC ${hex(dataCrc)}`;
  const spare = `page word ${hex(pageWord)} order ${order >>> 0} bad sectors ${badSectors}`;
  return `${SlotKind[kind].toLowerCase()} ${content} ${spare}`;
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0');
}
