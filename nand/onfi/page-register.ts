/**
 * Page registers: the latches between the bus and the cells of one plane.
 *
 * Each plane has a cache register on the side of the bus and a data register on the side of the
 * array. What a register holds is the business of the array behind it (raw bytes, or handles), so
 * the die only clears, copies, reads and writes.
 */

import { invariant } from '../../hal/sim/invariant.ts';
import type { Saved } from '../../hal/sim/snapshot.ts';

/** Erased flash and a cleared register read as ones. */
export const ERASED_BYTE = 0xff;

export interface PageRegister {
  /** All ones. */
  clear(): void;
  /** Copies `count` bytes from `column` on to `into[at..]`; the range lies inside the page. */
  read(column: number, into: Uint8Array, at: number, count: number): void;
  /** Takes `count` bytes of `from[at..]` at `column`; the range lies inside the page. */
  write(column: number, from: Uint8Array, at: number, count: number): void;
  /** Takes over what another register of the same array holds. */
  copyFrom(other: PageRegister): void;
  save(): Saved;
  restore(saved: Saved): void;
}

/** A register of raw bytes, allocated when something but ones is written first. */
export class RawPageRegister implements PageRegister {
  readonly bytes: number;
  /** Null while the register is all ones and was never written. */
  #content: Uint8Array | null = null;

  /** @param bytes page and spare */
  constructor(bytes: number) {
    this.bytes = bytes;
  }

  /** The bytes, for reading only; null when all are ones. */
  get content(): Uint8Array | null {
    return this.#content;
  }

  clear(): void {
    this.#content?.fill(ERASED_BYTE);
  }

  read(column: number, into: Uint8Array, at: number, count: number): void {
    this.#check(column, count);
    const content = this.#content;
    if (content === null) into.fill(ERASED_BYTE, at, at + count);
    else into.set(content.subarray(column, column + count), at);
  }

  write(column: number, from: Uint8Array, at: number, count: number): void {
    this.#check(column, count);
    this.#own().set(from.subarray(at, at + count), column);
  }

  copyFrom(other: PageRegister): void {
    invariant(other instanceof RawPageRegister, 'registers of one array are of one kind');
    this.fill(other.#content);
  }

  /** Takes a whole page; null is a page of ones. */
  fill(page: Uint8Array | null): void {
    if (page === null) this.clear();
    else this.#own().set(page);
  }

  #own(): Uint8Array {
    this.#content ??= new Uint8Array(this.bytes).fill(ERASED_BYTE);
    return this.#content;
  }

  #check(column: number, count: number): void {
    invariant(column >= 0 && column + count <= this.bytes, 'register access lies inside the page');
  }

  save(): Saved {
    return { content: this.#content === null ? null : this.#content.slice() };
  }

  restore(saved: Saved): void {
    this.fill(saved.content as Uint8Array | null);
  }
}
