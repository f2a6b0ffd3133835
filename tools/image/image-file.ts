/**
 * The image file: the flash of a drive in one sparse file; README.md draws it.
 *
 * A page goes into the file in three steps: its record says that a program has begun, its data is
 * written, its record says that it has ended. A process that is killed between two of them leaves
 * the page as it was, or interrupted, or new. An erase writes the block's record only: it makes the
 * page records of the block stale by their erase count.
 */
import type { Geometry } from '../../hal/geometry.ts';
import { invariant } from '../../hal/sim/invariant.ts';
import { SLOT_BYTES } from '../../hal/sim/units.ts';
import { RunError } from '../errors.ts';
import { BlockTable } from './block-table.ts';
import { dataCrc } from './crc.ts';
import { BlockState, hasData, type ImageLayout, PageState, SessionState } from './format.ts';
import { checkFits, type ImageHeader, readHeader } from './header.ts';
import { ImageLock } from './lock.ts';
import { makeImage, realPath } from './make.ts';
import { PageRecords, SlotValues } from './page-records.ts';
import { PositionalFile } from './positional-file.ts';
import { readSession, writeSession } from './session.ts';

/** Where the slots of a run of pages come from when it is written. */
export interface SlotSource {
  /**
   * Fills in the spare record of a slot; its CRC is worked out from the bytes.
   * @returns the 4096 bytes of a slot whose kind has some, else null; good until the next call
   */
  slot(slot: number, into: SlotValues): Uint8Array | null;
  /** Extra bit error rate of the page whose first slot this is, as encodeRber makes it. */
  damageOf(firstSlot: number): number;
}

/** The bytes of a page are not to be had: its record or its data is damaged, or it has none. */
export class PageLost extends RunError {}

export interface OpenOptions {
  /** Nothing is written, no lock is taken. */
  readonly readOnly?: boolean;
  /** What the image has to be of. */
  readonly fits?: ImageHeader;
}

/** Pages of one piece of records that is kept for reads. */
const CACHED_PAGES = 64;
/** Slots that are written in one piece at most: a megabyte of data. */
export const RUN_SLOTS_MAX = 256;

export class ImageFile {
  readonly path: string;
  readonly header: ImageHeader;
  readonly layout: ImageLayout;
  readonly geometry: Geometry;
  readonly readOnly: boolean;
  /** False when the program that wrote the image last did not close it. */
  readonly wasClean: boolean;
  /** Times the image was opened for writing. */
  readonly openings: number;
  /** A sentence about a stale lock that was taken over, else null. */
  readonly takenOver: string | null;
  readonly blocks: BlockTable;
  /** Retention clock in whole minutes at 30 C; in the file after `sync` or `close`. */
  minute: number;
  readonly #file: PositionalFile;
  readonly #lock: ImageLock | null;
  readonly #run: PageRecords;
  readonly #data = new Uint8Array(RUN_SLOTS_MAX * SLOT_BYTES);
  /** The slot that is being written; its source may read others meanwhile. */
  readonly #written = new SlotValues();
  readonly #values = new SlotValues();
  /** Records around the page that was read last; none when `count` is 0. */
  readonly #cache: PageRecords;
  #isOpen = true;

  /**
   * Makes an image of erased flash and opens it.
   * @throws RunError when the file exists or cannot be made
   */
  static create(path: string, header: ImageHeader): ImageFile {
    makeImage(path, header);
    return ImageFile.open(path);
  }

  /**
   * Opens an image; for writing unless told otherwise.
   * @throws RunError when another process has it, or when it is no image, damaged or cut
   */
  static open(path: string, options: OpenOptions = {}): ImageFile {
    const real = realPath(path);
    const readOnly = options.readOnly === true;
    if (readOnly) ImageLock.checkFree(real);
    const lock = readOnly ? null : ImageLock.take(real);
    let file: PositionalFile | null = null;
    try {
      file = new PositionalFile(path, readOnly ? 'r' : 'r+');
      const found = readHeader(file);
      if (options.fits !== undefined) checkFits(path, found.header, options.fits);
      return new ImageFile(file, lock, found, readOnly);
    } catch (error) {
      file?.close();
      lock?.release();
      throw error;
    }
  }

  private constructor(
    file: PositionalFile,
    lock: ImageLock | null,
    { header, layout }: { header: ImageHeader; layout: ImageLayout },
    readOnly: boolean,
  ) {
    const session = readSession(file);
    this.path = file.path;
    this.header = header;
    this.layout = layout;
    this.geometry = layout.geometry;
    this.readOnly = readOnly;
    this.wasClean = session.state === SessionState.Clean;
    this.openings = session.openings;
    this.minute = session.minute;
    this.takenOver = lock?.takenOver ?? null;
    this.#file = file;
    this.#lock = lock;
    this.#run = new PageRecords(layout, RUN_SLOTS_MAX / layout.geometry.slotsPerPage);
    this.#cache = new PageRecords(layout, CACHED_PAGES);
    this.blocks = new BlockTable(layout, file);
    this.blocks.read();
    if (readOnly) return;
    this.openings++;
    this.#writeSession(SessionState.Open);
  }

