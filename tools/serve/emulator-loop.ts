/**
 * The loop that runs a served drive between turns of Node's event loop.
 *
 * A turn fires events until the host's queue is empty or a slice of wall time is used up, answers
 * what has ended, and lets the sockets breathe. By default the emulator runs as fast as it can
 * while commands are outstanding; paced, no event fires before the wall clock has come to its
 * instant. With nothing outstanding emulated time follows the wall clock either way, so that the
 * drive's idle work is done; unpaced, gaps under `GAP_MIN_MS` take no emulated time, because they
 * are the server's and the sockets' own.
 */

import type { Drive } from '../../firmware/drive.ts';
import { InvariantBroken } from '../../hal/sim/invariant.ts';
import { NS_PER_MS, NS_PER_S } from '../../hal/sim/units.ts';
import { RunError } from '../errors.ts';
import { AnswerBatch } from './answer-batch.ts';
import type { EmulatorClock, RequestQueue } from './drive-backend.ts';
import { Pacer } from './pacing.ts';

/** Wall time of one turn. */
const SLICE_MS = 1;
/** Idle gaps from this length on pass in emulated time, too. */
const GAP_MIN_MS = 5;
/** Longest sleep with nothing outstanding. */
const IDLE_MS = 50;
/** Events between two looks at the wall clock. */
const EVENTS_PER_LOOK = 32;
/** A drive that ends no command for this long has stopped; hosts give up after 30 s. */
const ANSWER_MAX_NS = 120 * NS_PER_S;

/** The wall clock and the event loop, so that tests can bring their own. */
export interface WallClock {
  /** Milliseconds since some moment; never goes backwards. */
  nowMs(): number;
  /** Calls back in the next turn, after what has arrived on sockets. */
  soon(run: () => void): void;
  /** Calls back after `ms`; at most one call is pending. */
  later(run: () => void, ms: number): void;
  cancelLater(): void;
}

/** Node's own. */
export class NodeClock implements WallClock {
  #timer: NodeJS.Timeout | null = null;

  nowMs(): number {
    return performance.now();
  }

  soon(run: () => void): void {
    setImmediate(run);
  }

  later(run: () => void, ms: number): void {
    this.cancelLater();
    this.#timer = setTimeout(run, ms);
  }

