/**
 * Records of a served drive: what the host asked, by event ordinal, as newline-delimited JSON.
 *
 * One header, one line a host command in the order in which they entered the queue, one line at
 * the end. A command entered after event `at`, when the clock stood at `ns`: the clock may have
 * moved without an event. The emulator is deterministic, so this is all it takes to have the run
 * again, on a drive that holds tags instead of bytes, too. A server that died leaves a record
 * without an end.
 */

import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import type { Timeline } from '../../hal/sim/timeline.ts';
import { packageVersion } from '../cli/version.ts';
import { RunError, UsageError } from '../errors.ts';
import {
  type CommandListener,
  HostOp,
  QUEUED_SECTORS_MAX,
  TRIM_SECTORS_MAX,
} from './host-queue.ts';

export const RECORD_FORMAT = 'bf3-record';
export const RECORD_VERSION = 1;
const OP_NAMES = ['read', 'write', 'zero', 'trim', 'flush', 'standby'] as const;
/** Text gathered before it is written, and how long it may wait. */
const FLUSH_CHARS = 65_536;
const FLUSH_MS = 500;
const CHUNK_BYTES = 1 << 20;
const LINE_BYTES_MAX = 4096;

export interface RecordHeader {
  /** Name of the profile. */
  readonly profile: string;
  readonly seed: string;
  /** Version of the program that wrote it. */
  readonly program: string;
  /** The image that was made for the run; it was empty when the run began. */
  readonly image?: string;
}

export interface RecordedCommand {
  /** The command entered just after this event. */
  readonly at: number;
  /** Where the clock stood, in ns. */
  readonly ns: number;
  readonly op: HostOp;
  readonly lba: number;
  readonly sectors: number;
  readonly fua: boolean;
}

export interface RecordEnd {
  readonly ordinal: number;
  readonly ns: number;
  /** `timeline.hash` after event `ordinal`. */
  readonly hash: number;
}

export interface Recording {
  readonly header: RecordHeader;
  readonly commands: readonly RecordedCommand[];
  /** null when the server did not come to its end. */
  readonly end: RecordEnd | null;
}

/**
 * Appends a record while the drive is served. A file that cannot take it ends the record, not the
 * server.
 */
export class RecordWriter implements CommandListener {
  /** Told once why the record has ended early. */
  onFailed: (reason: string) => void = () => {};
  readonly #path: string;
  readonly #timeline: Timeline;
  #file: number | null;
  #text = '';
  readonly #timer: NodeJS.Timeout;

  /** @throws RunError when the file cannot be written */
  constructor(path: string, timeline: Timeline, header: Omit<RecordHeader, 'program'>) {
    this.#path = path;
    this.#timeline = timeline;
    try {
      this.#file = openSync(path, 'w');
    } catch (error) {
      throw new RunError(`cannot write the record ${path}: ${messageOf(error)}`);
    }
    const { profile, seed, image } = header;
    const format = { format: RECORD_FORMAT, version: RECORD_VERSION };
    const named = image === undefined ? {} : { image };
    this.#line({ ...format, profile, seed, program: packageVersion(), ...named });
    this.flush();
    this.#timer = setInterval(() => this.flush(), FLUSH_MS).unref();
  }

  pushed(op: HostOp, lba: number, sectors: number, fua: boolean): void {
    const { ordinal, nowNs } = this.#timeline;
    const name = OP_NAMES[op];
    this.#text += `{"at":${ordinal},"ns":${nowNs},"op":"${name}","lba":${lba},`;
    this.#text += `"sectors":${sectors},"fua":${fua}}\n`;
    if (this.#text.length >= FLUSH_CHARS) this.flush();
  }

  /** Writes what has gathered. */
  flush(): void {
    const bytes = Buffer.from(this.#text);
    this.#text = '';
    if (this.#file === null) return;
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
    } catch (error) {
      this.#close();
      this.onFailed(`the record ${this.#path} ends here: ${messageOf(error)}`);
    }
  }

  /** Writes the end as the timeline stands now, and closes the file. */
  end(): void {
    const { ordinal, nowNs, hash } = this.#timeline;
    this.#line({ end: ordinal, ns: nowNs, hash });
    this.flush();
    this.#close();
  }

  #close(): void {
    clearInterval(this.#timer);
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }

  #line(value: object): void {
    this.#text += `${JSON.stringify(value)}\n`;
  }
}

/**
 * Reads a record. A last line that was cut off is left out.
 * @throws UsageError with file and line for what is no record, RunError when it cannot be read
 */
export function readRecord(path: string): Recording {
  const commands: RecordedCommand[] = [];
  let header: RecordHeader | null = null;
  let end: RecordEnd | null = null;
  let number = 0;
  for (const { text, isWhole } of linesOf(path)) {
    number++;
    const where = `${path}:${number}`;
    const line = parseLine(text, where, !isWhole && header !== null);
    if (line === null) break;
    if (header === null) header = headerOf(line, where);
    else if (end !== null) throw new UsageError(`${where}: nothing may follow the end`);
    else if ('end' in line) end = endOf(line, where, commands.at(-1));
    else commands.push(commandOf(line, where, commands.at(-1)));
  }
  if (header === null) throw new UsageError(`${path}: an empty file is no record of bf3 serve`);
  return { header, commands, end };
}

type Line = Readonly<Record<string, unknown>>;

function parseLine(text: string, where: string, mayBeCut: boolean): Line | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Line;
  } catch {
    if (mayBeCut) return null;
  }
  throw new UsageError(`${where}: every line of a record is one JSON object`);
}

