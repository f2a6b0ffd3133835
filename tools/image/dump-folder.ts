/**
 * A folder of raw dumps: a file per die, and a manifest.
 *
 * A die's file has its raw pages one after another, block by block; data and spare of a page lie
 * together, as a chip reader writes them. Blocks that hold nothing are holes of the file, unless
 * it was written in full.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Geometry, GeometryCounts } from '../../hal/geometry.ts';
import { RunError } from '../errors.ts';
import { fileFault } from './positional-file.ts';

export const DUMP_FORMAT = 'bf3-raw-dump';
export const DUMP_VERSION = 1;
export const MANIFEST_NAME = 'manifest.json';
export const ANSWER_KEY_NAME = 'answer-key.jsonl';

/** What goes with the dumps: what a chip reader would not know. */
export interface DumpManifest {
  readonly format: typeof DUMP_FORMAT;
  readonly version: number;
  readonly profile: string;
  readonly part: string;
  readonly geometry: GeometryCounts;
  readonly seed: string;
  readonly createdBy: string;
  /** What a whole block that is a hole of its file stands for. */
  readonly holes: 'erased';
  /** The cells of each block that has some: block number over the array, then the cells. */
  readonly blocks: readonly (readonly number[])[];
}

/** 'ch0.die1.bin'. */
export function dieFileName(geometry: Geometry, die: number): string {
  const way = Math.floor(die / geometry.channels);
  return `ch${geometry.channelOf(die)}.die${way}.bin`;
}

/** Bytes of a raw page: data and spare. */
export function rawPageBytes({ pageBytes, spareBytes }: GeometryCounts): number {
  return pageBytes + spareBytes;
}

/** Bytes of one die's file. */
export function dieFileBytes(geometry: Geometry): number {
  return geometry.blocksPerDie * geometry.pagesPerBlock * rawPageBytes(geometry);
}

/**
 * The manifest's block cells by block number, empty when the folder has no manifest.
 * @throws RunError when there is a manifest that is none, or of another profile
 */
export function readBlockCells(
  folder: string,
  profile: string,
  blocks: number,
  cellCount: number,
): Map<number, Int32Array> {
  const path = join(folder, MANIFEST_NAME);
  const manifest = readManifest(path);
  const cells = new Map<number, Int32Array>();
  if (manifest === null) return cells;
  if (manifest.format !== DUMP_FORMAT || manifest.version !== DUMP_VERSION) {
    const right = `format "${DUMP_FORMAT}" version ${DUMP_VERSION} is wanted`;
    throw new RunError(`${path}: format: ${right}`);
  }
  if (manifest.profile !== profile) {
    const right = `--drive says ${profile}`;
    throw new RunError(`${path}: profile is ${String(manifest.profile)}; ${right}`);
  }
  if (!Array.isArray(manifest.blocks)) throw new RunError(`${path}: blocks: a list is wanted`);
  manifest.blocks.forEach((row: unknown, i) => {
    const isRow =
      Array.isArray(row) &&
      row.length === cellCount + 1 &&
      row.every((cell) => Number.isInteger(cell) && Math.abs(cell as number) < 2 ** 31) &&
      row[0] >= 0 &&
      row[0] < blocks;
    if (!isRow) {
      const right = `a block number below ${blocks} and ${cellCount} 32-bit integers are wanted`;
      throw new RunError(`${path}: blocks[${i}]: ${right}`);
    }
    cells.set(row[0] as number, Int32Array.from(row.slice(1) as number[]));
  });
  return cells;
}

function readManifest(path: string): Readonly<Record<string, unknown>> | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw new RunError(`cannot read ${path}: ${fileFault(error)}`, { cause: error });
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch (error) {
    throw new RunError(`${path}: this is no JSON`, { cause: error });
  }
  throw new RunError(`${path}: a JSON object is wanted`);
}
