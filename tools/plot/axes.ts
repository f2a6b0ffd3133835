/** Axes: grid lines, tick labels, names, and the legend. */
import { FRAME_LINE, GRID, INK, MUTED_INK, type SeriesStyle } from './palette.ts';
import type { Scale } from './scale.ts';
import type { Box, SvgWriter } from './svg.ts';

export interface AxisOptions {
  /** What the axis measures, with its unit. */
  readonly label?: string;
  format(value: number): string;
}

/** Horizontal grid lines over the box, their values to its left. */
export function drawYAxis(svg: SvgWriter, box: Box, scale: Scale, options: AxisOptions): void {
  svg.group({ class: 'axis' }, () => {
    for (const tick of scale.ticks()) {
      const y = scale.at(tick);
      svg.line(box.x, y, box.x + box.width, y, { stroke: tick === 0 ? FRAME_LINE : GRID });
      svg.text(box.x - 8, y + 4, options.format(tick), { 'text-anchor': 'end' });
    }
    if (options.label !== undefined) {
      svg.text(box.x, box.y - 10, options.label, { 'text-anchor': 'start', fill: MUTED_INK });
    }
  });
}

/** Ticks and values under the box; vertical grid lines where asked for. */
export function drawXAxis(
  svg: SvgWriter,
  box: Box,
  scale: Scale,
  options: AxisOptions & { readonly grid?: boolean },
): void {
  const bottom = box.y + box.height;
  svg.group({ class: 'axis' }, () => {
    svg.line(box.x, bottom, box.x + box.width, bottom, { stroke: FRAME_LINE });
    for (const tick of scale.ticks()) {
      const x = scale.at(tick);
      if (options.grid === true) svg.line(x, box.y, x, bottom, { stroke: GRID });
      svg.line(x, bottom, x, bottom + 4, { stroke: FRAME_LINE });
      svg.text(x, bottom + 18, options.format(tick), { 'text-anchor': 'middle' });
    }
    if (options.label !== undefined) {
      const x = box.x + box.width;
      svg.text(x, bottom + 34, options.label, { 'text-anchor': 'end', fill: MUTED_INK });
    }
  });
}

export interface LegendEntry {
  readonly name: string;
  readonly style: SeriesStyle;
}

/** A line sample and a name an entry, side by side, ending at `right`. */
export function drawLegend(
  svg: SvgWriter,
  right: number,
  y: number,
  entries: readonly LegendEntry[],
): void {
  const widths = entries.map(({ name }) => 30 + 7 * name.length + 18);
  let x = right - widths.reduce((sum, width) => sum + width, 0) + 18;
  svg.group({ class: 'axis' }, () => {
    entries.forEach(({ name, style }, index) => {
      svg.line(x, y - 4, x + 24, y - 4, {
        stroke: style.colour,
        'stroke-width': 2.5,
        'stroke-dasharray': style.dash,
      });
      svg.text(x + 30, y, name, { fill: INK });
      x += widths[index]!;
    });
  });
}
