/** `bf3 replay`: a recorded workload on a drive. */
import { type Command, Option } from 'commander';
import { factor, wholeNumber } from '../cli/arguments.ts';

const EXAMPLES = `
The file's format is found from its content: fio iologs, blkparse and blktrace output, MSR
Cambridge, SPC, DiskSim and MQSim traces. Every read is compared with what the trace wrote before;
sectors that it never wrote must read as zeros.

Examples:
  $ bf3 replay test/fixtures/guest_ahci.blktrace
  $ bf3 replay hm_0.csv --wrap --flat-out --limit 1000000 --svg report.svg
  $ bf3 replay app.log --speed 10 --json | jq .jobs[0].read.clat_ns.percentile

Exit codes:
  0  every read was right
  1  a read was wrong, a command failed, or the file cannot be replayed
  2  the command line is wrong
`;

/** Adds the command to the program. */
export function register(program: Command): void {
  program
    .command('replay')
    .description('replay a recorded workload and verify every read')
    .argument('<file>', 'trace to replay')
    .option('--drive <name>', 'drive to replay it on', 'vector-256')
    .option('--format <name>', 'format of the file; found from its content when not given')
    .option('--device <name>', 'take only the operations of this device, as the file names it')
    .option('--wrap', 'fold addresses beyond the end of the drive into it')
    .option(
      '--queue-depth <n>',
      'commands outstanding at most, 1 to 32',
      wholeNumber('--queue-depth', 1, 32),
      32,
    )
    .addOption(
      new Option(
        '--flat-out',
        'as fast as the queue takes them, not at the recorded pace',
      ).conflicts('speed'),
    )
    .addOption(
      new Option('--speed <factor>', 'recorded pace times this')
        .argParser(factor('--speed', 1e-6, 1e6))
        .default(1),
    )
    .option(
      '--limit <n>',
      'take only the first operations',
      wholeNumber('--limit', 1, Number.MAX_SAFE_INTEGER),
    )
    .option('--seed <text>', 'seed of everything random in the drive')
    .option('--json', "print the results in fio's JSON format")
    .option('--svg <file>', 'write a picture of the run')
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, options: object) => {
      const { runReplay } = await import('./replay.ts');
      runReplay(file, options as Parameters<typeof runReplay>[1]);
    });
}
