/**
 * Goal: a drive that boots from an image finds what the drive before it wrote.
 * Method: the flash of a toy drive in standby, followed into an image, loaded by another machine.
 */
import { afterEach, expect, it } from 'vitest';
import { NandImage } from '../../../firmware/drive.ts';
import { Host } from '../../../firmware/host.ts';
import { TOY } from '../../../firmware/profiles/toy.ts';
import { TaggedContent } from '../../../hal/content/tagged-content.ts';
import { ImageFollower } from '../../../tools/image/follower.ts';
import type { ImageHeader } from '../../../tools/image/header.ts';
import { verifyImage } from '../../../tools/image/verify.ts';
import { createImage, FollowedStore, newPath, openImage, removeImages } from './image-kit.ts';

afterEach(removeImages);

const HEADER: ImageHeader = {
  ...{ profile: TOY.id, part: TOY.partId, content: 'tags', geometry: TOY.geometry },
  ...{ seed: 'bf3', createdBy: 'test' },
};
const PAGES = 400;

function tagsOf(host: Host): number[] {
  const tags: number[] = [];
  for (let lpn = 0; lpn < PAGES; lpn += 8) tags.push(...host.read(lpn * 8, 64).tags!);
  return tags;
}

it('a drive boots from an image and reads what was written', () => {
  const path = newPath();
  const host = new Host('toy');
  host.boot();
  for (let i = 1; i <= 3 * PAGES; i++) host.write(((i * 7) % PAGES) * 8, [i]);
  host.write(80, [9001], 3);
  host.standby();
  const { store, contents } = host.drive.image;
  const { geometry } = store;
  const image = createImage(path, HEADER);
  for (let block = 0; block < geometry.blocks; block++) {
    const count = store.history.eraseCountOf(block);
    image.writeBlock(block, Int32Array.from([0, count, 0, 0, 0, 0, 0, 0]));
  }
  const follower = new ImageFollower(image, store, contents);
  for (let slot = 0; slot < geometry.slots; slot += geometry.slotsPerPage) {
    const used = store.history.nextPageOf(geometry.blockIndexOf(slot));
    if (geometry.pageOf(slot) < used) follower.programmed(slot, geometry.slotsPerPage);
  }
  image.close();

  const loaded = new FollowedStore(openImage(path), (machine) => new TaggedContent(machine));
  expect(verifyImage(loaded.image).damage).toEqual([]);
  const nand = new NandImage(TOY, loaded.machine, loaded.store, loaded.contents);
  const again = new Host('toy', { nand });
  again.boot();
  const tags = tagsOf(again);
  expect(tags.slice(80, 88)).toEqual([9001, 9001, 9001, ...tags.slice(83, 88)]);
  expect(tags.every((tag) => tag !== 0)).toBe(true);
  // The first drive goes on over the same image, its metadata pages now at home there.
  host.drive.powerOff();
  host.boot();
  expect(tagsOf(host)).toEqual(tags);
});
