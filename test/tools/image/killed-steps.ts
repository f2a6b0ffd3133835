/** The steps of a writer that is killed: which program or erase comes as the Nth. */
import type { Geometry } from '../../../hal/geometry.ts';

export interface Step {
  readonly die: number;
  readonly superblock: number;
  /** Page to program, null for an erase. */
  readonly page: number | null;
  /** Seed of the first slot; of the others the numbers after it. */
  readonly seed: number;
}

/** Two superblocks in turn: programs go over dies, then pages; then each die is erased. */
export function stepOf({ dies, pagesPerBlock }: Geometry, step: number): Step {
  const programs = dies * pagesPerBlock;
  const round = programs + dies;
  const superblock = Math.floor(step / round) % 2;
  const inRound = step % round;
  if (inRound >= programs) return { die: inRound - programs, superblock, page: null, seed: 0 };
  const seed = 1 + step * 4;
  return { die: inRound % dies, superblock, page: Math.floor(inRound / dies), seed };
}
