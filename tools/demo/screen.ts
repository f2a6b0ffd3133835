/** The demo on one screen: two runs side by side, what they show, and where to go from there. */
import {
  formatBytes,
  formatCompact,
  formatCount,
  formatDuration,
  formatPercent,
} from '../cli/format.ts';
import { coloursFor } from '../cli/terminal.ts';
import { bar, meter, resample, sparkline } from '../report/glyphs.ts';
import type { LatencyHistogram } from '../report/histogram.ts';
import {
  type OperationKind,
  perSecond,
  type RunReport,
  totalOperations,
  usedKinds,
} from '../report/report.ts';
import { boot, clip, fixed, flash, joinLines, type Pen, paint, section } from '../report/screen.ts';

export interface DemoScreenOptions {
  /** Columns to fill, 80 to 100. */
  readonly width: number;
  readonly colour: boolean;
  /** Where the picture is. */
  readonly output: string;
}

const INDENT = 2;
/** Columns of the names and counts in front of the two runs. */
const NAME_CELLS = 21;
const VALUE_CELLS = 9;

const STORY = 'A Linux guest formats, writes, syncs and trims, then reads with 32 threads';
const HINTS: readonly (readonly [string, string])[] = [
  ['bf3 serve', 'attach this drive as a real block device'],
  ['bf3 debug', 'step through its firmware, forwards and backwards'],
  ['bf3 dump', 'look into its tables: map, block table, queues, SMART'],
  ['bf3 replay <file>', 'play a trace of your own'],
];

/** The screen as text, with a line feed at its end; no line is wider than `width`. */
export function renderDemo(
  recorded: RunReport,
  flatOut: RunReport,
  options: DemoScreenOptions,
): string {
  const width = Math.min(100, Math.max(80, options.width));
  const pen: Pen = { width, colours: coloursFor(options.colour) };
  const runs = [recorded, flatOut];
  const sections = [
    heading(runs, pen),
    section('Boot', boot(flatOut, pen), pen),
    section('Host', host(runs, pen), pen),
    section('Latency', latency(runs, pen), pen),
    section('Busy', busy(runs, pen), pen),
    section('Flash', flash(flatOut, pen), pen),
    [...verdict(runs, pen), ...hints(options.output, pen)],
  ];
  return `${sections.map(joinLines).join('\n\n')}\n`;
}

/** Columns of one run. */
function half(pen: Pen): number {
  return Math.floor((pen.width - INDENT - NAME_CELLS) / 2);
}

/** A name, then a cell of the same width for each run. */
function row(name: string, cells: readonly string[]): string {
  return `${fixed(name, NAME_CELLS)}${cells.join('')}`;
}

function heading(runs: readonly RunReport[], pen: Pen): string[] {
  const simulatedNs = runs.reduce((sum, run) => sum + run.simulatedNs, 0);
  const wallSeconds = runs.reduce((sum, run) => sum + run.wallSeconds, 0);
  const count = formatCount(totalOperations(runs[0]!));
  const times = `${formatDuration(simulatedNs)} simulated in ${formatDuration(wallSeconds * 1e9)}`;
  return [
    pen.colours.bold(clip(runs[0]!.drive, pen.width)),
    clip(STORY, pen.width),
    pen.colours.dim(clip(`${count} recorded commands on two new drives: ${times}`, pen.width)),
  ];
}

function host(runs: readonly RunReport[], pen: Pen): string[] {
  const names = ['recorded pace', 'flat out'];
  const titles = runs.map((run, index) => {
    const title = `${names[index]}: ${formatDuration(run.simulatedNs)}`;
    return fixed(`   ${title}`, half(pen));
  });
  const kinds = usedKinds(runs[0]!);
  return [
    pen.colours.dim(row('', titles)),
    ...kinds.map((kind) => {
      const { operations, bytes } = runs[0]!.kinds[kind];
      const size = kind === 'flush' ? '' : formatBytes(bytes);
      const name = `${fixed(kind, 6)}${formatCount(operations).padStart(6)}${size.padStart(9)}`;
      return row(
        name,
        runs.map((run) => rate(run, kind, pen)),
      );
    }),
  ];
}