  /** Length of the file, and the bytes that it takes on disk. */
  sizes(): { fileBytes: number; diskBytes: number } {
    return this.#file.sizes();
  }

  /**
   * Writes whole pages that follow one another, RUN_SLOTS_MAX slots at most.
   * @throws RunError when the file cannot be written, or a block's record is damaged
   */
  writeRun(firstSlot: number, count: number, source: SlotSource): void {
    const { slotsPerPage } = this.geometry;
    const pages = count / slotsPerPage;
    const firstPage = this.layout.pageOf(firstSlot);
    const fits = Number.isInteger(pages) && count > 0 && count <= RUN_SLOTS_MAX;
    invariant(fits, 'whole pages are written, and no more than there is room for');
    this.beginRun(firstSlot, count);
    const records = this.#run;
    records.begin(firstPage, pages);
    // Data that lies together goes in one piece.
    let from = 0;
    for (let j = 0; j < count; j++) {
      if (this.#takeSlot(firstSlot + j, j, source)) continue;
      this.#writeData(firstSlot, from, j);
      from = j + 1;
    }
    this.#writeData(firstSlot, from, count);
    this.#writeRecords(firstSlot, PageState.Programmed, source);
  }

  /** Writes another damage into the record of a programmed page; nothing when it is there. */
  writeDamage(firstSlot: number, damage: number): void {
    this.#checkWritable();
    if (this.readRecord(firstSlot, this.#values) !== PageState.Programmed) return;
    const cache = this.#cache;
    const page = this.layout.pageOf(firstSlot);
    const index = page - cache.firstPage;
    if (cache.damageOf(index) === damage) return;
    cache.setDamage(index, damage);
    const { pageRecordBytes } = this.layout;
    const at = this.layout.pageRecordAt(page);
    this.#file.write(at, cache.bytes, index * pageRecordBytes, pageRecordBytes);
  }

  /** The first step of `writeRun` alone: the pages read as interrupted until they are written. */
  beginRun(firstSlot: number, count: number): void {
    this.#checkWritable();
    const { geometry, layout } = this;
    const firstPage = layout.pageOf(firstSlot);
    const pages = count / geometry.slotsPerPage;
    for (let i = 0; i < pages; i++) {
      const slot = firstSlot + i * geometry.slotsPerPage;
      const blockIndex = geometry.blockIndexOf(slot);
      if (this.blocks.blockStates[blockIndex] === BlockState.Damaged) {
        const place = geometry.describe(slot);
        throw new RunError(`${this.path}: the block of ${place} has a damaged record: erase it`);
      }
      if (!this.blocks.use(blockIndex, geometry.pageOf(slot) + 1)) continue;
      this.blocks.enter(blockIndex, BlockState.Written);
    }
    this.#run.begin(firstPage, pages);
    this.#writeRecords(firstSlot, PageState.Programming, null);
  }

  /**
   * Erases a block.
   * @param cells the block's BLOCK_CELLS cells after the erase, the raised erase count among them
   */
  eraseBlock(blockIndex: number, cells: Int32Array): void {
    this.#checkWritable();
    this.beginErase(blockIndex);
    this.blocks.setCells(blockIndex, cells);
    this.blocks.enter(blockIndex, BlockState.Erased);
    this.#cache.count = 0;
  }

  /** The first step of `eraseBlock` alone. Pages keep what they hold until it ends. */
  beginErase(blockIndex: number): void {
    this.#checkWritable();
    // Of an erased or damaged block there is nothing to keep.
    if (this.blocks.blockStates[blockIndex] !== BlockState.Written) return;
    this.blocks.enter(blockIndex, BlockState.Erasing);
  }

  /** Sets the cells of a block: erase count and history; on disk after `sync`. */
  writeBlock(blockIndex: number, cells: Int32Array): void {
    this.#checkWritable();
    this.blocks.setCells(blockIndex, cells);
  }

  /**
   * Fills `into` with the 4096 bytes of a slot: zeros where it stores none.
   * @throws PageLost when the slot is damaged, interrupted or erased
   */
  readData(slot: number, into: Uint8Array): void {
    const state = this.readRecord(slot, this.#values);
    if (state !== PageState.Programmed) {
      const name = PageState[state].toLowerCase();
      throw new PageLost(`${this.path}: ${this.geometry.describe(slot)}: the page is ${name}`);
    }
    const { kind, dataCrc: expected } = this.#values;
    if (!hasData(kind)) {
      into.fill(0, 0, SLOT_BYTES);
      return;
    }
    this.readRawData(slot, 1, into);
    if ((dataCrc(into.subarray(0, SLOT_BYTES)) | 0) === expected) return;
    const at = `byte ${this.layout.slotDataAt(slot)}`;
    const place = this.geometry.describe(slot);
    throw new PageLost(`${this.path}: ${at}: ${place}: the data does not match its checksum`);
  }

  /** What lies in the data area, unchecked. */
  readRawData(firstSlot: number, count: number, into: Uint8Array): void {
    this.#file.read(this.layout.slotDataAt(firstSlot), into, 0, count * SLOT_BYTES);
  }

  /** Reads the spare record of a slot; it is only filled in when the page is programmed. */
  readRecord(slot: number, into: SlotValues): PageState {
    const page = this.layout.pageOf(slot);
    const cache = this.#cache;
    if (page < cache.firstPage || page >= cache.firstPage + cache.count) {
      const first = page - (page % CACHED_PAGES);
      this.readPageRecords(first, Math.min(CACHED_PAGES, this.layout.pages - first), cache);
    }
    const state = cache.stateOf(page - cache.firstPage, this.blocks);
    const { slotsPerPage } = this.geometry;
    if (state === PageState.Programmed) cache.slot(slot - cache.firstPage * slotsPerPage, into);
    return state;
  }

  /** True when a program of the slot's page was begun and has not ended. */
  isInterrupted(slot: number): boolean {
    return this.readRecord(slot, this.#values) === PageState.Programming;
  }

  /** Reads the records of `count` pages from `firstPage` on. */
  readPageRecords(firstPage: number, count: number, into: PageRecords): void {
    into.firstPage = firstPage;
    into.count = count;
    const bytes = count * this.layout.pageRecordBytes;
    this.#file.read(this.layout.pageRecordAt(firstPage), into.bytes, 0, bytes);
  }

  /** Brings everything to the disk. */
  sync(): void {
    this.#checkWritable();
    this.blocks.flush();
    this.writeClock();
    this.#file.sync();
  }

  /** Writes the retention clock alone: a killed program has it then. */
  writeClock(): void {
    this.#checkWritable();
    this.#writeSession(SessionState.Open);
  }

  /** Closes the image; one that was written is synced and marked as clean. Safe to call twice. */
  close(): void {
    if (!this.#isOpen) return;
    try {
      if (this.readOnly) return;
      this.sync();
      this.#writeSession(SessionState.Clean);
      this.#file.sync();
    } finally {
      this.abandon();
    }
  }

  /** Gives file and lock back without a word to the file, as after a crash. */
  abandon(): void {
    this.#isOpen = false;
    this.#file.close();
    this.#lock?.release();
  }

  #checkWritable(): void {
    invariant(this.#isOpen && !this.readOnly, 'only an image that is open for writing is written');
  }

  /** Takes the slot `index` of the run from its source; true when it has data. */
  #takeSlot(slot: number, index: number, source: SlotSource): boolean {
    const values = this.#written;
    const bytes = source.slot(slot, values);
    values.dataCrc = bytes === null ? 0 : dataCrc(bytes) | 0;
    this.#run.setSlot(index, values);
    if (bytes === null) return false;
    this.#data.set(bytes, index * SLOT_BYTES);
    return true;
  }

  /** Writes the data of the slots `from` up to `end` of the run. */
  #writeData(firstSlot: number, from: number, end: number): void {
    if (from === end) return;
    const at = this.layout.slotDataAt(firstSlot + from);
    this.#file.write(at, this.#data, from * SLOT_BYTES, (end - from) * SLOT_BYTES);
  }

  #writeSession(state: SessionState): void {
    const { openings, minute } = this;
    writeSession(this.#file, { state, openings, minute });
  }

  #writeRecords(firstSlot: number, state: PageState, source: SlotSource | null): void {
    const records = this.#run;
    const { slotsPerPage } = this.geometry;
    for (let i = 0; i < records.count; i++) {
      const slot = firstSlot + i * slotsPerPage;
      const eraseCount = this.blocks.eraseCountOf(this.geometry.blockIndexOf(slot));
      records.seal(i, state, eraseCount, source === null ? 0 : source.damageOf(slot));
    }
    const at = this.layout.pageRecordAt(records.firstPage);
    this.#file.write(at, records.bytes, 0, records.count * this.layout.pageRecordBytes);
    // The source may have read records of its neighbours since the step before.
    const { firstPage, count } = this.#cache;
    if (records.firstPage >= firstPage && records.firstPage < firstPage + count) {
      this.#cache.count = 0;
    }
  }
}
