/** What the control socket can ask of a served drive. */

import type { Drive } from '../../firmware/drive.ts';
import { AGE_VERBS, ageControl } from '../age/age-control.ts';
import { RunError, UsageError } from '../errors.ts';
import { FAULT_VERBS, faultControl } from '../fault/fault-control.ts';
import type { RequestQueue } from './drive-backend.ts';
import { type EmulatorLoop, LoopMode } from './emulator-loop.ts';

/** Rows of one answer to `dump`; more are asked for with `from`. */
const DUMP_ROWS_MAX = 10_000;
/** Wall time that `save` waits for an instant with nothing outstanding. */
const SAVE_WAIT_MS = 10_000;

/** A request as it came, checked field by field where it is used. */
export type ControlRequest = Readonly<Record<string, unknown>>;

export interface ControlledDrive {
  readonly drive: Drive;
  readonly queue: RequestQueue;
  readonly loop: EmulatorLoop;
  /** The run is recorded: nothing may change it that a record does not hold. */
  readonly isRecorded: boolean;
  /** The drive has been aged: keeps its clock where the flash is kept. */
  readonly keepClock: () => void;
  /** Writes the machine to a snapshot file. */
  readonly saveSnapshot: (path: string) => void;
  /** Clients of the block device now. */
  readonly clientCount: () => number;
}

type Answer = object | Promise<object>;
type Command = (target: ControlledDrive, request: ControlRequest) => Answer;

const COMMANDS: Readonly<Record<string, Command>> = {
  pause: (target) => {
    target.loop.pause();
    return instantOf(target);
  },
  continue: (target) => {
    target.loop.resume();
    return instantOf(target);
  },
  step: (target, request) => {
    const count = wholeNumber(request, 'count', 1, 1);
    return runTo(target, target.drive.timeline.ordinal + count, Number.POSITIVE_INFINITY);
  },
  'run-to': (target, request) => {
    const { timeline } = target.drive;
    if ((request.ordinal === undefined) === (request.ns === undefined)) {
      throw new UsageError(`"run-to" needs either "ordinal" or "ns"`);
    }
    if (request.ns === undefined) {
      const ordinal = wholeNumber(request, 'ordinal', timeline.ordinal);
      return runTo(target, ordinal, Number.POSITIVE_INFINITY);
    }
    const ns = wholeNumber(request, 'ns', timeline.nowNs);
    return runTo(target, Number.POSITIVE_INFINITY, ns);
  },
  dump,
  save,
  status,
  ...Object.fromEntries(AGE_VERBS.map((verb) => [verb, age])),
  ...Object.fromEntries(FAULT_VERBS.map((verb) => [verb, fault])),
};

/** Names of the commands, for errors and documentation. */
export const CONTROL_COMMANDS: readonly string[] = Object.keys(COMMANDS);

/**
 * Carries a request out.
 * @returns the fields of the answer
 * @throws UsageError or RunError with the sentence for the client
 */
export async function control(target: ControlledDrive, request: ControlRequest): Promise<object> {
  const { cmd } = request;
  if (typeof cmd !== 'string' || !Object.hasOwn(COMMANDS, cmd)) {
    const shown = JSON.stringify(cmd) ?? 'missing';
    throw new UsageError(`"cmd" must be one of ${CONTROL_COMMANDS.join(', ')}, not ${shown}`);
  }
  return COMMANDS[cmd]!(target, request);
}

function instantOf({ drive, loop }: ControlledDrive): object {
  const { ordinal, nowNs } = drive.timeline;
  return { mode: LoopMode[loop.mode]!.toLowerCase(), ordinal, ns: nowNs };
}

function runTo(target: ControlledDrive, ordinal: number, ns: number): Promise<object> {
  const from = target.drive.timeline.ordinal;
  return new Promise((resolve) => {
    target.loop.runTo(ordinal, ns, (reached) => {
      const firedCount = target.drive.timeline.ordinal - from;
      resolve({ ...instantOf(target), firedCount, reached });
    });
  });
}

