/**
 * Leak check: every counted content is referred to by flash or buffer, and nothing else is counted.
 */

import type { Host } from '../../firmware/host.ts';
import type { TaggedContent } from '../../hal/content/tagged-content.ts';

/** A sentence about the first leak of a drive at rest, null when there is none. */
export function findLeak(host: Host): string | null {
  const { drive } = host;
  if (drive.ops.usedCount !== 0) return `${drive.ops.usedCount} flash descriptors are in use`;
  const { buffer } = drive.firmware;
  if (buffer.reserved !== 0) return `${buffer.reserved} buffer places are promised for ever`;
  const used = new Set<number>();
  const { store } = drive.array;
  for (let slot = 0; slot < drive.geometry.slots; slot++) {
    const content = store.contentOf(slot);
    if (content < 0 && content > -(2 ** 30)) used.add(content);
  }
  for (let at = buffer.head; at < buffer.tail; at++) {
    const content = buffer.content[at & buffer.mask]!;
    if (content < 0) used.add(content);
  }
  const counted = (drive.contents as TaggedContent).mixtureCount;
  return counted === used.size ? null : `${counted} mixtures are counted, ${used.size} are used`;
}
