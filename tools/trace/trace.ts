/** What `bf3 trace` does with its arguments. */

import { realpathSync, statSync } from 'node:fs';
import type { DriveProfile } from '../../hal/profile.ts';
import { CycleKind } from '../../nand/cycle-listener.ts';
import { driveProfile } from '../cli/arguments.ts';
import { formatBytes, formatCount, formatDuration } from '../cli/format.ts';
import { checkWritable } from '../cli/output.ts';
import { nearest } from '../cli/suggest.ts';
import { parseTime } from '../debug/words.ts';
import { WORKLOADS } from '../debug/workload.ts';
import { RunError, UsageError } from '../errors.ts';
import { OutputFile } from '../image/output-file.ts';
import { readTraceFile } from '../replay/detect.ts';
import { checkReplay } from '../replay/verdict.ts';
import type { DataDetail } from './cycle-trace.ts';
import { runTraced, type TraceRun, type Work } from './run.ts';

/** Options of the command as they are parsed. */
export interface TraceArguments {
  readonly out?: string;
  readonly drive: string;
  readonly seed: string;
  readonly workload?: string;
  readonly commands: number;
  readonly queueDepth: number;
  readonly format?: string;
  readonly wrap?: boolean;
  readonly flatOut?: boolean;
  readonly limit?: number;
  readonly channel?: readonly number[];
  readonly die?: readonly number[];
  readonly data: string;
  readonly from?: string;
  readonly to?: string;
  readonly maxSize: number;
  readonly json?: boolean;
}

const DEFAULT_WORKLOAD = 'read';

/**
 * Runs a drive, writes the trace and says what is in it.
 * @throws UsageError for a wrong option, RunError when a file cannot be had or the drive stops
 */
export function runTrace(file: string | undefined, options: TraceArguments): void {
  const profile = driveProfile(options.drive);
  const path = outputPath(options.out);
  const view = viewOf(options, profile);
  const work = workOf(file, options, profile);
  const output = new OutputFile(path);
  let run: TraceRun;
  try {
    const { seed, queueDepth } = options;
    const silent = options.json === true;
    run = runTraced(output, { profile, seed, work, queueDepth, view, silent });
  } catch (error) {
    output.discard();
    throw error;
  }
  output.commit();
  const report = reportOf(path, profile, run, view.fromNs, view.toNs);
  process.stdout.write(
    options.json === true ? `${JSON.stringify(report, null, 2)}\n` : reportText(report),
  );
  if (run.player !== null) checkReplay(run.player);
}

/** What was written, as `--json` prints it. */
interface TraceReport {
  readonly file: string;
  readonly drive: string;
  readonly fileBytes: number;
  readonly changes: number;
  /** The file ends early because of its size. */
  readonly isCut: boolean;
  readonly fromNs: number;
  readonly toNs: number;
  /** Instant from which the host could send commands, null when it was not reached. */
  readonly readyNs: number | null;
  readonly commandCycles: number;
  readonly addressCycles: number;
  readonly dataInPhases: number;
  readonly dataOutPhases: number;
  readonly dataInBytes: number;
  readonly dataOutBytes: number;
  readonly busyPhases: number;
  /** Cycles that began while another was on their bus, and the instant of the first. */
  readonly clashes: number;
  readonly firstClashNs: number | null;
}

function reportOf(
  file: string,
  profile: DriveProfile,
  { cycles, endNs, readyNs }: TraceRun,
  fromNs: number,
  toNs: number,
): TraceReport {
  const { counts } = cycles;
  const count = (kind: CycleKind) => counts.cycles[kind]!;
  return {
    ...{ file, drive: profile.id, fileBytes: cycles.bytes, changes: cycles.changes },
    ...{ isCut: cycles.isFull, fromNs, toNs: Math.max(fromNs, Math.min(endNs, toNs)) },
    readyNs: readyNs < 0 ? null : readyNs,
    commandCycles: count(CycleKind.Command),
    addressCycles: count(CycleKind.Address),
    dataInPhases: count(CycleKind.DataIn),
    dataOutPhases: count(CycleKind.DataOut),
    dataInBytes: counts.dataInBytes,
    dataOutBytes: counts.dataOutBytes,
    busyPhases: count(CycleKind.Busy),
    clashes: counts.clashes,
    firstClashNs: counts.clashes === 0 ? null : counts.firstClashNs,
  };
}

