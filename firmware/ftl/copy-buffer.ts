/**
 * The copy buffer: slots on their way from a victim to the collection frontier, first in, first
 * out.
 */

import type { FlashOps } from '../../hal/flash-ops.ts';
import type { ContentPort } from '../../hal/ports.ts';
import { invariant } from '../../hal/sim/invariant.ts';
import type { Saved } from '../../hal/sim/snapshot.ts';
import { WHOLE_SLOT } from '../../hal/sim/units.ts';

export class CopyBuffer {
  readonly length: number;
  /** Slots held. */
  count = 0;
  /** Slots whose reads are under way. */
  promised = 0;
  readonly #from: Int32Array;
  readonly #content: Int32Array;
  readonly #pageWord: Int32Array;
  readonly #order: Int32Array;
  #head = 0;

  constructor(length: number) {
    this.length = length;
    this.#from = new Int32Array(length);
    this.#content = new Int32Array(length);
    this.#pageWord = new Int32Array(length);
    this.#order = new Int32Array(length);
  }

  put(from: number, content: number, pageWord: number, order: number): void {
    invariant(this.count < this.length, 'the copy buffer has room for every read');
    let at = this.#head + this.count++;
    if (at >= this.length) at -= this.length;
    this.#from[at] = from;
    this.#content[at] = content;
    this.#pageWord[at] = pageWord;
    this.#order[at] = order;
  }

  /** Moves the oldest slot into a program descriptor's slot `to`. */
  takeInto(ops: FlashOps, to: number): void {
    const at = this.#head;
    this.#head = at + 1 === this.length ? 0 : at + 1;
    this.count--;
    ops.target[to] = this.#from[at]!;
    ops.content[to] = this.#content[at]!;
    ops.pageWord[to] = this.#pageWord[at]!;
    ops.order[to] = this.#order[at]!;
  }

  /** The data of a place goes bad: no sector of it can be read any more. False for a free place. */
  spoil(at: number, contents: ContentPort): boolean {
    const { length } = this;
    if (at >= length || (at - this.#head + length) % length >= this.count) return false;
    this.#content[at] = contents.spoil(this.#content[at]!, WHOLE_SLOT);
    return true;
  }

  reset(): void {
    this.count = 0;
    this.promised = 0;
    this.#head = 0;
  }

  save(): Saved {
    return {
      count: this.count,
      promised: this.promised,
      head: this.#head,
      from: this.#from.slice(),
      content: this.#content.slice(),
      pageWord: this.#pageWord.slice(),
      order: this.#order.slice(),
    };
  }

  restore(saved: Saved): void {
    this.count = saved.count as number;
    this.promised = saved.promised as number;
    this.#head = saved.head as number;
    this.#from.set(saved.from as Int32Array);
    this.#content.set(saved.content as Int32Array);
    this.#pageWord.set(saved.pageWord as Int32Array);
    this.#order.set(saved.order as Int32Array);
  }
}
