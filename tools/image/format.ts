/**
 * The format of an image: records and places; README.md draws the file.
 *
 * Every place is a product of numbers of the geometry, so the file is sparse and nothing in it is
 * ever moved. Records carry a CRC-32 that is seeded with their number. A record of zeros is one
 * that was never written: a hole of the file reads as an erased block or page.
 */
import type { Geometry } from '../../hal/geometry.ts';
import { bytes, record, reserved, s32, u8, u32, u48 } from '../../hal/sim/record.ts';
import { SLOT_BYTES } from '../../hal/sim/units.ts';

export const IMAGE_VERSION = 1;
export const MAGIC = new TextEncoder().encode('BF3NAND\0');

/** Bytes of the header with its JSON; the session record follows it. */
export const HEADER_BYTES = 4096;
export const SESSION_AT = HEADER_BYTES;
const BLOCK_TABLE_AT = 65_536;
/** Areas begin at multiples of this, so that none shares a page of the file system. */
const AREA_ALIGN_BYTES = 65_536;

/** The first bytes of the file; the JSON follows, then zeros. */
export const HeaderRecord = record({
  magic: bytes(8),
  version: u32,
  jsonBytes: u32,
  fileBytes: u48,
  reserved22: reserved(2),
  blockTableAt: u48,
  reserved30: reserved(2),
  pageRecordsAt: u48,
  reserved38: reserved(2),
  dataAt: u48,
  reserved46: reserved(14),
  crc: u32,
});
export const HEADER_CRC_AT = HeaderRecord.offsetOf('crc');
export const JSON_AT = HeaderRecord.span;
export const JSON_BYTES_MAX = HEADER_BYTES - JSON_AT;

/** Whether a program has the file open for writing; rewritten at every opening and closing. */
export enum SessionState {
  Open = 1,
  Clean,
}

export const SessionRecord = record({
  state: u8,
  reserved1: reserved(3),
  /** Times the file was opened for writing. */
  openings: u32,
  /** The retention clock when it was written last: whole minutes at 30 C. */
  minute: u32,
  crc: u32,
});

/** What a block record says. */
export enum BlockState {
  /** No page has been programmed since the last erase: page records are stale. */
  Erased,
  Written,
  /** An erase was begun and has not ended: the block still counts as holding what it held. */
  Erasing,
  /** Not stored: the record's checksum or a field is wrong. */
  Damaged,
}

/** Cells of a block record: next page, erase count, and history that the image only keeps. */
export const BLOCK_CELLS = 8;
export const NEXT_PAGE = 0;
export const ERASE_COUNT = 1;
export const HISTORY = 2;

export const BlockRecord = record({
  crc: s32,
  state: u8,
  reserved5: reserved(3),
  /** Next page when the record was written; page records know better. */
  nextPage: s32,
  eraseCount: s32,
  history0: s32,
  history1: s32,
  history2: s32,
  history3: s32,
  history4: s32,
  history5: s32,
  reserved40: reserved(24),
});
export const BLOCK_RECORD_BYTES = BlockRecord.span;
export const BLOCK_RECORD_WORDS = BLOCK_RECORD_BYTES / 4;

/** What a page record says of its page; stale when its erase count is not the block's. */
export enum PageState {
  Erased,
  /** A program was begun and has not ended: an interrupted program. */
  Programming,
  Programmed,
  /** Not stored: the record's checksum or a field is wrong. */
  Damaged,
}

/** Begins a page record; the slots follow, then zeros up to the record's length. */
export const PageHead = record({
  crc: s32,
  state: u8,
  slotCount: u8,
  reserved6: reserved(2),
  /** Erase count of the block at the time of the program. */
  eraseCount: s32,
  /** Bit error rate that a failed or cut operation has left on the page, in units of 2^-32. */
  damage: u32,
});

/** A bit error rate, 0 to 0.5, as page records hold it; one above 0 stays above 0. */
export function encodeRber(rber: number): number {
  return rber <= 0 ? 0 : Math.max(1, Math.round(Math.min(rber, 0.5) * RBER_ONE));
}

/** The bit error rate of a page record's `damage`. */
export function decodeRber(damage: number): number {
  return (damage >>> 0) / RBER_ONE;
}

const RBER_ONE = 2 ** 32;

/** What a slot of a programmed page holds. */
export enum SlotKind {
  /** 4096 zeros, not stored. */
  Zeros,
  Bytes,
  /** A metadata page of the firmware, stored as bytes. */
  Metadata,
  /** A tag that stands for the content, in the record. */
  Tag,
  /** Eight sectors of different tags, stored as bytes. */
  Mixture,
}

/** The spare record of one slot. */
export const SlotRecord = record({
  /** Logical page plus one, and flags (hal/flash-ops.ts). */
  pageWord: s32,
  order: s32,
  tag: s32,
  /** CRC-32 of the 4096 bytes, 0 where none are stored. */
  dataCrc: s32,
  kind: u8,
  badSectors: u8,
  reserved18: reserved(2),
});
const RECORD_ALIGN_BYTES = 64;

/** True when a slot of this kind has its bytes in the data area. */
export function hasData(kind: SlotKind): boolean {
  return kind === SlotKind.Bytes || kind === SlotKind.Metadata || kind === SlotKind.Mixture;
}

/** Where things lie in the image of a flash array of some geometry; places and lengths in bytes. */
export class ImageLayout {
  readonly geometry: Geometry;
  readonly pageRecordBytes: number;
  readonly pageRecordWords: number;
  readonly pages: number;
  readonly pagesPerSuperblock: number;
  readonly blockTableAt = BLOCK_TABLE_AT;
  readonly pageRecordsAt: number;
  readonly dataAt: number;
  readonly fileBytes: number;

  constructor(geometry: Geometry) {
    this.geometry = geometry;
    const record = PageHead.span + geometry.slotsPerPage * SlotRecord.span;
    this.pageRecordBytes = alignUp(record, RECORD_ALIGN_BYTES);
    this.pageRecordWords = this.pageRecordBytes / 4;
    this.pages = geometry.slots / geometry.slotsPerPage;
    this.pagesPerSuperblock = geometry.slotsPerSuperblock / geometry.slotsPerPage;
    const blockTable = geometry.blocks * BLOCK_RECORD_BYTES;
    this.pageRecordsAt = alignUp(this.blockTableAt + blockTable, AREA_ALIGN_BYTES);
    const pageRecords = this.pages * this.pageRecordBytes;
    this.dataAt = alignUp(this.pageRecordsAt + pageRecords, AREA_ALIGN_BYTES);
    this.fileBytes = this.dataAt + geometry.slots * SLOT_BYTES;
  }

  blockRecordAt(blockIndex: number): number {
    return this.blockTableAt + blockIndex * BLOCK_RECORD_BYTES;
  }

  /** Pages are numbered as slots are: superblock, page, die, plane. */
  pageRecordAt(page: number): number {
    return this.pageRecordsAt + page * this.pageRecordBytes;
  }

  slotDataAt(slot: number): number {
    return this.dataAt + slot * SLOT_BYTES;
  }

  /** Number of the page that a slot lies in. */
  pageOf(slot: number): number {
    return slot >>> this.geometry.slotBits;
  }
}

function alignUp(count: number, unit: number): number {
  return Math.ceil(count / unit) * unit;
}
