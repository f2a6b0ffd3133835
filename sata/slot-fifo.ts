/**
 * A FIFO of slot numbers in the port's SRAM: each slot is in it at most a few times. Its length is
 * assumed; the real chip's is not published.
 */

import { invariant } from '../hal/sim/invariant.ts';

const LENGTH = 128;
const MASK = LENGTH - 1;

export class SlotFifo {
  readonly #ring = new Int32Array(LENGTH);
  #head = 0;
  #tail = 0;

  get count(): number {
    return this.#tail - this.#head;
  }

  put(slot: number): void {
    invariant(this.#tail - this.#head < LENGTH, 'a slot FIFO has room');
    this.#ring[this.#tail++ & MASK] = slot;
  }

  /** The oldest slot number, or -1. */
  take(): number {
    if (this.#head === this.#tail) return -1;
    return this.#ring[this.#head++ & MASK]!;
  }

  clear(): void {
    this.#head = 0;
    this.#tail = 0;
  }

  save(): Int32Array {
    const waiting = new Int32Array(this.#tail - this.#head);
    for (let i = 0; i < waiting.length; i++) waiting[i] = this.#ring[(this.#head + i) & MASK]!;
    return waiting;
  }

  restore(saved: Int32Array): void {
    this.clear();
    for (const slot of saved) this.put(slot);
  }
}
