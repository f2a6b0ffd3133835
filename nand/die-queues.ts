/**
 * The queues of the dies: descriptors that wait, and those that have ended.
 *
 * Each die has two queues, urgent operations and others, first in, first out. Ended descriptors of
 * all dies form one list, in the order in which they ended. All are linked through the descriptors.
 */

import type { FlashOps } from '../hal/flash-ops.ts';
import type { Saved } from '../hal/sim/snapshot.ts';

const NONE = -1;

export class DieQueues {
  readonly #ops: FlashOps;
  /** First and last waiting descriptor, by die * 2 + (1 - urgent). */
  readonly #head: Int32Array;
  readonly #tail: Int32Array;
  /** First and last ended descriptor not yet taken. */
  #doneHead = NONE;
  #doneTail = NONE;

  constructor(dies: number, ops: FlashOps) {
    this.#ops = ops;
    this.#head = new Int32Array(dies * 2).fill(NONE);
    this.#tail = new Int32Array(dies * 2).fill(NONE);
  }

  /** A descriptor waits for its die. */
  put(op: number): void {
    const ops = this.#ops;
    const queue = ops.die[op]! * 2 + (1 - ops.urgent[op]!);
    ops.next[op] = NONE;
    if (this.#head[queue] === NONE) this.#head[queue] = op;
    else ops.next[this.#tail[queue]!] = op;
    this.#tail[queue] = op;
  }

  /** The descriptor a die works on next, or -1. */
  take(die: number): number {
    let queue = die * 2;
    if (this.#head[queue] === NONE) queue++;
    const op = this.#head[queue]!;
    if (op !== NONE) this.#head[queue] = this.#ops.next[op]!;
    return op;
  }

  waitingCount(die: number): number {
    let count = 0;
    for (const queue of [die * 2, die * 2 + 1]) {
      for (let op = this.#head[queue]!; op !== NONE; op = this.#ops.next[op]!) count++;
    }
    return count;
  }

  putDone(op: number): void {
    this.#ops.next[op] = NONE;
    if (this.#doneTail === NONE) this.#doneHead = op;
    else this.#ops.next[this.#doneTail] = op;
    this.#doneTail = op;
  }

  takeDone(): number {
    const op = this.#doneHead;
    if (op === NONE) return NONE;
    this.#doneHead = this.#ops.next[op]!;
    if (this.#doneHead === NONE) this.#doneTail = NONE;
    return op;
  }

  reset(): void {
    this.#head.fill(NONE);
    this.#tail.fill(NONE);
    this.#doneHead = NONE;
    this.#doneTail = NONE;
  }

  save(): Saved {
    return {
      head: this.#head.slice(),
      tail: this.#tail.slice(),
      doneHead: this.#doneHead,
      doneTail: this.#doneTail,
    };
  }

  restore(saved: Saved): void {
    this.#head.set(saved.head as Int32Array);
    this.#tail.set(saved.tail as Int32Array);
    this.#doneHead = saved.doneHead as number;
    this.#doneTail = saved.doneTail as number;
  }
}
