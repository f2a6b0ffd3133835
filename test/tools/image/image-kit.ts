/** What the tests of images share: a small geometry, files that are gone after the test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImageHeader } from '../../../tools/image/header.ts';
import { ImageFile, type OpenOptions } from '../../../tools/image/image-file.ts';

export { FollowedStore, PAGE, pattern } from './followed-store.ts';

/** 4 dies of 8 blocks of 8 pages of 2 slots: 512 slots, 4 superblocks of 32 units. */
export const SMALL: ImageHeader = {
  profile: 'small',
  part: 'toy',
  content: 'bytes',
  geometry: {
    ...{ channels: 2, diesPerChannel: 2, planes: 2, blocksPerDie: 8, pagesPerBlock: 8 },
    ...{ pageBytes: 8192, spareBytes: 448 },
  },
  seed: 'bf3',
  createdBy: 'test',
};

const folders: string[] = [];
const images: ImageFile[] = [];

/** Closes the images and removes the folders of a test: `afterEach(removeImages)` in every file. */
export function removeImages(): void {
  for (const image of images.splice(0)) image.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** A folder that is gone after the test. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bf3-image-'));
  folders.push(folder);
  return folder;
}

export function newPath(): string {
  return join(newFolder(), 'drive.nand');
}

/** Opens an image that is closed after the test. */
export function openImage(path: string, options: OpenOptions = {}): ImageFile {
  const image = ImageFile.open(path, options);
  images.push(image);
  return image;
}

export function createImage(path: string, header: ImageHeader = SMALL): ImageFile {
  const image = ImageFile.create(path, header);
  images.push(image);
  return image;
}
