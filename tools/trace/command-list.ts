/**
 * The command list: puts cycles together to the commands of the data sheet, die by die.
 *
 * It listens to the array itself, or to a trace that is decoded. The latter tells a phase when it
 * ends, so a busy time or a data phase is given to the command that it began behind.
 */

import { CycleKind, type CycleListener, type PageBytes } from '../../nand/cycle-listener.ts';
import { Opcode, ROLE, Role } from '../../nand/onfi/opcodes.ts';
import { busyName, commandName } from './command-names.ts';
import type { TraceLayout } from './trace-layout.ts';

/** One command of one die. */
export interface DieCommand {
  /** Counted over the array. */
  readonly die: number;
  /** Instant of its first cycle. */
  readonly atNs: number;
  /** Opcodes in order: opener, changes of column, confirm. */
  readonly opcodes: number[];
  /** Address bytes behind the first opcode. */
  readonly address: number[];
  /** Address as a later change of the row has it; null for a command without a row. */
  row: number | null;
  column: number | null;
  dataInBytes: number;
  dataOutBytes: number;
  /** Bytes that the trace has, of all data phases in order. */
  readonly bytes: number[];
  /** Time that R/B# was low; null when it was not, or not to its end. */
  busyNs: number | null;
}

const COLUMN_CYCLES = 2;
const ROW_CYCLES = 3;

export class CommandList implements CycleListener {
  /** In the order in which they began. */
  readonly commands: DieCommand[] = [];
  /** Commands of each die, and the one whose confirm is to come. */
  readonly #byDie = new Map<number, DieCommand[]>();
  readonly #open = new Map<number, DieCommand>();
  /** Address bytes behind a change of column inside a program, by die. */
  readonly #change = new Map<number, number[]>();

  cycle(
    die: number,
    kind: CycleKind,
    value: number,
    atNs: number,
    ns: number,
    bytes: PageBytes | null,
  ): void {
    switch (kind) {
      case CycleKind.Command:
        this.#opcode(die, value, atNs);
        return;
      case CycleKind.Address:
        this.#address(die, value);
        return;
      case CycleKind.Busy: {
        const command = this.#behind(die, atNs, startsWork);
        if (command !== undefined) command.busyNs = (command.busyNs ?? 0) + ns;
        return;
      }
      default:
        this.#data(die, kind, value, atNs, bytes);
    }
  }

  #opcode(die: number, opcode: number, atNs: number): void {
    const role = ROLE[opcode] as Role;
    const open = this.#open.get(die);
    if (role === Role.Confirm && open !== undefined) {
      open.opcodes.push(opcode);
      this.#open.delete(die);
      this.#change.delete(die);
      return;
    }
    if (opcode === Opcode.ChangeWriteColumn && open !== undefined && isProgram(open)) {
      open.opcodes.push(opcode);
      this.#change.set(die, []);
      return;
    }
    const command: DieCommand = {
      ...{ die, atNs, opcodes: [opcode], address: [], row: null, column: null },
      ...{ dataInBytes: 0, dataOutBytes: 0, bytes: [], busyNs: null },
    };
    this.commands.push(command);
    const commands = this.#byDie.get(die);
    if (commands === undefined) this.#byDie.set(die, [command]);
    else commands.push(command);
    if (role !== Role.Opener) return;
    this.#open.set(die, command);
    this.#change.delete(die);
  }

  #address(die: number, byte: number): void {
    const command = this.#open.get(die);
    if (command === undefined) return;
    const change = this.#change.get(die);
    const address = change ?? command.address;
    address.push(byte);
    const { column, row } = spelled(address);
    // A change of column keeps the row.
    if (column !== null || change === undefined) command.column = column;
    if (row !== null || change === undefined) command.row = row;
  }

  #data(die: number, kind: CycleKind, count: number, atNs: number, bytes: PageBytes | null): void {
    const command = this.#behind(die, atNs, () => true);
    if (command === undefined) return;
    if (kind === CycleKind.DataIn) command.dataInBytes += count;
    else command.dataOutBytes += count;
    if (bytes !== null) for (const byte of bytes()) command.bytes.push(byte);
  }

  /** The last fitting command of a die that began before an instant. */
  #behind(
    die: number,
    atNs: number,
    fits: (command: DieCommand) => boolean,
  ): DieCommand | undefined {
    return this.#byDie.get(die)?.findLast((command) => command.atNs < atNs && fits(command));
  }
}

/** The data-sheet name of a command. */
export function nameOf({ opcodes, address }: DieCommand): string {
  return commandName(opcodes, address.length);
}

/** `block 77 page 12`; the row's highest bits are the LUN, shown when it is not 0. */
export function describeRow(row: number, layout: TraceLayout): string {
  const pages = spanOf(layout.pagesPerBlock);
  const blocks = spanOf(layout.blocksPerDie);
  const lun = Math.floor(row / (pages * blocks));
  const place = `block ${Math.floor(row / pages) % blocks} page ${row % pages}`;
  return lun === 0 ? place : `LUN ${lun} ${place}`;
}

/** `ch3.die1`: dies are numbered across the channels first. */
export function describeDie(die: number, layout: TraceLayout): string {
  return `ch${die % layout.channels}.die${Math.floor(die / layout.channels)}`;
}

function startsWork({ opcodes }: DieCommand): boolean {
  return busyName(opcodes.at(-1)!) !== null;
}

function isProgram({ opcodes }: DieCommand): boolean {
  const [first] = opcodes;
  return (
    first === Opcode.ProgramPage ||
    first === Opcode.ProgramPageSecond ||
    first === Opcode.ChangeWriteColumn
  );
}

/** Low byte first: two cycles or five begin with the column, three or five end with the row. */
function spelled(address: readonly number[]): { column: number | null; row: number | null } {
  const { length } = address;
  const value = (bytes: readonly number[]) =>
    bytes.reduce((sum, byte, i) => sum + byte * 2 ** (8 * i), 0);
  const hasRow = length === ROW_CYCLES || length === COLUMN_CYCLES + ROW_CYCLES;
  const hasColumn = length === COLUMN_CYCLES || length === COLUMN_CYCLES + ROW_CYCLES;
  return {
    column: hasColumn ? value(address.slice(0, COLUMN_CYCLES)) : null,
    row: hasRow ? value(address.slice(-ROW_CYCLES)) : null,
  };
}

function spanOf(count: number): number {
  let span = 1;
  while (span < count) span *= 2;
  return span;
}
