/**
 * Goal: the first thing that a person runs works everywhere and tells the truth.
 * Method: the built program in an empty folder; the capture's summary is the oracle.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { renderDemo } from '../../../tools/demo/screen.ts';
import { readTraceFile } from '../../../tools/replay/detect.ts';
import { fixture, runBf3 } from '../../kit/bf3.ts';
import { sampleReport } from '../../kit/sample-report.ts';
import { openTags } from '../../kit/xml.ts';

const summary = readTraceFile(fixture('guest_ahci.blktrace')).summary();

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bf3-demo-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe('demo', () => {
  test('one screen, one picture, nothing else', () => {
    const { code, out, error } = runBf3(['demo'], folder);
    expect([code, error]).toEqual([0, '']);
    const lines = out.split('\n');
    expect(lines.length).toBeLessThanOrEqual(55);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
    expect(lines[0]).toBe('OCZ Vector 256 GB: 8 channels x 4 dies');
    for (const shown of [
      'mount',
      'recorded pace: 11.5 s',
      'flat out: ',
      'SATA link',
      'write amplification',
    ]) {
      expect(out).toContain(shown);
    }
    expect(out).toContain('✓ 898 reads verified sector by sector, all as last written\n');
    expect(readdirSync(folder)).toEqual(['report.svg']);
    const picture = readFileSync(join(folder, 'report.svg'), 'utf8');
    expect(openTags(picture)).toEqual([]);
    expect(picture).toContain('>reads verified, none wrong<');
  });

  test('--json: two jobs with the totals of the capture; the recorded one takes its time', () => {
    const { code, out } = runBf3(['demo', '--json', '--output', join(folder, 'a.svg')]);
    expect(code).toBe(0);
    const report = JSON.parse(out);
    expect(report.jobs.length).toBe(2);
    for (const job of report.jobs) {
      expect([job.read.total_ios, job.write.total_ios, job.trim.total_ios]).toEqual([
        ...[summary.reads, summary.writes, summary.trims],
      ]);
      expect(job.sync.total_ios).toBe(summary.flushes);
      expect(job.write.io_bytes).toBe(summary.writtenBytes);
    }
    const [recorded, flatOut] = report.barefoot3.runs;
    expect(recorded.simulatedNs).toBeGreaterThan(summary.spanNs);
    expect(flatOut.simulatedNs).toBeLessThan(summary.spanNs / 100);
    expect(recorded.boot).toEqual(flatOut.boot);
    expect(existsSync(join(folder, 'a.svg'))).toBe(true);
  });

  test('the toy drive: the capture folded into 20 MiB, collection at work', () => {
    const { code, out } = runBf3(['demo', '--drive', 'toy', '--json'], folder);
    expect(code).toBe(0);
    for (const run of JSON.parse(out).barefoot3.runs) {
      expect(run.verification).toEqual({ reads: summary.reads, mismatches: 0 });
      expect(run.nand.erases).toBeGreaterThan(0);
    }
  });

  test.each([
    [['--output', '/no/such/folder/a.svg'], 1, /^bf3: cannot write .* does not exist\n$/],
    [['--output', '.'], 1, /^bf3: cannot write \.: it is a folder; give a file name inside it\n$/],
    [['--drive', 'victor'], 2, /^bf3: --drive: no drive "victor".*expected one of vector-128, /],
  ])('%j: exit code %i before anything runs', (options, code, message) => {
    const run = runBf3(['demo', ...options], folder);
    expect([run.code, run.out]).toEqual([code, '']);
    expect(run.error).toMatch(message);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('demo screen', () => {
  test.each([80, 100])('no line is wider than %i columns', (width) => {
    const text = renderDemo(sampleReport(), sampleReport(), {
      ...{ width, colour: false, output: `${'long/'.repeat(40)}report.svg` },
    });
    for (const line of text.split('\n')) expect([...line].length).toBeLessThanOrEqual(width);
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
  });

  test('a wrong read is not hidden', () => {
    const wrong = sampleReport();
    wrong.verification.mismatches = 3;
    const text = renderDemo(sampleReport(), wrong, { width: 100, colour: false, output: 'a.svg' });
    expect(text).toContain('✗ 3 of 800 verified reads were wrong\n');
  });
});
