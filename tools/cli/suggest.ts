/** The name that a mistyped word was meant to be. */

/**
 * The nearest of `names` by Damerau-Levenshtein distance, ignoring case; null when none is near:
 * at most a third of its letters may differ, and at least one.
 */
export function nearest(word: string, names: readonly string[]): string | null {
  let best: string | null = null;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const distance = editDistance(word.toLowerCase(), name.toLowerCase());
    const limit = Math.max(1, Math.floor(Math.max(word.length, name.length) / 3));
    if (distance > limit || distance >= bestDistance) continue;
    best = name;
    bestDistance = distance;
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbours that turn `from` into `to`. */
export function editDistance(from: string, to: string): number {
  const width = to.length + 1;
  const cells = Array.from({ length: (from.length + 1) * width }, () => 0);
  for (let row = 0; row <= from.length; row++) {
    for (let column = 0; column <= to.length; column++) {
      const at = row * width + column;
      if (row === 0 || column === 0) {
        cells[at] = row + column;
        continue;
      }
      const same = from[row - 1] === to[column - 1];
      let distance = Math.min(
        cells[at - 1]! + 1,
        cells[at - width]! + 1,
        cells[at - width - 1]! + (same ? 0 : 1),
      );
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (row > 1 && column > 1 && swapped) {
        distance = Math.min(distance, cells[at - 2 * width - 2]! + 1);
      }
      cells[at] = distance;
    }
  }
  return cells[cells.length - 1]!;
}
