/**
 * The layout of a trace: what one must know to read row addresses and dies out of its pins. It
 * stands in a comment of the file, as words of `name=value`.
 */

import type { BusMode } from '../../nand/part.ts';
import { RunError } from '../errors.ts';

/** Geometry of the traced array; a {@link Geometry} of the drive has these fields. */
export interface TraceLayout {
  readonly channels: number;
  readonly dies: number;
  readonly blocksPerDie: number;
  readonly pagesPerBlock: number;
}

/** What the comment of a file says. */
export interface TraceHeader {
  readonly layout: TraceLayout;
  readonly isSynchronous: boolean;
}

const WORD = 'bf3-trace';
const VERSION = 1;
/** More than any drive has. */
const COUNT_MAX = 2 ** 20;

export function layoutComment(layout: TraceLayout, bus: BusMode, data: string): string {
  const { channels, dies, blocksPerDie, pagesPerBlock } = layout;
  return [
    ...[WORD, `version=${VERSION}`, `interface=${bus.synchronous ? 'nv-ddr' : 'async'}`],
    ...[`mode=${bus.mode}`, `data=${data}`, `channels=${channels}`, `dies=${dies}`],
    ...[`blocks=${blocksPerDie}`, `pages=${pagesPerBlock}`],
  ].join(' ');
}

/**
 * Reads the comment back; null when it is some other comment.
 * @throws RunError when it is damaged
 */
export function parseLayout(comment: string): TraceHeader | null {
  const [word, ...rest] = comment.trim().split(/\s+/);
  if (word !== WORD) return null;
  const fields = new Map(rest.map((text) => text.split('=', 2) as [string, string]));
  const count = (name: string): number => {
    const value = Number(fields.get(name) ?? Number.NaN);
    if (Number.isInteger(value) && value >= 1 && value <= COUNT_MAX) return value;
    throw new RunError(`the trace's comment has ${name}=${fields.get(name)}; expected a count`);
  };
  if (count('version') !== VERSION) {
    throw new RunError(`a trace of version ${fields.get('version')}; expected ${VERSION}`);
  }
  return {
    layout: {
      ...{ channels: count('channels'), dies: count('dies') },
      ...{ blocksPerDie: count('blocks'), pagesPerBlock: count('pages') },
    },
    isSynchronous: fields.get('interface') === 'nv-ddr',
  };
}
