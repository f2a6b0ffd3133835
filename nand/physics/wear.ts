/**
 * Wear of a block: when it fails to erase or program, and how its times drift.
 *
 * Every block has a life drawn once: P(fail by c) = 1 - exp(-(c/eta)^3), eta = 17500 / sqrt(block
 * factor), so 0.5 % of blocks by 3000 cycles and 2.3 % by 5000. It ends in an erase failure (30 %)
 * or in program failures from some page on (70 %). Sources: erase time rises and program time falls
 * by 10-15 % over life, Grupp et al., MICRO 2009; every figure is assumed.
 */

import { exactLog, exactPow } from './exact-math.ts';
import { normalQuantiles, QUANTILE_BITS } from './normal.ts';
import { fractionOf, type PlaceKey, placeHash, placeKey } from './place-hash.ts';
import type { Variation } from './variation.ts';

export interface WearLaw {
  readonly ratedEraseCount: number;
  /** Weibull scale of a mean block, in cycles, and shape. */
  readonly lifeEraseCount: number;
  readonly lifeShape: number;
  /** Share of lives that end in an erase failure; the rest end in program failures. */
  readonly eraseFailShare: number;
  /** Chance of a program failure that means nothing. */
  readonly sporadicProgramFail: number;
  /** tBERS = nominal * (1 + growth * x), x = cycles / rated cycles, up to a maximum. */
  readonly eraseGrowth: number;
  readonly eraseMaxNs: number;
  /** tPROG = nominal * (1 - fall * min(x, 1.5)), up to a maximum. */
  readonly programFall: number;
  readonly programMaxNs: number;
  /** Standard deviations of the jitter, as shares of the time. */
  readonly eraseSd: number;
  readonly programLsbSd: number;
  readonly programMsbSd: number;
  /** Share of MSB programs that take `outlierFactor` times as long. */
  readonly outlierShare: number;
  readonly outlierFactor: number;
}

export const WEAR_LAW: WearLaw = {
  ratedEraseCount: 3000,
  lifeEraseCount: 17_500,
  lifeShape: 3,
  eraseFailShare: 0.3,
  sporadicProgramFail: 1e-7,
  eraseGrowth: 0.6,
  eraseMaxNs: 10_000_000,
  programFall: 0.1,
  programMaxNs: 2_600_000,
  eraseSd: 0.05,
  programLsbSd: 0.04,
  programMsbSd: 0.05,
  outlierShare: 0.01,
  outlierFactor: 1.2,
};

/** Where the fall of tPROG ends, in rated lives. */
const PROGRAM_FALL_END = 1.5;

export interface WearOptions {
  readonly law?: WearLaw;
  /** Scatter of tPROG and tBERS; off for a drive whose times are calibrated. */
  readonly jitter?: boolean;
}

export class Wear {
  readonly law: WearLaw;
  readonly jitter: boolean;
  readonly #variation: Variation;
  readonly #pagesPerBlock: number;
  /** Erase count from which each block fails, 0 until asked for. */
  readonly #life: Int32Array;
  readonly #lifeKey: PlaceKey;
  readonly #endKey: PlaceKey;
  readonly #sporadicKey: PlaceKey;
  readonly #timeKey: PlaceKey;
  readonly #outlierKey: PlaceKey;
  readonly #sporadicLimit: number;
  readonly #outlierLimit: number;

  /** @param blocks blocks of the whole array */
  constructor(seed: string, blocks: number, variation: Variation, options: WearOptions = {}) {
    this.law = options.law ?? WEAR_LAW;
    this.jitter = options.jitter ?? true;
    this.#variation = variation;
    this.#pagesPerBlock = variation.wordLineOf.length;
    this.#life = new Int32Array(blocks);
    this.#lifeKey = placeKey(seed, 'nand.block-life');
    this.#endKey = placeKey(seed, 'nand.block-end');
    this.#sporadicKey = placeKey(seed, 'nand.sporadic-program-fail');
    this.#timeKey = placeKey(seed, 'nand.operation-time');
    this.#outlierKey = placeKey(seed, 'nand.program-outlier');
    this.#sporadicLimit = Math.round(this.law.sporadicProgramFail * 2 ** 32);
    this.#outlierLimit = Math.round(this.law.outlierShare * 2 ** 32);
  }

