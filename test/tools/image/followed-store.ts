/** A page store whose every change goes into an image, as the flash array will do it. */
import { ByteContent } from '../../../hal/content/byte-content.ts';
import type { Content } from '../../../hal/content/content.ts';
import { Geometry } from '../../../hal/geometry.ts';
import { Machine } from '../../../hal/sim/snapshot.ts';
import { Timeline } from '../../../hal/sim/timeline.ts';
import { UndoLog } from '../../../hal/sim/undo-log.ts';
import { PageStore } from '../../../nand/page-store.ts';
import { ImageFollower } from '../../../tools/image/follower.ts';
import type { ImageFile } from '../../../tools/image/image-file.ts';
import { type LoadReport, loadImage } from '../../../tools/image/load.ts';

export const PAGE = 4096;

/** 4096 bytes that differ in every sector and for every seed. */
export function pattern(seed: number): Uint8Array {
  const bytes = new Uint8Array(PAGE);
  for (let i = 0; i < PAGE; i++) bytes[i] = (seed * 31 + (i >> 9) * 7 + i * 3) & 0xff;
  new DataView(bytes.buffer).setInt32(0, seed);
  return bytes;
}

/** A page store whose every change goes into an image. */
export class FollowedStore {
  readonly image: ImageFile;
  readonly machine = new Machine(new Timeline(), new UndoLog());
  readonly geometry: Geometry;
  readonly contents: Content;
  readonly store: PageStore;
  readonly follower: ImageFollower;
  readonly report: LoadReport;

  constructor(
    image: ImageFile,
    contents: (machine: Machine) => Content = () => new ByteContent(64, null),
  ) {
    this.image = image;
    this.geometry = new Geometry(image.header.geometry);
    this.contents = contents(this.machine);
    this.store = new PageStore(this.geometry, this.contents, this.machine);
    this.report = loadImage(image, this.store, this.contents);
    this.follower = new ImageFollower(image, this.store, this.contents);
    this.store.follower = this.follower;
  }

  /** Stores the bytes of a seed; 0 is the page of zeros. */
  bytes(seed: number): number {
    return seed === 0 ? 0 : (this.contents as ByteContent).store(pattern(seed));
  }

  /** Programs a multi-plane page; takes over a reference to each handle. Words are seed + 1. */
  program(die: number, superblock: number, page: number, handles: readonly number[]): void {
    const { geometry, store } = this;
    const unit = geometry.unitSlotOf(die, superblock, page);
    const block = geometry.blockIndexOf(unit);
    for (let plane = 0; plane < geometry.planes; plane++)
      store.openPage(block + plane, page, 60 + page);
    handles.forEach((handle, j) => {
      store.program(unit + j, handle, unit + j + 1, unit * 3 + j);
    });
    this.follower.programmed(unit, geometry.slotsPerUnit);
    this.follower.flush();
  }

  /** Erases a superblock's blocks of one die. */
  erase(die: number, superblock: number): void {
    const block = this.geometry.blockIndex(die, superblock * this.geometry.planes);
    for (let plane = 0; plane < this.geometry.planes; plane++) {
      this.store.erase(block + plane);
    }
  }

  /** Everything the store holds, with bytes as hexadecimal heads, to be compared. */
  picture(): { cells: unknown[]; nextPage: number[]; eraseCount: number[] } {
    const { store, geometry, contents } = this;
    const cells: unknown[] = [];
    const blocks = Array.from({ length: geometry.blocks }, (_, block) => block);
    for (let slot = 0; slot < geometry.slots; slot++) {
      if (store.pageWordOf(slot) === 0) continue;
      const content = store.contentOf(slot);
      const bytes = Buffer.from(contents.bytesOf(content)).toString('latin1');
      cells.push([slot, store.pageWordOf(slot), store.orderOf(slot), bytes]);
    }
    return {
      cells,
      nextPage: blocks.map((block) => store.history.nextPageOf(block)),
      eraseCount: blocks.map((block) => store.history.eraseCountOf(block)),
    };
  }
}
