/**
 * Giving up: queue errors, and the slots that firmware still holds afterwards.
 *
 * After a queue error everything outstanding is given up, and all but reading log 10h aborts until
 * the host has read it or resets (Serial ATA 3.1, 13.6). A slot that firmware still holds then is
 * an orphan: what it sends is dropped. Whatever lets the host use the slot again (the signature
 * after a reset, the answer to log 10h) waits until the last orphan has been let go.
 */

import { AtaError, AtaStatus, STATUS_FAILED } from '../hal/ata.ts';
import { HOST_SLOTS, HostRequest, Irq, PAGES_PER_COMMAND, UNQUEUED_SLOT } from '../hal/ports.ts';
import { type CommandEnds, CRC_ERROR } from './command-ends.ts';
import { FisType } from './fis.ts';
import { type FrontEnd, QUEUE_ERROR_TAG, SIGNATURE_TAG } from './front-end.ts';
import { Awaited } from './host-side.ts';
import { NEVER } from './link-faults.ts';
import type { PortState } from './port-state.ts';
import { SlotPhase, type Slots } from './slots.ts';

/** 41h: DRDY and ERR, what hosts see in Set Device Bits and in log 10h. */
const STATUS_QUEUE_FAILED = STATUS_FAILED & ~AtaStatus.SeekComplete;
const STATUS_FAULT = STATUS_FAILED | AtaStatus.DeviceFault;

/** Is told when the last orphan has been let go. */
export interface OrphanWaiter {
  orphansGone(): void;
}

export class QueueFailure {
  readonly #front: FrontEnd;
  readonly #state: PortState;
  readonly #slots: Slots;
  readonly #ends: CommandEnds;
  readonly #waiter: OrphanWaiter;

  constructor(front: FrontEnd, ends: CommandEnds, waiter: OrphanWaiter) {
    this.#front = front;
    this.#state = front.state;
    this.#slots = front.state.slots;
    this.#ends = ends;
    this.#waiter = waiter;
  }

  /** Queued command `tag` has failed after it was accepted, and with it the queue. */
  failTag(tag: number, error: number, lba: number): void {
    this.#fail(true, tag, tag, error, lba, FisType.SetDeviceBits);
  }

  /**
   * The host broke a rule of the queue: a tag that is outstanding was used again, or a command that
   * is not queued came meanwhile. BSY is still set, so a register FIS says it.
   */
  failRule(isQueued: boolean, tag: number, hostSlot: number): void {
    const lba = this.#front.host.lba[hostSlot]!;
    this.#fail(isQueued, tag, hostSlot, AtaError.Abort, lba, FisType.RegisterDeviceToHost);
  }

