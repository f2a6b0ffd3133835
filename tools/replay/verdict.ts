/** What a replay proved, as the error that ends the program when something was wrong. */

import { formatCount } from '../cli/format.ts';
import { RunError } from '../errors.ts';
import type { TracePlayer } from './player.ts';

/** @throws RunError naming the first wrong read and the first failed operation */
export function checkReplay(player: TracePlayer): void {
  const lines: string[] = [];
  const { mismatchCount, wrongSectors, verifiedCount, failedCount, doneCount } = player;
  if (mismatchCount > 0) {
    const sectors = `${formatCount(wrongSectors)} ${wrongSectors === 1 ? 'sector' : 'sectors'}`;
    const reads = `${formatCount(mismatchCount)} of ${formatCount(verifiedCount)} reads`;
    lines.push(`${reads} were wrong (${sectors}); the first: ${player.firstMismatch}`);
  }
  if (failedCount > 0) {
    const operations = `${formatCount(failedCount)} of ${formatCount(doneCount)} operations`;
    lines.push(`${operations} failed; the first: ${player.firstFailure}`);
  }
  if (lines.length > 0) throw new RunError(lines.join('\nbf3: '));
}
