/**
 * The retirer: Aragon's program for ended flash operations.
 *
 * One run takes every operation that has ended since the last, hands each to its owner and gives
 * the descriptor back. A read that could not be corrected is tried again with shifted references,
 * as often as the part has levels of them.
 */

import { FlashStatus, SLOTS_PER_OP } from '../hal/flash-ops.ts';
import { Irq, type TaskBody } from '../hal/ports.ts';
import type { Board, OpClient } from './board.ts';
import { ARAGON } from './costs.ts';
import type { Checkpoint } from './ftl/checkpoint.ts';

const NONE = -1;

export class Retirer implements TaskBody {
  readonly #board: Board;
  /** Clients by OpOwner. */
  readonly #clients: readonly OpClient[];

  readonly #checkpoint: Checkpoint;

  constructor(board: Board, clients: readonly OpClient[], checkpoint: Checkpoint) {
    this.#board = board;
    this.#checkpoint = checkpoint;
    this.#clients = clients;
    const { aragon, interrupts } = board;
    const retire = aragon.define('retire', 0, ARAGON.retire, this);
    interrupts.connect(Irq.Flash, aragon, retire);
  }

  run(): void {
    const { flash, ops, aragon, interrupts } = this.#board;
    interrupts.acknowledge(Irq.Flash, false);
    let count = 0;
    for (;;) {
      const op = flash.takeDone();
      if (op === NONE) break;
      count++;
      if (ops.status[op] === FlashStatus.Uncorrectable && this.#readAgain(op)) continue;
      this.#clients[ops.owner[op]!]!.flashDone(op);
      ops.give(op);
    }
    if (count > 1) aragon.charge((count - 1) * ARAGON.retireMore);
    if (this.#checkpoint.isRunning) this.#checkpoint.settle();
  }

  /** Reads once more at the next level; false when there is none. */
  #readAgain(op: number): boolean {
    const { ops, content, flash, geometry, readRetryLevels } = this.#board;
    if (ops.retry[op]! >= readRetryLevels) return false;
    ops.retry[op] = ops.retry[op]! + 1;
    for (let j = 0; j < geometry.slotsPerUnit; j++) {
      const asked = ((ops.slotMask[op]! >>> j) & 1) !== 0;
      const handle = ops.content[op * SLOTS_PER_OP + j]!;
      if (asked && handle < 0) content.release(handle);
    }
    flash.submit(op);
    return true;
  }
}
