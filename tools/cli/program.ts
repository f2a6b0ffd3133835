/**
 * The program `bf3` before any command runs: its commands in groups, its help, its options for
 * all. A command's module only declares; what it needs to run is imported when it runs, so that
 * `bf3 --help` stays quick.
 */
import { Command } from 'commander';
import * as age from '../age/command.ts';
import * as bench from '../bench/command.ts';
import * as debug from '../debug/command.ts';
import * as demo from '../demo/command.ts';
import * as dump from '../dump/command.ts';
import * as fault from '../fault/command.ts';
import * as image from '../image/command.ts';
import * as replay from '../replay/command.ts';
import * as serve from '../serve/command.ts';
import * as trace from '../trace/command.ts';
import { packageVersion } from './version.ts';

/** What every `tools/<family>/command.ts` exports. */
export interface CommandModule {
  /** Adds the family's commands. */
  register(program: Command): void;
}

/** Commands under one heading of the help. */
export interface CommandGroup {
  readonly heading: string;
  readonly modules: readonly CommandModule[];
}

/** Every family of commands; a new one is imported above and added here. */
export const COMMAND_GROUPS: readonly CommandGroup[] = [
  { heading: 'Run a drive:', modules: [demo, serve, replay] },
  { heading: 'Look inside:', modules: [debug, dump, trace] },
  { heading: 'Make it fail:', modules: [fault, age] },
  { heading: 'Keep its flash:', modules: [image] },
  { heading: 'Measure:', modules: [bench] },
];

/** Where the program writes; tests give their own. */
export interface ProgramOutput {
  out(text: string): void;
  error(text: string): void;
}

/** The terminal or the pipe that the process was given. */
export const PROCESS_OUTPUT: ProgramOutput = {
  out: (text) => process.stdout.write(text),
  error: (text) => process.stderr.write(text),
};

const EXAMPLES = `
Examples:
  $ bf3 demo                      watch a drive work, get report.svg
  $ bf3 help demo                 what a command can do
  $ bf3 demo --json | jq .jobs    results for other programs

Exit codes:
  0  done
  1  the run failed, or found what it was told to look for
  2  the command line or an input file is wrong

NO_COLOR=1 turns colours off; results go to standard output, progress and errors to standard error.
`;

/** The program with the given commands. Parsing throws instead of ending the process. */
export function buildProgram(
  groups: readonly CommandGroup[] = COMMAND_GROUPS,
  output: ProgramOutput = PROCESS_OUTPUT,
): Command {
  const program = new Command('bf3')
    .description('The OCZ Vector as a program: a Barefoot 3 solid-state drive that you can stop.')
    .usage('<command> [options]')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .addHelpText('after', EXAMPLES);
  for (const { heading, modules } of groups) {
    program.commandsGroup(heading);
    for (const { register } of modules) register(program);
  }
  for (const command of withDescendants(program)) adopt(command, output);
  return program;
}

/** Gives a command the manners of the house, whichever way it was added. */
function adopt(command: Command, output: ProgramOutput): void {
  command
    .exitOverride()
    .showSuggestionAfterError(true)
    .configureOutput({
      writeOut: (text) => output.out(text),
      writeErr: (text) => output.error(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'bf3: ')),
    });
}

function withDescendants(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withDescendants)];
}
