/**
 * The JSON form of faults: {"version": 1, "seed": "...", "faults": [...]}.
 *
 * Plain data in, checked faults out, and back. Every error names the place in the document. A
 * condition (`if`) is a function and has no form here.
 */

import {
  BadFault,
  type Fault,
  type FaultDocument,
  type FaultKind,
  type FaultPlace,
  type FaultTime,
} from './fault.ts';
import {
  checkNames,
  type Fields,
  hint,
  readByRule,
  readFields,
  readName,
  readNumber,
  readRange,
  readText,
  readWhole,
  type Suggest,
  shown,
} from './fault-fields.ts';
import {
  FAULT_KIND_NAMES,
  FAULT_KINDS,
  type FaultKindRow,
  NUMBER_MAX,
  REGION_RULE,
} from './fault-kinds.ts';
import { checkFits, type FaultLimits } from './fault-limits.ts';

/** Faults of one list, and of one document. */
export const FAULTS_MAX = 10_000;
/** Seed of a document that names none. */
export const DEFAULT_SEED = 'faults';
const VERSION = 1;
const SEED_LETTERS_MAX = 200;
const NOTE_LETTERS_MAX = 200;
/** Event ordinals: more than any run has. */
const ORDINAL_MAX = 2 ** 50;

/** Fields of the JSON form in the order in which they are written. */
const COMMON = ['kind', 'note'] as const;
const CONTROL = ['when', 'times', 'probability'] as const;
const TIME = ['nth', 'from', 'to'] as const;

/**
 * Checks a document.
 * @throws BadFault naming the fault's index and field
 */
export function parseFaultDocument(document: unknown, limits: FaultLimits = {}): FaultDocument {
  const suggest = limits.suggest ?? noSuggestion;
  const fields = readFields(document, 'document');
  checkNames(fields, 'document', ['version', 'seed', 'faults'], suggest);
  if (fields.version !== VERSION) {
    throw new BadFault('version', `${shown(fields.version)}; this program reads ${VERSION}`);
  }
  const seed = parseSeed(fields.seed);
  const { faults } = fields;
  if (!Array.isArray(faults)) {
    throw new BadFault('faults', `${shown(faults)}; expected an array of faults`);
  }
  if (faults.length > FAULTS_MAX) {
    throw new BadFault('faults', `${faults.length} faults; ${FAULTS_MAX} at most`);
  }
  return {
    version: VERSION,
    seed,
    faults: faults.map((fault, index) => parseFault(fault, `faults[${index}]`, limits)),
  };
}

/** The seed of a document or request; the default when there is none. */
export function parseSeed(value: unknown, otherwise = DEFAULT_SEED): string {
  return value === undefined ? otherwise : readText(value, 'seed', SEED_LETTERS_MAX);
}

/**
 * Checks one fault.
 * @param path of the fault, the start of every error
 * @throws BadFault naming the field
 */
export function parseFault(value: unknown, path: string, limits: FaultLimits = {}): Fault {
  const suggest = limits.suggest ?? noSuggestion;
  const fields = readFields(value, path);
  const kind = readName(fields.kind, `${path}.kind`, FAULT_KIND_NAMES, suggest) as FaultKind;
  const row = FAULT_KINDS[kind];
  checkKnown(fields, path, kind, suggest);
  const fault = {
    kind,
    ...ifGiven('note', fields.note, (note) => readText(note, `${path}.note`, NOTE_LETTERS_MAX)),
    ...parseParameters(fields, path, row, suggest),
    ...ifGiven('op', fields.op, (op) => readName(op, `${path}.op`, row.operations, suggest)),
    ...parsePlace(fields.where, `${path}.where`, row, suggest),
    ...ifGiven('when', fields.when, (when) => parseTime(when, `${path}.when`, suggest)),
    ...ifGiven('times', fields.times, (times) => parseTimes(times, `${path}.times`)),
    ...ifGiven('probability', fields.probability, (probability) =>
      readNumber(probability, `${path}.probability`, 0, 1),
    ),
    // The table of kinds holds the fields of every member of the union.
  } as unknown as Fault;
  checkFits(fault, path, limits);
  return fault;
}

