/** Commands that move the drive in time, and breakpoints. */
import { UsageError } from '../errors.ts';
import {
  type DebugCommand,
  type DebugContext,
  instantLine,
  sayStop,
  traceLine,
} from './context.ts';
import {
  MACHINE_KINDS,
  machineName,
  matches,
  parseGoal,
  parseSelector,
  type StateGoal,
  stateNames,
  type Transition,
} from './machine-name.ts';
import { StopReason } from './session.ts';
import { parseCount, parseOrdinal, parseTime } from './words.ts';

export const STEP: DebugCommand = {
  name: 'step',
  usage: ['step [N]'],
  says: 'fire the next event, or the next N',
  run(context, words) {
    atMost(words, 1, 'step [N]');
    const count = words[0] === undefined ? 1 : parseCount(words[0], 'the number of events');
    sayStop(context, context.session.step(count), '');
  },
};

export const NEXT: DebugCommand = {
  name: 'next',
  usage: ['next', 'next MACHINE'],
  says: 'run to the next state transition of any machine, or of this one (next die 3)',
  run(context, words) {
    const selector = words.length === 0 ? null : parseSelector(context.session.drive, words);
    const stop = context.session.runUntil((t) => selector === null || matches(selector, t));
    const of = selector === null ? '' : ` of ${machineName(selector)}`;
    sayStop(context, stop, `a transition${of}`);
  },
  complete: () => MACHINE_KINDS,
};

export const RUN: DebugCommand = {
  name: 'run',
  usage: ['run state MACHINE=STATE', 'run ordinal N', 'run time T'],
  says: 'run until a machine enters a state (die3=Programming), to an event, or to a time',
  help:
    'N is an event ordinal (1234, #1234) or, with a plus sign, a number of events from here.\n' +
    'T is simulated time since power-on (12.5ms, 300us, 2s) or, with a plus sign, from here;\n' +
    'the run ends after the last event up to then.',
  run(context, words) {
    const [what, ...rest] = words;
    const { session } = context;
    const to = rest.join('');
    if (to === '') throw new UsageError(usageOf(RUN));
    switch (what) {
      case 'state':
        runToState(context, parseGoal(session.drive, rest.join(' ')));
        return;
      case 'ordinal':
        forward(context, parseOrdinal(to, session.ordinal));
        return;
      case 'time': {
        const { nowNs } = session.drive.timeline;
        const atNs = parseTime(to, nowNs);
        if (atNs < nowNs) throw new UsageError(`${to} has passed: go back first`);
        sayStop(context, session.runToTime(atNs), to);
        return;
      }
      default:
        throw new UsageError(usageOf(RUN));
    }
  },
  complete: (_context, words) => (words.length < 1 ? ['state', 'ordinal', 'time'] : goals(words)),
};

export const CONTINUE: DebugCommand = {
  name: 'continue',
  usage: ['continue [EVENTS]'],
  says: 'run to a breakpoint, to the end of all work, or this many events',
  run(context, words) {
    atMost(words, 1, 'continue [EVENTS]');
    const limit = words[0] === undefined ? undefined : parseCount(words[0], 'the number of events');
    const goals = [...context.breakpoints];
    const stop = context.session.runUntil((t) => goals.some(([, goal]) => reaches(goal, t)), limit);
    if (stop.transition !== null) {
      const hit = goals.filter(([, goal]) => reaches(goal, stop.transition!));
      context.say(`breakpoint ${hit.map(([number]) => number).join(', ')}`);
    }
    sayStop(context, stop, '');
  },
};

export const BACK: DebugCommand = {
  name: 'back',
  usage: ['back [N]', 'back transition [MACHINE]', 'back state MACHINE=STATE', 'back to ORDINAL'],
  says: 'go back by events, to the previous transition, to a state, or to an event',
  help: 'Going forward again gives the same run: `where` shows the same hash at the same ordinal.',
  run(context, words) {
    const { session } = context;
    const [what = '1', ...rest] = words;
    switch (what) {
      case 'transition': {
        const selector = rest.length === 0 ? null : parseSelector(session.drive, rest);
        const of = selector === null ? '' : ` of ${machineName(selector)}`;
        backTo(context, (t) => selector === null || matches(selector, t), `transition${of}`);
        return;
      }
      case 'state': {
        const goal = parseGoal(session.drive, rest.join(' '));
        backTo(context, (t) => reaches(goal, t), `entry into ${goalName(goal)}`);
        return;
      }
      case 'to': {
        if (rest.length !== 1) throw new UsageError('usage: back to ORDINAL');
        const ordinal = parseOrdinal(rest[0]!, session.ordinal);
        if (ordinal > session.ordinal) {
          throw new UsageError(`#${ordinal} is ahead of here: run ordinal ${ordinal} goes there`);
        }
        sayStop(context, session.goTo(ordinal), '');
        return;
      }
      default:
        if (rest.length > 0 || !/^\d/.test(what)) throw new UsageError(usageOf(BACK));
        sayStop(context, session.goTo(session.ordinal - parseCount(what, 'events')), '');
    }
  },
  complete: (_context, words) =>
    words.length < 1 ? ['transition', 'state', 'to'] : goals(words, ['transition']),
};

