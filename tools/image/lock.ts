/**
 * The lock of an image: a file beside it that names the process that writes the image.
 *
 * The file is made with O_EXCL, so one process gets it. A lock whose process has died is taken
 * over: the process is known by its number, the boot of the system and its start time, since
 * numbers come back.
 */
import { closeSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { RunError } from '../errors.ts';
import { fileFault } from './positional-file.ts';

interface Holder {
  readonly pid: number;
  /** Changes with every start of the system; empty where the system does not tell. */
  readonly bootId: string;
  /** Start of the process in clock ticks since boot; empty where the system does not tell. */
  readonly startTicks: string;
}

export class ImageLock {
  /** A sentence about a lock that was taken over, null when none was. */
  readonly takenOver: string | null;
  readonly #path: string;
  #held = true;

  private constructor(path: string, takenOver: string | null) {
    this.#path = path;
    this.takenOver = takenOver;
  }

  static pathOf(image: string): string {
    return `${image}.lock`;
  }

  /**
   * Locks an image for writing.
   * @throws RunError naming the holder when another live process has it
   */
  static take(image: string): ImageLock {
    const path = ImageLock.pathOf(image);
    if (tryMake(path)) return new ImageLock(path, null);
    const text = readIfAny(path);
    // Given back in this very moment.
    if (text === null && tryMake(path)) return new ImageLock(path, null);
    const holder = parseHolder(text ?? '');
    if (holder === null || isAlive(holder)) throw heldError(image, path, holder);
    takeOver(image, path, text!);
    const of = `process ${holder.pid}, which is gone`;
    return new ImageLock(path, `took over the lock ${path} of ${of}`);
  }

  /**
   * Makes sure that no live process writes an image; takes no lock.
   * @throws RunError naming the holder
   */
  static checkFree(image: string): void {
    const path = ImageLock.pathOf(image);
    const text = readIfAny(path);
    if (text === null) return;
    const holder = parseHolder(text);
    if (holder === null || isAlive(holder)) throw heldError(image, path, holder);
  }

  /** Gives the lock back. Safe to call twice. */
  release(): void {
    if (!this.#held) return;
    this.#held = false;
    removeIfAny(this.#path);
  }
}

/** Only one process replaces a stale lock, and only the very lock that it has looked at. */
function takeOver(image: string, path: string, stale: string): void {
  const guard = `${path}.takeover`;
  if (!tryMake(guard)) {
    const wait = `remove ${guard} if no other program is starting`;
    throw new RunError(`cannot open ${image}: its stale lock is being taken over; ${wait}`);
  }
  try {
    if (readIfAny(path) === stale) removeIfAny(path);
    if (!tryMake(path)) throw heldError(image, path, parseHolder(readIfAny(path) ?? ''));
  } finally {
    removeIfAny(guard);
  }
}

function heldError(image: string, path: string, holder: Holder | null): RunError {
  const right = 'end it, or use another image';
  if (holder !== null) {
    return new RunError(`cannot open ${image}: process ${holder.pid} has it open; ${right}`);
  }
  const unknown = `its lock ${path} names no process`;
  return new RunError(`cannot open ${image}: ${unknown}; remove the lock if nobody has it open`);
}

/** Makes a lock that names this process; false when the file is there already. */
function tryMake(path: string): boolean {
  let file: number;
  try {
    file = openSync(path, 'wx', 0o644);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw new RunError(`cannot make the lock ${path}: ${fileFault(error)}`, { cause: error });
  }
  try {
    writeSync(file, `${JSON.stringify(holderNow())}\n`);
  } finally {
    closeSync(file);
  }
  return true;
}

function holderNow(): Holder {
  const { pid } = process;
  return { pid, bootId: bootId(), startTicks: processStatus(pid)?.startTicks ?? '' };
}

function parseHolder(text: string): Holder | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { pid, bootId, startTicks } = value as Partial<Record<keyof Holder, unknown>>;
  if (!Number.isSafeInteger(pid) || (pid as number) < 1) return null;
  if (typeof bootId !== 'string' || typeof startTicks !== 'string') return null;
  return { pid: pid as number, bootId, startTicks };
}

function isAlive({ pid, bootId: boot, startTicks }: Holder): boolean {
  if (boot !== bootId()) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Not permitted means that it is there, and somebody else's.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  const status = processStatus(pid);
  if (status === null || startTicks === '') return true;
  return status.state !== 'Z' && status.startTicks === startTicks;
}

function bootId(): string {
  return (readIfAny('/proc/sys/kernel/random/boot_id') ?? '').trim();
}

/** State and start of a process from /proc (proc(5), fields 3 and 22); null where there is none. */
function processStatus(pid: number): { state: string; startTicks: string } | null {
  const text = readIfAny(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The command's name is in parentheses and may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', startTicks: fields[19] ?? '' };
}

function readIfAny(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function removeIfAny(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Somebody else has removed it.
  }
}
