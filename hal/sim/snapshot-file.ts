/**
 * The snapshot file: a whole machine in one file (law L3).
 *
 *     0  magic 'BF3SNAP\0'       16  bytes of the binary block, u48, two bytes reserved
 *     8  version, u32            24  checksums of JSON and binary block, u32 each
 *    12  bytes of JSON, u32      32  reserved; 36 checksum of the bytes before it, u32
 *    40  JSON, UTF-8, filled up with blanks to a multiple of eight bytes, then the binary block
 *
 * All integers are little-endian. The JSON has three fields. `metadata` is free; `parts` has kind,
 * version and state of every part in construction order; `tables` has the non-zero runs of every
 * big table. Typed arrays are references into the binary block, which they fill without overlap, in
 * the order in which the JSON names them. So a file is read once, from front to back.
 *
 * Restoring is all or nothing: the file is read and checked completely before the machine changes,
 * tables are exchanged as a whole, and a part that refuses its state has everything put back.
 */

import type { BigTable } from './big-table.ts';
import { checksumOf } from './checksum.ts';
import { invariant } from './invariant.ts';
import {
  checkKinds,
  type Machine,
  type Saved,
  type SavedPart,
  SnapshotMismatch,
} from './snapshot.ts';
import {
  alignUp,
  BlockReader,
  BlockWriter,
  readExactly,
  SnapshotFileError,
  type SnapshotSource,
} from './snapshot-block.ts';
import { encodeHeader, HEADER_BYTES, JSON_BYTES_MAX, readHeader } from './snapshot-header.ts';
import {
  formOf,
  isObject,
  type Json,
  type JsonObject,
  toJson,
  ValueReader,
} from './snapshot-values.ts';
import { cellsIn, faultOfRuns, findRuns } from './table-runs.ts';

export { SnapshotFileError, type SnapshotSource };

/** Five times the largest table of a 256 GB drive. */
const TABLE_CELLS_MAX = 2 ** 30;
const BLANK = 0x20;
const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** What a table of the file is; its cells follow in the binary block. */
export interface SavedTableInfo {
  name: string;
  /** Cells at construction: part of the machine's shape. */
  firstLength: number;
  /** Cells when it was saved. */
  length: number;
}

/**
 * A machine between two events as the bytes of a snapshot file, in pieces to be written one after
 * another. Large pieces are views of the machine's tables: write them before it runs on.
 *
 * @param metadata free for the caller, e.g. profile id and program version; plain values only
 */
export function encodeSnapshot(machine: Machine, metadata: JsonObject = {}): Uint8Array[] {
  invariant(LITTLE_ENDIAN, 'snapshot files are written on little-endian machines');
  const block = new BlockWriter();
  const json = {
    metadata: toJson(metadata, block, 'metadata'),
    parts: machine.saveParts().map(({ kind, version, state }) => ({
      kind,
      version,
      state: toJson(state, block, kind),
    })),
    tables: machine.tables.map((table) => encodeTable(table, block)),
  };
  const padded = encodeText(JSON.stringify(json));
  const { chunks, checksum } = block.finish();
  const header = encodeHeader({
    jsonBytes: padded.length,
    binaryBytes: block.byteCount,
    jsonChecksum: checksumOf(padded),
    binaryChecksum: checksum,
  });
  return [header, padded, ...chunks];
}

function encodeTable(table: BigTable, block: BlockWriter): JsonObject {
  const { name, firstLength, values } = table;
  const runs = findRuns(values);
  const runsAt = { ...block.add(runs) };
  const offset = block.byteCount;
  for (let i = 0; i < runs.length; i += 2) {
    block.addPiece(values.subarray(runs[i]!, runs[i]! + runs[i + 1]!));
  }
  block.align();
  const cells = { $array: 'Int32Array', offset, length: cellsIn(runs) };
  return { name, firstLength, length: values.length, runs: runsAt, cells };
}

/** An opened snapshot file: header and structure are checked, the binary block is not yet read. */
export class SnapshotFile {
  /** What the writer of the file had to say. */
  readonly metadata: JsonObject;
  /** Kinds and versions of the parts, in order. */
  readonly parts: readonly { kind: string; version: number }[];
  readonly tables: readonly SavedTableInfo[];
  readonly #source: SnapshotSource;
  readonly #json: JsonObject;
  readonly #binaryStart: number;
  readonly #binaryBytes: number;
  readonly #binaryChecksum: number;

