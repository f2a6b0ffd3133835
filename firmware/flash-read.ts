/**
 * Filling in a flash read descriptor: the same three lines for every reader of flash.
 */

import { FlashOp } from '../hal/flash-ops.ts';
import type { Board, OpOwner } from './board.ts';

/** A read of the multi-plane page of `flashSlot` with no slot chosen yet; the caller submits it. */
export function prepareRead(
  board: Board,
  flashSlot: number,
  owner: OpOwner,
  argument: number,
): number {
  const { geometry, ops } = board;
  const op = ops.take();
  ops.op[op] = FlashOp.Read;
  ops.die[op] = geometry.dieOf(flashSlot);
  ops.block[op] = geometry.blockOf(flashSlot) & ~(geometry.planes - 1);
  ops.page[op] = geometry.pageOf(flashSlot);
  ops.slotMask[op] = 0;
  ops.urgent[op] = 1;
  ops.owner[op] = owner;
  ops.argument[op] = argument;
  return op;
}
