/**
 * A heap of things that happen at instants: the earliest comes out first.
 *
 * Of one instant, what ends comes before what begins, then what was told first; so a pin that is
 * released and taken in the same instant ends up taken.
 */

/** What the heap orders by: instant, then rank, then order. */
export interface Timed {
  /** Instant of the next step. */
  ticks: number;
  /** 0: goes on or ends at `ticks`, 1: begins there. */
  rank: number;
  /** Number in the order of telling. */
  readonly order: number;
}

export class TimeHeap<T extends Timed> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** The earliest item, which stays; undefined when there is none. */
  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (!before(item, items[parent]!)) break;
      items[at] = items[parent]!;
      at = parent;
    }
    items[at] = item;
  }

  /** Takes the earliest item out; undefined when there is none. */
  pop(): T | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (last !== undefined && items.length > 0) {
      items[0] = last;
      this.sinkTop();
    }
    return first;
  }

  /** Puts the top in its place after its instant was moved on. */
  sinkTop(): void {
    const items = this.#items;
    const item = items[0]!;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && before(items[child + 1]!, items[child]!)) child++;
      if (!before(items[child]!, item)) break;
      items[at] = items[child]!;
      at = child;
    }
    items[at] = item;
  }

  clear(): void {
    this.#items.length = 0;
  }
}

function before(a: Timed, b: Timed): boolean {
  if (a.ticks !== b.ticks) return a.ticks < b.ticks;
  return a.rank !== b.rank ? a.rank < b.rank : a.order < b.order;
}
