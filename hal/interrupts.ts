/**
 * Interrupt controller: level lines that latch until served, by priority.
 *
 * A raised line posts the task connected to it once; while that task has not acknowledged, further
 * causes only keep the line asserted.
 */

import type { CorePort, InterruptPort, Irq } from './ports.ts';
import type { RegisterView } from './registers.ts';
import type { Saveable, Saved } from './sim/snapshot.ts';

const LINES = 4;

export class InterruptController implements InterruptPort, Saveable {
  readonly kind = 'hal.interrupts';
  readonly version = 1;
  /** Core and task of each line; wiring, not state. */
  readonly #core: (CorePort | null)[] = new Array(LINES).fill(null);
  readonly #task = new Int32Array(LINES);
  /** Bit n: line n is asserted and not yet acknowledged. */
  #pending = 0;
  /** Times each line was raised. */
  readonly #raisedCount = new Float64Array(LINES);

  connect(line: Irq, core: CorePort, task: number): void {
    this.#core[line] = core;
    this.#task[line] = task;
  }

  /** A device asserts `line`. */
  raise(line: Irq): void {
    this.#raisedCount[line] = this.#raisedCount[line]! + 1;
    const bit = 1 << line;
    if ((this.#pending & bit) !== 0) return;
    this.#pending |= bit;
    this.#core[line]?.post(this.#task[line]!, 0);
  }

  acknowledge(line: Irq, again: boolean): void {
    if (again) this.#core[line]!.post(this.#task[line]!, 0);
    else this.#pending &= ~(1 << line);
  }

  reset(): void {
    this.#pending = 0;
  }

  registers(): RegisterView {
    return {
      name: 'ICU',
      baseAddress: 0x8500_0000,
      registers: [
        { name: 'INT_STS', offset: 0x00, says: 'asserted lines', read: () => this.#pending },
        { name: 'INT_CNT_HOST', offset: 0x10, says: 'host', read: () => this.#raisedCount[0]! },
        {
          name: 'INT_CNT_DATA',
          offset: 0x14,
          says: 'host data',
          read: () => this.#raisedCount[1]!,
        },
        { name: 'INT_CNT_FLASH', offset: 0x18, says: 'flash', read: () => this.#raisedCount[2]! },
        { name: 'INT_CNT_TIMER', offset: 0x1c, says: 'timer', read: () => this.#raisedCount[3]! },
      ],
    };
  }

  save(): Saved {
    return { pending: this.#pending, raisedCount: this.#raisedCount.slice() };
  }

  restore(saved: Saved): void {
    this.#pending = saved.pending as number;
    this.#raisedCount.set(saved.raisedCount as Float64Array);
  }
}
