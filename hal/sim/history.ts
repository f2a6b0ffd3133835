/**
 * History: a recorded run that can be gone back in, to any event.
 *
 * While recording, a checkpoint is taken every so many events: the small state of all parts and
 * the position of the undo log. Going to an earlier ordinal unwinds the log to the checkpoint at
 * or before it, restores the parts and runs forward. Checkpoints far in the past are thinned out;
 * the log alone bounds how far back one can go. What came from outside (host commands of a server,
 * a debugger's changes) is given again by the input source when the run passes its ordinal.
 */

import { invariant } from './invariant.ts';
import type { Machine, SavedPart } from './snapshot.ts';

/** Gives the inputs that arrived from outside when a run is repeated. */
export interface InputSource {
  /** Applies the inputs that arrived just after event `ordinal`. */
  applyAt(ordinal: number): void;
  /** Ordinal of the first input after event `ordinal`, Infinity when there is none. */
  nextAfter(ordinal: number): number;
}

interface Checkpoint {
  ordinal: number;
  logPosition: number;
  parts: SavedPart[];
}

export interface HistoryOptions {
  /** Events between checkpoints. */
  intervalEvents?: number;
  /** Bytes of undo log to keep. */
  budgetBytes?: number;
  /** Checkpoints to keep; older ones are thinned out. */
  checkpointsMax?: number;
  inputs?: InputSource;
}

const INTERVAL_EVENTS = 20_000;
const BUDGET_BYTES = 512 * 2 ** 20;
const CHECKPOINTS_MAX = 256;
/** Fewer cannot be thinned out. */
const CHECKPOINTS_LEAST = 4;

export class History {
  readonly #machine: Machine;
  readonly #intervalEvents: number;
  readonly #checkpointsMax: number;
  readonly #inputs: InputSource | null;
  /** Oldest first; each one's log position can still be unwound to. */
  #checkpoints: Checkpoint[] = [];
  /** Ordinal at which the next checkpoint is due. */
  #dueOrdinal = 0;

  /** Starts recording from the machine's present instant. */
  constructor(machine: Machine, options: HistoryOptions = {}) {
    this.#machine = machine;
    this.#intervalEvents = options.intervalEvents ?? INTERVAL_EVENTS;
    this.#checkpointsMax = options.checkpointsMax ?? CHECKPOINTS_MAX;
    this.#inputs = options.inputs ?? null;
    invariant(this.#intervalEvents >= 1, 'checkpoints are at least one event apart');
    invariant(this.#checkpointsMax >= CHECKPOINTS_LEAST, 'a history has room for checkpoints');
    machine.log.start(options.budgetBytes ?? BUDGET_BYTES);
    this.#take();
    this.#dueOrdinal = machine.timeline.ordinal;
  }

  /** Earliest ordinal that can be gone back to. */
  get oldestOrdinal(): number {
    this.#dropLost();
    return this.#checkpoints[0]?.ordinal ?? this.#machine.timeline.ordinal;
  }

  /** One event forwards, with the inputs recorded just after it; false when nothing is pending. */
  step(): boolean {
    const { timeline } = this.#machine;
    if (timeline.ordinal >= this.#dueOrdinal) this.#take();
    const inputAt = this.#inputs?.nextAfter(timeline.ordinal) ?? Number.POSITIVE_INFINITY;
    if (!timeline.step()) return false;
    if (timeline.ordinal === inputAt) this.#inputs?.applyAt(inputAt);
    return true;
  }

  /** Runs forwards to `ordinal`, giving recorded inputs; stops when nothing is pending. */
  runToOrdinal(ordinal: number): void {
    const { timeline } = this.#machine;
    while (timeline.ordinal < ordinal) {
      const inputAt = this.#inputs?.nextAfter(timeline.ordinal) ?? Number.POSITIVE_INFINITY;
      const stop = Math.min(ordinal, inputAt, this.#dueOrdinal);
      if (timeline.ordinal >= this.#dueOrdinal) {
        this.#take();
        continue;
      }
      timeline.runToOrdinal(stop);
      if (timeline.ordinal < stop) return;
      if (timeline.ordinal === inputAt) this.#inputs?.applyAt(inputAt);
    }
  }

  /** Goes to the instant just after event `ordinal`, backwards or forwards. */
  goTo(ordinal: number): void {
    if (ordinal >= this.#machine.timeline.ordinal) {
      this.runToOrdinal(ordinal);
      return;
    }
    invariant(ordinal >= this.oldestOrdinal, 'the history reaches back to the ordinal asked for');
    const index = this.#checkpoints.findLastIndex((point) => point.ordinal <= ordinal);
    const checkpoint = this.#checkpoints[index]!;
    this.#machine.prepareUnwind();
    this.#machine.log.unwindTo(checkpoint.logPosition);
    this.#machine.restoreParts(checkpoint.parts);
    this.#checkpoints.length = index + 1;
    const landed = checkpoint.ordinal === ordinal;
    this.#dueOrdinal = checkpoint.ordinal + (landed ? 0 : this.#intervalEvents);
    this.runToOrdinal(ordinal);
  }

  /** Ends recording and frees the log. */
  stop(): void {
    this.#machine.log.stop();
    this.#checkpoints = [];
    this.#dueOrdinal = Number.POSITIVE_INFINITY;
  }

  /**
   * Takes a checkpoint just before the next event, so that it holds the inputs given until then.
   * One of the same ordinal, taken before those inputs, is replaced.
   */
  #take(): void {
    const { timeline, log } = this.#machine;
    if (this.#checkpoints.at(-1)?.ordinal === timeline.ordinal) this.#checkpoints.pop();
    this.#checkpoints.push({
      ordinal: timeline.ordinal,
      logPosition: log.position,
      parts: this.#machine.saveParts(),
    });
    this.#dueOrdinal = timeline.ordinal + this.#intervalEvents;
    if (this.#checkpoints.length > this.#checkpointsMax) this.#thin();
  }

  /** Drops every second checkpoint of the older half. */
  #thin(): void {
    this.#dropLost();
    const half = this.#checkpoints.length >> 1;
    this.#checkpoints = this.#checkpoints.filter((_, index) => index >= half || index % 2 === 0);
  }

  #dropLost(): void {
    const oldest = this.#machine.log.oldestPosition;
    while (this.#checkpoints[0] !== undefined && this.#checkpoints[0].logPosition < oldest) {
      this.#checkpoints.shift();
    }
  }
}
