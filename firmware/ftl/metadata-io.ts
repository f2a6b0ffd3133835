/**
 * Metadata reads and writes: units of metadata pages to and from flash, for root, checkpoint,
 * mount.
 */

import { FlashOp, METADATA, SLOTS_PER_OP } from '../../hal/flash-ops.ts';
import type { Saveable, Saved } from '../../hal/sim/snapshot.ts';
import { type Board, type OpClient, OpOwner } from '../board.ts';

/** Which part of the metadata firmware an operation belongs to: FlashOps.argument. */
export enum MetadataUser {
  Root,
  Checkpoint,
  Mount,
  MarkScan,
}

export class MetadataIo implements OpClient, Saveable {
  readonly kind = 'firmware.metadata-io';
  readonly version = 2;
  readonly #board: Board;
  readonly #users: (OpClient | null)[] = [null, null, null, null];
  /** Operations issued that have not ended, by user. */
  readonly inFlight = new Int32Array(4);

  constructor(board: Board) {
    this.#board = board;
  }

  connect(user: MetadataUser, client: OpClient): void {
    this.#users[user] = client;
  }

  /** A program descriptor for the unit; its slots are padding until `setPage`. */
  prepareProgram(user: MetadataUser, die: number, block: number, page: number): number {
    const op = this.#prepare(user, FlashOp.Program, die, block, page);
    this.#board.ops.pad(op, 0, this.#board.geometry.slotsPerUnit);
    return op;
  }

  /** Puts metadata page number `index` with `content` into slot `j`; the store takes it over. */
  setPage(op: number, j: number, index: number, content: number): void {
    const to = op * SLOTS_PER_OP + j;
    this.#board.ops.slotMask[op] = this.#board.ops.slotMask[op]! | (1 << j);
    this.#board.ops.content[to] = content;
    this.#board.ops.pageWord[to] = METADATA | (index + 1);
  }

  prepareRead(user: MetadataUser, die: number, block: number, page: number, mask: number): number {
    const op = this.#prepare(user, FlashOp.Read, die, block, page);
    this.#board.ops.slotMask[op] = mask;
    return op;
  }

  prepareErase(user: MetadataUser, die: number, block: number): number {
    return this.#prepare(user, FlashOp.Erase, die, block, 0);
  }

  submit(op: number): void {
    const user = this.#board.ops.argument[op]!;
    this.inFlight[user] = this.inFlight[user]! + 1;
    this.#board.flash.submit(op);
  }

  flashDone(op: number): void {
    const user = this.#board.ops.argument[op]!;
    this.inFlight[user] = this.inFlight[user]! - 1;
    this.#users[user]!.flashDone(op);
  }

  #prepare(user: MetadataUser, kind: FlashOp, die: number, block: number, page: number): number {
    const { ops } = this.#board;
    const op = ops.take();
    ops.op[op] = kind;
    ops.die[op] = die;
    ops.block[op] = block;
    ops.page[op] = page;
    ops.slotMask[op] = 0;
    ops.urgent[op] = 1;
    ops.retry[op] = 0;
    ops.owner[op] = OpOwner.Metadata;
    ops.argument[op] = user;
    return op;
  }

  reset(): void {
    this.inFlight.fill(0);
  }

  save(): Saved {
    return { inFlight: this.inFlight.slice() };
  }

  restore(saved: Saved): void {
    this.inFlight.set(saved.inFlight as Int32Array);
  }
}
