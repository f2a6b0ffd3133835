/**
 * Flash operation descriptors: the pool in SRAM through which Aragon and the channels talk.
 *
 * A descriptor names one array operation on one multi-plane page (or block pair) and carries up to
 * eight slots. Firmware fills it and submits its index; the array fills in status and what was
 * read. Every field is a column, so that nothing is allocated per operation.
 */

import { invariant } from './sim/invariant.ts';
import type { Saveable, Saved } from './sim/snapshot.ts';

export enum FlashOp {
  Read,
  Program,
  Erase,
}

export enum FlashStatus {
  Ok,
  /** The die reported FAIL for a program or erase. */
  Failed,
  /** A codeword held more errors than the code corrects. */
  Uncorrectable,
}

/** Slots a descriptor has room for. */
export const SLOTS_PER_OP = 8;
const NONE = -1;

/** Bits of the spare's page word: the logical page plus one, and flags above it. */
export const LPN_MASK = 0x0fff_ffff;
/** The last slot of its host command. */
export const LAST_OF_COMMAND = 1 << 28;
/** The slot holds metadata; the word's number is the metadata page index plus one. */
export const METADATA = 1 << 29;
/** Page word read from a block that the factory has marked bad; nothing is ever programmed so. */
export const BAD_BLOCK_MARK = (1 << 30) | LPN_MASK;

export class FlashOps implements Saveable {
  readonly kind = 'hal.flash-ops';
  readonly version = 3;
  readonly capacity: number;

  readonly op: Uint8Array;
  readonly die: Int32Array;
  /** Block of plane 0 within the die; the operation covers one block per plane. */
  readonly block: Int32Array;
  readonly page: Int32Array;
  /** Bit j: slot j of the multi-plane page takes part (reads transfer only these). */
  readonly slotMask: Uint8Array;
  /** 1: ahead of every operation that is not urgent. */
  readonly urgent: Uint8Array;
  readonly status: Uint8Array;
  /** Firmware's own: who is told of the end, and with what. */
  readonly owner: Uint8Array;
  readonly argument: Int32Array;
  /** Data handles of the slots (content.ts). */
  readonly content: Int32Array;
  /** Spare record: logical page plus one with flags. */
  readonly pageWord: Int32Array;
  /** Spare record: low 32 bits of the order number. */
  readonly order: Int32Array;
  /** Of a read: bit n of a slot is its sector n, which could not be corrected. */
  readonly badSectors: Uint8Array;
  /** Of a read: level of shifted references, 0 the ordinary one. */
  readonly retry: Uint8Array;
  /** Of a read: bits corrected in the worst codeword. */
  readonly correctedBits: Uint8Array;
  /** Firmware's own, per slot: where a read slot goes or where a programmed one came from. */
  readonly target: Int32Array;
  /** Next descriptor of the queue this one waits in, or of the free list. */
  readonly next: Int32Array;
  #free = 0;
  /** Descriptors in use. */
  usedCount = 0;
  /** One more than the highest descriptor ever taken: those from here on are as at power-on. */
  #highWater = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
    this.op = new Uint8Array(capacity);
    this.die = new Int32Array(capacity);
    this.block = new Int32Array(capacity);
    this.page = new Int32Array(capacity);
    this.slotMask = new Uint8Array(capacity);
    this.urgent = new Uint8Array(capacity);
    this.status = new Uint8Array(capacity);
    this.owner = new Uint8Array(capacity);
    this.argument = new Int32Array(capacity);
    this.content = new Int32Array(capacity * SLOTS_PER_OP);
    this.pageWord = new Int32Array(capacity * SLOTS_PER_OP);
    this.order = new Int32Array(capacity * SLOTS_PER_OP);
    this.badSectors = new Uint8Array(capacity * SLOTS_PER_OP);
    this.correctedBits = new Uint8Array(capacity);
    this.retry = new Uint8Array(capacity);
    this.target = new Int32Array(capacity * SLOTS_PER_OP);
    this.next = new Int32Array(capacity);
    this.reset();
  }

  get freeCount(): number {
    return this.capacity - this.usedCount;
  }

  /** Takes a descriptor; its columns hold what its last user left. */
  take(): number {
    const index = this.#free;
    invariant(index !== NONE, 'a flash descriptor is free when one is taken');
    this.#free = this.next[index]!;
    if (index >= this.#highWater) this.#highWater = index + 1;
    this.usedCount++;
    return index;
  }

  give(index: number): void {
    this.next[index] = this.#free;
    this.#free = index;
    this.usedCount--;
  }

  /** Makes the slots of a program from `first` up to `end` padding. */
  pad(index: number, first: number, end: number): void {
    for (let at = index * SLOTS_PER_OP + first; at < index * SLOTS_PER_OP + end; at++) {
      this.content[at] = 0;
      this.pageWord[at] = 0;
      this.order[at] = 0;
    }
  }

  /** All descriptors free, as at power-on. */
  reset(): void {
    this.#chain(0);
    this.#free = 0;
    this.usedCount = 0;
    this.#highWater = 0;
  }

  /** Puts the descriptors from `first` on into their state at power-on: empty, free, in order. */
  #chain(first: number): void {
    for (const column of Object.values(this.#columns())) {
      column.fill(0, (column.length / this.capacity) * first);
    }
    for (let i = first; i < this.capacity; i++) this.next[i] = i + 1;
    this.next[this.capacity - 1] = NONE;
  }

  #columns(): { [name: string]: Uint8Array | Int32Array } {
    const { op, die, block, page, slotMask, urgent, status, owner } = this;
    const { argument, content, pageWord, order, target, next } = this;
    const { badSectors, correctedBits, retry } = this;
    return {
      ...{ op, die, block, page, slotMask, urgent, status, owner },
      ...{ argument, content, pageWord, order, target, next },
      ...{ badSectors, correctedBits, retry },
    };
  }

  /** Saves the descriptors ever taken; the others are as at power-on. */
  save(): Saved {
    const used = this.#highWater / this.capacity;
    const columns = Object.entries(this.#columns()).map(([name, column]) => [
      name,
      column.slice(0, column.length * used),
    ]);
    return {
      free: this.#free,
      usedCount: this.usedCount,
      highWater: this.#highWater,
      ...Object.fromEntries(columns),
    };
  }

  restore(saved: Saved): void {
    this.#free = saved.free as number;
    this.usedCount = saved.usedCount as number;
    this.#highWater = saved.highWater as number;
    for (const [name, column] of Object.entries(this.#columns())) {
      column.set(saved[name] as Int32Array);
    }
    this.#chain(this.#highWater);
  }
}