function reportText(report: TraceReport): string {
  const { fromNs, toNs, readyNs } = report;
  const lines = [
    `${report.file}: ${formatBytes(report.fileBytes)}, ${formatCount(report.changes)} changes`,
    `  from ${formatDuration(fromNs)} to ${formatDuration(toNs)} of ${report.drive}`,
    `  ${formatCount(report.commandCycles)} command and ` +
      `${formatCount(report.addressCycles)} address cycles, ` +
      `${formatCount(report.busyPhases)} times busy`,
    `  data in ${formatBytes(report.dataInBytes)}, out ${formatBytes(report.dataOutBytes)}`,
  ];
  if (readyNs !== null) lines.push(`  ready for the host at ${formatDuration(readyNs)}`);
  if (report.clashes > 0) {
    const first = `the first at ${report.firstClashNs} ns`;
    lines.push(`  ${formatCount(report.clashes)} cycles clash on their bus, ${first}`);
  }
  if (report.isCut) lines.push('  cut: the file reached --max-size before the run ended');
  return `${lines.join('\n')}\n`;
}

/** Where the file goes: a link is followed, a device is refused since it would be replaced. */
function outputPath(out: string | undefined): string {
  if (out === undefined) throw new UsageError('--out is missing; expected the VCD file to write');
  checkWritable(out);
  const existing = statSync(out, { throwIfNoEntry: false });
  if (existing === undefined) return out;
  if (!existing.isFile()) throw new RunError(`cannot write ${out}: it is no regular file`);
  return realpathSync(out);
}

function viewOf(options: TraceArguments, profile: DriveProfile) {
  const { channel, die } = options;
  const { channels, diesPerChannel } = profile.geometry;
  const dies = channels * diesPerChannel;
  checkNumbers('--channel', channel, channels, profile.id);
  checkNumbers('--die', die, dies, profile.id);
  const unseen = (number: number) => channel !== undefined && !channel.includes(number % channels);
  if (die?.every(unseen) === true) {
    throw new UsageError('--die: none of the dies lies on a channel of --channel');
  }
  const fromNs = options.from === undefined ? 0 : parseTime(options.from, 0);
  const toNs = options.to === undefined ? Number.POSITIVE_INFINITY : parseTime(options.to, fromNs);
  if (toNs <= fromNs) throw new UsageError('--to lies before --from; expected a later time');
  return {
    ...(channel === undefined ? {} : { channels: channel }),
    ...(die === undefined ? {} : { dies: die }),
    ...{ data: dataDetail(options.data), fromNs, toNs, bytesMax: options.maxSize },
  };
}

function checkNumbers(
  option: string,
  numbers: readonly number[] | undefined,
  count: number,
  drive: string,
): void {
  const strange = numbers?.find((number) => number >= count);
  if (strange === undefined) return;
  throw new UsageError(`${option}: ${strange}; ${drive} has 0 to ${count - 1}`);
}

function dataDetail(name: string): DataDetail {
  const names = ['none', 'summary', 'full'];
  const found = names.indexOf(name);
  if (found >= 0) return found as DataDetail;
  throw new UsageError(`--data: "${name}"; expected one of ${names.join(', ')}`);
}

function workOf(file: string | undefined, options: TraceArguments, profile: DriveProfile): Work {
  if (file === undefined) {
    const name = options.workload ?? DEFAULT_WORKLOAD;
    const workload = WORKLOADS.find((known) => known === name);
    if (workload !== undefined) return { workload, commands: options.commands };
    const near = nearest(name, WORKLOADS);
    const hint = near === null ? '' : ` (did you mean ${near}?)`;
    throw new UsageError(
      `--workload: no workload "${name}"${hint}; expected one of ${WORKLOADS.join(', ')}`,
    );
  }
  if (options.workload !== undefined) {
    throw new UsageError(`--workload beside the file ${file}; expected one of them`);
  }
  const { sectors } = profile.identity;
  const trace = readTraceFile(file, { format: options.format });
  if (options.limit !== undefined) trace.limit(options.limit);
  if (options.wrap === true) trace.wrap(sectors);
  else trace.checkFits(sectors);
  return { trace, pace: { flatOut: options.flatOut === true, speed: 1 } };
}