function status(target: ControlledDrive): object {
  const { drive, queue, loop } = target;
  const { panic, timeline } = drive;
  const { clock } = drive.array.media;
  return {
    ...instantOf(target),
    profile: drive.profile.id,
    realtime: loop.realtime,
    lostNs: loop.pacer.lostNs,
    minute: clock.minute,
    celsius: clock.celsius,
    hash: timeline.hash,
    next: timeline.nextName,
    nextNs: Number.isFinite(timeline.nextNs) ? timeline.nextNs : null,
    clients: target.clientCount(),
    outstanding: queue.outstandingCount,
    waiting: queue.waitingCount,
    panic: panic === null ? null : { ...panic },
  };
}

function age(target: ControlledDrive, request: ControlRequest): object {
  checkUnrecorded(target, request);
  const answer = ageControl(target.drive.array.media.clock, request);
  target.keepClock();
  return { ...instantOf(target), ...answer };
}

function fault(target: ControlledDrive, request: ControlRequest): object {
  const { faults, geometry, dram, ops } = target.drive;
  if (request.cmd === 'fault.add' && request.check !== true) checkUnrecorded(target, request);
  const limits = { geometry, dramRegions: dram.regions, descriptors: ops.capacity };
  return faultControl({ faults, limits }, request);
}

function checkUnrecorded({ isRecorded }: ControlledDrive, { cmd }: ControlRequest): void {
  if (!isRecorded) return;
  const why = 'this run is recorded, and a record holds host commands only';
  throw new RunError(`no "${String(cmd)}": ${why}`);
}

async function dump(target: ControlledDrive, request: ControlRequest): Promise<object> {
  const { table } = request;
  const { DUMP_TABLES, dumpColumns, dumpRows } = await import('../dump/tables.ts');
  if (typeof table !== 'string') {
    const names = DUMP_TABLES.map(({ name }) => name).join(', ');
    throw new UsageError(`"table" must be one of ${names}`);
  }
  const from = wholeNumber(request, 'from', 0, 0);
  const count = Math.min(DUMP_ROWS_MAX, wholeNumber(request, 'count', 1, DUMP_ROWS_MAX));
  const superblock =
    request.superblock === undefined ? {} : { superblock: wholeNumber(request, 'superblock', 0) };
  const options = { from, count: count + 1, ...superblock };
  const rows = [...dumpRows(target.drive, table, options)];
  const more = rows.length > count;
  return {
    ...instantOf(target),
    ...{ table, columns: dumpColumns(table), from },
    ...{ rows: more ? rows.slice(0, count) : rows, more },
  };
}

async function save(target: ControlledDrive, request: ControlRequest): Promise<object> {
  const { path } = request;
  if (typeof path !== 'string' || path === '' || path.includes('\0')) {
    throw new UsageError(`"path" must be the name of the snapshot file`);
  }
  if (target.loop.mode === LoopMode.Stopped) throw new RunError('the drive has stopped');
  const { outstandingCount, waitingCount } = target.queue;
  if (target.loop.mode === LoopMode.Paused && outstandingCount + waitingCount > 0) {
    throw new RunError(
      `${outstandingCount + waitingCount} host commands are under way: continue, then save`,
    );
  }
  const saved = await saveWhenIdle(target, path);
  return { ...saved, path };
}

function saveWhenIdle(target: ControlledDrive, path: string): Promise<object> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(
        new RunError(`host commands were under way for ${SAVE_WAIT_MS / 1000} s: pause the host`),
      );
    }, SAVE_WAIT_MS);
    target.loop.whenIdle(() => {
      clearTimeout(timer);
      if (isLate) return;
      try {
        target.saveSnapshot(path);
        resolve(instantOf(target));
      } catch (error) {
        reject(error);
      }
    });
  });
}

function wholeNumber(
  request: ControlRequest,
  field: string,
  least: number,
  otherwise?: number,
): number {
  const value = request[field] ?? otherwise;
  if (Number.isSafeInteger(value) && (value as number) >= least) return value as number;
  const shown = JSON.stringify(value) ?? 'missing';
  throw new UsageError(`"${field}" must be a whole number from ${least}, not ${shown}`);
}
