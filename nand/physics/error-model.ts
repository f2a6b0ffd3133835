/**
 * The error model: how many bits of a codeword are wrong, and which.
 *
 * A pure function of seed, place, erase count and history. Each codeword has a fixed uniform
 * number and a fixed order of its bits; its count is the quantile of that uniform at the present
 * mean, its wrong bits the first of that order. So a page reads the same twice, and age and reads
 * only add errors. The uniform has 40 bits: the upper 8 of four codewords come from one hash, which
 * is all a read of a fresh page needs; the lower 32 from a hash of their own.
 */

import { bitPositions } from './bit-permutation.ts';
import type { ErrorLaw } from './error-law.ts';
import { WEAK_FACTOR } from './interrupted.ts';
import { inverseNegativeBinomial } from './negative-binomial.ts';
import type { PageHistory } from './page-history.ts';
import { fractionOf, type PlaceKey, placeHash, placeKey } from './place-hash.ts';
import { BaseRber, CODEWORD_BITS } from './rber.ts';
import type { Variation } from './variation.ts';

/** Codewords of a 4 KiB slot; the first of a slot is a multiple of it. */
export const CODEWORDS_PER_SLOT = 4;
/** Bits that are all random are wrong by half: neither rate nor count rises further. */
const RBER_MAX = 0.5;
const ERRORS_MAX = CODEWORD_BITS / 2;

/** Brings a bit error rate to 256ths of a wrong bit a codeword. */
const SAFE_SCALE = 256 * CODEWORD_BITS;

/** Share of the disturb part that erased cells see, and their rate without any. Assumed. */
const ERASED_DISTURB = 0.3;
const ERASED_FLOOR = 2e-7;

/** The two hashes behind the uniform of a codeword. */
interface UniformKeys {
  readonly coarse: PlaceKey;
  readonly fine: PlaceKey;
}

function uniformKeys(seed: string, purpose: string): UniformKeys {
  return { coarse: placeKey(seed, `${purpose}.coarse`), fine: placeKey(seed, `${purpose}.fine`) };
}

export class ErrorModel {
  readonly base: BaseRber;
  readonly variation: Variation;
  readonly #programmed: UniformKeys;
  readonly #erased: UniformKeys;
  readonly #positions: PlaceKey;
  /** By page: 256 * bits * page factor * the largest word line factor. */
  readonly #pageWorst: Float64Array;

  constructor(seed: string, law: ErrorLaw, variation: Variation) {
    this.base = new BaseRber(law);
    this.variation = variation;
    this.#programmed = uniformKeys(seed, 'nand.bit-errors');
    this.#erased = uniformKeys(seed, 'nand.erased-bit-errors');
    this.#positions = placeKey(seed, 'nand.bit-error-positions');
    const scale = SAFE_SCALE * variation.wordLineFactorMax;
    this.#pageWorst = variation.pageFactor.map((factor) => factor * scale);
  }

  /** RBER of a programmed page, at most 0.5. */
  rberOf(history: PageHistory): number {
    const { blockIndex, page } = history;
    const { variation } = this;
    this.base.load(history);
    const mean = this.base.mean[0]!;
    const line = variation.wordLineFactor(blockIndex, variation.wordLineOf[page]!);
    const place = variation.pageFactor[page]! * variation.blockFactor(blockIndex) * line;
    const rber = mean * place * (history.weak ? WEAK_FACTOR : 1) + history.extraRber;
    return rber < RBER_MAX ? rber : RBER_MAX;
  }

  /** RBER of an erased page: bits that read 0. Only disturb puts charge into erased cells. */
  erasedRberOf(history: PageHistory): number {
    const { blockIndex, page, eraseCount } = history;
    const { variation } = this;
    const disturb = this.base.disturbAt(eraseCount, history.readCount) * history.disturbFactor;
    const line = variation.wordLineFactor(blockIndex, variation.wordLineOf[page]!);
    const place = variation.blockFactor(blockIndex) * line * (history.weak ? WEAK_FACTOR : 1);
    const rber = ERASED_DISTURB * disturb * place + ERASED_FLOOR + history.extraRber;
    return rber < RBER_MAX ? rber : RBER_MAX;
  }

