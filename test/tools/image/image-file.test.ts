import { existsSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { ByteContent } from '../../../hal/content/byte-content.ts';
import { METADATA_TOP } from '../../../hal/content/metadata-pages.ts';
import { TaggedContent } from '../../../hal/content/tagged-content.ts';
import { DramTable } from '../../../hal/dram-table.ts';
import { RunError } from '../../../tools/errors.ts';
import { BLOCK_CELLS, ERASE_COUNT, HeaderRecord } from '../../../tools/image/format.ts';
import { encodeHeader } from '../../../tools/image/header.ts';
import { ImageFile } from '../../../tools/image/image-file.ts';
import { verifyImage } from '../../../tools/image/verify.ts';
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

/** What a firmware may do: the place of a program is the next free one. */
interface Action {
  kind: 'write' | 'move' | 'erase';
  unit: number;
  seed: number;
}

const anyActions: fc.Arbitrary<Action[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...(['write', 'write', 'move', 'erase'] as const)),
    unit: fc.nat({ max: 15 }),
    seed: fc.nat({ max: 1000 }),
  }),
  { maxLength: 60 },
);

/** Does an action on a column of units: (die, superblock) by number. */
function apply(followed: FollowedStore, { kind, unit, seed }: Action): void {
  const { geometry, store, contents } = followed;
  const [die, superblock] = [unit % geometry.dies, Math.floor(unit / geometry.dies)];
  const block = geometry.blockIndex(die, superblock * geometry.planes);
  if (kind === 'erase') {
    followed.erase(die, superblock);
    return;
  }
  const page = store.history.nextPageOf(block);
  if (page === geometry.pagesPerBlock) return;
  const handles = [0, 1, 2, 3].map((j) => {
    // A move programs a page that lies somewhere else already, as a collector does.
    if (kind === 'move') {
      const handle = store.contentOf((seed * 7 + j * 131) % geometry.slots);
      contents.retain(handle);
      return handle;
    }
    return followed.bytes((seed + j) % 5 === 0 ? 0 : seed * 4 + j);
  });
  followed.program(die, superblock, page, handles);
}

