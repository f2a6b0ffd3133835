/**
 * `bf3 bench`: measures the emulator and compares it with its goals.
 */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { DRIVE_ENVIRONMENT } from '../cli/engine.ts';
import { UsageError } from '../errors.ts';
import type { Figures } from './median.ts';

const run = promisify(execFile);
const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));

/** What each figure should reach; `at` tells from which side. */
const GOALS: { [key: string]: { at: 'least' | 'most'; value: number; unit: string } } = {
  kernelEventsPerSecond: { at: 'least', value: 8e6, unit: 'events/s' },
  randomRead4kCommandsPerSecond: { at: 'least', value: 400e3, unit: 'commands/s' },
  randomWrite4kCommandsPerSecond: { at: 'least', value: 500e3, unit: 'commands/s' },
  steadyWrite4kCommandsPerSecond: { at: 'least', value: 200e3, unit: 'commands/s' },
  fill256Seconds: { at: 'most', value: 40, unit: 's' },
  rss256Bytes: { at: 'most', value: 1.5 * 2 ** 30, unit: 'bytes' },
  rss512Bytes: { at: 'most', value: 2.9 * 2 ** 30, unit: 'bytes' },
  stepBackMs: { at: 'most', value: 100, unit: 'ms' },
  millionEventsBackMs: { at: 'most', value: 5000, unit: 'ms' },
  recordingCostRatio: { at: 'most', value: 1.25, unit: 'x' },
  eccCleanMBPerSecond: { at: 'least', value: 250, unit: 'MB/s' },
  eccCorrect8Microseconds: { at: 'most', value: 60, unit: 'us' },
  countedReadRatio: { at: 'most', value: 1.05, unit: 'x' },
  imageOpenMs: { at: 'most', value: 1000, unit: 'ms' },
  imageWriteRatio: { at: 'most', value: 1.25, unit: 'x' },
  nbdIops4k: { at: 'least', value: 40e3, unit: 'IOPS' },
  nbdMBPerSecond128k: { at: 'least', value: 400, unit: 'MB/s' },
};

interface BenchOptions {
  json?: boolean;
  repeat: string;
  only?: string[];
}

export function register(program: Command): void {
  program
    .command('bench')
    .description('measure the emulator: speed, memory, going back, NBD, first calibration')
    .option('--json', 'one flat JSON object on standard output')
    .option('--repeat <n>', 'repetitions behind each median', '5')
    .option('--only <measure...>', 'run only these measures')
    .addHelpText('after', EXAMPLES)
    .action(async (options: BenchOptions) => {
      await bench(options);
    });
}

const EXAMPLES = `
Examples:
  $ bf3 bench                          everything, medians of 5; about ten minutes
  $ bf3 bench --only kernel random4k   two measures
  $ bf3 bench --repeat 1 --json        quick, for a machine
`;

async function bench(options: BenchOptions): Promise<void> {
  const repeat = Number(options.repeat);
  if (!Number.isInteger(repeat) || repeat < 1) {
    throw new UsageError(`--repeat is a whole number from 1, not '${options.repeat}'`);
  }
  const { MEASURES } = await import('./measures.ts');
  const nbd = { name: 'nbd', says: 'bf3 serve under qemu-img bench, real bytes' };
  const image = { name: 'image', says: 'opening 10 GB of flash; served writes with an image' };
  const all = [...MEASURES, nbd, image];
  const names = all.map((measure) => measure.name);
  for (const wanted of options.only ?? []) {
    if (!names.includes(wanted)) {
      throw new UsageError(`there is no measure '${wanted}'; they are ${names.join(', ')}`);
    }
  }
  const figures: Figures = {};
  for (const { name, says } of all) {
    if (options.only !== undefined && !options.only.includes(name)) continue;
    if (options.json !== true) process.stderr.write(`${name}: ${says}\n`);
    Object.assign(figures, await measured(name, repeat));
  }
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
    return;
  }
  await print(figures);
}

async function measured(name: string, repeat: number): Promise<Figures> {
  const env = { ...process.env, ...DRIVE_ENVIRONMENT };
  const { stdout } = await run(process.execPath, [CHILD, name, `${repeat}`], { env });
  return JSON.parse(stdout) as Figures;
}

interface Row {
  key: string;
  value: number;
  goal: string;
  margin: string;
  met: string;
}

const COLUMNS = [
  { key: 'figure', value: (row: Row) => row.key },
  { key: 'median', align: 'right', value: (row: Row) => format(row.value) },
  { key: 'goal', value: (row: Row) => row.goal },
  { key: 'margin', align: 'right', value: (row: Row) => row.margin },
  { key: 'met', value: (row: Row) => row.met },
] as const;

async function print(figures: Figures): Promise<void> {
  const { printTable } = await import('../cli/output.ts');
  printTable(Object.entries(figures).map(rowOf), COLUMNS);
}

/** Margin: how many times better than the goal. */
function rowOf([key, value]: [string, number]): Row {
  const goal = GOALS[key];
  if (goal === undefined) return { key, value, goal: '', margin: '', met: '' };
  const ratio = goal.at === 'least' ? value / goal.value : goal.value / value;
  const sign = goal.at === 'least' ? '>=' : '<=';
  return {
    ...{ key, value, margin: ratio.toFixed(2), met: ratio >= 1 ? 'yes' : 'NO' },
    goal: `${sign} ${format(goal.value)} ${goal.unit}`,
  };
}

function format(value: number): string {
  if (value >= 1e6) return Math.round(value).toLocaleString('en-US');
  return value >= 1000 ? value.toFixed(0) : value.toPrecision(4);
}