function rate(run: RunReport, kind: OperationKind, pen: Pen): string {
  const iops = formatCompact(perSecond(run.kinds[kind].operations, run.simulatedNs));
  const text = `${iops.padStart(8)} IOPS `;
  const cells = half(pen) - text.length;
  const line = sparkline(resample(run.series[kind], cells)).padEnd(cells);
  return `${text}${paint(kind, line, pen)}`;
}

function latency(runs: readonly RunReport[], pen: Pen): string[] {
  const all: readonly (readonly [string, (times: LatencyHistogram) => number])[] = [
    ['50 %', (times) => times.percentile(50)],
    ['90 %', (times) => times.percentile(90)],
    ['99 %', (times) => times.percentile(99)],
    ['max', (times) => times.maxNs],
  ];
  const columns = all.length * VALUE_CELLS <= half(pen) ? all : all.filter((_, i) => i !== 1);
  const cell = (texts: readonly string[]): string =>
    fixed(texts.map((text) => text.padStart(VALUE_CELLS)).join(''), half(pen));
  const titles = cell(columns.map(([title]) => title));
  return [
    pen.colours.dim(row('', [titles, titles])),
    ...usedKinds(runs[0]!).map((kind) => {
      const cells = runs.map(({ kinds }) =>
        cell(columns.map(([, value]) => formatDuration(value(kinds[kind].latency)))),
      );
      return row(kind, cells);
    }),
  ];
}

function busy(runs: readonly RunReport[], pen: Pen): string[] {
  const cells = half(pen) - VALUE_CELLS - 3;
  const share = (fraction: number): string => formatPercent(fraction).padStart(VALUE_CELLS);
  const many = (fractions: Float64Array): string => {
    const mean = fractions.reduce((sum, fraction) => sum + fraction, 0) / fractions.length;
    const text = meter(resample(fractions, cells)).padEnd(cells);
    return `   ${pen.colours.green(text)}${share(mean)}`;
  };
  const one = (fraction: number): string =>
    `   ${pen.colours.magenta(bar(fraction, cells))}${share(fraction)}`;
  const of = (value: (run: RunReport) => string): string[] => runs.map(value);
  const { channels, dies } = runs[0]!.utilisation;
  return [
    row(
      `${channels.length} channels`,
      of(({ utilisation }) => many(utilisation.channels)),
    ),
    row(
      `${dies!.length} dies`,
      of(({ utilisation }) => many(utilisation.dies!)),
    ),
    row(
      'ARM',
      of(({ utilisation }) => one(utilisation.arm)),
    ),
    row(
      'Aragon',
      of(({ utilisation }) => one(utilisation.aragon)),
    ),
    row(
      'SATA link',
      of(({ utilisation }) => one(utilisation.link)),
    ),
  ].map((line) => line.trimEnd());
}

function verdict(runs: readonly RunReport[], pen: Pen): string[] {
  const { red, green, bold } = pen.colours;
  const reads = formatCount(runs.reduce((sum, run) => sum + run.verification.reads, 0));
  const wrong = runs.reduce((sum, run) => sum + run.verification.mismatches, 0);
  if (wrong > 0)
    return [red(bold(`✗ ${formatCount(wrong)} of ${reads} verified reads were wrong`))];
  return [green(`✓ ${reads} reads verified sector by sector, all as last written`)];
}

function hints(output: string, pen: Pen): string[] {
  const widest = Math.max(...HINTS.map(([command]) => command.length));
  return [
    clip(`  The flat-out run as a picture: ${output}`, pen.width),
    '',
    pen.colours.dim('Next:'),
    ...HINTS.map(([command, says]) => `  ${command.padEnd(widest)}  ${pen.colours.dim(says)}`),
  ];
}
