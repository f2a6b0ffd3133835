/**
 * Safe reads: what a block's pages can bear at worst, so that most reads need no error model.
 *
 * The error model finds no wrong bit in a codeword whose coarse random byte lies below a bound that
 * falls as the block ages and is read. For each block the bound is taken once for some time and
 * some reads ahead, for the worst LSB and the worst MSB page; a read then costs one line of this
 * table and one hash. Nothing here is state: it is made again from the block's history.
 */

import type { PagePairing } from '../hal/pairing.ts';
import type { BlockHistory } from './block-history.ts';
import type { ErrorModel } from './physics/error-model.ts';
import { PageHistory } from './physics/page-history.ts';

/** Cells a block: erase count plus one, minute and reads up to which it holds, the bounds. */
const CELLS = 4;
const MINUTES_AHEAD = 60;
const READS_AHEAD = 256;
/** The bound of MSB pages stands above that of LSB pages. */
const MSB_SHIFT = 8;
const NEVER = 0;

export class SafeReads {
  readonly #errors: ErrorModel;
  readonly #blocks: BlockHistory;
  readonly #rows: Int32Array;
  /** Shift of each page's bound in the last cell. */
  readonly #shift: Uint8Array;
  readonly #lsbFactor: number;
  readonly #msbFactor: number;
  readonly #history = new PageHistory();
  /** Where touched rows go, so that the engine does not leave the reading out. */
  #sink = 0;

  constructor(errors: ErrorModel, blocks: BlockHistory, count: number, pairing: PagePairing) {
    this.#errors = errors;
    this.#blocks = blocks;
    this.#rows = new Int32Array(count * CELLS);
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
   */
  isClean(
    block: number,
    page: number,
    firstCodeword: number,
    eraseCount: number,
    readCount: number,
    minute: number,
  ): boolean {
    const rows = this.#rows;
    const row = block * CELLS;
    const holds =
      rows[row] === eraseCount + 1 && minute <= rows[row + 1]! && readCount <= rows[row + 2]!;
    if (!holds) this.#renew(block, eraseCount, readCount, minute);
    const safe = (rows[row + 3]! >>> this.#shift[page]!) & 0xff;
    const coarse = this.#errors.coarse(block, eraseCount, page, firstCodeword);
    return (
      (coarse & 0xff) < safe &&
      ((coarse >>> 8) & 0xff) < safe &&
      ((coarse >>> 16) & 0xff) < safe &&
      coarse >>> 24 < safe
    );
  }

  /** A page of the block is going to be read: brings its row near. */
  touch(block: number): void {
    this.#sink ^= this.#rows[block * CELLS]!;
  }

  #renew(block: number, eraseCount: number, readCount: number, minute: number): void {
    const age = Math.max(0, minute - Math.max(0, this.#blocks.firstMinuteOf(block)));
    const minutesAhead = MINUTES_AHEAD + (age >> 2);
    const readsAhead = READS_AHEAD + (readCount >> 2);
    const history = this.#history.place(block, 0, eraseCount);
    history.ageMinutes = age + minutesAhead + 1;
    history.readCount = readCount + readsAhead;
    history.disturbFactor = this.#blocks.disturbFactorOf(block);
    const rows = this.#rows;
    const row = block * CELLS;
    rows[row] = eraseCount + 1;
    rows[row + 1] = minute + minutesAhead;
    rows[row + 2] = readCount + readsAhead;
    const lsb = this.#boundOf(history, this.#lsbFactor);
    rows[row + 3] = lsb | (this.#boundOf(history, this.#msbFactor) << MSB_SHIFT);
  }

  /** One more than the largest coarse byte that stands for no error. */
  #boundOf(history: PageHistory, pageFactor: number): number {
    const safe = Math.floor(this.#errors.safeByte(history, pageFactor)) + 1;
    return safe < 0 ? NEVER : safe > 255 ? 255 : safe;
  }
}
