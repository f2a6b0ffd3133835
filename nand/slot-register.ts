/**
 * A page register of the drive's dies: what lies between the bus and the cells of one plane.
 *
 * The controller moves whole slots, so a register usually only says where its page came from: the
 * cells of a page, or the slots of a program descriptor. Raw bytes are made when somebody looks at
 * them cycle by cycle, and kept when somebody writes them so.
 */

import type { Saved } from '../hal/sim/snapshot.ts';
import { ERASED_BYTE, type PageRegister } from './onfi/page-register.ts';

const NONE = -1;

/** Makes the raw bytes of what a register refers to. */
export interface RawPages {
  readonly rawBytes: number;
  /** The page that begins at a slot of the array, as it was sensed. */
  rawOfCells(firstSlot: number): Uint8Array;
  /** A plane's share of a program descriptor. */
  rawOfOp(op: number, plane: number, firstSlot: number): Uint8Array;
}

export class SlotRegister implements PageRegister {
  /** First slot of the page it was sensed from, -1 when it holds none. */
  firstSlot = NONE;
  /** Descriptor whose slots it holds for a program, -1 when it holds none. */
  op = NONE;
  plane = 0;
  /** Bytes written or changed cycle by cycle; null while it holds what the fields above say. */
  raw: Uint8Array | null = null;
  readonly #pages: RawPages;

  constructor(pages: RawPages) {
    this.#pages = pages;
  }

  clear(): void {
    this.firstSlot = NONE;
    this.op = NONE;
    this.raw = null;
  }

  /** Takes the page that begins at a slot. */
  sense(firstSlot: number): void {
    this.firstSlot = firstSlot;
    this.op = NONE;
    this.raw = null;
  }

  /** Takes a plane's slots of a program descriptor that goes to the page at `firstSlot`. */
  stage(op: number, plane: number, firstSlot: number): void {
    this.firstSlot = firstSlot;
    this.op = op;
    this.plane = plane;
    this.raw = null;
  }

  read(column: number, into: Uint8Array, at: number, count: number): void {
    const raw = this.#bytes();
    if (raw === null) into.fill(ERASED_BYTE, at, at + count);
    else into.set(raw.subarray(column, column + count), at);
  }

  write(column: number, from: Uint8Array, at: number, count: number): void {
    const own = this.#bytes()?.slice() ?? new Uint8Array(this.#pages.rawBytes).fill(ERASED_BYTE);
    own.set(from.subarray(at, at + count), column);
    this.clear();
    this.raw = own;
  }

  copyFrom(other: PageRegister): void {
    const from = other as SlotRegister;
    this.firstSlot = from.firstSlot;
    this.op = from.op;
    this.plane = from.plane;
    this.raw = from.raw === null ? null : from.raw.slice();
  }

  #bytes(): Uint8Array | null {
    if (this.raw !== null) return this.raw;
    if (this.op !== NONE) return this.#pages.rawOfOp(this.op, this.plane, this.firstSlot);
    return this.firstSlot === NONE ? null : this.#pages.rawOfCells(this.firstSlot);
  }

  save(): Saved {
    const { firstSlot, op, plane, raw } = this;
    return { firstSlot, op, plane, raw: raw === null ? null : raw.slice() };
  }

  restore(saved: Saved): void {
    this.firstSlot = saved.firstSlot as number;
    this.op = saved.op as number;
    this.plane = saved.plane as number;
    this.raw = saved.raw as Uint8Array | null;
  }
}
