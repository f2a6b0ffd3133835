/**
 * Colours that people with any kind of colour vision tell apart (after Okabe and Ito, the lighter
 * ones darkened until they stand 4.5 to 1 against white), and a dash pattern for each series, so
 * that no line is told by its colour alone.
 */

export interface SeriesStyle {
  readonly colour: string;
  /** `stroke-dasharray`; undefined for a solid line. */
  readonly dash: string | undefined;
}

export const INK = '#1d2733';
export const MUTED_INK = '#55606e';
export const GRID = '#e4e7ec';
export const FRAME_LINE = '#d5d9e0';
export const PAPER = '#f6f7f9';
export const PANEL = '#ffffff';
/** The empty part of a bar. */
export const TRACK = '#edf0f4';

export const BLUE = '#0072b2';
export const VERMILION = '#b84a00';
export const GREEN = '#00795a';
export const PURPLE = '#984a7c';
export const SLATE = '#4a5a6a';

/** Styles in the order in which series are added to a chart. */
export const SERIES_STYLES: readonly SeriesStyle[] = [
  { colour: BLUE, dash: undefined },
  { colour: VERMILION, dash: '7 3' },
  { colour: GREEN, dash: '2 2.5' },
  { colour: PURPLE, dash: '9 3 2 3' },
  { colour: SLATE, dash: '4 2' },
];

/** A light-to-dark blue for a fraction of 0 to 1: lightness alone carries the order. */
export function heatColour(fraction: number): string {
  const held = Math.min(1, Math.max(0, fraction));
  const light = [237, 243, 248] as const;
  const dark = [0, 62, 112] as const;
  const channel = (index: 0 | 1 | 2): string =>
    Math.round(light[index] + held * (dark[index] - light[index]))
      .toString(16)
      .padStart(2, '0');
  return `#${channel(0)}${channel(1)}${channel(2)}`;
}

/** Black or white, whichever stands 4.5 to 1 against `heatColour(fraction)`. */
export function heatInk(fraction: number): string {
  return fraction > 0.66 ? '#ffffff' : '#000000';
}
