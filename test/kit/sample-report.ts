/** A run report with something in every field, the same each time. */
import { emptyReport, OPERATION_KINDS, type RunReport } from '../../tools/report/report.ts';
import { SeriesRecorder } from '../../tools/report/series.ts';

/** 10 ms of simulated time: 400 reads, 200 writes, 40 trims, 10 flushes. */
export function sampleReport(): RunReport {
  const report = emptyReport('4 KiB random mix, queue depth 32', 'OCZ Vector 256 GB');
  const series = new SeriesRecorder(100_000, 64);
  const each = { read: 400, write: 200, trim: 40, flush: 10 };
  const bytes = { read: 4096, write: 4096, trim: 65536, flush: 0 };
  const baseNs = { read: 90_000, write: 25_000, trim: 300_000, flush: 2_000_000 };
  report.simulatedNs = 10_000_000;
  for (const kind of OPERATION_KINDS) {
    for (let index = 1; index <= each[kind]; index += 1) {
      report.kinds[kind].operations += 1;
      report.kinds[kind].bytes += bytes[kind];
      report.kinds[kind].latency.record(baseNs[kind] + ((index * 7919) % 100) * 500);
      series.record(kind, (index * report.simulatedNs) / each[kind]);
    }
  }
  report.series = series.finish(report.simulatedNs);
  report.options = { rw: 'randrw', bs: '4k', iodepth: '32' };
  report.wallSeconds = 0.125;
  report.nand = { reads: 700, programs: 350, erases: 3, gcMovedSlots: 120 };
  report.writeAmplification = 3.5;
  report.trim = { sectors: 5120, validSlotsBefore: 4000, validSlotsAfter: 3000 };
  report.verification = { reads: 400, mismatches: 0 };
  report.utilisation = {
    channels: Float64Array.of(0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0),
    dies: Float64Array.from({ length: 32 }, (_, die) => die / 32),
    arm: 0.43,
    aragon: 0.31,
    link: 0.25,
  };
  report.boot = [
    { name: 'boot ROM', durationNs: 11_000_000 },
    { name: 'mount', durationNs: 132_000_000 },
  ];
  return report;
}
