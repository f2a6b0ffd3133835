/**
 * Power rails: the 5 V of the SATA connector and what the board makes of it.
 *
 * The Vector has no hold-up capacitors, so all rails fall with the input. A cut is an instant,
 * named by the event ordinal it follows.
 */

import type { RegisterView } from './registers.ts';
import type { Saveable, Saved } from './sim/snapshot.ts';

/** Rails with their nominal volts (data sheets of the parts; board routing assumed). */
export const RAILS = [
  { name: 'VIN', volts: 5.0, says: 'SATA connector' },
  { name: 'VCC', volts: 3.3, says: 'flash array' },
  { name: 'VCCQ', volts: 1.8, says: 'flash bus' },
  { name: 'VDDR', volts: 1.35, says: 'DDR3L' },
  { name: 'VCORE', volts: 1.2, says: 'controller' },
] as const;

export class PowerRails implements Saveable {
  readonly kind = 'hal.power';
  readonly version = 1;
  on = false;
  /** Times power came on, and times it went without a STANDBY IMMEDIATE before. */
  cycleCount = 0;
  unplannedCount = 0;

  registers(): RegisterView {
    return {
      name: 'PMU',
      baseAddress: 0x8000_0000,
      registers: RAILS.map((rail, index) => ({
        name: rail.name,
        offset: index * 4,
        says: `${rail.says}, mV`,
        read: () => (this.on ? Math.round(rail.volts * 1000) : 0),
      })),
    };
  }

  save(): Saved {
    return { on: this.on, cycleCount: this.cycleCount, unplannedCount: this.unplannedCount };
  }

  restore(saved: Saved): void {
    this.on = saved.on as boolean;
    this.cycleCount = saved.cycleCount as number;
    this.unplannedCount = saved.unplannedCount as number;
  }
}
