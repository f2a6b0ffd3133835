/**
 * Aragon: the 32-bit co-processor with an SSD instruction set, at the ARM's clock.
 *
 * The ARM hands it work as descriptors in a ring in SRAM and rings the mailbox; each descriptor
 * names a program and an operand, and its cost is the sum of the program's instructions. ARM
 * decides, Aragon moves.
 */

import { Core } from './core.ts';
import type { CorePort, TaskBody } from './ports.ts';
import type { Probe } from './sim/probe.ts';
import type { Timeline } from './sim/timeline.ts';

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
