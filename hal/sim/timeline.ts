/**
 * The timeline: the one clock of the machine (law L1).
 *
 * It owns an integer number of nanoseconds and the event ordinal. `step()` fires exactly one event;
 * running, debugging and testing all call it. Events at one instant fire in the order they were
 * armed. Alarms are claimed while the machine is built, so their numbers are stable and only their
 * deadlines are state. Every instant of a run is named by its event ordinal. Whoever lays faults
 * over the machine may ask to be told from an ordinal on, and of rules that break in an event.
 */

import { AlarmHeap } from './alarm-heap.ts';
import { invariant } from './invariant.ts';
import type { Saveable, Saved } from './snapshot.ts';

/** What an alarm calls when its time has come; `tag` tells an owner's alarms apart. */
export interface AlarmOwner {
  onAlarm(tag: number): void;
}

const HASH_PRIME = 0x01000193;
const HASH_SEED = 0x811c9dc5 | 0;
const FIRST_CAPACITY = 64;

/** One claimed alarm: a name, an owner and, while pending, a deadline. */
export class Alarm {
  readonly #timeline: Timeline;
  readonly number: number;
  readonly name: string;

  constructor(timeline: Timeline, number: number, name: string) {
    this.#timeline = timeline;
    this.number = number;
    this.name = name;
  }

  /** Arms the alarm `ns` after now; it must not be pending. */
  armAfter(ns: number): void {
    this.#timeline.armAt(this.number, this.#timeline.nowNs + ns);
  }

  /** Arms the alarm at `atNs`, not before now; it must not be pending. */
  armAt(atNs: number): void {
    this.#timeline.armAt(this.number, atNs);
  }

  disarm(): void {
    this.#timeline.disarm(this.number);
  }

  get armed(): boolean {
    return this.#timeline.isArmed(this.number);
  }

  /** Deadline in ns, or -1 when the alarm is not pending. */
  get deadlineNs(): number {
    return this.#timeline.deadlineNs(this.number);
  }
}

export class Timeline implements Saveable {
  readonly kind = 'sim.timeline';
  readonly version = 1;

  /** Simulated time in ns since power-on; never goes backwards but by restoring. */
  nowNs = 0;
  /** Number of events fired so far; names the instant just after the last of them. */
  ordinal = 0;
  /** Rolling hash over (alarm, time) of every event fired: equal runs have equal hashes. */
  hash = HASH_SEED;
  /** `onAlert` is called after each event from this ordinal on. Wiring, not state: not saved. */
  alertOrdinal = Number.POSITIVE_INFINITY;
  onAlert: () => void = () => {};
  /**
   * Asked when an event has thrown: true when the machine explains it and goes on, false when the
   * error is to be thrown.
   */
  onBroken: (error: unknown) => boolean = () => false;

  readonly #heap = new AlarmHeap(FIRST_CAPACITY);
  #capacity = FIRST_CAPACITY;
  readonly #owners: AlarmOwner[] = [];
  readonly #tags: number[] = [];
  readonly #alarms: Alarm[] = [];
  /** Sequence number of the next arming; breaks ties between equal deadlines. */
  #nextSequence = 0;

  /** Claims an alarm; the order of claims is the machine's construction order. */
  claim(name: string, owner: AlarmOwner, tag = 0): Alarm {
    const number = this.#alarms.length;
    if (number >= this.#capacity) {
      this.#capacity *= 2;
      this.#heap.grow(this.#capacity);
    }
    const alarm = new Alarm(this, number, name);
    this.#alarms.push(alarm);
    this.#owners.push(owner);
    this.#tags.push(tag);
    return alarm;
  }

  armAt(alarm: number, atNs: number): void {
    invariant(
      atNs >= this.nowNs && atNs < Number.POSITIVE_INFINITY,
      'an alarm is armed for a finite time that has not passed',
    );
    this.#heap.arm(alarm, atNs, this.#nextSequence++);
  }

