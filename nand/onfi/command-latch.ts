/**
 * The command latch of a die: the opener whose address cycles are being collected, and the address
 * they spell.
 *
 * Five cycles are two of column and three of row, low byte first; three are a row, two a column,
 * one a small address. The row holds page, block (its lowest bits are the plane) and LUN.
 */

import type { Saved } from '../../hal/sim/snapshot.ts';
import type { NandPart } from '../part.ts';
import { ADDRESS_CYCLES } from './opcodes.ts';

/** No opener is latched. */
export const NO_OPCODE = -1;
const COLUMN_CYCLES = 2;
const ROW_CYCLES = 3;
const ROW_MASK = 2 ** (8 * ROW_CYCLES) - 1;

export class CommandLatch {
  readonly #pageBits: number;
  readonly #blockMask: number;
  readonly #lunShift: number;
  /** Opener that waits for its address cycles, or NO_OPCODE. */
  opcode = NO_OPCODE;
  /** Address cycles it takes in all, and those that have come. */
  cycles = 0;
  count = 0;
  /** Column, or the single address byte; the row as it came. Valid for the cycles that came. */
  column = 0;
  row = 0;

  constructor(part: NandPart) {
    this.#pageBits = bitsOf(part.pagesPerBlock);
    const blockBits = bitsOf(part.blocksPerDie);
    this.#lunShift = this.#pageBits + blockBits;
    this.#blockMask = 2 ** blockBits - 1;
  }

  begin(opcode: number): void {
    this.opcode = opcode;
    this.cycles = ADDRESS_CYCLES[opcode]!;
    this.count = 0;
    this.column = 0;
    this.row = 0;
  }

  /** Takes one address byte; true when it was the last one. */
  take(byte: number): boolean {
    const inColumn = this.cycles === ROW_CYCLES ? 0 : COLUMN_CYCLES;
    if (this.count < inColumn) this.column |= (byte & 0xff) << (8 * this.count);
    else this.row |= (byte & 0xff) << (8 * (this.count - inColumn));
    this.count++;
    return this.count === this.cycles;
  }

  /** All address cycles at once: the same as their bytes one by one. */
  takeAll(column: number, block: number, page: number): void {
    this.column = this.cycles === ROW_CYCLES ? 0 : column & 0xffff;
    if (this.cycles === 1) this.column &= 0xff;
    if (this.cycles >= ROW_CYCLES) this.row = ((block << this.#pageBits) + page) & ROW_MASK;
    this.count = this.cycles;
  }

  end(): void {
    this.opcode = NO_OPCODE;
    this.count = 0;
    this.cycles = 0;
  }

  get page(): number {
    return this.row & ((1 << this.#pageBits) - 1);
  }

  get block(): number {
    return (this.row >>> this.#pageBits) & this.#blockMask;
  }

  get lun(): number {
    return this.row >>> this.#lunShift;
  }

  /** Block and LUN bits are all ones: no block, but the sign to forget a queued erase. */
  get isAllOnes(): boolean {
    return this.row >>> this.#pageBits === ROW_MASK >>> this.#pageBits;
  }

  save(): Saved {
    const { opcode, cycles, count, column, row } = this;
    return { opcode, cycles, count, column, row };
  }

  restore(saved: Saved): void {
    this.opcode = saved.opcode as number;
    this.cycles = saved.cycles as number;
    this.count = saved.count as number;
    this.column = saved.column as number;
    this.row = saved.row as number;
  }
}

/** Bits that tell `count` values apart. */
function bitsOf(count: number): number {
  return 32 - Math.clz32(count - 1);
}