  /** Wrong bits of one codeword (0..7 of an 8 KiB page) of a programmed page. */
  codewordErrors(history: PageHistory, codeword: number): number {
    const lambda = this.rberOf(history) * CODEWORD_BITS;
    return countAt(this.#programmed, history, codeword, lambda);
  }

  /** Zero bits of one codeword of an erased page. */
  erasedErrors(history: PageHistory, codeword: number): number {
    const lambda = this.erasedRberOf(history) * CODEWORD_BITS;
    return countAt(this.#erased, history, codeword, lambda);
  }

  /** The coarse bytes of four codewords: a byte up to the safe one stands for no wrong bit. */
  coarse(blockIndex: number, eraseCount: number, page: number, firstCodeword: number): number {
    const place = placeInBlock(page, firstCodeword);
    return placeHash(this.#programmed.coarse, blockIndex, eraseCount, place);
  }

  /**
   * The safe byte of a page of this block, as if its word line were the worst there is; below 0
   * when none is safe.
   * @param pageFactor of the page, or of the worst page that is meant
   */
  safeByte(history: PageHistory, pageFactor: number): number {
    this.base.load(history);
    const { variation } = this;
    const place =
      pageFactor * variation.wordLineFactorMax * variation.blockFactor(history.blockIndex);
    return 255 - this.base.mean[0]! * SAFE_SCALE * place;
  }

  /**
   * Wrong bits of the four codewords of a slot.
   *
   * @param firstCodeword 0 or 4 for the slots of an 8 KiB page
   * @param counts receives four counts
   * @returns the largest of them
   */
  slotErrors(history: PageHistory, firstCodeword: number, counts: Int32Array): number {
    const { page, blockIndex } = history;
    const { blockFactors } = this.variation;
    if (blockFactors[blockIndex] === 0) this.variation.drawAround(blockIndex);
    const coarse = coarseOf(this.#programmed, history, firstCodeword);
    // P(0) >= 1 - lambda, so a byte b with (b + 1) / 256 <= 1 - lambda stands for no error; here
    // with a lambda from above, as if the word line were the worst there is. The uniform stays
    // 2^-41 below the upper end of its byte, out of reach of rounding.
    this.base.loadBound(history);
    let bound = this.base.mean[0]! * this.#pageWorst[page]!;
    bound = bound * blockFactors[blockIndex]! + history.extraRber * SAFE_SCALE;
    const safe = 255 - (history.weak ? bound * WEAK_FACTOR : bound);
    if (
      (coarse & 0xff) <= safe &&
      ((coarse >>> 8) & 0xff) <= safe &&
      ((coarse >>> 16) & 0xff) <= safe &&
      coarse >>> 24 <= safe
    ) {
      counts[0] = 0;
      counts[1] = 0;
      counts[2] = 0;
      counts[3] = 0;
      return 0;
    }
    const lambda = this.rberOf(history) * CODEWORD_BITS;
    return fillCounts(this.#programmed, history, firstCodeword, coarse, lambda, counts);
  }

  /** Zero bits of the four codewords of an erased slot; the rest as in slotErrors. */
  erasedSlotErrors(history: PageHistory, firstCodeword: number, counts: Int32Array): number {
    const lambda = this.erasedRberOf(history) * CODEWORD_BITS;
    const coarse = coarseOf(this.#erased, history, firstCodeword);
    return fillCounts(this.#erased, history, firstCodeword, coarse, lambda, counts);
  }

  /**
   * The wrong bits of a codeword, as positions 0..8639.
   *
   * @param count what codewordErrors gave
   * @param into receives `count` positions, all different; those of a smaller count come first
   */
  errorPositions(history: PageHistory, codeword: number, count: number, into: Int32Array): void {
    const { blockIndex, eraseCount, page } = history;
    const key = placeHash(this.#positions, blockIndex, eraseCount, placeInBlock(page, codeword));
    bitPositions(key, count, into);
  }
}

function placeInBlock(page: number, codeword: number): number {
  return (page << 4) | codeword;
}

/** Four bytes: the upper bits of the uniforms of codewords first..first + 3. */
function coarseOf(keys: UniformKeys, history: PageHistory, first: number): number {
  const { blockIndex, eraseCount, page } = history;
  return placeHash(keys.coarse, blockIndex, eraseCount, placeInBlock(page, first));
}

function fillCounts(
  keys: UniformKeys,
  history: PageHistory,
  first: number,
  coarse: number,
  lambda: number,
  counts: Int32Array,
): number {
  const safe = 255 - 256 * lambda;
  let worst = 0;
  for (let i = 0; i < CODEWORDS_PER_SLOT; i++) {
    const byte = (coarse >>> (8 * i)) & 0xff;
    const count = byte <= safe ? 0 : refined(keys, history, first + i, byte, lambda);
    counts[i] = count;
    if (count > worst) worst = count;
  }
  return worst;
}

function countAt(
  keys: UniformKeys,
  history: PageHistory,
  codeword: number,
  lambda: number,
): number {
  const coarse = coarseOf(keys, history, codeword & ~3);
  return refined(keys, history, codeword, (coarse >>> (8 * (codeword & 3))) & 0xff, lambda);
}

/** The count at a uniform whose upper byte is known. */
function refined(
  keys: UniformKeys,
  history: PageHistory,
  codeword: number,
  byte: number,
  lambda: number,
): number {
  const { blockIndex, eraseCount, page } = history;
  const fine = placeHash(keys.fine, blockIndex, eraseCount, placeInBlock(page, codeword));
  return inverseNegativeBinomial(lambda, (byte + fractionOf(fine)) / 256, ERRORS_MAX);
}
