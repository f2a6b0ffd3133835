/** What `bf3 dump` does: finds the drive, asks for the table, writes it in pieces. */
import { once } from 'node:events';
import type { Drive } from '../../firmware/drive.ts';
import { tableFormat } from '../cli/table.ts';
import { wantsColour } from '../cli/terminal.ts';
import { UsageError } from '../errors.ts';
import { attachedTable } from './attach.ts';
import type { DumpOptions, DumpRow } from './dump-table.ts';
import { openRecord, openSnapshot, runRecord } from './open.ts';
import { renderPieces } from './render.ts';
import { DUMP_TABLES, dumpColumns, dumpRows } from './tables.ts';

/** The command line's options, numbers already checked. */
export interface DumpCommandOptions {
  readonly attach?: string;
  readonly snapshot?: string;
  readonly record?: string;
  readonly at?: number;
  readonly from?: number;
  readonly count?: number;
  readonly superblock?: number;
  readonly json?: boolean;
  readonly csv?: boolean;
}

/** Takes pieces of text; a promise when it wants to be waited for. */
export type Write = (text: string) => void | Promise<void>;

/**
 * Prints a table, or without a name the list of tables.
 * @throws UsageError for options that do not fit, RunError when the drive cannot be had
 */
export async function runDump(
  table: string | undefined,
  options: DumpCommandOptions,
  write: Write = writeOut,
): Promise<void> {
  const format = tableFormat(options);
  if (options.json === true && options.csv === true) {
    throw new UsageError('give --json or --csv, not both');
  }
  const { columns, rows } = table === undefined ? tableList() : await rowsOf(table, options);
  const colour = write === writeOut && wantsColour(process.stdout);
  for (const piece of renderPieces(columns, rows, { format, colour })) await write(piece);
}

interface Rows {
  readonly columns: readonly string[];
  readonly rows: Iterable<DumpRow>;
}

function tableList(): Rows {
  return { columns: ['table', 'says'], rows: DUMP_TABLES.map(({ name, says }) => [name, says]) };
}

async function rowsOf(table: string, options: DumpCommandOptions): Promise<Rows> {
  const columns = dumpColumns(table);
  const narrowed = narrow(options);
  const { attach } = options;
  checkSources(options);
  if (attach !== undefined) return attachedTable(attach, table, narrowed);
  const drive = driveOf(options);
  return { columns, rows: dumpRows(drive, table, narrowed) };
}

function checkSources({ attach, snapshot, record, at }: DumpCommandOptions): void {
  const given = [attach, snapshot, record].filter((source) => source !== undefined);
  if (given.length !== 1) {
    const many = given.length > 1 ? ', only one of them' : '';
    throw new UsageError(
      `say where the drive is: --attach SOCKET, --snapshot FILE or --record FILE${many}`,
    );
  }
  if (at !== undefined && record === undefined) {
    throw new UsageError('--at goes with --record: a snapshot has one instant only');
  }
}

function driveOf({ snapshot, record, at }: DumpCommandOptions): Drive {
  if (snapshot !== undefined) return openSnapshot(snapshot);
  const recorded = openRecord(record!);
  runRecord(recorded, at ?? recorded.endOrdinal);
  return recorded.drive;
}

function narrow({ from, count, superblock }: DumpCommandOptions): DumpOptions {
  return {
    ...(from === undefined ? {} : { from }),
    ...(count === undefined ? {} : { count }),
    ...(superblock === undefined ? {} : { superblock }),
  };
}

async function writeOut(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}
