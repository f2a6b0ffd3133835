/**
 * A model of the drive for fuzzing: what each sector may read as.
 *
 * Tags by sector. A trimmed sector reads as it did or as zero until it is written again. A write that
 * was lost in a reset leaves each of its sectors old or new.
 */

export class ModelDisk {
  readonly sectors: number;
  readonly #tag: Int32Array;
  /** Other values a sector may have, when it may have any. */
  readonly #alternatives = new Map<number, Set<number>>();

  constructor(sectors: number) {
    this.sectors = sectors;
    this.#tag = new Int32Array(sectors);
  }

  /** A write that was acknowledged: `tags` holds one a 4 KiB page touched. */
  write(lba: number, sectors: number, tags: readonly number[]): void {
    for (let i = 0; i < sectors; i++) {
      this.#tag[lba + i] = tags[Math.floor(((lba % 8) + i) / 8)]!;
      this.#alternatives.delete(lba + i);
    }
  }

  /** A write that may have happened, sector by sector. */
  maybeWrite(lba: number, sectors: number, tags: readonly number[]): void {
    for (let i = 0; i < sectors; i++) {
      this.#allow(lba + i, tags[Math.floor(((lba % 8) + i) / 8)]!);
    }
  }

  trim(lba: number, sectors: number): void {
    for (let i = 0; i < sectors; i++) this.#allow(lba + i, 0);
  }

  /** First sector of a read that is wrong, as a sentence; null when all are right. */
  check(lba: number, tags: Int32Array): string | null {
    for (let i = 0; i < tags.length; i++) {
      const sector = lba + i;
      const tag = tags[i]!;
      if (tag === this.#tag[sector]) continue;
      if (this.#alternatives.get(sector)?.has(tag) === true) continue;
      return `sector ${sector} reads ${tag}, expected ${this.#tag[sector]}`;
    }
    return null;
  }

  #allow(sector: number, tag: number): void {
    const set = this.#alternatives.get(sector) ?? new Set();
    set.add(tag);
    this.#alternatives.set(sector, set);
  }
}
