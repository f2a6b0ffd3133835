/** What `bf3 fault` does: reads faults, speaks to the served drive, tells people and programs. */
import { readFileSync, statSync } from 'node:fs';
import { BadFault, type Fault, type FaultDocument } from '../../hal/faults/fault.ts';
import { parseFaultDocument, plainFault } from '../../hal/faults/fault-file.ts';
import type { FaultLimits } from '../../hal/faults/fault-limits.ts';
import { Geometry } from '../../hal/geometry.ts';
import { driveProfile } from '../cli/arguments.ts';
import { nearest } from '../cli/suggest.ts';
import { RunError, UsageError } from '../errors.ts';
import { type ControlClient, withControl } from '../serve/control-client.ts';
import type { FaultRow } from './fault-control.ts';
import {
  FAULT_OPTIONS,
  type FaultOptions,
  faultOfOptions,
  optionName,
  optionSentence,
} from './fault-options.ts';
import { fileText, listText, reportText } from './fault-table.ts';

const FILE_BYTES_MAX = 16 * 1024 * 1024;
/** Bytes of faults in one request: a line of the protocol has 65,536 at most. */
const REQUEST_BYTES_MAX = 49_152;

export interface AttachOptions {
  readonly attach?: string;
  readonly json?: boolean;
}

export interface AddOptions extends AttachOptions {
  readonly file?: string;
  readonly seed?: string;
}

export interface LiftOptions extends AttachOptions {
  readonly all?: boolean;
}

export interface CheckOptions {
  readonly drive?: string;
  readonly json?: boolean;
}

export type Write = (text: string) => void;

/** Adds the fault of the options, or all of a file. */
export async function runAdd(
  kind: string | undefined,
  options: AddOptions & FaultOptions,
  write: Write = writeOut,
): Promise<void> {
  const { seed, faults } = faultsOf(kind, options);
  const ids = await withControl(socketOf(options), async (client) => {
    try {
      return await addAll(client, faults, seed);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      const { file } = options;
      const said = error.message;
      throw new UsageError(file === undefined ? optionSentence(said) : `${file}: ${said}`);
    }
  });
  if (options.json === true) write(json({ ids }));
  else if (ids.length === 0) write('no faults to add\n');
  else if (ids.length === 1) write(`fault ${ids[0]} added\n`);
  else write(`${ids.length} faults added: ${ids[0]} to ${ids.at(-1)}\n`);
}

/** Prints the faults of a served drive. */
export async function runList(options: AttachOptions, write: Write = writeOut): Promise<void> {
  const answer = await withControl(socketOf(options), (client) =>
    client.ask({ cmd: 'fault.list' }),
  );
  const rows = rowsOf(answer.faults);
  write(options.json === true ? json(rows) : listText(rows));
}

/** Lifts one fault or all. */
export async function runLift(
  ids: readonly string[],
  options: LiftOptions,
  write: Write = writeOut,
): Promise<void> {
  const all = options.all === true;
  if (all === ids.length > 0) throw new UsageError('say which fault to lift, or --all');
  const numbers = ids.map((id) => {
    if (/^\d{1,15}$/.test(id)) return Number(id);
    throw new UsageError(`"${id}"; expected the number of a fault, see bf3 fault list`);
  });
  const liftedCount = await withControl(socketOf(options), async (client) => {
    const requests = all ? [{ all: true }] : numbers.map((fault) => ({ fault }));
    let count = 0;
    for (const request of requests) {
      const answer = await client.ask({ cmd: 'fault.lift', ...request });
      count += Number(answer.liftedCount);
    }
    return count;
  });
  if (options.json === true) write(json({ liftedCount }));
  else write(liftedCount === 1 ? '1 fault lifted\n' : `${liftedCount} faults lifted\n`);
}

/** Prints what became of the faults; that one never fired is said, and is no failure. */
export async function runReport(options: AttachOptions, write: Write = writeOut): Promise<void> {
  const answer = await withControl(socketOf(options), (client) =>
    client.ask({ cmd: 'fault.report' }),
  );
  const rows = rowsOf(answer.faults);
  const unfired = Array.isArray(answer.unfired) ? answer.unfired.map(Number) : [];
  write(options.json === true ? json({ faults: rows, unfired }) : reportText(rows, unfired));
}

