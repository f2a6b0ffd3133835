/**
 * Names of commands, and of the times that they take, by the opcodes that were seen.
 *
 * Everything comes from the command table of the die, so a trace speaks as the data sheet does.
 */

import { COMMANDS, Opcode } from '../../nand/onfi/opcodes.ts';

/** Address cycles of a letter of the table. */
const CYCLES_OF: Readonly<Record<string, number>> = { C: 2, R: 3, A: 1 };

/** By `opener+addresses confirm`: the name. */
const NAMES = new Map<string, string>();
/** By the last opcode of a command: the data-sheet name of its busy time. */
const BUSY_NAMES = new Map<number, string>();

for (const row of COMMANDS) {
  const opcodes: number[] = [];
  let addresses = 0;
  for (const word of row.cycles.split(' ')) {
    if (word.endsWith('h')) opcodes.push(Number.parseInt(word, 16));
    else addresses += CYCLES_OF[word] ?? 0;
  }
  NAMES.set(keyOf(opcodes, addresses), row.name);
  if (row.busy !== '-') BUSY_NAMES.set(opcodes.at(-1)!, row.busy);
}

/**
 * The name of a command.
 * @param opcodes as they came; of those in the middle (change of column) none matters
 * @param addresses cycles behind the first
 */
export function commandName(opcodes: readonly number[], addresses: number): string {
  // 81h opens the second plane as 80h does (JEDEC); 00h alone turns from status back to data.
  const first = opcodes[0] === Opcode.ProgramPageSecond ? Opcode.ProgramPage : opcodes[0]!;
  if (first === Opcode.ReadPage && opcodes.length === 1 && addresses === 0) return 'READ MODE';
  const ends = opcodes.length > 1 ? [first, opcodes.at(-1)!] : [first];
  return NAMES.get(keyOf(ends, addresses)) ?? `UNKNOWN ${opcodes.map(opcodeText).join(' ')}`;
}

/** The data-sheet name of the time that this opcode starts, null when it starts none. */
export function busyName(opcode: number): string | null {
  return BUSY_NAMES.get(opcode) ?? null;
}

/** `00h`, `D0h`. */
export function opcodeText(opcode: number): string {
  return `${opcode.toString(16).toUpperCase().padStart(2, '0')}h`;
}

function keyOf(opcodes: readonly number[], addresses: number): string {
  const [first, ...more] = opcodes;
  return [`${first}+${addresses}`, ...more].join(' ');
}
