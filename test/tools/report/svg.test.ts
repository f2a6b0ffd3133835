/**
 * Goal: report.svg opens everywhere, shows what was measured, and is the same for the same run.
 * Method: check the text as XML, and look for the numbers in it.
 */
import { describe, expect, test } from 'vitest';
import { emptyReport } from '../../../tools/report/report.ts';
import { renderSvg } from '../../../tools/report/svg.ts';
import { sampleReport } from '../../kit/sample-report.ts';
import { openTags } from '../../kit/xml.ts';

describe('report picture', () => {
  test('well-formed, also for a run in which nothing happened', () => {
    expect(openTags(renderSvg(sampleReport()))).toEqual([]);
    expect(openTags(renderSvg(emptyReport('a < b & "c"', 'a drive')))).toEqual([]);
  });

  test('the same run, the same bytes, however long it took', () => {
    const slow = sampleReport();
    slow.wallSeconds = 99;
    expect(renderSvg(slow)).toBe(renderSvg(sampleReport()));
  });

  test('self-contained: nothing is loaded, nothing runs', () => {
    const text = renderSvg(sampleReport());
    expect(text).not.toMatch(/href|url\(|@import|@font-face|<script|<image|<foreignObject/);
    expect(text.match(/https?:[^"]*/g)).toEqual(['http://www.w3.org/2000/svg']);
  });

  test('shows the numbers of the run', () => {
    const text = renderSvg(sampleReport());
    for (const shown of [
      'OCZ Vector 256 GB',
      '65.0k',
      '3.50',
      'reads verified, none wrong',
      'channel 7',
      'SATA link',
      '43.0 %',
      'mount',
      '5,120 sectors trimmed: valid slots from 4,000 to 3,000',
    ]) {
      expect(text).toContain(`>${shown}<`);
    }
  });

  test('can be read aloud', () => {
    const text = renderSvg(sampleReport());
    expect(text).toContain('role="img" aria-labelledby="title description"');
    expect(text).toContain('<title id="title">OCZ Vector 256 GB: 4 KiB random mix');
    expect(text).toMatch(
      /<desc id="description">In 10\.0 ms: 65\.0k operations a second; .*<\/desc>/,
    );
  });

  test('no coordinate is missing or infinite, everything lies on the page', () => {
    const text = renderSvg(sampleReport());
    expect(text).not.toMatch(/NaN|Infinity|undefined/);
    for (const [, x] of text.matchAll(/ x="([^"]+)"/g)) {
      expect(Number(x)).toBeGreaterThanOrEqual(0);
      expect(Number(x)).toBeLessThanOrEqual(1200);
    }
  });

  test.each([1, 500, 104_857])('one latency of %d ns only: axes still make sense', (ns) => {
    const report = emptyReport('one read', 'a drive');
    report.simulatedNs = 1_000_000;
    report.kinds.read.operations = 1;
    report.kinds.read.latency.record(ns);
    report.series = { ...report.series, bucketNs: 1_000_000, read: Float64Array.of(1000) };
    const text = renderSvg(report);
    expect(openTags(text)).toEqual([]);
    expect(text).toMatch(/>\d+ [num]s<\/text>/);
  });
});
