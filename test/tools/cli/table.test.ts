/** Goal: one table, three forms that say the same. */
import { describe, expect, test } from 'vitest';
import { type Column, renderTable, tableFormat } from '../../../tools/cli/output.ts';

interface Row {
  name: string;
  latencyNs: number | null;
}

const ROWS: Row[] = [
  { name: 'read, 4 KiB', latencyNs: 86_999 },
  { name: 'say "x"', latencyNs: null },
];

const COLUMNS: Column<Row>[] = [
  { key: 'name', value: (row) => row.name },
  {
    key: 'latencyNs',
    title: 'latency',
    value: (row) => row.latencyNs,
    text: (row) => (row.latencyNs === null ? '-' : `${row.latencyNs / 1000} us`),
  },
];

describe('table', () => {
  test('text: headings, numbers to the right, no trailing blanks', () => {
    expect(renderTable(ROWS, COLUMNS)).toBe(
      ['name           latency', 'read, 4 KiB  86.999 us', 'say "x"              -', ''].join('\n'),
    );
  });

  test('csv: as RFC 4180 quotes', () => {
    expect(renderTable(ROWS, COLUMNS, { format: 'csv' })).toBe(
      'name,latencyNs\n"read, 4 KiB",86999\n"say ""x""",\n',
    );
  });

  test('json: plain values under the keys', () => {
    expect(JSON.parse(renderTable(ROWS, COLUMNS, { format: 'json' }))).toEqual(ROWS);
  });

  test('colour only when asked for', () => {
    expect(renderTable(ROWS, COLUMNS)).not.toContain('\u001b');
    expect(renderTable(ROWS, COLUMNS, { colour: true })).toContain('\u001b[1mname');
  });

  test('no rows: a heading alone', () => {
    expect(renderTable([], COLUMNS)).toBe('name  latency\n');
    expect(renderTable([], COLUMNS, { format: 'json' })).toBe('[]\n');
  });

  test('options choose the form', () => {
    expect([{}, { json: true }, { csv: true }].map(tableFormat)).toEqual(['text', 'json', 'csv']);
  });
});
