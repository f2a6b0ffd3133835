/**
 * Goal: `bf3 replay` as its user meets it: totals, formats, errors, exit codes.
 * Method: the built program on real recordings and on small files; the trace's own summary is the
 * oracle for what the report counts.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readTraceFile } from '../../../tools/replay/detect.ts';
import { fixture, runBf3 } from '../../kit/bf3.ts';
import { openTags } from '../../kit/xml.ts';

const CAPTURE = fixture('guest_ahci.blktrace');
const summary = readTraceFile(CAPTURE).summary();

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bf3-replay-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** A trace in the MSR Cambridge format: time in 100 ns, read or write, offset and size in bytes. */
function msr(rows: readonly (readonly [number, 'Read' | 'Write', number, number])[]): string {
  const path = join(folder, 'volume.csv');
  const lines = rows.map(([time, kind, offset, size]) => {
    return `${128166372000000000 + time},host,0,${kind},${offset},${size},0\n`;
  });
  writeFileSync(path, lines.join(''));
  return path;
}

describe('a real capture', () => {
  test.each([
    ['blktrace', 'guest_ahci.blktrace', ['--flat-out']],
    ['blkparse', 'blkparse_guest_ahci.txt', ['--flat-out', '--queue-depth', '1']],
    ['recorded pace', 'guest_ahci.blktrace', []],
  ])('%s: the totals are those of the trace, every read is right', (_, name, options) => {
    const { code, out, error } = runBf3(['replay', fixture(name), '--json', ...options]);
    expect([code, error]).toEqual([0, '']);
    const report = JSON.parse(out);
    const [job] = report.jobs;
    expect([job.read.total_ios, job.read.io_bytes]).toEqual([summary.reads, summary.readBytes]);
    expect([job.write.total_ios, job.write.io_bytes]).toEqual([
      ...[summary.writes, summary.writtenBytes],
    ]);
    expect([job.trim.total_ios, job.trim.io_bytes]).toEqual([
      ...[summary.trims, summary.trimmedBytes],
    ]);
    expect(job.sync.total_ios).toBe(summary.flushes);
    expect(job.error).toBe(0);
    for (const kind of ['read', 'write', 'trim']) {
      expect(job[kind].clat_ns.N).toBe(job[kind].total_ios);
    }
    const { verification, nand, writeAmplification, boot } = report.barefoot3;
    expect(verification).toEqual({ reads: summary.reads, mismatches: 0 });
    // Every written page is programmed at least once but for those overwritten in the buffer.
    expect(nand.programs * 8192).toBeGreaterThan(summary.writtenBytes * 0.9);
    expect(writeAmplification).toBeGreaterThan(0.9);
    expect(writeAmplification).toBeLessThan(1.5);
    expect(boot.length).toBe(6);
  });

  test('at the recorded pace the run takes as long as the recording, at 10 x a tenth', () => {
    const runtime = (...options: string[]): number => {
      const { out } = runBf3(['replay', CAPTURE, '--json', ...options]);
      return JSON.parse(out).barefoot3.simulatedNs;
    };
    const recorded = runtime();
    expect(recorded).toBeGreaterThan(summary.spanNs);
    // The last operation is a read: it adds less than a millisecond.
    expect(recorded).toBeLessThan(summary.spanNs + 1e6);
    const fast = runtime('--speed', '10');
    expect(fast).toBeGreaterThan(summary.spanNs / 10);
    expect(fast).toBeLessThan(summary.spanNs / 10 + 1e6);
  });

  test('the screen and the picture; the same run gives the same bytes', () => {
    const pictures = ['a.svg', 'b.svg'].map((name) => {
      const args = ['replay', CAPTURE, '--flat-out', '--svg', join(folder, name)];
      const { code, out, error } = runBf3(args);
      expect([code, error]).toEqual([0, '']);
      expect(out).toContain('guest_ahci.blktrace, 535 operations flat out, queue depth 32\n');
      expect(out).toContain('\n✓ 449 reads verified, all as last written\n');
      return readFileSync(join(folder, name), 'utf8');
    });
    expect(openTags(pictures[0]!)).toEqual([]);
    expect(pictures[0]).toBe(pictures[1]);
    expect(readdirSync(folder).sort()).toEqual(['a.svg', 'b.svg']);
  });

  test('--limit takes the first operations', () => {
    const { out } = runBf3(['replay', CAPTURE, '--limit', '10', '--json']);
    const kinds = Array.from(readTraceFile(CAPTURE).kind.subarray(0, 10));
    const { operations } = JSON.parse(out).barefoot3;
    expect(Object.values(operations)).toEqual(
      [0, 1, 2, 3].map((kind) => kinds.filter((other) => other === kind).length),
    );
  });
});

