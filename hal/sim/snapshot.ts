/**
 * Snapshots: how the whole machine is saved between two events (law L3).
 *
 * Every stateful part saves named fields under a kind and a version and restores them into its
 * existing arrays. Parts come in construction order. Big tables stay out of the parts: a checkpoint
 * of a recorded run names a position of the undo log instead, and a snapshot file stores them as
 * runs of non-zero cells (snapshot-file.ts).
 */

import type { BigTable } from './big-table.ts';
import { invariant } from './invariant.ts';
import type { Timeline } from './timeline.ts';
import type { UndoLog } from './undo-log.ts';

export type SavedArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float64Array;

export type SavedValue =
  | number
  | string
  | boolean
  | null
  | SavedArray
  | SavedValue[]
  | { [name: string]: SavedValue };

/** The named fields of one part. */
export type Saved = { [name: string]: SavedValue };

/** A part whose state can be saved and put back. */
export interface Saveable {
  /** Stable name of the part, e.g. 'nand.array'. */
  readonly kind: string;
  /** Raised whenever the fields change. */
  readonly version: number;
  /** Copies of all state, only between events. */
  save(): Saved;
  /** Writes into existing arrays; never replaces them. */
  restore(saved: Saved): void;
}

export interface SavedPart {
  kind: string;
  version: number;
  state: Saved;
}

/** The parts and tables of one machine, in construction order. */
export class Machine {
  readonly timeline: Timeline;
  readonly log: UndoLog;
  readonly #parts: Saveable[] = [];
  readonly #tables: BigTable[] = [];
  readonly #preparations: (() => void)[] = [];

  constructor(timeline: Timeline, log: UndoLog) {
    this.timeline = timeline;
    this.log = log;
    this.add(timeline);
  }

  add<Part extends Saveable>(part: Part): Part {
    invariant(
      this.#parts.every((other) => other.kind !== part.kind),
      'every part of a machine has a kind of its own',
    );
    this.#parts.push(part);
    return part;
  }

  addTable(table: BigTable): BigTable {
    this.#tables.push(table);
    return table;
  }

  /** Registers what must happen before the machine is unwound or restored. */
  beforeUnwind(prepare: () => void): void {
    this.#preparations.push(prepare);
  }

  /** To be called before the tables are changed by unwinding or restoring. */
  prepareUnwind(): void {
    for (const prepare of this.#preparations) prepare();
  }

  get tables(): readonly BigTable[] {
    return this.#tables;
  }

  get parts(): readonly Saveable[] {
    return this.#parts;
  }

  saveParts(): SavedPart[] {
    return this.#parts.map((part) => ({
      kind: part.kind,
      version: part.version,
      state: part.save(),
    }));
  }

  /** Restores every part; throws SnapshotMismatch unless kinds and versions are its own. */
  restoreParts(saved: readonly SavedPart[]): void {
    checkKinds(this.#parts, saved);
    this.#parts.forEach((part, index) => {
      part.restore(saved[index]!.state);
    });
  }

  /** Hash over the state of all parts and tables; equal machines have equal hashes. */
  stateHash(): number {
    let hash = 0x811c9dc5 | 0;
    for (const part of this.#parts) hash = hashValue(hash, part.save());
    for (const table of this.#tables) hash = hashInts(hashText(hash, table.name), table.values);
    return hash >>> 0;
  }
}

/** A saved state that does not belong to this machine. */
export class SnapshotMismatch extends Error {
  override readonly name = 'SnapshotMismatch';
}

/** Throws SnapshotMismatch unless the saved kinds and versions are those of `parts`, in order. */
export function checkKinds(
  parts: readonly Saveable[],
  saved: readonly { kind: string; version: number }[],
): void {
  for (let i = 0; i < Math.max(parts.length, saved.length); i++) {
    const part = parts[i];
    const state = saved[i];
    if (part === undefined) {
      throw new SnapshotMismatch(`the saved part '${state?.kind}' has no place in this machine`);
    }
    if (state?.kind !== part.kind) {
      throw new SnapshotMismatch(`expected the saved part '${part.kind}', found '${state?.kind}'`);
    }
    if (state.version !== part.version) {
      throw new SnapshotMismatch(
        `'${part.kind}' was saved as version ${state.version}; this program reads ${part.version}`,
      );
    }
  }
}

function hashInts(seed: number, values: Int32Array): number {
  let hash = seed;
  for (let i = 0; i < values.length; i++) {
    if (values[i] !== 0) hash = Math.imul(hash ^ values[i]! ^ Math.imul(i, 0x9e3779b1), 0x01000193);
  }
  return hash;
}

function hashValue(seed: number, value: SavedValue): number {
  if (typeof value === 'number') return hashNumber(seed, value);
  if (typeof value === 'string') return hashText(seed, value);
  if (typeof value === 'boolean') return hashNumber(seed, value ? 1 : 2);
  if (value === null) return hashNumber(seed, 3);
  if (Array.isArray(value)) return value.reduce(hashValue, seed);
  if (ArrayBuffer.isView(value)) {
    let hash = seed;
    for (let i = 0; i < value.length; i++) hash = hashNumber(hash, value[i]!);
    return hash;
  }
  return Object.entries(value).reduce(
    (hash, [name, field]) => hashValue(hashText(hash, name), field),
    seed,
  );
}

function hashNumber(seed: number, value: number): number {
  const low = Math.imul(seed ^ (value | 0), 0x01000193);
  const high = Number.isInteger(value) ? Math.floor(value / 2 ** 32) : value * 2 ** 20;
  return Math.imul(low ^ (high | 0), 0x01000193);
}

function hashText(seed: number, text: string): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}
