/**
 * The tables a drive can be asked for, by name: for `bf3 dump`, debugger and control socket.
 *
 * Rows are made one at a time, so that the map of a full-size drive streams instead of being held.
 */
import type { Drive } from '../../firmware/drive.ts';
import { nearest } from '../cli/suggest.ts';
import { UsageError } from '../errors.ts';
import { CACHE, DRAM, NCQ, REGISTERS, SMART, TIMELINE } from './controller-tables.ts';
import type { DumpCell, DumpOptions, DumpRow, DumpTable } from './dump-table.ts';
import { DIES, FREE, L2P, P2L, SUPERBLOCKS } from './flash-tables.ts';
import { MACHINES } from './machines.ts';
import { BAD_BLOCKS, BLOCKS, DAMAGE, FAULTS } from './nand-tables.ts';

export type { DumpCell, DumpOptions, DumpRow };

const TABLES: readonly DumpTable[] = [
  ...[MACHINES, L2P, P2L, SUPERBLOCKS, FREE, BLOCKS, BAD_BLOCKS, DAMAGE, FAULTS, DIES],
  ...[NCQ, CACHE],
  ...[DRAM, REGISTERS, TIMELINE, SMART],
];

/** Every table: its name, what a row is, its columns. */
export const DUMP_TABLES: readonly {
  readonly name: string;
  readonly says: string;
  readonly columns: readonly string[];
  /** True when `from` is a number of the first column and not a row. */
  readonly keyed?: boolean;
}[] = TABLES;

/**
 * Column names of a table.
 * @throws UsageError when there is no such table
 */
export function dumpColumns(name: string): readonly string[] {
  return tableOf(name).columns;
}

/**
 * Rows of a table, made while they are asked for: take them before the drive takes another step.
 * @throws UsageError at the call when there is no such table or an option does not suit it
 */
export function dumpRows(drive: Drive, name: string, options: DumpOptions = {}): Iterable<DumpRow> {
  const table = tableOf(name);
  const from = wholeNumber(options.from ?? 0, 'from');
  const count = options.count === undefined ? Number.POSITIVE_INFINITY : options.count;
  if (count !== Number.POSITIVE_INFINITY) wholeNumber(count, 'count');
  const superblock = superblockOf(drive, table, options.superblock);
  const rows = table.rows(drive, table.keyed === true ? from : 0, superblock);
  return slice(rows, table.keyed === true ? 0 : from, count);
}

/**
 * A table as it is now.
 * @throws UsageError when there is no such table or an option does not suit it
 */
export function dumpTable(
  drive: Drive,
  name: string,
  options: DumpOptions = {},
): { columns: string[]; rows: DumpRow[] } {
  const rows = [...dumpRows(drive, name, options)];
  return { columns: [...dumpColumns(name)], rows };
}

function tableOf(name: string): DumpTable {
  const found = TABLES.find((table) => table.name === name);
  if (found !== undefined) return found;
  const names = TABLES.map((table) => table.name);
  const hint = nearest(name, names);
  const suggestion = hint === null ? '' : ` (did you mean '${hint}'?)`;
  throw new UsageError(`no table '${name}'${suggestion}; the tables are ${names.join(', ')}`);
}

function wholeNumber(value: number, option: string): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new UsageError(`${option} must be a whole number from 0, not ${value}`);
}

function superblockOf(drive: Drive, table: DumpTable, given: number | undefined): number | null {
  if (given === undefined) return null;
  if (table.bySuperblock !== true) {
    const names = TABLES.filter((other) => other.bySuperblock === true).map(({ name }) => name);
    throw new UsageError(
      `'${table.name}' cannot be narrowed to a superblock; ${names.join(', ')} can`,
    );
  }
  const last = drive.geometry.superblocks - 1;
  if (Number.isInteger(given) && given >= 0 && given <= last) return given;
  throw new UsageError(`superblock must be 0 to ${last} on this drive, not ${given}`);
}

function* slice(rows: Iterable<DumpRow>, skip: number, count: number): Iterable<DumpRow> {
  let left = count;
  let at = 0;
  if (left === 0) return;
  for (const row of rows) {
    if (at++ < skip) continue;
    yield row;
    if (--left <= 0) return;
  }
}
