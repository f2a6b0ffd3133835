/**
 * Exact reads: a slot is encoded as it was programmed, loses its bits, and is decoded.
 *
 * Which bits are wrong comes from the error model; with their number given, the verdict of the code
 * itself is what the controller gets. A miscorrection is found out by the slot's CRC.
 */

import type { Content } from '../hal/content/content.ts';
import type { Geometry } from '../hal/geometry.ts';
import { SLOT_BYTES } from '../hal/sim/units.ts';
import { PageCodec } from './ecc/page-codec.ts';
import { CODEWORDS_PER_SLOT, type ErrorModel } from './physics/error-model.ts';
import type { PageHistory } from './physics/page-history.ts';

const CODEWORD_DATA = 1024;
const CODEWORD_DATA_BITS = CODEWORD_DATA * 8;
const CODEWORD_SPARE = 56;
const CODEWORD_BITS = CODEWORD_DATA_BITS + CODEWORD_SPARE * 8;
const CODEWORD_SECTORS = 0b11;
const ALL_SECTORS = 0xff;
const UNCORRECTABLE = -1;

export class ExactReads {
  readonly codec: PageCodec;
  /** Sectors of the last slot that could not be corrected. */
  badSectors = 0;
  readonly #geometry: Geometry;
  readonly #contents: Content;
  readonly #errors: ErrorModel | null;
  readonly #data: Uint8Array;
  readonly #decoded: Uint8Array;
  readonly #raw: Uint8Array;
  readonly #positions = new Int32Array(CODEWORD_BITS);
  readonly #records;
  readonly #readRecords;

  constructor(geometry: Geometry, contents: Content, errors: ErrorModel | null) {
    this.codec = new PageCodec(geometry);
    this.#geometry = geometry;
    this.#contents = contents;
    this.#errors = errors;
    this.#data = new Uint8Array(geometry.pageBytes);
    this.#decoded = new Uint8Array(geometry.pageBytes);
    this.#raw = new Uint8Array(this.codec.rawBytes);
    this.#records = this.codec.newRecords();
    this.#readRecords = this.codec.newRecords();
  }

  /**
   * Decodes one slot; the other slots of its page are taken as zeros.
   * @param counts wrong bits of its four codewords
   * @returns bits corrected in the worst codeword, or -1
   */
  decode(
    slot: number,
    content: number,
    pageWord: number,
    order: number,
    history: PageHistory,
    counts: Int32Array,
  ): number {
    const { slotsPerPage } = this.#geometry;
    const inPage = slot & (slotsPerPage - 1);
    const place = { block: this.#geometry.blockOf(slot), page: this.#geometry.pageOf(slot) };
    this.#data.fill(0);
    this.#data.set(this.#contents.bytesOf(content), inPage * SLOT_BYTES);
    this.#records.forEach((record, i) => {
      record.pageWord = i === inPage ? pageWord : 0;
      record.order = i === inPage ? order >>> 0 : 0;
      record.badSectors = i === inPage ? this.#contents.spoiledOf(content) : 0;
    });
    this.codec.encodePage(place, this.#data, this.#records, this.#raw);
    for (let i = 0; i < CODEWORDS_PER_SLOT; i++) {
      const codeword = inPage * CODEWORDS_PER_SLOT + i;
      this.#flip(history, codeword, counts[i]!);
    }
    const verdict = this.codec.decodePage(place, this.#raw, this.#decoded, this.#readRecords);
    let worst = 0;
    this.badSectors = 0;
    for (let i = 0; i < CODEWORDS_PER_SLOT; i++) {
      const corrected = verdict.corrected[inPage * CODEWORDS_PER_SLOT + i]!;
      if (corrected === UNCORRECTABLE) this.badSectors |= CODEWORD_SECTORS << (2 * i);
      else if (corrected > worst) worst = corrected;
    }
    if (((verdict.crcWrong >>> inPage) & 1) !== 0) this.badSectors = ALL_SECTORS;
    return this.badSectors === 0 ? worst : UNCORRECTABLE;
  }

  /** Turns over `count` bits of a codeword of the raw page. */
  #flip(history: PageHistory, codeword: number, count: number): void {
    if (count === 0) return;
    const positions = this.#positions;
    if (this.#errors !== null) this.#errors.errorPositions(history, codeword, count, positions);
    else for (let i = 0; i < count; i++) positions[i] = i;
    const dataAt = codeword * CODEWORD_DATA;
    const spareAt = this.#geometry.pageBytes + codeword * CODEWORD_SPARE;
    for (let i = 0; i < count; i++) {
      const bit = positions[i]!;
      const inSpare = bit - CODEWORD_DATA_BITS;
      const at = inSpare < 0 ? dataAt + (bit >>> 3) : spareAt + (inSpare >>> 3);
      this.#raw[at] = this.#raw[at]! ^ (1 << (bit & 7));
    }
  }
}
