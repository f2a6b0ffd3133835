/** What `print` shows: parts of the drive, registers, machines, tables. */
import type { Core } from '../../hal/core.ts';
import { UNQUEUED_SLOT } from '../../hal/ports.ts';
import type { Register, RegisterView } from '../../hal/registers.ts';
import type { ControlMachine } from '../../hal/sim/state-machine.ts';
import { formatDuration } from '../cli/format.ts';
import { nearest } from '../cli/suggest.ts';
import { hex } from '../dump/controller-tables.ts';
import { renderRows } from '../dump/render.ts';
import { DUMP_TABLES, type DumpCell, dumpColumns, dumpRows } from '../dump/tables.ts';
import { UsageError } from '../errors.ts';
import type { DebugContext } from './context.ts';
import { MACHINE_KINDS, type MachineKind, parseSelector, type Selector } from './machine-name.ts';
import { parseCount } from './words.ts';

/** Rows of a table that `print` shows when no count is given. */
const ROWS = 20;
/** The table that shows the machines of a kind. */
const TABLE_OF: { readonly [kind: string]: string } = {
  die: 'dies',
  slot: 'ncq',
  superblock: 'superblocks',
};

/** Words that may follow `print`. */
export function printable(context: DebugContext): string[] {
  const registers = context.session.drive
    .registers()
    .flatMap(({ name, registers }) => [
      name,
      ...registers.map((register) => `${name}.${register.name}`),
    ]);
  return [...MACHINE_KINDS, ...DUMP_TABLES.map(({ name }) => name), ...registers];
}

/**
 * Prints a part (`arm`, `die 3`, `boot`), a register (`ICU.INT_STS`, `ICU`) or a table, for a table
 * from a row on (`l2p 100 8`). Throws UsageError for anything else.
 */
export function print(context: DebugContext, words: readonly string[]): void {
  const [name = '', ...rest] = words;
  const table = DUMP_TABLES.find((candidate) => candidate.name === name.toLowerCase());
  if (table !== undefined) {
    printTable(context, table.name, rest);
    return;
  }
  if (printRegisters(context, name)) return;
  const kind = /^[a-z-]*/.exec(name.toLowerCase())![0];
  if (MACHINE_KINDS.some((candidate) => candidate === kind)) {
    printMachine(context, parseSelector(context.session.drive, words));
    return;
  }
  const hint = nearest(name, printable(context));
  const suggestion = hint === null ? '' : ` (did you mean '${hint}'?)`;
  throw new UsageError(
    `nothing here is named '${name}'${suggestion}: ` +
      'see info machines, info tables and info registers',
  );
}

/** Pairs of name and value, the values in one column. */
export function sayPairs(context: DebugContext, pairs: readonly (readonly [string, DumpCell])[]) {
  const width = Math.max(...pairs.map(([name]) => name.length));
  for (const [name, value] of pairs) {
    context.say(`${context.colours.dim(name.padEnd(width))}  ${value ?? '-'}`);
  }
}

/** A table as text, without the line feed at its end. */
export function sayRows(
  context: DebugContext,
  names: readonly string[],
  rows: Iterable<DumpCell[]>,
): void {
  const colour = context.colours.isColorSupported;
  context.say(renderRows(names, rows, { colour }).trimEnd());
}

function printTable(context: DebugContext, name: string, words: readonly string[]): void {
  if (words.length > 2) throw new UsageError(`usage: print ${name} [FROM [COUNT]]`);
  const from = words[0] === undefined ? 0 : parseCount(words[0], 'the first row', 0);
  const count = words[1] === undefined ? ROWS : parseCount(words[1], 'the number of rows');
  const rows = [...dumpRows(context.session.drive, name, { from, count: count + 1 })];
  if (rows.length === 0) {
    context.say(`${name} has no rows${from === 0 ? '' : ` from ${from} on`}`);
    return;
  }
  sayRows(context, dumpColumns(name), rows.slice(0, count));
  if (rows.length > count && words[1] === undefined) {
    context.say(context.colours.dim(`more: print ${name} FROM COUNT`));
  }
}

function printMachine(context: DebugContext, selector: Selector): void {
  const { drive } = context.session;
  switch (selector.kind) {
    case 'boot':
      printControl(context, drive.firmware.boot.machine);
      return;
    case 'write-mode':
      printControl(context, drive.firmware.mode.machine);
      return;
    case 'arm':
      printCore(context, drive.arm);
      return;
    case 'aragon':
      printCore(context, drive.aragon.core);
      return;
    default:
      printRow(context, selector.kind, selector.index);
  }
}

/** One die, slot or superblock as pairs; all of them as a table. */
function printRow(context: DebugContext, kind: MachineKind, index: number): void {
  const table = TABLE_OF[kind]!;
  if (index < 0) {
    printTable(context, table, []);
    return;
  }
  const [row] = dumpRows(context.session.drive, table, { from: index, count: 1 });
  if (row === undefined || row[0] !== index) {
    context.say(`${kind}${index} is free${index === UNQUEUED_SLOT ? ' (it is not queued)' : ''}`);
    return;
  }
  sayPairs(
    context,
    dumpColumns(table).map((name, at) => [name, row[at] ?? null]),
  );
}

function printControl(context: DebugContext, machine: ControlMachine): void {
  const { table, state, stateName } = machine;
  context.say(`${table.name} is ${context.colours.bold(stateName)}`);
  for (const { from, on, to, says } of table.transitions) {
    if (from === state) context.say(`  on ${table.events[on]} -> ${table.states[to]}: ${says}`);
  }
}

function printCore(context: DebugContext, core: Core): void {
  sayPairs(context, [
    ['doing', core.doing],
    ['tasks waiting', core.waitingCount],
    ['tasks done', core.taskCount],
    ['busy', formatDuration(core.busyNs)],
    ['panic', core.panic === null ? null : `${core.panic.task}: ${core.panic.rule}`],
  ]);
}

/** Prints a register or a block of them; false when the name is neither. */
function printRegisters(context: DebugContext, name: string): boolean {
  const [blockName, registerName] = name.toUpperCase().split('.');
  const block = context.session.drive.registers().find((view) => view.name === blockName);
  if (block === undefined) return false;
  if (registerName === undefined) {
    for (const register of block.registers) context.say(registerLine(block, register));
    return true;
  }
  const register = block.registers.find((candidate) => candidate.name === registerName);
  if (register === undefined) {
    const names = block.registers.map((candidate) => candidate.name);
    throw new UsageError(
      `${block.name} has no register '${registerName}', only ${names.join(', ')}`,
    );
  }
  context.say(registerLine(block, register));
  return true;
}

function registerLine(block: RegisterView, register: Register): string {
  const name = `${block.name}.${register.name}`;
  const value = register.read();
  const address = hex(block.baseAddress + register.offset);
  return `${address}  ${name.padEnd(20)}  ${hex(value)}  ${value}  ${register.says}`;
}