describe('a followed store', () => {
  it('is the same after closing and opening, and goes on', () => {
    fc.assert(
      fc.property(anyActions, anyActions, (before, after) => {
        const path = newPath();
        const first = new FollowedStore(createImage(path));
        for (const action of before) apply(first, action);
        const picture = first.picture();
        first.image.close();
        const second = new FollowedStore(openImage(path));
        expect(second.image.wasClean).toBe(true);
        expect(second.picture()).toEqual(picture);
        for (const action of after) apply(second, action);
        const later = second.picture();
        // Not closed: what a killed process leaves behind.
        second.image.abandon();
        const third = new FollowedStore(openImage(path));
        expect(third.image.wasClean).toBe(false);
        expect(third.picture()).toEqual(later);
        const report = verifyImage(third.image);
        expect([report.damage, report.interruptedPages]).toEqual([[], []]);
      }),
      { numRuns: 25 },
    );
  });

  it('keeps no page in memory that lies in the image, and reads what is looked at', () => {
    const path = newPath();
    const first = new FollowedStore(createImage(path));
    for (let page = 0; page < 8; page++) {
      first.program(
        0,
        0,
        page,
        [1, 2, 3, 4].map((j) => first.bytes(page * 4 + j)),
      );
    }
    const contents = first.contents as ByteContent;
    expect([contents.pageCount, contents.residentCount]).toEqual([32, 0]);
    first.image.close();
    // Without its data the image opens all the same: nothing of it is read before it is needed.
    const file = readFileSync(path);
    file.fill(0x5a, first.image.layout.dataAt);
    writeFileSync(path, file);
    const second = new FollowedStore(openImage(path));
    expect(second.report.programmedPages).toBe(16);
    const slot = second.geometry.unitSlotOf(0, 0, 3);
    expect(() => second.contents.bytesOf(second.store.contentOf(slot))).toThrow(
      /ch0\.die0 block 0 page 3 slot 0: the data does not match its checksum/,
    );
  });

  it('keeps a page that somebody refers to when its block is erased', () => {
    const followed = new FollowedStore(createImage(newPath()));
    const { contents } = followed;
    const page = followed.bytes(7);
    const record = contents.write(pattern(8));
    for (const handle of [page, record]) contents.retain(handle);
    followed.program(1, 2, 0, [page, record, 0, 0]);
    followed.erase(1, 2);
    followed.program(1, 2, 0, [followed.bytes(9), 0, 0, 0]);
    expect(Buffer.compare(contents.bytesOf(page), pattern(7))).toBe(0);
    expect(Buffer.compare(contents.bytesOf(record), pattern(8))).toBe(0);
  });

  it('keeps which sectors are unreadable for good', () => {
    const path = newPath();
    const first = new FollowedStore(createImage(path));
    const spoilt = [first.contents.spoil(first.bytes(1), 0b100), first.contents.spoil(0, 0xff)];
    first.program(0, 0, 0, [...spoilt, first.bytes(2), 0]);
    first.image.close();
    const { contents, store } = new FollowedStore(openImage(path));
    const masks = [0, 1].map((slot) => contents.spoiledOf(store.contentOf(slot)));
    expect([...masks, contents.spoiledOf(store.contentOf(2))]).toEqual([0b100, 0xff, 0]);
  });

  it('holds metadata pages as bytes, those lent from a table too', () => {
    const path = newPath();
    const first = new FollowedStore(createImage(path));
    const table = new DramTable('l2p', 1024, first.machine.log);
    table.write(3, 99);
    const written = first.contents.write(pattern(5));
    const lent = first.contents.lend(table, 0);
    first.program(0, 1, 2, [written, lent, 0, 0]);
    // The loan has been given back: the page lies in the image.
    expect(table.lentCount[0]).toBe(0);
    table.write(3, 100);
    first.image.close();
    const { contents, store, geometry } = new FollowedStore(openImage(path));
    const slot = geometry.unitSlotOf(0, 1, 2);
    expect(store.contentOf(slot)).toBeLessThanOrEqual(METADATA_TOP);
    expect(Buffer.compare(contents.read(store.contentOf(slot))!, pattern(5))).toBe(0);
    const page = contents.read(store.contentOf(slot + 1))!;
    expect(new DataView(page.buffer, page.byteOffset).getInt32(12, true)).toBe(99);
    expect(store.history.nextPageOf(geometry.blockIndexOf(slot))).toBe(3);
  });

  it('of tags keeps tags and mixtures', () => {
    const path = newPath();
    const tagged = (machine: FollowedStore['machine']) => new TaggedContent(machine);
    const first = new FollowedStore(createImage(path, { ...SMALL, content: 'tags' }), tagged);
    const mixture = first.contents.merge(11, 22, 0b0110_0001);
    const spoilt = first.contents.spoil(first.contents.merge(33, 44, 0b11), 0b1000_0001);
    first.program(2, 3, 0, [77, mixture, first.contents.write(pattern(1)), spoilt]);
    const tags = (from: FollowedStore) =>
      [0, 1, 2, 3].map((j) => {
        const content = from.store.contentOf(from.geometry.unitSlotOf(2, 3, 0) + j);
        if (content <= METADATA_TOP) return Buffer.from(from.contents.bytesOf(content));
        return [0, 1, 2, 3, 4, 5, 6, 7].map((sector) => from.contents.sectorTag(content, sector));
      });
    const before = tags(first);
    first.image.close();
    const second = new FollowedStore(openImage(path), tagged);
    expect(tags(second)).toEqual(before);
    expect((second.contents as TaggedContent).mixtureCount).toBe(2);
    const last = second.store.contentOf(second.geometry.unitSlotOf(2, 3, 0) + 3);
    expect(second.contents.spoiledOf(last)).toBe(0b1000_0001);
    second.image.close();
    expect(() => new FollowedStore(openImage(path))).toThrow(/content is tags; .* bytes/);
  });
});

