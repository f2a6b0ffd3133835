import { RunError } from '../../errors.ts';

/** What stands between the columns of a line. Blanks are runs of spaces and tabs. */
export enum Separator {
  Blanks,
  Comma,
}

/** A unit of time in a file: 10^`nsDigits` ns, with or without a decimal point. */
export interface TimeUnit {
  readonly name: string;
  readonly nsDigits: number;
  readonly fraction: boolean;
}

const LF = 10;
const CR = 13;
const TAB = 9;
const SPACE = 32;
const COMMA = 44;
const POINT = 46;
const ZERO = 48;
const FIELDS_MAX = 16;
const LOW_DIGITS = 9;
const LOW = 10 ** LOW_DIGITS;
const HIGH_DIGITS_MAX = 15;
const SHOWN_CHARACTERS = 40;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/**
 * Walks the lines of a text trace and cuts each into columns in one pass over the bytes, without
 * a string for a number. Blank lines are passed over; lines end with LF or CR LF. Every method
 * that reads a column throws RunError `file:line: what was found; expected ...`.
 */
export class LineReader {
  readonly fileName: string;
  /** Number of the current line, from 1. */
  line = 0;
  /** Columns of the current line; only the first 16 can be read. */
  columns = 0;

  readonly #bytes: Buffer;
  readonly #separator: Separator;
  readonly #starts = new Int32Array(FIELDS_MAX);
  readonly #ends = new Int32Array(FIELDS_MAX);
  /** Offset of the first byte after the current line. */
  #position = 0;
  #lineStart = 0;
  /** First time read, in two parts since a file time exceeds 2^53: times are relative to it. */
  #baseHigh = Number.NaN;
  #baseLow = 0;

