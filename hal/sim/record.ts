/**
 * Records: byte layouts declared once, decoded to and encoded from plain objects.
 *
 * Little endian unless a field says otherwise, no padding. Every value is checked when it is
 * encoded, so a layout cannot silently cut it. Carried by `buffer-layout`.
 */

import {
  BitStructure,
  Int,
  IntBE,
  Layout,
  ns64,
  ns64be,
  nu64,
  nu64be,
  Structure,
  UInt,
  UIntBE,
} from 'buffer-layout';
import { Bytes } from './bytes.ts';
import { InvariantBroken } from './invariant.ts';

/** An integer of `span` bytes. Eight bytes carry only what a number holds exactly (2^53 - 1). */
export interface IntegerField {
  readonly kind: 'integer';
  readonly span: 1 | 2 | 3 | 4 | 6 | 8;
  readonly signed: boolean;
  readonly bigEndian: boolean;
}

/** Raw bytes, always exactly `span` of them. Decoding copies. */
export interface BytesField {
  readonly kind: 'bytes';
  readonly span: number;
}

/** Bytes without a meaning: zero when encoded, absent from the decoded value. */
export interface ReservedField {
  readonly kind: 'reserved';
  readonly span: number;
}

/** Where a bit field lies in its word: lowest bit and width, both in bits. */
export type BitPlace = readonly [lowestBit: number, width: number];

/** A little-endian word cut into bit fields. Bits without a name are zero when encoded. */
export interface BitsField<Places extends Readonly<Record<string, BitPlace>>> {
  readonly kind: 'bits';
  readonly span: 1 | 2 | 4;
  readonly places: Places;
}

type AnyBits = BitsField<Readonly<Record<string, BitPlace>>>;
export type Field = IntegerField | BytesField | ReservedField | AnyBits;
export type Fields = Readonly<Record<string, Field>>;

type ValueOf<F> = F extends IntegerField
  ? number
  : F extends BytesField
    ? Uint8Array
    : F extends BitsField<infer Places>
      ? { -readonly [Name in keyof Places]: number }
      : never;

/** The plain object that a record with these fields encodes from and decodes to. */
export type ValuesOf<F extends Fields> = {
  -readonly [Name in keyof F as F[Name] extends ReservedField ? never : Name]: ValueOf<F[Name]>;
};

/** The values of a record: `type Spare = Decoded<typeof SpareRecord>`. */
export type Decoded<R> = R extends TypedRecord<infer F> ? ValuesOf<F> : never;

function integer(span: IntegerField['span'], signed: boolean, bigEndian: boolean): IntegerField {
  return { kind: 'integer', span, signed, bigEndian };
}

export const u8 = integer(1, false, false);
export const u16 = integer(2, false, false);
export const u24 = integer(3, false, false);
export const u32 = integer(4, false, false);
export const u48 = integer(6, false, false);
/** Decoding above 2^53 - 1 throws: where bytes may be garbage, use u48 or check them first. */
export const u64 = integer(8, false, false);
export const u16be = integer(2, false, true);
export const u24be = integer(3, false, true);
export const u32be = integer(4, false, true);
export const u48be = integer(6, false, true);
/** Decoding a value above 2^53 - 1 throws. */
export const u64be = integer(8, false, true);
export const s8 = integer(1, true, false);
export const s16 = integer(2, true, false);
export const s24 = integer(3, true, false);
export const s32 = integer(4, true, false);
export const s48 = integer(6, true, false);
/** Decoding a value outside +-(2^53 - 1) throws. */
export const s64 = integer(8, true, false);
export const s16be = integer(2, true, true);
export const s24be = integer(3, true, true);
export const s32be = integer(4, true, true);
export const s48be = integer(6, true, true);
/** Decoding a value outside +-(2^53 - 1) throws. */
export const s64be = integer(8, true, true);

/** `span` raw bytes. */
export function bytes(span: number): BytesField {
  return { kind: 'bytes', span };
}

/** `span` bytes that are written as zero and ignored when read. */
export function reserved(span: number): ReservedField {
  return { kind: 'reserved', span };
}

/** Bit fields in a little-endian word of `span` bytes: `bits(1, { tag: [3, 5], last: [0, 1] })`. */
export function bits<const Places extends Readonly<Record<string, BitPlace>>>(
  span: 1 | 2 | 4,
  places: Places,
): BitsField<Places> {
  return { kind: 'bits', span, places };
}

