/** A run on one screen: what the drive did, how fast, where it was busy, and what it cost. */
import {
  formatBandwidth,
  formatBytes,
  formatCompact,
  formatCount,
  formatDuration,
  formatIops,
  formatPercent,
} from '../cli/format.ts';
import { type Colours, coloursFor } from '../cli/terminal.ts';
import { bar, labelled, meter, resample, rule, sparkline } from './glyphs.ts';
import type { LatencyHistogram } from './histogram.ts';
import { checkReport, type OperationKind, perSecond, type RunReport, usedKinds } from './report.ts';

export interface ScreenOptions {
  /** Columns to fill, 80 to 100. */
  readonly width?: number;
  readonly colour?: boolean;
}

const PERCENTILES = [50, 90, 99, 99.9, 99.99] as const;
const INDENT = '  ';

export interface Pen {
  readonly width: number;
  readonly colours: Colours;
}

/**
 * The report as text, with a line feed at its end. No line is wider than `width`.
 * @throws RunError when the report contradicts itself
 */
export function renderScreen(report: RunReport, options: ScreenOptions = {}): string {
  checkReport(report);
  const width = Math.min(100, Math.max(80, options.width ?? 100));
  const pen: Pen = { width, colours: coloursFor(options.colour ?? false) };
  const sections = [
    heading(report, pen),
    section('Boot', boot(report, pen), pen),
    section('Host', host(report, pen), pen),
    section('Latency', latency(report, pen), pen),
    section('Channels', channels(report, pen), pen),
    section('Controller', controller(report, pen), pen),
    section('Flash', flash(report, pen), pen),
    verdict(report, pen),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map(joinLines)
    .join('\n\n')}\n`;
}

export function joinLines(lines: readonly string[]): string {
  return lines.map((line) => line.trimEnd()).join('\n');
}

export function section(title: string, lines: readonly string[], pen: Pen): string[] {
  if (lines.length === 0) return [];
  const { colours } = pen;
  const tail = colours.dim(rule(pen.width - title.length - 1));
  return [`${colours.bold(title)} ${tail}`, ...lines.map((line) => `${INDENT}${line}`)];
}

function heading(report: RunReport, pen: Pen): string[] {
  const { colours } = pen;
  const simulated = `${formatDuration(report.simulatedNs)} simulated`;
  const times = report.simulatedNs / 1e9 / report.wallSeconds;
  const speed = times >= 10 ? times.toFixed(0) : times.toFixed(times >= 1 ? 1 : 3);
  const wall =
    report.wallSeconds > 0
      ? ` in ${formatDuration(report.wallSeconds * 1e9)}: ${speed} x real time`
      : '';
  return [
    `${colours.bold(clip(report.drive, pen.width))}`,
    clip(report.title, pen.width),
    colours.dim(`${simulated}${wall}`),
  ];
}

export function boot(report: RunReport, pen: Pen): string[] {
  const totalNs = report.boot.reduce((sum, phase) => sum + phase.durationNs, 0);
  if (totalNs === 0) return [];
  const names = Math.min(28, Math.max(...report.boot.map(({ name }) => name.length), 5));
  const cells = pen.width - INDENT.length - names - 24;
  let startNs = 0;
  const lines = report.boot.map(({ name, durationNs }) => {
    const from = Math.min(cells - 1, Math.floor((startNs / totalNs) * cells));
    const until = Math.max(from + 1, Math.round(((startNs + durationNs) / totalNs) * cells));
    startNs += durationNs;
    const lane = ' '.repeat(from) + pen.colours.cyan('━'.repeat(until - from));
    const at = formatDuration(startNs).padStart(10);
    return `${fixed(name, names)}${formatDuration(durationNs).padStart(10)}${at}  ${lane}`;
  });
  return [
    pen.colours.dim(`${fixed('', names)}${'takes'.padStart(10)}${'until'.padStart(10)}`),
    ...lines,
  ];
}

function host(report: RunReport, pen: Pen): string[] {
  const used = usedKinds(report);
  if (used.length === 0) return [pen.colours.dim('no commands')];
  return used.map((kind) => {
    const { operations, bytes } = report.kinds[kind];
    const numbers = [
      formatCount(operations).padStart(12),
      (kind === 'flush' ? '' : formatBytes(bytes)).padStart(9),
      formatIops(perSecond(operations, report.simulatedNs)).padStart(12),
      moves(kind) ? formatBandwidth(perSecond(bytes, report.simulatedNs)).padStart(11) : '',
    ];
    const text = `${fixed(kind, 6)}${numbers.join('')}`.padEnd(50).concat('  ');
    const cells = pen.width - INDENT.length - text.length;
    const { points, peak } = shape(report.series[kind], cells - 11);
    return `${text}${paint(kind, sparkline(points), pen)} ${pen.colours.dim(peak)}`;
  });
}

/** Whether a kind carries data: a trim's bytes never cross the link. */
function moves(kind: OperationKind): boolean {
  return kind === 'read' || kind === 'write';
}

function shape(iops: Float64Array, cells: number): { points: number[]; peak: string } {
  const points = resample(iops, cells);
  const peak = points.reduce((most, value) => Math.max(most, value), 0);
  return { points, peak: points.length > 0 ? `max ${formatCompact(Math.round(peak))}` : '' };
}

function latency(report: RunReport, pen: Pen): string[] {
  const timed = usedKinds(report).filter((kind) => report.kinds[kind].latency.count > 0);
  if (timed.length === 0) return [];
  const headings = ['min', ...PERCENTILES.map((percent) => `${percent} %`), 'max', 'mean'];
  const line = (name: string, cells: readonly string[]): string =>
    `${fixed(name, 6)}${cells.map((cell) => cell.padStart(9)).join('')}`;
  return [
    pen.colours.dim(line('', headings)),
    ...timed.map((kind) => line(kind, latencyCells(report.kinds[kind].latency))),
  ];
}

function latencyCells(histogram: LatencyHistogram): string[] {
  const times = [
    histogram.minNs,
    ...PERCENTILES.map((percent) => histogram.percentile(percent)),
    histogram.maxNs,
    histogram.meanNs,
  ];
  return times.map((ns) => formatDuration(ns < 1000 ? Math.round(ns) : ns));
}

function channels(report: RunReport, pen: Pen): string[] {
  const busy = [...report.utilisation.channels];
  if (busy.length === 0) return [];
  const rows = Math.ceil(busy.length / 2);
  const half = Math.floor((pen.width - INDENT.length - 4) / 2);
  const one = (index: number): string =>
    labelled(`${index}`.padStart(2), busy[index]!, half, pen.colours.green);
  const lines: string[] = [];
  for (let row = 0; row < rows; row += 1) {
    const right = row + rows < busy.length ? `    ${one(row + rows)}` : '';
    lines.push(`${one(row)}${right}`);
  }
  const dies = report.utilisation.dies;
  if (dies !== undefined && dies.length > 0) {
    const text = meter([...dies].slice(0, pen.width - 10)).trimEnd();
    lines.push(`dies  ${pen.colours.green(text)}`);
  }
  return lines;
}

function controller(report: RunReport, pen: Pen): string[] {
  const { arm, aragon, link } = report.utilisation;
  const width = pen.width - INDENT.length;
  const row = (name: string, fraction: number): string =>
    labelled(name.padEnd(9), fraction, width, pen.colours.magenta);
  return [row('ARM', arm), row('Aragon', aragon), row('SATA link', link)];
}

export function flash(report: RunReport, pen: Pen): string[] {
  const { reads, programs, erases, gcMovedSlots } = report.nand;
  const factor = report.writeAmplification;
  const pairs: [string, string][] = [
    ['page reads', formatCount(reads)],
    ['page programs', formatCount(programs)],
    ['block erases', formatCount(erases)],
    ['GC moved slots', formatCount(gcMovedSlots)],
    ['write amplification', factor === null ? 'no host writes' : factor.toFixed(2)],
  ];
  const { sectors, validSlotsBefore, validSlotsAfter } = report.trim;
  if (sectors > 0) {
    const change = validSlotsBefore - validSlotsAfter;
    const freed = validSlotsBefore > 0 ? ` (-${formatPercent(change / validSlotsBefore)})` : '';
    pairs.push(['trimmed sectors', formatCount(sectors)]);
    const slots = `${formatCount(validSlotsBefore)} -> ${formatCount(validSlotsAfter)}`;
    pairs.push(['valid slots', `${slots}${change > 0 ? freed : ''}`]);
  }
  const most = Math.max(reads, programs, erases, gcMovedSlots);
  const cells = pen.width - INDENT.length - 40;
  const counts = [reads, programs, erases, gcMovedSlots];
  return pairs.map(([name, value], index) => {
    const count = counts[index];
    const line = `${fixed(name, 20)}${value.padStart(15)}`;
    if (count === undefined || most === 0) return line;
    return `${line}  ${pen.colours.yellow(bar(count / most, cells).trimEnd())}`;
  });
}

function verdict(report: RunReport, pen: Pen): string[] {
  const { reads, mismatches } = report.verification;
  if (mismatches > 0) {
    const text = `✗ ${formatCount(mismatches)} of ${formatCount(reads)} verified reads were wrong`;
    return [pen.colours.red(pen.colours.bold(text))];
  }
  if (reads === 0) return [];
  return [pen.colours.green(`✓ ${formatCount(reads)} reads verified, all as last written`)];
}

export function paint(kind: OperationKind, text: string, pen: Pen): string {
  const { cyan, yellow, magenta, green } = pen.colours;
  return { read: cyan, write: yellow, trim: magenta, flush: green }[kind](text);
}

/** Exactly `width` columns: cut or filled. */
export function fixed(text: string, width: number): string {
  return clip(text, width).padEnd(width);
}

export function clip(text: string, width: number): string {
  const letters = [...text.replace(/\p{Cc}/gu, ' ')];
  return letters.length <= width ? letters.join('') : `${letters.slice(0, width - 1).join('')}…`;
}
