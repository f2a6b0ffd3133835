/**
 * A program to be killed: writes an image without end and says, line by line, what is done.
 *
 * Each round fills every block of every die with pages of (round, unit) and erases them. 'b N' is
 * printed before the Nth step, 'e N' after it.
 */
import { writeSync } from 'node:fs';
import { ImageFile } from '../../../tools/image/image-file.ts';
import { FollowedStore } from './followed-store.ts';
import { stepOf } from './killed-steps.ts';

const image = ImageFile.open(process.argv[2]!);
const followed = new FollowedStore(image);
for (let step = Number(process.argv[3]); ; step++) {
  const { die, superblock, page, seed } = stepOf(followed.geometry, step);
  writeSync(1, `b ${step}\n`);
  if (page === null) followed.erase(die, superblock);
  else
    followed.program(
      die,
      superblock,
      page,
      [0, 1, 2, 3].map((j) => followed.bytes(seed + j)),
    );
  writeSync(1, `e ${step}\n`);
}
