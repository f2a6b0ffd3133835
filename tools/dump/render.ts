/** A dumped table as text: for people, CSV, or JSON; in pieces, so that a big one streams. */
import { type Column, renderTable, type TableFormat } from '../cli/table.ts';
import type { DumpRow } from './dump-table.ts';

/** Rows rendered at a time; column widths of the text form are those of one piece. */
const PIECE_ROWS = 2048;

export interface RenderOptions {
  readonly format?: TableFormat;
  readonly colour?: boolean;
}

/** The columns as the table renderer takes them; a column of numbers goes right. */
export function columnsOf(names: readonly string[], rows: readonly DumpRow[]): Column<DumpRow>[] {
  return names.map((key, at) => {
    const sample = rows.find((row) => row[at] !== null && row[at] !== undefined)?.[at];
    return {
      key,
      align: typeof sample === 'number' ? 'right' : 'left',
      value: (row) => row[at] ?? null,
    };
  });
}

/** The table in pieces of text; together they are one CSV file, JSON array or text table. */
export function* renderPieces(
  names: readonly string[],
  rows: Iterable<DumpRow>,
  options: RenderOptions = {},
): Iterable<string> {
  const format = options.format ?? 'text';
  if (format === 'json') {
    yield* jsonPieces(names, rows);
    return;
  }
  let isFirst = true;
  for (const piece of pieces(rows)) {
    const text = renderTable(piece, columnsOf(names, piece), { ...options, format });
    // Later pieces go without the heading, which is one line.
    yield isFirst ? text : text.slice(text.indexOf('\n') + 1);
    isFirst = false;
  }
}

/** The whole table as one text. */
export function renderRows(
  names: readonly string[],
  rows: Iterable<DumpRow>,
  options: RenderOptions = {},
): string {
  return [...renderPieces(names, rows, options)].join('');
}

/** An array of objects, one a line. */
function* jsonPieces(names: readonly string[], rows: Iterable<DumpRow>): Iterable<string> {
  let before = '[\n';
  for (const piece of pieces(rows)) {
    if (piece.length === 0) break;
    const lines = piece.map((row) =>
      JSON.stringify(Object.fromEntries(names.map((name, at) => [name, row[at] ?? null]))),
    );
    yield `${before}${lines.join(',\n')}`;
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}

/** Rows in groups; one empty group when there is none. */
function* pieces(rows: Iterable<DumpRow>): Iterable<DumpRow[]> {
  let piece: DumpRow[] = [];
  let count = 0;
  for (const row of rows) {
    piece.push(row);
    if (piece.length < PIECE_ROWS) continue;
    yield piece;
    piece = [];
    count++;
  }
  if (piece.length > 0 || count === 0) yield piece;
}
