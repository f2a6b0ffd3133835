/**
 * The unit a flash descriptor works on: what every reader and writer of flash needs of it.
 */

import { FlashOp, type FlashOps, LPN_MASK, SLOTS_PER_OP } from '../hal/flash-ops.ts';
import type { Board, OpOwner } from './board.ts';
import type { Frontier } from './ftl/frontier.ts';
import type { Mapping } from './ftl/mapping.ts';

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
  ops.retry[op] = 0;
  ops.owner[op] = owner;
  ops.argument[op] = argument;
  return op;
}

/**
 * A program of the frontier's next unit with `count` slots, the others padding; its argument is the
 * count. The caller fills the slots in and submits it.
 */
export function prepareProgram(
  board: Board,
  frontier: Frontier,
  owner: OpOwner,
  count: number,
): number {
  const { geometry, ops } = board;
  frontier.take();
  const op = ops.take();
  ops.op[op] = FlashOp.Program;
  ops.die[op] = frontier.die;
  ops.block[op] = frontier.block;
  ops.page[op] = frontier.page;
  ops.slotMask[op] = (1 << count) - 1;
  ops.urgent[op] = 0;
  ops.owner[op] = owner;
  ops.argument[op] = count;
  if (count < geometry.slotsPerUnit) ops.pad(op, count, geometry.slotsPerUnit);
  return op;
}

/**
 * After a failed program: a program of the frontier's next unit with the same slots. The failed
 * block group is bad from now on; what it holds already stays readable until it is collected.
 */
export function prepareAgain(board: Board, frontier: Frontier, failed: number): number {
  const { ops } = board;
  const op = prepareProgram(board, frontier, ops.owner[failed]!, ops.argument[failed]!);
  for (let j = 0; j < ops.argument[failed]!; j++) {
    const from = failed * SLOTS_PER_OP + j;
    const to = op * SLOTS_PER_OP + j;
    ops.target[to] = ops.target[from]!;
    ops.content[to] = ops.content[from]!;
    ops.pageWord[to] = ops.pageWord[from]!;
    ops.order[to] = ops.order[from]!;
  }
  return op;
}

/** First slot of the multi-plane page that an operation works on. */
export function unitSlotOf(board: Board, op: number): number {
  const { geometry, ops } = board;
  const superblock = ops.block[op]! >>> geometry.planeBits;
  return geometry.unitSlotOf(ops.die[op]!, superblock, ops.page[op]!);
}

/** The map is about to follow a program that has ended: its cells are fetched together. */
export function needMapOf(mapping: Mapping, ops: FlashOps, op: number, count: number): void {
  const first = op * SLOTS_PER_OP;
  for (let at = first + 1; at < first + count; at++) {
    mapping.expect((ops.pageWord[at]! & LPN_MASK) - 1);
  }
  mapping.need((ops.pageWord[first]! & LPN_MASK) - 1);
}
