/**
 * The root: the newest record says whether the checkpoint is the whole truth.
 *
 * Records are appended to the LSB pages of one block pair, on die 0 and die 1 in turn: when one is
 * full, or fails, the other is erased and continues. Before anything is programmed after a clean
 * checkpoint a record says that the drive is dirty.
 */

import { FlashOp, FlashStatus, SLOTS_PER_OP } from '../../hal/flash-ops.ts';
import { invariant } from '../../hal/sim/invariant.ts';
import type { Saveable, Saved } from '../../hal/sim/snapshot.ts';
import type { Board, OpClient } from '../board.ts';
import {
  type CheckpointPlace,
  decodeRoot,
  encodeRoot,
  LAYOUT_VERSION,
  ROOT_MAGIC,
  type Root,
  RootState,
} from './layouts.ts';
import { type MetadataIo, MetadataUser } from './metadata-io.ts';
import { ROOT_SUPERBLOCK } from './superblocks.ts';

const DIES = 2;
/** Failed programs of one record after which its die is given up. */
const FAILURES_MAX = 3;

/** Told when a root record is durable, or when the search for it has ended. */
export interface RootListener {
  rootWritten(state: RootState): void;
  rootFound(): void;
}

export class RootBlocks implements OpClient, Saveable {
  readonly kind = 'firmware.root';
  readonly version = 2;
  listener: RootListener | null = null;
  /** The newest record, null before mount or on a drive that was never formatted. */
  root: Root | null = null;
  /** Superblocks of the checkpoint that the newest record names. */
  places: CheckpointPlace[] = [];
  /** A record is being written. */
  writing = false;
  readonly #board: Board;
  readonly #io: MetadataIo;
  /** Die and LSB page number (index into the pairing's list) of the next record. */
  #die = 0;
  #next = 0;
  /** Times the present record could not be programmed on this die. */
  #failures = 0;
  /** The present record has changed the die: the other one holds the newest durable record. */
  #changedDie = false;
  /** While searching: next LSB page to read on each die, and dies not finished. */
  readonly #searchAt = new Int32Array(DIES);
  #searching = 0;
  #pendingState = RootState.Formatted;

  constructor(board: Board, io: MetadataIo) {
    this.#board = board;
    this.#io = io;
    io.connect(MetadataUser.Root, this);
  }

  get state(): RootState | null {
    return this.root === null ? null : (this.root.state as RootState);
  }

  /** Nothing has been written since the checkpoint, or since formatting. */
  get isClean(): boolean {
    return this.root !== null && this.root.state !== RootState.Dirty;
  }

  /** Reads the root block pairs; `rootFound` follows. */
  search(): void {
    this.root = null;
    this.places = [];
    this.#searching = DIES;
    for (let die = 0; die < DIES; die++) {
      this.#searchAt[die] = 0;
      this.#readNext(die);
    }
  }

  /** Appends a record; `rootWritten` follows. */
  write(state: RootState, fields: Partial<Root>, places: CheckpointPlace[]): void {
    const before = this.root;
    this.root = {
      magic: ROOT_MAGIC,
      version: LAYOUT_VERSION,
      checkpointPages: before?.checkpointPages ?? 0,
      nextOrder: before?.nextOrder ?? 1,
      powerCycles: before?.powerCycles ?? 0,
      unplannedLosses: before?.unplannedLosses ?? 0,
      ...fields,
      state,
      superblockCount: places.length,
      sequence: (before?.sequence ?? 0) + 1,
    };
    this.places = places;
    this.writing = true;
    this.#pendingState = state;
    this.#failures = 0;
    this.#changedDie = false;
    if (this.#next < this.#board.pairing.lsbPages.length) this.#program();
    else this.#changeDie();
  }

  flashDone(op: number): void {
    const { ops } = this.#board;
    if (ops.status[op] === FlashStatus.Failed) {
      this.#failed(op);
      return;
    }
    switch (ops.op[op] as FlashOp) {
      case FlashOp.Erase:
        this.#program();
        return;
      case FlashOp.Program:
        this.writing = false;
        this.listener!.rootWritten(this.#pendingState);
        return;
      case FlashOp.Read:
        this.#recordRead(op);
    }
  }

  get #block(): number {
    return ROOT_SUPERBLOCK * this.#board.geometry.planes;
  }

  /** A record that could not be written is tried on further pages, then on the other die. */
  #failed(op: number): void {
    const { ops, content, pairing } = this.#board;
    if (ops.op[op] === FlashOp.Program) {
      content.release(ops.content[op * SLOTS_PER_OP]!);
      const hasPage = this.#next < pairing.lsbPages.length;
      if (++this.#failures < FAILURES_MAX && hasPage) {
        this.#program();
        return;
      }
    }
    this.#changeDie();
  }