  cancelLater(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

export enum LoopMode {
  Running,
  Paused,
  /** The drive has stopped for good: a panic, a broken rule, a hang. */
  Stopped,
  /** The server has ended. */
  Ended,
}

/** Where a run under control ends: whichever comes first. */
interface Goal {
  readonly ordinal: number;
  readonly ns: number;
  /** `reached` is false when something else was asked for before. */
  readonly done: (reached: boolean) => void;
}

export interface LoopOptions {
  /** No event before the wall clock has come to it. Default false. */
  readonly realtime?: boolean;
  readonly clock?: WallClock;
  /** Called at the end of a turn, before what has ended is answered. */
  readonly beforeAnswers?: () => void;
  /** The drive has stopped by itself; called once, before its requests fail. */
  readonly onStopped?: (reason: string) => void;
}

export class EmulatorLoop implements EmulatorClock {
  mode = LoopMode.Running;
  readonly pacer = new Pacer();
  readonly realtime: boolean;
  readonly #drive: Drive;
  readonly #queue: RequestQueue;
  readonly #clock: WallClock;
  readonly #beforeAnswers: () => void;
  readonly #onStopped: (reason: string) => void;
  #goal: Goal | null = null;
  /** A turn comes with the next turn of the event loop. */
  #isSoon = false;
  /** A request has come since the last turn. */
  #hasArrived = false;
  readonly #batch = new AnswerBatch();
  /** Wall clock up to which emulated time has passed; meaningful with nothing outstanding. */
  #idleSinceMs = 0;
  /** Emulated instant of the newest request. */
  #wokenNs = 0;
  /** Calls that wait for an instant with nothing outstanding. */
  #whenIdle: (() => void)[] = [];

  constructor(drive: Drive, queue: RequestQueue, options: LoopOptions = {}) {
    this.#drive = drive;
    this.#queue = queue;
    this.realtime = options.realtime ?? false;
    this.#clock = options.clock ?? new NodeClock();
    this.#beforeAnswers = options.beforeAnswers ?? (() => {});
    this.#onStopped = options.onStopped ?? (() => {});
  }

  /** Begins to follow the wall clock; the drive has been booted. */
  start(): void {
    this.#anchor();
    this.#schedule();
  }

  catchUp(): void {
    if (this.mode !== LoopMode.Running || this.#goal !== null) return;
    if (this.realtime || this.#queue.pendingCount === 0) this.#guarded(this.#passTime);
  }

  wake(): void {
    this.#wokenNs = this.#drive.timeline.nowNs;
    this.#hasArrived = true;
    if (this.mode === LoopMode.Running) this.#soon();
  }

  /** Stops firing events; what arrives waits. */
  pause(): void {
    this.#endGoal(false);
    if (this.mode !== LoopMode.Running) return;
    this.mode = LoopMode.Paused;
    this.#clock.cancelLater();
  }

  resume(): void {
    this.#endGoal(false);
    if (this.mode !== LoopMode.Paused) return;
    this.mode = LoopMode.Running;
    this.#anchor();
    this.#soon();
  }

  /** Runs as fast as it can to an ordinal or an instant, then pauses. */
  runTo(ordinal: number, ns: number, done: (reached: boolean) => void): void {
    this.pause();
    if (this.mode !== LoopMode.Paused) {
      done(false);
      return;
    }
    this.#goal = { ordinal, ns, done };
    this.#soon();
  }

  /** Calls back between two events with nothing outstanding; at once when that is now. */
  whenIdle(run: () => void): void {
    if (this.#queue.pendingCount === 0) run();
    else this.#whenIdle.push(run);
  }

  /** Fires no more events. */
  end(): void {
    this.#endGoal(false);
    if (this.mode !== LoopMode.Stopped) this.mode = LoopMode.Ended;
    this.#clock.cancelLater();
  }

  readonly #turn = (): void => {
    this.#isSoon = false;
    this.#clock.cancelLater();
    this.#guarded(this.#fire);
    if (this.#mayHold()) {
      this.#soon();
      return;
    }
    this.#guarded(this.#beforeAnswers);
    this.#queue.deliver();
    if (this.#whenIdle.length > 0) this.#callIdle();
    this.#schedule();
  };

  readonly #fire = (): void => {
    if (this.#goal !== null) this.#runGoal(this.#goal);
    else if (this.mode === LoopMode.Running) this.#runTurn();
  };

  #mayHold(): boolean {
    const hasArrived = this.#hasArrived;
    this.#hasArrived = false;
    if (this.realtime || this.mode !== LoopMode.Running) return false;
    const queue = this.#queue;
    return this.#batch.mayHold(hasArrived, queue.finishedCount, queue.pendingCount > 0);
  }

  #callIdle(): void {
    while (this.#queue.pendingCount === 0 && this.#whenIdle.length > 0) this.#whenIdle.shift()?.();
  }

  /** Runs `fire`; what breaks in the emulator ends the drive, not the server. */
  #guarded(fire: () => void): void {
    try {
      fire();
    } catch (error) {
      if (!(error instanceof InvariantBroken || error instanceof RunError)) throw error;
      this.#stop(error.message);
      return;
    }
    const { panic } = this.#drive;
    if (panic === null || this.mode === LoopMode.Stopped) return;
    this.#stop(`panic in ${panic.task} at event ${panic.ordinal}: ${panic.rule}`);
  }

  #stop(reason: string): void {
    if (this.mode === LoopMode.Stopped) return;
    this.mode = LoopMode.Stopped;
    this.#clock.cancelLater();
    this.#onStopped(reason);
    this.#endGoal(false);
    this.#callIdle();
  }

  #runTurn(): void {
    if (this.realtime || this.#queue.pendingCount === 0) {
      this.#passTime();
      return;
    }
    const { timeline } = this.#drive;
    const queue = this.#queue;
    const deadlineMs = this.#clock.nowMs() + SLICE_MS;
    do {
      for (let left = EVENTS_PER_LOOK; left > 0 && queue.pendingCount > 0; left--) {
        if (!timeline.step()) throw new RunError('nothing is pending, yet commands are');
      }
    } while (queue.pendingCount > 0 && this.#clock.nowMs() < deadlineMs);
    this.#checkAnswers();
    this.#idleSinceMs = this.#clock.nowMs();
  }

  /** Lets emulated time come up to the wall clock. */
  readonly #passTime = (): void => {
    const { timeline } = this.#drive;
    if (this.realtime) {
      const nowMs = this.#clock.nowMs();
      this.#fireUntil(this.pacer.targetNs(nowMs), nowMs + SLICE_MS);
      this.pacer.reached(nowMs, timeline.nowNs);
      this.#checkAnswers();
      return;
    }
    if (this.#queue.pendingCount > 0) return;
    const nowMs = this.#clock.nowMs();
    const gapMs = nowMs - this.#idleSinceMs;
    if (gapMs < GAP_MIN_MS) return;
    this.#idleSinceMs = nowMs;
    this.#fireUntil(timeline.nowNs + Math.floor(gapMs * NS_PER_MS), nowMs + GAP_MIN_MS);
  };

  /** Fires what is due by `untilNs` and moves the clock there, unless wall time runs out. */
  #fireUntil(untilNs: number, deadlineMs: number): void {
    const { timeline } = this.#drive;
    for (let fired = 1; timeline.nextNs <= untilNs; fired++) {
      timeline.step();
      if (fired % EVENTS_PER_LOOK === 0 && this.#clock.nowMs() >= deadlineMs) return;
    }
    timeline.runUntil(untilNs);
  }

  #runGoal(goal: Goal): void {
    const { timeline } = this.#drive;
    const deadlineMs = this.#clock.nowMs() + SLICE_MS;
    for (let fired = 1; ; fired++) {
      if (timeline.ordinal >= goal.ordinal) break;
      if (timeline.nextNs > goal.ns) {
        if (goal.ns !== Number.POSITIVE_INFINITY) timeline.runUntil(goal.ns);
        break;
      }
      if (!timeline.step()) break;
      if (fired % EVENTS_PER_LOOK === 0 && this.#clock.nowMs() >= deadlineMs) return;
    }
    this.#beforeAnswers();
    this.#endGoal(timeline.ordinal >= goal.ordinal || timeline.nowNs >= goal.ns);
  }

  #endGoal(reached: boolean): void {
    const goal = this.#goal;
    this.#goal = null;
    goal?.done(reached);
  }

  #checkAnswers(): void {
    const queue = this.#queue;
    if (queue.pendingCount === 0) return;
    const sinceNs = Math.max(queue.lastEndNs, this.#wokenNs);
    if (this.#drive.timeline.nowNs - sinceNs < ANSWER_MAX_NS) return;
    throw new RunError(`the drive ended no command for ${ANSWER_MAX_NS / NS_PER_S} s`);
  }

  #anchor(): void {
    this.#idleSinceMs = this.#clock.nowMs();
    this.pacer.anchor(this.#idleSinceMs, this.#drive.timeline.nowNs);
  }

  #soon(): void {
    if (this.#isSoon) return;
    this.#isSoon = true;
    this.#clock.cancelLater();
    this.#clock.soon(this.#turn);
  }

  #schedule(): void {
    if (this.#isSoon) return;
    if (this.#goal !== null) {
      this.#soon();
      return;
    }
    if (this.mode !== LoopMode.Running) return;
    const isBusy = this.#queue.pendingCount > 0;
    const delayMs = this.#delayMs(isBusy);
    if (isBusy && delayMs === 0) this.#soon();
    else this.#clock.later(this.#turn, Math.max(isBusy ? 1 : GAP_MIN_MS, delayMs));
  }

  #delayMs(isBusy: boolean): number {
    const { nextNs, nowNs } = this.#drive.timeline;
    if (this.realtime) {
      return Math.min(IDLE_MS, this.pacer.delayMs(this.#clock.nowMs(), nextNs));
    }
    return isBusy ? 0 : Math.min(IDLE_MS, Math.ceil((nextNs - nowNs) / NS_PER_MS));
  }
}
