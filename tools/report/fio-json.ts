/**
 * A run in fio's JSON, so that scripts and plotters made for fio read it: the keys and units of
 * `fio --output-format=json` of version 3.33, with the latency bins of `json+`. What fio has no
 * word for stands under the separate key `barefoot3`.
 *
 * All times are simulated. An emulated command is timed as a whole, so the submission latency is
 * zero and the completion latency is the latency.
 */
import { packageVersion } from '../cli/version.ts';
import { latencyShares } from './fio-latency.ts';
import type { LatencyHistogram } from './histogram.ts';
import {
  checkReport,
  OPERATION_KINDS,
  type OperationKind,
  perSecond,
  type RunReport,
} from './report.ts';

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

export interface FioJsonOptions {
  /** Wall clock for fio's `timestamp`, milliseconds since 1970. Zero keeps the output the same. */
  readonly timestampMs?: number;
}

/** The version whose keys these are. */
const FIO_VERSION = 'fio-3.33';

/** The percentiles that fio lists unless told otherwise. */
const FIO_PERCENTILES = [
  1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99,
] as const;

/** fio's way to say that it cannot know: the largest signed 32-bit number. */
const FIO_ETA_UNKNOWN = 2147483647;

/**
 * The report as the object that fio would print.
 * @throws RunError when the report contradicts itself
 */
export function toFioJson(report: RunReport, options: FioJsonOptions = {}): JsonObject {
  checkReport(report);
  const timestampMs = options.timestampMs ?? 0;
  return {
    'fio version': FIO_VERSION,
    timestamp: Math.floor(timestampMs / 1000),
    timestamp_ms: timestampMs,
    time: unixTime(timestampMs),
    jobs: [job(report)],
    disk_util: [diskUtilisation(report)],
    barefoot3: ownData(report),
  };
}

/** The report as text, with a line feed at its end. */
export function fioJsonText(report: RunReport, options: FioJsonOptions = {}): string {
  return `${JSON.stringify(toFioJson(report, options), null, 2)}\n`;
}

