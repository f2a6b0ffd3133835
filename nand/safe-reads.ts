/**
 * Safe reads: what a block's pages can bear at worst, so that most reads need no error model.
 *
 * The error model finds no wrong bit in a codeword whose coarse random byte lies below a bound that
 * falls as the block ages and is read. For each block the bound is taken once for some time and
 * some reads ahead, for the worst LSB and the worst MSB page, and kept in the row of its history: a
 * read needs that row anyway, to be counted, and one hash more.
 */

import type { PagePairing } from '../hal/pairing.ts';
import type { BlockHistory } from './block-history.ts';
import type { ErrorModel } from './physics/error-model.ts';
import { PageHistory } from './physics/page-history.ts';

const MINUTES_AHEAD = 60;
const READS_AHEAD = 256;
/** The byte of MSB pages stands above that of LSB pages. */
const MSB_SHIFT = 8;
/** Bit of the safe bytes that tells that they were worked out, though no read may be safe. */
const KNOWN = 1 << 16;
const NEVER = 0;

export class SafeReads {
  readonly #errors: ErrorModel;
  readonly #blocks: BlockHistory;
  /** Shift of each page's byte. */
  readonly #shift: Uint8Array;
  readonly #lsbFactor: number;
  readonly #msbFactor: number;
  readonly #history = new PageHistory();

  constructor(errors: ErrorModel, blocks: BlockHistory, pairing: PagePairing) {
    this.#errors = errors;
    this.#blocks = blocks;
    this.#shift = Uint8Array.from(pairing.isMsb, (msb) => msb * MSB_SHIFT);
    const { pageFactor } = errors.variation;
    const worst = (msb: number) =>
      pageFactor.reduce((max, factor, page) => {
        return pairing.isMsb[page] === msb ? Math.max(max, factor) : max;
      }, 0);
    this.#lsbFactor = worst(0);
    this.#msbFactor = worst(1);
  }

  /**
   * Whether four codewords of a programmed page of a sound block surely have no wrong bit.
   * @param firstCodeword 0 or 4 for the slots of an 8 KiB page
   * @param minute of the retention clock
   */
  isClean(block: number, page: number, firstCodeword: number, minute: number): boolean {
    let bytes = this.#blocks.safeBytesAt(block, minute);
    if (bytes === 0) bytes = this.#renew(block, minute);
    const safe = (bytes >>> this.#shift[page]!) & 0xff;
    const eraseCount = this.#blocks.eraseCountOf(block);
    const coarse = this.#errors.coarse(block, eraseCount, page, firstCodeword);
    return (
      (coarse & 0xff) < safe &&
      ((coarse >>> 8) & 0xff) < safe &&
      ((coarse >>> 16) & 0xff) < safe &&
      coarse >>> 24 < safe
    );
  }

  /** Works the safe bytes of a block out, for some time and some reads ahead. */
  #renew(block: number, minute: number): number {
    const blocks = this.#blocks;
    const reads = blocks.readsOf(block);
    const age = Math.max(0, minute - Math.max(0, blocks.firstMinuteOf(block)));
    const minutesAhead = MINUTES_AHEAD + (age >> 2);
    const readsAhead = READS_AHEAD + (reads >> 2);
    const history = this.#history.place(block, 0, blocks.eraseCountOf(block));
    history.ageMinutes = age + minutesAhead + 1;
    history.readCount = reads + readsAhead;
    history.disturbFactor = blocks.disturbFactorOf(block);
    const lsb = this.#boundOf(history, this.#lsbFactor);
    const bytes = KNOWN | lsb | (this.#boundOf(history, this.#msbFactor) << MSB_SHIFT);
    blocks.setSafeBytes(block, bytes, minute + minutesAhead, reads + readsAhead);
    return bytes;
  }

  /** One more than the largest coarse byte that stands for no error. */
  #boundOf(history: PageHistory, pageFactor: number): number {
    const safe = Math.floor(this.#errors.safeByte(history, pageFactor)) + 1;
    return safe < 0 ? NEVER : safe > 255 ? 255 : safe;
  }
}