  private constructor(source: SnapshotSource) {
    const header = readHeader(source);
    this.#source = source;
    this.#binaryStart = HEADER_BYTES + header.jsonBytes;
    this.#binaryBytes = header.binaryBytes;
    this.#binaryChecksum = header.binaryChecksum;
    this.#json = readJson(source, header.jsonBytes, header.jsonChecksum);
    const { metadata, parts, tables } = this.#json;
    this.metadata = isObject(metadata) ? metadata : failAt('metadata', 'an object');
    this.parts = listOf(parts, 'parts').map((part, i) => partInfo(part, `parts[${i}]`));
    this.tables = listOf(tables, 'tables').map((table, i) => tableInfo(table, `tables[${i}]`));
  }

  /** Opens a file; throws SnapshotFileError when it is none, is damaged or of another version. */
  static open(source: Uint8Array | SnapshotSource): SnapshotFile {
    invariant(LITTLE_ENDIAN, 'snapshot files are read on little-endian machines');
    return new SnapshotFile(source instanceof Uint8Array ? sourceOver(source) : source);
  }

  /**
   * Puts a machine of the same shape into the saved state. Throws SnapshotMismatch when the file is
   * of another machine, SnapshotFileError when it is damaged; the machine is then unchanged. While
   * it runs, old and new cells of the tables are in memory together.
   */
  restoreInto(machine: Machine): void {
    invariant(!machine.log.on, 'a snapshot is restored while nothing is recorded');
    checkKinds(machine.parts, this.parts);
    checkTables(machine.tables, this.tables);
    const before = machine.saveParts();
    const block = new BlockReader(this.#source, this.#binaryStart, this.#binaryBytes);
    const values = new ValueReader(block, HEADER_BYTES);
    const states = listOf(this.#json.parts, 'parts').map((part, index) => {
      const state = values.value((part as JsonObject).state!, this.parts[index]!.kind) as Saved;
      checkFields(before[index]!, state);
      return state;
    });
    const cells = listOf(this.#json.tables, 'tables').map((table, index) =>
      readCells(table as JsonObject, this.tables[index]!, block, values),
    );
    block.finish(this.#binaryChecksum);
    commit(machine, states, cells, before);
  }
}

/** UTF-8, filled up with blanks so that the binary block begins aligned. */
function encodeText(text: string): Uint8Array {
  const utf8 = new TextEncoder().encode(text);
  const padded = new Uint8Array(alignUp(utf8.length)).fill(BLANK);
  padded.set(utf8);
  invariant(padded.length <= JSON_BYTES_MAX, 'the structure of a machine fits into the file');
  return padded;
}

/** The source that reads from bytes in memory. */
function sourceOver(file: Uint8Array): SnapshotSource {
  return {
    size: file.length,
    read: (offset, length) => file.subarray(offset, offset + length),
  };
}

function readJson(source: SnapshotSource, byteCount: number, checksum: number): JsonObject {
  const raw = readExactly(source, HEADER_BYTES, byteCount);
  const found = checksumOf(raw);
  if (found !== checksum) {
    const what = `the structure is damaged: its checksum is ${found}, ${checksum} expected`;
    throw new SnapshotFileError(HEADER_BYTES, what);
  }
  let json: Json;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(raw)) as Json;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SnapshotFileError(HEADER_BYTES, `the structure is no JSON: ${why}`);
  }
  if (!isObject(json)) return failAt('structure', 'an object');
  for (const name of Object.keys(json)) {
    if (['metadata', 'parts', 'tables'].includes(name)) continue;
    throw new SnapshotFileError(HEADER_BYTES, `'${name}' is no field of a snapshot`);
  }
  return json;
}

function failAt(path: string, expected: string): never {
  throw new SnapshotFileError(HEADER_BYTES, `${path}: expected ${expected}`);
}

function listOf(json: Json | undefined, path: string): Json[] {
  return Array.isArray(json) ? json : failAt(path, 'a list');
}

function partInfo(json: Json, path: string): { kind: string; version: number } {
  if (!isObject(json)) return failAt(path, 'an object');
  const { kind, version, state } = json;
  if (typeof kind !== 'string') return failAt(`${path}.kind`, 'a text');
  if (typeof version !== 'number') return failAt(`${path}.version`, 'a number');
  if (!isObject(state)) return failAt(`${path}.state`, 'an object');
  if (Object.keys(json).length !== 3) return failAt(path, 'kind, version and state only');
  return { kind, version };
}

