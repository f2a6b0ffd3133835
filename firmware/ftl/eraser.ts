/**
 * The eraser: erases the block pairs of emptied superblocks on every die that is good there.
 *
 * A pair that fails its erase is bad from then on.
 */

import { FlashOp, FlashStatus } from '../../hal/flash-ops.ts';
import type { Saveable, Saved } from '../../hal/sim/snapshot.ts';
import { type Board, type OpClient, OpOwner } from '../board.ts';
import { ARAGON } from '../costs.ts';
import type { SmartRecord } from '../smart-record.ts';
import { SuperblockState, type Superblocks } from './superblocks.ts';

/** Told when a superblock has been erased. */
export interface EraseListener {
  superblockErased(superblock: number): void;
}

export class Eraser implements OpClient, Saveable {
  readonly kind = 'firmware.eraser';
  readonly version = 1;
  listener: EraseListener | null = null;
  /** Superblocks being erased. */
  erasingCount = 0;
  readonly #board: Board;
  readonly #superblocks: Superblocks;
  readonly #smart: SmartRecord;
  /** Dies that have not yet erased their pair, by superblock. */
  readonly #diesLeft: Int32Array;

  constructor(board: Board, superblocks: Superblocks, smart: SmartRecord) {
    this.#board = board;
    this.#smart = smart;
    this.#superblocks = superblocks;
    this.#diesLeft = new Int32Array(superblocks.count);
  }

  erase(superblock: number): void {
    const { geometry, ops, flash, aragon } = this.#board;
    this.#superblocks.change(superblock, SuperblockState.Erasing);
    const { bad } = this.#superblocks;
    const usable = bad.usableDies(superblock);
    this.#diesLeft[superblock] = usable;
    this.erasingCount++;
    if (usable === 0) {
      this.#end(superblock);
      return;
    }
    for (let die = 0; die < geometry.dies; die++) {
      if (bad.isBad(superblock, die)) continue;
      const op = ops.take();
      ops.op[op] = FlashOp.Erase;
      ops.die[op] = die;
      ops.block[op] = superblock * geometry.planes;
      ops.page[op] = 0;
      ops.slotMask[op] = 0;
      ops.urgent[op] = 0;
      ops.owner[op] = OpOwner.Eraser;
      ops.argument[op] = superblock;
      flash.submit(op);
    }
    aragon.charge(usable * ARAGON.issue);
  }

  flashDone(op: number): void {
    const { ops } = this.#board;
    const superblock = ops.argument[op]!;
    if (ops.status[op] === FlashStatus.Failed) {
      this.#smart.eraseFailures++;
      this.#superblocks.bad.addGrown(superblock, ops.die[op]!);
    }
    const left = this.#diesLeft[superblock]! - 1;
    this.#diesLeft[superblock] = left;
    if (left === 0) this.#end(superblock);
  }

  #end(superblock: number): void {
    this.erasingCount--;
    this.#superblocks.erased(superblock);
    this.listener!.superblockErased(superblock);
  }

  reset(): void {
    this.erasingCount = 0;
    this.#diesLeft.fill(0);
  }

  save(): Saved {
    return { erasingCount: this.erasingCount, diesLeft: this.#diesLeft.slice() };
  }

  restore(saved: Saved): void {
    this.erasingCount = saved.erasingCount as number;
    this.#diesLeft.set(saved.diesLeft as Int32Array);
  }
}
