/**
 * The debugger's command language: the same for a terminal, a script and a pipe.
 *
 * A mistake costs one sentence and nothing else; the session goes on.
 */

import { InvariantBroken } from '../../hal/sim/invariant.ts';
import { nearest } from '../cli/suggest.ts';
import { type Colours, coloursFor } from '../cli/terminal.ts';
import { RunError, UsageError } from '../errors.ts';
import type { DebugCommand, DebugContext } from './context.ts';
import { DIAGRAM, INFO, PRINT, TRACE, WHERE } from './look-commands.ts';
import { BACK, BREAK, CONTINUE, DELETE, NEXT, RUN, STEP } from './move-commands.ts';
import type { DebugSession } from './session.ts';
import { splitCommands } from './words.ts';

const QUIT: DebugCommand = {
  name: 'quit',
  usage: ['quit'],
  says: 'leave',
  run(context) {
    context.isOver = true;
  },
};

const HELP: DebugCommand = {
  name: 'help',
  usage: ['help [COMMAND]'],
  says: 'what there is to do, or more about one command',
  run(context, words) {
    if (words.length === 0) {
      for (const { usage, says } of COMMANDS) context.say(`${usage[0]!.padEnd(26)}  ${says}`);
      context.say('\nA command may be shortened (s, n, b, p, w); an empty line repeats the last');
      context.say('movement. Commands on one line are separated by semicolons.');
      return;
    }
    const { usage, says, help } = commandNamed(words[0]!);
    for (const form of usage) context.say(form);
    context.say(`  ${says}`);
    if (help !== undefined) context.say(help.replaceAll(/^/gm, '  '));
  },
  complete: () => COMMANDS.map(({ name }) => name),
};

export const COMMANDS: readonly DebugCommand[] = [
  ...[STEP, NEXT, RUN, CONTINUE, BACK, BREAK, DELETE],
  ...[PRINT, WHERE, TRACE, INFO, DIAGRAM, HELP, QUIT],
];

/** Shortest forms; any other beginning of a name counts when it fits one command. */
const ALIASES: { readonly [word: string]: string } = {
  s: 'step',
  n: 'next',
  r: 'run',
  c: 'continue',
  b: 'back',
  p: 'print',
  w: 'where',
  d: 'diagram',
  t: 'trace',
  exit: 'quit',
};

export class Interpreter {
  /** Commands that were not understood or could not be done. */
  mistakeCount = 0;
  readonly #context: DebugContext;
  /** Last movement, repeated by an empty line. */
  #lastMove = '';

  /** @param say receives every line of output */
  constructor(
    session: DebugSession,
    say: (line: string) => void,
    colours: Colours = coloursFor(false),
  ) {
    this.#context = {
      ...{ session, say, colours, breakpoints: new Map(), nextBreakpoint: 1 },
      ...{ isTracing: false, traced: null, isOver: false },
    };
  }

  /** True after `quit`. */
  get isOver(): boolean {
    return this.#context.isOver;
  }

  /** Does the commands of a text, up to `quit`. Mistakes are said, not thrown. */
  run(text: string): void {
    for (const command of splitCommands(text)) {
      if (this.isOver) return;
      this.#do(command);
    }
  }

  /** An empty line at a terminal: repeats the last movement. */
  repeat(): void {
    if (this.#lastMove !== '') this.#do(this.#lastMove);
  }

  /** Completions of a line for node:readline: the candidates and the part they complete. */
  complete(line: string): [string[], string] {
    const words = line.split(';').at(-1)!.trimStart().split(/\s+/);
    const last = words.pop() ?? '';
    return [this.#candidates(words).filter((word) => word.startsWith(last)), last];
  }

  #candidates(words: readonly string[]): readonly string[] {
    if (words.length === 0) return COMMANDS.map(({ name }) => name);
    const [first, ...rest] = words;
    const command = find(first!);
    return command?.complete?.(this.#context, rest) ?? [];
  }

  #do(text: string): void {
    const [word, ...rest] = text.split(/\s+/);
    try {
      const command = commandNamed(word!);
      if (MOVES.includes(command)) this.#lastMove = text;
      command.run(this.#context, rest);
    } catch (error) {
      this.mistakeCount++;
      this.#context.say(this.#context.colours.red(sentenceOf(error)));
    }
  }
}

/** What went wrong, for everything after which the session can go on; throws anything else. */
function sentenceOf(error: unknown): string {
  if (error instanceof UsageError || error instanceof RunError) return error.message;
  if (error instanceof InvariantBroken)
    return `a rule of the emulator was broken: ${error.message}`;
  throw error;
}

const MOVES: readonly DebugCommand[] = [STEP, NEXT, RUN, CONTINUE, BACK];

/** The command a word stands for; undefined when none or several fit. */
function find(word: string): DebugCommand | undefined {
  const wanted = ALIASES[word.toLowerCase()] ?? word.toLowerCase();
  const exact = COMMANDS.find(({ name }) => name === wanted);
  if (exact !== undefined) return exact;
  const begun = COMMANDS.filter(({ name }) => name.startsWith(wanted));
  return begun.length === 1 ? begun[0] : undefined;
}

function commandNamed(word: string): DebugCommand {
  const command = find(word);
  if (command !== undefined) return command;
  const names = COMMANDS.map(({ name }) => name);
  const begun = names.filter((name) => name.startsWith(word.toLowerCase()));
  if (begun.length > 1) throw new UsageError(`'${word}' may be ${begun.join(' or ')}`);
  const hint = nearest(word, names);
  const suggestion = hint === null ? '' : ` (did you mean '${hint}'?)`;
  throw new UsageError(`no command '${word}'${suggestion}; help lists them`);
}
