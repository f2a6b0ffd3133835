/**
 * Between what the controller holds and the raw page that the die stores.
 *
 * Raw columns of an 8192 + 448 byte page; codeword c covers data 1024 c on and spare 56 c on:
 *
 *   0                    1024                       8192        8199       8248
 *   | data codeword 0    | data codeword 1 | ...    | 7 metadata | 49 parity | 7 + 49 | ...
 *
 * Four codewords are a slot of 4 KiB, and their metadata together its spare record. Data and record
 * are scrambled, then encoded; the marker, first byte of each record, is FFh and stays so: in slot
 * 0 it is the column where the factory marks bad blocks.
 */

import { record, reserved, s32, u8, u32, u48 } from '../../hal/sim/record.ts';
import { SLOT_BYTES } from '../../hal/sim/units.ts';
import { erasedThreshold } from './counted.ts';
import { crc32c } from './crc32c.ts';
import { type BchEngine, createBch, DRIVE_CODE } from './engine.ts';
import { Scrambler } from './scrambler.ts';
import { PageOutcome, type PageVerdict } from './verdict.ts';

export type { PageVerdict } from './verdict.ts';

/** Data bytes of a codeword, its metadata bytes, and both with parity in the spare area. */
export const CODEWORD_DATA_BYTES = 1024;
export const CODEWORD_METADATA_BYTES = 7;
export const CODEWORD_SPARE_BYTES = 56;
const CODEWORDS_PER_SLOT = SLOT_BYTES / CODEWORD_DATA_BYTES;
/** First byte of every spare record, on flash and off. */
const MARKER = 0xff;
/** Tells the layout below from later ones. */
const SPARE_KIND = 1;

/** The spare record of a slot as it is encoded: four times seven bytes. */
export const SpareRecord = record({
  marker: u8,
  kind: u8,
  pageWord: s32,
  order: u48,
  crc: u32,
  badSectors: u8,
  rest: reserved(11),
});
const RECORD_BYTES = SpareRecord.span;

/** What the controller keeps with a slot. */
export interface SlotRecord {
  /** Logical page plus one, with flags (hal/flash-ops.ts); 0 for padding and erased slots. */
  pageWord: number;
  /** Order number, 0 to 2^48 - 1. */
  order: number;
  /** Bit i: sector i of the slot was lost before it was written here. */
  badSectors: number;
}

/** Where a page lies: it decides the key of the scrambler. */
export interface PagePlace {
  readonly block: number;
  /** Number of the page in its block. */
  readonly page: number;
}

export interface PageSize {
  /** A multiple of 4096, at most 28 KiB. */
  readonly pageBytes: number;
  /** At least 56 a KiB; what is left over stays FFh. */
  readonly spareBytes: number;
}

export class PageCodec {
  readonly pageBytes: number;
  readonly rawBytes: number;
  readonly codewordCount: number;
  readonly slotCount: number;
  readonly engine: BchEngine;
  readonly #scrambler = new Scrambler();
  readonly #outcome: PageOutcome;
  /** The spare records of the page, one behind the other. */
  readonly #metadata: Uint8Array;
  /** The data of the codeword in the engine's workspace. */
  readonly #workspaceData: Uint8Array;

  /** Throws a RangeError when the spare area is too small or the engine has another code. */
  constructor({ pageBytes, spareBytes }: PageSize, engine = createBch(DRIVE_CODE)) {
    this.pageBytes = pageBytes;
    this.rawBytes = pageBytes + spareBytes;
    this.codewordCount = pageBytes / CODEWORD_DATA_BYTES;
    this.slotCount = pageBytes / SLOT_BYTES;
    this.engine = engine;
    const { dataBytes, parityBytes } = engine;
    if (!Number.isInteger(this.slotCount) || this.slotCount < 1 || this.codewordCount > 31) {
      throw new RangeError(`page codec: pageBytes is 4096 to 28672 in steps of 4096: ${pageBytes}`);
    }
    if (!(spareBytes >= this.codewordCount * CODEWORD_SPARE_BYTES)) {
      throw new RangeError(
        `page codec: ${this.codewordCount} codewords need ` +
          `${this.codewordCount * CODEWORD_SPARE_BYTES} spare bytes, there are ${spareBytes}`,
      );
    }
    const isDataBytes = dataBytes === CODEWORD_DATA_BYTES + CODEWORD_METADATA_BYTES;
    if (!isDataBytes || CODEWORD_METADATA_BYTES + parityBytes > CODEWORD_SPARE_BYTES) {
      throw new RangeError(
        'page codec: the code has 1031 bytes of data and at most 49 of parity, not ' +
          `${dataBytes} and ${parityBytes}`,
      );
    }
    this.#outcome = new PageOutcome(this.codewordCount);
    this.#metadata = new Uint8Array(this.slotCount * RECORD_BYTES);
    this.#workspaceData = engine.workspace.subarray(0, CODEWORD_DATA_BYTES);
  }

