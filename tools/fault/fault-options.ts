/** A fault from the options of the command line, and errors in terms of these options. */
import { BadFault, type Fault } from '../../hal/faults/fault.ts';
import { fieldsOf, parseFault } from '../../hal/faults/fault-file.ts';
import { FAULT_KINDS, type FaultKindRow } from '../../hal/faults/fault-kinds.ts';
import { nearest } from '../cli/suggest.ts';
import { UsageError } from '../errors.ts';

/** Options by the name commander gives them: `--to-block` is toBlock; values as typed. */
export type FaultOptions = Readonly<Record<string, string | undefined>>;

/** Names of the options of `bf3 fault add` that describe a fault. */
export const FAULT_OPTIONS: readonly string[] = [
  ...['channel', 'die', 'plane', 'block', 'page', 'slot', 'region', 'op'],
  ...['nth', 'from', 'to', 'times', 'probability', 'note'],
  ...['count', 'factor', 'bit', 'level', 'toBlock', 'fraction'],
  ...['byte', 'cell', 'descriptor', 'field', 'fis'],
];

const PLACE: readonly string[] = ['channel', 'die', 'plane', 'block', 'page', 'slot', 'region'];
const TIME: readonly string[] = ['nth', 'from', 'to'];
const EXPANDED: Readonly<Record<string, readonly string[]>> = { where: [], when: TIME };
const TEXT: readonly string[] = ['region', 'op', 'note', 'field', 'fis'];

/** The option's name as typed: toBlock is --to-block. */
export function optionName(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/**
 * The fault that a kind and options describe.
 * @throws UsageError naming the option
 */
export function faultOfOptions(kind: string, options: FaultOptions): Fault {
  const row: FaultKindRow | undefined = Object.hasOwn(FAULT_KINDS, kind)
    ? FAULT_KINDS[kind as Fault['kind']]
    : undefined;
  const fault: Record<string, unknown> = { kind };
  const where: Record<string, unknown> = {};
  const when: Record<string, unknown> = {};
  for (const name of FAULT_OPTIONS) {
    const text = options[name];
    if (text === undefined) continue;
    const isParameter = row !== undefined && Object.hasOwn(row.parameters, name);
    if (PLACE.includes(name) && !isParameter) where[name] = typedValue(name, text);
    else if (TIME.includes(name)) when[name] = typedValue(name, text);
    else fault[name] = typedValue(name, text);
  }
  if (Object.keys(where).length > 0) fault.where = where;
  if (Object.keys(when).length > 0) fault.when = when;
  try {
    checkOptions(fault, where, row);
    return parseFault(fault, 'fault', { suggest: nearest });
  } catch (error) {
    if (error instanceof BadFault) throw new UsageError(optionSentence(error.message));
    throw error;
  }
}

/** An option that the kind has no use for is named as it was typed. */
function checkOptions(
  fault: Readonly<Record<string, unknown>>,
  where: Readonly<Record<string, unknown>>,
  row: FaultKindRow | undefined,
): void {
  if (row === undefined) return;
  const known = fieldsOf(row);
  const strays = [
    ...Object.keys(where).filter((name) => !row.place.some((field) => field === name)),
    ...Object.keys(fault).filter((name) => name !== 'where' && !known.includes(name)),
  ];
  if (strays.length === 0) return;
  const names = [...row.place, ...known.flatMap((name) => EXPANDED[name] ?? [name])];
  const fit = FAULT_OPTIONS.filter((name) => names.includes(name)).map(optionName);
  const { kind } = fault;
  throw new UsageError(
    `${optionName(strays[0]!)} does not go with ${kind}; it takes ${fit.join(', ')}`,
  );
}

/** 'faults[0].where.block: ...' as '--block: ...'; other sentences as they are. */
export function optionSentence(sentence: string): string {
  const match = /^fault(?:s\[0\])?\.(?:where\.|when\.)?(\w+)(?:\[[01]\])?: (.*)$/s.exec(sentence);
  if (match === null) return sentence.replace(/^fault(?:s\[0\])?: /, '');
  return `${match[1] === 'kind' ? 'kind' : optionName(match[1]!)}: ${match[2]}`;
}

/** What was typed: a number, a range of two, or text that the check will judge. */
function typedValue(name: string, text: string): unknown {
  if (TEXT.includes(name)) return text;
  const range = /^(\d{1,15})-(\d{1,15})$/.exec(text);
  if (range !== null && PLACE.includes(name)) return [Number(range[1]), Number(range[2])];
  return /^\d[\d.]{0,30}(?:e[+-]?\d{1,3})?$/i.test(text) ? Number(text) : text;
}
