/**
 * Transfers: what firmware does with the commands it holds, from data to their ends.
 *
 * Data moves in bursts: one reservation of the link, one event at its end, the frames inside
 * derived when somebody looks. A slot that is not held any more was given up: its data is dropped.
 * Sources: Serial ATA 3.1, 11; ACS-2.
 */

import {
  AtaError,
  AtaOpcode,
  AtaProtocol,
  AtaStatus,
  STATUS_FAILED,
  STATUS_GOOD,
} from '../hal/ata.ts';
import { FrameVerdict } from '../hal/faults/fault-list.ts';
import { HostStatus, Irq, PAGES_PER_COMMAND, UNQUEUED_SLOT } from '../hal/ports.ts';
import { invariant } from '../hal/sim/invariant.ts';
import { SECTOR_BYTES, SLOT_BYTES } from '../hal/sim/units.ts';
import { PowerMode } from './answers.ts';
import type { CommandEnds } from './command-ends.ts';
import type { FrontEnd } from './front-end.ts';
import { Awaited } from './host-side.ts';
import type { Link } from './link.ts';
import type { LinkFaults } from './link-faults.ts';
import { LogAddress, readsLogPage } from './log-pages.ts';
import type { PortState } from './port-state.ts';
import { burstNs } from './protocol.ts';
import type { QueueFailure } from './queue-failure.ts';
import { SlotPhase, type Slots } from './slots.ts';

/** Error register of each HostStatus. */
const ERROR_OF = [
  AtaError.None,
  AtaError.Abort,
  AtaError.IdNotFound,
  AtaError.Uncorrectable,
  AtaError.Abort,
] as const;

export class Transfers {
  readonly #front: FrontEnd;
  readonly #state: PortState;
  readonly #slots: Slots;
  readonly #link: Link;
  readonly #frames: LinkFaults;
  readonly #ends: CommandEnds;
  readonly #failure: QueueFailure;

  constructor(front: FrontEnd, ends: CommandEnds, failure: QueueFailure) {
    this.#front = front;
    this.#state = front.state;
    this.#slots = front.state.slots;
    this.#link = front.link;
    this.#frames = front.frames;
    this.#ends = ends;
    this.#failure = failure;
  }

  sendPages(slot: number, first: number, count: number): void {
    const slots = this.#slots;
    const last = first + count === slots.pages[slot];
    if (slots.phase[slot] !== SlotPhase.Held) {
      this.#failure.drop(slot, first, count);
      if (last) this.#endUnheld(slot);
      return;
    }
    if (this.#frames.armed || slots.verdict[slot] !== FrameVerdict.Ok) {
      this.#sendUnderFaults(slot, first, count);
      return;
    }
    const ns = burstNs(this.#link, slots, slot, first, count, false);
    this.#front.noteFrames(slot, ns);
    slots.pagesMoved[slot] = first + count;
    this.#front.dram.charge(count * SLOT_BYTES);
    if (last) this.#ends.end(slot, ns, STATUS_GOOD, 0, 0, 0);
    else this.#link.reserve(ns);
  }

  requestPages(slot: number, count: number): void {
    const slots = this.#slots;
    slots.pagesAsked[slot] = count;
    if (slots.phase[slot] !== SlotPhase.Held) {
      if (slots.phase[slot] === SlotPhase.Orphan) this.#failure.arriveEmpty(slot);
      else this.#endUnheld(slot);
      return;
    }
    const first = slots.pagesMoved[slot]!;
    const activated = this.#front.answers.settings.isAutoActivateOn;
    const isArmed = this.#frames.armed;
    const ns = isArmed
      ? this.#faultyNs(slot, first, count, activated)
      : burstNs(this.#link, slots, slot, first, count, activated);
    this.#front.noteFrames(slot, ns);
    slots.phase[slot] = SlotPhase.Receiving;
    const endNs = this.#link.reserve(ns);
    if (isArmed) {
      slots.verdict[slot] = this.#frames.outcome;
      if (this.#frames.outcome === FrameVerdict.Lost) {
        this.#front.host.unanswered(slot, Awaited.End);
        return;
      }
    }
    this.#front.alarms[slot]!.armAt(endNs);
  }

  complete(slot: number, status: HostStatus, lba: number): void {
    if (this.#slots.phase[slot] !== SlotPhase.Held) {
      this.#endUnheld(slot);
      return;
    }
    if (status === HostStatus.Good) {
      if (slot === UNQUEUED_SLOT) this.#applyPower(this.#slots.opcode[slot]!);
      this.#ends.end(slot, 0, STATUS_GOOD, 0, 0, 0);
      return;
    }
    const error = ERROR_OF[status]!;
    const fault = status === HostStatus.DeviceFault ? AtaStatus.DeviceFault : 0;
    this.#failure.dropSent(slot);
    if (slot === UNQUEUED_SLOT) this.#ends.end(slot, 0, STATUS_FAILED | fault, error, lba, 0);
    else {
      this.#slots.phase[slot] = SlotPhase.Free;
      this.#failure.failTag(slot, error, lba);
    }
  }

  answerLocal(slot: number): void {
    if (this.#slots.phase[slot] !== SlotPhase.Held) {
      this.#endUnheld(slot);
      return;
    }
    const state = this.#state;
    if (state.inError && readsLogPage(state.registers, LogAddress.NcqError)) {
      state.logDue = state.orphanCount > 0;
      if (state.logDue) return;
      this.#failure.endError();
    }
    this.#answer(slot);
  }

  /** Pages of a write have arrived: firmware may take them. */
  pagesArrived(slot: number): void {
    const slots = this.#slots;
    if (slots.verdict[slot] !== FrameVerdict.Ok) {
      this.#failure.failByCrc(slot);
      return;
    }
    const { content } = slots;
    const { contents, host } = this.#front;
    const first = slots.pagesMoved[slot]!;
    const count = slots.pagesAsked[slot]!;
    const at = slot * PAGES_PER_COMMAND + first;
    const from = host.data;
    for (let i = at; i < at + count; i++) {
      const page = from[i]!;
      if (page < 0) contents.retain(page);
      content[i] = page;
    }
    slots.pagesMoved[slot] = first + count;
    slots.phase[slot] = SlotPhase.Held;
    this.#front.dram.charge(count * SLOT_BYTES);
    this.#state.arrivals.put(slot);
    this.#front.interrupts.raise(Irq.HostData);
  }

  /** Answers a command that needs no media; data comes by PIO unless the command is a DMA one. */
  #answer(slot: number): void {
    const slots = this.#slots;
    const link = this.#link;
    const answer = this.#front.answers.answer(this.#state.registers);
    let ns = 0;
    if (answer.data !== null) {
      const sectors = answer.data.length / SECTOR_BYTES;
      if (slots.protocol[slot] !== AtaProtocol.DmaIn) slots.protocol[slot] = AtaProtocol.PioIn;
      if (this.#frames.armed) {
        ns = this.#frames.burstNs(slots.protocol[slot] as AtaProtocol, sectors, true, false);
        if (this.#frames.outcome !== FrameVerdict.Ok) {
          this.#answerFailed(slot, ns);
          return;
        }
      } else {
        ns = link.dataFramesNs(sectors);
        if (slots.protocol[slot] === AtaProtocol.PioIn) ns += link.pioSetupNs;
      }
      this.#front.host.sectorData.set(answer.data);
    }
    this.#ends.end(slot, ns, answer.status, answer.error, answer.lba, answer.count);
  }

  /** Ns of the frames of a burst up to the first that goes wrong for good. */
  #faultyNs(slot: number, first: number, count: number, activated: boolean): number {
    const slots = this.#slots;
    const sectors = slots.sectorsOfPages(slot, first, count);
    const protocol = slots.protocol[slot] as AtaProtocol;
    return this.#frames.burstNs(protocol, sectors, first === 0, activated);
  }

