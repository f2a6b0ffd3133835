/**
 * Aragon: the 32-bit co-processor with an SSD instruction set, at the ARM's clock.
 *
 * The ARM hands it work as descriptors in a ring in SRAM and rings the mailbox; each descriptor
 * names a program and an operand, and its cost is the sum of the program's instructions. What the
 * instruction set was is unpublished; these instructions and costs are assumed. ARM decides, Aragon
 * moves.
 */

import { Core } from './core.ts';
import type { CorePort, TaskBody } from './ports.ts';
import type { Probe } from './sim/probe.ts';
import type { Timeline } from './sim/timeline.ts';

/** Instructions of the SSD set with their cycles (assumed). */
export const ARAGON_CYCLES = {
  /** Take a descriptor from the ring. */
  fetch: 12,
  /** Look up one map entry in DRAM (row hit, controller queue). */
  lookup: 30,
  /** Write one map entry with its valid bits. */
  update: 24,
  /** Move one data handle between buffer lists. */
  move: 6,
  /** Build and issue one flash operation. */
  issue: 40,
  /** Take one ended flash operation with its ECC verdict. */
  retire: 24,
  /** Search one 64-cell line for its minimum. */
  searchLine: 16,
  /** Clear or set one 64-cell line. */
  fillLine: 8,
} as const;

export type AragonProgram = { readonly [instruction in keyof typeof ARAGON_CYCLES]?: number };

/** Cycles of a program: instruction counts times their costs. */
export function programCycles(program: AragonProgram): number {
  let cycles: number = ARAGON_CYCLES.fetch;
  for (const [instruction, count] of Object.entries(program)) {
    cycles += ARAGON_CYCLES[instruction as keyof typeof ARAGON_CYCLES] * count;
  }
  return cycles;
}

export class Aragon implements CorePort {
  readonly core: Core;
  /** Descriptors rung in through the mailbox since power-on. */
  mailboxCount = 0;

  constructor(megahertz: number, timeline: Timeline, probe: Probe) {
    this.core = new Core('aragon', 1, megahertz, timeline, probe);
  }

  define(name: string, priority: number, cycles: number, body: TaskBody): number {
    return this.core.define(name, priority, cycles, body);
  }

  post(program: number, operand: number, moreCycles = 0): void {
    this.mailboxCount++;
    this.core.post(program, operand, moreCycles);
  }

  charge(cycles: number): void {
    this.core.charge(cycles);
  }
}
