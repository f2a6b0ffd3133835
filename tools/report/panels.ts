/** The panels of the report picture: each fills the box that it is given. */
import { formatCompact, formatCount, formatDuration, formatPercent } from '../cli/format.ts';
import { drawLegend, drawXAxis, drawYAxis } from '../plot/axes.ts';
import {
  type BarRow,
  drawArea,
  drawBars,
  drawHeatmap,
  drawHistogram,
  drawLanes,
  drawLine,
  drawTextTable,
  type HistogramBin,
  type Point,
  type RowLayout,
} from '../plot/marks.ts';
import {
  BLUE,
  GREEN,
  PURPLE,
  SERIES_STYLES,
  type SeriesStyle,
  VERMILION,
} from '../plot/palette.ts';
import { linearScale, logScale, niceCeiling } from '../plot/scale.ts';
import type { Box, SvgWriter } from '../plot/svg.ts';
import { resample } from './glyphs.ts';
import type { LatencyHistogram } from './histogram.ts';
import { OPERATION_KINDS, type OperationKind, type RunReport, usedKinds } from './report.ts';

/** Bins a power of ten in the latency panel. */
const BINS_PER_DECADE = 20;
/** Points of a line: more than that are closer than a pixel or two. */
const LINE_POINTS = 420;

/** A kind keeps its colour whichever other kinds a run has. */
function styleOf(kind: OperationKind): SeriesStyle {
  return SERIES_STYLES[OPERATION_KINDS.indexOf(kind)]!;
}

function drawKindLegend(svg: SvgWriter, box: Box, kinds: readonly OperationKind[]): void {
  const entries = kinds.map((kind) => ({ name: kind, style: styleOf(kind) }));
  drawLegend(svg, box.x + box.width, box.y - 17, entries);
}

function drawNothing(svg: SvgWriter, box: Box, text: string): void {
  svg.text(box.x, box.y + 14, text, { class: 'note' });
}

/** IOPS of every kind against simulated time. */
export function drawIopsPanel(svg: SvgWriter, box: Box, report: RunReport): void {
  const kinds = usedKinds(report).filter((kind) => report.series[kind].length > 0);
  if (kinds.length === 0) {
    drawNothing(svg, box, 'The host sent no commands.');
    return;
  }
  const columns = kinds.map((kind) => resample(report.series[kind], LINE_POINTS));
  const peak = columns.flat().reduce((most, value) => Math.max(most, value), 0);
  const buckets = report.series[kinds[0]!].length;
  const endNs = report.simulatedNs > 0 ? report.simulatedNs : buckets * report.series.bucketNs;
  const unit = timeUnit(endNs);
  const plot = { x: box.x + 48, y: box.y + 22, width: box.width - 54, height: box.height - 64 };
  const axes = {
    x: linearScale([0, endNs / unit.ns], [plot.x, plot.x + plot.width], 10),
    y: linearScale([0, niceCeiling(peak)], [plot.y + plot.height, plot.y]),
  };
  drawKindLegend(svg, box, kinds);
  drawYAxis(svg, plot, axes.y, { label: 'IOPS', format: shortCompact });
  drawXAxis(svg, plot, axes.x, { label: `simulated time, ${unit.name}`, format: String });
  kinds.forEach((kind, index) => {
    const width = (buckets * report.series.bucketNs) / columns[index]!.length / unit.ns;
    const points = columns[index]!.map((iops, at): Point => [(at + 0.5) * width, iops]);
    drawArea(svg, points, axes, styleOf(kind), 0.08);
    drawLine(svg, points, axes, styleOf(kind));
  });
}

function timeUnit(endNs: number): { name: string; ns: number } {
  if (endNs >= 1e9) return { name: 's', ns: 1e9 };
  return endNs >= 1e6 ? { name: 'ms', ns: 1e6 } : { name: 'us', ns: 1e3 };
}

