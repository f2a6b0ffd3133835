/** What `bf3 demo` does: one capture, two new drives, one screen, one picture. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { driveProfile } from '../cli/arguments.ts';
import { checkWritable, writeFileAtomic } from '../cli/output.ts';
import { screenWidth, wantsColour } from '../cli/terminal.ts';
import { RunError } from '../errors.ts';
import { readTraceFile } from '../replay/detect.ts';
import type { Pace } from '../replay/player.ts';
import { describeRun } from '../replay/replay.ts';
import { type ReplayResult, replayTrace } from '../replay/run.ts';
import { checkReplay } from '../replay/verdict.ts';
import { type JsonObject, toFioJson } from '../report/fio-json.ts';
import type { RunReport } from '../report/report.ts';
import { renderSvg } from '../report/svg.ts';
import { renderDemo } from './screen.ts';

/** The capture, from the root of the package. */
const CAPTURE = 'test/fixtures/guest_ahci.blktrace';
const QUEUE_DEPTH = 32;

/** Options of the command as they are parsed. */
export interface DemoArguments {
  readonly drive: string;
  readonly output: string;
  readonly json?: boolean;
}

/**
 * Runs both replays, prints the screen and writes the picture of the second one.
 * @throws RunError before anything runs when the picture cannot be written or the capture is
 *   missing; after the results are printed when a read was wrong
 */
export function runDemo(options: DemoArguments): void {
  const profile = driveProfile(options.drive);
  checkWritable(options.output);
  const path = capturePath();
  const silent = options.json ?? false;
  const replay = (pace: Pace): ReplayResult => {
    const trace = readTraceFile(path);
    trace.wrap(profile.identity.sectors);
    const words = describeRun(trace, pace, QUEUE_DEPTH);
    return replayTrace(trace, { profile, pace, queueDepth: QUEUE_DEPTH, words, silent });
  };
  const recorded = replay({ flatOut: false, speed: 1 });
  // A new drive again: what differs between the two is the pace and nothing else.
  const flatOut = replay({ flatOut: true, speed: 1 });
  writeFileAtomic(options.output, renderSvg(flatOut.report));
  if (options.json) process.stdout.write(demoJson(recorded.report, flatOut.report));
  else {
    const { stdout } = process;
    const { output } = options;
    const text = renderDemo(recorded.report, flatOut.report, {
      ...{ width: screenWidth(stdout), colour: wantsColour(stdout), output },
    });
    stdout.write(text);
  }
  checkReplay(recorded.player);
  checkReplay(flatOut.player);
}

/** Where the capture lies, whether the program runs from its sources or from `dist`. */
function capturePath(): string {
  const manifest = createRequire(import.meta.url).resolve('barefoot3/package.json');
  const path = join(dirname(manifest), CAPTURE);
  if (existsSync(path)) return path;
  throw new RunError(
    `the capture of the demo is missing: ${path}; replay a trace of your own: bf3 replay <file>`,
  );
}

/** Both runs as fio prints a run of two jobs; what fio has no word for, as a list. */
function demoJson(recorded: RunReport, flatOut: RunReport): string {
  const runs = [recorded, flatOut].map((report) => toFioJson(report));
  const all = (key: string): JsonObject[] => runs.flatMap((run) => run[key] as JsonObject[]);
  const both = { ...runs[0], jobs: all('jobs'), disk_util: all('disk_util') };
  const own = runs.map((run) => run.barefoot3 as JsonObject);
  return `${JSON.stringify({ ...both, barefoot3: { runs: own } }, null, 2)}\n`;
}
