/**
 * Goal: the screen report fits the terminal, says what was measured and colours only when told.
 * Method: render a report with something in every field, and one with nothing.
 */
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { emptyReport, type RunReport } from '../../../tools/report/report.ts';
import { renderScreen } from '../../../tools/report/screen.ts';
import { sampleReport } from '../../kit/sample-report.ts';

/** The longest line in columns. */
function widest(text: string): number {
  return Math.max(...text.split('\n').map((line) => [...line].length));
}

describe('screen report', () => {
  test.each([80, 93, 100])('width %d is kept', (width) => {
    const report = sampleReport();
    report.title = 'a long title '.repeat(20);
    report.boot.push({ name: 'a phase with a very long name indeed', durationNs: 1 });
    report.kinds.read.operations = 987_654_321_098;
    report.kinds.read.bytes = 4_096_000_000_000_000;
    const text = renderScreen(report, { width });
    expect(widest(text)).toBe(width);
  });

  test('a screen is between 80 and 100 columns wide', () => {
    expect(widest(renderScreen(sampleReport(), { width: 20 }))).toBe(80);
    expect(widest(renderScreen(sampleReport(), { width: 300 }))).toBe(100);
  });

  test('numbers: as measured', () => {
    const text = renderScreen(sampleReport());
    const rows = text.split('\n').map((line) => line.trim().replace(/ {2,}/g, ' | '));
    expect(rows).toContain('10.0 ms simulated in 125 ms: 0.080 x real time');
    // 400 reads of 4096 bytes in 10 ms.
    expect(text).toMatch(/ read +400 +1\.64 MB +40\.0k IOPS +164 MB\/s/);
    expect(text).toMatch(/ flush +10 +1\.00k IOPS/);
    expect(text).toMatch(/ mount +132 ms +143 ms +━+/);
    expect(text).toMatch(/ 0 █+[^ ]* +70 % +4 █+[^ ]* +30 %/);
    expect(rows).toContain('write amplification | 3.50');
    expect(rows).toContain('valid slots | 4,000 -> 3,000 (-25.0 %)');
    expect(text).toContain('✓ 400 reads verified, all as last written');
  });

  test('colour: none unless asked for, and nothing but colour', () => {
    const plain = renderScreen(sampleReport());
    const coloured = renderScreen(sampleReport(), { colour: true });
    expect(stripVTControlCharacters(plain)).toBe(plain);
    expect(coloured).not.toBe(plain);
    expect(stripVTControlCharacters(coloured)).toBe(plain);
  });

  test('wrong reads are said', () => {
    const report = sampleReport();
    report.verification = { reads: 400, mismatches: 2 };
    expect(renderScreen(report)).toContain('✗ 2 of 400 verified reads were wrong');
  });

  test('nothing happened: said so, without a verdict', () => {
    const text = renderScreen(emptyReport('idle', 'a drive'));
    expect(text).toContain('no commands');
    expect(text).toContain('no host writes');
    expect(text).not.toMatch(/NaN|Infinity|verified|Boot|Latency/);
  });

  test('control characters in a title do not reach the terminal', () => {
    expect(renderScreen(emptyReport('a\u001b[31mb\n', 'c'))).toContain('a [31mb');
  });

  test.each<[string, (report: RunReport) => void, string]>([
    ['a fraction above one', ({ utilisation }) => utilisation.channels.fill(1.5), 'utilisation'],
    ['half a read', ({ nand }) => Object.assign(nand, { reads: 0.5 }), 'nand.reads'],
    [
      'NaN as a factor',
      (report) => Object.assign(report, { writeAmplification: Number.NaN }),
      'writeAmplification',
    ],
    ['negative time', (report) => Object.assign(report, { simulatedNs: -1 }), 'simulatedNs'],
  ])('refuses %s', (_, spoil, field) => {
    const report = sampleReport();
    spoil(report);
    expect(() => renderScreen(report)).toThrow(field);
  });
});
