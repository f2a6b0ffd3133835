/** `bf3 image import`: makes an image of raw dumps, one a die, decoding every page. */
import { renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { METADATA } from '../../hal/flash-ops.ts';
import type { Geometry } from '../../hal/geometry.ts';
import { SLOT_BYTES } from '../../hal/sim/units.ts';
import { PageCodec, type SlotRecord } from '../../nand/ecc/page-codec.ts';
import { RunError } from '../errors.ts';
import { dieFileBytes, dieFileName, readBlockCells } from './dump-folder.ts';
import { BLOCK_CELLS, ERASE_COUNT, NEXT_PAGE, SlotKind } from './format.ts';
import type { ImageHeader } from './header.ts';
import { ImageFile, type SlotSource } from './image-file.ts';
import type { SlotValues } from './page-records.ts';
import { fileFault, PositionalFile } from './positional-file.ts';
import { describePage } from './walk.ts';

export interface ImportReport {
  readonly path: string;
  readonly programmedPages: number;
  /** Pages with wrong bits that were corrected, and the bits. */
  readonly correctedPages: number;
  readonly correctedBits: number;
  /** Pages that cannot be decoded: they are interrupted programs in the image. */
  readonly uncorrectablePages: readonly string[];
  /** Pages that decode to data that does not match its checksum; interrupted programs as well. */
  readonly wrongPages: readonly string[];
}

/**
 * Decodes the dumps of a folder into a new image.
 * @param onBlock told after each block how many are done, of all dies
 * @throws RunError when a dump is missing or has another length, or the image cannot be made
 */
export function importImage(
  folder: string,
  path: string,
  header: ImageHeader,
  onBlock: (done: number) => void = () => undefined,
): ImportReport {
  // Only a complete image gets the name.
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) {
    throw new RunError(`cannot make ${path}: it exists already; give a new name or remove it`);
  }
  const partial = `${path}.${process.pid}.partial`;
  const image = ImageFile.create(partial, header);
  try {
    const importer = new Importer(image, folder);
    const { dies, blocks } = image.geometry;
    for (let die = 0; die < dies; die++) {
      importer.importDie(die, (inDie) => onBlock((die * blocks) / dies + inDie));
    }
    image.close();
    rename(partial, path);
    return { path, ...importer.report() };
  } catch (error) {
    image.abandon();
    rmSync(partial, { force: true });
    throw error;
  }
}

function rename(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    throw new RunError(`cannot make ${to}: ${fileFault(error)}`, { cause: error });
  }
}

const ZEROS = new Uint8Array(SLOT_BYTES);

function isZeros(data: Uint8Array): boolean {
  return Buffer.compare(data, ZEROS) === 0;
}

class Importer implements SlotSource {
  readonly #image: ImageFile;
  readonly #geometry: Geometry;
  readonly #folder: string;
  readonly #codec: PageCodec;
  readonly #cells: ReadonlyMap<number, Int32Array>;
  /** The raw pages of one block, and pages to compare with. */
  readonly #block: Uint8Array;
  readonly #erased: Uint8Array;
  readonly #hole: Uint8Array;
  readonly #data: Uint8Array;
  readonly #records: SlotRecord[];
  #programmedPages = 0;
  #correctedPages = 0;
  #correctedBits = 0;
  readonly #uncorrectablePages: string[] = [];
  readonly #wrongPages: string[] = [];

  constructor(image: ImageFile, folder: string) {
    const { geometry, header } = image;
    this.#image = image;
    this.#geometry = geometry;
    this.#folder = folder;
    this.#codec = new PageCodec(geometry);
    this.#records = this.#codec.newRecords();
    this.#cells = readBlockCells(folder, header.profile, geometry.blocks, BLOCK_CELLS);
    const { rawBytes } = this.#codec;
    this.#block = new Uint8Array(geometry.pagesPerBlock * rawBytes);
    this.#erased = new Uint8Array(rawBytes).fill(0xff);
    this.#hole = new Uint8Array(rawBytes);
    this.#data = new Uint8Array(geometry.pageBytes);
  }

