/**
 * The alarm heap: pending deadlines ordered by (deadline, arming sequence).
 *
 * A 4-ary heap over typed arrays. While an alarm is being served its entry stays at the root as a
 * *hole*: an alarm armed meanwhile takes the hole with one sift instead of a pop and a push, and
 * most handlers arm exactly one. The hole keeps its key, which is the smallest, so every other
 * operation remains correct while it is there.
 */

import { invariant } from './invariant.ts';

const ARITY = 4;
const UNARMED = -1;

export class AlarmHeap {
  /** Deadlines by heap position. */
  #atNs: Float64Array;
  /** Arming sequence numbers by heap position: equal deadlines fire first armed, first fired. */
  #sequence: Float64Array;
  /** Alarm numbers by heap position. */
  #alarm: Int32Array;
  /** Heap position of each alarm, UNARMED when it is not pending. */
  #positionOf: Int32Array;
  /** Entries in use, the hole included. */
  #count = 0;
  /** The root is an alarm being served. */
  #hole = false;

  constructor(capacity: number) {
    this.#atNs = new Float64Array(capacity);
    this.#sequence = new Float64Array(capacity);
    this.#alarm = new Int32Array(capacity);
    this.#positionOf = new Int32Array(capacity).fill(UNARMED);
  }

  /** Number of pending alarms. */
  get pendingCount(): number {
    return this.#hole ? this.#count - 1 : this.#count;
  }

  /** Makes room for alarm numbers below `capacity`. */
  grow(capacity: number): void {
    const positionOf = new Int32Array(capacity).fill(UNARMED);
    positionOf.set(this.#positionOf);
    this.#positionOf = positionOf;
    this.#atNs = copyInto(new Float64Array(capacity), this.#atNs);
    this.#sequence = copyInto(new Float64Array(capacity), this.#sequence);
    this.#alarm = copyInto(new Int32Array(capacity), this.#alarm);
  }

  isArmed(alarm: number): boolean {
    return this.#positionOf[alarm]! >= 0;
  }

  /** Deadline of a pending alarm, in ns; -1 when it is not pending. */
  deadlineNs(alarm: number): number {
    const position = this.#positionOf[alarm]!;
    return position < 0 ? -1 : this.#atNs[position]!;
  }

  sequenceOf(alarm: number): number {
    const position = this.#positionOf[alarm]!;
    return position < 0 ? -1 : this.#sequence[position]!;
  }

  arm(alarm: number, atNs: number, sequence: number): void {
    invariant(
      this.#positionOf[alarm] === UNARMED,
      'a pending alarm is disarmed before it is armed',
    );
    if (this.#hole) {
      this.#hole = false;
      this.#siftDown(0, atNs, sequence, alarm);
    } else {
      this.#siftUp(this.#count++, atNs, sequence, alarm);
    }
  }

  disarm(alarm: number): void {
    const position = this.#positionOf[alarm]!;
    if (position < 0) return;
    this.#positionOf[alarm] = UNARMED;
    this.#removeAt(position);
  }

  /** Earliest deadline, or Infinity when nothing is pending. */
  get nextNs(): number {
    this.#closeHole();
    return this.#count === 0 ? Number.POSITIVE_INFINITY : this.#atNs[0]!;
  }

  /** Alarm that fires next, or -1. */
  get nextAlarm(): number {
    this.#closeHole();
    return this.#count === 0 ? -1 : this.#alarm[0]!;
  }

  /** Takes the earliest alarm out, leaving its place as the hole; -1 when nothing is pending. */
  take(): number {
    this.#closeHole();
    if (this.#count === 0) return -1;
    const alarm = this.#alarm[0]!;
    this.#positionOf[alarm] = UNARMED;
    this.#hole = true;
    return alarm;
  }

  clear(): void {
    this.#positionOf.fill(UNARMED);
    this.#count = 0;
    this.#hole = false;
  }

  #closeHole(): void {
    if (!this.#hole) return;
    this.#hole = false;
    this.#removeAt(0);
  }

  #removeAt(position: number): void {
    const last = --this.#count;
    if (position === last) return;
    const atNs = this.#atNs[last]!;
    const sequence = this.#sequence[last]!;
    const alarm = this.#alarm[last]!;
    const parent = (position - 1) >> 2;
    if (position > 0 && this.#isBefore(atNs, sequence, parent)) {
      this.#siftUp(position, atNs, sequence, alarm);
    } else {
      this.#siftDown(position, atNs, sequence, alarm);
    }
  }

  #isBefore(atNs: number, sequence: number, position: number): boolean {
    const other = this.#atNs[position]!;
    return atNs < other || (atNs === other && sequence < this.#sequence[position]!);
  }

  #siftUp(from: number, atNs: number, sequence: number, alarm: number): void {
    let position = from;
    while (position > 0) {
      const parent = (position - 1) >> 2;
      if (!this.#isBefore(atNs, sequence, parent)) break;
      this.#place(position, this.#atNs[parent]!, this.#sequence[parent]!, this.#alarm[parent]!);
      position = parent;
    }
    this.#place(position, atNs, sequence, alarm);
  }

  /** The hottest loop of the machine: it holds the columns in locals and moves entries itself. */
  #siftDown(from: number, atNs: number, sequence: number, alarm: number): void {
    const times = this.#atNs;
    const sequences = this.#sequence;
    const alarms = this.#alarm;
    const positionOf = this.#positionOf;
    const count = this.#count;
    let position = from;
    for (;;) {
      const first = position * ARITY + 1;
      if (first >= count) break;
      const end = Math.min(first + ARITY, count);
      let best = first;
      let bestNs = times[first]!;
      for (let child = first + 1; child < end; child++) {
        const childNs = times[child]!;
        if (childNs > bestNs) continue;
        if (childNs === bestNs && sequences[child]! > sequences[best]!) continue;
        best = child;
        bestNs = childNs;
      }
      const bestSequence = sequences[best]!;
      if (atNs < bestNs || (atNs === bestNs && sequence < bestSequence)) break;
      const moved = alarms[best]!;
      times[position] = bestNs;
      sequences[position] = bestSequence;
      alarms[position] = moved;
      positionOf[moved] = position;
      position = best;
    }
    this.#place(position, atNs, sequence, alarm);
  }

  #place(position: number, atNs: number, sequence: number, alarm: number): void {
    this.#atNs[position] = atNs;
    this.#sequence[position] = sequence;
    this.#alarm[position] = alarm;
    this.#positionOf[alarm] = position;
  }
}

function copyInto<T extends Float64Array | Int32Array>(larger: T, smaller: T): T {
  larger.set(smaller);
  return larger;
}
