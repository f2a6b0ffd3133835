/**
 * One measure in a process of its own: `child.js NAME REPEAT` prints its figures as JSON.
 */

import '../cli/engine.ts';
import { measureImage } from './image.ts';
import { MEASURES } from './measures.ts';
import type { Figures } from './median.ts';
import { measureNbd } from './nbd.ts';

const [name, repeat] = process.argv.slice(2);
const measure = MEASURES.find((known) => known.name === name);
const count = Number(repeat);
const others: { [name: string]: (repeat: number) => Promise<Figures> } = {
  nbd: measureNbd,
  image: measureImage,
};
const figures = (await others[name ?? '']?.(count)) ?? measure?.run(count);
process.stdout.write(`${JSON.stringify(figures ?? {})}\n`);
