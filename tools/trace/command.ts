/** `bf3 trace`: the pins of the flash channels as a VCD file for waveform viewers. */
import { type Command, Option } from 'commander';
import { wholeNumber } from '../cli/arguments.ts';
import { byteCount } from '../cli/drive-options.ts';
import { UsageError } from '../errors.ts';
import type { DecodeOptions } from './decode.ts';
import type { TraceArguments } from './trace.ts';

const NOTES = `
FILE is a recorded workload as bf3 replay takes it; without one the host runs a small one (see bf3
debug). Times count from power-on. Open the result with gtkwave, surfer or pulseview.

Examples:
  $ bf3 trace --out run.vcd
  $ bf3 trace --out run.vcd --workload write --commands 50 --data full
  $ bf3 trace --out boot.vcd --drive vector-256 --workload none --channel 0-1 --to 300ms
  $ bf3 trace --out boot.vcd --drive vector-256 --from 480ms --data none capture.blktrace
  $ bf3 trace decode run.vcd --die 3

Exit codes:
  0  the trace is written
  1  a file cannot be had, or the drive stopped; nothing is left of an unfinished trace
  2  the command line is wrong
`;

/** Adds the command to the program. */
export function register(program: Command): void {
  const trace = program
    .command('trace')
    .argument('[file]', 'recorded workload to replay')
    .description('write the pins of the flash channels as a VCD file')
    .option('--out <file>', 'VCD file to write')
    .option('--drive <name>', 'drive to run', 'toy')
    .option('--seed <text>', 'seed of drive and workload', 'bf3')
    .option('--workload <name>', 'what its host does without FILE: write, read, mixed, trim, none')
    .option('--commands <count>', 'commands of it', wholeNumber('--commands', 0, 1e9), 200)
    .option(
      '--queue-depth <count>',
      'commands outstanding at most, 1 to 32',
      wholeNumber('--queue-depth', 1, 32),
      4,
    )
    .addHelpText('after', NOTES);
  registerView(trace);
  trace.action(async (file: string | undefined, options: TraceArguments) => {
    (await import('./trace.ts')).runTrace(file, options);
  });
  trace
    .command('decode')
    .argument('<trace>', 'VCD file of bf3 trace')
    .description('list the commands that a trace shows')
    .option('--channel <list>', 'only these channels', numberList('--channel'))
    .option('--die <list>', 'only these dies, counted over the array', numberList('--die'))
    .option('--csv', 'for spreadsheets')
    .option('--json', 'for programs')
    // What both commands have may be found by the outer one first.
    .action(async (file: string, _: DecodeOptions, command: Command) => {
      (await import('./decode.ts')).runDecode(file, command.optsWithGlobals());
    });
}

/** What to show, and how FILE is read. */
function registerView(trace: Command): void {
  trace
    .option('--format <name>', 'format of FILE; found from its content when not given')
    .option('--wrap', 'fold addresses of FILE beyond the end of the drive into it')
    .option('--flat-out', 'replay FILE as fast as the queue takes it')
    .option('--limit <n>', 'take only the first operations of FILE', wholeNumber('--limit', 1, 1e9))
    .option('--channel <list>', 'only these channels: 0,2-3', numberList('--channel'))
    .option('--die <list>', 'only these dies, counted over the array', numberList('--die'))
    .option('--data <detail>', 'of data phases: none, summary (first byte) or full', 'summary')
    .option('--from <time>', 'show from this time on: 12.5ms, 300us, 2s')
    .option('--to <time>', 'end at this time; with a plus sign, so long after --from')
    .addOption(
      new Option('--max-size <size>', 'end the trace before the file is larger')
        .argParser(byteCount('--max-size', 2 ** 16, 2 ** 40))
        .default(2 ** 30, '1G'),
    )
    .option('--json', 'what was written, for programs');
}

const NUMBERS_MAX = 4096;

/** A parser for `0,2-3`. */
function numberList(option: string): (text: string) => number[] {
  return (text) => {
    const numbers = new Set<number>();
    for (const part of text.split(',')) {
      const match = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(part.trim());
      const first = Number(match?.[1]);
      const last = Number(match?.[2] ?? match?.[1]);
      if (match === null || last < first || last - first >= NUMBERS_MAX) {
        throw new UsageError(`${option}: "${text}"; expected numbers such as 3 or 0,2-5`);
      }
      for (let number = first; number <= last; number++) numbers.add(number);
    }
    return [...numbers].sort((a, b) => a - b);
  };
}