  constructor(source: Uint8Array | string, fileName: string, separator: Separator) {
    this.fileName = fileName;
    this.#separator = separator;
    this.#bytes =
      typeof source === 'string'
        ? Buffer.from(source)
        : Buffer.from(source.buffer, source.byteOffset, source.length);
    if (BYTE_ORDER_MARK.every((byte, i) => this.#bytes[i] === byte)) this.#position = 3;
  }

  /** Steps to the next line that is not blank; false at the end of the file. */
  next(): boolean {
    while (this.#position < this.#bytes.length) {
      this.line++;
      this.#lineStart = this.#position;
      if (this.#separator === Separator.Comma) this.#splitCommas();
      else this.#splitBlanks();
      if (this.columns > 0) return true;
    }
    return false;
  }

  /** The current line, cut for a message. */
  lineText(): string {
    return this.#shown(this.#lineStart, this.#position, SHOWN_CHARACTERS);
  }

  /** @throws RunError unless the line has between `least` and `most` columns. */
  needColumns(least: number, most: number, layout: string): void {
    if (this.columns >= least && this.columns <= most) return;
    const noun = this.columns === 1 ? 'column' : 'columns';
    this.fail(`${this.columns} ${noun} "${this.lineText()}"`, layout);
  }

  /** Text of a column; '' beyond the last one. */
  text(column: number): string {
    if (column >= this.columns || column >= FIELDS_MAX) return '';
    return this.#bytes.toString('utf8', this.#starts[column]!, this.#ends[column]!);
  }

  /** Byte `index` of a column, 0 beyond its end. */
  byte(column: number, index = 0): number {
    if (column >= this.columns || column >= FIELDS_MAX) return 0;
    const at = this.#starts[column]! + index;
    return at < this.#ends[column]! ? this.#bytes[at]! : 0;
  }

  /** A column of decimal digits, 0 to `maximum`. */
  integer(column: number, name: string, maximum = Number.MAX_SAFE_INTEGER): number {
    const end = this.#end(column);
    let value = 0;
    let at = this.#start(column);
    if (at === end) this.failColumn(column, name, 'an integer of 0 or more');
    for (; at < end; at++) {
      const digit = this.#bytes[at]! - ZERO;
      if (digit < 0 || digit > 9) this.failColumn(column, name, 'an integer of 0 or more');
      value = value * 10 + digit;
    }
    if (value > maximum) this.failColumn(column, name, `an integer of at most ${maximum}`);
    return value;
  }

  /** A column of hexadecimal digits, with or without 0x, 32 bits at most. */
  hexadecimal(column: number, name: string): number {
    const text = this.text(column);
    if (!/^(0x)?[0-9a-f]{1,8}$/i.test(text)) {
      this.failColumn(column, name, 'a hexadecimal number of at most 32 bits');
    }
    return Number.parseInt(text, 16);
  }

  /**
   * A column of time in nanoseconds since the first time read from this file, in integers all the
   * way (a file time of 100 ns exceeds 2^53). Parts of a nanosecond are dropped.
   */
  timeNs(column: number, name: string, unit: TimeUnit): number {
    const start = this.#start(column);
    const end = this.#end(column);
    const expected = unit.fraction ? `a time in ${unit.name}` : `a time in whole ${unit.name}`;
    let point = start;
    while (point < end && this.#bytes[point] !== POINT) point++;
    const lowStart = Math.max(start, point - LOW_DIGITS);
    const high = this.#digits(start, lowStart);
    const low = this.#digits(lowStart, point);
    const fraction = this.#fraction(point, end, unit);
    if (point === start || lowStart - start > HIGH_DIGITS_MAX || !(high + low + fraction >= 0)) {
      this.failColumn(column, name, expected);
    }
    if (Number.isNaN(this.#baseHigh)) {
      this.#baseHigh = high;
      this.#baseLow = low;
    }
    const units = (high - this.#baseHigh) * LOW + (low - this.#baseLow);
    const atNs = units * 10 ** unit.nsDigits + fraction;
    if (!Number.isSafeInteger(atNs)) {
      this.failColumn(column, name, `${expected} within 104 days of the first`);
    }
    return atNs;
  }

  /** @throws RunError `file:line: found; expected ...` for the current line. */
  fail(found: string, expected: string): never {
    throw new RunError(`${this.fileName}:${this.line}: ${found}; expected ${expected}`);
  }

  failColumn(column: number, name: string, expected: string): never {
    const shown = this.#shown(this.#start(column), this.#end(column), SHOWN_CHARACTERS);
    this.fail(`${name} "${shown}"`, expected);
  }

  #start(column: number): number {
    return column < this.columns ? this.#starts[column]! : 0;
  }

  #end(column: number): number {
    return column < this.columns ? this.#ends[column]! : 0;
  }

  /** Value of the digits in a byte range, NaN if one is not a digit. */
  #digits(from: number, to: number): number {
    let value = 0;
    for (let at = from; at < to; at++) {
      const digit = this.#bytes[at]! - ZERO;
      if (digit < 0 || digit > 9) return Number.NaN;
      value = value * 10 + digit;
    }
    return value;
  }

  /** Nanoseconds after the decimal point at `point`, NaN if it should not be there. */
  #fraction(point: number, end: number, unit: TimeUnit): number {
    if (point === end) return 0;
    const first = point + 1;
    if (!unit.fraction || first === end || Number.isNaN(this.#digits(first, end))) {
      return Number.NaN;
    }
    const kept = Math.min(end - first, unit.nsDigits);
    return this.#digits(first, first + kept) * 10 ** (unit.nsDigits - kept);
  }

  #addField(start: number, end: number): void {
    if (this.columns < FIELDS_MAX) {
      this.#starts[this.columns] = start;
      this.#ends[this.columns] = end;
    }
    this.columns++;
  }

  #splitBlanks(): void {
    const bytes = this.#bytes;
    const length = bytes.length;
    let start = -1;
    let at = this.#position;
    this.columns = 0;
    for (; at < length; at++) {
      const byte = bytes[at]!;
      if (byte === SPACE || byte === TAB || byte === LF || byte === CR) {
        if (start >= 0) this.#addField(start, at);
        start = -1;
        if (byte === LF) break;
      } else if (start < 0) start = at;
    }
    if (start >= 0) this.#addField(start, at);
    this.#position = at + 1;
  }

  #splitCommas(): void {
    const bytes = this.#bytes;
    const length = bytes.length;
    let start = -1;
    let end = this.#position;
    let at = this.#position;
    this.columns = 0;
    for (; at < length; at++) {
      const byte = bytes[at]!;
      if (byte === LF) break;
      if (byte === COMMA) {
        this.#addField(start < 0 ? at : start, start < 0 ? at : end);
        start = -1;
      } else if (byte !== SPACE && byte !== TAB && byte !== CR) {
        if (start < 0) start = at;
        end = at + 1;
      }
    }
    if (start >= 0) this.#addField(start, end);
    else if (this.columns > 0) this.#addField(at, at);
    this.#position = at + 1;
  }

  #shown(start: number, end: number, characters: number): string {
    const text = this.#bytes.toString('utf8', start, Math.min(end, start + 4 * characters));
    return printable(text.trimEnd(), characters);
  }
}

/** `text` for a message: at most `characters` long, control characters as `?`. */
export function printable(text: string, characters: number): string {
  const clean = [...text].map((c) => (c < ' ' || c === '\u007f' || c === '\ufffd' ? '?' : c));
  if (clean.length <= characters) return clean.join('');
  return `${clean.slice(0, characters - 3).join('')}...`;
}