  /** Erase count from which the block fails. */
  lifeOf(blockIndex: number): number {
    const known = this.#life[blockIndex]!;
    return known === 0 ? this.#drawLife(blockIndex) : known;
  }

  /** Whether an erase fails; `eraseCount` is the number of whole erases before it. */
  failsErase(blockIndex: number, eraseCount: number): boolean {
    return eraseCount >= this.lifeOf(blockIndex) && this.#endsInErase(blockIndex);
  }

  /**
   * Whether a program fails. At the end of its life a block fails at one page and all above it,
   * so the failure shows also when pages are left out (LSB pages only).
   */
  failsProgram(blockIndex: number, page: number, eraseCount: number): boolean {
    if (eraseCount >= this.lifeOf(blockIndex) && !this.#endsInErase(blockIndex)) {
      const end = placeHash(this.#endKey, blockIndex, 1, 0) >>> 0;
      if (page >= end % this.#pagesPerBlock) return true;
    }
    return placeHash(this.#sporadicKey, blockIndex, page, eraseCount) >>> 0 < this.#sporadicLimit;
  }

  /** tBERS in whole ns; `nominalNs` is that of a new block. */
  eraseNs(nominalNs: number, blockIndex: number, eraseCount: number): number {
    const { law } = this;
    const grown = nominalNs * (1 + (law.eraseGrowth * eraseCount) / law.ratedEraseCount);
    const ns = this.jitter ? grown * this.#scatter(law.eraseSd, blockIndex, -1, eraseCount) : grown;
    return Math.round(Math.min(ns, law.eraseMaxNs));
  }

  /** tPROG in whole ns; `nominalNs` is that of the page's kind (LSB or MSB) in a new block. */
  programNs(
    nominalNs: number,
    msb: boolean,
    blockIndex: number,
    page: number,
    eraseCount: number,
  ): number {
    const { law } = this;
    const x = Math.min(eraseCount / law.ratedEraseCount, PROGRAM_FALL_END);
    let ns = nominalNs * (1 - law.programFall * x);
    if (this.jitter) {
      const sd = msb ? law.programMsbSd : law.programLsbSd;
      ns *= this.#scatter(sd, blockIndex, page, eraseCount);
      if (msb && this.#isOutlier(blockIndex, page, eraseCount)) ns *= law.outlierFactor;
    }
    return Math.round(Math.min(ns, law.programMaxNs));
  }

  #endsInErase(blockIndex: number): boolean {
    return fractionOf(placeHash(this.#endKey, blockIndex, 0, 0)) < this.law.eraseFailShare;
  }

  #isOutlier(blockIndex: number, page: number, eraseCount: number): boolean {
    return placeHash(this.#outlierKey, blockIndex, page, eraseCount) >>> 0 < this.#outlierLimit;
  }

  /** 1 + N(0, sd^2), the normal cut at 3.67 standard deviations. */
  #scatter(sd: number, blockIndex: number, page: number, eraseCount: number): number {
    const hash = placeHash(this.#timeKey, blockIndex, page, eraseCount);
    return 1 + sd * normalQuantiles()[hash >>> (32 - QUANTILE_BITS)]!;
  }

  #drawLife(blockIndex: number): number {
    const scale = this.law.lifeEraseCount / Math.sqrt(this.#variation.blockFactor(blockIndex));
    const survival = fractionOf(placeHash(this.#lifeKey, blockIndex, 0, 0));
    const life = scale * exactPow(-exactLog(survival), 1 / this.law.lifeShape);
    const eraseCount = Math.max(Math.min(Math.ceil(life), 2 ** 31 - 1), 1);
    this.#life[blockIndex] = eraseCount;
    return eraseCount;
  }
}
