/** `bf3 image info`: what an image says of itself, how much of it is used, how worn its blocks. */
import { BlockState, IMAGE_VERSION } from './format.ts';
import type { ImageHeader } from './header.ts';
import type { ImageFile } from './image-file.ts';

/** Blocks with erase counts from `least` to `most`. */
export interface WearBin {
  readonly least: number;
  readonly most: number;
  readonly blocks: number;
}

export interface ImageInfo {
  readonly path: string;
  readonly version: number;
  readonly header: ImageHeader;
  readonly wasClean: boolean;
  readonly openings: number;
  /** Retention clock: how old the flash is, in whole minutes at 30 C. */
  readonly minute: number;
  /** Length of the file, and what it takes on disk. */
  readonly fileBytes: number;
  readonly diskBytes: number;
  readonly blocks: {
    readonly total: number;
    readonly erased: number;
    readonly written: number;
    readonly erasing: number;
    readonly damaged: number;
  };
  readonly eraseCount: {
    readonly least: number;
    readonly mean: number;
    readonly most: number;
    readonly histogram: readonly WearBin[];
  };
}

const BINS = 10;

export function imageInfo(image: ImageFile): ImageInfo {
  const { path, header, wasClean, openings, minute, blocks: table } = image;
  const count = (wanted: BlockState) =>
    table.blockStates.reduce((sum, state) => sum + (state === wanted ? 1 : 0), 0);
  return {
    ...{ path, version: IMAGE_VERSION, header, wasClean, openings, minute, ...image.sizes() },
    blocks: {
      total: table.blockStates.length,
      erased: count(BlockState.Erased),
      written: count(BlockState.Written),
      erasing: count(BlockState.Erasing),
      damaged: count(BlockState.Damaged),
    },
    eraseCount: wearOf(image),
  };
}

/** Blocks whose record is damaged count for nothing here. */
function wearOf({ blocks: table }: ImageFile): ImageInfo['eraseCount'] {
  const counts: number[] = [];
  table.blockStates.forEach((state, block) => {
    if (state !== BlockState.Damaged) counts.push(table.eraseCountOf(block));
  });
  if (counts.length === 0) return { least: 0, mean: 0, most: 0, histogram: [] };
  const least = counts.reduce((low, value) => Math.min(low, value));
  const most = counts.reduce((high, value) => Math.max(high, value));
  const mean = counts.reduce((sum, value) => sum + value, 0) / counts.length;
  const width = Math.max(1, Math.ceil((most - least + 1) / BINS));
  const bins = new Array<number>(Math.ceil((most - least + 1) / width)).fill(0);
  for (const value of counts) bins[Math.floor((value - least) / width)]!++;
  const histogram = bins.map((blocks, i) => {
    const from = least + i * width;
    return { least: from, most: Math.min(most, from + width - 1), blocks };
  });
  return { least, mean, most, histogram };
}
