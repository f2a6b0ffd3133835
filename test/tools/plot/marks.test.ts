/**
 * Goal: marks land where the axes say, and stay inside their box.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { drawLegend, drawXAxis, drawYAxis } from '../../../tools/plot/axes.ts';
import {
  drawArea,
  drawBars,
  drawHeatmap,
  drawHistogram,
  drawLanes,
  drawLine,
  drawScatter,
  drawTextTable,
} from '../../../tools/plot/marks.ts';
import { heatColour, heatInk, SERIES_STYLES } from '../../../tools/plot/palette.ts';
import { linearScale } from '../../../tools/plot/scale.ts';
import { SvgWriter } from '../../../tools/plot/svg.ts';

const BOX = { x: 0, y: 0, width: 100, height: 100 };
const AXES = { x: linearScale([0, 10], [0, 100]), y: linearScale([0, 10], [100, 0]) };
const ROWS = { nameWidth: 20, textWidth: 30, rowHeight: 10, barHeight: 6 };
const [STYLE] = SERIES_STYLES;

describe('marks', () => {
  let svg: SvgWriter;
  /** Values of one attribute in drawing order. */
  const values = (name: string): string[] =>
    [...svg.toString().matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value]) => value!);
  const bodies = (): string[] =>
    [...svg.toString().matchAll(/<text[^>]*>([^<]*)</g)].map(([, body]) => body!);

  beforeEach(() => {
    svg = new SvgWriter({ width: 100, height: 100, title: '', description: '' });
  });

  test('line and scatter: at their places', () => {
    drawLine(
      svg,
      [
        [0, 0],
        [5, 10],
      ],
      AXES,
      STYLE!,
    );
    drawScatter(
      svg,
      [
        [5, 5],
        [10, 0],
      ],
      AXES,
      STYLE!,
    );
    expect(values('d')).toEqual(['M0 100L50 0', 'M50 50h0M100 100h0']);
  });

  test('area: closed along the axis', () => {
    drawArea(
      svg,
      [
        [2, 5],
        [4, 5],
      ],
      AXES,
      STYLE!,
    );
    expect(values('d')).toEqual(['M20 100L20 50L40 50L40 100Z']);
  });

  test('histogram: steps', () => {
    drawHistogram(
      svg,
      [
        { from: 1, to: 2, value: 10 },
        { from: 2, to: 3, value: 5 },
      ],
      AXES,
      STYLE!,
    );
    expect(values('d')[1]).toBe('M10 100L10 0L20 0L20 50L30 50L30 100');
  });

  test('nothing to draw draws nothing', () => {
    drawLine(svg, [], AXES, STYLE!);
    drawArea(svg, [], AXES, STYLE!);
    drawScatter(svg, [], AXES, STYLE!);
    drawHistogram(svg, [], AXES, STYLE!);
    expect(svg.toString()).not.toContain('<path');
  });

  test('bars: length by fraction, held at the full length; what is not nothing shows', () => {
    const fractions = [0.5, 2, 0, 0.0001];
    const rows = fractions.map((fraction) => ({ name: 'a', fraction, text: 'b', colour: '#000' }));
    drawBars(svg, BOX, rows, ROWS);
    // Every row draws its track of 50 first; the first width is the page's.
    const drawn = values('width').slice(1);
    expect(drawn).toEqual(['50', '25', '50', '50', '50', '0', '50', '1']);
  });

  test('lanes: from one moment to another', () => {
    const lane = { name: 'mount', text: '2 ms', from: 2, to: 4, colour: '#000' };
    drawLanes(svg, BOX, [lane], AXES.x, ROWS);
    expect(svg.toString()).toContain('<rect x="20" y="2" width="20" height="6"');
    expect(bodies()).toEqual(['mount', '2 ms']);
  });

  test('heat map: row by row; numbers only where they fit', () => {
    drawHeatmap(svg, BOX, [0, 0.5, 1], 2, (value) => `${value * 100}`);
    expect(values('x')).toEqual(['0', '25', '50', '75', '0', '25']);
    expect(bodies()).toEqual(['0', '50', '100']);
    const cells = new Float64Array(100);
    const before = bodies().length;
    drawHeatmap(svg, BOX, cells, 10, () => 'x');
    expect(bodies()).toHaveLength(before);
    expect(() => drawHeatmap(svg, BOX, cells, 0)).toThrow('at least one whole column');
  });

  test('text table: a heading, then rows; first column left', () => {
    drawTextTable(
      svg,
      BOX,
      [
        ['', 'max'],
        ['read', '1 ms'],
      ],
      [0, 90],
      20,
    );
    expect(values('text-anchor')).toEqual(['end', 'end']);
    expect(values('class')).toEqual(['head', 'head', 'label', 'label']);
  });

  test('axes: a text a tick, and the name', () => {
    drawYAxis(svg, BOX, AXES.y, { label: 'IOPS', format: (value) => `${value}k` });
    drawXAxis(svg, BOX, AXES.x, { format: String, grid: true });
    const ticks = ['0', '2', '4', '6', '8', '10'];
    expect(bodies()).toEqual([...ticks.map((tick) => `${tick}k`), 'IOPS', ...ticks]);
  });

  test('legend: ends at the right, a dash pattern beside each name', () => {
    const entries = ['read', 'write'].map((name, index) => ({
      name,
      style: SERIES_STYLES[index]!,
    }));
    drawLegend(svg, 300, 20, entries);
    expect(values('stroke-dasharray')).toEqual([SERIES_STYLES[1]!.dash]);
    expect(bodies()).toEqual(['read', 'write']);
  });
});

/** Relative luminance of `#rrggbb` (WCAG 2.1). */
function luminance(colour: string): number {
  const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255);
  const [red, green, blue] = parts.map((part) =>
    part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

/** Contrast ratio of two colours (WCAG 2.1). */
function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high! + 0.05) / (low! + 0.05);
}

describe('palette', () => {
  test('series stand out from white as text must (WCAG AA, 4.5 to 1), each with its own dash', () => {
    for (const { colour } of SERIES_STYLES) {
      expect(contrast(colour, '#ffffff')).toBeGreaterThanOrEqual(4.5);
    }
    expect(new Set(SERIES_STYLES.map(({ dash }) => dash)).size).toBe(SERIES_STYLES.length);
  });

  test('numbers on the heat map can be read (WCAG AA, 4.5 to 1)', () => {
    for (let percent = 0; percent <= 100; percent += 1) {
      const fraction = percent / 100;
      expect(contrast(heatColour(fraction), heatInk(fraction))).toBeGreaterThanOrEqual(4.5);
    }
    expect(heatColour(-1)).toBe(heatColour(0));
    expect(heatColour(2)).toBe(heatColour(1));
  });
});