  #changeDie(): void {
    invariant(!this.#changedDie, 'one of the root block pairs takes a record');
    this.#changedDie = true;
    this.#failures = 0;
    this.#die = (this.#die + 1) % DIES;
    this.#next = 0;
    this.#io.submit(this.#io.prepareErase(MetadataUser.Root, this.#die, this.#block));
  }

  #program(): void {
    const page = this.#board.pairing.lsbPages[this.#next++]!;
    const op = this.#io.prepareProgram(MetadataUser.Root, this.#die, this.#block, page);
    const content = this.#board.content.write(encodeRoot(this.root!, this.places));
    this.#io.setPage(op, 0, 0, content);
    this.#io.submit(op);
  }

  #readNext(die: number): void {
    const page = this.#board.pairing.lsbPages[this.#searchAt[die]!]!;
    this.#io.submit(this.#io.prepareRead(MetadataUser.Root, die, this.#block, page, 1));
  }

  #recordRead(op: number): void {
    const { ops, content: contents, pairing } = this.#board;
    const die = ops.die[op]!;
    const content = ops.content[op * SLOTS_PER_OP]!;
    const unreadable = ops.badSectors[op * SLOTS_PER_OP] !== 0;
    const written = unreadable || ops.pageWord[op * SLOTS_PER_OP] !== 0;
    if (written) {
      const bytes = unreadable ? null : contents.read(content);
      this.#consider(bytes === null ? null : decodeRoot(bytes), die);
      contents.release(content);
      this.#searchAt[die] = this.#searchAt[die]! + 1;
      if (this.#searchAt[die]! < pairing.lsbPages.length) {
        this.#readNext(die);
        return;
      }
    }
    if (--this.#searching > 0) return;
    this.#next = this.root === null ? 0 : this.#searchAt[this.#die]!;
    this.listener!.rootFound();
  }

  #consider(found: { root: Root; places: CheckpointPlace[] } | null, die: number): void {
    if (found === null) return;
    if (this.root !== null && this.root.sequence >= found.root.sequence) return;
    this.root = found.root;
    this.places = found.places;
    this.#die = die;
  }

  reset(): void {
    this.root = null;
    this.places = [];
    this.writing = false;
    this.#die = 0;
    this.#next = 0;
    this.#searching = 0;
  }

  save(): Saved {
    return {
      root: this.root === null ? null : { ...this.root },
      places: this.places.map((place) => ({ ...place })),
      writing: this.writing,
      die: this.#die,
      next: this.#next,
      searchAt: this.#searchAt.slice(),
      searching: this.#searching,
      failures: this.#failures,
      changedDie: this.#changedDie,
      pendingState: this.#pendingState,
    };
  }

  restore(saved: Saved): void {
    this.root = saved.root as Root | null;
    this.places = (saved.places as unknown as CheckpointPlace[]).map((place) => ({ ...place }));
    this.writing = saved.writing as boolean;
    this.#die = saved.die as number;
    this.#next = saved.next as number;
    this.#searchAt.set(saved.searchAt as Int32Array);
    this.#searching = saved.searching as number;
    this.#failures = saved.failures as number;
    this.#changedDie = saved.changedDie as boolean;
    this.#pendingState = saved.pendingState as RootState;
  }
}
