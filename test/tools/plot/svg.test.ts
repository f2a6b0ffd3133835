/**
 * Goal: the writer gives well-formed XML whatever the text, and the same bytes for a drawing.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { polyline, SvgWriter, svgNumber } from '../../../tools/plot/svg.ts';
import { openTags } from '../../kit/xml.ts';

function writer(title = 'a drawing'): SvgWriter {
  return new SvgWriter({ width: 100, height: 50, title, description: 'nothing' });
}

describe('svg writer', () => {
  test('numbers: two decimals, no exponent, no minus zero', () => {
    const numbers = [1, 1.5, 1 / 3, -0.001, 1e-9, 123456.789];
    expect(numbers.map(svgNumber)).toEqual(['1', '1.5', '0.33', '0', '0', '123456.79']);
    expect(() => svgNumber(Number.NaN)).toThrow('a coordinate is finite');
  });

  test('elements, groups and text', () => {
    const svg = writer();
    svg.group({ class: 'a' }, () => {
      svg.line(0, 0, 10, 1 / 3, { stroke: '#000', 'stroke-dasharray': undefined });
      svg.text(1, 2, 'a < b');
    });
    svg.rect({ x: 1, y: 2, width: -3, height: 4 });
    expect(svg.toString().split('\n').slice(3)).toEqual([
      '<g class="a">',
      '  <line x1="0" y1="0" x2="10" y2="0.33" stroke="#000"/>',
      '  <text x="1" y="2">a &lt; b</text>',
      '</g>',
      '<rect x="1" y="2" width="0" height="4"/>',
      '</svg>',
      '',
    ]);
  });

  test('a path through points', () => {
    expect(
      polyline([
        [0, 1],
        [2.555, 3],
      ]),
    ).toBe('M0 1L2.56 3');
    expect(polyline([])).toBe('');
  });

  test('any text is well-formed, in elements and in attributes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const svg = writer(text);
        svg.text(0, 0, text, { class: text });
        expect(openTags(svg.toString())).toEqual([]);
      }),
    );
  });
});
