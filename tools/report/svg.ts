/**
 * A run as one picture, `report.svg`: self-contained, no scripts, no fonts from elsewhere, and
 * the same bytes for the same run (so the wall clock does not appear in it).
 */
import {
  formatBandwidth,
  formatCompact,
  formatCount,
  formatDuration,
  formatPercent,
} from '../cli/format.ts';
import { FRAME_LINE, INK, MUTED_INK, PANEL, PAPER } from '../plot/palette.ts';
import { type Box, SvgWriter } from '../plot/svg.ts';
import {
  drawBootPanel,
  drawFlashPanel,
  drawIopsPanel,
  drawLatencyPanel,
  drawUtilisationPanel,
} from './panels.ts';
import { checkReport, perSecond, type RunReport, totalOperations } from './report.ts';

const WIDTH = 1200;
const MARGIN = 32;
const GAP = 20;
const INNER = WIDTH - 2 * MARGIN;

const STYLE = [
  'text{font-family:"Helvetica Neue",Helvetica,Arial,"DejaVu Sans",sans-serif;',
  'font-variant-numeric:tabular-nums}',
  `.axis text{font-size:12px;fill:${MUTED_INK}}`,
  `.label{font-size:12.5px;fill:${INK}}`,
  `.head{font-size:12px;fill:${MUTED_INK}}`,
  `.panel{font-size:15px;font-weight:bold;fill:${INK}}`,
  `.note{font-size:13px;fill:${MUTED_INK}}`,
  `.big{font-size:25px;font-weight:bold;fill:${INK}}`,
].join('');

/** What goes into one panel. */
interface Panel {
  readonly title: string;
  readonly box: Box;
  draw(svg: SvgWriter, box: Box, report: RunReport): void;
}

/**
 * The picture as SVG text.
 * @throws RunError when the report contradicts itself
 */
export function renderSvg(report: RunReport): string {
  checkReport(report);
  const panels = layOut(report);
  const height = Math.max(...panels.map(({ box }) => box.y + box.height)) + MARGIN;
  const svg = new SvgWriter({
    width: WIDTH,
    height,
    title: `${report.drive}: ${report.title}`,
    description: describe(report),
    style: STYLE,
  });
  svg.rect({ x: 0, y: 0, width: WIDTH, height }, { fill: PAPER });
  drawHeading(svg, report);
  drawHeadlines(svg, { x: MARGIN, y: 100, width: INNER, height: 84 }, report);
  for (const { title, box, draw } of panels) {
    svg.group({}, () => {
      svg.rect(box, { fill: PANEL, stroke: FRAME_LINE, rx: 6 });
      svg.text(box.x + 20, box.y + 29, title, { class: 'panel' });
      draw(svg, inside(box), report);
    });
  }
  return svg.toString();
}

/** Three rows: the whole width, two thirds and one third, a half and a half. */
function layOut(report: RunReport): Panel[] {
  const wide = 700;
  const narrow = INNER - wide - GAP;
  const half = (INNER - GAP) / 2;
  const second = 204 + 300 + GAP;
  const buses = report.utilisation.channels.length;
  const tall = Math.max(390, 42 + 26 * (buses + 3) + 50 + (report.utilisation.dies ? 96 : 0));
  const third = second + tall + GAP;
  const lanes = Math.max(210, 62 + 24 * report.boot.length + 42);
  const right = MARGIN + wide + GAP;
  return [
    {
      title: 'Operations over time',
      box: { x: MARGIN, y: 204, width: INNER, height: 300 },
      draw: drawIopsPanel,
    },
    {
      title: 'Latency',
      box: { x: MARGIN, y: second, width: wide, height: tall },
      draw: drawLatencyPanel,
    },
    {
      title: 'Busy',
      box: { x: right, y: second, width: narrow, height: tall },
      draw: drawUtilisationPanel,
    },
    {
      title: 'Flash',
      box: { x: MARGIN, y: third, width: half, height: lanes },
      draw: drawFlashPanel,
    },
    {
      title: 'From power to ready',
      box: { x: MARGIN + half + GAP, y: third, width: half, height: lanes },
      draw: drawBootPanel,
    },
  ];
}

function inside(box: Box): Box {
  return { x: box.x + 20, y: box.y + 46, width: box.width - 40, height: box.height - 62 };
}

function drawHeading(svg: SvgWriter, report: RunReport): void {
  svg.text(MARGIN, 52, shorten(report.drive, 55), { class: 'big' });
  svg.text(MARGIN, 78, shorten(report.title, 140), { class: 'note', 'font-size': 15 });
  const time = `${formatDuration(report.simulatedNs)} of simulated time`;
  svg.text(WIDTH - MARGIN, 52, time, { class: 'note', 'text-anchor': 'end' });
}

/** Text is not measured here: a wide letter is about as wide as the limit allows for. */
function shorten(text: string, letters: number): string {
  const all = [...text];
  return all.length <= letters ? text : `${all.slice(0, letters - 1).join('')}…`;
}

interface Headline {
  readonly value: string;
  readonly name: string;
}

function headlines(report: RunReport): Headline[] {
  const { read, write } = report.kinds;
  const { reads, mismatches } = report.verification;
  const moved = perSecond(read.bytes + write.bytes, report.simulatedNs);
  const factor = report.writeAmplification;
  const all = perSecond(totalOperations(report), report.simulatedNs);
  const timed = write.latency.count > read.latency.count ? 'write' : 'read';
  const tail = report.kinds[timed].latency.percentile(99);
  return [
    { value: formatCompact(Math.round(all)), name: 'operations a second' },
    { value: formatBandwidth(moved), name: 'read and written' },
    { value: formatDuration(tail), name: `99 % of ${timed}s are faster` },
    { value: factor === null ? 'none' : factor.toFixed(2), name: 'write amplification' },
    mismatches > 0
      ? { value: formatCount(mismatches), name: `wrong of ${formatCount(reads)} verified reads` }
      : { value: formatCompact(reads), name: `reads verified${reads > 0 ? ', none wrong' : ''}` },
  ];
}

function drawHeadlines(svg: SvgWriter, box: Box, report: RunReport): void {
  const cards = headlines(report);
  const width = (box.width - GAP * (cards.length - 1)) / cards.length;
  cards.forEach(({ value, name }, index) => {
    const x = box.x + index * (width + GAP);
    svg.rect({ ...box, x, width }, { fill: PANEL, stroke: FRAME_LINE, rx: 6 });
    svg.text(x + 20, box.y + 40, value, { class: 'big' });
    svg.text(x + 20, box.y + 65, name, { class: 'note' });
  });
}

/** The picture in words. */
function describe(report: RunReport): string {
  const numbers = headlines(report).map(({ value, name }) => `${value} ${name}`);
  const { channels } = report.utilisation;
  const mean = channels.reduce((sum, fraction) => sum + fraction, 0) / channels.length;
  const buses =
    channels.length > 0 ? ` The channels are busy ${formatPercent(mean)} of the time.` : '';
  return `In ${formatDuration(report.simulatedNs)}: ${numbers.join('; ')}.${buses}`;
}
