/**
 * Block history: how far each block is programmed, and what it has been through.
 *
 * One row of cells a block, as long as a cache line, so that a read waits for one. A block keeps
 * the first and last instant at which a page of it was programmed, its reads since the erase and
 * the reads it had when its last page was programmed; a page's own age and reads are interpolated
 * between them. Instants are whole minutes at 30 C (retention-clock.ts), stored plus one; 0 means
 * that nothing was programmed. Beside it lies what safe-reads.ts has worked out from it.
 */

import type { BigTable } from '../hal/sim/big-table.ts';
import type { PageHistory } from './physics/page-history.ts';

/** Cells a row; those between the history and the bounds of safe reads are spare. */
export const HISTORY_CELLS = 16;

enum Cell {
  /** Next page the block accepts; pages behind it are never programmed before an erase. */
  NextPage,
  /** Whole erases. */
  EraseCount,
  FirstMinute,
  LastMinute,
  ReadCount,
  /** Reads at the last program. */
  ReadsAtLast,
  Flags,
  /** Minute and reads up to which the safe bytes hold, and those bytes; 0 when not worked out. */
  SafeMinute = 8,
  SafeReads,
  SafeBytes,
}

export enum BlockFlag {
  /** The maker's mark in the spare area of page 0; an erase or program destroys it. */
  FactoryMark = 1,
  /** Its last erase was cut short: more errors until it is erased in full. */
  Weak = 2,
  /** It was cut while it was erased: its pages are neither erased nor programmed. */
  EraseTorn = 4,
  /** Pages of it are damaged (damage.ts). */
  Damaged = 8,
}

/** Disturb counts so many times on pages that are programmed after reads of their open block. */
const OPEN_BLOCK_DISTURB = 4;
/** Reads of an open block from which pages programmed afterwards suffer. Assumed. */
const OPEN_BLOCK_READS = 1_000;

export class BlockHistory {
  readonly table: BigTable;

  /** @param table HISTORY_CELLS cells a block */
  constructor(table: BigTable) {
    this.table = table;
  }

  nextPageOf(block: number): number {
    return this.table.values[block * HISTORY_CELLS + Cell.NextPage]!;
  }

  eraseCountOf(block: number): number {
    return this.table.values[block * HISTORY_CELLS + Cell.EraseCount]!;
  }

  flagsOf(block: number): number {
    return this.table.values[block * HISTORY_CELLS + Cell.Flags]!;
  }

  readsOf(block: number): number {
    return this.table.values[block * HISTORY_CELLS + Cell.ReadCount]!;
  }

  /** Safe bytes of the block as it is at `minute`, 0 when they are not known. */
  safeBytesAt(block: number, minute: number): number {
    const { values } = this.table;
    const at = block * HISTORY_CELLS;
    const holds =
      minute <= values[at + Cell.SafeMinute]! &&
      values[at + Cell.ReadCount]! <= values[at + Cell.SafeReads]!;
    return holds ? values[at + Cell.SafeBytes]! : 0;
  }

  /** Sets the safe bytes of the block; they hold up to a minute and a number of reads. */
  setSafeBytes(block: number, bytes: number, untilMinute: number, untilReads: number): void {
    const at = block * HISTORY_CELLS;
    this.table.write(at + Cell.SafeMinute, untilMinute);
    this.table.write(at + Cell.SafeReads, untilReads);
    this.table.write(at + Cell.SafeBytes, bytes);
  }

  /** Disturb factor of the page of a block that was programmed last: the largest. */
  disturbFactorOf(block: number): number {
    const reads = this.table.values[block * HISTORY_CELLS + Cell.ReadsAtLast]!;
    return reads > OPEN_BLOCK_READS ? OPEN_BLOCK_DISTURB : 1;
  }

  /** First and last minute at which a page was programmed, -1 for an erased block. */
  firstMinuteOf(block: number): number {
    return this.table.values[block * HISTORY_CELLS + Cell.FirstMinute]! - 1;
  }

  lastMinuteOf(block: number): number {
    return this.table.values[block * HISTORY_CELLS + Cell.LastMinute]! - 1;
  }

  set(block: number, flag: BlockFlag): void {
    const at = block * HISTORY_CELLS + Cell.Flags;
    this.table.write(at, this.table.values[at]! | flag);
  }

  /** A page of the block was sensed. */
  read(block: number): void {
    const at = block * HISTORY_CELLS + Cell.ReadCount;
    this.table.write(at, this.table.values[at]! + 1);
  }

  /** `page` was programmed at `minute`. */
  programmed(block: number, page: number, minute: number): void {
    const { table } = this;
    const { values } = table;
    const at = block * HISTORY_CELLS;
    table.write(at + Cell.NextPage, page + 1);
    if (values[at + Cell.FirstMinute] === 0) table.write(at + Cell.FirstMinute, minute + 1);
    if (values[at + Cell.LastMinute] !== minute + 1) table.write(at + Cell.LastMinute, minute + 1);
    const reads = values[at + Cell.ReadCount]!;
    if (values[at + Cell.ReadsAtLast] !== reads) {
      table.write(at + Cell.ReadsAtLast, reads);
      // From here on more disturb than the safe bytes allow for.
      if (reads > OPEN_BLOCK_READS) table.write(at + Cell.SafeBytes, 0);
    }
    const flags = values[at + Cell.Flags]!;
    if ((flags & BlockFlag.FactoryMark) !== 0) {
      table.write(at + Cell.Flags, flags & ~BlockFlag.FactoryMark);
    }
  }

  /** The block was erased in full: its history begins anew. */
  erased(block: number): void {
    const at = block * HISTORY_CELLS;
    const eraseCount = this.table.values[at + Cell.EraseCount]!;
    this.table.clear(at, HISTORY_CELLS);
    this.table.write(at + Cell.EraseCount, eraseCount + 1);
  }

  /** Sets a block of a flash that is loaded from elsewhere. */
  load(block: number, nextPage: number, eraseCount: number): void {
    this.table.write(block * HISTORY_CELLS + Cell.NextPage, nextPage);
    this.table.write(block * HISTORY_CELLS + Cell.EraseCount, eraseCount);
  }

  /** Fills in all that errors of a programmed page depend on, but for damage. */
  fill(into: PageHistory, block: number, page: number, nowMinute: number): void {
    const { values } = this.table;
    const at = block * HISTORY_CELLS;
    const nextPage = values[at + Cell.NextPage]!;
    into.blockIndex = block;
    into.page = page;
    into.eraseCount = values[at + Cell.EraseCount]!;
    into.retentionScale = 1;
    const first = values[at + Cell.FirstMinute]!;
    const span = values[at + Cell.LastMinute]! - first;
    const readsAtLast = values[at + Cell.ReadsAtLast]!;
    let minute = first;
    let readsBefore = 0;
    if (nextPage > 1 && (span | readsAtLast) !== 0) {
      minute += Math.floor((span * page) / (nextPage - 1));
      readsBefore = Math.floor((readsAtLast * page) / (nextPage - 1));
    }
    const age = nowMinute + 1 - minute;
    into.ageMinutes = age > 0 ? age : 0;
    into.readCount = values[at + Cell.ReadCount]! - readsBefore;
    into.weak = (values[at + Cell.Flags]! & BlockFlag.Weak) !== 0;
    into.disturbFactor = readsBefore > OPEN_BLOCK_READS ? OPEN_BLOCK_DISTURB : 1;
    into.extraRber = 0;
  }
}
