/** What `bf3 debug` does: makes or opens the drive, then reads commands from wherever they come. */
import { createInterface } from 'node:readline';
import { Drive } from '../../firmware/drive.ts';
import { driveProfile } from '../cli/arguments.ts';
import { nearest } from '../cli/suggest.ts';
import { coloursFor, wantsColour } from '../cli/terminal.ts';
import { kindOfFile, openRecord, openSnapshot } from '../dump/open.ts';
import { RunError, UsageError } from '../errors.ts';
import { instantLine } from './context.ts';
import { Interpreter } from './interpreter.ts';
import { DebugSession } from './session.ts';
import { formatMs } from './words.ts';
import { DebugWorkload, WORKLOAD_SAYS, WORKLOADS, type WorkloadName } from './workload.ts';

/** The command line's options, numbers already checked. */
export interface DebugCommandOptions {
  readonly drive: string;
  readonly workload: string;
  readonly commands: number;
  readonly queueDepth: number;
  readonly seed: string;
  readonly script?: string;
}

const LINES_KEPT = 1000;

/**
 * Runs the debugger until `quit` or the end of the commands.
 * @throws UsageError for a wrong option or file, RunError when a script made mistakes
 */
export async function runDebug(
  file: string | undefined,
  options: DebugCommandOptions,
): Promise<void> {
  const { session, says } = file === undefined ? newSession(options) : fileSession(file);
  const colours = coloursFor(wantsColour(process.stdout));
  const say = (line: string): void => {
    process.stdout.write(`${line}\n`);
  };
  const interpreter = new Interpreter(session, say, colours);
  if (options.script !== undefined) {
    interpreter.run(options.script);
  } else if (process.stdin.isTTY === true) {
    say(says);
    say(`${instantLine(session)}\nhelp lists the commands`);
    await readTerminal(interpreter, session);
    return;
  } else {
    await readPipe(interpreter);
  }
  const { mistakeCount } = interpreter;
  if (mistakeCount === 0) return;
  const were = mistakeCount === 1 ? 'command was' : 'commands were';
  throw new RunError(`${mistakeCount} ${were} wrong or could not be done, see above`);
}

interface Opened {
  readonly session: DebugSession;
  /** What was opened, for a terminal. */
  readonly says: string;
}

/** A new drive with a workload, its power just on. */
export function newSession(options: DebugCommandOptions): Opened {
  const profile = driveProfile(options.drive);
  const name = workloadNamed(options.workload);
  const { commands, queueDepth, seed } = options;
  const pages = Math.floor(profile.identity.sectors / 8);
  const source = new DebugWorkload(name, pages, commands, seed);
  const drive = new Drive(profile, { seed, source: () => source });
  drive.host.queueDepth = queueDepth;
  drive.powerOn();
  const says = `${profile.id}: ${profile.says}; ${WORKLOAD_SAYS[name]}`;
  return { session: new DebugSession(drive), says };
}

/** A record at its beginning, or a snapshot at its instant. */
export function fileSession(path: string): Opened {
  if (kindOfFile(path) === 'snapshot') {
    const drive = openSnapshot(path);
    const { ordinal, nowNs } = drive.timeline;
    const says = `${path}: ${drive.profile.id}, saved at #${ordinal}, ${formatMs(nowNs)}`;
    return { session: new DebugSession(drive), says };
  }
  const { drive, source, endOrdinal } = openRecord(path);
  const { commands } = source.recording;
  const says = `${path}: ${drive.profile.id}, ${commands.length} commands, ends at #${endOrdinal}`;
  return { session: new DebugSession(drive, source), says };
}

function workloadNamed(name: string): WorkloadName {
  const found = WORKLOADS.find((workload) => workload === name);
  if (found !== undefined) return found;
  const hint = nearest(name, WORKLOADS);
  const suggestion = hint === null ? '' : ` (did you mean '${hint}'?)`;
  throw new UsageError(
    `--workload: no workload '${name}'${suggestion}; expected one of ${WORKLOADS.join(', ')}`,
  );
}

async function readPipe(interpreter: Interpreter): Promise<void> {
  const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
  for await (const line of lines) {
    interpreter.run(line);
    if (interpreter.isOver) return;
  }
}

async function readTerminal(interpreter: Interpreter, session: DebugSession): Promise<void> {
  const terminal = createInterface({
    input: process.stdin,
    output: process.stdout,
    historySize: LINES_KEPT,
    completer: (line: string) => interpreter.complete(line),
  });
  const prompt = (): void => {
    terminal.setPrompt(`#${session.ordinal}> `);
    terminal.prompt();
  };
  const closed = new Promise<void>((resolve) => terminal.on('close', resolve));
  terminal.on('line', (line) => {
    if (line.trim() === '') interpreter.repeat();
    else interpreter.run(line);
    if (interpreter.isOver) terminal.close();
    else prompt();
  });
  prompt();
  await closed;
}
