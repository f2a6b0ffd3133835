/**
 * Raw bit error rate of a mean page, by P/E cycles, age and reads: an error law made fast.
 *
 * The three coefficients of a cycle count are computed when the count is first met and kept; the
 * powers of age and reads come from tables. A look-up costs some ns and gives the same bits in
 * every engine.
 */

import { disturbTerm, type ErrorLaw, retentionTerm, writeTerm } from './error-law.ts';
import type { PageHistory } from './page-history.ts';
import { PowerTable } from './power-table.ts';

/** Cycle counts with kept coefficients; above, they are computed at each call. */
const KEPT_ERASE_COUNTS = 1 << 14;
const MINUTES_PER_DAY = 1440;

/** Bits of a codeword: 1031 bytes and 392 bits of parity for t = 28. */
export const CODEWORD_BITS = 8640;

export class BaseRber {
  readonly law: ErrorLaw;
  /** What `load` or `loadBound` found last. */
  readonly mean = new Float64Array(1);
  /**
   * Three a cycle count: write, retention, disturb. A row of zeros is not computed yet; the last
   * row is for counts beyond the others and computed at each call.
   */
  readonly #rows = new Float64Array((KEPT_ERASE_COUNTS + 1) * 3);
  readonly #ageTable: PowerTable;
  /** Null when reads count linearly. */
  readonly #readTable: PowerTable | null;

  constructor(law: ErrorLaw) {
    this.law = law;
    this.#ageTable = new PowerTable(law.retentionExponent, 1 / MINUTES_PER_DAY);
    this.#readTable = law.disturbExponent === 1 ? null : new PowerTable(law.disturbExponent, 1);
  }

  /**
   * RBER of a mean page.
   *
   * @param eraseCount P/E cycles of the block
   * @param ageDays days at 30 C since the page was programmed
   * @param readCount reads of the block since then
   */
  at(eraseCount: number, ageDays: number, readCount: number): number {
    const row = this.#rowOf(eraseCount);
    const rows = this.#rows;
    const age = this.#ageTable.at(ageDays * MINUTES_PER_DAY);
    return rows[row]! + rows[row + 1]! * age + rows[row + 2]! * this.#readsPower(readCount);
  }

  /**
   * Puts into `mean[0]` the RBER of a mean page with this history; its place, damage and weakness
   * do not count here. By way of an array, because a fraction that a call returns is allocated
   * wherever the engine did not inline the call.
   */
  load(history: PageHistory): void {
    const row = this.#rowOf(history.eraseCount);
    const rows = this.#rows;
    const { mean } = this;
    let reads = history.readCount;
    if (this.#readTable !== null) {
      mean[0] = reads;
      this.#readTable.replace(mean, 0);
      reads = mean[0]!;
    }
    mean[0] = history.ageMinutes;
    this.#ageTable.replace(mean, 0);
    const retention = rows[row + 1]! * mean[0]! * history.retentionScale;
    mean[0] = rows[row]! + retention + rows[row + 2]! * reads * history.disturbFactor;
  }

  /** Puts into `mean[0]` at least what `load` would find, in a third of the time. */
  loadBound(history: PageHistory): void {
    const row = this.#rowOf(history.eraseCount);
    const rows = this.#rows;
    const table = this.#readTable;
    const reads = table === null ? history.readCount : table.above(history.readCount);
    const age = this.#ageTable.above(history.ageMinutes);
    const retention = rows[row + 1]! * age * history.retentionScale;
    this.mean[0] = rows[row]! + retention + rows[row + 2]! * reads * history.disturbFactor;
  }

  /** The disturb part alone, as erased cells see it. */
  disturbAt(eraseCount: number, readCount: number): number {
    return this.#rows[this.#rowOf(eraseCount) + 2]! * this.#readsPower(readCount);
  }

  #readsPower(readCount: number): number {
    return this.#readTable === null ? readCount : this.#readTable.at(readCount);
  }

  #rowOf(eraseCount: number): number {
    const kept = eraseCount < KEPT_ERASE_COUNTS;
    const row = (kept ? eraseCount : KEPT_ERASE_COUNTS) * 3;
    if (!kept || this.#rows[row] === 0) this.#fill(row, eraseCount);
    return row;
  }

  #fill(row: number, eraseCount: number): void {
    this.#rows[row] = writeTerm(this.law, eraseCount);
    this.#rows[row + 1] = retentionTerm(this.law, eraseCount);
    this.#rows[row + 2] = disturbTerm(this.law, eraseCount);
  }
}

/** One curve of a plot: RBER of a mean page over age or reads at one cycle count. */
export interface RberCurve {
  readonly eraseCount: number;
  readonly points: readonly { readonly at: number; readonly rber: number }[];
}

/**
 * Curves for a plot, one a cycle count.
 *
 * @param over 'age': `at` are days at 30 C, unread; 'reads': `at` are reads of a page just written
 */
export function sampleRberCurves(
  law: ErrorLaw,
  over: 'age' | 'reads',
  eraseCounts: readonly number[],
  at: readonly number[],
): RberCurve[] {
  const base = new BaseRber(law);
  return eraseCounts.map((eraseCount) => ({
    eraseCount,
    points: at.map((x) => ({
      at: x,
      rber: over === 'age' ? base.at(eraseCount, x, 0) : base.at(eraseCount, 0, x),
    })),
  }));
}
