/** Commands that look at the drive and leave it where it is. */
import { toMermaid } from '../../hal/sim/state-machine.ts';
import { formatDuration } from '../cli/format.ts';
import { nearest } from '../cli/suggest.ts';
import { hex } from '../dump/controller-tables.ts';
import { DUMP_TABLES, dumpColumns, dumpRows } from '../dump/tables.ts';
import { UsageError } from '../errors.ts';
import { type DebugCommand, isTraced, traceLine } from './context.ts';
import { MACHINE_KINDS, MACHINE_TABLES, machineName, parseSelector } from './machine-name.ts';
import { sayBreakpoints, usageOf } from './move-commands.ts';
import { print, printable, sayPairs, sayRows } from './print.ts';
import { formatMs } from './words.ts';

export const PRINT: DebugCommand = {
  name: 'print',
  usage: ['print PART', 'print BLOCK[.REGISTER]', 'print TABLE [FROM [COUNT]]'],
  says: 'show a part (arm, die 3, slot 5, boot), registers (ICU.INT_STS) or a table (l2p 0 8)',
  help: 'FROM is a number of the first column of keyed tables (the page of l2p), else a row.',
  run(context, words) {
    if (words.length === 0) throw new UsageError(usageOf(PRINT));
    print(context, words);
  },
  complete: (context) => printable(context),
};

export const WHERE: DebugCommand = {
  name: 'where',
  usage: ['where'],
  says: 'the present instant: ordinal, time, what fires next, the last transition, the run’s hash',
  help:
    'The hash rolls over every event fired: equal runs have equal hashes at equal ordinals,\n' +
    'also after going back and forward again.',
  run(context) {
    const { session, colours } = context;
    const { timeline, firmware, host } = session.drive;
    const last = session.last(() => true);
    const next =
      timeline.nextName === null
        ? 'nothing is pending'
        : `${timeline.nextName} in ${formatDuration(timeline.nextNs - timeline.nowNs)}, ` +
          `at ${formatMs(timeline.nextNs)}`;
    sayPairs(context, [
      ['event', `#${timeline.ordinal}`],
      ['time', formatMs(timeline.nowNs)],
      ['next', next],
      ['last', last === null ? null : traceLine(last, colours).trimStart()],
      ['hash', hex(timeline.hash >>> 0)],
      ['boot', firmware.boot.machine.stateName],
      ['write mode', firmware.mode.machine.stateName],
      ['host', `${host.outstandingCount} commands outstanding`],
    ]);
  },
};

export const TRACE: DebugCommand = {
  name: 'trace',
  usage: ['trace on [MACHINE]', 'trace off'],
  says: 'print one line a transition while running forwards',
  help:
    'Columns: simulated time since power-on, event ordinal, machine, state before -> after,\n' +
    'what it works on. A core’s states are its tasks, wfi (waiting for an interrupt) and panic;\n' +
    'its line says which task’s body has run and which task comes next.',
  run(context, words) {
    const [what, ...rest] = words;
    const { session } = context;
    if (what === 'off' && rest.length === 0) {
      context.isTracing = false;
      session.onTransition = null;
      return;
    }
    if (what !== 'on') throw new UsageError(usageOf(TRACE));
    context.traced = rest.length === 0 ? null : parseSelector(session.drive, rest);
    context.isTracing = true;
    session.onTransition = (transition) => {
      if (isTraced(context, transition)) context.say(traceLine(transition, context.colours));
    };
  },
  complete: (_context, words) => (words.length < 1 ? ['on', 'off'] : MACHINE_KINDS),
};

const SUBJECTS = ['machines', 'tables', 'registers', 'breakpoints', 'drive'] as const;

export const INFO: DebugCommand = {
  name: 'info',
  usage: [`info ${SUBJECTS.join('|')}`],
  says: 'list what there is to look at',
  run(context, words) {
    const { drive } = context.session;
    switch (words.length === 1 ? words[0] : '') {
      case 'machines':
        sayRows(context, dumpColumns('machines'), dumpRows(drive, 'machines'));
        return;
      case 'registers':
        sayRows(context, dumpColumns('registers'), dumpRows(drive, 'registers'));
        return;
      case 'tables':
        sayPairs(
          context,
          DUMP_TABLES.map(({ name, says }) => [name, says]),
        );
        return;
      case 'breakpoints':
        sayBreakpoints(context);
        return;
      case 'drive':
        sayPairs(context, [
          ['profile', `${drive.profile.id}: ${drive.profile.says}`],
          ['dies', `${drive.geometry.channels} channels, ${drive.geometry.dies} dies`],
          ['superblocks', drive.geometry.superblocks],
          ['pages', drive.l2p.values.length],
          ['history from', `#${context.session.history.oldestOrdinal}`],
          ['tracing', context.isTracing ? tracedName(context.traced) : 'off'],
        ]);
        return;
      default:
        throw new UsageError(usageOf(INFO));
    }
  },
  complete: () => SUBJECTS,
};

export const DIAGRAM: DebugCommand = {
  name: 'diagram',
  usage: ['diagram MACHINE'],
  says: 'the state diagram of a machine as Mermaid text',
  run(context, words) {
    const names = Object.keys(MACHINE_TABLES);
    const name = (words[0] ?? '').toLowerCase().replace(/\d+$/, '');
    const table = MACHINE_TABLES[name];
    if (table === undefined || words.length !== 1) {
      const hint = nearest(name, names);
      const suggestion = hint === null ? '' : `did you mean '${hint}'? `;
      throw new UsageError(`${suggestion}diagrams are of ${names.join(', ')}`);
    }
    context.say(toMermaid(table));
  },
  complete: () => Object.keys(MACHINE_TABLES),
};

function tracedName(selector: Parameters<typeof machineName>[0] | null): string {
  return selector === null ? 'every machine' : machineName(selector);
}
