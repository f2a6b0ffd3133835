/**
 * How far a run is. A bar on standard error when that is a terminal; nothing in a pipe, so that
 * logs and `--json` output stay clean.
 */
import cliProgress from 'cli-progress';
import { formatCompact, formatDuration } from './format.ts';

/** Told by the run from time to time; cheap enough to be called every thousand operations. */
export interface Progress {
  /**
   * @param done how many of the `total` are done
   * @param simulatedNs simulated time now
   */
  update(done: number, simulatedNs: number): void;
  /** Removes the bar. Safe to call twice. */
  finish(): void;
}

export interface ProgressOptions {
  /** What is counted, in the plural: "operations". */
  readonly unit: string;
  readonly total: number;
  /** Say nothing, whatever the stream: for `--json` and `--quiet`. */
  readonly silent?: boolean;
  readonly stream?: NodeJS.WriteStream;
  /** Wall clock in milliseconds. */
  readonly nowMs?: () => number;
}

const SILENT: Progress = { update: () => undefined, finish: () => undefined };

/** Starts the bar, or gives a reporter that says nothing. */
export function startProgress(options: ProgressOptions): Progress {
  const stream = options.stream ?? process.stderr;
  if (options.silent === true || stream.isTTY !== true || !(options.total > 0)) return SILENT;
  return new Bar(options, stream);
}

/** Seconds left as a clock: `0:07`, `2:05`, `1:02:05`; `-:--` while unknown. */
export function formatEta(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 0) return '-:--';
  const whole = Math.ceil(seconds);
  const two = (value: number): string => String(value).padStart(2, '0');
  const minutes = Math.floor(whole / 60) % 60;
  const hours = Math.floor(whole / 3600);
  return hours > 0
    ? `${hours}:${two(minutes)}:${two(whole % 60)}`
    : `${minutes}:${two(whole % 60)}`;
}

/** Redraws at most this often. */
const REDRAW_MS = 100;

class Bar implements Progress {
  private readonly bar: cliProgress.SingleBar;
  private readonly total: number;
  private readonly unit: string;
  private readonly nowMs: () => number;
  private readonly startedMs: number;
  private drawnMs: number;
  private finished = false;

  constructor(options: ProgressOptions, stream: NodeJS.WriteStream) {
    this.total = options.total;
    this.unit = options.unit;
    this.nowMs = options.nowMs ?? Date.now;
    this.startedMs = this.nowMs();
    this.drawnMs = this.startedMs;
    this.bar = new cliProgress.SingleBar({
      stream,
      format: '{bar} {percentage} % | {rate} | {simulated} simulated | {left} left',
      barCompleteChar: '█',
      barIncompleteChar: '░',
      barsize: 24,
      clearOnComplete: true,
      // With it, the first Ctrl-C would only remove the bar.
      gracefulExit: false,
      fps: 1000 / REDRAW_MS,
    });
    this.bar.start(this.total, 0, this.words(0, 0, 0));
  }

  update(done: number, simulatedNs: number): void {
    const now = this.nowMs();
    if (this.finished || (now - this.drawnMs < REDRAW_MS && done < this.total)) return;
    this.drawnMs = now;
    // Draws by itself now and then: the run is one loop, the bar's timer may never get a turn.
    this.bar.update(
      Math.min(done, this.total),
      this.words(done, simulatedNs, (now - this.startedMs) / 1000),
    );
  }

  finish(): void {
    if (this.finished) return;
    this.finished = true;
    this.bar.stop();
  }

  private words(done: number, simulatedNs: number, seconds: number): Record<string, string> {
    const perSecond = seconds > 0 ? done / seconds : 0;
    return {
      rate: `${formatCompact(Math.round(perSecond))} ${this.unit}/s`,
      simulated: formatDuration(simulatedNs),
      left: formatEta(perSecond > 0 ? (this.total - done) / perSecond : Number.NaN),
    };
  }
}
