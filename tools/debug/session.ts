/**
 * The session: a drive under the debugger, to be moved forwards and backwards.
 *
 * It is recorded from its first instant. Every instant is named by its event ordinal; going back
 * and forward again gives the same run. What the debugger knows for itself (breakpoints, trace) is
 * in no snapshot, so that it outlives every jump in time.
 */
import type { Drive } from '../../firmware/drive.ts';
import { History, type InputSource } from '../../hal/sim/history.ts';
import { UsageError } from '../errors.ts';
import type { Transition } from './machine-name.ts';
import { Observer } from './observer.ts';

/** Why a movement ended. */
export enum StopReason {
  /** Where it was told to go. */
  Arrived,
  /** What it was told to look for. */
  Found,
  /** Nothing but the watchdog is pending: no work is left. */
  Idle,
  /** No alarm is pending. */
  Quiet,
  /** A core has stopped on a broken rule. */
  Panic,
  /** The most events that one command may take. */
  Limit,
}

export interface Stop {
  readonly reason: StopReason;
  /** With Found: the transition. */
  readonly transition: Transition | null;
}

export type Condition = (transition: Transition) => boolean;

/** Events of one search at most: seconds of wall time. */
export const SEARCH_EVENTS_MAX = 5_000_000;
/** A checkpoint holds about a megabyte; between two of them a run takes milliseconds. */
const HISTORY = { intervalEvents: 10_000, checkpointsMax: 96 };
const FIRST_WINDOW_EVENTS = 64;

export class DebugSession {
  readonly drive: Drive;
  readonly history: History;
  /** Receives every transition of a forward movement; null when there is no trace. */
  onTransition: ((transition: Transition) => void) | null = null;
  readonly #observer: Observer;
  readonly #inputs: InputSource | null;

  /**
   * Takes over a drive whose power is on.
   * @param inputs gives what comes from outside; those of the present instant were given already
   */
  constructor(drive: Drive, inputs: InputSource | null = null) {
    this.drive = drive;
    this.history = new History(drive.machine, inputs === null ? HISTORY : { ...HISTORY, inputs });
    this.#observer = new Observer(drive);
    this.#inputs = inputs;
  }

  get ordinal(): number {
    return this.drive.timeline.ordinal;
  }

  /** Goes `count` events forwards. */
  step(count: number): Stop {
    return this.runToOrdinal(this.ordinal + count);
  }

  /** Goes forwards to `ordinal`; stops early only when nothing is pending. */
  runToOrdinal(ordinal: number): Stop {
    if (this.onTransition !== null) return this.#observe(null, ordinal, false);
    this.history.runToOrdinal(ordinal);
    return stopped(this.ordinal < ordinal ? StopReason.Quiet : StopReason.Arrived);
  }

  /** Fires every event up to and including `atNs`; the clock stays at the last of them. */
  runToTime(atNs: number): Stop {
    const { timeline } = this.drive;
    const tracing = this.onTransition !== null;
    if (tracing) this.#attach(null);
    try {
      while (timeline.nextNs <= atNs) {
        this.#fire();
        if (tracing) this.#trace(this.#observer.take());
      }
    } finally {
      this.#observer.detach();
    }
    return stopped(timeline.pendingCount === 0 ? StopReason.Quiet : StopReason.Arrived);
  }

  /**
   * Goes forwards to the first event with a transition that satisfies `condition`, at most
   * `limit` events. Stops where the drive idles or panics.
   */
  runUntil(condition: Condition | null, limit = SEARCH_EVENTS_MAX): Stop {
    return this.#observe(condition, this.ordinal + limit, true);
  }

  /** Goes to just after event `ordinal`, back or forth. Throws UsageError before the history. */
  goTo(ordinal: number): Stop {
    if (ordinal >= this.ordinal) return this.runToOrdinal(ordinal);
    const oldest = this.history.oldestOrdinal;
    if (ordinal < oldest) {
      throw new UsageError(`cannot go back to #${ordinal}: the history begins at #${oldest}`);
    }
    this.history.goTo(ordinal);
    return stopped(StopReason.Arrived);
  }

  /**
   * Goes back to the last event before this instant with a transition that satisfies `condition`.
   * @returns the transition, or null (and stays) when the history holds none
   */
  backTo(condition: Condition): Transition | null {
    const here = this.ordinal;
    const found = this.#search(condition, here - 1);
    this.history.goTo(found?.ordinal ?? here);
    return found;
  }

  /** The last transition up to this instant, null when the history holds none. */
  last(condition: Condition): Transition | null {
    const here = this.ordinal;
    const found = this.#search(condition, here);
    this.history.goTo(here);
    return found;
  }

  /** True when only the watchdog is pending and no input is to come. */
  get isIdle(): boolean {
    const { timeline } = this.drive;
    if (timeline.pendingCount !== 1 || timeline.nextName !== 'watchdog') return false;
    return (
      this.#inputs === null || this.#inputs.nextAfter(timeline.ordinal) === Number.POSITIVE_INFINITY
    );
  }

  /** One event with the inputs that follow it; false when nothing is pending. */
  #fire(): boolean {
    const { ordinal } = this;
    this.history.runToOrdinal(ordinal + 1);
    return this.ordinal > ordinal;
  }

  #observe(condition: Condition | null, end: number, stopsWhenIdle: boolean): Stop {
    this.#attach(condition);
    try {
      while (this.ordinal < end) {
        if (stopsWhenIdle) {
          if (this.drive.panic !== null) return stopped(StopReason.Panic);
          if (this.isIdle) return stopped(StopReason.Idle);
        }
        if (!this.#fire()) return stopped(StopReason.Quiet);
        const transitions = this.#observer.take();
        this.#trace(transitions);
        const found = condition === null ? undefined : transitions.find(condition);
        if (found !== undefined) return { reason: StopReason.Found, transition: found };
      }
    } finally {
      this.#observer.detach();
    }
    return stopped(stopsWhenIdle ? StopReason.Limit : StopReason.Arrived);
  }

  /** The last match among events up to `end`: ever wider windows, each run forwards once. */
  #search(condition: Condition, end: number): Transition | null {
    const oldest = this.history.oldestOrdinal;
    let high = end;
    for (let window = FIRST_WINDOW_EVENTS; high > oldest; window *= 8) {
      const low = Math.max(oldest, high - window);
      const found = this.#lastBetween(condition, low, high);
      if (found !== null) return found;
      high = low;
    }
    return null;
  }

  #lastBetween(condition: Condition, low: number, high: number): Transition | null {
    let found: Transition | null = null;
    this.history.goTo(low);
    this.#observer.detailed = condition;
    this.#observer.attach();
    try {
      while (this.ordinal < high && this.#fire()) {
        found = this.#observer.take().findLast(condition) ?? found;
      }
    } finally {
      this.#observer.detach();
    }
    return found;
  }

  #attach(condition: Condition | null): void {
    this.#observer.detailed = this.onTransition === null ? condition : () => true;
    this.#observer.attach();
  }

  #trace(transitions: readonly Transition[]): void {
    if (this.onTransition !== null) transitions.forEach(this.onTransition);
  }
}

function stopped(reason: StopReason): Stop {
  return { reason, transition: null };
}
