import { type Trace, TraceKind } from '../trace.ts';

/** The RWBS word of a block event, taken apart (blkparse(1), "RWBS description"). */
export interface EventFlags {
  /** What is done with the sectors; undefined for an event that moves and discards nothing. */
  readonly kind: TraceKind | undefined;
  /** The cache is flushed before the operation, or alone when there is no operation. */
  readonly flush: boolean;
  readonly fua: boolean;
}

/**
 * Appends what a drive is asked by one event: a flush, an operation, or both at one instant with
 * the flush first. A queued write with a flush bit is both; a dispatched one never is, since
 * Linux has by then issued the flush as a request of its own. `sectors` is 0 when the event has
 * no data, `place` is a line number or byte offset.
 */
export function addBlockEvent(
  trace: Trace,
  flags: EventFlags,
  atNs: number,
  lba: number,
  sectors: number,
  place: number,
): void {
  if (flags.flush) trace.add(atNs, TraceKind.Flush, 0, 0, false, place);
  if (flags.kind === undefined || sectors === 0) return;
  trace.add(atNs, flags.kind, lba, sectors, flags.fua, place);
}

const LETTERS = /^(F?)(R|W|DE?|E|N|F)(F?)[ABSMU]{0,5}$/;
const parsed = new Map<string, EventFlags | undefined>();

/**
 * Takes an RWBS word apart; undefined when it is none. An F before the operation is a flush,
 * after it FUA; "FF" is a flush request as newer kernels print it; D and E discard. The letters
 * that follow (ahead, barrier, sync, metadata, atomic) ask nothing of a SATA drive.
 */
export function parseRwbs(word: string): EventFlags | undefined {
  if (parsed.has(word)) return parsed.get(word);
  const match = LETTERS.exec(word);
  const flags = match === null ? undefined : eventFlags(match[1]!, match[2]!, match[3]!);
  if (flags !== undefined) parsed.set(word, flags);
  return flags;
}

function eventFlags(first: string, operation: string, last: string): EventFlags {
  const flush = first === 'F' || operation === 'F';
  const fua = last === 'F';
  switch (operation) {
    case 'R':
      return { kind: TraceKind.Read, flush, fua };
    case 'W':
      return { kind: TraceKind.Write, flush, fua };
    case 'N':
    case 'F':
      return { kind: undefined, flush, fua: false };
    default:
      return { kind: TraceKind.Trim, flush, fua: false };
  }
}
