/** What stands inside the axes: lines, areas, points, bars, histograms, lanes, heat maps. */
import { GRID, heatColour, heatInk, INK, PANEL, type SeriesStyle, TRACK } from './palette.ts';
import type { Scale } from './scale.ts';
import { type Box, polyline, type SvgWriter } from './svg.ts';

export type Point = readonly [x: number, y: number];

/** The axes that a mark is drawn against. */
export interface Axes {
  readonly x: Scale;
  readonly y: Scale;
}

function pixels(points: readonly Point[], axes: Axes): Point[] {
  return points.map(([x, y]) => [axes.x.at(x), axes.y.at(y)]);
}

/** A line through the points. */
export function drawLine(
  svg: SvgWriter,
  points: readonly Point[],
  axes: Axes,
  style: SeriesStyle,
): void {
  if (points.length === 0) return;
  svg.path(polyline(pixels(points, axes)), {
    fill: 'none',
    stroke: style.colour,
    'stroke-width': 1.8,
    'stroke-linejoin': 'round',
    'stroke-dasharray': style.dash,
  });
}

/** What lies between the points and the lower end of the y axis, lightly filled. */
export function drawArea(
  svg: SvgWriter,
  points: readonly Point[],
  axes: Axes,
  style: SeriesStyle,
  opacity = 0.12,
): void {
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined) return;
  const base = axes.y.from;
  const outline = pixels([[first[0], base], ...points, [last[0], base]], axes);
  svg.path(`${polyline(outline)}Z`, { fill: style.colour, 'fill-opacity': opacity });
}

/** A dot a point, in one path however many there are. */
export function drawScatter(
  svg: SvgWriter,
  points: readonly Point[],
  axes: Axes,
  style: SeriesStyle,
  diameter = 2,
): void {
  if (points.length === 0) return;
  // A line of no length with round ends is a dot.
  const dots = pixels(points, axes).map((point) => `${polyline([point])}h0`);
  svg.path(dots.join(''), {
    fill: 'none',
    stroke: style.colour,
    'stroke-width': diameter,
    'stroke-linecap': 'round',
  });
}

/** One column: what lies from `from` to `to` on the x axis has the value `value`. */
export interface HistogramBin {
  readonly from: number;
  readonly to: number;
  readonly value: number;
}

/** A stepped outline over adjoining bins, filled underneath. */
export function drawHistogram(
  svg: SvgWriter,
  bins: readonly HistogramBin[],
  axes: Axes,
  style: SeriesStyle,
): void {
  const outline: Point[] = bins.flatMap(({ from, to, value }): Point[] => [
    [from, value],
    [to, value],
  ]);
  const [first, last] = [bins[0], bins.at(-1)];
  if (first === undefined || last === undefined) return;
  const base = axes.y.from;
  const closed: Point[] = [[first.from, base], ...outline, [last.to, base]];
  drawArea(svg, closed, axes, style);
  drawLine(svg, closed, axes, style);
}

export interface BarRow {
  readonly name: string;
  /** Share of the full length, 0 to 1. */
  readonly fraction: number;
  /** What is written behind the bar. */
  readonly text: string;
  readonly colour: string;
}

/** How a block of rows is laid out, in pixels. */
export interface RowLayout {
  readonly nameWidth: number;
  readonly textWidth: number;
  readonly rowHeight: number;
  readonly barHeight: number;
}

/** Horizontal bars on tracks, a name before and a number behind each. */
export function drawBars(
  svg: SvgWriter,
  box: Box,
  rows: readonly BarRow[],
  layout: RowLayout,
): void {
  const length = box.width - layout.nameWidth - layout.textWidth;
  const x = box.x + layout.nameWidth;
  rows.forEach((row, index) => {
    const middle = box.y + (index + 0.5) * layout.rowHeight;
    const track = { x, y: middle - layout.barHeight / 2, width: length, height: layout.barHeight };
    const held = Math.min(1, Math.max(0, row.fraction));
    svg.text(box.x, middle + 4, row.name, { class: 'label' });
    svg.rect(track, { fill: TRACK, rx: 2 });
    // What is not nothing shows.
    const width = held > 0 ? Math.max(1, held * length) : 0;
    svg.rect({ ...track, width }, { fill: row.colour, rx: 2 });
    svg.text(box.x + box.width, middle + 4, row.text, { class: 'label', 'text-anchor': 'end' });
  });
}

export interface Lane {
  readonly name: string;
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly colour: string;
}

/** A row a lane, its bar from one moment to another on the x scale. */
export function drawLanes(
  svg: SvgWriter,
  box: Box,
  lanes: readonly Lane[],
  x: Scale,
  layout: RowLayout,
): void {
  lanes.forEach((lane, index) => {
    const middle = box.y + (index + 0.5) * layout.rowHeight;
    const start = x.at(lane.from);
    const width = Math.max(1.5, x.at(lane.to) - start);
    svg.line(x.at(x.from), middle, x.at(x.to), middle, { stroke: GRID });
    svg.rect(
      { x: start, y: middle - layout.barHeight / 2, width, height: layout.barHeight },
      { fill: lane.colour, rx: 2 },
    );
    svg.text(box.x, middle + 4, lane.name, { class: 'label' });
    svg.text(box.x + box.width, middle + 4, lane.text, { class: 'label', 'text-anchor': 'end' });
  });
}

/**
 * A cell a value, row by row; every value is a fraction of 0 to 1.
 * @param columns cells in a row
 * @param format what to write into a cell, where cells are large enough to hold it
 */
export function drawHeatmap(
  svg: SvgWriter,
  box: Box,
  values: ArrayLike<number>,
  columns: number,
  format?: (value: number) => string,
): void {
  if (!Number.isSafeInteger(columns) || columns < 1) {
    throw new RangeError(`a heat map has at least one whole column, not ${columns}`);
  }
  const rows = Math.ceil(values.length / columns);
  const width = box.width / columns;
  const height = box.height / Math.max(1, rows);
  for (let index = 0; index < values.length; index += 1) {
    const x = box.x + (index % columns) * width;
    const y = box.y + Math.floor(index / columns) * height;
    const value = values[index]!;
    svg.rect({ x, y, width, height }, { fill: heatColour(value), stroke: PANEL });
    if (format === undefined || width < 22 || height < 16) continue;
    svg.text(x + width / 2, y + height / 2 + 4, format(value), {
      fill: heatInk(value),
      'font-size': 11,
      'text-anchor': 'middle',
    });
  }
}

/** Rows of cells; the first row is a heading. Column ends are given as pixels from the left. */
export function drawTextTable(
  svg: SvgWriter,
  box: Box,
  rows: readonly (readonly string[])[],
  columnEnds: readonly number[],
  rowHeight: number,
): void {
  rows.forEach((cells, row) => {
    const y = box.y + row * rowHeight + rowHeight * 0.7;
    cells.forEach((cell, column) => {
      const first = column === 0;
      svg.text(first ? box.x : box.x + columnEnds[column]!, y, cell, {
        class: row === 0 ? 'head' : 'label',
        'text-anchor': first ? undefined : 'end',
        fill: row === 0 ? undefined : INK,
      });
    });
  });
}
