/**
 * What a host does by itself: the probe after a signature, and recovery from a queue error.
 *
 * The probe is what Linux sends: IDENTIFY DEVICE, DMA Setup auto-activate on, Ultra DMA 6. Recovery
 * reads log 10h to learn which queued command failed; a command of the source that waited in slot
 * 32 for the queue to drain steps aside meanwhile. Sources: Serial ATA 3.1, 13.6; libata.
 */

import { AtaOpcode, AtaStatus, SataFeature, SetFeature } from '../../hal/ata.ts';
import { UNQUEUED_SLOT } from '../../hal/ports.ts';
import type { Saved } from '../../hal/sim/snapshot.ts';
import { SECTOR_BYTES } from '../../hal/sim/units.ts';
import { LogAddress, type NcqError, ncqErrorOfPage } from '../log-pages.ts';
import type { HostRegisters } from './host-registers.ts';

/** What the adapter is about. */
export enum Stage {
  /** No signature yet: nothing is sent. */
  Down,
  /** Sending the probe commands. */
  Probing,
  /** Sending the source's commands. */
  Running,
  /** A queue error: reading log 10h. */
  ReadingLog,
  /** The drive did not come back after several resets: every command fails. */
  Gone,
}

/** Ultra DMA 6, in the count register of SET FEATURES 03h. */
const ULTRA_DMA_6 = 0x46;

/** Registers of the probe after a signature: opcode, feature, count. */
const PROBE = [
  [AtaOpcode.IdentifyDevice, 0, 0],
  [AtaOpcode.SetFeatures, SetFeature.EnableSataFeature, SataFeature.DmaSetupAutoActivate],
  [AtaOpcode.SetFeatures, SetFeature.SetTransferMode, ULTRA_DMA_6],
] as const;

/** A command of slot 32 that has stepped aside. */
type ParkedCommand = {
  opcode: number;
  feature: number;
  lba: number;
  count: number;
  device: number;
  payload: Uint8Array;
  /** Handles of its pages of user data. */
  data: Int32Array;
};

export class Recovery {
  stage = Stage.Down;
  /** IDENTIFY DEVICE data of the last probe. */
  readonly identify = new Uint8Array(SECTOR_BYTES);
  readonly #registers: HostRegisters;
  /** Number of the probe command that is sent next or outstanding. */
  #probeAt = 0;
  #parked: ParkedCommand | null = null;

  constructor(registers: HostRegisters) {
    this.#registers = registers;
  }

  /** The drive has sent its signature. */
  beginProbe(): void {
    this.stage = Stage.Probing;
    this.#probeAt = 0;
  }

  /** The queue has failed; `waiting`: slot 32 holds a command of the source that is not sent. */
  beginLog(waiting: boolean): void {
    this.stage = Stage.ReadingLog;
    if (waiting) this.park();
  }

  /** The source's command in slot 32 steps aside. */
  park(): void {
    const { opcode, feature, lba, count, device, sectorData } = this.#registers;
    const slot = UNQUEUED_SLOT;
    this.#parked = {
      ...{ opcode: opcode[slot]!, feature: feature[slot]!, lba: lba[slot]! },
      ...{ count: count[slot]!, device: device[slot]!, payload: sectorData.slice() },
      data: this.#registers.dataOf(slot).slice(),
    };
  }

  /** Puts the command of the present stage into slot 32; false when the stage sends nothing. */
  fill(): boolean {
    if (this.stage === Stage.Probing) {
      const [opcode, feature, count] = PROBE[this.#probeAt]!;
      this.#registers.unqueued(opcode, feature, 0, count, 0);
      return true;
    }
    if (this.stage !== Stage.ReadingLog) return false;
    this.#registers.unqueued(AtaOpcode.ReadLogDmaExt, 0, LogAddress.NcqError, 1, 0);
    return true;
  }

  /** A probe command has ended; one that fails is passed over, as hosts do. */
  probed(status: number): void {
    const isGood = (status & AtaStatus.Error) === 0;
    if (this.#probeAt === 0 && isGood) {
      this.identify.set(this.#registers.sectorData.subarray(0, SECTOR_BYTES));
    }
    this.#probeAt++;
    if (this.#probeAt < PROBE.length) return;
    this.stage = Stage.Running;
    this.unpark();
  }

  /** Log 10h was read: the command that failed, undefined when the log does not tell. */
  logRead(): NcqError | undefined {
    const failure = ncqErrorOfPage(this.#registers.sectorData.subarray(0, SECTOR_BYTES));
    this.stage = Stage.Running;
    this.unpark();
    return failure;
  }

  /** Log 10h could not be read. */
  logFailed(): void {
    this.stage = Stage.Running;
    this.unpark();
  }

  /** Slot 32 holds the source's command again. */
  unpark(): void {
    const parked = this.#parked;
    if (parked === null) return;
    this.#parked = null;
    const { opcode, feature, lba, count, device, payload, data } = parked;
    this.#registers.unqueued(opcode, feature, lba, count, device);
    this.#registers.sectorData.set(payload);
    this.#registers.dataOf(UNQUEUED_SLOT).set(data);
  }

  save(): Saved {
    return {
      stage: this.stage,
      identify: this.identify.slice(),
      probeAt: this.#probeAt,
      parked: this.#parked === null ? null : { ...this.#parked },
    };
  }

  restore(saved: Saved): void {
    this.stage = saved.stage as Stage;
    this.identify.set(saved.identify as Uint8Array);
    this.#probeAt = saved.probeAt as number;
    const parked = saved.parked as ParkedCommand | null;
    this.#parked = parked === null ? null : { ...parked };
  }
}
