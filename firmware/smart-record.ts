/**
 * What the firmware counts over the life of the drive, for SMART.
 */

import type { Saveable, Saved } from '../hal/sim/snapshot.ts';

export class SmartRecord implements Saveable {
  readonly kind = 'firmware.smart';
  readonly version = 2;
  hostWrittenSectors = 0;
  hostReadSectors = 0;
  /** Programs of one multi-plane page. */
  programUnits = 0;
  powerCycles = 0;
  unplannedLosses = 0;
  programFailures = 0;
  eraseFailures = 0;
  /** Host reads that met a sector which could not be corrected. */
  uncorrectableReads = 0;

  reset(): void {
    this.restore(new SmartRecord().save());
  }

  save(): Saved {
    const { hostWrittenSectors, hostReadSectors, programUnits } = this;
    const { powerCycles, unplannedLosses } = this;
    const { programFailures, eraseFailures, uncorrectableReads } = this;
    return {
      ...{ hostWrittenSectors, hostReadSectors, programUnits, powerCycles, unplannedLosses },
      ...{ programFailures, eraseFailures, uncorrectableReads },
    };
  }

  restore(saved: Saved): void {
    this.hostWrittenSectors = saved.hostWrittenSectors as number;
    this.hostReadSectors = saved.hostReadSectors as number;
    this.programUnits = saved.programUnits as number;
    this.powerCycles = saved.powerCycles as number;
    this.unplannedLosses = saved.unplannedLosses as number;
    this.programFailures = saved.programFailures as number;
    this.eraseFailures = saved.eraseFailures as number;
    this.uncorrectableReads = saved.uncorrectableReads as number;
  }
}
