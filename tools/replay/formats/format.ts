import { RunError } from '../../errors.ts';
import { Trace } from '../trace.ts';
import { LineReader, type Separator } from './fields.ts';

/** What of a trace file to take. */
export interface ReadOptions {
  /** Only the operations of this device, disk, file or ASU, as the file names it. */
  readonly device?: string | undefined;
  /** Which events of a block trace to take: dispatched to the drive (default) or queued. */
  readonly events?: 'D' | 'Q' | undefined;
}

/** One trace format: its name for `--format`, how to recognise it and how to read it. */
export interface TraceFormat {
  readonly name: string;
  /** What it is, in a few words for lists. */
  readonly title: string;
  /** How sure the first lines make it that a file has this format, 0 to 1. */
  score(bytes: Uint8Array): number;
  /** @throws RunError `file:line: what was found; expected ...` */
  read(source: Uint8Array | string, fileName: string, options?: ReadOptions): Trace;
}

/** Reads the current line into the trace; throws RunError when it is not of the format. */
export type LineParser = (line: LineReader, trace: Trace) => void;

const SAMPLE_LINES = 20;
const SAMPLE_BYTES = 65536;
const NAME = 'sample';

/** A format of which every line stands alone. */
export interface LineFormat {
  readonly name: string;
  readonly title: string;
  readonly separator: Separator;
  readonly parse: LineParser;
  /** Stricter than `parse` where two formats overlap. */
  readonly recognise?: LineParser;
}

/** Makes a `TraceFormat` of a parser for one line. */
export function lineFormat(format: LineFormat): TraceFormat {
  const { name, title, separator, parse } = format;
  return {
    name,
    title,
    score: (bytes) => scoreLines(bytes, separator, format.recognise ?? parse),
    read: (source, fileName, options = {}) => {
      const trace = new Trace({ format: name, fileName, device: options.device });
      const line = new LineReader(source, fileName, separator);
      while (line.next()) parse(line, trace);
      return trace.finish();
    },
  };
}

/** Share of the first 20 lines that `parse` accepts, 0 for a file without a line. */
export function scoreLines(bytes: Uint8Array, separator: Separator, parse: LineParser): number {
  const line = new LineReader(bytes.subarray(0, SAMPLE_BYTES), NAME, separator);
  const trace = new Trace({ format: NAME, fileName: NAME });
  let lines = 0;
  let accepted = 0;
  while (lines < SAMPLE_LINES && line.next()) {
    lines++;
    try {
      parse(line, trace);
      accepted++;
    } catch (error) {
      if (!(error instanceof RunError)) throw error;
    }
  }
  return lines === 0 ? 0 : accepted / lines;
}
