/** One table, three forms: for people, for spreadsheets (CSV) and for programs (JSON). */
import Table from 'cli-table3';
import { coloursFor, wantsColour } from './terminal.ts';

/** What a cell may hold; null prints as an empty cell. */
export type Cell = string | number | boolean | null;

export type TableFormat = 'text' | 'csv' | 'json';

export interface Column<Row> {
  /** Name in CSV and JSON, unit last: `latencyNs`. */
  readonly key: string;
  /** Heading for people; the key when missing. */
  readonly title?: string;
  /** Numbers go right unless said otherwise. */
  readonly align?: 'left' | 'right';
  /** The cell as CSV and JSON carry it. */
  value(row: Row): Cell;
  /** The cell as people read it; the plain value when missing. */
  text?(row: Row): string;
}

export interface TableOptions {
  readonly format?: TableFormat;
  readonly colour?: boolean;
}

/** The table as text, always with a line feed at its end. */
export function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  options: TableOptions = {},
): string {
  switch (options.format ?? 'text') {
    case 'json':
      return renderJson(rows, columns);
    case 'csv':
      return renderCsv(rows, columns);
    case 'text':
      return renderText(rows, columns, options.colour ?? false);
  }
}

/** Writes the table to standard output, coloured when that is a terminal. */
export function printTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  options: TableOptions = {},
): void {
  const colour = options.colour ?? wantsColour(process.stdout);
  process.stdout.write(renderTable(rows, columns, { ...options, colour }));
}

/** The form that a command's `--json` and `--csv` options ask for. */
export function tableFormat(options: { json?: boolean; csv?: boolean }): TableFormat {
  if (options.json === true) return 'json';
  return options.csv === true ? 'csv' : 'text';
}

function renderJson<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const records = rows.map((row) =>
    Object.fromEntries(columns.map((column) => [column.key, column.value(row)])),
  );
  return `${JSON.stringify(records, null, 2)}\n`;
}

function renderCsv<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const lines = [columns.map((column) => csvField(column.key)).join(',')];
  for (const row of rows) {
    lines.push(columns.map((column) => csvField(column.value(row))).join(','));
  }
  return `${lines.join('\n')}\n`;
}

/** RFC 4180: a field with a comma, a quote or a line break is quoted, its quotes doubled. */
function csvField(cell: Cell): string {
  const text = cell === null ? '' : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function renderText<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  colour: boolean,
): string {
  const colours = coloursFor(colour);
  const table = new Table({
    head: columns.map((column) => colours.bold(column.title ?? column.key)),
    colAligns: columns.map((column) => column.align ?? guessAlign(rows, column)),
    chars: BORDERLESS,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
  });
  for (const row of rows) {
    table.push(columns.map((column) => column.text?.(row) ?? String(column.value(row) ?? '')));
  }
  return `${table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')}\n`;
}

function guessAlign<Row>(rows: readonly Row[], column: Column<Row>): 'left' | 'right' {
  const first = rows[0];
  return first !== undefined && typeof column.value(first) === 'number' ? 'right' : 'left';
}

/** A rule under the heading and nothing else: tables that copy well. */
const BORDERLESS = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '',
};
