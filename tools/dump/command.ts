/** `bf3 dump`: the drive's internal tables. */
import type { Command } from 'commander';
import { wholeNumber } from '../cli/arguments.ts';
import type { DumpCommandOptions } from './dump.ts';

/** Event ordinals and row numbers: more than any run has. */
const MOST = 2 ** 50;

const NOTES = `
Where the drive comes from, one of:
  --attach    a drive that bf3 serve runs with --control; it is not stopped for long
  --snapshot  a snapshot file
  --record    a record of bf3 serve, run again to --at or to its end

--from is a number of the first column for l2p, p2l, superblocks, blocks, dies, ncq and cache, for
the others a row. bf3 dump without a table lists the tables.

Examples:
  $ bf3 dump l2p --attach /tmp/bf3.ctl --from 1000 --count 20
  $ bf3 dump superblocks --snapshot drive.snap --csv > superblocks.csv
  $ bf3 dump machines --record run.ndjson --at 120000
`;

/** Adds the command to the program. */
export function register(program: Command): void {
  program
    .command('dump')
    .argument('[table]', 'which table')
    .description("print one of the drive's internal tables")
    .option('--attach <socket>', 'control socket of bf3 serve')
    .option('--snapshot <file>', 'snapshot file')
    .option('--record <file>', 'record of bf3 serve')
    .option('--at <ordinal>', 'with --record: just after this event', wholeNumber('--at', 0, MOST))
    .option('--from <number>', 'first row', wholeNumber('--from', 0, MOST))
    .option('--count <rows>', 'rows at most', wholeNumber('--count', 0, MOST))
    .option(
      '--superblock <number>',
      'only what lies in this superblock (l2p, p2l, superblocks, blocks, bad-blocks)',
      wholeNumber('--superblock', 0, MOST),
    )
    .option('--json', 'an array of objects')
    .option('--csv', 'comma-separated values')
    .addHelpText('after', NOTES)
    .action(async (table: string | undefined, options: DumpCommandOptions) => {
      const { runDump } = await import('./dump.ts');
      await runDump(table, options);
    });
}