/**
 * A byte layout with a name for every field, declared once.
 *
 * Fields follow one another without padding, in the order in which they are written. The type of
 * the decoded value comes from the fields, so that layout and type cannot disagree.
 */
export class TypedRecord<F extends Fields> {
  /** Length in bytes. */
  readonly span: number;
  readonly #checks: readonly FieldCheck[];
  readonly #structure: Structure;
  readonly #wideNames: readonly string[];

  constructor(fields: F) {
    const entries = Object.entries(fields);
    for (const [name, field] of entries) checkField(name, field);
    this.#checks = entries.flatMap(([name, field]) => checksOf(name, field));
    this.#structure = new Structure(entries.map(([name, field]) => layoutOf(name, field)));
    this.span = this.#structure.span;
    this.#wideNames = entries.filter(([, field]) => isWide(field)).map(([name]) => name);
  }

  /** Distance of a field from the start of the record in bytes. */
  offsetOf(name: keyof ValuesOf<F> & string): number {
    const offset = this.#structure.offsetOf(name);
    if (offset === undefined) throw new InvariantBroken(`record: no field is called ${name}`);
    return offset;
  }

  /** A new array of `span` bytes. Throws InvariantBroken when a field is missing or too big. */
  encode(values: ValuesOf<F>): Bytes {
    const target = new Bytes(this.span);
    this.encodeInto(values, target, 0);
    return target;
  }

  /** Writes `span` bytes at `offset`; reserved bytes become zero. Throws as `encode` does. */
  encodeInto(values: ValuesOf<F>, target: Uint8Array, offset = 0): void {
    const misfit = this.#misfit(target, offset);
    if (misfit !== '') throw new InvariantBroken(misfit);
    const loose = values as Readonly<Record<string, unknown>>;
    for (const check of this.#checks) checkValue(check, loose[check.name]);
    target.fill(0, offset, offset + this.span);
    this.#structure.encode(loose as Record<string, unknown>, Bytes.over(target), offset);
  }

  /** Reads `span` bytes at `offset`. Throws a RangeError when the source is too short. */
  decode(source: Uint8Array, offset = 0): ValuesOf<F> {
    const misfit = this.#misfit(source, offset);
    if (misfit !== '') throw new RangeError(misfit);
    const values = this.#structure.decode(Bytes.over(source), offset);
    for (const name of this.#wideNames) {
      if (Number.isSafeInteger(values[name])) continue;
      throw new RangeError(`record field ${name}: the stored value is outside +-(2^53 - 1)`);
    }
    return values as ValuesOf<F>;
  }

  /** Empty when the record fits into `room` at `offset`, else what is wrong. */
  #misfit(room: Uint8Array, offset: number): string {
    if (Number.isInteger(offset) && offset >= 0 && offset + this.span <= room.length) return '';
    return `record of ${this.span} bytes does not fit at offset ${offset} of ${room.length} bytes`;
  }
}

/** Declares a record: `record({ logicalPage: u32, kind: u8, pad: reserved(3), crc: u32 })`. */
export function record<const F extends Fields>(fields: F): TypedRecord<F> {
  return new TypedRecord(fields);
}

function checkField(name: string, field: Field): void {
  // A JavaScript object moves such keys to the front, which would reorder the bytes.
  if (/^\d+$/.test(name)) {
    throw new InvariantBroken(`record field ${name}: a name must not be a number`);
  }
  if (!Number.isInteger(field.span) || field.span < 1) {
    throw new InvariantBroken(
      `record field ${name}: ${field.span} is not a length of 1 byte or more`,
    );
  }
  if (field.kind !== 'bits') return;
  let firstFree = 0;
  for (const [bitName, [lowestBit, width]] of placesInOrder(field)) {
    if (!Number.isInteger(width) || width < 1 || lowestBit + width > field.span * 8) {
      throw new InvariantBroken(`record field ${name}.${bitName}: the bits lie outside the word`);
    }
    if (!Number.isInteger(lowestBit) || lowestBit < firstFree) {
      throw new InvariantBroken(`record field ${name}.${bitName}: the bits overlap another field`);
    }
    firstFree = lowestBit + width;
  }
}