describe('addresses beyond the drive', () => {
  const beyond = 300e9;

  test('an error that offers --wrap', () => {
    const path = msr([
      [0, 'Write', 0, 4096],
      [10, 'Read', beyond, 8192],
    ]);
    const { code, out, error } = runBf3(['replay', path]);
    expect([code, out]).toEqual([1, '']);
    expect(error).toBe(
      `bf3: ${path}:2: a read of 16 sectors at LBA 585937500 ends beyond the drive; the trace ` +
        'needs 585937516 sectors, the drive has 500118192; --wrap folds the addresses into the drive\n',
    );
  });

  test('--wrap folds them in, and says so', () => {
    const path = msr([
      [0, 'Write', 0, 4096],
      [10, 'Write', beyond, 8192],
      [20, 'Read', beyond, 8192],
    ]);
    const { code, out, error } = runBf3(['replay', path, '--wrap', '--json']);
    expect(code).toBe(0);
    expect(error).toBe('bf3: 2 of 3 operations lay beyond the drive and were folded into it\n');
    const { verification, operations } = JSON.parse(out).barefoot3;
    expect(operations).toEqual({ read: 1, write: 2, trim: 0, flush: 0 });
    expect(verification).toEqual({ reads: 1, mismatches: 0 });
  });
});

describe('mistakes', () => {
  test.each([
    [
      ['--drive', 'vektor-256'],
      2,
      /^bf3: --drive: no drive "vektor-256" \(did you mean vector-256/,
    ],
    [
      ['--queue-depth', '33'],
      2,
      /^bf3: --queue-depth: "33"; expected a whole number from 1 to 32\n$/,
    ],
    [['--queue-depth', '1.5'], 2, /^bf3: --queue-depth: "1\.5"; expected a whole number/],
    [['--speed', 'fast'], 2, /^bf3: --speed: "fast"; expected a number from/],
    [['--speed', '0'], 2, /^bf3: --speed: "0"; expected a number from/],
    [
      ['--flat-out', '--speed', '2'],
      2,
      /^bf3: option '--flat-out' cannot be used with option '--sp/,
    ],
    [['--limit', '0'], 2, /^bf3: --limit: "0"; expected a whole number from 1/],
    [['--format', 'cpio'], 2, /^bf3: unknown trace format "cpio"; expected one of fio/],
    [['--device', '9,9'], 1, /^bf3: .*: no operation of device "9,9"; expected one of: 8,0\n$/],
    [
      ['--svg', '/no/such/folder/a.svg'],
      1,
      /^bf3: cannot write .*: the folder .* does not exist\n$/,
    ],
  ])('%j: exit code %i, one sentence', (options, code, message) => {
    const run = runBf3(['replay', CAPTURE, ...options]);
    expect([run.code, run.out]).toEqual([code, '']);
    expect(run.error).toMatch(message);
    expect(run.error.split('\n').length).toBe(2);
  });

  test('a file that is not there, an empty one, one of no format', () => {
    const empty = join(folder, 'empty');
    const strange = join(folder, 'strange');
    writeFileSync(empty, '');
    writeFileSync(strange, 'a letter to a friend\n');
    const errors = [join(folder, 'missing'), empty, strange].map((path) => {
      const { code, out, error } = runBf3(['replay', path, '--svg', join(folder, 'a.svg')]);
      expect([code, out]).toEqual([1, '']);
      return error;
    });
    expect(errors[0]).toMatch(/missing: cannot be read: no such file\n$/);
    expect(errors[1]).toMatch(/empty: the file is empty; expected a trace: /);
    expect(errors[2]).toMatch(/strange:1: unknown trace format "a letter to a friend"; expected/);
    expect(existsSync(join(folder, 'a.svg'))).toBe(false);
  });
});
