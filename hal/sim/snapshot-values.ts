/**
 * Saved values as JSON: structure and scalars stay, typed arrays become references into the binary
 * block, and the numbers that JSON lacks (not a number, infinities, minus zero) are spelled out.
 */

import { InvariantBroken } from './invariant.ts';
import type { SavedArray, SavedValue } from './snapshot.ts';
import {
  ARRAY_TYPES,
  type ArrayReference,
  type BlockReader,
  type BlockWriter,
  isArrayType,
  SnapshotFileError,
  typeOf,
} from './snapshot-block.ts';

/** What JSON.parse gives and JSON.stringify takes. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

/** Deeper structure is taken for damage. */
const DEPTH_MAX = 64;
const ODD_NUMBERS = ['NaN', 'Infinity', '-Infinity', '-0'];

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Replaces every typed array by a reference to its place in the block; `path` is for errors. */
export function toJson(value: SavedValue, block: BlockWriter, path: string): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return numberToJson(value);
  if (ArrayBuffer.isView(value)) {
    return { ...block.add(value) };
  }
  if (Array.isArray(value)) {
    return Array.from(value, (item, index) => toJson(item, block, `${path}[${index}]`));
  }
  if (typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) {
    throw new InvariantBroken(`${path} is ${describe(value)}, which cannot be saved`);
  }
  const fields = Object.entries(value).map(([name, field]): [string, Json] => {
    if (name.startsWith('$')) {
      throw new InvariantBroken(`${path}: a saved name does not begin with $, '${name}' does`);
    }
    return [name, toJson(field, block, `${path}.${name}`)];
  });
  return Object.fromEntries(fields);
}

function numberToJson(value: number): Json {
  if (Object.is(value, -0)) return { $number: '-0' };
  return Number.isFinite(value) ? value : { $number: String(value) };
}

function describe(value: unknown): string {
  if (typeof value !== 'object' || value === null) return typeof value;
  return `an object of ${Object.getPrototypeOf(value)?.constructor?.name ?? 'no class'}`;
}

/** Turns JSON back into saved values; arrays are read in the order in which they were written. */
export class ValueReader {
  readonly #block: BlockReader;
  /** Byte of the file that errors about the structure name. */
  readonly #jsonStart: number;

  constructor(block: BlockReader, jsonStart: number) {
    this.#block = block;
    this.#jsonStart = jsonStart;
  }

  value(json: Json, path: string, depth = 0): SavedValue {
    if (depth > DEPTH_MAX) this.fail(`${path}: the structure is deeper than ${DEPTH_MAX} levels`);
    if (Array.isArray(json)) {
      return json.map((item, index) => this.value(item, `${path}[${index}]`, depth + 1));
    }
    if (!isObject(json)) return json;
    if (Object.hasOwn(json, '$array')) return this.array(json, path);
    if (Object.hasOwn(json, '$number')) return this.#number(json, path);
    const fields = Object.entries(json).map(([name, field]): [string, SavedValue] => {
      if (name.startsWith('$')) this.fail(`${path}: '${name}' is no reference that is known`);
      return [name, this.value(field, `${path}.${name}`, depth + 1)];
    });
    return Object.fromEntries(fields);
  }

  /** Reads the array that a reference names. */
  array(json: Json | undefined, path: string): SavedArray {
    const { $array, length } = this.reference(json, path);
    const array = new ARRAY_TYPES[$array](length);
    this.#block.fill(array);
    this.#block.align();
    return array;
  }

  /** Checks that a reference names the next bytes of the block and that they are all there. */
  reference(json: Json | undefined, path: string): ArrayReference {
    if (!isObject(json)) this.fail(`${path}: a reference to an array is missing`);
    const { $array, offset, length, ...rest } = json;
    if (!isArrayType($array)) {
      const types = Object.keys(ARRAY_TYPES).join(', ');
      this.fail(`${path}: ${JSON.stringify($array)} is none of the array types ${types}`);
    }
    for (const name of Object.keys(rest))
      this.fail(`${path}: '${name}' is no field of a reference`);
    const expected = this.#block.position;
    if (offset !== expected) {
      this.fail(`${path}: the array lies at ${JSON.stringify(offset)}, ${expected} expected`);
    }
    const most = (this.#block.byteCount - expected) / ARRAY_TYPES[$array].BYTES_PER_ELEMENT;
    if (typeof length !== 'number' || !Number.isInteger(length) || length < 0 || length > most) {
      const found = JSON.stringify(length);
      this.fail(`${path}: length ${found}, expected an integer from 0 to ${Math.floor(most)}`);
    }
    return { $array, offset: expected, length };
  }

  fail(what: string): never {
    throw new SnapshotFileError(this.#jsonStart, what);
  }

  #number(json: JsonObject, path: string): number {
    const { $number: text, ...rest } = json;
    if (typeof text !== 'string' || !ODD_NUMBERS.includes(text) || Object.keys(rest).length > 0) {
      this.fail(`${path}: ${JSON.stringify(json)} is none of ${ODD_NUMBERS.join(', ')}`);
    }
    return Number(text);
  }
}

/** Where the form of two values differs: type of value or of typed array; null goes with any. */
export function formOf(value: SavedValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  if (ArrayBuffer.isView(value)) return typeOf(value);
  return typeof value;
}
