/**
 * Factory bad blocks: which blocks of a die its maker marked.
 *
 * A Poisson number of defects a die, some of which cover the block of the other plane as well.
 * Block 0 is always good and a die never has more than its data sheet allows. Sources: at most 100
 * of 4096 blocks bad and block 0 guaranteed, Micron L74A; mean 18 and the 20 % are assumed.
 */

import type { Geometry } from '../../hal/geometry.ts';
import { invariant } from '../../hal/sim/invariant.ts';
import { exactExp } from './exact-math.ts';
import { fractionOf, type PlaceKey, placeHash, placeKey } from './place-hash.ts';

export interface FactoryBadLaw {
  /** Mean number of bad blocks of a die of 4096 blocks; scaled to other dies. */
  readonly meanPer4096: number;
  /** Most bad blocks of a die of 4096 blocks; scaled, but at least one. */
  readonly maxPer4096: number;
  /** Share of the bad blocks that come as a pair, one on each plane. */
  readonly pairedShare: number;
}

export const FACTORY_BAD: FactoryBadLaw = { meanPer4096: 18, maxPer4096: 100, pairedShare: 0.2 };

const FULL_DIE_BLOCKS = 4096;
/** Above this mean, exp(-mean) leaves too few bits. */
const MEAN_MAX = 500;

/** Bad blocks of one die, by block number within the die, rising. */
export function factoryBadBlocks(
  seed: string,
  die: number,
  blocksPerDie: number,
  planes: number,
  law: FactoryBadLaw = FACTORY_BAD,
): number[] {
  const scale = blocksPerDie / FULL_DIE_BLOCKS;
  const most = Math.max(1, Math.floor(law.maxPer4096 * scale));
  const mean = law.meanPer4096 * scale;
  invariant(mean >= 0 && mean <= MEAN_MAX, 'a die has a mean of 0 to 500 factory bad blocks');
  // A share s of blocks in pairs means that a defect is a pair with chance s / (2 - s).
  const pairChance = planes > 1 ? law.pairedShare / (2 - law.pairedShare) : 0;
  const key = placeKey(seed, 'nand.factory-bad');
  const defects = poisson(mean / (1 + pairChance), drawAt(key, die, 0));
  const bad = new Set<number>();
  for (let defect = 0; defect < defects; defect++) {
    const at = 1 + 2 * defect;
    const block = 1 + Math.floor(drawAt(key, die, at) * (blocksPerDie - 1));
    addWithin(bad, block, most);
    const partner = block ^ 1;
    if (partner !== 0 && drawAt(key, die, at + 1) < pairChance) addWithin(bad, partner, most);
  }
  return [...bad].sort((a, b) => a - b);
}

/** 1 for a bad block, by block counted over the whole array. */
export function factoryBadMap(
  seed: string,
  geometry: Geometry,
  law: FactoryBadLaw = FACTORY_BAD,
): Uint8Array {
  const map = new Uint8Array(geometry.blocks);
  for (let die = 0; die < geometry.dies; die++) {
    const { blocksPerDie, planes } = geometry;
    for (const block of factoryBadBlocks(seed, die, blocksPerDie, planes, law)) {
      map[geometry.blockIndex(die, block)] = 1;
    }
  }
  return map;
}

function addWithin(bad: Set<number>, block: number, most: number): void {
  if (bad.size < most) bad.add(block);
}

function drawAt(key: PlaceKey, die: number, index: number): number {
  return fractionOf(placeHash(key, die, index, 0));
}

/** The Poisson count at a uniform, by its inverse cumulative function. */
function poisson(mean: number, u: number): number {
  let term = exactExp(-mean);
  let sum = term;
  let count = 0;
  while (u >= sum && term > 0) {
    count++;
    term *= mean / count;
    sum += term;
  }
  return count;
}
