/** One replay from power-on to report. */

import { Drive } from '../../firmware/drive.ts';
import type { DriveProfile } from '../../hal/profile.ts';
import { NS_PER_S } from '../../hal/sim/units.ts';
import { startProgress } from '../cli/progress.ts';
import type { RunReport } from '../report/report.ts';
import { bootDrive, stopped } from './boot-recorder.ts';
import { RunCollector, type RunWords } from './collect.ts';
import { type Pace, TracePlayer } from './player.ts';
import type { Trace } from './trace.ts';

export interface ReplayOptions {
  readonly profile: DriveProfile;
  readonly pace: Pace;
  /** Commands outstanding at most, 1 to 32. */
  readonly queueDepth: number;
  readonly words: RunWords;
  readonly seed?: string | undefined;
  /** Show no progress bar. */
  readonly silent?: boolean;
}

/** What a replay leaves behind. */
export interface ReplayResult {
  readonly report: RunReport;
  readonly player: TracePlayer;
  readonly drive: Drive;
}

/** Events between two looks at the progress bar and at the drive's health. */
const EVENTS_PER_LOOK = 1024;
/** The drive writes its buffer out after idling some ms; longer than this it never takes. */
const SETTLE_NS_MAX = NS_PER_S;

/**
 * Boots a new drive of the profile and plays the trace, which must fit, on it.
 * @throws RunError when the drive stops on a broken rule
 */
export function replayTrace(trace: Trace, options: ReplayOptions): ReplayResult {
  const beganWall = process.hrtime.bigint();
  const { drive, player } = build(trace, options);
  const boot = bootDrive(drive);
  drive.host.queueDepth = options.queueDepth;
  const collector = new RunCollector(drive, player, boot, options.words);
  play(drive, player, options);
  collector.operationsEnded();
  settle(drive);
  const wallSeconds = Number(process.hrtime.bigint() - beganWall) / NS_PER_S;
  return { report: collector.finish(wallSeconds), player, drive };
}

function build(trace: Trace, options: ReplayOptions): { drive: Drive; player: TracePlayer } {
  const { profile, pace, seed } = options;
  const players: TracePlayer[] = [];
  const drive = new Drive(profile, {
    ...(seed === undefined ? {} : { seed }),
    source: ({ contents }) => {
      const player = new TracePlayer(trace, contents, profile.identity.sectors, pace);
      players.push(player);
      return player;
    },
  });
  return { drive, player: players[0]! };
}

function play(drive: Drive, player: TracePlayer, options: ReplayOptions): void {
  const { timeline, host } = drive;
  const { silent = false } = options;
  const progress = startProgress({ unit: 'operations', total: player.trace.count, silent });
  const beganNs = timeline.nowNs;
  try {
    player.start(beganNs);
    host.pump();
    while (!player.isDone) {
      for (let i = 0; i < EVENTS_PER_LOOK && !player.isDone; i++) {
        if (!timeline.step()) throw stopped(drive, 'with operations outstanding');
      }
      if (drive.panic !== null) throw stopped(drive, 'during the replay');
      progress.update(player.doneCount, timeline.nowNs - beganNs);
    }
  } finally {
    progress.finish();
  }
}

/** Lets the drive write out what it has buffered. */
function settle(drive: Drive): void {
  const { timeline } = drive;
  const untilNs = timeline.nowNs + SETTLE_NS_MAX;
  while (drive.firmware.buffer.dirtyCount > 0 && timeline.nextNs <= untilNs) timeline.step();
}
