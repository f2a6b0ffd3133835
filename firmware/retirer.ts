/**
 * The retirer: Aragon's program for ended flash operations.
 *
 * One run takes every operation that has ended since the last, hands each to its owner and gives
 * the descriptor back.
 */

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
      this.#clients[ops.owner[op]!]!.flashDone(op);
      ops.give(op);
      count++;
    }
    if (count > 1) aragon.charge((count - 1) * ARAGON.retireMore);
    if (this.#checkpoint.isRunning) this.#checkpoint.settle();
  }
}
