/**
 * What the firmware counts over the life of the drive, for SMART.
 */

import type { Saveable, Saved } from '../hal/sim/snapshot.ts';

export class SmartRecord implements Saveable {
  readonly kind = 'firmware.smart';
  readonly version = 1;
  hostWrittenSectors = 0;
  hostReadSectors = 0;
  /** Programs of one multi-plane page. */
  programUnits = 0;
  powerCycles = 0;
  unplannedLosses = 0;

  reset(): void {
    this.hostWrittenSectors = 0;
    this.hostReadSectors = 0;
    this.programUnits = 0;
    this.powerCycles = 0;
    this.unplannedLosses = 0;
  }

  save(): Saved {
    const { hostWrittenSectors, hostReadSectors, programUnits } = this;
    const { powerCycles, unplannedLosses } = this;
    return { hostWrittenSectors, hostReadSectors, programUnits, powerCycles, unplannedLosses };
  }

  restore(saved: Saved): void {
    this.hostWrittenSectors = saved.hostWrittenSectors as number;
    this.hostReadSectors = saved.hostReadSectors as number;
    this.programUnits = saved.programUnits as number;
    this.powerCycles = saved.powerCycles as number;
    this.unplannedLosses = saved.unplannedLosses as number;
  }
}
