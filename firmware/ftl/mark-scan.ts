/**
 * The mark scan: reads the factory's bad-block marks when a new drive is formatted.
 *
 * The maker leaves 00h in the first spare byte of a bad block's first page; erasing or programming
 * the block would destroy the mark, so it is read before anything else is done (Micron L74A data
 * sheet). One read a block group covers every plane.
 */

import { BAD_BLOCK_MARK, SLOTS_PER_OP } from '../../hal/flash-ops.ts';
import type { Saveable, Saved } from '../../hal/sim/snapshot.ts';
import type { Board, OpClient } from '../board.ts';
import type { BadBlocks } from './bad-blocks.ts';
import { type MetadataIo, MetadataUser } from './metadata-io.ts';

export class MarkScan implements OpClient, Saveable {
  readonly kind = 'firmware.mark-scan';
  readonly version = 1;
  readonly #board: Board;
  readonly #io: MetadataIo;
  readonly #bad: BadBlocks;
  readonly #readsMax: number;
  /** First slot of each plane. */
  readonly #mask: number;
  /** Called once when the last mark has been read. */
  onEnd: () => void = () => {};
  /** Block group to read next, superblock by superblock. */
  #next = 0;

  constructor(board: Board, io: MetadataIo, bad: BadBlocks) {
    const { planes, slotsPerPage, dies } = board.geometry;
    this.#board = board;
    this.#io = io;
    this.#bad = bad;
    this.#readsMax = dies * 2;
    this.#mask = Array.from({ length: planes }, (_, plane) => 1 << (plane * slotsPerPage)).reduce(
      (sum, bit) => sum | bit,
    );
    io.connect(MetadataUser.MarkScan, this);
  }

  begin(): void {
    this.#bad.reset();
    this.#next = 0;
    this.#pump();
  }

  flashDone(op: number): void {
    const { ops, geometry, content } = this.#board;
    for (let j = 0, mask = this.#mask; mask !== 0; j++, mask >>>= 1) {
      if ((mask & 1) === 0) continue;
      const at = op * SLOTS_PER_OP + j;
      if (ops.content[at]! < 0) content.release(ops.content[at]!);
      if (ops.pageWord[at] !== BAD_BLOCK_MARK) continue;
      this.#bad.addFactory(ops.block[op]! >>> geometry.planeBits, ops.die[op]!);
    }
    this.#pump();
    if (this.#io.inFlight[MetadataUser.MarkScan] === 0) this.onEnd();
  }

  #pump(): void {
    const { dies, planes, superblocks } = this.#board.geometry;
    const io = this.#io;
    const groups = superblocks * dies;
    while (this.#next < groups && io.inFlight[MetadataUser.MarkScan]! < this.#readsMax) {
      const superblock = Math.floor(this.#next / dies);
      const die = this.#next++ - superblock * dies;
      const block = superblock * planes;
      io.submit(io.prepareRead(MetadataUser.MarkScan, die, block, 0, this.#mask));
    }
  }

  reset(): void {
    this.#next = 0;
  }

  save(): Saved {
    return { next: this.#next };
  }

  restore(saved: Saved): void {
    this.#next = saved.next as number;
  }
}