  disarm(alarm: number): void {
    this.#heap.disarm(alarm);
  }

  isArmed(alarm: number): boolean {
    return this.#heap.isArmed(alarm);
  }

  deadlineNs(alarm: number): number {
    return this.#heap.deadlineNs(alarm);
  }

  /** Time of the next event in ns, Infinity when nothing is pending. */
  get nextNs(): number {
    return this.#heap.nextNs;
  }

  /** Name of the alarm that fires next, or null. */
  get nextName(): string | null {
    const alarm = this.#heap.nextAlarm;
    return alarm < 0 ? null : this.#alarms[alarm]!.name;
  }

  get pendingCount(): number {
    return this.#heap.pendingCount;
  }

  /** Fires exactly one event; false when nothing is pending. */
  step(): boolean {
    const atNs = this.#heap.nextNs;
    const alarm = this.#heap.take();
    if (alarm < 0) return false;
    this.nowNs = atNs;
    this.ordinal++;
    this.hash = Math.imul(this.hash ^ alarm ^ (atNs | 0), HASH_PRIME);
    try {
      this.#owners[alarm]!.onAlarm(this.#tags[alarm]!);
    } catch (error) {
      if (!this.onBroken(error)) throw error;
    }
    if (this.ordinal >= this.alertOrdinal) this.onAlert();
    return true;
  }

  /** Fires every event up to and including `untilNs`, then moves the clock there. */
  runUntil(untilNs: number): void {
    invariant(untilNs < Number.POSITIVE_INFINITY, 'the clock is moved to a finite time');
    while (this.#heap.nextNs <= untilNs) this.step();
    if (untilNs > this.nowNs) this.nowNs = untilNs;
  }

  /** Fires events until `ordinal` of them have fired since power-on, or nothing is pending. */
  runToOrdinal(ordinal: number): void {
    while (this.ordinal < ordinal && this.step());
  }

  /** Fires events until nothing is pending; `limit` guards against a machine that never rests. */
  runUntilQuiet(limit = Number.MAX_SAFE_INTEGER): void {
    let left = limit;
    while (left-- > 0 && this.step());
    invariant(this.pendingCount === 0, 'the machine comes to rest within the event limit');
  }

  /** Pending alarms in firing order, for debugger and dump. */
  pending(): { name: string; atNs: number; sequence: number }[] {
    return this.#alarms
      .filter((alarm) => alarm.armed)
      .map((alarm) => ({
        name: alarm.name,
        atNs: alarm.deadlineNs,
        sequence: this.#heap.sequenceOf(alarm.number),
      }))
      .sort((a, b) => a.atNs - b.atNs || a.sequence - b.sequence);
  }

  save(): Saved {
    const count = this.#alarms.length;
    const deadlines = new Float64Array(count);
    const sequences = new Float64Array(count);
    for (let alarm = 0; alarm < count; alarm++) {
      deadlines[alarm] = this.#heap.deadlineNs(alarm);
      sequences[alarm] = this.#heap.sequenceOf(alarm);
    }
    return {
      nowNs: this.nowNs,
      ordinal: this.ordinal,
      hash: this.hash,
      nextSequence: this.#nextSequence,
      deadlines,
      sequences,
    };
  }

  restore(saved: Saved): void {
    const deadlines = saved.deadlines as Float64Array;
    const sequences = saved.sequences as Float64Array;
    invariant(deadlines.length === this.#alarms.length, 'a snapshot has the alarms of its machine');
    this.nowNs = saved.nowNs as number;
    this.ordinal = saved.ordinal as number;
    this.hash = saved.hash as number;
    this.#nextSequence = saved.nextSequence as number;
    this.#heap.clear();
    for (let alarm = 0; alarm < deadlines.length; alarm++) {
      if (deadlines[alarm]! >= 0) this.#heap.arm(alarm, deadlines[alarm]!, sequences[alarm]!);
    }
  }
}
