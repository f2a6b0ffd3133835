/**
 * The binary block of a snapshot file: typed arrays one after another, each at a multiple of eight
 * bytes, written and read from front to back.
 *
 * The writer keeps views of large arrays and copies only small ones; the reader holds one window of
 * the file. So neither needs memory in proportion to the file.
 */

import { Checksum } from './checksum.ts';
import { InvariantBroken } from './invariant.ts';
import type { SavedArray } from './snapshot.ts';

export const ALIGN_BYTES = 8;
/** Pieces shorter than this are copied together. */
const VIEW_BYTES = 4096;
const STAGING_BYTES = 64 * 1024;
const WINDOW_BYTES = 2 ** 20;

/** Types of array that can be saved, by the name under which a file refers to them. */
export const ARRAY_TYPES = {
  Int8Array,
  Uint8Array,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float64Array,
} as const;

export type ArrayType = keyof typeof ARRAY_TYPES;

export function isArrayType(name: unknown): name is ArrayType {
  return typeof name === 'string' && Object.hasOwn(ARRAY_TYPES, name);
}

/** Name of an array's type; a subclass counts as what it extends. */
export function typeOf(array: ArrayBufferView): ArrayType {
  const type = (array as unknown as { [Symbol.toStringTag]: string })[Symbol.toStringTag];
  if (!isArrayType(type)) throw new InvariantBroken(`an array of type ${type} cannot be saved`);
  return type;
}

/** Where an array lies: offset in bytes from the start of the block, length in elements. */
export interface ArrayReference {
  $array: ArrayType;
  offset: number;
  length: number;
}

/** Bytes of a file, in memory or behind a tool's file handle. */
export interface SnapshotSource {
  /** Length in bytes. */
  readonly size: number;
  /** Exactly `length` bytes from `offset`; only asked for what lies inside. */
  read(offset: number, length: number): Uint8Array;
}

/** A file that is no snapshot, is damaged, or has a form that this program does not read. */
export class SnapshotFileError extends Error {
  override readonly name = 'SnapshotFileError';
  /** Byte of the file at which the fault was seen. */
  readonly offset: number;

  constructor(offset: number, what: string) {
    super(`snapshot file, byte ${offset}: ${what}`);
    this.offset = offset;
  }
}

export function alignUp(bytes: number): number {
  return Math.ceil(bytes / ALIGN_BYTES) * ALIGN_BYTES;
}

/** Reads a part of a file and makes sure that all of it came. */
export function readExactly(source: SnapshotSource, offset: number, length: number): Uint8Array {
  const bytes = source.read(offset, length);
  if (bytes.length === length) return bytes;
  throw new SnapshotFileError(offset, `${length} bytes expected, the reader gave ${bytes.length}`);
}

export class BlockWriter {
  /** The block so far; every chunk has a multiple of four bytes. */
  readonly #chunks: Uint8Array[] = [];
  #staging = new Uint8Array(STAGING_BYTES);
  /** Bytes of the staging area that are in a chunk already. */
  #stagedFrom = 0;
  #stagedTo = 0;
  /** Length of the block in bytes. */
  byteCount = 0;

  /** Adds one array and says where it lies. */
  add(array: SavedArray): ArrayReference {
    const offset = this.byteCount;
    this.addPiece(array);
    this.align();
    return { $array: typeOf(array), offset, length: array.length };
  }

  /** Adds bytes without alignment; the pieces of one array are added in a row, then `align`. */
  addPiece(array: SavedArray): void {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    const whole = bytes.length < VIEW_BYTES ? 0 : bytes.length - (bytes.length % ALIGN_BYTES);
    if (whole > 0) {
      this.#seal();
      this.#chunks.push(bytes.subarray(0, whole));
    }
    if (whole < bytes.length) this.#stage(bytes.subarray(whole));
    this.byteCount += bytes.length;
  }

  /** Fills up with zero bytes to the next multiple of eight. */
  align(): void {
    const padding = alignUp(this.byteCount) - this.byteCount;
    if (padding > 0) this.addPiece(new Uint8Array(padding));
  }

  /** The block in pieces to be written one after another, and its checksum. */
  finish(): { chunks: Uint8Array[]; checksum: number } {
    this.#seal();
    const checksum = new Checksum();
    for (const chunk of this.#chunks) checksum.add(chunk);
    return { chunks: this.#chunks, checksum: checksum.value };
  }

  /** A full staging area has whole words, so every chunk has. */
  #stage(bytes: Uint8Array): void {
    let left = bytes;
    while (left.length > 0) {
      if (this.#stagedTo === STAGING_BYTES) {
        this.#seal();
        this.#staging = new Uint8Array(STAGING_BYTES);
        this.#stagedFrom = 0;
        this.#stagedTo = 0;
      }
      const count = Math.min(left.length, STAGING_BYTES - this.#stagedTo);
      this.#staging.set(left.subarray(0, count), this.#stagedTo);
      this.#stagedTo += count;
      left = left.subarray(count);
    }
  }

  #seal(): void {
    if (this.#stagedTo === this.#stagedFrom) return;
    this.#chunks.push(this.#staging.subarray(this.#stagedFrom, this.#stagedTo));
    this.#stagedFrom = this.#stagedTo;
  }
}

export class BlockReader {
  readonly #source: SnapshotSource;
  /** Byte of the file at which the block begins. */
  readonly start: number;
  readonly byteCount: number;
  readonly #checksum = new Checksum();
  /** The part of the block that was read last; `#at` of its bytes are used. */
  #window: Uint8Array = new Uint8Array(0);
  #at = 0;
  /** Bytes of the block read into windows so far. */
  #loaded = 0;

  constructor(source: SnapshotSource, start: number, byteCount: number) {
    this.#source = source;
    this.start = start;
    this.byteCount = byteCount;
  }

  /** Bytes of the block used so far. */
  get position(): number {
    return this.#loaded - this.#window.length + this.#at;
  }

  /** Fills an array from the next bytes; the caller has made sure that they are there. */
  fill(array: SavedArray): void {
    const target = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    let done = 0;
    while (done < target.length) {
      if (this.#at === this.#window.length) this.#load();
      const count = Math.min(target.length - done, this.#window.length - this.#at);
      target.set(this.#window.subarray(this.#at, this.#at + count), done);
      this.#at += count;
      done += count;
    }
  }

  /** Steps over the zero bytes up to the next multiple of eight. */
  align(): void {
    this.fill(new Uint8Array(alignUp(this.position) - this.position));
  }

  /** Makes sure that the whole block was used and is what was written. */
  finish(checksum: number): void {
    const at = this.start + this.position;
    if (this.position !== this.byteCount) {
      const left = this.byteCount - this.position;
      throw new SnapshotFileError(at, `${left} bytes are left over that no array refers to`);
    }
    if (this.#checksum.value === checksum) return;
    throw new SnapshotFileError(
      this.start,
      `the arrays are damaged: their checksum is ${this.#checksum.value}, not ${checksum}`,
    );
  }

  #load(): void {
    const length = Math.min(WINDOW_BYTES, this.byteCount - this.#loaded);
    this.#window = readExactly(this.#source, this.start + this.#loaded, length);
    this.#checksum.add(this.#window);
    this.#loaded += length;
    this.#at = 0;
  }
}