function tableInfo(json: Json, path: string): SavedTableInfo {
  if (!isObject(json)) return failAt(path, 'an object');
  const { name, firstLength, length } = json;
  if (typeof name !== 'string') return failAt(`${path}.name`, 'a text');
  if (!isLength(firstLength)) return failAt(`${path}.firstLength`, 'a number of cells');
  if (!isLength(length) || length < firstLength) {
    return failAt(`${path}.length`, `from ${firstLength} to ${TABLE_CELLS_MAX} cells`);
  }
  if (Object.keys(json).length !== 5) {
    return failAt(path, 'name, firstLength, length, runs and cells only');
  }
  return { name, firstLength, length };
}

function isLength(value: Json | undefined): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= TABLE_CELLS_MAX;
}

function checkTables(tables: readonly BigTable[], saved: readonly SavedTableInfo[]): void {
  for (let i = 0; i < Math.max(tables.length, saved.length); i++) {
    const table = tables[i];
    const info = saved[i];
    if (table === undefined) {
      throw new SnapshotMismatch(`the saved table '${info?.name}' has no place in this machine`);
    }
    if (info?.name !== table.name) {
      throw new SnapshotMismatch(`expected the saved table '${table.name}', found '${info?.name}'`);
    }
    if (info.firstLength === table.firstLength) continue;
    throw new SnapshotMismatch(
      `'${table.name}' has ${info.firstLength} cells in the file, ${table.firstLength} here`,
    );
  }
}

/** A part gets exactly the fields that it saves, each in the form in which it saves it. */
function checkFields(present: SavedPart, state: Saved): void {
  const { kind, state: fields } = present;
  for (const name of Object.keys(state)) {
    if (Object.hasOwn(fields, name)) continue;
    throw new SnapshotMismatch(`'${kind}' has no field '${name}', the file has one`);
  }
  for (const [name, field] of Object.entries(fields)) {
    if (!Object.hasOwn(state, name)) {
      throw new SnapshotMismatch(`the file lacks the field '${name}' of '${kind}'`);
    }
    const found = state[name]!;
    if (found === null || field === null || formOf(found) === formOf(field)) continue;
    throw new SnapshotMismatch(
      `'${kind}': the field '${name}' is ${formOf(found)} in the file, ${formOf(field)} here`,
    );
  }
}

function readCells(
  json: JsonObject,
  info: SavedTableInfo,
  block: BlockReader,
  values: ValueReader,
): Int32Array {
  const runsStart = block.start + block.position;
  const runs = values.array(json.runs, `${info.name}.runs`);
  if (!(runs instanceof Uint32Array)) values.fail(`${info.name}.runs: expected a Uint32Array`);
  const fault = faultOfRuns(runs, info.length);
  if (fault !== null) throw new SnapshotFileError(runsStart, `${info.name}.runs: ${fault}`);
  const { $array, length } = values.reference(json.cells, `${info.name}.cells`);
  const expected = cellsIn(runs);
  if ($array !== 'Int32Array' || length !== expected) {
    values.fail(`${info.name}.cells: ${length} of ${$array}, ${expected} of Int32Array expected`);
  }
  const cells = new Int32Array(info.length);
  for (let i = 0; i < runs.length; i += 2) {
    block.fill(cells.subarray(runs[i]!, runs[i]! + runs[i + 1]!));
  }
  block.align();
  return cells;
}

/** Tables first, since parts look into them when they are restored. */
function commit(machine: Machine, states: Saved[], cells: Int32Array[], before: SavedPart[]): void {
  machine.prepareUnwind();
  const old = machine.tables.map((table, index) => table.exchange(cells[index]!));
  let kind = '';
  try {
    machine.parts.forEach((part, index) => {
      kind = part.kind;
      part.restore(states[index]!);
    });
  } catch (error) {
    machine.tables.forEach((table, index) => {
      table.exchange(old[index]!);
    });
    machine.restoreParts(before);
    const why = error instanceof Error ? error.message : String(error);
    throw new SnapshotMismatch(`'${kind}' refuses its saved state: ${why}`);
  }
}
