/** `bf3 debug`: a debugger on the terminal that steps forwards and backwards. */
import type { Command } from 'commander';
import { wholeNumber } from '../cli/arguments.ts';
import type { DebugCommandOptions } from './debug.ts';

const NOTES = `
FILE is a record or a snapshot of bf3 serve; without one a new drive runs a small workload:
  write   random writes of 1 to 8 pages
  read    pages 0 to 511 in order, then random reads among them
  mixed   writes and reads in turn by chance, a flush now and then
  trim    random writes, every eighth command a trim
  none    no commands: the drive boots and waits

Commands come from the terminal, from --script, or from standard input when that is no terminal;
'help' lists them. A line that begins with # is a comment.

Examples:
  $ bf3 debug
  $ bf3 debug --workload mixed --script 'run state die3=Programming; where; print dies'
  $ bf3 debug run.ndjson --script 'run time 1.5s; back transition superblock; print l2p 0 8'

Exit codes:
  0  done
  1  a command of the script was wrong or could not be done; the others were done
  2  the command line or FILE is wrong
`;

/** Adds the command to the program. */
export function register(program: Command): void {
  program
    .command('debug')
    .argument('[file]', 'record or snapshot of bf3 serve')
    .description('step through a drive, event by event, forwards and backwards')
    .option('--drive <name>', 'drive to boot when no file is given', 'toy')
    .option('--workload <name>', 'what its host does: write, read, mixed, trim or none', 'write')
    .option(
      '--commands <count>',
      'host commands of the workload',
      wholeNumber('--commands', 0, 1e9),
      10_000,
    )
    .option(
      '--queue-depth <count>',
      'commands outstanding at a time, 1 to 32',
      wholeNumber('--queue-depth', 1, 32),
      4,
    )
    .option('--seed <text>', 'seed of drive and workload', 'bf3')
    .option('--script <commands>', 'commands to do, separated by semicolons')
    .addHelpText('after', NOTES)
    .action(async (file: string | undefined, options: DebugCommandOptions) => {
      const { runDebug } = await import('./debug.ts');
      await runDebug(file, options);
    });
}
