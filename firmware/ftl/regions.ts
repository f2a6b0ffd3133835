/**
 * Regions: what a place in flash is used for, in the words of the layout.
 *
 * The block table says it while a superblock is in use. One that is being erased keeps its region
 * until the erase has ended: then the spare records of its first pages tell. This layout has
 * neither boot code nor journal nor footers; faults that name those regions meet nothing.
 */

import { METADATA } from '../../hal/flash-ops.ts';
import type { Geometry } from '../../hal/geometry.ts';
import { SuperblockState, type Superblocks } from './superblocks.ts';

/** What this layout uses flash for. */
export type Region = 'root' | 'checkpoint' | 'data';

/** Reads the page word of a slot as it was programmed, 0 when it is erased. */
export interface PageWords {
  pageWordOf(slot: number): number;
}

/**
 * Region of a block of a die; null for one that nothing uses.
 * @param block within the die
 */
export function regionOf(
  geometry: Geometry,
  superblocks: Superblocks,
  words: PageWords,
  die: number,
  block: number,
): Region | null {
  const superblock = block >>> geometry.planeBits;
  switch (superblocks.state[superblock] as SuperblockState) {
    case SuperblockState.Root:
      return 'root';
    case SuperblockState.Metadata:
      return 'checkpoint';
    case SuperblockState.Open:
    case SuperblockState.Closed:
    case SuperblockState.Victim:
      return 'data';
    case SuperblockState.Erasing: {
      const word = words.pageWordOf(geometry.unitSlotOf(die, superblock, 0));
      return (word & METADATA) !== 0 ? 'checkpoint' : 'data';
    }
    default:
      return null;
  }
}