/** A moment as C's `ctime` prints it, in UTC: "Thu Jan  1 00:00:00 1970". */
function unixTime(timestampMs: number): string {
  const [, day, month, year, clock] = new Date(timestampMs)
    .toUTCString()
    .match(/^\w+, (\d+) (\w+) (\d+) ([\d:]+)/)!;
  const weekday = new Date(timestampMs).toUTCString().slice(0, 3);
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${clock} ${year}`;
}

function job(report: RunReport): JsonObject {
  const runtimeMs = milliseconds(report.simulatedNs);
  const depth = queueDepth(report);
  return {
    jobname: report.title,
    groupid: 0,
    error: report.verification.mismatches > 0 ? EILSEQ : 0,
    eta: FIO_ETA_UNKNOWN,
    elapsed: Math.ceil(runtimeMs / 1000),
    'job options': { name: report.title, ioengine: 'barefoot3', ...report.options },
    read: direction(report, 'read'),
    write: direction(report, 'write'),
    trim: direction(report, 'trim'),
    sync: {
      total_ios: report.kinds.flush.operations,
      lat_ns: latency(report.kinds.flush.latency, true),
    },
    job_runtime: runtimeMs,
    usr_cpu: 0,
    sys_cpu: 0,
    ctx: 0,
    majf: 0,
    minf: 0,
    iodepth_level: depthShares(['1', '2', '4', '8', '16', '32', '>=64'], depth),
    iodepth_submit: depthShares(['0', '4', '8', '16', '32', '64', '>=64'], 1),
    iodepth_complete: depthShares(['0', '4', '8', '16', '32', '64', '>=64'], 1),
    ...latencyShares([
      report.kinds.read.latency,
      report.kinds.write.latency,
      report.kinds.trim.latency,
    ]),
    latency_depth: depth,
    latency_target: 0,
    latency_percentile: 100,
    latency_window: 0,
  };
}

/** fio reports a failed verify as this errno: illegal byte sequence. */
const EILSEQ = 84;

function direction(report: RunReport, kind: 'read' | 'write' | 'trim'): JsonObject {
  const { operations, bytes, latency: times } = report.kinds[kind];
  const bytesPerSecond = perSecond(bytes, report.simulatedNs);
  const iops = operations === 0 ? [] : [...report.series[kind]];
  const meanKiB = operations === 0 ? 0 : bytes / operations / 1024;
  const bandwidth = iops.map((value) => value * meanKiB);
  const bw = spread(bandwidth);
  const io = spread(iops);
  return {
    io_bytes: bytes,
    io_kbytes: Math.floor(bytes / 1024),
    bw_bytes: Math.round(bytesPerSecond),
    bw: Math.round(bytesPerSecond / 1024),
    iops: perSecond(operations, report.simulatedNs),
    runtime: operations === 0 ? 0 : milliseconds(report.simulatedNs),
    total_ios: operations,
    short_ios: 0,
    drop_ios: 0,
    slat_ns: { min: 0, max: 0, mean: 0, stddev: 0, N: 0 },
    clat_ns: latency(times, true),
    lat_ns: latency(times, false),
    bw_min: Math.round(bw.min),
    bw_max: Math.round(bw.max),
    bw_agg: operations === 0 ? 0 : 100,
    bw_mean: bw.mean,
    bw_dev: bw.stddev,
    bw_samples: bandwidth.length,
    iops_min: Math.round(io.min),
    iops_max: Math.round(io.max),
    iops_mean: io.mean,
    iops_stddev: io.stddev,
    iops_samples: iops.length,
  };
}

function latency(histogram: LatencyHistogram, withPercentiles: boolean): JsonObject {
  const summary: JsonObject = {
    min: histogram.minNs,
    max: histogram.maxNs,
    mean: histogram.meanNs,
    stddev: histogram.stddevNs,
    N: histogram.count,
  };
  if (!withPercentiles || histogram.count === 0) return summary;
  summary.percentile = Object.fromEntries(
    FIO_PERCENTILES.map((percent) => [percent.toFixed(6), histogram.percentile(percent)]),
  );
  summary.bins = Object.fromEntries(
    histogram.buckets().map(({ fromNs, toNs, count }) => [Math.floor((fromNs + toNs) / 2), count]),
  );
  return summary;
}

/** Every operation in the class that holds `depth`: a class is named by its upper end. */
function depthShares(classes: readonly string[], depth: number): JsonObject {
  const holds = (name: string): boolean => name.startsWith('>=') || depth <= Number(name);
  const chosen = classes.find(holds);
  return Object.fromEntries(classes.map((name) => [name, name === chosen ? 100 : 0]));
}

function queueDepth(report: RunReport): number {
  const depth = Number(report.options.iodepth ?? 1);
  return Number.isSafeInteger(depth) && depth > 0 ? depth : 1;
}

function diskUtilisation(report: RunReport): JsonObject {
  const { read, write } = report.kinds;
  const ticks = (kind: OperationKind): number => {
    const { count, meanNs } = report.kinds[kind].latency;
    return milliseconds(count * meanNs);
  };
  return {
    name: report.drive,
    read_ios: read.operations,
    write_ios: write.operations,
    read_merges: 0,
    write_merges: 0,
    read_ticks: ticks('read'),
    write_ticks: ticks('write'),
    in_queue: ticks('read') + ticks('write'),
    util: report.utilisation.link * 100,
  };
}

function ownData(report: RunReport): JsonObject {
  const { utilisation, series } = report;
  return {
    version: packageVersion(),
    title: report.title,
    drive: report.drive,
    wallSeconds: report.wallSeconds,
    simulatedNs: report.simulatedNs,
    operations: Object.fromEntries(
      OPERATION_KINDS.map((kind) => [kind, report.kinds[kind].operations]),
    ),
    nand: { ...report.nand },
    writeAmplification: report.writeAmplification,
    trim: { ...report.trim },
    verification: { ...report.verification },
    utilisation: {
      channels: [...utilisation.channels],
      dies: utilisation.dies === undefined ? null : [...utilisation.dies],
      arm: utilisation.arm,
      aragon: utilisation.aragon,
      link: utilisation.link,
    },
    boot: report.boot.map(({ name, durationNs }) => ({ name, durationNs })),
    series: {
      bucketNs: series.bucketNs,
      ...Object.fromEntries(OPERATION_KINDS.map((kind) => [kind, [...series[kind]]])),
    },
  };
}

function milliseconds(ns: number): number {
  return Math.ceil(ns / 1e6);
}

interface Spread {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly stddev: number;
}

/** Sample statistics as fio gives them for its samples; zeros for none. */
function spread(samples: readonly number[]): Spread {
  if (samples.length === 0) return { min: 0, max: 0, mean: 0, stddev: 0 };
  let min = Number.POSITIVE_INFINITY;
  let max = 0;
  let sum = 0;
  for (const sample of samples) {
    min = Math.min(min, sample);
    max = Math.max(max, sample);
    sum += sample;
  }
  const mean = sum / samples.length;
  const squares = samples.reduce((total, sample) => total + (sample - mean) ** 2, 0);
  return { min, max, mean, stddev: Math.sqrt(squares / Math.max(1, samples.length - 1)) };
}
