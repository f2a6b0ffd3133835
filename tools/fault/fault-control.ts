/** What the control socket can ask about the faults of a served drive. */
import { BadFault, type Fault } from '../../hal/faults/fault.ts';
import { FAULTS_MAX, parseFault, parseSeed, plainFault } from '../../hal/faults/fault-file.ts';
import type { FaultLimits } from '../../hal/faults/fault-limits.ts';
import type { FaultList, FaultReport } from '../../hal/faults/fault-list.ts';
import { nearest } from '../cli/suggest.ts';
import { RunError, UsageError } from '../errors.ts';

/** A machine that faults can be laid over. */
export interface FaultTarget {
  readonly faults: FaultList;
  /** What a fault must fit: geometry, DRAM regions, descriptors. */
  readonly limits: FaultLimits;
}

/** A fault as answers carry it. */
export interface FaultRow {
  readonly id: number;
  readonly kind: string;
  /** The JSON form, without a condition. */
  readonly fault: Readonly<Record<string, unknown>>;
  /** It has a condition that the JSON form cannot show. */
  readonly conditional: boolean;
  readonly seed: string;
  readonly lifted: boolean;
  readonly armed: boolean;
  readonly matchedCount: number;
  readonly firedCount: number;
  readonly firstFiredOrdinal: number | null;
  readonly lastFiredOrdinal: number | null;
}

type Request = Readonly<Record<string, unknown>>;
type Verb = (target: FaultTarget, request: Request) => object;

const VERBS: Readonly<Record<string, Verb>> = {
  'fault.add': add,
  'fault.list': (target) => ({ faults: target.faults.list().map(rowOf) }),
  'fault.lift': lift,
  'fault.report': (target) => ({
    faults: target.faults.list().map(rowOf),
    unfired: target.faults.unfired().map(({ id }) => id),
  }),
};

/** Names of the requests, for the server's list of commands. */
export const FAULT_VERBS: readonly string[] = Object.keys(VERBS);

/**
 * Carries a request of `FAULT_VERBS` out, at once and between two events.
 * @param request whose `cmd` is the verb
 * @returns the fields of the answer
 * @throws UsageError or RunError with the sentence for the client
 */
export function faultControl(target: FaultTarget, request: Request): object {
  const { cmd } = request;
  if (typeof cmd !== 'string' || !Object.hasOwn(VERBS, cmd)) {
    throw new UsageError(`"cmd" must be one of ${FAULT_VERBS.join(', ')}`);
  }
  try {
    return VERBS[cmd]!(target, request);
  } catch (error) {
    if (error instanceof BadFault) throw new UsageError(error.message);
    throw error;
  }
}

/** All faults of a request are added, or none. */
function add(target: FaultTarget, request: Request): object {
  const { faults, first = 0, check = false } = request;
  if (!Array.isArray(faults) || faults.length === 0) {
    throw new UsageError('"faults" must be an array of at least one fault');
  }
  if (typeof check !== 'boolean') throw new UsageError('"check" must be true or false');
  if (!Number.isSafeInteger(first) || (first as number) < 0) {
    throw new UsageError('"first" must be the number of the first fault, from 0');
  }
  const seed = parseSeed(request.seed, target.faults.seed);
  const limits = { suggest: nearest, ...target.limits };
  const parsed = faults.map(
    (fault: unknown, index): Fault =>
      parseFault(fault, `faults[${(first as number) + index}]`, limits),
  );
  const room = FAULTS_MAX - target.faults.list().length;
  if (parsed.length > room) {
    throw new RunError(`the drive has room for ${room} more faults, not for ${parsed.length}`);
  }
  if (check) return { count: parsed.length, ids: [] };
  return { count: parsed.length, ids: parsed.map((fault) => target.faults.add(fault, seed)) };
}

function lift({ faults }: FaultTarget, { fault, all = false }: Request): object {
  if (all === true && fault === undefined) return { liftedCount: faults.liftAll() };
  if (all !== false || !Number.isSafeInteger(fault)) {
    throw new UsageError('"fault.lift" needs either "fault", its number, or "all": true');
  }
  const found = faults.list().find(({ id }) => id === fault);
  if (found === undefined) {
    throw new UsageError(`there is no fault ${fault}; fault.list tells which there are`);
  }
  faults.lift(found.id);
  return { liftedCount: found.lifted ? 0 : 1 };
}

function rowOf(report: FaultReport): FaultRow {
  const { fault, ...counts } = report;
  const conditional = fault.if !== undefined;
  return { ...counts, kind: fault.kind, fault: plainFault(fault), conditional };
}
