/** Small charts out of characters. */

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const;
const HEIGHTS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/** A horizontal line. */
export function rule(width: number): string {
  return '─'.repeat(Math.max(0, width));
}

/** A bar of exactly `cells` columns, drawn to an eighth of a column; the fraction is 0 to 1. */
export function bar(fraction: number, cells: number): string {
  const held = Math.min(1, Math.max(0, fraction));
  const eighths = Math.round(held * cells * 8);
  // What is not nothing shows.
  const shown = held > 0 ? Math.max(1, eighths) : 0;
  const text = '█'.repeat(Math.floor(shown / 8)) + EIGHTHS[shown % 8]!;
  return text.padEnd(cells);
}

/** A name, a bar and a percentage in exactly `width` columns. */
export function labelled(
  name: string,
  fraction: number,
  width: number,
  paint: (text: string) => string,
): string {
  const percent = `${(fraction * 100).toFixed(0)} %`.padStart(6);
  return `${name} ${paint(bar(fraction, width - name.length - 1 - percent.length))}${percent}`;
}

/** A column a value, the largest one full; zero is a gap. */
export function sparkline(values: readonly number[]): string {
  const peak = values.reduce((most, value) => Math.max(most, value), 0);
  return meter(values.map((value) => (peak > 0 ? value / peak : 0)));
}

/** A column a fraction of 0 to 1; zero is a gap. */
export function meter(fractions: readonly number[]): string {
  return fractions
    .map((fraction) => {
      if (!(fraction > 0)) return ' ';
      const height = Math.min(HEIGHTS.length, Math.ceil(fraction * HEIGHTS.length));
      return HEIGHTS[height - 1]!;
    })
    .join('');
}

/**
 * At most `cells` values: neighbours are averaged, so that the mean stays what it was.
 * Fewer values than cells are given back as they are.
 */
export function resample(values: ArrayLike<number>, cells: number): number[] {
  if (values.length <= cells) return Array.from(values);
  const width = values.length / cells;
  return Array.from({ length: cells }, (_, cell) => {
    const from = cell * width;
    const until = from + width;
    let sum = 0;
    for (let index = Math.floor(from); index < Math.min(values.length, until); index += 1) {
      const covered = Math.min(index + 1, until) - Math.max(index, from);
      sum += values[index]! * covered;
    }
    return sum / width;
  });
}