  report(): Omit<ImportReport, 'path'> {
    return {
      programmedPages: this.#programmedPages,
      correctedPages: this.#correctedPages,
      correctedBits: this.#correctedBits,
      uncorrectablePages: this.#uncorrectablePages,
      wrongPages: this.#wrongPages,
    };
  }

  importDie(die: number, onBlock: (done: number) => void): void {
    const path = join(this.#folder, dieFileName(this.#geometry, die));
    const file = new PositionalFile(path, 'r');
    try {
      const { fileBytes, diskBytes } = file.sizes();
      const wanted = dieFileBytes(this.#geometry);
      if (fileBytes !== wanted) {
        const right = `a die of this drive has ${wanted}`;
        throw new RunError(`${path}: the dump has ${fileBytes} bytes; ${right}`);
      }
      for (let block = 0; block < this.#geometry.blocksPerDie; block++) {
        this.#startBlock(die, block);
        if (diskBytes > 0) this.#importBlock(file, die, block);
        onBlock(block + 1);
      }
    } finally {
      file.close();
    }
  }

  /** The decoded slot, for the image. */
  slot(slot: number, into: SlotValues): Uint8Array | null {
    const index = slot & (this.#geometry.slotsPerPage - 1);
    const { pageWord, order, badSectors } = this.#records[index]!;
    const data = this.#data.subarray(index * SLOT_BYTES, (index + 1) * SLOT_BYTES);
    into.pageWord = pageWord;
    into.order = order | 0;
    into.badSectors = badSectors;
    into.tag = 0;
    if ((pageWord & METADATA) !== 0) into.kind = SlotKind.Metadata;
    else if (badSectors === 0 && isZeros(data)) into.kind = SlotKind.Zeros;
    else into.kind = SlotKind.Bytes;
    return into.kind === SlotKind.Zeros ? null : data;
  }

  /** Of a page that can be decoded a chip reader knows no damage. */
  damageOf(): number {
    return 0;
  }

  /** Erase count and history come from the manifest; the next page from the pages. */
  #startBlock(die: number, block: number): void {
    const blockIndex = this.#geometry.blockIndex(die, block);
    const cells = this.#cells.get(blockIndex);
    if (cells === undefined) return;
    cells[NEXT_PAGE] = 0;
    if (cells[ERASE_COUNT]! < 0) cells[ERASE_COUNT] = 0;
    this.#image.eraseBlock(blockIndex, cells);
  }

  #importBlock(file: PositionalFile, die: number, block: number): void {
    const { rawBytes } = this.#codec;
    file.read(block * this.#block.length, this.#block);
    for (let page = 0; page < this.#geometry.pagesPerBlock; page++) {
      const raw = this.#block.subarray(page * rawBytes, (page + 1) * rawBytes);
      if (Buffer.compare(raw, this.#erased) === 0 || Buffer.compare(raw, this.#hole) === 0) {
        continue;
      }
      this.#importPage(raw, die, block, page);
    }
  }

  #importPage(raw: Uint8Array, die: number, block: number, page: number): void {
    const { slotsPerPage } = this.#geometry;
    const verdict = this.#codec.decodePage({ block, page }, raw, this.#data, this.#records);
    if (verdict.erased) return;
    const slot = this.#geometry.slotOf(die, block, page, 0);
    if (verdict.failedCodewords !== 0 || verdict.crcWrong !== 0) {
      const list = verdict.failedCodewords !== 0 ? this.#uncorrectablePages : this.#wrongPages;
      list.push(describePage(this.#geometry, slot));
      this.#image.beginRun(slot, slotsPerPage);
      return;
    }
    this.#programmedPages++;
    const bits = verdict.corrected.reduce((sum, count) => sum + count, 0);
    this.#correctedBits += bits;
    if (bits > 0) this.#correctedPages++;
    this.#image.writeRun(slot, slotsPerPage, this);
  }
}
