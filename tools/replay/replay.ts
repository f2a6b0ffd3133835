/** What `bf3 replay` does with its arguments. */
import { basename } from 'node:path';
import type { DriveProfile } from '../../hal/profile.ts';
import { driveProfile } from '../cli/arguments.ts';
import { formatCount } from '../cli/format.ts';
import { checkWritable, writeFileAtomic } from '../cli/output.ts';
import { screenWidth, wantsColour } from '../cli/terminal.ts';
import { fioJsonText } from '../report/fio-json.ts';
import type { RunReport } from '../report/report.ts';
import { renderScreen } from '../report/screen.ts';
import { renderSvg } from '../report/svg.ts';
import type { RunWords } from './collect.ts';
import { readTraceFile } from './detect.ts';
import type { Pace } from './player.ts';
import { replayTrace } from './run.ts';
import type { Trace } from './trace.ts';
import { checkReplay } from './verdict.ts';

/** Options of the command as they are parsed. */
export interface ReplayArguments {
  readonly drive: string;
  readonly queueDepth: number;
  readonly speed: number;
  readonly flatOut?: boolean;
  readonly format?: string;
  readonly device?: string;
  readonly wrap?: boolean;
  readonly limit?: number;
  readonly seed?: string;
  readonly json?: boolean;
  readonly svg?: string;
}

/**
 * Replays the file and prints the report.
 * @throws RunError when it cannot be replayed, a read was wrong or a command failed; the report has
 *   been printed in the last two cases
 */
export function runReplay(file: string, options: ReplayArguments): void {
  const profile = driveProfile(options.drive);
  if (options.svg !== undefined) checkWritable(options.svg);
  const trace = openTrace(file, profile, options);
  const { queueDepth, seed } = options;
  const pace: Pace = { flatOut: options.flatOut ?? false, speed: options.speed };
  const { report, player } = replayTrace(trace, {
    ...{ profile, pace, queueDepth, seed },
    words: describeRun(trace, pace, queueDepth),
    silent: options.json ?? false,
  });
  process.stdout.write(options.json ? fioJsonText(report) : screen(report));
  if (options.svg !== undefined) writeFileAtomic(options.svg, renderSvg(report));
  checkReplay(player);
}

/** Reads the trace and makes it fit the drive. */
function openTrace(file: string, profile: DriveProfile, options: ReplayArguments): Trace {
  const { format, device, limit, wrap } = options;
  const { sectors } = profile.identity;
  const trace = readTraceFile(file, { format, device });
  if (limit !== undefined) trace.limit(limit);
  if (wrap !== true) {
    trace.checkFits(sectors);
    return trace;
  }
  const folded = trace.wrap(sectors);
  if (folded > 0) {
    const count = `${formatCount(folded)} of ${formatCount(trace.count)} operations`;
    process.stderr.write(`bf3: ${count} lay beyond the drive and were folded into it\n`);
  }
  return trace;
}

/** The run in words, and as options under fio's names. */
export function describeRun(trace: Trace, pace: Pace, queueDepth: number): RunWords {
  const name = basename(trace.fileName);
  const times = pace.speed === 1 ? 'at the recorded pace' : `at ${pace.speed} x the recorded pace`;
  const how = pace.flatOut ? 'flat out' : times;
  const speed = pace.flatOut
    ? { replay_no_stall: '1' }
    : { replay_time_scale: String(pace.speed * 100) };
  const operations = trace.count === 1 ? '1 operation' : `${formatCount(trace.count)} operations`;
  return {
    title: `${name}, ${operations} ${how}, queue depth ${queueDepth}`,
    options: { read_iolog: name, iodepth: String(queueDepth), ...speed },
  };
}

function screen(report: RunReport): string {
  const { stdout } = process;
  return renderScreen(report, { width: screenWidth(stdout), colour: wantsColour(stdout) });
}
