/**
 * Goal: one table in three forms, also when it is made in pieces.
 * Method: small tables by their exact text; a table longer than a piece read back by JSON.parse and
 * by splitting lines.
 */
import { describe, expect, test } from 'vitest';
import { renderPieces, renderRows } from '../../../tools/dump/render.ts';

const COLUMNS = ['lpn', 'where'];
const ROWS = [
  [0, 'buffer 1'],
  [17, 'ch0.die0, page 3'],
  [18, null],
];

describe('forms', () => {
  test('CSV has a heading and quotes what needs it', () => {
    expect(renderRows(COLUMNS, ROWS, { format: 'csv' })).toBe(
      'lpn,where\n0,buffer 1\n17,"ch0.die0, page 3"\n18,\n',
    );
  });

  test('JSON is an array of objects', () => {
    expect(JSON.parse(renderRows(COLUMNS, ROWS, { format: 'json' }))).toEqual([
      { lpn: 0, where: 'buffer 1' },
      { lpn: 17, where: 'ch0.die0, page 3' },
      { lpn: 18, where: null },
    ]);
  });

  test('text has numbers to the right, and no colours unless asked for', () => {
    expect(renderRows(COLUMNS, ROWS)).toBe(
      'lpn  where\n  0  buffer 1\n 17  ch0.die0, page 3\n 18\n',
    );
  });

  test('no rows: a heading, or an empty array', () => {
    expect(renderRows(COLUMNS, [], { format: 'csv' })).toBe('lpn,where\n');
    expect(renderRows(COLUMNS, [], { format: 'json' })).toBe('[]\n');
    expect(renderRows(COLUMNS, [])).toBe('lpn  where\n');
  });
});

describe('a long table', () => {
  function* many(): Iterable<[number, string]> {
    for (let i = 0; i < 5000; i++) yield [i, `place ${i}`];
  }

  test('comes in pieces that are one file', () => {
    expect([...renderPieces(COLUMNS, many(), { format: 'csv' })].length).toBeGreaterThan(1);
    const lines = renderRows(COLUMNS, many(), { format: 'csv' }).trimEnd().split('\n');
    expect(lines).toEqual(['lpn,where', ...[...many()].map(([lpn, place]) => `${lpn},${place}`)]);
    const parsed = JSON.parse(renderRows(COLUMNS, many(), { format: 'json' })) as unknown[];
    expect(parsed).toEqual([...many()].map(([lpn, where]) => ({ lpn, where })));
    expect(renderRows(COLUMNS, many()).split('\n')).toHaveLength(5002);
  });

  test('is made only as far as it is taken', () => {
    let made = 0;
    function* counted(): Iterable<[number, string]> {
      for (const row of many()) {
        made++;
        yield row;
      }
    }
    for (const piece of renderPieces(COLUMNS, counted(), { format: 'csv' })) {
      expect(piece).toContain('place 0');
      break;
    }
    expect(made).toBeLessThan(5000);
  });
});
