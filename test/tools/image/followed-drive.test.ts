/**
 * Goal: the image of a drive that collects, fails and is aged is the flash of that drive, to the
 * last cell.
 * Method: a toy drive of bytes over an image is overwritten at random under faults; the image is
 * loaded into another page store and compared with the drive's own, and a drive boots from it.
 */
import { afterEach, expect, test } from 'vitest';
import { Host } from '../../../firmware/host.ts';
import { TOY } from '../../../firmware/profiles/toy.ts';
import { ByteContent } from '../../../hal/content/byte-content.ts';
import type { Fault } from '../../../hal/faults/fault.ts';
import type { DriveProfile } from '../../../hal/profile.ts';
import { crc32Of } from '../../../hal/sim/crc.ts';
import { BlockFlag, HISTORY_CELLS } from '../../../nand/block-history.ts';
import { DriveImage } from '../../../tools/image/drive-image.ts';
import { BLOCK_CELLS, decodeRber, encodeRber } from '../../../tools/image/format.ts';
import { verifyImage } from '../../../tools/image/verify.ts';
import { newPath, openImage, removeImages } from './image-kit.ts';

afterEach(removeImages);

const PAGES = TOY.identity.sectors / 8;
const PAGE_BYTES = 4096;
const STANDARD = { profile: TOY, seed: 'bf3' };

function openHost(image: DriveImage, profile: DriveProfile = TOY): Host {
  const contents = (machine: Host['drive']['machine']) => new ByteContent(64, null, machine);
  const host = new Host(profile, { seed: image.seed, contents });
  image.attach(host.drive);
  host.boot();
  return host;
}

/** Everything a store holds, a line a slot and a line a block: what differs is easily named. */
function pictureOf({ drive }: Host): string[] {
  const { store } = drive.array;
  const { geometry, history } = store;
  const lines: string[] = [];
  for (let slot = 0; slot < geometry.slots; slot++) {
    const content = store.contentOf(slot);
    const crc = content === 0 ? 0 : crc32Of(drive.contents.bytesOf(content));
    const spoilt = drive.contents.spoiledOf(content);
    const spare = `${store.pageWordOf(slot)} ${store.orderOf(slot)} ${spoilt}`;
    lines.push(`${geometry.describe(slot)}: ${spare} ${crc}`);
  }
  for (let block = 0; block < geometry.blocks; block++) {
    const first = block * HISTORY_CELLS;
    lines.push(`block ${block}: ${history.table.values.slice(first, first + BLOCK_CELLS)}`);
  }
  return lines;
}

/** Pseudo-random pages; xorshift32. */
function* pagesAtRandom(count: number): Iterable<number> {
  let word = 0x2545f491;
  for (let i = 0; i < count; i++) {
    word ^= word << 13;
    word ^= word >>> 17;
    word ^= word << 5;
    yield (word >>> 0) % PAGES;
  }
}

const FAULTS: readonly Fault[] = [
  { kind: 'program-fail', probability: 0.002, times: 6 },
  { kind: 'erase-fail', probability: 0.05, times: 2 },
];

test('overwritten at random under faults, the flash and its image are one', () => {
  const path = newPath();
  const image = DriveImage.open(path, STANDARD, STANDARD);
  const host = openHost(image);
  const { drive } = host;
  for (const fault of FAULTS) drive.faults.add(fault);
  const rounds = new Map<number, number>();
  let round = 0;
  for (const page of pagesAtRandom(12_000)) {
    host.writeBytes(page * 8, new Uint8Array(PAGE_BYTES).fill(1 + (round % 250)));
    rounds.set(page, round++);
    if (round % 3000 === 0) drive.array.media.clock.age(10, 40);
  }
  host.standby();
  expect(drive.faults.unfired()).toEqual([]);
  expect(drive.firmware.superblocks.eraseCount.some((count) => count > 0)).toBe(true);
  const { minute } = drive.array.media.clock;
  image.keepClock();
  const damage = drive.array.store.damage.list();
  expect(damage.length).toBeGreaterThan(0);
  const picture = pictureOf(host);
  image.close();

  const again = DriveImage.open(path, {}, STANDARD);
  const contents = (machine: typeof drive.machine) => new ByteContent(64, null, machine);
  const loaded = new Host(TOY, { contents });
  again.attach(loaded.drive);
  expect(loaded.drive.array.media.clock.minute).toBe(minute);
  expect(loaded.drive.array.store.damage.list()).toEqual(
    damage.map((one) => ({ ...one, rber: decodeRber(encodeRber(one.rber)) })),
  );
  const other = pictureOf(loaded);
  expect(other.length).toBe(picture.length);
  expect(other.filter((line, i) => line !== picture[i])).toEqual([]);
  loaded.boot();
  const wrong: number[] = [];
  for (const [page, written] of rounds) {
    const { bytes } = loaded.read(page * 8, PAGE_BYTES / 512);
    if (!bytes!.every((byte) => byte === 1 + (written % 250))) wrong.push(page);
  }
  expect(wrong).toEqual([]);
  loaded.standby();
  again.close();
  const report = verifyImage(openImage(path, { readOnly: true }));
  expect([report.damage, report.interruptedPages, report.interruptedErases]).toEqual([[], [], []]);
});

test("the maker's marks are kept, and one that is destroyed does not come back", () => {
  const profile: DriveProfile = { ...TOY, cells: { ...TOY.cells, factoryBadBlocks: true } };
  const seed = 'marks';
  const path = newPath();
  const image = DriveImage.open(path, { profile, seed }, STANDARD);
  const contents = (machine: Host['drive']['machine']) => new ByteContent(64, null, machine);
  const newHost = () => new Host(profile, { seed, contents });
  const first = newHost();
  image.attach(first.drive);
  const { store } = first.drive.array;
  const marked = Array.from({ length: store.geometry.blocks }, (_, block) => block).filter(
    (block) => (store.history.flagsOf(block) & BlockFlag.FactoryMark) !== 0,
  );
  expect(marked.length).toBeGreaterThan(1);
  store.erase(marked[0]!);
  image.close();
  const again = DriveImage.open(path, {}, STANDARD);
  const second = newHost();
  again.attach(second.drive);
  const flags = marked.map((block) => second.drive.array.store.history.flagsOf(block));
  expect(flags).toEqual([0, ...marked.slice(1).map(() => BlockFlag.FactoryMark)]);
  again.close();
});
