/** What the debugger's commands work on, and how they speak. */

import { formatCount, formatDuration } from '../cli/format.ts';
import type { Colours } from '../cli/terminal.ts';
import {
  machineName,
  matches,
  type Selector,
  type StateGoal,
  type Transition,
} from './machine-name.ts';
import { type DebugSession, SEARCH_EVENTS_MAX, type Stop, StopReason } from './session.ts';
import { formatMs } from './words.ts';

/** Where the debugger's own state lives: nothing here is part of the drive or of a snapshot. */
export interface DebugContext {
  readonly session: DebugSession;
  readonly colours: Colours;
  /** Writes one line. */
  say(line: string): void;
  /** Number and goal of each breakpoint. */
  readonly breakpoints: Map<number, StateGoal>;
  /** Number of the next breakpoint. */
  nextBreakpoint: number;
  /** Whether transitions are traced, and of which machines; null is all. */
  isTracing: boolean;
  traced: Selector | null;
  /** True after `quit`. */
  isOver: boolean;
}

/** One command of the debugger's language. */
export interface DebugCommand {
  readonly name: string;
  /** Forms it has, for help. */
  readonly usage: readonly string[];
  /** One sentence. */
  readonly says: string;
  /** More, for `help NAME`. */
  readonly help?: string;
  /** Throws UsageError for words it does not understand. */
  run(context: DebugContext, words: readonly string[]): void;
  /** Words that may come next, for completion. */
  complete?(context: DebugContext, words: readonly string[]): readonly string[];
}

/** Columns of a trace line: time, ordinal, machine, transition, detail. */
export function traceLine(transition: Transition, colours: Colours): string {
  const { ordinal, atNs, from, to, detail } = transition;
  const time = colours.dim(formatMs(atNs).padStart(17));
  const name = colours.bold(machineName(transition));
  const change = `${from} -> ${colours.cyan(to)}`;
  const line = `${time}  #${ordinal}  ${name}  ${change}`;
  return detail === '' ? line : `${line}  ${colours.dim(detail)}`;
}

/** `#1234  1.302560 ms  next: die3 in 12.3 us`. */
export function instantLine(session: DebugSession): string {
  const { timeline } = session.drive;
  const next = timeline.nextName;
  const coming =
    next === null
      ? 'nothing is pending'
      : `next: ${next} in ${formatDuration(timeline.nextNs - timeline.nowNs)}`;
  return `#${timeline.ordinal}  ${formatMs(timeline.nowNs)}  ${coming}`;
}

/** Says where a movement ended, and why when that was not where it was sent. */
export function sayStop(context: DebugContext, stop: Stop, wanted: string): void {
  const { session, colours } = context;
  const why = stopSentence(context, stop, wanted);
  if (why !== '') context.say(colours.yellow(why));
  // A trace has shown the transition already.
  if (stop.transition !== null && !isTraced(context, stop.transition)) {
    context.say(traceLine(stop.transition, colours));
  }
  context.say(instantLine(session));
}

export function isTraced(context: DebugContext, transition: Transition): boolean {
  return context.isTracing && (context.traced === null || matches(context.traced, transition));
}

function stopSentence(context: DebugContext, stop: Stop, wanted: string): string {
  const missed = wanted === '' ? '' : `${wanted} was not reached: `;
  switch (stop.reason) {
    case StopReason.Idle:
      return `${missed}the drive is idle, only its watchdog is pending`;
    case StopReason.Quiet:
      return `${missed}nothing is pending`;
    case StopReason.Limit:
      return wanted === ''
        ? ''
        : `${wanted} was not reached within ${formatCount(SEARCH_EVENTS_MAX)} events`;
    case StopReason.Panic: {
      const panic = context.session.drive.panic!;
      return `${missed}panic in task ${panic.task} at #${panic.ordinal}: ${panic.rule}`;
    }
    default:
      return '';
  }
}
