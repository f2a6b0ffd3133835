/** `bf3 image export`: the flash of an image as raw dumps, one a die, as a chip reader has them. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SLOT_BYTES } from '../../hal/sim/units.ts';
import { PageCodec, type SlotRecord } from '../../nand/ecc/page-codec.ts';
import { RunError } from '../errors.ts';
import { dataCrc } from './crc.ts';
import {
  DUMP_FORMAT,
  DUMP_VERSION,
  type DumpManifest,
  dieFileBytes,
  dieFileName,
  MANIFEST_NAME,
} from './dump-folder.ts';
import { BLOCK_CELLS, BlockState, hasData, PageState } from './format.ts';
import type { ImageFile } from './image-file.ts';
import { OutputFile } from './output-file.ts';
import { type PageRecords, SlotValues } from './page-records.ts';
import { fileFault } from './positional-file.ts';
import { describePage, type OnSuperblock, walkSuperblocks } from './walk.ts';

export interface ExportReport {
  readonly folder: string;
  readonly dies: number;
  readonly programmedPages: number;
  /** Pages of which there is no content: their raw page is noise that no decoder corrects. */
  readonly interruptedPages: readonly string[];
  readonly damagedPages: readonly string[];
}

export interface ExportOptions {
  /** Write FFh for blocks that hold nothing too, not holes. */
  readonly full?: boolean;
  readonly onSuperblock?: OnSuperblock;
}

/**
 * Writes the dumps and the manifest.
 * @throws RunError when the image holds tags, or the folder cannot be written
 */
export function exportImage(
  image: ImageFile,
  folder: string,
  options: ExportOptions = {},
): ExportReport {
  const { geometry, header } = image;
  if (header.content !== 'bytes') {
    const right = 'raw pages are made of bytes';
    throw new RunError(`${image.path}: the image holds ${header.content}; ${right}`);
  }
  makeFolder(folder);
  const files: OutputFile[] = [];
  try {
    for (let die = 0; die < geometry.dies; die++) {
      const file = new OutputFile(join(folder, dieFileName(geometry, die)));
      files.push(file);
      file.file.setLength(dieFileBytes(geometry));
    }
    const exporter = new Exporter(image, [...files]);
    if (options.full === true) exporter.fill();
    walkSuperblocks(image, (_, records) => exporter.writePages(records), options.onSuperblock);
    const manifest = new OutputFile(join(folder, MANIFEST_NAME));
    files.push(manifest);
    manifest.append(`${JSON.stringify(manifestOf(image))}\n`);
    for (const file of files) file.commit();
    return { folder, ...exporter.report() };
  } catch (error) {
    for (const file of files) file.discard();
    throw error;
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new RunError(`cannot make the folder ${folder}: ${fileFault(error)}`, { cause: error });
  }
}

function manifestOf({ header, blocks }: ImageFile): DumpManifest {
  const { profile, part, geometry, seed, createdBy } = header;
  const rows: number[][] = [];
  blocks.blockStates.forEach((_, block) => {
    const cells = blocks.cells.subarray(block * BLOCK_CELLS, (block + 1) * BLOCK_CELLS);
    if (cells.some((cell) => cell !== 0)) rows.push([block, ...cells]);
  });
  const format = { format: DUMP_FORMAT, version: DUMP_VERSION } as const;
  return { ...format, profile, part, geometry, seed, createdBy, holes: 'erased', blocks: rows };
}

class Exporter {
  readonly #image: ImageFile;
  readonly #files: readonly OutputFile[];
  readonly #codec: PageCodec;
  readonly #records: SlotRecord[];
  readonly #values = new SlotValues();
  readonly #data: Uint8Array;
  /** The raw pages of one block. */
  readonly #block: Uint8Array;
  #programmedPages = 0;
  readonly #interruptedPages: string[] = [];
  readonly #damagedPages: string[] = [];