  /**
   * A data frame of a command has arrived with a wrong CRC. Queued: the queue fails. Slot 32: it
   * ends when firmware has let it go. Firmware still holds the slot.
   */
  failByCrc(slot: number): void {
    if (slot !== UNQUEUED_SLOT) {
      this.failTag(slot, CRC_ERROR, this.#slots.lba[slot]!);
      return;
    }
    this.#abandon(slot);
    this.#state.crcErrorDue = true;
  }

  /** Log 10h is being read: Set Device Bits clears SActive, and the error is over. */
  endError(): void {
    const { link, frames, host } = this.#front;
    this.#state.inError = false;
    // A host that misses it has cleared its own bits before it read the log.
    const atNs = frames.reserve(FisType.SetDeviceBits, link.deviceBitsNs);
    if (atNs !== NEVER) host.queueCleared(atNs);
  }

  /** The queue error has reached the host. */
  sent(): void {
    this.#front.host.queueFailed(this.#state.queueStatus, this.#state.queueError);
  }

  /** Gives up everything outstanding; what is on the link is lost. */
  giveUpAll(): void {
    const state = this.#state;
    const wasLogDue = state.logDue;
    state.logDue = false;
    for (let slot = 0; slot < HOST_SLOTS; slot++) this.#abandon(slot);
    if (wasLogDue) this.letGo(UNQUEUED_SLOT);
    state.crcErrorDue = false;
    this.#slots.verdict.fill(0);
    state.sActive = 0;
    this.#front.alarms[QUEUE_ERROR_TAG]!.disarm();
    this.#front.alarms[SIGNATURE_TAG]!.disarm();
  }

  /**
   * Firmware has stopped: what is outstanding ends with a device fault. No slot waits for firmware
   * any more; a core that still runs finds its slots free.
   */
  failDevice(): void {
    const state = this.#state;
    const isBusy = this.#slots.phase[UNQUEUED_SLOT] !== SlotPhase.Free && state.isUp;
    const isQueueBusy = state.sActive !== 0 || this.#front.alarms[QUEUE_ERROR_TAG]!.armed;
    state.failed = true;
    for (let slot = 0; slot < HOST_SLOTS; slot++) this.#abandon(slot);
    this.#slots.phase.fill(SlotPhase.Free);
    state.commands.clear();
    state.arrivals.clear();
    state.orphanCount = 0;
    state.logDue = false;
    state.crcErrorDue = false;
    this.#slots.verdict.fill(0);
    state.sActive = 0;
    if (isBusy) this.#ends.refuse(STATUS_FAULT, AtaError.Abort, 0);
    if (isQueueBusy) this.#send(STATUS_FAULT, AtaError.Abort, FisType.SetDeviceBits);
    this.#waiter.orphansGone();
  }

  /** Firmware is done with an orphan. */
  letGo(slot: number): void {
    this.#slots.phase[slot] = SlotPhase.Free;
    this.#state.orphanCount--;
    if (this.#state.orphanCount === 0) this.#waiter.orphansGone();
    if (slot !== UNQUEUED_SLOT || !this.#state.crcErrorDue) return;
    this.#state.crcErrorDue = false;
    this.#ends.refuse(STATUS_FAILED, CRC_ERROR, this.#slots.lba[slot]!);
  }

  /** Releases pages of a slot that were meant for the host. */
  drop(slot: number, first: number, count: number): void {
    const { content } = this.#slots;
    const at = slot * PAGES_PER_COMMAND + first;
    for (let i = at; i < at + count; i++) {
      if (content[i]! < 0) this.#front.contents.release(content[i]!);
      content[i] = 0;
    }
  }

  /** Releases what a read has sent and will not end with. */
  dropSent(slot: number): void {
    if (this.#slots.request[slot] !== HostRequest.Read) return;
    this.drop(slot, 0, this.#slots.pagesMoved[slot]!);
    this.#slots.pagesMoved[slot] = 0;
  }

  /** Lets firmware find that the pages it asked for will not come: it owns none of them. */
  arriveEmpty(slot: number): void {
    const { content, pagesMoved, pagesAsked } = this.#slots;
    const at = slot * PAGES_PER_COMMAND + pagesMoved[slot]!;
    content.fill(0, at, at + pagesAsked[slot]!);
    this.#state.arrivals.put(slot);
    this.#front.interrupts.raise(Irq.HostData);
  }

  #fail(
    isQueued: boolean,
    tag: number,
    hostSlot: number,
    error: number,
    lba: number,
    frame: FisType,
  ): void {
    const { host, answers } = this.#front;
    answers.failure = {
      ...{ isQueued, tag: isQueued ? tag : 0, status: STATUS_QUEUE_FAILED, error, lba },
      ...{ device: host.device[hostSlot]!, count: host.count[hostSlot]! },
    };
    this.#state.inError = true;
    this.giveUpAll();
    this.#send(STATUS_QUEUE_FAILED, error, frame);
  }

  #send(status: number, error: number, frame: FisType): void {
    const { link, frames, host } = this.#front;
    this.#state.queueStatus = status;
    this.#state.queueError = error;
    const alarm = this.#front.alarms[QUEUE_ERROR_TAG]!;
    alarm.disarm();
    const frameNs = frame === FisType.SetDeviceBits ? link.deviceBitsNs : link.resultNs;
    const atNs = frames.reserve(frame, frameNs);
    if (atNs === NEVER) host.unanswered(UNQUEUED_SLOT, Awaited.QueueError);
    else alarm.armAt(atNs);
  }

  #abandon(slot: number): void {
    const { phase } = this.#slots;
    switch (phase[slot] as SlotPhase) {
      case SlotPhase.Held:
        this.dropSent(slot);
        phase[slot] = SlotPhase.Orphan;
        this.#state.orphanCount++;
        return;
      case SlotPhase.Receiving:
        this.#front.alarms[slot]!.disarm();
        phase[slot] = SlotPhase.Orphan;
        this.#state.orphanCount++;
        this.arriveEmpty(slot);
        return;
      case SlotPhase.Ending:
      case SlotPhase.Loading:
        this.#front.alarms[slot]!.disarm();
        this.dropSent(slot);
        phase[slot] = SlotPhase.Free;
        return;
      default:
    }
  }
}
