/** Faults as tables and sentences for people. */
import type { NumberRange } from '../../hal/faults/fault.ts';
import { FAULT_KIND_NAMES, FAULT_KINDS } from '../../hal/faults/fault-kinds.ts';
import { formatCount } from '../cli/format.ts';
import { type Column, renderTable } from '../cli/table.ts';
import type { FaultRow } from './fault-control.ts';

type Fields = Readonly<Record<string, unknown>>;

const CONTROL: readonly string[] = ['kind', 'note', 'where', 'when', 'times', 'probability'];

const DESCRIPTION: readonly Column<FaultRow>[] = [
  { key: 'id', value: ({ id }) => id },
  { key: 'kind', value: ({ kind }) => kind },
  { key: 'what', value: ({ fault }) => whatOf(fault) },
  { key: 'where', value: ({ fault }) => partsOf(fault.where) || 'anywhere' },
  { key: 'when', value: ({ fault, conditional }) => whenOf(fault, conditional) },
];

const LIST: readonly Column<FaultRow>[] = [
  ...DESCRIPTION,
  { key: 'state', value: stateOf },
  { key: 'fired', value: ({ firedCount }) => firedCount },
];

const REPORT: readonly Column<FaultRow>[] = [
  ...LIST,
  { key: 'fitted', value: ({ matchedCount }) => matchedCount },
  { key: 'first', title: 'first event', value: ({ firstFiredOrdinal }) => firstFiredOrdinal },
  { key: 'last', title: 'last event', value: ({ lastFiredOrdinal }) => lastFiredOrdinal },
  { key: 'note', value: ({ fault }) => (fault.note === undefined ? null : String(fault.note)) },
];

/** One line a fault: what it is and whether it can still fire. */
export function listText(rows: readonly FaultRow[]): string {
  return rows.length === 0 ? 'no faults\n' : renderTable(rows, LIST);
}

/** What became of each fault, and plainly which never fired. */
export function reportText(rows: readonly FaultRow[], unfired: readonly number[]): string {
  if (rows.length === 0) return 'no faults\n';
  const never = rows.filter(({ id }) => unfired.includes(id));
  const names = never.map(({ id, kind }) => `${id} ${kind}`).join(', ');
  const sentence =
    never.length === 0
      ? 'every fault fired'
      : `NEVER FIRED: ${formatCount(never.length)} of ${formatCount(rows.length)}: ${names}`;
  return `${renderTable(rows, REPORT)}\n${sentence}\n`;
}

/** One line a fault of a file, numbered as in its errors. */
export function fileText(faults: readonly Fields[]): string {
  if (faults.length === 0) return 'no faults\n';
  const columns: Column<{ index: number; fault: Fields }>[] = [
    { key: 'index', value: ({ index }) => index },
    { key: 'kind', value: ({ fault }) => String(fault.kind) },
    { key: 'what', value: ({ fault }) => whatOf(fault) },
    { key: 'where', value: ({ fault }) => partsOf(fault.where) || 'anywhere' },
    { key: 'when', value: ({ fault }) => whenOf(fault, false) },
  ];
  return renderTable(
    faults.map((fault, index) => ({ index, fault })),
    columns,
  );
}

/** The kinds of faults: what each does, what it must and may name. */
export function kindsText(isJson: boolean): string {
  const rows = FAULT_KIND_NAMES.map((kind) => {
    const { says, place, neededPlace, parameters, choosesOperation } = FAULT_KINDS[kind];
    const needs = Object.keys(parameters).filter((name) => parameters[name]!.isNeeded);
    const mays = Object.keys(parameters).filter((name) => !parameters[name]!.isNeeded);
    const free = place.filter((name) => !neededPlace.includes(name));
    const may = [...mays, ...(choosesOperation ? ['op'] : []), ...free];
    return { kind, says, needs: [...neededPlace, ...needs].join(' '), may: may.join(' ') };
  });
  const columns: Column<(typeof rows)[number]>[] = [
    { key: 'kind', value: ({ kind }) => kind },
    { key: 'needs', value: ({ needs }) => needs },
    { key: 'may', title: 'may name', value: ({ may }) => may },
    { key: 'says', value: ({ says }) => says },
  ];
  return renderTable(rows, columns, { format: isJson ? 'json' : 'text' });
}

function stateOf({ armed, lifted }: FaultRow): string {
  if (lifted) return 'lifted';
  return armed ? 'armed' : 'used up';
}

function whatOf(fault: Fields): string {
  const own = Object.entries(fault).filter(([name]) => !CONTROL.includes(name));
  return partsOf(Object.fromEntries(own));
}

function whenOf(fault: Fields, isConditional: boolean): string {
  const { when, times, probability } = fault;
  const parts = [
    partsOf(when),
    times === undefined ? '' : `times ${times}`,
    probability === undefined ? '' : `probability ${probability}`,
    isConditional ? 'if ...' : '',
  ];
  return parts.filter((part) => part !== '').join(' ') || 'always';
}

/** 'die 3 block 4-7'. */
function partsOf(fields: unknown): string {
  if (typeof fields !== 'object' || fields === null) return '';
  return Object.entries(fields)
    .map(([name, value]) => `${name} ${rangeText(value as NumberRange)}`)
    .join(' ');
}

function rangeText(range: NumberRange): string {
  return typeof range === 'object' ? range.join('-') : String(range);
}