  constructor(image: ImageFile, files: readonly OutputFile[]) {
    this.#image = image;
    this.#files = files;
    this.#codec = new PageCodec(image.geometry);
    this.#records = this.#codec.newRecords();
    this.#data = new Uint8Array(image.geometry.pageBytes);
    this.#block = new Uint8Array(image.geometry.pagesPerBlock * this.#codec.rawBytes);
  }

  report(): Omit<ExportReport, 'folder'> {
    return {
      dies: this.#image.geometry.dies,
      programmedPages: this.#programmedPages,
      interruptedPages: this.#interruptedPages,
      damagedPages: this.#damagedPages,
    };
  }

  /** Erased flash everywhere. */
  fill(): void {
    const { blocksPerDie } = this.#image.geometry;
    this.#block.fill(0xff);
    for (const { file } of this.#files) {
      for (let i = 0; i < blocksPerDie; i++) file.write(i * this.#block.length, this.#block);
    }
  }

  /** Writes the blocks of a superblock that hold something. */
  writePages(records: PageRecords): void {
    const { geometry, blocks } = this.#image;
    const firstSlot = records.firstPage * geometry.slotsPerPage;
    const row = geometry.dies * geometry.planes;
    for (let inRow = 0; inRow < row; inRow++) {
      const slot = firstSlot + inRow * geometry.slotsPerPage;
      const state = blocks.blockStates[geometry.blockIndexOf(slot)];
      if (state === BlockState.Erased) continue;
      this.#block.fill(0xff);
      for (let page = 0; page < geometry.pagesPerBlock; page++) {
        this.#encodePage(records, page * row + inRow, page);
      }
      const file = this.#files[geometry.dieOf(slot)]!.file;
      file.write(geometry.blockOf(slot) * this.#block.length, this.#block);
    }
  }

  #encodePage(records: PageRecords, index: number, page: number): void {
    const { geometry, blocks } = this.#image;
    const { rawBytes } = this.#codec;
    const state = records.stateOf(index, blocks);
    if (state === PageState.Erased) return;
    const raw = this.#block.subarray(page * rawBytes, (page + 1) * rawBytes);
    const slot = (records.firstPage + index) * geometry.slotsPerPage;
    if (state === PageState.Programming) {
      this.#interruptedPages.push(describePage(geometry, slot));
    } else if (state === PageState.Programmed && this.#takePage(records, index, slot)) {
      this.#programmedPages++;
      const place = { block: geometry.blockOf(slot), page };
      this.#codec.encodePage(place, this.#data, this.#records, raw);
      return;
    } else {
      this.#damagedPages.push(describePage(geometry, slot));
    }
    fillWithNoise(raw, slot + 1);
  }

  /** Takes data and spare records of a page; false when data does not match its checksum. */
  #takePage(records: PageRecords, index: number, firstSlot: number): boolean {
    const { slotsPerPage } = this.#image.geometry;
    const values = this.#values;
    this.#data.fill(0);
    if (records.holdsData(index)) this.#image.readRawData(firstSlot, slotsPerPage, this.#data);
    for (let j = 0; j < slotsPerPage; j++) {
      records.slot(index * slotsPerPage + j, values);
      const { pageWord, order, badSectors } = values;
      this.#records[j] = { pageWord, order: order >>> 0, badSectors };
      const data = this.#data.subarray(j * SLOT_BYTES, (j + 1) * SLOT_BYTES);
      if (!hasData(values.kind)) data.fill(0);
      else if ((dataCrc(data) | 0) !== values.dataCrc) return false;
    }
    return true;
  }
}

/** Fills a page with bits that look like chance and are the same each time (xorshift32). */
function fillWithNoise(raw: Uint8Array, seed: number): void {
  let word = Math.imul(seed, 0x9e3779b1) | 1;
  for (let at = 0; at < raw.length; at++) {
    word ^= word << 13;
    word ^= word >>> 17;
    word ^= word << 5;
    raw[at] = word;
  }
}
