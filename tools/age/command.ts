/** `bf3 age`: lets a drive lie about for days, without running it. */
import type { Command } from 'commander';
import { UsageError } from '../errors.ts';
import type { AgeOptions } from './age.ts';

const NOTES = `
Flash cells lose charge with time, faster when they are warm. A drive ages between two events: its
own clock stands still, and what it reads afterwards has more wrong bits. Ages are counted in
minutes at 30 C (JESD218): a day at 85 C does what 643 days at 30 C do.

The drive is one that bf3 serve runs with --control, or the image of one that nobody runs.

Examples:
  $ bf3 age --days 365 --temp 30 --image drive.nand
  $ bf3 age --days 2.75 --temp 85 --attach /tmp/bf3.ctl

Exit codes:
  0  done
  1  the drive or the image cannot be had
  2  the command line is wrong
`;

/** Adds the command to the program. */
export function register(program: Command): void {
  program
    .command('age')
    .description('let days pass for a drive that is not running')
    .requiredOption('--days <number>', 'how long; may have a fraction', numberOf('--days'))
    .option('--temp <celsius>', 'how warm it lies', numberOf('--temp'), 30)
    .option('--attach <socket>', 'control socket of bf3 serve')
    .option('--image <file>', 'image that nobody serves')
    .option('--json', 'for programs')
    .addHelpText('after', NOTES)
    .action(async (options: AgeOptions) => {
      const { runAge } = await import('./age.ts');
      await runAge(options);
    });
}

function numberOf(option: string): (text: string) => number {
  return (text) => {
    if (/^-?\d{1,9}(?:\.\d{1,9})?$/.test(text.trim())) return Number(text);
    throw new UsageError(`${option}: "${text}"; expected a number such as 30 or 2.75`);
  };
}
