import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { RunError, UsageError } from '../errors.ts';
import { blkparse } from './formats/blkparse.ts';
import { blktrace } from './formats/blktrace.ts';
import { disksim } from './formats/disksim.ts';
import { printable } from './formats/fields.ts';
import { fio } from './formats/fio.ts';
import type { ReadOptions, TraceFormat } from './formats/format.ts';
import { mqsim } from './formats/mqsim.ts';
import { msr } from './formats/msr.ts';
import { spc } from './formats/spc.ts';
import type { Trace } from './trace.ts';

/** Every format that can be read, in the order in which lists show them. */
export const TRACE_FORMATS: readonly TraceFormat[] = [
  fio,
  blkparse,
  blktrace,
  msr,
  spc,
  disksim,
  mqsim,
];

/** A file needs this share of its first lines to be of a format to be taken for it. */
const SCORE_MIN = 0.5;
const SHOWN_CHARACTERS = 80;
const FILE_BYTES_MAX = 2 ** 31 - 1;
const GZIP_MAGIC = [0x1f, 0x8b];

/** How a trace file is to be read; without a format, the content decides. */
export interface TraceFileOptions extends ReadOptions {
  readonly format?: string | undefined;
}

/**
 * Reads a trace file of any known format.
 * @throws UsageError for a format name that does not exist.
 * @throws RunError when the file cannot be read, is empty, of no known format, damaged (with the
 *   line or byte offset), or holds no operation to replay.
 */
export function readTraceFile(path: string, options: TraceFileOptions = {}): Trace {
  const chosen = options.format === undefined ? undefined : formatNamed(options.format);
  const bytes = readBytes(path);
  if (bytes.length === 0) {
    throw new RunError(`${path}: the file is empty; expected a trace: ${knownFormats()}`);
  }
  const format = chosen ?? detectFormat(bytes, path);
  const trace = format.read(bytes, path, options);
  if (trace.count === 0) throw new RunError(`${path}: ${nothingToReplay(trace, options)}`);
  return trace;
}

/**
 * Finds the format of a file by its content: a magic number or header, else the format that most
 * of the first 20 lines are of. MQSim and DiskSim share a shape of five columns: a decimal point
 * in the arrival or a flag other than 0 and 1 speak for DiskSim, whole numbers for MQSim. Where
 * a file has both, the majority counts: DiskSim taken for MQSim fails at the first decimal point,
 * while MQSim taken for DiskSim would be read a million times too slow without a word.
 * @throws RunError that shows the first line and lists the formats.
 */
export function detectFormat(bytes: Uint8Array, fileName: string): TraceFormat {
  let best: TraceFormat | undefined;
  let bestScore = 0;
  for (const format of TRACE_FORMATS) {
    const score = format.score(bytes);
    if (score <= bestScore) continue;
    best = format;
    bestScore = score;
  }
  if (best !== undefined && bestScore >= SCORE_MIN) return best;
  if (GZIP_MAGIC.every((byte, i) => bytes[i] === byte)) {
    throw new RunError(`${fileName}: compressed with gzip; expected a plain file: gunzip it first`);
  }
  throw new RunError(
    `${fileName}:1: unknown trace format "${firstLine(bytes)}"; expected one of ${knownFormats()}`,
  );
}

function formatNamed(name: string): TraceFormat {
  const format = TRACE_FORMATS.find((candidate) => candidate.name === name);
  if (format !== undefined) return format;
  throw new UsageError(`unknown trace format "${name}"; expected one of ${knownFormats()}`);
}

function knownFormats(): string {
  return TRACE_FORMATS.map(({ name, title }) => `${name} (${title})`).join(', ');
}

function firstLine(bytes: Uint8Array): string {
  const start = Buffer.from(bytes.subarray(0, SHOWN_CHARACTERS * 4)).toString('utf8');
  return printable(start.split(/\r?\n/, 1)[0]!, SHOWN_CHARACTERS);
}

function nothingToReplay(trace: Trace, options: TraceFileOptions): string {
  const devices = [...trace.devices.keys()];
  if (options.device !== undefined && devices.length > 0 && !trace.devices.has(options.device)) {
    const shown = devices.slice(0, 20).join(' ');
    return `no operation of device "${options.device}"; expected one of: ${shown}`;
  }
  return `no operation to replay (format ${trace.format}); expected a read, write, trim or flush`;
}

function readBytes(path: string): Uint8Array {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const { size } = fstatSync(file);
    if (size > FILE_BYTES_MAX) {
      const limit = `at most ${FILE_BYTES_MAX} (2 GiB): split it`;
      throw new RunError(`${path}: a trace of ${size} bytes; expected ${limit}`);
    }
    return readFileSync(file);
  } catch (error) {
    if (error instanceof RunError) throw error;
    throw new RunError(`${path}: cannot be read: ${reason(error)}`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function reason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'no such file';
  if (code === 'EISDIR') return 'it is a directory';
  if (code === 'EACCES') return 'permission denied';
  return error instanceof Error ? error.message : String(error);
}