/** The fault as plain data, its fields in the order of the JSON form and without its condition. */
export function plainFault(fault: Fault): Fields {
  const source = fault as unknown as Fields;
  const plain: Record<string, unknown> = {};
  for (const name of fieldsOf(FAULT_KINDS[fault.kind])) {
    if (source[name] !== undefined) plain[name] = source[name];
  }
  return plain;
}

/**
 * The document as text, one fault a line.
 * @throws BadFault for a fault with a condition
 */
export function stringifyFaults({ seed, faults }: FaultDocument): string {
  const lines = faults.map((fault, index) => {
    if (fault.if !== undefined) {
      throw new BadFault(`faults[${index}].if`, 'a condition is a function and has no JSON form');
    }
    return `    ${JSON.stringify(plainFault(fault))}`;
  });
  const list = lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n  ]`;
  const head = `  "version": ${VERSION},\n  "seed": ${JSON.stringify(seed)},\n`;
  return `{\n${head}  "faults": ${list}\n}\n`;
}

/** Names of the fields that a kind has. */
export function fieldsOf(row: FaultKindRow): string[] {
  const parameters = Object.keys(row.parameters);
  const op = row.choosesOperation ? ['op'] : [];
  const where = row.place.length > 0 ? ['where'] : [];
  return [...COMMON, ...parameters, ...op, ...where, ...CONTROL];
}

function noSuggestion(): null {
  return null;
}

function ifGiven<Value>(
  name: string,
  value: unknown,
  read: (value: unknown) => Value,
): Record<string, Value> {
  return value === undefined ? {} : { [name]: read(value) };
}

function checkKnown(fields: Fields, path: string, kind: FaultKind, suggest: Suggest): void {
  const names = fieldsOf(FAULT_KINDS[kind]);
  for (const name of Object.keys(fields)) {
    if (names.includes(name) || fields[name] === undefined) continue;
    if (name === 'if') {
      throw new BadFault(`${path}.if`, 'a condition is a function and has no JSON form');
    }
    throw new BadFault(`${path}.${name}`, `${kind} has no such field${hint(name, names, suggest)}`);
  }
}

function parseParameters(
  fields: Fields,
  path: string,
  row: FaultKindRow,
  suggest: Suggest,
): Record<string, number | string> {
  const found: Record<string, number | string> = {};
  for (const [name, { rule, isNeeded }] of Object.entries(row.parameters)) {
    const value = fields[name];
    if (value === undefined && !isNeeded) continue;
    found[name] = readByRule(value, `${path}.${name}`, rule, suggest);
  }
  return found;
}

function parsePlace(
  value: unknown,
  path: string,
  row: FaultKindRow,
  suggest: Suggest,
): { where?: FaultPlace } {
  const fields = value === undefined ? {} : readFields(value, path);
  checkNames(fields, path, row.place, suggest);
  for (const name of row.neededPlace) {
    if (fields[name] !== undefined) continue;
    throw new BadFault(`${path}.${name}`, 'missing: this kind of fault must say which');
  }
  if (value === undefined) return {};
  const where: Record<string, unknown> = {};
  for (const name of row.place) {
    const part = fields[name];
    if (part === undefined) continue;
    where[name] =
      name === 'region'
        ? readByRule(part, `${path}.region`, REGION_RULE, suggest)
        : readRange(part, `${path}.${name}`, NUMBER_MAX);
  }
  return { where: where as FaultPlace };
}

function parseTime(value: unknown, path: string, suggest: Suggest): FaultTime {
  const fields = readFields(value, path);
  checkNames(fields, path, TIME, suggest);
  const time: Record<string, number> = {};
  for (const name of TIME) {
    if (fields[name] === undefined) continue;
    time[name] = readWhole(fields[name], `${path}.${name}`, name === 'nth' ? 1 : 0, ORDINAL_MAX);
  }
  const { from = 0, to = ORDINAL_MAX } = time;
  if (from <= to) return time as FaultTime;
  throw new BadFault(`${path}.to`, `${to} is before "from" ${from}`);
}

function parseTimes(value: unknown, path: string): number | 'unlimited' {
  if (value === 'unlimited') return value;
  if (typeof value === 'number') return readWhole(value, path, 1, ORDINAL_MAX);
  throw new BadFault(path, `${shown(value)}; expected a whole number from 1 or "unlimited"`);
}