/** How the latencies of each kind are spread, and their percentiles underneath. */
export function drawLatencyPanel(svg: SvgWriter, box: Box, report: RunReport): void {
  const kinds = usedKinds(report).filter((kind) => report.kinds[kind].latency.count > 0);
  if (kinds.length === 0) {
    drawNothing(svg, box, 'No command was timed.');
    return;
  }
  const tableHeight = 24 * (kinds.length + 1);
  const plotHeight = box.height - tableHeight - 66;
  const plot = { x: box.x + 48, y: box.y + 22, width: box.width - 54, height: plotHeight };
  const histograms = kinds.map((kind) => report.kinds[kind].latency);
  const lowest = Math.min(...histograms.map((histogram) => Math.max(1, histogram.minNs)));
  const highest = Math.max(...histograms.map((histogram) => histogram.maxNs));
  const firstBin = Math.floor(Math.log10(lowest) * BINS_PER_DECADE) - 1;
  const lastBin = Math.floor(Math.log10(Math.max(lowest, highest)) * BINS_PER_DECADE) + 2;
  const bins = histograms.map((histogram) => logarithmicBins(histogram, firstBin, lastBin));
  const peak = bins.flat().reduce((most, { value }) => Math.max(most, value), 0);
  const axes = {
    x: logScale([binEdge(firstBin), binEdge(lastBin)], [plot.x, plot.x + plot.width]),
    y: linearScale([0, niceCeiling(peak, 4)], [plot.y + plot.height, plot.y], 4),
  };
  drawKindLegend(svg, box, kinds);
  const share = `share of its kind, % in each ${BINS_PER_DECADE}th of a decade`;
  drawYAxis(svg, plot, axes.y, { label: share, format: String });
  drawXAxis(svg, plot, axes.x, { format: shortDuration, grid: true });
  kinds.forEach((kind, index) => {
    drawHistogram(svg, withoutEmptyEnds(bins[index]!), axes, styleOf(kind));
  });
  const table = { ...box, y: box.y + box.height - tableHeight, height: tableHeight };
  drawPercentiles(svg, table, kinds, report);
}

/** A tick of the IOPS axis: `80k`, `2.5k`. */
function shortCompact(value: number): string {
  return formatCompact(value)
    .replace(/(\.\d*?)0+(?=\D|$)/, '$1')
    .replace(/\.(?=\D|$)/, '');
}

/** A tick of the logarithmic time axis: `100 us`. */
function shortDuration(ns: number): string {
  return formatDuration(ns).replace(/\.0+(?= )/, '');
}

function binEdge(bin: number): number {
  return 10 ** (bin / BINS_PER_DECADE);
}

/** Percentages a bin; a bucket that lies across an edge is shared out by its width. */
function logarithmicBins(
  histogram: LatencyHistogram,
  firstBin: number,
  lastBin: number,
): HistogramBin[] {
  const counts = new Float64Array(lastBin - firstBin);
  for (const { fromNs, toNs, count } of histogram.buckets()) {
    const width = toNs + 1 - fromNs;
    let start = fromNs;
    let bin = Math.max(firstBin, Math.floor(Math.log10(Math.max(1, start)) * BINS_PER_DECADE));
    while (start < toNs + 1 && bin < lastBin) {
      const end = bin === lastBin - 1 ? toNs + 1 : Math.min(toNs + 1, binEdge(bin + 1));
      if (end > start) {
        counts[bin - firstBin] = counts[bin - firstBin]! + (count * (end - start)) / width;
        start = end;
      }
      bin += 1;
    }
  }
  return Array.from(counts, (count, index) => ({
    from: binEdge(firstBin + index),
    to: binEdge(firstBin + index + 1),
    value: (count * 100) / histogram.count,
  }));
}

function withoutEmptyEnds(bins: readonly HistogramBin[]): HistogramBin[] {
  const filled = (bin: HistogramBin): boolean => bin.value > 0;
  return bins.slice(bins.findIndex(filled), bins.findLastIndex(filled) + 1);
}

function drawPercentiles(
  svg: SvgWriter,
  box: Box,
  kinds: readonly OperationKind[],
  report: RunReport,
): void {
  const percentiles = [50, 90, 99, 99.9, 99.99];
  const rows = kinds.map((kind) => {
    const { latency } = report.kinds[kind];
    const times = [...percentiles.map((percent) => latency.percentile(percent)), latency.maxNs];
    return [kind, ...times.map(formatDuration)];
  });
  const heading = ['', ...percentiles.map((percent) => `${percent} %`), 'max'];
  const ends = heading.map((_, index) => 48 + (index * (box.width - 54)) / (heading.length - 1));
  drawTextTable(svg, box, [heading, ...rows], ends, 24);
}

const BUSY_ROWS: RowLayout = { nameWidth: 84, textWidth: 64, rowHeight: 26, barHeight: 14 };

