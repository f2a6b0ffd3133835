import { Trace } from '../trace.ts';
import { addBlockEvent, parseRwbs } from './block_events.ts';
import { LineReader, Separator, type TimeUnit } from './fields.ts';
import { type ReadOptions, scoreLines, type TraceFormat } from './format.ts';

const COLUMNS_MIN = 7;
const LAYOUT = '7 or more: maj,min cpu seq sec.ns pid ACTION RWBS [sector + count]';
const SECONDS: TimeUnit = { name: 'seconds', nsDigits: 9, fraction: true };
const CPU_MAX = 65535;
const COMMA = 44;
const PLUS = '+';
const OPEN_BRACKET = 91;
const OPEN_PARENTHESIS = 40;

/**
 * Text as `blkparse` prints it in its default format (blkparse(1)):
 * `maj,min cpu seq sec.ns pid ACTION RWBS sector + count [process]`.
 *
 * A request passes through several events; taken are those dispatched to the drive (D), or, in
 * a trace that has none of them, those queued (Q). Passthrough requests (SCSI commands, which
 * carry no sector) are left out, as is all other traffic, and the summary that blkparse ends
 * with. A request that the driver requeued and dispatched again counts twice.
 *
 * Order is kept for each processor only, so operations are sorted by time. One more trap: when
 * blkparse reads a pipe whose first event is at time 0, it takes that for "not set" and restarts
 * its clock at the next batch of events. On one processor time never goes back while the sequence
 * number rises, so that is how a restart is known; the clock then runs on from the latest time.
 */
export const blkparse: TraceFormat = {
  name: 'blkparse',
  title: 'blkparse text',
  score(bytes) {
    const reader = new BlkparseReader({ format: 'blkparse', fileName: '' }, 'D');
    return scoreLines(bytes, Separator.Blanks, (line) => {
      reader.readLine(line);
    });
  },
  read(source, fileName, options = {}) {
    const trace = readEvents(source, fileName, options, options.events ?? 'D');
    if (trace.devices.size > 0 || options.events !== undefined) return trace;
    return readEvents(source, fileName, options, 'Q');
  },
};

function readEvents(
  source: Uint8Array | string,
  fileName: string,
  options: ReadOptions,
  events: 'D' | 'Q',
): Trace {
  const line = new LineReader(source, fileName, Separator.Blanks);
  const origin = { format: 'blkparse', fileName, device: options.device };
  const reader = new BlkparseReader(origin, events);
  while (line.next() && reader.readLine(line));
  return reader.trace.finish();
}

/** Where the clock of one processor stood at its latest event. */
interface ProcessorClock {
  sequence: number;
  rawNs: number;
}

class BlkparseReader {
  readonly trace: Trace;
  readonly #events: 'D' | 'Q';
  /** Processors met since the latest restart, for each device. */
  readonly #clocks = new Map<string, ProcessorClock[]>();
  /** Time at which blkparse last restarted its clock. */
  #restartNs = 0;
  /** Latest time met, restarts included. */
  #latestNs = 0;

  constructor(origin: ConstructorParameters<typeof Trace>[0], events: 'D' | 'Q') {
    this.trace = new Trace(origin);
    this.#events = events;
  }

  /** Takes one line; false when the summary at the end of the text has begun. */
  readLine(line: LineReader): boolean {
    if (isSummary(line)) return false;
    if (line.text(0) === 'Input' && line.text(1) === 'file') return true;
    line.needColumns(COLUMNS_MIN, Number.POSITIVE_INFINITY, LAYOUT);
    const device = line.text(0);
    if (!isDevice(line)) line.failColumn(0, 'device', 'major,minor');
    const cpu = line.integer(1, 'cpu', CPU_MAX);
    const sequence = line.integer(2, 'sequence');
    const rawNs = line.timeNs(3, 'time', SECONDS);
    line.integer(4, 'pid');
    const action = line.text(5);
    if (!/^[A-Za-z]{1,2}$/.test(action)) line.failColumn(5, 'action', 'one or two letters');
    const atNs = this.#continuousNs(device, cpu, sequence, rawNs);
    if (action === this.#events) this.#take(line, device, atNs);
    return true;
  }

  #take(line: LineReader, device: string, atNs: number): void {
    const flags = parseRwbs(line.text(6));
    if (flags === undefined) line.failColumn(6, 'RWBS', 'F, then R, W, D or N, then F, A, S, M');
    let lba = 0;
    let sectors = 0;
    const first = line.byte(7);
    if (first !== 0 && first !== OPEN_BRACKET) {
      lba = line.integer(7, 'sector');
      if (line.byte(8) === OPEN_PARENTHESIS) return;
      if (line.text(8) !== PLUS) line.fail(`"${line.lineText()}"`, 'sector + count');
      sectors = line.integer(9, 'count');
    } else if (!flags.flush && flags.kind !== undefined) {
      line.fail(`"${line.lineText()}"`, 'sector + count');
    }
    if (!this.trace.takes(device)) return;
    addBlockEvent(this.trace, flags, atNs, lba, sectors, line.line);
  }

  #continuousNs(device: string, cpu: number, sequence: number, rawNs: number): number {
    let clock = this.#clock(device, cpu);
    if (sequence > clock.sequence) {
      if (rawNs < clock.rawNs) {
        this.#restartNs = this.#latestNs - rawNs;
        this.#clocks.clear();
        clock = this.#clock(device, cpu);
      }
      clock.sequence = sequence;
      clock.rawNs = rawNs;
    }
    const atNs = this.#restartNs + rawNs;
    this.#latestNs = Math.max(this.#latestNs, atNs);
    return atNs;
  }

  #clock(device: string, cpu: number): ProcessorClock {
    let clocks = this.#clocks.get(device);
    if (clocks === undefined) {
      clocks = [];
      this.#clocks.set(device, clocks);
    }
    let clock = clocks[cpu];
    if (clock === undefined) {
      clock = { sequence: -1, rawNs: Number.NEGATIVE_INFINITY };
      clocks[cpu] = clock;
    }
    return clock;
  }
}

function isSummary(line: LineReader): boolean {
  const word = line.text(0);
  return /^(CPU\d+|Total)$/.test(word) && line.text(1).startsWith('(');
}

function isDevice(line: LineReader): boolean {
  let index = 0;
  while (isDigit(line.byte(0, index))) index++;
  if (index === 0 || line.byte(0, index) !== COMMA) return false;
  const minor = index + 1;
  for (index = minor; isDigit(line.byte(0, index)); index++);
  return index > minor && line.byte(0, index) === 0;
}

function isDigit(byte: number): boolean {
  return byte >= 48 && byte <= 57;
}
