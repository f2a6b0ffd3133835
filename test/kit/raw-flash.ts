/**
 * What a reader of the raw flash makes of it: newest copies, frontiers, pages of metadata.
 */

import type { Drive, NandImage, RawSlot } from '../../firmware/drive.ts';
import { LPN_MASK, METADATA } from '../../hal/flash-ops.ts';

/** The newest programmed copy of every logical page: the one with the highest order number. */
export function newestCopies(image: NandImage): Map<number, RawSlot> {
  const newest = new Map<number, RawSlot>();
  for (const slot of image.programmedSlots()) {
    if (slot.isMetadata) continue;
    const known = newest.get(slot.lpn);
    if (known === undefined || known.order <= slot.order) newest.set(slot.lpn, slot);
  }
  return newest;
}

/** Logical pages whose newest copy on flash is not `expected`'s tag, as sentences; [] when none. */
export function missingOnFlash(image: NandImage, expected: ReadonlyMap<number, number>): string[] {
  const newest = newestCopies(image);
  return [...expected]
    .filter(([lpn, tag]) => newest.get(lpn)?.content !== tag)
    .map(([lpn, tag]) => `page ${lpn} is ${newest.get(lpn)?.content ?? 'absent'}, not ${tag}`);
}

/** The metadata pages of one superblock by page number: a checkpoint's 0 is its header. */
export function metadataPages(drive: Drive, superblock: number): Map<number, Uint8Array> {
  const { geometry, contents } = drive;
  const { store } = drive.array;
  const pages = new Map<number, Uint8Array>();
  const first = superblock * geometry.slotsPerSuperblock;
  for (let slot = first; slot < first + geometry.slotsPerSuperblock; slot++) {
    const word = store.pageWordOf(slot);
    if ((word & METADATA) === 0) continue;
    pages.set((word & LPN_MASK) - 1, contents.bytesOf(store.contentOf(slot)));
  }
  return pages;
}
