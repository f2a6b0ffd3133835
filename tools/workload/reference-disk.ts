/**
 * The reference disk: what a correct drive must give back, sector by sector.
 *
 * It holds a tag for each sector that was written, and a bit where a trim leaves the drive the
 * choice between zeros and what was there (ACS-2, DATA SET MANAGEMENT without DRAT). Only what was
 * touched takes memory: a 4 KiB page of one write is one integer, a page of several is eight.
 */

import type { Saved } from '../../hal/sim/snapshot.ts';
import { SECTORS_PER_SLOT, WHOLE_SLOT } from '../../hal/sim/units.ts';

/** Pages whose cells are allocated together: 16 MiB of the drive. */
const CHUNK_PAGES = 4096;
const FIRST_MIXTURES = 256;
const TAG_MAX = 0x7fff_ffff;
/** Tag of a sector whose content nobody can know: its write failed. */
const UNKNOWN = -0x8000_0000;

/** As much of a content store as a comparison needs. */
export interface SectorTags {
  sectorTag(content: number, sector: number): number;
}

interface Chunk {
  /** 0: zeros; above 0: one tag for the page; below 0: mixture -cell - 1. */
  readonly cells: Int32Array;
  /** Bit n of a page: sector n was trimmed and not written since. */
  readonly trimmed: Uint8Array;
}

export class ReferenceDisk {
  /** Sectors the disk has. */
  readonly sectors: number;
  /** Trimmed sectors with data under them that were read since: as zeros, and as that data. */
  zeroCount = 0;
  oldCount = 0;
  /** First wrong sector of the last comparison that found one: what it held, what it should. */
  wrongLba = -1;
  wrongTag = 0;
  expectedTag = 0;
  readonly #chunks: (Chunk | null)[];
  /** Eight sector tags a mixture. */
  #mixtures = new Int32Array(FIRST_MIXTURES * SECTORS_PER_SLOT);
  readonly #freeMixtures: number[] = [];
  /** Mixtures ever used. */
  #highWater = 0;
  #nextTag = 1;

  constructor(sectors: number) {
    this.sectors = sectors;
    const pages = Math.ceil(sectors / SECTORS_PER_SLOT);
    this.#chunks = new Array(Math.ceil(pages / CHUNK_PAGES)).fill(null);
  }