function placesInOrder(field: AnyBits): [string, BitPlace][] {
  return Object.entries(field.places).sort(([, [a]], [, [b]]) => a - b);
}

/** What a value has to satisfy, worked out once. `bit` is empty but for a field of a bit word. */
interface FieldCheck {
  readonly name: string;
  readonly bit: string;
  /** 0 for an integer; the length that raw bytes must have. */
  readonly byteLength: number;
  readonly least: number;
  readonly most: number;
}

function checksOf(name: string, field: Field): FieldCheck[] {
  switch (field.kind) {
    case 'reserved':
      return [];
    case 'bytes':
      return [{ name, bit: '', byteLength: field.span, least: 0, most: 0 }];
    case 'integer': {
      const [least, most] = rangeOf(field);
      return [{ name, bit: '', byteLength: 0, least, most }];
    }
    case 'bits':
      return Object.entries(field.places).map(([bit, [, width]]) => {
        return { name, bit, byteLength: 0, least: 0, most: 2 ** width - 1 };
      });
  }
}

function checkValue(check: FieldCheck, value: unknown): void {
  if (check.byteLength !== 0) {
    if (value instanceof Uint8Array && value.length === check.byteLength) return;
    const found = value instanceof Uint8Array ? `${value.length} bytes` : String(value);
    throw new InvariantBroken(
      `record field ${check.name}: ${found} given, ${check.byteLength} bytes needed`,
    );
  }
  const integer = check.bit === '' ? value : bitOf(check, value);
  if (Number.isInteger(integer)) {
    if ((integer as number) >= check.least && (integer as number) <= check.most) return;
  }
  const where = check.bit === '' ? check.name : `${check.name}.${check.bit}`;
  const range = `${check.least} to ${check.most}`;
  throw new InvariantBroken(
    `record field ${where}: ${String(integer)} is not an integer from ${range}`,
  );
}

function bitOf(check: FieldCheck, word: unknown): unknown {
  if (typeof word === 'object' && word !== null) {
    return (word as Readonly<Record<string, unknown>>)[check.bit];
  }
  throw new InvariantBroken(
    `record field ${check.name}: ${String(word)} is not an object of bit fields`,
  );
}

function isWide(field: Field): boolean {
  return field.kind === 'integer' && field.span === 8;
}

function rangeOf(field: IntegerField): [least: number, most: number] {
  if (field.span === 8) {
    return [field.signed ? Number.MIN_SAFE_INTEGER : 0, Number.MAX_SAFE_INTEGER];
  }
  const half = 2 ** (8 * field.span - 1);
  return field.signed ? [-half, half - 1] : [0, 2 * half - 1];
}

function layoutOf(name: string, field: Field): Layout<unknown> {
  switch (field.kind) {
    case 'reserved':
      return new Layout(field.span);
    case 'bytes':
      return new FixedBytes(field.span, name);
    case 'integer':
      return integerLayout(name, field);
    case 'bits':
      return bitsLayout(name, field);
  }
}

function integerLayout(name: string, field: IntegerField): Layout<unknown> {
  if (field.span === 8) {
    if (field.signed) return field.bigEndian ? ns64be(name) : ns64(name);
    return field.bigEndian ? nu64be(name) : nu64(name);
  }
  if (field.signed)
    return field.bigEndian ? new IntBE(field.span, name) : new Int(field.span, name);
  return field.bigEndian ? new UIntBE(field.span, name) : new UInt(field.span, name);
}

function bitsLayout(name: string, field: AnyBits): Layout<unknown> {
  const layout = new BitStructure(new UInt(field.span), false, name);
  let firstFree = 0;
  for (const [bitName, [lowestBit, width]] of placesInOrder(field)) {
    if (lowestBit > firstFree) layout.addField(lowestBit - firstFree);
    layout.addField(width, bitName);
    firstFree = lowestBit + width;
  }
  return layout;
}

/** What Blob does in buffer-layout, without asking for Node's Buffer. */
class FixedBytes extends Layout<Uint8Array> {
  override decode(source: Uint8Array, offset = 0): Uint8Array {
    return Uint8Array.from(source.subarray(offset, offset + this.span));
  }

  override encode(value: Uint8Array, target: Uint8Array, offset = 0): number {
    target.set(value, offset);
    return this.span;
  }
}
