/**
 * A drive with a workload in front of it, ready to run phases.
 */

import { Drive } from '../../firmware/drive.ts';
import type { DriveProfile } from '../../hal/profile.ts';
import { RunError } from '../errors.ts';
import { type Pattern, Workload } from './workload.ts';

/** What one phase did. */
export interface PhaseResult {
  commands: number;
  /** Emulated time from the first command to the end of the last, in ns. */
  simulatedNs: number;
  wallSeconds: number;
  events: number;
  /** Host commands per wall second and per emulated second. */
  commandsPerWallSecond: number;
  iops: number;
  /** Payload in bytes per emulated second. */
  bytesPerSecond: number;
}

export class WorkloadRig {
  readonly drive: Drive;
  readonly workload: Workload;

  constructor(profile: DriveProfile, seed = 'bf3') {
    let workload: Workload | null = null;
    this.drive = new Drive(profile, {
      source: ({ machine }) => {
        workload = new Workload(machine, Math.floor(profile.identity.sectors / 8), seed);
        return workload;
      },
    });
    this.workload = workload as unknown as Workload;
  }

  /** Turns the drive on and runs until it is ready. */
  boot(): void {
    this.drive.powerOn();
    while (!this.drive.isReady) this.#step();
  }

  /** Runs one pattern to its end; throws when a page read wrong or a command failed. */
  run(pattern: Pattern): PhaseResult {
    const { workload, drive } = this;
    const { timeline } = drive;
    const beganNs = timeline.nowNs;
    const beganOrdinal = timeline.ordinal;
    const beganWall = process.hrtime.bigint();
    workload.start(pattern);
    drive.host.pump();
    while (workload.doneCount < pattern.count) {
      if (!timeline.step()) this.#stuck();
    }
    const wallSeconds = Number(process.hrtime.bigint() - beganWall) / 1e9;
    if (drive.panic !== null) this.#stuck();
    if (workload.mismatchCount > 0 || workload.failedCount > 0) {
      const { mismatchCount, failedCount } = workload;
      throw new RunError(`${mismatchCount} pages read wrong, ${failedCount} commands failed`);
    }
    const simulatedNs = timeline.nowNs - beganNs;
    return {
      commands: pattern.count,
      simulatedNs,
      wallSeconds,
      events: timeline.ordinal - beganOrdinal,
      commandsPerWallSecond: pattern.count / wallSeconds,
      iops: (pattern.count * 1e9) / simulatedNs,
      bytesPerSecond: (pattern.count * pattern.pages * 4096e9) / simulatedNs,
    };
  }

  /** STANDBY IMMEDIATE, loss of power, and boot again on the same flash. */
  powerCycle(): void {
    const { drive } = this;
    this.workload.standBy();
    drive.host.pump();
    while (this.workload.standbyPending) this.#step();
    drive.powerOff();
    this.boot();
  }

  /** Runs events until `ordinal`. */
  runToOrdinal(ordinal: number): void {
    while (this.drive.timeline.ordinal < ordinal) this.#step();
  }

  #step(): void {
    if (!this.drive.timeline.step()) this.#stuck();
  }

  #stuck(): never {
    const { panic } = this.drive;
    const why = panic === null ? 'nothing is pending' : `${panic.task}: ${panic.rule}`;
    throw new RunError(`the drive stopped at event ${this.drive.timeline.ordinal}: ${why}`);
  }
}
