/**
 * Goal: what reads fio's JSON reads ours.
 * Oracle: the keys that fio 3.33 printed for a mixed job and for one with fsync, recorded.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { fioJsonText, type JsonValue, toFioJson } from '../../../tools/report/fio-json.ts';
import { emptyReport } from '../../../tools/report/report.ts';
import { sampleReport } from '../../kit/sample-report.ts';

const FIO_KEYS: readonly string[] = JSON.parse(
  readFileSync(new URL('../../fixtures/fio/keys-3.33.json', import.meta.url), 'utf8'),
);

/** Every key with its path; what the user chose under `job options` is not listed. */
function keyPaths(value: JsonValue, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((entry) => keyPaths(entry, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = `${path}/${key}`;
    return key === 'job options' ? [here] : [here, ...keyPaths(inner, here)];
  });
}

/** The first job, with the type of what fio puts there. */
function job(report = sampleReport()): Record<string, Record<string, number>> {
  return JSON.parse(fioJsonText(report)).jobs[0];
}

describe('fio JSON', () => {
  test('keys: all that fio prints', () => {
    const ours = new Set(keyPaths(toFioJson(sampleReport())));
    expect(FIO_KEYS.filter((key) => !ours.has(key))).toEqual([]);
  });

  test('keys: no others but percentiles and bins of trim and sync, and our own', () => {
    const fio = new Set(FIO_KEYS.map((key) => key.replace(/\/(read|write|trim|sync)\//, '/*/')));
    const others = keyPaths(toFioJson(sampleReport()))
      .filter((key) => !key.startsWith('/barefoot3') && !key.includes('/bins'))
      .map((key) =>
        key.replace(/\/(read|write|trim|sync)\//, '/*/').replace('/lat_ns/', '/clat_ns/'),
      )
      .filter((key) => !fio.has(key));
    expect(others).toEqual([]);
  });

  test('bandwidth, rate and counts: in the units of fio', () => {
    const { read, trim, sync } = job();
    // 400 reads of 4096 bytes in 10 ms.
    expect(read).toMatchObject({
      io_bytes: 1_638_400,
      io_kbytes: 1600,
      bw_bytes: 163_840_000,
      bw: 160_000,
      iops: 40_000,
      runtime: 10,
      total_ios: 400,
    });
    expect(trim).toMatchObject({ total_ios: 40, io_bytes: 40 * 65_536 });
    expect(sync).toMatchObject({ total_ios: 10 });
  });

  test('percentiles: fio names, from the histogram', () => {
    const report = sampleReport();
    const written = JSON.parse(fioJsonText(report)).jobs[0].write.clat_ns;
    expect(written.N).toBe(200);
    expect(written.min).toBe(25_000);
    expect(written.percentile['99.900000']).toBe(report.kinds.write.latency.percentile(99.9));
    const counts: number[] = Object.values(written.bins);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(200);
  });

  test('latency classes: all shares together are all operations', () => {
    const { latency_ns, latency_us, latency_ms } = job();
    const shares = [latency_ns, latency_us, latency_ms].flatMap((group) => Object.values(group!));
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(100, 9);
    // Reads 90 to 140 us, writes 25 to 75 us, trims 300 to 350 us.
    expect(latency_us!['20']).toBe(0);
    expect(latency_us!['500']).toBeCloseTo((40 * 100) / 640, 9);
  });

  test('queue depth: from the options, in the class that holds it', () => {
    expect(job().iodepth_level).toMatchObject({ '16': 0, '32': 100, '>=64': 0 });
    const report = sampleReport();
    report.options.iodepth = 'many';
    expect(job(report).iodepth_level).toMatchObject({ '1': 100, '32': 0 });
  });

  test('our own data stands apart', () => {
    const own = JSON.parse(fioJsonText(sampleReport())).barefoot3;
    expect(own.writeAmplification).toBe(3.5);
    expect(own.nand.erases).toBe(3);
    expect(own.utilisation.channels).toHaveLength(8);
    expect(own.series.read.length).toBeGreaterThan(0);
  });

  test('the same run gives the same text; the time is the one given', () => {
    expect(fioJsonText(sampleReport())).toBe(fioJsonText(sampleReport()));
    const json = toFioJson(sampleReport(), { timestampMs: 1_000_000_000_000 });
    expect(json.time).toBe('Sun Sep  9 01:46:40 2001');
    expect(json.timestamp).toBe(1_000_000_000);
  });

  test('wrong data is an error of the job, as with a failed fio verify', () => {
    const report = sampleReport();
    report.verification.mismatches = 1;
    expect(JSON.parse(fioJsonText(report)).jobs[0].error).toBe(84);
  });

  test('nothing happened: still valid, no empty bins', () => {
    const text = fioJsonText(emptyReport('idle', 'a drive'));
    expect(text).not.toContain('bins');
    expect(JSON.parse(text).jobs[0].read.iops).toBe(0);
  });
});
