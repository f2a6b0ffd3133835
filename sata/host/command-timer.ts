/**
 * Command timeouts: how long a host waits for what does not come, and how often it tries again.
 *
 * A driver starts a timer with each command. Here one alarm stands for all of them, and it is armed
 * only when a frame was lost: nothing else leaves a command without an end, so a run without faults
 * has no timer events. Durations are those of Linux: SCSI disk timeout 30 s (drivers/scsi/sd.h,
 * SD_TIMEOUT), first reset timeout 10 s (libata-eh.c, ata_eh_reset_timeouts).
 */

import { HOST_SLOTS } from '../../hal/ports.ts';
import type { Saved } from '../../hal/sim/snapshot.ts';
import type { Alarm, Timeline } from '../../hal/sim/timeline.ts';

export const COMMAND_TIMEOUT_NS = 30e9;
const RESET_TIMEOUT_NS = 10e9;
/** Times that a command is sent again, and resets in a row (assumed; libata tries 5 times). */
export const RETRIES_MAX = 3;
/** Place in `retries` of the commands of probe and recovery, behind the slots. */
export const OWN_COMMAND = HOST_SLOTS;

export class CommandTimer {
  /** Ns from sending a command to its timeout. */
  timeoutNs = COMMAND_TIMEOUT_NS;
  /** Instant at which each slot's command was put on the link. */
  readonly sentNs = new Float64Array(HOST_SLOTS);
  /** Times that each slot's command was sent again because of the link. */
  readonly #retries = new Uint8Array(HOST_SLOTS + 1);
  /** 1: the slot's command waits for what will not come. */
  readonly #waiting = new Uint8Array(HOST_SLOTS);
  /** Resets since the drive was last ready. */
  #resets = 0;
  readonly #alarm: Alarm;
  readonly #timeline: Timeline;

  constructor(alarm: Alarm, timeline: Timeline) {
    this.#alarm = alarm;
    this.#timeline = timeline;
  }

  /** Something is waited for in vain. */
  get isRunning(): boolean {
    return this.#alarm.armed;
  }

  /** A slot has a new command. */
  begin(slot: number): void {
    this.#retries[slot] = 0;
  }

  /** A slot's command is put on the link. */
  sent(slot: number): void {
    this.sentNs[slot] = this.#timeline.nowNs;
  }

  /** The command of a slot will not end by itself. */
  waitFor(slot: number): void {
    this.#waiting[slot] = 1;
    this.#arm();
  }

  /** The signature will not come by itself. */
  waitForSignature(): void {
    this.#alarm.disarm();
    this.#alarm.armAfter(RESET_TIMEOUT_NS);
  }

  /** The command of a slot has ended after all. */
  ended(slot: number): void {
    if (this.#waiting[slot] === 0) return;
    this.#waiting[slot] = 0;
    this.#arm();
  }

  /** Nothing is waited for any more. */
  stop(): void {
    this.#alarm.disarm();
    this.#waiting.fill(0);
  }

  /** Counts a retry of a slot's command, or of OWN_COMMAND; false when there were enough. */
  mayRetry(slot: number): boolean {
    if (this.#retries[slot]! >= RETRIES_MAX) return false;
    this.#retries[slot] = this.#retries[slot]! + 1;
    return true;
  }

  /** Counts a reset; false when there were enough since the drive was last ready. */
  mayReset(): boolean {
    return this.#resets++ < RETRIES_MAX;
  }

  /** The drive has been probed, or somebody else takes care of it. */
  ready(): void {
    this.#resets = 0;
    this.#retries[OWN_COMMAND] = 0;
  }

  #arm(): void {
    let earliestNs = Number.POSITIVE_INFINITY;
    this.#waiting.forEach((waits, slot) => {
      if (waits !== 0) earliestNs = Math.min(earliestNs, this.sentNs[slot]! + this.timeoutNs);
    });
    this.#alarm.disarm();
    if (earliestNs === Number.POSITIVE_INFINITY) return;
    this.#alarm.armAt(Math.max(earliestNs, this.#timeline.nowNs));
  }

  save(): Saved {
    return {
      ...{ timeoutNs: this.timeoutNs, resets: this.#resets, sentNs: this.sentNs.slice() },
      ...{ retries: this.#retries.slice(), waiting: this.#waiting.slice() },
    };
  }

  restore(saved: Saved): void {
    this.timeoutNs = saved.timeoutNs as number;
    this.#resets = saved.resets as number;
    this.sentNs.set(saved.sentNs as Float64Array);
    this.#retries.set(saved.retries as Uint8Array);
    this.#waiting.set(saved.waiting as Uint8Array);
  }
}
