/**
 * Page records in memory: a run of them, encoded and judged by words.
 *
 * format.ts declares the records; here are the same places as word numbers, since records are
 * written with every program and read by the million when an image is opened.
 */
import { wordsCrc } from './crc.ts';
import {
  BlockState,
  hasData,
  type ImageLayout,
  PageHead,
  PageState,
  SlotKind,
  SlotRecord,
} from './format.ts';

const CRC = PageHead.offsetOf('crc') / 4;
const STATE = PageHead.offsetOf('state') / 4;
const ERASES = PageHead.offsetOf('eraseCount') / 4;
const DAMAGE = PageHead.offsetOf('damage') / 4;
const FIRST_SLOT = PageHead.span / 4;
const SLOT_WORDS = SlotRecord.span / 4;
const WORD = SlotRecord.offsetOf('pageWord') / 4;
const ORDER = SlotRecord.offsetOf('order') / 4;
const TAG = SlotRecord.offsetOf('tag') / 4;
const DATA_CRC = SlotRecord.offsetOf('dataCrc') / 4;
const KIND = SlotRecord.offsetOf('kind') / 4;

/** One slot's spare record; used again and again. */
export class SlotValues {
  kind: SlotKind = SlotKind.Zeros;
  pageWord = 0;
  order = 0;
  badSectors = 0;
  /** The content of a slot of kind Tag. */
  tag = 0;
  dataCrc = 0;
}

/** Erase count and state of blocks, by block number over the whole array. */
export interface BlockStates {
  readonly blockStates: Uint8Array;
  eraseCountOf(blockIndex: number): number;
}

export class PageRecords {
  readonly bytes: Uint8Array;
  readonly capacity: number;
  readonly #words: Int32Array;
  readonly #layout: ImageLayout;
  readonly #slotsPerPage: number;
  readonly #slotBits: number;
  /** Number of the first page, and how many there are. */
  firstPage = 0;
  count = 0;

  /** @param capacity pages at most */
  constructor(layout: ImageLayout, capacity: number) {
    this.#layout = layout;
    this.#slotsPerPage = layout.geometry.slotsPerPage;
    this.#slotBits = layout.geometry.slotBits;
    this.capacity = capacity;
    this.#words = new Int32Array(capacity * layout.pageRecordWords);
    this.bytes = new Uint8Array(this.#words.buffer);
  }

  /** Begins a run of empty records. */
  begin(firstPage: number, count: number): void {
    this.firstPage = firstPage;
    this.count = count;
    this.#words.fill(0, 0, count * this.#layout.pageRecordWords);
  }

  /** Sets a slot of the run: `index` counts the slots from the first page's first. */
  setSlot(index: number, values: SlotValues): void {
    const at = this.#slotWord(index);
    const words = this.#words;
    words[at + WORD] = values.pageWord;
    words[at + ORDER] = values.order;
    words[at + TAG] = values.tag;
    words[at + DATA_CRC] = values.dataCrc;
    words[at + KIND] = values.kind | (values.badSectors << 8);
  }

  /**
   * Completes the record of the page `index` of the run.
   * @param damage extra bit error rate as encodeRber makes it
   */
  seal(index: number, state: PageState, eraseCount: number, damage: number): void {
    const first = index * this.#layout.pageRecordWords;
    const words = this.#words;
    words[first + STATE] = state | (this.#slotsPerPage << 8);
    words[first + ERASES] = eraseCount;
    words[first + DAMAGE] = damage;
    words[first + CRC] = this.#crcOf(index);
  }

  /** Extra bit error rate of the page `index` as its record has it. */
  damageOf(index: number): number {
    return this.#words[index * this.#layout.pageRecordWords + DAMAGE]! >>> 0;
  }

  /** Changes the damage of a complete record. */
  setDamage(index: number, damage: number): void {
    const first = index * this.#layout.pageRecordWords;
    this.#words[first + DAMAGE] = damage;
    this.#words[first + CRC] = this.#crcOf(index);
  }

  /** Reads a slot of the run. */
  slot(index: number, into: SlotValues): void {
    const at = this.#slotWord(index);
    const words = this.#words;
    const kind = words[at + KIND]!;
    into.pageWord = words[at + WORD]!;
    into.order = words[at + ORDER]!;
    into.tag = words[at + TAG]!;
    into.dataCrc = words[at + DATA_CRC]!;
    into.kind = kind & 0xff;
    into.badSectors = (kind >>> 8) & 0xff;
  }

  /** What the page `index` of the run is, its block's state and erase count considered. */
  stateOf(index: number, blocks: BlockStates): PageState {
    const page = this.firstPage + index;
    const blockIndex = this.#layout.geometry.blockIndexOf(page * this.#slotsPerPage);
    const blockState = blocks.blockStates[blockIndex];
    if (blockState === BlockState.Erased || this.#isHole(index)) return PageState.Erased;
    if (blockState === BlockState.Damaged) return PageState.Damaged;
    const first = index * this.#layout.pageRecordWords;
    if (this.#words[first + CRC] !== this.#crcOf(index)) return PageState.Damaged;
    const head = this.#words[first + STATE]!;
    const state = head & 0xff;
    const known = state === PageState.Programming || state === PageState.Programmed;
    if (!known || head >>> 8 !== this.#slotsPerPage) return PageState.Damaged;
    const younger = this.#words[first + ERASES]! - blocks.eraseCountOf(blockIndex);
    if (younger < 0) return PageState.Erased;
    if (younger > 0) return PageState.Damaged;
    return state === PageState.Programmed ? this.#checkKinds(index) : state;
  }

  /** True when any slot of the page `index` has its bytes in the data area. */
  holdsData(index: number): boolean {
    for (let j = 0; j < this.#slotsPerPage; j++) {
      const at = this.#slotWord(index * this.#slotsPerPage + j);
      if (hasData((this.#words[at + KIND]! & 0xff) as SlotKind)) return true;
    }
    return false;
  }

  #checkKinds(index: number): PageState {
    for (let j = 0; j < this.#slotsPerPage; j++) {
      const at = this.#slotWord(index * this.#slotsPerPage + j);
      if ((this.#words[at + KIND]! & 0xff) > SlotKind.Mixture) return PageState.Damaged;
    }
    return PageState.Programmed;
  }

  #slotWord(index: number): number {
    const page = index >>> this.#slotBits;
    const inPage = index & (this.#slotsPerPage - 1);
    return page * this.#layout.pageRecordWords + FIRST_SLOT + inPage * SLOT_WORDS;
  }

  #crcOf(index: number): number {
    const { pageRecordWords } = this.#layout;
    const first = index * pageRecordWords;
    const page = this.firstPage + index;
    return wordsCrc(this.#words, first + CRC + 1, first + pageRecordWords, page);
  }

  #isHole(index: number): boolean {
    const first = index * this.#layout.pageRecordWords;
    const end = first + this.#layout.pageRecordWords;
    for (let at = first; at < end; at++) if (this.#words[at] !== 0) return false;
    return true;
  }
}
