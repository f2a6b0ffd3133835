import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LAST_OF_COMMAND, METADATA } from '../../../hal/flash-ops.ts';
import { PageCodec } from '../../../nand/ecc/page-codec.ts';
import { writeAnswerKey } from '../../../tools/image/answer-key.ts';
import { diffImages } from '../../../tools/image/diff.ts';
import { exportImage } from '../../../tools/image/export.ts';
import { importImage } from '../../../tools/image/import.ts';
import {
  createImage,
  FollowedStore,
  newFolder,
  newPath,
  openImage,
  pattern,
  removeImages,
  SMALL,
} from './image-kit.ts';

afterEach(removeImages);

const RAW = 8640;
const DIES = ['ch0.die0.bin', 'ch0.die1.bin', 'ch1.die0.bin', 'ch1.die1.bin'];

let path: string;
let folder: string;
let made: FollowedStore;

/** Bytes, zeros, a metadata page, an erased die, a spoilt page, an interrupted program. */
beforeEach(() => {
  path = newPath();
  folder = join(newFolder(), 'dumps');
  made = new FollowedStore(createImage(path));
  const { store, contents, follower, geometry } = made;
  made.program(
    3,
    0,
    0,
    [9, 9, 9, 9].map((seed) => made.bytes(seed)),
  );
  made.erase(3, 0);
  for (let page = 0; page < 5; page++) {
    made.program(
      0,
      0,
      page,
      [1, 2, 3, 0].map((seed) => made.bytes(seed && seed + page * 4)),
    );
  }
  const unit = geometry.unitSlotOf(2, 3, 1);
  for (const plane of [0, 1]) store.openPage(geometry.blockIndexOf(unit) + plane, 1, 3);
  store.program(unit, contents.write(pattern(50)), METADATA | 7, -1);
  store.program(unit + 1, contents.spoil(made.bytes(51), 0b10), LAST_OF_COMMAND | 1, 2 ** 31 - 1);
  store.program(unit + 2, made.bytes(52), 1, -(2 ** 31));
  follower.programmed(unit, 4);
  follower.flush();
  made.image.beginRun(geometry.unitSlotOf(2, 3, 2), 4);
  made.image.close();
});

function exportAll(full = false): ReturnType<typeof exportImage> {
  const image = openImage(path, { readOnly: true });
  const report = exportImage(image, folder, { full });
  image.close();
  return report;
}

function rawPage(die: number, block: number, page: number): Buffer {
  return readFileSync(join(folder, DIES[die]!))
    .subarray((block * 8 + page) * RAW)
    .subarray(0, RAW);
}

