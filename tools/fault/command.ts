/** `bf3 fault`: faults over a running drive. */
import type { Command } from 'commander';
import type { AddOptions, AttachOptions, CheckOptions, LiftOptions } from './fault.ts';
import type { FaultOptions } from './fault-options.ts';

const NOTES = `
A fault lies over the drive and changes nothing that is stored; lifted, it is as if it had never
been. The drive is one that bf3 serve runs with --control.

Examples:
  $ bf3 fault kinds
  $ bf3 fault add --attach /tmp/bf3.ctl program-fail --die 3 --block 77 --times 1
  $ bf3 fault add --attach /tmp/bf3.ctl bit-errors --region journal --count 60 --probability 0.01
  $ bf3 fault check faults.json --drive vector-256
  $ bf3 fault add --attach /tmp/bf3.ctl --file faults.json
  $ bf3 fault report --attach /tmp/bf3.ctl
  $ bf3 fault lift --attach /tmp/bf3.ctl --all
`;

const ATTACH = ['--attach <socket>', 'control socket of bf3 serve'] as const;

/** Options of a fault as commander declares them; the values are judged together. */
const ADD_OPTIONS: readonly (readonly [string, string])[] = [
  ['--channel <range>', 'channels, one or first-last'],
  ['--die <range>', 'dies of the whole array'],
  ['--plane <range>', 'planes'],
  ['--block <range>', 'blocks of the die; the lowest bit is the plane'],
  ['--page <range>', 'pages of the block'],
  ['--slot <range>', '4 KiB slots of the page, or the slot of a descriptor'],
  ['--region <name>', 'what the page holds, or the DRAM region'],
  ['--op <name>', 'only read, program or erase'],
  ['--nth <number>', 'only the nth operation that fits'],
  ['--from <ordinal>', 'not before this event'],
  ['--to <ordinal>', 'not after this event'],
  ['--times <number>', 'how often, or "unlimited"'],
  ['--probability <number>', 'chance of each, 0 to 1'],
  ['--note <text>', 'for the report'],
  ['--count <number>', 'bit-errors: wrong bits of a codeword'],
  ['--factor <number>', 'slow-die: times as long'],
  ['--bit <number>', 'missing-dq-bit and flips: which bit'],
  ['--level <number>', 'missing-dq-bit: 0 or 1'],
  ['--to-block <number>', 'wrong-block: the block that is meant instead'],
  ['--fraction <number>', 'power-cut: part of the time that passes first'],
  ['--byte <number>', 'dram-flip: byte of the region'],
  ['--cell <number>', 'dram-flip: cell of the table'],
  ['--descriptor <number>', 'sram-flip: which descriptor'],
  ['--field <name>', 'sram-flip: which column'],
  ['--fis <type>', 'link-crc and lost-fis: only frames of this type'],
];

/** Adds the command to the program. */
export function register(program: Command): void {
  const fault = program
    .command('fault')
    .description('lay faults over a running drive, lift them, see which fired')
    .addHelpText('after', NOTES);
  registerAdd(fault);
  registerAsking(fault);
  fault
    .command('check')
    .argument('<file>', 'faults in JSON')
    .description('check a file of faults without a drive')
    .option('--drive <name>', 'also against the geometry of this drive')
    .option('--json', 'for programs')
    .action(async (file: string, options: CheckOptions) => {
      const { runCheck } = await import('./fault.ts');
      runCheck(file, options);
    });
  fault
    .command('kinds')
    .description('list the kinds of faults and what each may name')
    .option('--json', 'for programs')
    .action(async (options: { json?: boolean }) => {
      const { kindsText } = await import('./fault-table.ts');
      process.stdout.write(kindsText(options.json === true));
    });
}

function registerAdd(fault: Command): void {
  const add = fault
    .command('add')
    .argument('[kind]', 'see bf3 fault kinds')
    .description('add a fault, or all of a file')
    .option(...ATTACH)
    .option('--file <file>', 'faults in JSON')
    .option('--seed <text>', 'seed of the chances')
    .option('--json', 'for programs');
  for (const [flags, says] of ADD_OPTIONS) add.option(flags, says);
  add.action(async (kind: string | undefined, options: AddOptions & FaultOptions) => {
    const { runAdd } = await import('./fault.ts');
    await runAdd(kind, options);
  });
}

function registerAsking(fault: Command): void {
  fault
    .command('list')
    .description('list the faults')
    .option(...ATTACH)
    .option('--json', 'for programs')
    .action(async (options: AttachOptions) => {
      const { runList } = await import('./fault.ts');
      await runList(options);
    });
  fault
    .command('lift')
    .argument('[id...]', 'numbers of bf3 fault list')
    .description('take faults away')
    .option(...ATTACH)
    .option('--all', 'all of them')
    .option('--json', 'for programs')
    .action(async (ids: string[], options: LiftOptions) => {
      const { runLift } = await import('./fault.ts');
      await runLift(ids, options);
    });
  fault
    .command('report')
    .description('what became of the faults, and which never fired')
    .option(...ATTACH)
    .option('--json', 'for programs')
    .action(async (options: AttachOptions) => {
      const { runReport } = await import('./fault.ts');
      await runReport(options);
    });
}