describe('programs and erases that have not ended', () => {
  it('an interrupted page is used and reported, an interrupted erase leaves the data', () => {
    const path = newPath();
    const first = new FollowedStore(createImage(path));
    first.program(
      0,
      0,
      0,
      [1, 2, 3, 4].map((seed) => first.bytes(seed)),
    );
    const unit = first.geometry.unitSlotOf(0, 0, 1);
    first.image.beginRun(unit, 4);
    first.image.beginErase(1);
    first.image.abandon();
    const { image, store, report } = new FollowedStore(openImage(path));
    expect(report.interruptedPages).toEqual([unit, unit + 2]);
    expect(report.interruptedErases).toEqual([1]);
    expect([0, 1, 2].map((block) => store.history.nextPageOf(block))).toEqual([2, 2, 0]);
    expect([...[0, 1].map((page) => store.damage.rberOf(0, page))]).toEqual([0, 0.5]);
    expect([image.isInterrupted(unit), image.isInterrupted(0)]).toEqual([true, false]);
    expect(() => image.readData(unit, new Uint8Array(4096))).toThrow(/the page is programming/);
    expect(verifyImage(image)).toMatchObject({
      wasClean: false,
      programmedPages: 2,
      interruptedPages: ['ch0.die0 block 0 page 1', 'ch0.die0 block 1 page 1'],
      interruptedErases: ['ch0.die0 block 1'],
      damage: [],
    });
  });

  it('keeps since when a block is in use, and after a sync its reads too', () => {
    const path = newPath();
    const first = new FollowedStore(createImage(path));
    for (const page of [0, 1]) first.program(0, 0, page, [first.bytes(1), 0, 0, 0]);
    first.store.history.read(0);
    first.image.abandon();
    const second = new FollowedStore(openImage(path));
    const { history } = second.store;
    const said = () => [history.firstMinuteOf(0), history.lastMinuteOf(0), history.readsOf(0)];
    expect(said()).toEqual([60, 60, 0]);
    history.read(0);
    second.follower.sync();
    second.image.abandon();
    const third = new FollowedStore(openImage(path));
    expect(third.store.history.readsOf(0)).toBe(1);
    third.erase(0, 0);
    third.image.close();
    const { store } = new FollowedStore(openImage(path));
    expect([store.history.firstMinuteOf(0), store.history.eraseCountOf(0)]).toEqual([-1, 1]);
  });

  it('damage of a failed, dropped or astray program is kept, and the clock of the flash', () => {
    const path = newPath();
    const first = new FollowedStore(createImage(path));
    const unit = (page: number) => first.geometry.unitSlotOf(1, 0, page);
    const block = first.geometry.blockIndex(1, 0);
    first.program(
      1,
      0,
      0,
      [1, 2, 3, 4].map((seed) => first.bytes(seed)),
    );
    // Plane 0 fails: the page is used and holds nothing. Plane 1 drops the program.
    first.store.openPage(block, 1, 61);
    first.store.damagePage(block, 1, 0.5);
    first.follower.programmed(unit(1), first.geometry.slotsPerUnit);
    // A program that has gone astray spoils a page that is full: its data stays as it was.
    first.store.damagePage(block + 1, 0, 0.001);
    first.follower.programmed(unit(0), first.geometry.slotsPerUnit);
    // A partner page of a cut program: nobody is told, `sync` finds it.
    first.store.damagePage(block, 0, 1e-9);
    first.follower.sync();
    first.image.minute = 1234;
    first.image.close();
    const second = new FollowedStore(openImage(path));
    const { store, image, contents, geometry } = second;
    expect(image.minute).toBe(1234);
    expect(store.damage.list()).toEqual([
      // Rates are kept in units of 2^-32.
      { block, page: 0, rber: 4 / 2 ** 32 },
      { block, page: 1, rber: 0.5 },
      { block: block + 1, page: 0, rber: 4294967 / 2 ** 32 },
    ]);
    expect([store.history.nextPageOf(block), store.history.nextPageOf(block + 1)]).toEqual([2, 1]);
    const kept = contents.bytesOf(store.contentOf(geometry.slotOf(1, 1, 0, 0)));
    expect(Buffer.compare(kept, pattern(3))).toBe(0);
    expect(verifyImage(image).damage).toEqual([]);
    second.erase(1, 0);
    image.close();
    expect(new FollowedStore(openImage(path)).store.damage.count).toBe(0);
  });

  it('the clock is never behind a block, however the program ends', () => {
    const path = newPath();
    const first = new FollowedStore(createImage(path));
    first.program(0, 0, 3, [0, 0, 0, 0]);
    first.image.abandon();
    // FollowedStore programs page p at minute 60 + p.
    expect(openImage(path).minute).toBe(63);
  });

  it('cells of a block are kept, erase count and history', () => {
    const path = newPath();
    const image = createImage(path);
    const cells = Int32Array.from([0, 41, -1, 2 ** 31 - 1, 3, 4, 5, 6]);
    image.writeBlock(9, cells);
    image.close();
    const { blocks } = openImage(path);
    expect([...blocks.cells.subarray(9 * BLOCK_CELLS, 10 * BLOCK_CELLS)]).toEqual([...cells]);
    expect(blocks.cells[9 * BLOCK_CELLS + ERASE_COUNT]).toBe(41);
  });
});

