/**
 * The media: what a read sees of what was programmed (law L4).
 *
 * The page store holds the truth. Errors of wear, age and reads, damage of cut operations and bits
 * that faults add lie on top, and the code corrects what it can. Counted: the error model says how
 * many bits of each codeword are wrong. Exact: the page is encoded, the wrong bits are turned over
 * and it is decoded again; both come to the same verdict.
 */

import type { Content } from '../hal/content/content.ts';
import { BAD_BLOCK_MARK } from '../hal/flash-ops.ts';
import type { Geometry } from '../hal/geometry.ts';
import type { PagePairing } from '../hal/pairing.ts';
import { BlockFlag, HISTORY_CELLS } from './block-history.ts';
import { erasedThreshold } from './ecc/counted.ts';
import type { ExactReads } from './exact-reads.ts';
import { CELLS_PER_SLOT, CONTENT, ORDER, PAGE_WORD, type PageStore } from './page-store.ts';
import { CODEWORDS_PER_SLOT, type ErrorModel } from './physics/error-model.ts';
import { PageHistory } from './physics/page-history.ts';
import { CODEWORD_BITS } from './physics/rber.ts';
import type { RetentionClock } from './retention-clock.ts';
import { SafeReads } from './safe-reads.ts';

/** Errors a codeword bears: BCH over GF(2^14), t = 28, 1080-byte codewords. */
export const CORRECTABLE_BITS = 28;
/** Sectors of a codeword, as bits. */
const CODEWORD_SECTORS = 0b11;
const ALL_SECTORS = 0xff;
const UNCORRECTABLE = -1;
const DAMAGED = BlockFlag.EraseTorn | BlockFlag.Damaged | BlockFlag.FactoryMark;

export interface MediaParts {
  geometry: Geometry;
  store: PageStore;
  contents: Content;
  pairing: PagePairing;
  clock: RetentionClock;
  /** Null: cells hold for ever what was programmed, unless an operation was cut. */
  errors: ErrorModel | null;
  /** Null: counted. */
  exact: ExactReads | null;
}

export class Media {
  /** What the last slot read came to: its cells, and the sectors that could not be corrected. */
  content = 0;
  pageWord = 0;
  order = 0;
  badSectors = 0;
  readonly store: PageStore;
  readonly clock: RetentionClock;
  readonly errors: ErrorModel | null;
  readonly #geometry: Geometry;
  readonly #contents: Content;
  readonly #exact: ExactReads | null;
  /** Reads that need no error model; null when all do. */
  readonly #safe: SafeReads | null;
  readonly #slotMask: number;
  /** Wrong bits of the codewords of the slot. */
  readonly #counts = new Int32Array(CODEWORDS_PER_SLOT);
  readonly #history = new PageHistory();

  constructor(parts: MediaParts) {
    this.#geometry = parts.geometry;
    this.store = parts.store;
    this.#contents = parts.contents;
    this.clock = parts.clock;
    this.errors = parts.errors;
    this.#exact = parts.exact;
    this.#slotMask = parts.geometry.slotsPerPage - 1;
    const counted = parts.exact === null ? parts.errors : null;
    this.#safe =
      counted === null ? null : new SafeReads(counted, parts.store.history, parts.pairing);
  }