describe('raw dumps', () => {
  it('are one file a die with data and spare of every page', () => {
    expect(exportAll()).toMatchObject({
      dies: 4,
      programmedPages: 12,
      interruptedPages: ['ch0.die1 block 6 page 2', 'ch0.die1 block 7 page 2'],
      damagedPages: [],
    });
    expect(readdirSync(folder).sort()).toEqual([...DIES, 'manifest.json']);
    for (const die of DIES) expect(statSync(join(folder, die)).size).toBe(8 * 8 * RAW);
    const codec = new PageCodec(SMALL.geometry);
    const [data, records] = [new Uint8Array(8192), codec.newRecords()];
    // Dies are numbered across the channels first: the third is the second of channel 0.
    const verdict = codec.decodePage({ block: 6, page: 1 }, rawPage(1, 6, 1), data, records);
    expect([verdict.worst, verdict.crcWrong, verdict.erased]).toEqual([0, 0, false]);
    expect(Buffer.compare(data.subarray(0, 4096), pattern(50))).toBe(0);
    expect(records).toEqual([
      { pageWord: METADATA | 7, order: 2 ** 32 - 1, badSectors: 0 },
      { pageWord: LAST_OF_COMMAND | 1, order: 2 ** 31 - 1, badSectors: 0b10 },
    ]);
    // Erased pages of a block in use are FFh; blocks that hold nothing are holes.
    expect(rawPage(0, 0, 5).every((byte) => byte === 0xff)).toBe(true);
    expect(rawPage(3, 0, 0).every((byte) => byte === 0)).toBe(true);
  });

  it('in full are FFh wherever the flash is erased', () => {
    exportAll(true);
    for (const [die, block, page] of [
      [0, 0, 5],
      [0, 7, 7],
      [3, 0, 0],
    ] as const) {
      expect(rawPage(die, block, page).every((byte) => byte === 0xff)).toBe(true);
    }
  });

  it.each([false, true])('make the same image again (in full: %s)', (full) => {
    exportAll(full);
    const copy = newPath();
    const report = importImage(folder, copy, SMALL);
    expect(report).toMatchObject({ path: copy, programmedPages: 12, correctedBits: 0 });
    // What was interrupted cannot be decoded, and is interrupted again.
    expect(report.uncorrectablePages).toEqual([
      'ch0.die1 block 6 page 2',
      'ch0.die1 block 7 page 2',
    ]);
    const [a, b] = [openImage(path), openImage(copy)];
    expect(diffImages(a, b, 10)).toMatchObject({ blocks: 0, pages: 0, slots: 0, differences: [] });
    expect(new FollowedStore(b).picture()).toEqual(new FollowedStore(a).picture());
  });

  it('with wrong bits are corrected, as far as the code goes', () => {
    exportAll();
    const file = readFileSync(join(folder, 'ch0.die0.bin'));
    const page = 8 * RAW;
    // Three bits of block 1 page 0 in two codewords; page 1 beyond repair.
    file[page + 5]! ^= 0x11;
    file[page + 8192 + 56 + 20]! ^= 0x80;
    file.fill(0xa5, page + RAW + 100, page + RAW + 300);
    writeFileSync(join(folder, 'ch0.die0.bin'), file);
    const copy = newPath();
    const report = importImage(folder, copy, SMALL);
    expect(report).toMatchObject({ programmedPages: 11, correctedPages: 1, correctedBits: 3 });
    expect(report.uncorrectablePages).toContain('ch0.die0 block 1 page 1');
    const [a, b] = [openImage(path), openImage(copy)];
    expect(diffImages(a, b, 10)).toMatchObject({
      ...{ blocks: 0, pages: 1, slots: 0 },
      differences: [
        { what: 'page', place: 'ch0.die0 block 1 page 1', a: 'programmed', b: 'interrupted' },
      ],
    });
  });

  it('do without a manifest, but for erase counts and history', () => {
    exportAll();
    rmSync(join(folder, 'manifest.json'));
    const copy = newPath();
    importImage(folder, copy, SMALL);
    const report = diffImages(openImage(path), openImage(copy), 10);
    expect([report.blocks, report.pages, report.slots]).toEqual([6, 0, 0]);
    const erased = report.differences.find(({ place }) => place === 'ch1.die1 block 0');
    expect(erased).toMatchObject({
      place: 'ch1.die1 block 0',
      a: 'erased, erase count 1, history 0 0 0 0 0 0',
    });
  });

  it('that do not fit are refused, and leave no image', () => {
    exportAll();
    const copy = newPath();
    const cases: [string, RegExp][] = [
      ['ch1.die0.bin', /ch1\.die0\.bin: the dump has 3 bytes; .* has 552960/],
      ['manifest.json', /manifest\.json: this is no JSON/],
    ];
    for (const [name, words] of cases) {
      const whole = readFileSync(join(folder, name));
      writeFileSync(join(folder, name), 'abc');
      expect(() => importImage(folder, copy, SMALL)).toThrow(words);
      writeFileSync(join(folder, name), whole);
    }
    expect(() => importImage(folder, copy, { ...SMALL, profile: 'toy' })).toThrow(
      /profile is small; --drive says toy/,
    );
    rmSync(join(folder, 'ch0.die0.bin'));
    expect(() => importImage(folder, copy, SMALL)).toThrow(/no such file or folder/);
    expect(readdirSync(join(copy, '..'))).toEqual([]);
    mkdirSync(copy);
    expect(() => importImage(folder, copy, SMALL)).toThrow(/it exists already/);
  });

  it('of damaged data are noise, and reported', () => {
    const file = readFileSync(path);
    const slot = made.geometry.unitSlotOf(0, 0, 2);
    file[made.image.layout.slotDataAt(slot) + 1]! ^= 1;
    writeFileSync(path, file);
    const report = exportAll();
    expect(report.damagedPages).toEqual(['ch0.die0 block 0 page 2']);
    expect(report.programmedPages).toBe(11);
  });
});

it('the answer key has every slot, and the newest copy of every logical page', () => {
  const image = openImage(path, { readOnly: true });
  const key = join(newFolder(), 'key.jsonl');
  expect(writeAnswerKey(image, key)).toMatchObject({ slots: 24 });
  const lines = readFileSync(key, 'utf8').trimEnd().split('\n');
  const answers = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const slots = answers.filter((answer) => 'place' in answer);
  expect(slots.length).toBe(24);
  const unit = made.geometry.unitSlotOf(2, 3, 1);
  expect(slots.filter(({ slot }) => (slot as number) >= unit)).toEqual([
    {
      ...{ slot: unit, place: 'ch0.die1 block 6 page 1 slot 0', kind: 'metadata', lpn: 6 },
      ...{ metadata: true, lastOfCommand: false, order: 2 ** 32 - 1, crc: crc32(pattern(50)) },
    },
    {
      ...{ slot: unit + 1, place: 'ch0.die1 block 6 page 1 slot 1', kind: 'bytes', lpn: 0 },
      ...{ metadata: false, lastOfCommand: true, order: 2 ** 31 - 1, crc: crc32(pattern(51)) },
    },
    {
      ...{ slot: unit + 2, place: 'ch0.die1 block 7 page 1 slot 0', kind: 'bytes', lpn: 0 },
      ...{ metadata: false, lastOfCommand: false, order: 2 ** 31, crc: crc32(pattern(52)) },
    },
    {
      ...{ slot: unit + 3, place: 'ch0.die1 block 7 page 1 slot 1', kind: 'zeros', lpn: null },
      ...{ metadata: false, lastOfCommand: false, order: 0, crc: null },
    },
  ]);
  const map = answers.filter((answer) => 'map' in answer);
  // Logical page 0 was written three times; the highest order number counts, unsigned.
  expect(map[0]).toEqual({ map: 0, slot: unit + 2, order: 2 ** 31 });
  expect(map.length).toBe(20);
});
