import { Trace, TraceKind } from '../trace.ts';
import { LineReader, Separator, type TimeUnit } from './fields.ts';
import type { ReadOptions, TraceFormat } from './format.ts';

const HEADER = 'fio version ';
const HEADER_LAYOUT = '"fio version 2 iolog" or "fio version 3 iolog"';
const MICROSECONDS: TimeUnit = { name: 'microseconds', nsDigits: 3, fraction: false };
const NS_PER_US = 1000;
const FILE_COLUMNS = 2;
const IO_COLUMNS = 4;
const ACTIONS = 'add, open, close, read, write, trim, sync, datasync or, in version 2, wait';

/**
 * fio iologs, versions 2 and 3 (fio HOWTO, "Trace file format v2" and "v3"). Offsets and lengths
 * are bytes, widened to whole sectors; `sync` and `datasync` are flushes; files share the drive
 * unless one is chosen as the device. Version 1 has no header and is not read.
 *
 * Pace. Version 3 starts each line with microseconds since the start. Version 2 knows time only
 * through `wait`, and two readings of it exist: the HOWTO says microseconds since the previous
 * `wait`, fio 3.33 waits until that many milliseconds after its own start. Here the HOWTO holds:
 * waits add up, in microseconds, and what stands between two of them is issued at one instant.
 * Waits under 100 us, which fio passes over, count in full: simulated time has no such grain.
 */
export const fio: TraceFormat = {
  name: 'fio',
  title: 'fio iolog v2 and v3',
  score: (bytes) => (Buffer.from(bytes.subarray(0, 12)).toString('latin1') === HEADER ? 1 : 0),
  read(source, fileName, options = {}) {
    const line = new LineReader(source, fileName, Separator.Blanks);
    const reader = new FioReader(line, options);
    while (line.next()) reader.readLine();
    return reader.trace.finish();
  },
};

class FioReader {
  readonly trace: Trace;
  readonly #line: LineReader;
  /** 1 when a time leads every line (version 3), else 0. */
  readonly #lead: number;
  /** Sum of the waits so far in version 2, time of the current line in version 3. */
  #atNs = 0;

  constructor(line: LineReader, options: ReadOptions) {
    this.#line = line;
    this.trace = new Trace({ format: 'fio', fileName: line.fileName, device: options.device });
    this.#lead = readVersion(line) === 3 ? 1 : 0;
  }

  readLine(): void {
    const line = this.#line;
    const lead = this.#lead;
    const action = line.text(lead + 1);
    if (lead === 1) this.#atNs = line.timeNs(0, 'time', MICROSECONDS);
    switch (action) {
      case 'add':
      case 'open':
      case 'close':
        this.#needColumns(FILE_COLUMNS, FILE_COLUMNS, `FILE ${action}`);
        return;
      case 'read':
        this.#transfer(TraceKind.Read);
        return;
      case 'write':
        this.#transfer(TraceKind.Write);
        return;
      case 'trim':
        this.#transfer(TraceKind.Trim);
        return;
      case 'sync':
      case 'datasync':
        this.#needColumns(FILE_COLUMNS, IO_COLUMNS, `FILE ${action} [OFFSET LENGTH]`);
        if (this.trace.takes(line.text(lead))) {
          this.trace.add(this.#atNs, TraceKind.Flush, 0, 0, false, line.line);
        }
        return;
      case 'wait':
        this.#wait();
        return;
      default:
        if (action === '') this.#needColumns(FILE_COLUMNS, IO_COLUMNS, 'FILE ACTION');
        line.failColumn(lead + 1, 'action', ACTIONS);
    }
  }

  #transfer(kind: TraceKind): void {
    const line = this.#line;
    const lead = this.#lead;
    this.#needColumns(IO_COLUMNS, IO_COLUMNS, `FILE ${line.text(lead + 1)} OFFSET LENGTH`);
    const offsetBytes = line.integer(lead + 2, 'offset');
    const lengthBytes = line.integer(lead + 3, 'length');
    if (!this.trace.takes(line.text(lead))) return;
    this.trace.addBytes(this.#atNs, kind, offsetBytes, lengthBytes, line.line);
  }

  #wait(): void {
    if (this.#lead === 1) {
      this.#line.failColumn(2, 'action', 'no wait in version 3, where lines have their own time');
    }
    this.#needColumns(IO_COLUMNS, IO_COLUMNS, 'FILE wait MICROSECONDS 0');
    const waitUs = this.#line.integer(2, 'wait');
    this.#atNs += waitUs * NS_PER_US;
    if (!Number.isSafeInteger(this.#atNs)) {
      this.#line.failColumn(2, 'wait', 'waits of at most 104 days together');
    }
  }

  #needColumns(least: number, most: number, layout: string): void {
    const time = this.#lead === 1 ? 'MICROSECONDS ' : '';
    this.#line.needColumns(least + this.#lead, most + this.#lead, time + layout);
  }
}

function readVersion(line: LineReader): 2 | 3 {
  if (!line.next()) line.fail('an empty file', HEADER_LAYOUT);
  const isHeader =
    line.columns === 4 &&
    line.text(0) === 'fio' &&
    line.text(1) === 'version' &&
    line.text(3) === 'iolog';
  const version = line.text(2);
  if (isHeader && version === '2') return 2;
  if (isHeader && version === '3') return 3;
  return line.fail(`header "${line.lineText()}"`, HEADER_LAYOUT);
}