  /**
   * Reads and decodes one slot; the caller owns a reference to `content`.
   * @param addedBits wrong bits that faults add to each codeword
   * @param retentionScale part of the charge loss that shifted references leave; 1 without
   * @returns bits corrected in the worst codeword, or -1 when one was beyond the code
   */
  read(slot: number, addedBits: number, retentionScale = 1): number {
    const { store } = this;
    const block = this.#geometry.blockIndexOf(slot);
    const { values } = store.of(slot).cells;
    const at = slot * CELLS_PER_SLOT;
    const page = this.#geometry.pageOf(slot);
    this.content = values[at + CONTENT]!;
    this.pageWord = values[at + PAGE_WORD]!;
    this.order = values[at + ORDER]!;
    this.badSectors = 0;
    const flags = store.history.flagsOf(block);
    if ((flags & DAMAGED) !== 0 && this.#isLost(flags, page)) return UNCORRECTABLE;
    const blocks = store.history;
    if (page >= blocks.nextPageOf(block)) return this.#erased(slot, block, page, addedBits);
    if (this.content < 0) this.#contents.retain(this.content);
    if (flags === 0 && addedBits === 0 && this.#safe !== null) {
      const first = (slot & this.#slotMask) * CODEWORDS_PER_SLOT;
      if (this.#safe.isClean(block, page, first, this.clock.minute)) return 0;
    }
    return this.#decodeSlot(slot, block, page, flags, addedBits, retentionScale);
  }

  /** A read that may meet wrong bits. */
  #decodeSlot(
    slot: number,
    block: number,
    page: number,
    flags: number,
    addedBits: number,
    retentionScale: number,
  ): number {
    const { store } = this;
    let worst = 0;
    const { errors } = this;
    if (errors !== null) {
      const history = this.#history;
      store.history.fill(history, block, page, this.clock.minute);
      if (retentionScale !== 1) history.retentionScale = retentionScale;
      if ((flags & BlockFlag.Damaged) !== 0) history.extraRber = store.damage.rberOf(block, page);
      const first = (slot & this.#slotMask) * CODEWORDS_PER_SLOT;
      worst = errors.slotErrors(history, first, this.#counts);
    } else {
      const damaged = (flags & BlockFlag.Damaged) !== 0;
      worst = damaged ? Math.round(store.damage.rberOf(block, page) * CODEWORD_BITS) : 0;
      this.#counts.fill(worst);
    }
    if (addedBits > 0) worst = this.#add(addedBits);
    if (this.#exact !== null) return this.#decode(slot, worst);
    return worst <= CORRECTABLE_BITS ? worst : this.#failed();
  }

  /** The planes of `planeMask` have sensed a page; the block of plane 0 is `block`. */
  sensed(block: number, planeMask: number): void {
    const { history } = this.store;
    for (let plane = 0, rest = planeMask; rest !== 0; plane++, rest >>>= 1) {
      if ((rest & 1) !== 0) history.read(block + plane);
    }
  }

  /** Slots of a unit are going to be read: cells and block of the first will be wanted. */
  expect(die: number, block: number, page: number, slotMask: number): void {
    const geometry = this.#geometry;
    const lowest = 31 - Math.clz32(slotMask & -slotMask);
    const slot = geometry.unitSlotOf(die, block >>> geometry.planeBits, page) + lowest;
    this.store.cells.expect(slot * CELLS_PER_SLOT);
    this.store.history.table.expect(geometry.blockIndexOf(slot) * HISTORY_CELLS);
  }

  /** RBER of a programmed page as it is now, 0 without an error model. */
  rberOf(block: number, page: number): number {
    if (this.errors === null) return 0;
    const history = this.historyOf(block, page);
    return this.errors.rberOf(history);
  }

  /** What errors of a page depend on; the same object every time. */
  historyOf(block: number, page: number): PageHistory {
    const { store } = this;
    const history = this.#history;
    store.history.fill(history, block, page, this.clock.minute);
    if ((store.history.flagsOf(block) & BlockFlag.Damaged) !== 0) {
      history.extraRber = store.damage.rberOf(block, page);
    }
    return history;
  }

  /** A page that holds nothing that could be decoded: factory mark, or a cut erase. */
  #isLost(flags: number, page: number): boolean {
    const marked = (flags & BlockFlag.FactoryMark) !== 0 && page === 0;
    if (!marked && (flags & BlockFlag.EraseTorn) === 0) return false;
    this.content = 0;
    this.pageWord = marked ? BAD_BLOCK_MARK : 0;
    this.order = 0;
    this.badSectors = ALL_SECTORS;
    return true;
  }

  /** An erased slot reads as such while few of its bits are zero: disturb turns some over. */
  #erased(slot: number, block: number, page: number, addedBits: number): number {
    let zeros = addedBits;
    if (this.errors !== null) {
      const history = this.#history;
      this.store.history.fill(history, block, page, this.clock.minute);
      const first = (slot & this.#slotMask) * CODEWORDS_PER_SLOT;
      zeros += this.errors.erasedSlotErrors(history, first, this.#counts);
    }
    if (zeros <= erasedThreshold(CORRECTABLE_BITS)) return zeros;
    this.badSectors = ALL_SECTORS;
    return UNCORRECTABLE;
  }

  #add(bits: number): number {
    const counts = this.#counts;
    let worst = 0;
    for (let i = 0; i < CODEWORDS_PER_SLOT; i++) {
      counts[i] = Math.min(counts[i]! + bits, CODEWORD_BITS / 2);
      if (counts[i]! > worst) worst = counts[i]!;
    }
    return worst;
  }

  /** Some codewords are beyond the code. The spare record begins in the first one. */
  #failed(): number {
    const counts = this.#counts;
    for (let i = 0; i < CODEWORDS_PER_SLOT; i++) {
      if (counts[i]! > CORRECTABLE_BITS) this.badSectors |= CODEWORD_SECTORS << (2 * i);
    }
    if (counts[0]! > CORRECTABLE_BITS) {
      this.pageWord = 0;
      this.order = 0;
    }
    return UNCORRECTABLE;
  }

  #decode(slot: number, worst: number): number {
    const exact = this.#exact!;
    const { content, pageWord, order } = this;
    const verdict = exact.decode(slot, content, pageWord, order, this.#history, this.#counts);
    if (verdict !== UNCORRECTABLE) return verdict;
    this.badSectors = exact.badSectors;
    if (worst > CORRECTABLE_BITS) this.#failed();
    return UNCORRECTABLE;
  }
}