function headerOf(line: Line, where: string): RecordHeader {
  if (line.format !== RECORD_FORMAT) {
    throw new UsageError(
      `${where}: this is no record of bf3 serve: "format" must be "${RECORD_FORMAT}"`,
    );
  }
  const { version, profile, seed, program } = line;
  if (version !== RECORD_VERSION) {
    throw new UsageError(
      `${where}: version ${String(version)} of the format; this program reads ${RECORD_VERSION}`,
    );
  }
  if (typeof profile !== 'string' || typeof seed !== 'string') {
    throw new UsageError(`${where}: "profile" and "seed" must be strings`);
  }
  return { profile, seed, program: typeof program === 'string' ? program : 'unknown' };
}

function commandOf(
  line: Line,
  where: string,
  before: RecordedCommand | undefined,
): RecordedCommand {
  const op = OP_NAMES.indexOf(line.op as (typeof OP_NAMES)[number]);
  if (op < 0) {
    const names = OP_NAMES.join(', ');
    throw new UsageError(`${where}: "op" must be one of ${names}, not ${JSON.stringify(line.op)}`);
  }
  const least = op <= HostOp.Trim ? 1 : 0;
  const most = op < HostOp.Trim ? QUEUED_SECTORS_MAX : op === HostOp.Trim ? TRIM_SECTORS_MAX : 0;
  const at = wholeNumber(line, 'at', where, before?.at ?? 0);
  const ns = wholeNumber(line, 'ns', where, before?.ns ?? 0);
  const lba = wholeNumber(line, 'lba', where, 0, 2 ** 48 - 1);
  const sectors = wholeNumber(line, 'sectors', where, least, most);
  return { at, ns, op, lba, sectors, fua: line.fua === true };
}

function endOf(line: Line, where: string, before: RecordedCommand | undefined): RecordEnd {
  const ordinal = wholeNumber(line, 'end', where, before?.at ?? 0);
  const ns = wholeNumber(line, 'ns', where, before?.ns ?? 0);
  const hash = wholeNumber(line, 'hash', where, -(2 ** 31), 2 ** 31 - 1);
  return { ordinal, ns, hash };
}

function wholeNumber(
  line: Line,
  field: string,
  where: string,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): number {
  const value = line[field];
  if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) {
    return value as number;
  }
  const shown = JSON.stringify(value) ?? 'missing';
  throw new UsageError(
    `${where}: "${field}" must be a whole number from ${least} to ${most}, not ${shown}`,
  );
}

/** Lines of a file of any length, the last one even without its line feed. */
function* linesOf(path: string): Iterable<{ text: string; isWhole: boolean }> {
  let rest = Buffer.alloc(0);
  let number = 1;
  for (const chunk of chunksOf(path)) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    for (;;) {
      const to = bytes.indexOf(0x0a, from);
      const lengthBytes = (to < 0 ? bytes.length : to) - from;
      if (lengthBytes > LINE_BYTES_MAX) {
        throw new UsageError(`${path}:${number}: a line is longer than ${LINE_BYTES_MAX} bytes`);
      }
      if (to < 0) break;
      yield { text: bytes.toString('utf8', from, to), isWhole: true };
      number++;
      from = to + 1;
    }
    rest = Buffer.from(bytes.subarray(from));
  }
  if (rest.length > 0) yield { text: rest.toString(), isWhole: false };
}

function* chunksOf(path: string): Iterable<Buffer> {
  let file = -1;
  try {
    file = openSync(path, 'r');
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const count = readSync(file, chunk, 0, CHUNK_BYTES, null);
      if (count === 0) return;
      yield chunk.subarray(0, count);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new RunError(`cannot read the record ${path}: ${messageOf(error)}`);
  } finally {
    if (file >= 0) closeSync(file);
  }
}

function messageOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'the file or its folder does not exist';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  if (code === 'EISDIR') return 'it is a folder';
  if (code === 'ENOSPC') return 'no space left on the device';
  return error instanceof Error ? error.message : String(error);
}