  /** Sends pages of a read while frames may go wrong, or when one of this slot has been lost. */
  #sendUnderFaults(slot: number, first: number, count: number): void {
    const slots = this.#slots;
    const isLast = first + count === slots.pages[slot];
    slots.pagesMoved[slot] = first + count;
    this.#front.dram.charge(count * SLOT_BYTES);
    if (slots.verdict[slot] === FrameVerdict.Ok) {
      const ns = this.#faultyNs(slot, first, count, false);
      this.#front.noteFrames(slot, ns);
      const { outcome } = this.#frames;
      if (outcome === FrameVerdict.Corrupt) {
        this.#readFailed(slot, ns, isLast);
        return;
      }
      if (outcome === FrameVerdict.Ok) {
        if (isLast) this.#ends.end(slot, ns, STATUS_GOOD, 0, 0, 0);
        else this.#link.reserve(ns);
        return;
      }
      this.#link.reserve(ns);
      slots.verdict[slot] = FrameVerdict.Lost;
      this.#front.host.unanswered(slot, Awaited.End);
    }
    if (isLast) slots.phase[slot] = SlotPhase.Ending;
  }

  /** A data frame of a read has met R_ERR after `ns`; `isLast`: firmware is done with the slot. */
  #readFailed(slot: number, ns: number, isLast: boolean): void {
    this.#failure.dropSent(slot);
    if (isLast && slot === UNQUEUED_SLOT) {
      this.#ends.endByCrc(ns);
      return;
    }
    this.#link.reserve(ns);
    if (isLast) this.#slots.phase[slot] = SlotPhase.Free;
    this.#failure.failByCrc(slot);
  }

  /** The data of an answer has not arrived: its frame was lost or had a wrong CRC. */
  #answerFailed(slot: number, ns: number): void {
    if (this.#frames.outcome === FrameVerdict.Corrupt) {
      this.#ends.endByCrc(ns);
      return;
    }
    this.#link.reserve(ns);
    this.#slots.phase[slot] = SlotPhase.Ending;
    this.#front.host.unanswered(slot, Awaited.End);
  }

  /** Firmware is done with a slot that the host has given up, or that a panic has freed. */
  #endUnheld(slot: number): void {
    if (this.#state.failed) return;
    invariant(this.#slots.phase[slot] === SlotPhase.Orphan, 'firmware ends commands that it holds');
    this.#failure.letGo(slot);
  }

  /** Power modes that firmware has flushed for. */
  #applyPower(opcode: number): void {
    if (opcode === AtaOpcode.StandbyImmediate || opcode === AtaOpcode.Standby) {
      this.#front.answers.powerMode = PowerMode.Standby;
    } else if (opcode === AtaOpcode.Sleep) this.#front.answers.powerMode = PowerMode.Sleep;
  }
}
