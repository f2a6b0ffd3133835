/** A drive with a cycle trace at its flash: power on, boot, workload, until the buffer is out. */

import { Drive } from '../../firmware/drive.ts';
import type { DriveProfile } from '../../hal/profile.ts';
import { NS_PER_S } from '../../hal/sim/units.ts';
import { startProgress } from '../cli/progress.ts';
import { DebugWorkload, type WorkloadName } from '../debug/workload.ts';
import { stopped } from '../replay/boot-recorder.ts';
import { type Pace, TracePlayer } from '../replay/player.ts';
import type { Trace } from '../replay/trace.ts';
import { CycleTrace, type CycleTraceOptions } from './cycle-trace.ts';
import type { TextSink } from './vcd-writer.ts';

/** What the host does: a recorded workload, or a seeded one. */
export type Work =
  | { readonly trace: Trace; readonly pace: Pace }
  | { readonly workload: WorkloadName; readonly commands: number };

export interface TraceRunOptions {
  readonly profile: DriveProfile;
  readonly seed: string;
  readonly work: Work;
  /** Commands outstanding at most, 1 to 32. */
  readonly queueDepth: number;
  /** What to show of the pins. */
  readonly view: Omit<CycleTraceOptions, 'layout' | 'bus'>;
  /** Show no progress bar. */
  readonly silent?: boolean;
}

export interface TraceRun {
  readonly cycles: CycleTrace;
  /** The present at the end, and when the host's first command could come; -1 before. */
  readonly endNs: number;
  readonly readyNs: number;
  /** Player of a recorded workload, null of a seeded one. */
  readonly player: TracePlayer | null;
}

/** Events between two times that what is past goes into the file. */
const EVENTS_PER_FLUSH = 256;
/** The drive writes its buffer out after idling some ms; longer than this it never takes. */
const SETTLE_NS_MAX = NS_PER_S;

/**
 * Runs the work on a new drive; ends early when the trace shows nothing more.
 * @param sink takes the text of the file
 * @throws RunError when the drive stops on a broken rule
 */
export function runTraced(sink: TextSink, options: TraceRunOptions): TraceRun {
  const { profile } = options;
  const { drive, source } = build(options);
  const view = { ...options.view, layout: drive.geometry, bus: profile.bus };
  const cycles = new CycleTrace(sink, view);
  drive.array.cycles = cycles;
  drive.host.queueDepth = options.queueDepth;
  const total = source instanceof TracePlayer ? source.trace.count : commandsOf(options.work);
  const progress = startProgress({ unit: 'commands', total, silent: options.silent === true });
  const runner = new Runner(drive, cycles, options.view.toNs ?? Number.POSITIVE_INFINITY);
  let readyNs = -1;
  try {
    drive.powerOn();
    runner.run(() => drive.isReady, 'while booting');
    if (drive.isReady) readyNs = drive.timeline.nowNs;
    if (source instanceof TracePlayer) {
      source.start(drive.timeline.nowNs);
      drive.host.pump();
    }
    runner.onLook = () => progress.update(source.doneCount, drive.timeline.nowNs);
    runner.run(() => source.doneCount >= total, 'with commands outstanding');
    runner.settle();
  } finally {
    progress.finish();
    drive.array.cycles = null;
  }
  const endNs = drive.timeline.nowNs;
  cycles.finish(endNs);
  return { cycles, endNs, readyNs, player: source instanceof TracePlayer ? source : null };
}

function build(options: TraceRunOptions): { drive: Drive; source: TracePlayer | DebugWorkload } {
  const { profile, seed, work } = options;
  const { sectors } = profile.identity;
  const made: (TracePlayer | DebugWorkload)[] = [];
  const drive = new Drive(profile, {
    seed,
    source: ({ contents }) => {
      const source =
        'trace' in work
          ? new TracePlayer(work.trace, contents, sectors, work.pace)
          : new DebugWorkload(work.workload, Math.floor(sectors / 8), work.commands, seed);
      made.push(source);
      return source;
    },
  });
  return { drive, source: made[0]! };
}

function commandsOf(work: Work): number {
  return 'commands' in work && work.workload !== 'none' ? work.commands : 0;
}

class Runner {
  readonly #drive: Drive;
  readonly #cycles: CycleTrace;
  readonly #toNs: number;
  onLook: () => void = () => undefined;

  constructor(drive: Drive, cycles: CycleTrace, toNs: number) {
    this.#drive = drive;
    this.#cycles = cycles;
    this.#toNs = toNs;
  }

  /** Steps until something holds, or the trace is over. */
  run(holds: () => boolean, when: string): void {
    const { timeline } = this.#drive;
    while (!holds() && !this.#isOver()) {
      for (let i = 0; i < EVENTS_PER_FLUSH && !holds(); i++) {
        if (!timeline.step()) throw stopped(this.#drive, when);
      }
      this.#look(when);
    }
  }

  /** Lets the drive write out what it has buffered. */
  settle(): void {
    const { timeline, firmware } = this.#drive;
    const untilNs = timeline.nowNs + SETTLE_NS_MAX;
    while (firmware.buffer.dirtyCount > 0 && timeline.nextNs <= untilNs && !this.#isOver()) {
      for (let i = 0; i < EVENTS_PER_FLUSH && firmware.buffer.dirtyCount > 0; i++) timeline.step();
      this.#look('while it wrote its buffer out');
    }
  }

  #isOver(): boolean {
    return this.#cycles.isOver || this.#drive.timeline.nowNs > this.#toNs;
  }

  #look(when: string): void {
    if (this.#drive.panic !== null) throw stopped(this.#drive, when);
    this.#cycles.flush(this.#drive.timeline.nowNs);
    this.onLook();
  }
}