/** Channels, cores and link: how much of the time each was in use; dies as a heat map. */
export function drawUtilisationPanel(svg: SvgWriter, box: Box, report: RunReport): void {
  const { channels, dies, arm, aragon, link } = report.utilisation;
  const row = (name: string, fraction: number, colour: string): BarRow => ({
    name,
    fraction,
    text: formatPercent(fraction),
    colour,
  });
  const rows = [
    ...Array.from(channels, (fraction, index) => row(`channel ${index}`, fraction, BLUE)),
    row('ARM', arm, PURPLE),
    row('Aragon', aragon, PURPLE),
    row('SATA link', link, GREEN),
  ];
  drawBars(svg, box, rows, BUSY_ROWS);
  if (dies === undefined || dies.length === 0) return;
  const y = box.y + rows.length * BUSY_ROWS.rowHeight + 14;
  const across = channels.length > 0 ? Math.ceil(dies.length / channels.length) : 8;
  // Channels across and dies down: the picture is wider than it is high.
  const columns = Math.max(1, Math.ceil(dies.length / across));
  const turned = Array.from({ length: columns * across }, (_, cell) => {
    const channel = cell % columns;
    return dies[channel * across + Math.floor(cell / columns)] ?? 0;
  });
  const left = BUSY_ROWS.nameWidth;
  const height = box.y + box.height - y;
  svg.text(box.x, y + 14, 'dies', { class: 'label' });
  svg.text(box.x, y + 31, 'by channel,', { class: 'head' });
  svg.text(box.x, y + 47, '% busy', { class: 'head' });
  const map = { x: box.x + left, y, width: box.width - left, height };
  drawHeatmap(svg, map, turned, columns, (fraction) => (fraction * 100).toFixed(0));
}

const FLASH_ROWS: RowLayout = { nameWidth: 130, textWidth: 110, rowHeight: 28, barHeight: 14 };

/** NAND operations and copying, on one scale; what trims did. */
export function drawFlashPanel(svg: SvgWriter, box: Box, report: RunReport): void {
  const { reads, programs, erases, gcMovedSlots } = report.nand;
  const most = Math.max(1, reads, programs, erases, gcMovedSlots);
  const row = (name: string, count: number, colour: string): BarRow => ({
    name,
    fraction: count / most,
    text: formatCount(count),
    colour,
  });
  const rows = [
    row('page reads', reads, BLUE),
    row('page programs', programs, VERMILION),
    row('block erases', erases, PURPLE),
    row('GC moved slots', gcMovedSlots, GREEN),
  ];
  drawBars(svg, box, rows, FLASH_ROWS);
  const { sectors, validSlotsBefore, validSlotsAfter } = report.trim;
  if (sectors === 0) return;
  const change = `${formatCount(validSlotsBefore)} to ${formatCount(validSlotsAfter)}`;
  const text = `${formatCount(sectors)} sectors trimmed: valid slots from ${change}`;
  svg.text(box.x, box.y + rows.length * FLASH_ROWS.rowHeight + 22, text, { class: 'note' });
}

const BOOT_ROWS: RowLayout = { nameWidth: 150, textWidth: 80, rowHeight: 24, barHeight: 12 };

/** The boot phases, one after the other. */
export function drawBootPanel(svg: SvgWriter, box: Box, report: RunReport): void {
  const totalNs = report.boot.reduce((sum, phase) => sum + phase.durationNs, 0);
  if (totalNs === 0) {
    drawNothing(svg, box, 'The drive was ready from the start.');
    return;
  }
  const unit = timeUnit(totalNs);
  const left = box.x + BOOT_ROWS.nameWidth;
  const right = box.x + box.width - BOOT_ROWS.textWidth;
  const scale = linearScale([0, totalNs / unit.ns], [left, right], 6);
  let startNs = 0;
  const lanes = report.boot.map(({ name, durationNs }) => {
    const from = startNs / unit.ns;
    startNs += durationNs;
    const text = formatDuration(durationNs);
    return { name, text, from, to: startNs / unit.ns, colour: BLUE };
  });
  const height = lanes.length * BOOT_ROWS.rowHeight;
  drawLanes(svg, { ...box, height }, lanes, scale, BOOT_ROWS);
  const under = { x: left, y: box.y, width: right - left, height: height + 6 };
  drawXAxis(svg, under, scale, { format: (value) => `${value} ${unit.name}` });
}
