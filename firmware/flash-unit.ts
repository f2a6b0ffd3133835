/**
 * The unit a flash descriptor works on: what every reader and writer of flash needs of it.
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
  ops.block[op] = geometry.superblockOf(flashSlot) << geometry.planeBits;
  ops.page[op] = geometry.pageOf(flashSlot);
  ops.slotMask[op] = 0;
  ops.urgent[op] = 1;
  ops.owner[op] = owner;
  ops.argument[op] = argument;
  return op;
}

/** First slot of the multi-plane page that an operation works on. */
export function unitSlotOf(board: Board, op: number): number {
  const { geometry, ops } = board;
  const superblock = ops.block[op]! >>> geometry.planeBits;
  return geometry.unitSlotOf(ops.die[op]!, superblock, ops.page[op]!);
}