  /** Takes `pages` new tags in a row and returns the first; a tag comes again after 2^31 pages. */
  takeTags(pages: number): number {
    if (this.#nextTag > TAG_MAX - pages) this.#nextTag = 1;
    const first = this.#nextTag;
    this.#nextTag += pages;
    return first;
  }

  /** Sectors from `lba` on were written: those of the n-th page touched with tag `firstTag` + n. */
  write(lba: number, sectors: number, firstTag: number): void {
    const firstPage = Math.floor(lba / SECTORS_PER_SLOT);
    this.#eachPage(lba, sectors, true, (chunk, index, mask, page) => {
      this.#fill(chunk, index, mask, firstTag + page - firstPage);
      chunk.trimmed[index] = chunk.trimmed[index]! & ~mask;
    });
  }

  /** Sectors from `lba` on were trimmed: they may read as zeros or as before. */
  trim(lba: number, sectors: number): void {
    this.#eachPage(lba, sectors, false, (chunk, index, mask) => {
      chunk.trimmed[index] = chunk.trimmed[index]! | mask;
    });
  }

  /** A write of these sectors failed: whatever they hold is right until they are written again. */
  forget(lba: number, sectors: number): void {
    this.#eachPage(lba, sectors, true, (chunk, index, mask) => {
      this.#fill(chunk, index, mask, UNKNOWN);
    });
  }

  /** The tag last written to a sector, 0 for none; a trim does not change it. */
  tagOf(lba: number): number {
    const page = Math.floor(lba / SECTORS_PER_SLOT);
    const chunk = this.#chunks[Math.floor(page / CHUNK_PAGES)];
    const cell = chunk?.cells[page % CHUNK_PAGES] ?? 0;
    return this.#tagIn(cell, lba % SECTORS_PER_SLOT);
  }

  /** Whether a sector was trimmed after it was last written. */
  isTrimmed(lba: number): boolean {
    const page = Math.floor(lba / SECTORS_PER_SLOT);
    const chunk = this.#chunks[Math.floor(page / CHUNK_PAGES)];
    return (((chunk?.trimmed[page % CHUNK_PAGES] ?? 0) >>> (lba % SECTORS_PER_SLOT)) & 1) === 1;
  }

  /**
   * Compares what a read returned: `handles[at]` is the content of the first page touched.
   * @returns how many sectors are wrong; the first one stands in `wrongLba` and its neighbours
   */
  compare(
    lba: number,
    sectors: number,
    handles: Int32Array,
    at: number,
    contents: SectorTags,
  ): number {
    const end = lba + sectors;
    let wrong = 0;
    let handleAt = at;
    for (let next = lba; next < end; handleAt++) {
      const page = Math.floor(next / SECTORS_PER_SLOT);
      const pageLba = page * SECTORS_PER_SLOT;
      const chunk = this.#chunks[Math.floor(page / CHUNK_PAGES)] ?? null;
      const cell = chunk === null ? 0 : chunk.cells[page % CHUNK_PAGES]!;
      const trimmed = chunk === null ? 0 : chunk.trimmed[page % CHUNK_PAGES]!;
      const pageEnd = Math.min(end, pageLba + SECTORS_PER_SLOT);
      const handle = handles[handleAt]!;
      if (cell !== handle || cell < 0 || trimmed !== 0) {
        for (; next < pageEnd; next++) {
          const sector = next - pageLba;
          const tag = contents.sectorTag(handle, sector);
          const isTrimmed = ((trimmed >>> sector) & 1) === 1;
          if (this.#accepts(tag, this.#tagIn(cell, sector), isTrimmed)) continue;
          if (wrong++ === 0) this.#note(next, tag, this.#tagIn(cell, sector));
        }
      }
      next = pageEnd;
    }
    return wrong;
  }

  #accepts(tag: number, expected: number, isTrimmed: boolean): boolean {
    if (expected === UNKNOWN) return true;
    if (tag === expected) {
      if (isTrimmed && tag !== 0) this.oldCount++;
      return true;
    }
    if (!isTrimmed || tag !== 0) return false;
    this.zeroCount++;
    return true;
  }

  #note(lba: number, tag: number, expected: number): void {
    this.wrongLba = lba;
    this.wrongTag = tag;
    this.expectedTag = expected;
  }

  /** Calls `visit` for every page touched, with the mask of its sectors; may skip empty chunks. */
  #eachPage(
    lba: number,
    sectors: number,
    allocate: boolean,
    visit: (chunk: Chunk, index: number, mask: number, page: number) => void,
  ): void {
    const end = lba + sectors;
    const endPage = Math.ceil(end / SECTORS_PER_SLOT);
    let page = Math.floor(lba / SECTORS_PER_SLOT);
    while (page < endPage) {
      const number = Math.floor(page / CHUNK_PAGES);
      const chunk = this.#chunks[number] ?? (allocate ? this.#allocate(number) : null);
      const chunkEnd = Math.min(endPage, (number + 1) * CHUNK_PAGES);
      if (chunk === null) {
        page = chunkEnd;
        continue;
      }
      for (; page < chunkEnd; page++) {
        const from = Math.max(0, lba - page * SECTORS_PER_SLOT);
        const to = Math.min(SECTORS_PER_SLOT, end - page * SECTORS_PER_SLOT);
        visit(
          chunk,
          page % CHUNK_PAGES,
          (WHOLE_SLOT >> (SECTORS_PER_SLOT - to)) & (-1 << from),
          page,
        );
      }
    }
  }

  #allocate(number: number): Chunk {
    const chunk = {
      cells: new Int32Array(CHUNK_PAGES),
      trimmed: new Uint8Array(CHUNK_PAGES),
    };
    this.#chunks[number] = chunk;
    return chunk;
  }

  #fill(chunk: Chunk, index: number, mask: number, tag: number): void {
    const cell = chunk.cells[index]!;
    if (mask === WHOLE_SLOT && tag > 0) {
      if (cell < 0) this.#freeMixtures.push(-cell - 1);
      chunk.cells[index] = tag;
      return;
    }
    const mixture = cell < 0 ? -cell - 1 : this.#takeMixture(cell);
    const first = mixture * SECTORS_PER_SLOT;
    for (let sector = 0; sector < SECTORS_PER_SLOT; sector++) {
      if (((mask >>> sector) & 1) === 1) this.#mixtures[first + sector] = tag;
    }
    chunk.cells[index] = -mixture - 1;
  }

  #tagIn(cell: number, sector: number): number {
    return cell >= 0 ? cell : this.#mixtures[(-cell - 1) * SECTORS_PER_SLOT + sector]!;
  }

  /** A mixture that holds `tag` in every sector. */
  #takeMixture(tag: number): number {
    const mixture = this.#freeMixtures.pop() ?? this.#highWater++;
    if ((mixture + 1) * SECTORS_PER_SLOT > this.#mixtures.length) {
      const grown = new Int32Array(this.#mixtures.length * 2);
      grown.set(this.#mixtures);
      this.#mixtures = grown;
    }
    this.#mixtures.fill(tag, mixture * SECTORS_PER_SLOT, (mixture + 1) * SECTORS_PER_SLOT);
    return mixture;
  }

  save(): Saved {
    const used: Saved[] = [];
    this.#chunks.forEach((chunk, number) => {
      if (chunk === null) return;
      used.push({ number, cells: chunk.cells.slice(), trimmed: chunk.trimmed.slice() });
    });
    return {
      chunks: used,
      mixtures: this.#mixtures.slice(0, this.#highWater * SECTORS_PER_SLOT),
      freeMixtures: Int32Array.from(this.#freeMixtures),
      nextTag: this.#nextTag,
      zeroCount: this.zeroCount,
      oldCount: this.oldCount,
    };
  }

  restore(saved: Saved): void {
    this.#chunks.fill(null);
    for (const { number, cells, trimmed } of saved.chunks as Saved[]) {
      const chunk = this.#allocate(number as number);
      chunk.cells.set(cells as Int32Array);
      chunk.trimmed.set(trimmed as Uint8Array);
    }
    const mixtures = saved.mixtures as Int32Array;
    this.#highWater = mixtures.length / SECTORS_PER_SLOT;
    if (mixtures.length > this.#mixtures.length) {
      this.#mixtures = new Int32Array(Math.max(mixtures.length, this.#mixtures.length) * 2);
    }
    this.#mixtures.set(mixtures);
    this.#freeMixtures.length = 0;
    this.#freeMixtures.push(...(saved.freeMixtures as Int32Array));
    this.#nextTag = saved.nextTag as number;
    this.zeroCount = saved.zeroCount as number;
    this.oldCount = saved.oldCount as number;
  }
}