export const BREAK: DebugCommand = {
  name: 'break',
  usage: ['break MACHINE=STATE'],
  says: 'make `continue` stop when a machine enters a state; without words, list breakpoints',
  run(context, words) {
    if (words.length === 0) {
      sayBreakpoints(context);
      return;
    }
    const goal = parseGoal(context.session.drive, words.join(' '));
    const number = context.nextBreakpoint++;
    context.breakpoints.set(number, goal);
    context.say(`breakpoint ${number} at ${goalName(goal)}`);
  },
  complete: (_context, words) => goals(['state', ...words]),
};

export const DELETE: DebugCommand = {
  name: 'delete',
  usage: ['delete N', 'delete all'],
  says: 'remove a breakpoint',
  run(context, words) {
    if (words.length !== 1) throw new UsageError(usageOf(DELETE));
    if (words[0] === 'all') {
      context.breakpoints.clear();
      return;
    }
    const number = parseCount(words[0]!, 'a breakpoint');
    if (!context.breakpoints.delete(number)) throw new UsageError(`no breakpoint ${number}`);
  },
};

export function sayBreakpoints(context: DebugContext): void {
  if (context.breakpoints.size === 0) context.say('no breakpoints');
  for (const [number, goal] of context.breakpoints) context.say(`${number}  ${goalName(goal)}`);
}

/** The sentence for words that fit none of a command's forms. */
export function usageOf(command: DebugCommand): string {
  return `usage: ${command.usage.join(' | ')}`;
}

function atMost(words: readonly string[], count: number, usage: string): void {
  if (words.length > count) throw new UsageError(`usage: ${usage}`);
}

function forward(context: DebugContext, ordinal: number): void {
  const { session } = context;
  if (ordinal < session.ordinal) {
    throw new UsageError(`#${ordinal} has passed: back to ${ordinal} goes there`);
  }
  sayStop(context, session.runToOrdinal(ordinal), `#${ordinal}`);
}

function runToState(context: DebugContext, goal: StateGoal): void {
  const { drive } = context.session;
  const { kind } = goal.selector;
  const control =
    kind === 'boot'
      ? drive.firmware.boot.machine
      : kind === 'write-mode'
        ? drive.firmware.mode.machine
        : null;
  // Control machines rest in their states; waiting for the next entry would rarely be meant.
  if (control?.stateName === goal.state) {
    context.say(`${kind} is ${goal.state} already`);
    context.say(instantLine(context.session));
    return;
  }
  const stop = context.session.runUntil((t) => reaches(goal, t));
  sayStop(context, stop, goalName(goal));
}

function backTo(
  context: DebugContext,
  condition: (transition: Transition) => boolean,
  what: string,
): void {
  const { session } = context;
  const found = session.backTo(condition);
  if (found === null) {
    throw new UsageError(`no ${what} since #${session.history.oldestOrdinal}, the oldest instant`);
  }
  context.say(traceLine(found, context.colours));
  sayStop(context, { reason: StopReason.Arrived, transition: null }, '');
}

function reaches(goal: StateGoal, transition: Transition): boolean {
  return matches(goal.selector, transition) && transition.to === goal.state;
}

function goalName({ selector, state }: StateGoal): string {
  return `${machineName(selector)}=${state}`;
}

/** Completions of `state MACHINE=STATE`, and machines after one of the `plain` words. */
function goals(words: readonly string[], plain: readonly string[] = []): readonly string[] {
  if (plain.includes(words[0]!)) return MACHINE_KINDS;
  if (words[0] !== 'state') return [];
  return MACHINE_KINDS.flatMap((kind) => stateNames(kind).map((state) => `${kind}=${state}`));
}