describe('an image that cannot be had', () => {
  it('is refused to a second opener, who is told the first; links do not help', () => {
    const path = newPath();
    const image = createImage(path);
    const link = join(newFolder(), 'link.nand');
    symlinkSync(path, link);
    for (const options of [{}, { readOnly: true }]) {
      expect(() => openImage(path, options)).toThrow(
        new RunError(
          `cannot open ${path}: process ${process.pid} has it open; end it, or use another image`,
        ),
      );
      expect(() => openImage(link, options)).toThrow(RunError);
    }
    image.close();
    expect(existsSync(`${path}.lock`)).toBe(false);
    const readers = [openImage(path, { readOnly: true }), openImage(path, { readOnly: true })];
    expect(readers.map(({ wasClean }) => wasClean)).toEqual([true, true]);
  });

  it('is not kept by a process that is gone', () => {
    const path = newPath();
    createImage(path).close();
    const lock = { pid: 2 ** 22 + 1, bootId: bootId(), startTicks: '1' };
    writeFileSync(`${path}.lock`, JSON.stringify(lock));
    const image = openImage(path);
    expect(image.takenOver).toBe(
      `took over the lock ${path}.lock of process ${lock.pid}, which is gone`,
    );
    image.close();
    // This process, but of another boot, and with another start: numbers come back.
    for (const stale of [{ bootId: 'other' }, { startTicks: '1' }]) {
      writeFileSync(`${path}.lock`, JSON.stringify({ ...lock, pid: process.pid, ...stale }));
      openImage(path).close();
    }
    writeFileSync(`${path}.lock`, 'rubbish');
    expect(() => openImage(path)).toThrow(/names no process; remove the lock/);
  });

  it('is not made over a file, nor where none can be', () => {
    const path = newPath();
    writeFileSync(path, 'mine');
    expect(() => createImage(path)).toThrow(/it exists already/);
    expect(readFileSync(path, 'utf8')).toBe('mine');
    expect(() => createImage('/nowhere/drive.nand')).toThrow(RunError);
    expect(() => openImage(join(newFolder(), 'none'))).toThrow(/no such file or folder/);
  });

  it('is told when it is foreign, new, or of another drive', () => {
    const path = newPath();
    writeFileSync(path, Buffer.alloc(8192, 'x'));
    expect(() => openImage(path)).toThrow(/byte 0: this is no image/);
    writeFileSync(path, '');
    expect(() => openImage(path)).toThrow(/it has 0 bytes, its header alone has 4096/);
    expect(() => openImage(newFolder())).toThrow(RunError);

    const other = newPath();
    const image = createImage(other);
    image.close();
    const misfits = [
      [{ profile: 'vector-256' }, 'profile is small; this drive needs vector-256'],
      [{ content: 'tags' as const }, 'content is bytes; this drive needs tags'],
      [{ geometry: { ...SMALL.geometry, planes: 4 } }, 'geometry.planes is 2; this drive needs 4'],
    ] as const;
    for (const [change, words] of misfits) {
      expect(() => openImage(other, { fits: { ...SMALL, ...change } })).toThrow(words);
    }
    openImage(other, { fits: SMALL }).close();
    const file = readFileSync(other);
    file[8] = 2;
    writeFileSync(other, file);
    expect(() => openImage(other)).toThrow(/byte 8: the image has version 2; .* version 1/);
  });

  it('is refused when its header says what cannot be, whatever its checksum', () => {
    const path = newPath();
    const image = createImage(path);
    image.close();
    const broken = { ...SMALL, geometry: { ...SMALL.geometry, planes: 3 } };
    const file = readFileSync(path);
    file.set(encodeHeader(broken, image.layout));
    writeFileSync(path, file);
    expect(() => openImage(path)).toThrow(/header: geometry: planes/);
    file.set(
      encodeHeader({ ...SMALL, geometry: { ...SMALL.geometry, channels: 4 } }, image.layout),
    );
    writeFileSync(path, file);
    expect(() => openImage(path)).toThrow(/fileBytes is \d+; its geometry makes it \d+/);
  });

  it('is told from a file that was cut, at any length', () => {
    const path = newPath();
    const { layout } = createImage(path);
    openedBefore(path);
    const { fileBytes, blockTableAt, pageRecordsAt, dataAt } = layout;
    const ends = [fileBytes, dataAt, pageRecordsAt, blockTableAt, 4096, HeaderRecord.span];
    const lengths = ends.flatMap((end) => [end - 1, end - 512]).concat(0, 1, 4096, dataAt);
    for (const length of lengths.filter((one) => one >= 0).sort((a, b) => b - a)) {
      truncateSync(path, length);
      const words = length < 4096 ? /this is no image: it has \d+ bytes/ : /the image is cut short/;
      expect(() => openImage(path)).toThrow(words);
      expect(() => openImage(path)).toThrow(RunError);
    }
    truncateSync(path, 0);
  });
});

/** Closes what the kit has open on the path. */
function openedBefore(path: string): void {
  expect(() => ImageFile.open(path)).toThrow(/has it open/);
  writeFileSync(
    `${path}.lock`,
    JSON.stringify({ pid: 2 ** 22 + 1, bootId: 'gone', startTicks: '' }),
  );
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
