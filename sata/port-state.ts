/**
 * The state of the device port: command slots, FIFOs to firmware, flags of link and queue.
 *
 * Everything of the port that a snapshot holds is here, and nothing else; the parts around it
 * (receiver, ends, queue failure, resets) share this one object and keep no state of their own.
 */

import { type TaskFile, taskFile } from '../hal/ata.ts';
import type { Saved } from '../hal/sim/snapshot.ts';
import { SlotFifo } from './slot-fifo.ts';
import { Slots } from './slots.ts';
import type { TrimRange } from './trim-ranges.ts';

export class PortState {
  readonly slots = new Slots();
  /** Slots whose commands firmware has not taken yet. */
  readonly commands = new SlotFifo();
  /** Slots with pages that have arrived and firmware has not taken yet. */
  readonly arrivals = new SlotFifo();
  /** Queued tags outstanding, one bit each, as SActive shows them. */
  sActive = 0;
  /** Registers of the command that is not queued, latched when it arrived. */
  registers: TaskFile = taskFile();
  /** Ranges of the last DATA SET MANAGEMENT. */
  trims: readonly TrimRange[] = [];

  /** Firmware has brought the front end up; before that the drive hears nothing. */
  isStarted = false;
  /** The PHY is ready: frames arrive. */
  isLinked = false;
  /** The signature was sent and no reset is going on: commands are accepted. */
  isUp = false;
  /** SRST is set. */
  inSoftReset = false;
  /** The signature waits for the orphans to be let go. */
  signatureDue = false;
  /** Ns from then to the signature. */
  signatureNs = 0;
  /** The signature on its way will not arrive. */
  signatureLost = false;

  /** The queue has failed and log 10h was not read yet. */
  inError = false;
  /** Firmware has asked for the answer to log 10h; it waits for the orphans to be let go. */
  logDue = false;
  /** Status and error of the queue error on its way to the host. */
  queueStatus = 0;
  queueError = 0;
  /** Slot 32 failed by a data frame; its end waits for firmware to let it go. */
  crcErrorDue = false;
  /** Slots in phase Orphan. */
  orphanCount = 0;
  /** Firmware has stopped on a broken rule. */
  failed = false;

  reset(): void {
    this.slots.reset();
    this.commands.clear();
    this.arrivals.clear();
    this.sActive = 0;
    this.registers = taskFile();
    this.trims = [];
    this.isStarted = false;
    this.isLinked = false;
    this.isUp = false;
    this.inSoftReset = false;
    this.signatureDue = false;
    this.signatureNs = 0;
    this.signatureLost = false;
    this.inError = false;
    this.logDue = false;
    this.queueStatus = 0;
    this.queueError = 0;
    this.crcErrorDue = false;
    this.orphanCount = 0;
    this.failed = false;
  }

  save(): Saved {
    const { sActive, isStarted, isLinked, isUp, inSoftReset, signatureDue, signatureNs } = this;
    const { inError, logDue, queueStatus, queueError, orphanCount, failed } = this;
    const { signatureLost, crcErrorDue } = this;
    return {
      slots: this.slots.save(),
      commands: this.commands.save(),
      arrivals: this.arrivals.save(),
      registers: { ...this.registers },
      trims: this.trims.flatMap((range) => [range.lba, range.sectors]),
      ...{ sActive, isStarted, isLinked, isUp, inSoftReset, signatureDue, signatureNs },
      ...{ inError, logDue, queueStatus, queueError, orphanCount, failed },
      ...{ signatureLost, crcErrorDue },
    };
  }

  restore(saved: Saved): void {
    this.slots.restore(saved.slots as Saved);
    this.commands.restore(saved.commands as Int32Array);
    this.arrivals.restore(saved.arrivals as Int32Array);
    this.registers = taskFile(saved.registers as Partial<TaskFile>);
    const trims = saved.trims as number[];
    this.trims = trims.flatMap((lba, i) => (i % 2 === 0 ? [{ lba, sectors: trims[i + 1]! }] : []));
    this.sActive = saved.sActive as number;
    this.isStarted = saved.isStarted as boolean;
    this.isLinked = saved.isLinked as boolean;
    this.isUp = saved.isUp as boolean;
    this.inSoftReset = saved.inSoftReset as boolean;
    this.signatureDue = saved.signatureDue as boolean;
    this.signatureNs = saved.signatureNs as number;
    this.signatureLost = saved.signatureLost as boolean;
    this.inError = saved.inError as boolean;
    this.logDue = saved.logDue as boolean;
    this.queueStatus = saved.queueStatus as number;
    this.queueError = saved.queueError as number;
    this.crcErrorDue = saved.crcErrorDue as boolean;
    this.orphanCount = saved.orphanCount as number;
    this.failed = saved.failed as boolean;
  }
}