  /** One empty record for every slot of a page. */
  newRecords(): SlotRecord[] {
    return Array.from({ length: this.slotCount }, () => {
      return { pageWord: 0, order: 0, badSectors: 0 };
    });
  }

  /**
   * Makes the raw page.
   *
   * @param data `pageBytes` bytes
   * @param records one for each slot
   * @param raw result, `pageBytes + spareBytes` bytes
   */
  encodePage(
    place: PagePlace,
    data: Uint8Array,
    records: readonly SlotRecord[],
    raw: Uint8Array,
  ): void {
    this.#checkSizes(data, records, raw);
    for (let slot = 0; slot < this.slotCount; slot++) {
      const { pageWord, order, badSectors } = records[slot]!;
      const from = slot * SLOT_BYTES;
      const crc = crc32c(data, from, from + SLOT_BYTES, pageWord);
      const values = { marker: MARKER, kind: SPARE_KIND, pageWord, order, crc, badSectors };
      SpareRecord.encodeInto(values, this.#metadata, slot * RECORD_BYTES);
    }
    raw.set(data);
    raw.fill(0xff, this.pageBytes + this.codewordCount * CODEWORD_SPARE_BYTES);
    this.#scramble(place, raw);
    for (let codeword = 0; codeword < this.codewordCount; codeword++) {
      this.#encodeCodeword(codeword, raw);
    }
  }

  /**
   * Decodes a raw page, which stays as it is. Data and records of a slot are valid unless one of
   * its codewords is uncorrectable: then they are what was read. An erased page gives zeros.
   *
   * @param data result, `pageBytes` bytes
   * @param records result, one for each slot
   * @returns the same object every time
   */
  decodePage(
    place: PagePlace,
    raw: Uint8Array,
    data: Uint8Array,
    records: SlotRecord[],
  ): PageVerdict {
    this.#checkSizes(data, records, raw);
    const outcome = this.#outcome;
    outcome.begin(this.isErased(raw));
    if (outcome.erased) {
      for (let c = 0; c < this.codewordCount; c++) outcome.enter(c, this.#zeroBits(raw, c));
      data.fill(0);
      for (const slotRecord of records) {
        slotRecord.pageWord = 0;
        slotRecord.order = 0;
        slotRecord.badSectors = 0;
      }
      return outcome;
    }
    for (let codeword = 0; codeword < this.codewordCount; codeword++) {
      outcome.enter(codeword, this.#decodeCodeword(codeword, raw, data));
    }
    this.#scramble(place, data);
    for (let slot = 0; slot < this.slotCount; slot++) this.#takeOut(slot, data, records[slot]!);
    return outcome;
  }

  /** Whether every codeword has so few zero bits that the page cannot have been programmed. */
  isErased(raw: Uint8Array): boolean {
    const threshold = erasedThreshold(this.engine.t);
    for (let codeword = 0; codeword < this.codewordCount; codeword++) {
      if (this.#zeroBits(raw, codeword) > threshold) return false;
    }
    return true;
  }

  /** Reads a record and compares the CRC, once the codewords of the slot are decoded. */
  #takeOut(slot: number, data: Uint8Array, slotRecord: SlotRecord): void {
    const { pageWord, order, badSectors, crc } = SpareRecord.decode(
      this.#metadata,
      slot * RECORD_BYTES,
    );
    slotRecord.pageWord = pageWord;
    slotRecord.order = order;
    slotRecord.badSectors = badSectors;
    const codewords = (2 ** CODEWORDS_PER_SLOT - 1) << (slot * CODEWORDS_PER_SLOT);
    if ((this.#outcome.failedCodewords & codewords) !== 0) return;
    const from = slot * SLOT_BYTES;
    if (crc32c(data, from, from + SLOT_BYTES, pageWord) !== crc)
      this.#outcome.crcWrong |= 1 << slot;
  }

  /** Scrambles, or descrambles, data and the records without their markers. */
  #scramble({ page, block }: PagePlace, data: Uint8Array): void {
    const { pageBytes } = this;
    this.#scrambler.scramble(data, 0, pageBytes, page, block);
    for (let slot = 0; slot < this.slotCount; slot++) {
      const at = slot * RECORD_BYTES + 1;
      this.#scrambler.scramble(this.#metadata, at, RECORD_BYTES - 1, page, block, pageBytes + at);
    }
  }

  #encodeCodeword(codeword: number, raw: Uint8Array): void {
    const { workspace, dataBytes, parityBytes } = this.engine;
    const dataAt = codeword * CODEWORD_DATA_BYTES;
    const metadataAt = codeword * CODEWORD_METADATA_BYTES;
    const spareAt = this.#spareAt(codeword);
    workspace.set(raw.subarray(dataAt, dataAt + CODEWORD_DATA_BYTES));
    for (let i = 0; i < CODEWORD_METADATA_BYTES; i++) {
      workspace[CODEWORD_DATA_BYTES + i] = this.#metadata[metadataAt + i]!;
    }
    this.engine.encode(workspace, 0, workspace, dataBytes);
    const count = CODEWORD_METADATA_BYTES + parityBytes;
    for (let i = 0; i < count; i++) raw[spareAt + i] = workspace[CODEWORD_DATA_BYTES + i]!;
  }

  #decodeCodeword(codeword: number, raw: Uint8Array, data: Uint8Array): number {
    const { workspace, dataBytes, parityBytes } = this.engine;
    const dataAt = codeword * CODEWORD_DATA_BYTES;
    const metadataAt = codeword * CODEWORD_METADATA_BYTES;
    const spareAt = this.#spareAt(codeword);
    workspace.set(raw.subarray(dataAt, dataAt + CODEWORD_DATA_BYTES));
    const count = CODEWORD_METADATA_BYTES + parityBytes;
    for (let i = 0; i < count; i++) workspace[CODEWORD_DATA_BYTES + i] = raw[spareAt + i]!;
    const corrected = this.engine.decode(workspace, 0, workspace, dataBytes);
    data.set(this.#workspaceData, dataAt);
    for (let i = 0; i < CODEWORD_METADATA_BYTES; i++) {
      this.#metadata[metadataAt + i] = workspace[CODEWORD_DATA_BYTES + i]!;
    }
    return corrected;
  }

  /** Zero bits of a codeword, as far as it matters: counting ends above the threshold. */
  #zeroBits(raw: Uint8Array, codeword: number): number {
    const dataAt = codeword * CODEWORD_DATA_BYTES;
    const most = erasedThreshold(this.engine.t);
    const count = countZeroBits(raw, dataAt, dataAt + CODEWORD_DATA_BYTES, most);
    if (count > most) return count;
    const spareAt = this.#spareAt(codeword);
    return count + countZeroBits(raw, spareAt, spareAt + CODEWORD_SPARE_BYTES, most);
  }

  #spareAt(codeword: number): number {
    return this.pageBytes + codeword * CODEWORD_SPARE_BYTES;
  }

  #checkSizes(data: Uint8Array, records: readonly SlotRecord[], raw: Uint8Array): void {
    const { pageBytes, slotCount, rawBytes } = this;
    if (data.length === pageBytes && records.length === slotCount && raw.length === rawBytes)
      return;
    throw new RangeError(
      `page codec: a page has ${pageBytes} data bytes, ${slotCount} records and ${rawBytes} raw ` +
        `bytes, not ${data.length}, ${records.length} and ${raw.length}`,
    );
  }
}

/** Zero bits from `from` to before `to`; stops soon after more than `most`. */
function countZeroBits(bytes: Uint8Array, from: number, to: number, most: number): number {
  let count = 0;
  for (let at = from; at < to && count <= most; at++) {
    for (let zeros = ~bytes[at]! & 0xff; zeros !== 0; zeros &= zeros - 1) count++;
  }
  return count;
}

/** Whether decoding gave up on a codeword of the slot. */
export function slotFailed({ failedCodewords }: PageVerdict, slot: number): boolean {
  return ((failedCodewords >> (slot * CODEWORDS_PER_SLOT)) & (2 ** CODEWORDS_PER_SLOT - 1)) !== 0;
}
