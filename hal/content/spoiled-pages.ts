/**
 * Spoiled pages: the sectors of stored pages that could not be read when they were moved.
 *
 * Few pages ever are, so it is a sparse list beside the pages. The mask goes with the page wherever
 * its handle goes: relocation never makes lost data look fresh.
 */

export class SpoiledPages {
  #masks = new Map<number, number>();

  /** Number of spoiled pages. */
  get count(): number {
    return this.#masks.size;
  }

  /** Unreadable sectors of a page, as bits. */
  maskOf(page: number): number {
    return this.#masks.size === 0 ? 0 : (this.#masks.get(page) ?? 0);
  }

  /** Sets a page's mask; 0 forgets the page. */
  set(page: number, mask: number): void {
    if (mask !== 0) this.#masks.set(page, mask);
    else if (this.#masks.size > 0) this.#masks.delete(page);
  }

  /** (page, mask) pairs in page order. */
  save(): Int32Array {
    const pairs = [...this.#masks].sort(([a], [b]) => a - b);
    return Int32Array.from(pairs.flat());
  }

  restore(pairs: Int32Array): void {
    this.#masks.clear();
    for (let i = 0; i < pairs.length; i += 2) this.#masks.set(pairs[i]!, pairs[i + 1]!);
  }
}
