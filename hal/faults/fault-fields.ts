/**
 * Fields of a fault as they come from outside: each reader checks what it takes and names the
 * field that is wrong and what would be right.
 */

import { BadFault, type NumberRange } from './fault.ts';
import type { FieldRule } from './fault-kinds.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** The name that a mistyped word was meant to be, or null. */
export type Suggest = (word: string, names: readonly string[]) => string | null;

/** Letters of a wrong value that an error shows. */
const SHOWN_LETTERS = 40;

/** A value of the user's as an error shows it. */
export function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  const text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? typeof value);
  return text.length > SHOWN_LETTERS ? `${text.slice(0, SHOWN_LETTERS)}...` : text;
}

/** The value as an object with fields. */
export function readFields(value: unknown, path: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new BadFault(path, `${shown(value)}; expected an object`);
}

/** Throws BadFault for a field that is not among `names`. */
export function checkNames(
  fields: Fields,
  path: string,
  names: readonly string[],
  suggest: Suggest,
): void {
  for (const name of Object.keys(fields)) {
    if (names.includes(name)) continue;
    throw new BadFault(`${path}.${name}`, `no such field${hint(name, names, suggest)}`);
  }
}

/** ' (did you mean x?)', or the choice there is. */
export function hint(word: string, names: readonly string[], suggest: Suggest): string {
  const near = suggest(word, names);
  return near === null ? `; expected one of ${names.join(', ')}` : ` (did you mean ${near}?)`;
}

/** A number or a name by its rule. */
export function readByRule(
  value: unknown,
  path: string,
  rule: FieldRule,
  suggest: Suggest,
): number | string {
  if ('names' in rule) return readName(value, path, rule.names, suggest);
  if ('lettersMax' in rule) return readText(value, path, rule.lettersMax);
  return rule.whole
    ? readWhole(value, path, rule.least, rule.most)
    : readNumber(value, path, rule.least, rule.most);
}

export function readName(
  value: unknown,
  path: string,
  names: readonly string[],
  suggest: Suggest,
): string {
  if (typeof value === 'string' && names.includes(value)) return value;
  const end =
    typeof value === 'string' ? hint(value, names, suggest) : `; expected ${names.join(', ')}`;
  throw new BadFault(path, `${shown(value)}${end}`);
}

export function readText(value: unknown, path: string, lettersMax: number): string {
  if (typeof value === 'string' && value !== '' && value.length <= lettersMax) return value;
  throw new BadFault(path, `${shown(value)}; expected a text of 1 to ${lettersMax} letters`);
}

export function readWhole(value: unknown, path: string, least: number, most: number): number {
  if (Number.isSafeInteger(value)) {
    const whole = value as number;
    // -0 has no JSON form of its own.
    if (whole >= least && whole <= most) return whole === 0 ? 0 : whole;
  }
  throw new BadFault(path, `${shown(value)}; expected a whole number from ${least} to ${most}`);
}

export function readNumber(value: unknown, path: string, least: number, most: number): number {
  if (typeof value === 'number' && value >= least && value <= most) return value === 0 ? 0 : value;
  throw new BadFault(path, `${shown(value)}; expected a number from ${least} to ${most}`);
}

/** A number, or the first and last of a range. */
export function readRange(value: unknown, path: string, most: number): NumberRange {
  if (!Array.isArray(value)) return readWhole(value, path, 0, most);
  if (value.length !== 2) {
    throw new BadFault(path, `${shown(value)}; expected a number or [first, last]`);
  }
  const first = readWhole(value[0], `${path}[0]`, 0, most);
  const last = readWhole(value[1], `${path}[1]`, 0, most);
  if (first <= last) return [first, last];
  throw new BadFault(path, `${shown(value)}; the first is beyond the last`);
}