/** Checks a file without a drive; with the name of one, also its numbers against it. */
export function runCheck(file: string, options: CheckOptions, write: Write = writeOut): void {
  const { drive } = options;
  const geometry = drive === undefined ? undefined : new Geometry(driveProfile(drive).geometry);
  const { seed, faults } = readFaultFile(file, geometry === undefined ? {} : { geometry });
  const plain = faults.map(plainFault);
  if (options.json === true) {
    write(json({ file, drive: drive ?? null, seed, count: faults.length, faults: plain }));
    return;
  }
  const fit = drive === undefined ? '' : `, fit for ${drive}`;
  write(`${fileText(plain)}\n${file}: ${faults.length} faults${fit}, seed "${seed}"\n`);
}

/**
 * Reads a file of faults.
 * @throws RunError when it cannot be read, UsageError naming the place in it that is wrong
 */
export function readFaultFile(file: string, limits: FaultLimits = {}): FaultDocument {
  const text = readText(file);
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    const { message } = error as SyntaxError;
    const position = /position (\d+)/.exec(message)?.[1];
    const line = position === undefined ? '' : `:${lineOf(text, Number(position))}`;
    throw new UsageError(`${file}${line}: not JSON: ${message}`);
  }
  try {
    return parseFaultDocument(document, { suggest: nearest, ...limits });
  } catch (error) {
    if (error instanceof BadFault) throw new UsageError(`${file}: ${error.message}`);
    throw error;
  }
}

function readText(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > FILE_BYTES_MAX) {
      throw new RunError(
        `${file} has ${size} bytes; a file of faults has ${FILE_BYTES_MAX} at most`,
      );
    }
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof RunError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'no such file' : message;
    throw new RunError(`cannot read ${file}: ${reason}`, { cause: error });
  }
}

function lineOf(text: string, position: number): number {
  return text.slice(0, position).split('\n').length;
}

function faultsOf(
  kind: string | undefined,
  options: AddOptions & FaultOptions,
): { seed: string | undefined; faults: readonly Fault[] } {
  const { file, seed } = options;
  if ((kind === undefined) === (file === undefined)) {
    throw new UsageError(
      'give the kind of a fault, or --file FILE; bf3 fault kinds lists the kinds',
    );
  }
  if (file === undefined) return { seed, faults: [faultOfOptions(kind!, options)] };
  const stray = FAULT_OPTIONS.find((name) => options[name] !== undefined);
  if (stray !== undefined) {
    throw new UsageError(`${optionName(stray)} does not go with --file: it is in the file`);
  }
  const document = readFaultFile(file);
  return { seed: seed ?? document.seed, faults: document.faults };
}

/** Many faults go in several requests, and only after the drive has found all of them right. */
async function addAll(
  client: ControlClient,
  faults: readonly Fault[],
  seed: string | undefined,
): Promise<number[]> {
  const requests = requestsOf(faults, seed);
  if (requests.length > 1) {
    for (const request of requests) await client.ask({ ...request, check: true });
  }
  const ids: number[] = [];
  for (const request of requests) {
    const answer = await client.ask(request);
    if (Array.isArray(answer.ids)) ids.push(...answer.ids.map(Number));
  }
  return ids;
}

function requestsOf(faults: readonly Fault[], seed: string | undefined): object[] {
  const requests: object[] = [];
  for (let first = 0; first < faults.length; ) {
    const batch: object[] = [];
    let sizeBytes = 0;
    for (const fault of faults.slice(first)) {
      const plain = plainFault(fault);
      sizeBytes += Buffer.byteLength(JSON.stringify(plain)) + 1;
      if (batch.length > 0 && sizeBytes > REQUEST_BYTES_MAX) break;
      batch.push(plain);
    }
    const seeded = seed === undefined ? {} : { seed };
    requests.push({ cmd: 'fault.add', faults: batch, first, ...seeded });
    first += batch.length;
  }
  return requests;
}

function socketOf({ attach }: AttachOptions): string {
  if (attach !== undefined && attach !== '') return attach;
  throw new UsageError('say which drive: --attach SOCKET, the --control of bf3 serve');
}

function rowsOf(value: unknown): FaultRow[] {
  if (Array.isArray(value)) return value as FaultRow[];
  throw new RunError('the server does not know faults: no list came back');
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function writeOut(text: string): void {
  process.stdout.write(text);
}
