/** A table of a served drive, asked for over its control socket in pages. */
import { type ControlClient, type Fields, withControl } from '../serve/control-client.ts';
import type { DumpCell, DumpOptions, DumpRow } from './dump-table.ts';
import { DUMP_TABLES } from './tables.ts';

/** Rows asked for at a time; the drive may run on between two requests. */
const PAGE_ROWS = 10_000;

export interface AttachedTable {
  readonly columns: string[];
  readonly rows: DumpRow[];
}

/**
 * Asks a served drive for a table.
 * @param path of the Unix socket
 * @param pageRows rows asked for at a time
 * @throws RunError when nobody listens or answers, UsageError with the server's own sentence
 */
export async function attachedTable(
  path: string,
  table: string,
  options: DumpOptions = {},
  pageRows = PAGE_ROWS,
): Promise<AttachedTable> {
  return withControl(path, (client) => pagesOf(client, table, options, pageRows));
}

/** A big table comes in pages: the next one begins behind the key, or the row, of the last. */
async function pagesOf(
  client: ControlClient,
  table: string,
  options: DumpOptions,
  pageRows: number,
): Promise<AttachedTable> {
  const isKeyed = DUMP_TABLES.find(({ name }) => name === table)?.keyed === true;
  const rows: DumpRow[] = [];
  let left = options.count ?? Number.POSITIVE_INFINITY;
  let from = options.from ?? 0;
  for (;;) {
    const count = Math.min(left, pageRows);
    const answer = await client.ask({ cmd: 'dump', table, ...options, from, count });
    const page = tableOf(answer);
    if (page === null) throw client.stranger('no table came back');
    for (const row of page.rows) rows.push(row);
    left -= page.rows.length;
    if (left <= 0 || page.rows.length < count) return { columns: page.columns, rows };
    from = isKeyed ? Number(page.rows.at(-1)![0]) + 1 : from + page.rows.length;
  }
}

function tableOf({ columns, rows }: Fields): AttachedTable | null {
  const isTable =
    Array.isArray(columns) &&
    columns.every((name) => typeof name === 'string') &&
    Array.isArray(rows) &&
    rows.every((row) => Array.isArray(row) && row.length === columns.length && row.every(isCell));
  return isTable ? { columns, rows } : null;
}

function isCell(value: unknown): value is DumpCell {
  return value === null || typeof value === 'string' || typeof value === 'number';
}
