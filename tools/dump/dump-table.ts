/** What a table of the drive is to `bf3 dump`: a name, columns, and rows made one at a time. */
import type { Drive } from '../../firmware/drive.ts';

/** Numbers are integers in the unit that ends the column's name; null is "not applicable". */
export type DumpCell = string | number | null;
export type DumpRow = DumpCell[];

export interface DumpOptions {
  /**
   * First row, as a number of the table's key: the logical page of `l2p`, the slot of `p2l`, the
   * superblock, block, die, NCQ slot or log position; for other tables the row, counted from 0.
   */
  readonly from?: number;
  /** Rows at most. */
  readonly count?: number;
  /** Only what lies in this superblock. */
  readonly superblock?: number;
}

/** A table that a drive can be asked for. */
export interface DumpTable {
  readonly name: string;
  /** One sentence: what a row is. */
  readonly says: string;
  readonly columns: readonly string[];
  /** True when `superblock` narrows the rows. */
  readonly bySuperblock?: boolean;
  /** True when `from` is a key, unique in the first column, and `rows` begins there by itself. */
  readonly keyed?: boolean;
  /** Rows in order, made while they are asked for; the drive must not move meanwhile. */
  rows(drive: Drive, from: number, superblock: number | null): Iterable<DumpRow>;
}
