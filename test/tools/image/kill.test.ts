import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { Geometry } from '../../../hal/geometry.ts';
import { verifyImage } from '../../../tools/image/verify.ts';
import {
  createImage,
  FollowedStore,
  newPath,
  openImage,
  pattern,
  removeImages,
  SMALL,
} from './image-kit.ts';
import { stepOf } from './killed-steps.ts';

afterEach(removeImages);

const WRITER = fileURLToPath(new URL('./killed-writer.ts', import.meta.url));
const GEOMETRY = new Geometry(SMALL.geometry);
const KILLS = 6;

/** Runs the writer from a step on and kills it after `lines` lines; the last line it wrote. */
async function runAndKill(path: string, step: number, lines: number): Promise<string> {
  const args = ['--import', 'tsx', WRITER, path, String(step)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (chunk: string) => {
    text += chunk;
    if (text.split('\n').length > lines) child.kill('SIGKILL');
  });
  const signal = await new Promise((resolve) => child.on('close', (_, by) => resolve(by)));
  expect(signal).toBe('SIGKILL');
  return text.split('\n').at(-2)!;
}

/** Seed of each unit's first slot after the steps before `end`, by unit slot; erased: absent. */
function model(end: number): Map<number, number> {
  const units = new Map<number, number>();
  for (let step = 0; step < end; step++) {
    const { die, superblock, page, seed } = stepOf(GEOMETRY, step);
    if (page !== null) units.set(GEOMETRY.unitSlotOf(die, superblock, page), seed);
    for (let p = 0; page === null && p < GEOMETRY.pagesPerBlock; p++) {
      units.delete(GEOMETRY.unitSlotOf(die, superblock, p));
    }
  }
  return units;
}

/** Slots that are not as after `done` steps nor as after one more: neither old nor new. */
function wrongSlots(followed: FollowedStore, done: number): string[] {
  const [old, next] = [model(done), model(done + 1)];
  const interrupted = new Set(followed.report.interruptedPages);
  const wrong: string[] = [];
  for (let slot = 0; slot < GEOMETRY.slots; slot++) {
    const j = GEOMETRY.indexInUnit(slot);
    const isIn = (units: Map<number, number>) => {
      const seed = units.get(slot - j);
      if (seed === undefined) return followed.store.pageWordOf(slot) === 0;
      const bytes = followed.contents.bytesOf(followed.store.contentOf(slot));
      return Buffer.compare(bytes, pattern(seed + j)) === 0;
    };
    const page = slot - (slot % GEOMETRY.slotsPerPage);
    const isInFlight = old.get(slot - j) !== next.get(slot - j);
    if (isIn(old) || (isInFlight && (isIn(next) || interrupted.has(page)))) continue;
    wrong.push(GEOMETRY.describe(slot));
  }
  return wrong;
}

it('a writer killed at any moment leaves every page old, interrupted or new', async () => {
  const path = newPath();
  createImage(path).close();
  let step = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const last = await runAndKill(path, step, 100 + kill * 37);
    const [, kind, number] = /^([be]) (\d+)$/.exec(last)!;
    const done = Number(number) + (kind === 'e' ? 1 : 0);
    const image = openImage(path);
    expect(image.wasClean).toBe(false);
    expect(image.takenOver).toMatch(/took over the lock/);
    expect(verifyImage(image).damage).toEqual([]);
    const followed = new FollowedStore(image);
    expect(wrongSlots(followed, done)).toEqual([]);
    // The next writer begins with both superblocks erased, at an even round.
    for (const superblock of [0, 1]) {
      for (let die = 0; die < GEOMETRY.dies; die++) followed.erase(die, superblock);
    }
    image.close();
    step = 0;
  }
});
