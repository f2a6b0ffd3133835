/**
 * The alarm heap: pending deadlines ordered by (deadline, arming sequence).
 *
 * A tournament over typed arrays: every alarm has a leaf of its own, every inner node holds the
 * alarm that fires first of those below it, so a change replays one path to the root and moves
 * nothing. A machine claims a hundred alarms or so; a path is seven comparisons, most of them
 * predictable. While an alarm is being served its leaf is *stale*: most handlers arm the same alarm
 * again, and then its path is replayed once instead of twice.
 */

import { invariant } from './invariant.ts';

const UNARMED = Number.POSITIVE_INFINITY;
const NONE = -1;
const ROOT = 1;

export class AlarmHeap {
  /** Leaves: a power of two, at least the number of alarms. */
  #leaves = 0;
  /** Deadline of each alarm, infinite when it is not pending. */
  #atNs = new Float64Array(0);
  /** Arming sequence number of each alarm: equal deadlines fire first armed, first fired. */
  #sequence = new Float64Array(0);
  /** Alarm that fires first below each node; leaves begin at `#leaves`. */
  #first = new Int32Array(0);
  #count = 0;
  /** Alarm taken whose path has not been replayed, NONE when there is none. */
  #stale = NONE;

  /** @param capacity number of alarms there is room for */
  constructor(capacity: number) {
    this.grow(capacity);
  }

  /** Number of pending alarms. */
  get pendingCount(): number {
    return this.#count;
  }

  /** Makes room for alarm numbers below `capacity`. */
  grow(capacity: number): void {
    this.#replayStale();
    const before = this.#atNs;
    const sequence = this.#sequence;
    this.#leaves = 2;
    while (this.#leaves < capacity) this.#leaves *= 2;
    this.#atNs = new Float64Array(this.#leaves).fill(UNARMED);
    this.#sequence = new Float64Array(this.#leaves);
    this.#first = new Int32Array(2 * this.#leaves);
    this.#atNs.set(before);
    this.#sequence.set(sequence);
    for (let alarm = 0; alarm < this.#leaves; alarm++) this.#first[this.#leaves + alarm] = alarm;
    for (let node = this.#leaves - 1; node >= ROOT; node--) this.#first[node] = this.#winner(node);
  }

  isArmed(alarm: number): boolean {
    return this.#atNs[alarm] !== UNARMED;
  }

  /** Deadline of a pending alarm, in ns; -1 when it is not pending. */
  deadlineNs(alarm: number): number {
    const atNs = this.#atNs[alarm]!;
    return atNs === UNARMED ? NONE : atNs;
  }

  sequenceOf(alarm: number): number {
    return this.isArmed(alarm) ? this.#sequence[alarm]! : NONE;
  }

  arm(alarm: number, atNs: number, sequence: number): void {
    invariant(this.#atNs[alarm] === UNARMED, 'a pending alarm is disarmed before it is armed');
    if (alarm === this.#stale) this.#stale = NONE;
    this.#atNs[alarm] = atNs;
    this.#sequence[alarm] = sequence;
    this.#count++;
    this.#replay(alarm);
  }

  disarm(alarm: number): void {
    if (this.#atNs[alarm] === UNARMED) return;
    this.#atNs[alarm] = UNARMED;
    this.#count--;
    this.#replay(alarm);
  }

  /** Earliest deadline, or Infinity when nothing is pending. */
  get nextNs(): number {
    if (this.#stale !== NONE) this.#replayStale();
    return this.#atNs[this.#first[ROOT]!]!;
  }

  /** Alarm that fires next, or -1. */
  get nextAlarm(): number {
    return this.nextNs === UNARMED ? NONE : this.#first[ROOT]!;
  }

  /** Takes the earliest alarm out; -1 when nothing is pending. */
  take(): number {
    if (this.nextNs === UNARMED) return NONE;
    const alarm = this.#first[ROOT]!;
    this.#atNs[alarm] = UNARMED;
    this.#count--;
    this.#stale = alarm;
    return alarm;
  }

  clear(): void {
    this.#atNs.fill(UNARMED);
    this.#count = 0;
    this.#stale = NONE;
  }

  #replayStale(): void {
    const alarm = this.#stale;
    if (alarm === NONE) return;
    this.#stale = NONE;
    this.#replay(alarm);
  }

  #winner(node: number): number {
    const left = this.#first[2 * node]!;
    const right = this.#first[2 * node + 1]!;
    const leftNs = this.#atNs[left]!;
    const rightNs = this.#atNs[right]!;
    const tie = leftNs === rightNs && this.#sequence[left]! < this.#sequence[right]!;
    return leftNs < rightNs || tie ? left : right;
  }

  /** Plays the matches on an alarm's path again, as far as their outcomes change. */
  #replay(alarm: number): void {
    const first = this.#first;
    const atNs = this.#atNs;
    let node = this.#leaves + alarm;
    let mine = alarm;
    let mineNs = atNs[alarm]!;
    while (node > ROOT) {
      const other = first[node ^ 1]!;
      const otherNs = atNs[other]!;
      if (otherNs < mineNs) {
        mine = other;
        mineNs = otherNs;
      } else if (otherNs === mineNs && this.#sequence[other]! < this.#sequence[mine]!) {
        mine = other;
      }
      node >>= 1;
      if (mine !== alarm && first[node] === mine) return;
      first[node] = mine;
    }
  }
}
