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
import { HostStatus, Irq, PAGES_PER_COMMAND, UNQUEUED_SLOT } from '../hal/ports.ts';
import { invariant } from '../hal/sim/invariant.ts';
import { SECTOR_BYTES, SLOT_BYTES } from '../hal/sim/units.ts';
import { PowerMode } from './answers.ts';
import type { CommandEnds } from './command-ends.ts';
import type { FrontEnd } from './front-end.ts';
import type { Link } from './link.ts';
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
  readonly #ends: CommandEnds;
  readonly #failure: QueueFailure;

  constructor(front: FrontEnd, ends: CommandEnds, failure: QueueFailure) {
    this.#front = front;
    this.#state = front.state;
    this.#slots = front.state.slots;
    this.#link = front.link;
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
    const ns = burstNs(this.#link, slots, slot, first, count, activated);
    this.#front.noteFrames(slot, ns);
    slots.phase[slot] = SlotPhase.Receiving;
    this.#front.alarms[slot]!.armAt(this.#link.reserve(ns));
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
      this.#front.host.sectorData.set(answer.data);
      ns = link.dataFramesNs(answer.data.length / SECTOR_BYTES);
      if (slots.protocol[slot] !== AtaProtocol.DmaIn) {
        slots.protocol[slot] = AtaProtocol.PioIn;
        ns += link.pioSetupNs;
      }
    }
    this.#ends.end(slot, ns, answer.status, answer.error, answer.lba, answer.count);
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
