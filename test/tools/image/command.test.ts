import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TOY } from '../../../firmware/profiles/toy.ts';
import { main } from '../../../tools/cli/main.ts';
import * as command from '../../../tools/image/command.ts';
import type { ImageHeader } from '../../../tools/image/header.ts';
import { runDiff, runExport, runImport, runInfo, runVerify } from '../../../tools/image/run.ts';
import { createImage, FollowedStore, newFolder, newPath, removeImages } from './image-kit.ts';

afterEach(removeImages);

const HEADER: ImageHeader = {
  ...{ profile: TOY.id, part: TOY.partId, content: 'bytes', geometry: TOY.geometry },
  ...{ seed: 'abc', createdBy: 'test 1' },
};

let path: string;
let made: FollowedStore;
let printed = '';
const write = (text: string): void => {
  printed += text;
};

beforeEach(() => {
  printed = '';
  path = newPath();
  made = new FollowedStore(createImage(path, HEADER));
  made.erase(1, 0);
  made.erase(1, 0);
  made.program(
    0,
    0,
    0,
    [1, 2, 3, 4].map((seed) => made.bytes(seed)),
  );
  made.image.close();
});

afterEach(() => {
  process.exitCode = undefined;
});

function damage(): void {
  const file = readFileSync(path);
  file[made.image.layout.slotDataAt(2)]! ^= 1;
  writeFileSync(path, file);
}

it('info says what the image is of and how worn', () => {
  runInfo(path, {}, write);
  expect(printed).toContain('image of a toy, version 1');
  expect(printed).toContain('part         toy, content bytes, seed "abc"');
  expect(printed).toContain('blocks       2 of 256 hold something');
  expect(printed).toContain('erase count  0 to 2, mean 0.0');
  expect(printed).toMatch(/closed {7}cleanly/);
  printed = '';
  runInfo(path, { json: true }, write);
  const info = JSON.parse(printed);
  expect(info).toMatchObject({
    ...{ path, version: 1, wasClean: true, openings: 1, header: HEADER },
    fileBytes: made.image.layout.fileBytes,
    blocks: { total: 256, erased: 254, written: 2, erasing: 0, damaged: 0 },
    eraseCount: {
      ...{ least: 0, most: 2, mean: 4 / 256 },
      histogram: [
        { least: 0, most: 0, blocks: 254 },
        { least: 1, most: 1, blocks: 0 },
        { least: 2, most: 2, blocks: 2 },
      ],
    },
  });
  // A sparse file: 4 slots, a header and a few records of 34 MB.
  expect(info.diskBytes).toBeLessThan(info.fileBytes / 20);
});

it('verify exits with 1 when something is damaged, and says where', () => {
  runVerify(path, {}, write);
  expect(printed).toMatch(/2 programmed pages, 4 slots of data compared\nno damage\n$/);
  expect(process.exitCode).toBeUndefined();
  damage();
  printed = '';
  runVerify(path, {}, write);
  const byte = made.image.layout.slotDataAt(2);
  expect(printed).toContain(`data of ch0.die0 block 1 page 0 slot 0, byte ${byte} of the file`);
  expect(process.exitCode).toBe(1);
  printed = '';
  runVerify(path, { json: true }, write);
  expect(JSON.parse(printed).damage).toHaveLength(1);
});

it('export, import and diff go round', () => {
  const folder = join(newFolder(), 'dumps');
  const copy = newPath();
  runExport(path, folder, { answerKey: true, json: true }, write);
  expect(JSON.parse(printed)).toMatchObject({ dies: 4, answerKey: { slots: 4, pages: 4 } });
  expect(existsSync(join(folder, 'answer-key.jsonl'))).toBe(true);
  printed = '';
  runImport(folder, copy, { drive: 'toy', seed: 'abc' }, write);
  expect(printed).toContain('2 programmed pages\n0 bits corrected in 0 pages');
  printed = '';
  runDiff(path, copy, { count: 5 }, write);
  expect(printed).toBe('no difference\n');
  expect(process.exitCode).toBeUndefined();
  printed = '';
  const other = newPath();
  createImage(other, HEADER).close();
  runDiff(path, other, { count: 1 }, write);
  expect(printed).toContain('block ch0.die0 block 0\n  - written, erase count 0');
  expect(printed).toContain('differ: 4 blocks, 2 pages, 0 slots');
  expect(process.exitCode).toBe(1);
});

it('a mistake is one sentence and its exit code', async () => {
  let error = '';
  const output = {
    out: () => undefined,
    error: (text: string) => {
      error += text;
    },
  };
  const groups = [{ heading: 'Images:', modules: [command] }];
  expect(await main(['image', 'info', '/nowhere'], groups, output)).toBe(1);
  expect(error).toBe('bf3: cannot open /nowhere: no such file or folder\n');
  expect(await main(['image', 'import', 'x', 'y'], groups, output)).toBe(2);
  expect(error).toContain("required option '--drive <name>' not specified");
  expect(await main(['image', 'import', 'x', 'y', '--drive', 'to'], groups, output)).toBe(2);
  expect(await main(['image', 'diff', path, path, '--count', '-1'], groups, output)).toBe(2);
});
