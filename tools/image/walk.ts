/** A walk over the pages of an image: superblock by superblock, only where something lies. */
import type { Geometry } from '../../hal/geometry.ts';
import { BlockState, PageState } from './format.ts';
import type { ImageFile } from './image-file.ts';
import { isErased } from './load.ts';
import { PageRecords } from './page-records.ts';

/** Told after each superblock how many are done. */
export type OnSuperblock = (done: number) => void;

/**
 * Calls `visit` with the page records of every superblock that holds something.
 * @param onSuperblock told of every superblock, erased ones too
 */
export function walkSuperblocks(
  image: ImageFile,
  visit: (superblock: number, records: PageRecords) => void,
  onSuperblock: OnSuperblock = () => undefined,
): void {
  const { layout, geometry } = image;
  const records = new PageRecords(layout, layout.pagesPerSuperblock);
  for (let superblock = 0; superblock < geometry.superblocks; superblock++) {
    if (!isErased(image, superblock)) {
      const first = superblock * layout.pagesPerSuperblock;
      image.readPageRecords(first, layout.pagesPerSuperblock, records);
      visit(superblock, records);
    }
    onSuperblock(superblock + 1);
  }
}

/** 'ch0.die1 block 2'. */
export function describeBlock(geometry: Geometry, blockIndex: number): string {
  return geometry.describe(geometry.pageSlotOf(blockIndex, 0)).replace(/ page .*/, '');
}

/** 'ch0.die1 block 2 page 3'. */
export function describePage(geometry: Geometry, slot: number): string {
  return geometry.describe(slot).replace(/ slot .*/, '');
}

export const BLOCK_STATE_NAMES: Readonly<Record<BlockState, string>> = {
  [BlockState.Erased]: 'erased',
  [BlockState.Written]: 'written',
  [BlockState.Erasing]: 'erasing',
  [BlockState.Damaged]: 'damaged',
};

export const PAGE_STATE_NAMES: Readonly<Record<PageState, string>> = {
  [PageState.Erased]: 'erased',
  [PageState.Programming]: 'interrupted',
  [PageState.Programmed]: 'programmed',
  [PageState.Damaged]: 'damaged',
};
