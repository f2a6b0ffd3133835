/**
 * Names of state machines as the debugger's user types them: `boot`, `die3`, `die 3`, `slot`.
 *
 * A selector without a number means every machine of its kind.
 */

import { BOOT_TABLE } from '../../firmware/boot.ts';
import type { Drive } from '../../firmware/drive.ts';
import { WRITE_MODE_TABLE } from '../../firmware/ftl/performance-mode.ts';
import { SUPERBLOCK_TABLE } from '../../firmware/ftl/superblocks.ts';
import { HOST_SLOTS } from '../../hal/ports.ts';
import type { MachineTable } from '../../hal/sim/state-machine.ts';
import { DIE_TABLE } from '../../nand/die-table.ts';
import { SLOT_TABLE } from '../../sata/slots.ts';
import { nearest } from '../cli/suggest.ts';
import { UsageError } from '../errors.ts';

export type MachineKind = 'boot' | 'write-mode' | 'arm' | 'aragon' | 'die' | 'slot' | 'superblock';

/** Tables by the name that selects their machines; cores run tasks and have none. */
export const MACHINE_TABLES: { readonly [kind: string]: MachineTable } = {
  boot: BOOT_TABLE,
  'write-mode': WRITE_MODE_TABLE,
  die: DIE_TABLE,
  slot: SLOT_TABLE,
  superblock: SUPERBLOCK_TABLE,
};

export const MACHINE_KINDS: readonly MachineKind[] = [
  ...(['boot', 'write-mode', 'arm', 'aragon', 'die', 'slot', 'superblock'] as const),
];

/** One state change: which machine, when, from where to where. */
export interface Transition {
  readonly ordinal: number;
  readonly atNs: number;
  readonly kind: MachineKind;
  /** Number of the die, slot or superblock; -1 for machines of which there is one. */
  readonly index: number;
  readonly from: string;
  readonly to: string;
  /** What the machine works on; '' when nobody asked. */
  readonly detail: string;
}

/** Machines of a kind: one of them, or all. */
export interface Selector {
  readonly kind: MachineKind;
  /** -1: every one. */
  readonly index: number;
}

/** A selector with the state that is waited for. */
export interface StateGoal {
  readonly selector: Selector;
  readonly state: string;
}

/** `die3`, `boot`: the machine's name as tables and traces print it. */
export function machineName(machine: { kind: MachineKind; index: number }): string {
  return machine.index < 0 ? machine.kind : `${machine.kind}${machine.index}`;
}

export function matches(selector: Selector, transition: Transition): boolean {
  if (selector.kind !== transition.kind) return false;
  return selector.index < 0 || selector.index === transition.index;
}

/**
 * The selector of `die 3`, `die3`, `die` or `boot`.
 * @throws UsageError when there is no such machine on this drive
 */
export function parseSelector(drive: Drive, words: readonly string[]): Selector {
  const text = words.join('').toLowerCase();
  const parts = /^(.*?)(\d*)$/.exec(text)!;
  const kind = MACHINE_KINDS.find((name) => name === parts[1]);
  if (kind === undefined) {
    const hint = nearest(parts[1]!, MACHINE_KINDS);
    const suggestion = hint === null ? '' : ` (did you mean '${hint}'?)`;
    throw new UsageError(
      `no machine '${words.join(' ')}'${suggestion}; the machines are ${MACHINE_KINDS.join(', ')}`,
    );
  }
  if (parts[2] === '') return { kind, index: -1 };
  const index = Number(parts[2]);
  const count = machineCount(drive, kind);
  if (count === 1) throw new UsageError(`there is one ${kind}: give no number`);
  if (index >= count) {
    throw new UsageError(`${kind} ${index} does not exist: this drive has 0 to ${count - 1}`);
  }
  return { kind, index };
}

/**
 * The goal of `die3=Programming`; the state's case does not matter.
 * @throws UsageError when the machine or the state does not exist
 */
export function parseGoal(drive: Drive, text: string): StateGoal {
  const at = text.indexOf('=');
  if (at <= 0 || at === text.length - 1) {
    throw new UsageError(`'${text}' is no MACHINE=STATE: write it like die3=Programming`);
  }
  const selector = parseSelector(drive, text.slice(0, at).trim().split(/\s+/));
  return { selector, state: stateName(selector.kind, text.slice(at + 1).trim()) };
}

/** States of a kind's machines by number; empty for cores. */
export function stateNames(kind: MachineKind): string[] {
  const table = MACHINE_TABLES[kind];
  const names: string[] = [];
  for (let i = 0; table?.states[i] !== undefined; i++) names.push(table.states[i]!);
  return names;
}

export function machineCount(drive: Drive, kind: MachineKind): number {
  switch (kind) {
    case 'die':
      return drive.geometry.dies;
    case 'slot':
      return HOST_SLOTS;
    case 'superblock':
      return drive.geometry.superblocks;
    default:
      return 1;
  }
}

/** A core's states are its tasks and 'wfi'; their names are the firmware's and taken as given. */
function stateName(kind: MachineKind, text: string): string {
  const names = stateNames(kind);
  if (names.length === 0) return text.toLowerCase();
  const found = names.find((name) => name.toLowerCase() === text.toLowerCase());
  if (found !== undefined) return found;
  const hint = nearest(text, names);
  const suggestion = hint === null ? '' : ` (did you mean '${hint}'?)`;
  throw new UsageError(
    `${kind} has no state '${text}'${suggestion}; its states are ${names.join(', ')}`,
  );
}
