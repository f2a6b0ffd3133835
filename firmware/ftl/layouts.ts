/**
 * Layouts of metadata on flash (assumed: the real ones were never published).
 *
 * Root record: one 4 KiB page, appended to the root block pair of die 0 or 1, LSB pages only. With
 * each superblock of the checkpoint goes its map of bad dies, as the table is inside the
 * checkpoint. Checkpoint: a header page, the block table (128 rows a page), and every page of the
 * map that has a mapped cell (1024 cells a page). The spare's page word says which page it is, so
 * that pages may be read in any order: 0 the header, then the table, then the map.
 */

import { Bytes } from '../../hal/sim/bytes.ts';
import { crc32Of } from '../../hal/sim/crc.ts';
import { type Decoded, record, reserved, u8, u16, u32, u48 } from '../../hal/sim/record.ts';
import { SLOT_BYTES } from '../../hal/sim/units.ts';

export const ROOT_MAGIC = 0x3346_4252; // 'RBF3'
export const HEADER_MAGIC = 0x3346_4243; // 'CBF3'
export const LAYOUT_VERSION = 2;
/** Superblocks a checkpoint may take. */
export const CHECKPOINT_SUPERBLOCKS_MAX = 16;

export enum RootState {
  /** Nothing was ever written. */
  Formatted = 1,
  /** The checkpoint is the whole truth. */
  Clean,
  /** The drive has been written since the checkpoint. */
  Dirty,
}

export const RootRecord = record({
  magic: u32,
  version: u16,
  state: u8,
  superblockCount: u8,
  sequence: u48,
  checkpointPages: u32,
  nextOrder: u48,
  powerCycles: u32,
  unplannedLosses: u32,
});
export type Root = Decoded<typeof RootRecord>;

const SUPERBLOCKS_AT = 64;
/** Bytes of one entry of the list: superblock, bad dies 0-31, bad dies 32-63. */
const ENTRY_BYTES = 12;

/** A superblock of a checkpoint, and its bad dies as bits. */
export interface CheckpointPlace {
  superblock: number;
  badLow: number;
  badHigh: number;
}
const CRC_AT = SLOT_BYTES - 4;

/** A root page with its list of checkpoint superblocks and its CRC. */
export function encodeRoot(root: Root, places: readonly CheckpointPlace[]): Uint8Array {
  const page = new Bytes(SLOT_BYTES);
  RootRecord.encodeInto(root, page);
  places.forEach(({ superblock, badLow, badHigh }, i) => {
    const at = SUPERBLOCKS_AT + i * ENTRY_BYTES;
    page.writeUIntLE(superblock, at, 4);
    page.writeUIntLE(badLow >>> 0, at + 4, 4);
    page.writeUIntLE(badHigh >>> 0, at + 8, 4);
  });
  return seal(page);
}

/** The root of a page and its superblocks, null when the page is no good root record. */
export function decodeRoot(bytes: Uint8Array): { root: Root; places: CheckpointPlace[] } | null {
  const page = Bytes.over(bytes);
  if (!isSealed(page)) return null;
  const root = RootRecord.decode(page);
  if (root.magic !== ROOT_MAGIC || root.version !== LAYOUT_VERSION) return null;
  if (root.superblockCount > CHECKPOINT_SUPERBLOCKS_MAX) return null;
  const places = Array.from({ length: root.superblockCount }, (_, i) => {
    const at = SUPERBLOCKS_AT + i * ENTRY_BYTES;
    return {
      superblock: page.readUIntLE(at, 4),
      badLow: page.readUIntLE(at + 4, 4) | 0,
      badHigh: page.readUIntLE(at + 8, 4) | 0,
    };
  });
  return { root, places };
}

export const CheckpointHeader = record({
  magic: u32,
  version: u16,
  reserved6: reserved(2),
  tablePages: u32,
  mapPages: u32,
  openings: u48,
  hostSuperblock: u32,
  hostUnit: u32,
  hostLsbOnly: u8,
  writeMode: u8,
  collectorSuperblock: u32,
  collectorUnit: u32,
  collectorLsbOnly: u8,
  hostWrittenSectors: u48,
  hostReadSectors: u48,
  programUnits: u48,
  factoryBad: u32,
  grownBad: u32,
  programFailures: u32,
  eraseFailures: u32,
  uncorrectableReads: u32,
});
export type Header = Decoded<typeof CheckpointHeader>;
/** Stands for 'no superblock is open' in a header. */
export const NO_SUPERBLOCK = 0xffff_ffff;

export function encodeHeader(header: Header): Uint8Array {
  const page = new Bytes(SLOT_BYTES);
  CheckpointHeader.encodeInto(header, page);
  return seal(page);
}

export function decodeHeader(bytes: Uint8Array): Header | null {
  const page = Bytes.over(bytes);
  if (!isSealed(page)) return null;
  const header = CheckpointHeader.decode(page);
  return header.magic === HEADER_MAGIC && header.version === LAYOUT_VERSION ? header : null;
}

/** One superblock in the block table's pages. */
export const SuperblockRow = record({
  state: u8,
  lsbOnly: u8,
  reserved2: reserved(2),
  eraseCount: u32,
  invalidatedOrder: u48,
  openedNumber: u48,
  reserved20: reserved(4),
  badLow: u32,
  badHigh: u32,
});
export const ROWS_PER_PAGE = SLOT_BYTES / SuperblockRow.span;

function seal(page: Bytes): Uint8Array {
  page.writeUIntLE(crc32Of(page.subarray(0, CRC_AT)), CRC_AT, 4);
  return page;
}

function isSealed(page: Bytes): boolean {
  return page.readUIntLE(CRC_AT, 4) === crc32Of(page.subarray(0, CRC_AT));
}
