/**
 * What the flash array counts since power-on.
 */

import type { Register } from '../hal/registers.ts';
import type { Saved } from '../hal/sim/snapshot.ts';

export class FlashCounters {
  /** Operations ended, by FlashOp. */
  readonly done = new Float64Array(3);
  /** Slots moved over the buses: read and programmed. */
  readonly slots = new Float64Array(2);
  /** Slots read with corrected bits, and slots beyond the code. */
  corrected = 0;
  uncorrectable = 0;
  /** Operations given up because their die did not become ready. */
  timeouts = 0;
  /** Broken rules of the bus. */
  violations = 0;

  registers(): Register[] {
    const register = (name: string, offset: number, says: string, read: () => number) => ({
      ...{ name, offset, says, read },
    });
    return [
      ...['READS', 'PROGRAMS', 'ERASES'].map((name, op) =>
        register(name, op * 4, 'operations ended', () => this.done[op]!),
      ),
      register('CORRECTED', 0x10, 'slots read with corrected bits', () => this.corrected),
      register('UNCORRECTABLE', 0x14, 'slots read beyond the code', () => this.uncorrectable),
      register('TIMEOUTS', 0x18, 'operations given up', () => this.timeouts),
      register('VIOLATIONS', 0x1c, 'broken rules of the bus', () => this.violations),
    ];
  }

  reset(): void {
    this.restore(new FlashCounters().save());
  }

  save(): Saved {
    const { corrected, uncorrectable, timeouts, violations } = this;
    return {
      done: this.done.slice(),
      slots: this.slots.slice(),
      ...{ corrected, uncorrectable, timeouts, violations },
    };
  }

  restore(saved: Saved): void {
    this.done.set(saved.done as Float64Array);
    this.slots.set(saved.slots as Float64Array);
    this.corrected = saved.corrected as number;
    this.uncorrectable = saved.uncorrectable as number;
    this.timeouts = saved.timeouts as number;
    this.violations = saved.violations as number;
  }
}
