/**
 * The write buffer: an ordered log of 4 KiB slots in DDR3L.
 *
 * Positions only grow; a position's place is its low bits. Between `head` and `tail` lie the dirty
 * slots: those before `issued` are being programmed, the others wait. An acknowledged slot is never
 * overwritten; the map points to the newest slot of a page, and reads are served from it. The dirty
 * part is bounded by the buffer's length.
 */

import type { ContentPort } from '../hal/ports.ts';
import { invariant } from '../hal/sim/invariant.ts';
import type { Saveable, Saved } from '../hal/sim/snapshot.ts';
import { log2Exact, WHOLE_SLOT } from '../hal/sim/units.ts';

export class WriteBuffer implements Saveable {
  readonly kind = 'firmware.write-buffer';
  readonly version = 1;
  readonly length: number;
  readonly mask: number;
  /** Logical page of each place. */
  readonly lpn: Int32Array;
  /** Data handle of each place; the buffer owns one reference. */
  readonly content: Int32Array;
  /** Low 32 bits of the order number of the slot's command. */
  readonly order: Int32Array;
  /** 1: the last slot of its command. */
  readonly last: Uint8Array;
  /** 1: programmed; the place is free once every older one is too. */
  readonly done: Uint8Array;
  /** Oldest position not yet programmed. */
  head = 0;
  /** First position not yet issued. */
  issued = 0;
  /** Next position to be filled. */
  tail = 0;
  /** Places promised to data that is on the link. */
  reserved = 0;
  readonly #contents: ContentPort;

  constructor(length: number, contents: ContentPort) {
    log2Exact(length, 'writeBufferSlots');
    this.length = length;
    this.mask = length - 1;
    this.lpn = new Int32Array(length);
    this.content = new Int32Array(length);
    this.order = new Int32Array(length);
    this.last = new Uint8Array(length);
    this.done = new Uint8Array(length);
    this.#contents = contents;
  }

  /** Places neither dirty nor promised. */
  get freeCount(): number {
    return this.length - (this.tail - this.head) - this.reserved;
  }

  get waitingCount(): number {
    return this.tail - this.issued;
  }

  get dirtyCount(): number {
    return this.tail - this.head;
  }

  /** Appends a slot; takes over the reference to `content`. Returns its place. */
  append(lpn: number, content: number, order: number, last: boolean): number {
    invariant(this.tail - this.head < this.length, 'a dirty slot is never overwritten');
    const at = this.tail++ & this.mask;
    this.lpn[at] = lpn;
    this.content[at] = content;
    this.order[at] = order;
    this.last[at] = last ? 1 : 0;
    this.done[at] = 0;
    return at;
  }

  /** A place has been programmed; frees every leading programmed place. */
  programmed(at: number): void {
    this.done[at] = 1;
    while (this.head < this.issued && this.done[this.head & this.mask] === 1) {
      const place = this.head++ & this.mask;
      if (this.content[place]! < 0) this.#contents.release(this.content[place]!);
      this.content[place] = 0;
    }
  }

  /** Whether a place holds a slot that is not free yet. */
  holds(at: number): boolean {
    return at < this.length && ((at - this.head) & this.mask) < this.tail - this.head;
  }

  /** The data of a place goes bad: no sector of it can be read any more. False for a free place. */
  spoil(at: number): boolean {
    if (!this.holds(at)) return false;
    this.content[at] = this.#contents.spoil(this.content[at]!, WHOLE_SLOT);
    return true;
  }

  reset(): void {
    this.head = 0;
    this.issued = 0;
    this.tail = 0;
    this.reserved = 0;
  }

  save(): Saved {
    return {
      lpn: this.lpn.slice(),
      content: this.content.slice(),
      order: this.order.slice(),
      last: this.last.slice(),
      done: this.done.slice(),
      head: this.head,
      issued: this.issued,
      tail: this.tail,
      reserved: this.reserved,
    };
  }

  restore(saved: Saved): void {
    this.lpn.set(saved.lpn as Int32Array);
    this.content.set(saved.content as Int32Array);
    this.order.set(saved.order as Int32Array);
    this.last.set(saved.last as Uint8Array);
    this.done.set(saved.done as Uint8Array);
    this.head = saved.head as number;
    this.issued = saved.issued as number;
    this.tail = saved.tail as number;
    this.reserved = saved.reserved as number;
  }
}
