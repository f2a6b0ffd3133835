/**
 * The device port: the front end as firmware sees it (HostPort), and as a host sees it.
 *
 * A command comes in by the receiver; firmware moves its data and ends it by the methods here. Data
 * moves in bursts: one reservation of the link, one event at its end, the frames inside derived when
 * somebody looks. Commands that need no media are answered from answers.ts. While BSY is set the
 * drive does not look at further commands. Sources: Serial ATA 3.1, ACS-2.
 */

import {
  AtaError,
  AtaOpcode,
  AtaProtocol,
  AtaStatus,
  STATUS_FAILED,
  STATUS_GOOD,
} from '../hal/ata.ts';
import {
  HOST_SLOTS,
  type HostPort,
  HostStatus,
  Irq,
  PAGES_PER_COMMAND,
  UNQUEUED_SLOT,
} from '../hal/ports.ts';
import { invariant } from '../hal/sim/invariant.ts';
import { ProbeKind } from '../hal/sim/probe.ts';
import type { Saveable, Saved } from '../hal/sim/snapshot.ts';
import type { AlarmOwner } from '../hal/sim/timeline.ts';
import { SECTOR_BYTES } from '../hal/sim/units.ts';
import { type Answers, PowerMode } from './answers.ts';
import { CommandEnds } from './command-ends.ts';
import { CommandReceiver } from './command-receiver.ts';
import { type DevicePortParts, FrontEnd, QUEUE_ERROR_TAG, SIGNATURE_TAG } from './front-end.ts';
import type { HostSide } from './host-side.ts';
import type { Link } from './link.ts';
import { LogAddress, readsLogPage } from './log-pages.ts';
import type { PortState } from './port-state.ts';
import { burstNs } from './protocol.ts';
import { type OrphanWaiter, QueueFailure } from './queue-failure.ts';
import { Resets } from './resets.ts';
import { SlotPhase, type Slots } from './slots.ts';

const NONE = -1;

/** Error register of each HostStatus. */
const ERROR_OF = [
  AtaError.None,
  AtaError.Abort,
  AtaError.IdNotFound,
  AtaError.Uncorrectable,
  AtaError.Abort,
] as const;

export class DevicePort implements HostPort, AlarmOwner, OrphanWaiter, Saveable {
  readonly kind = 'sata.port';
  readonly version = 2;
  readonly slots: Slots;
  readonly answers: Answers;
  readonly link: Link;
  readonly request: Uint8Array;
  readonly lba: Float64Array;
  readonly sectors: Int32Array;
  readonly fua: Uint8Array;
  readonly content: Int32Array;
  readonly firstPage: Int32Array;
  readonly offsetSectors: Int32Array;
  readonly pages: Int32Array;
  /** Called when the signature has been sent; wiring, not state. */
  onSignature: () => void = () => {};
  readonly #front: FrontEnd;
  readonly #state: PortState;
  readonly #ends: CommandEnds;
  readonly #failure: QueueFailure;
  readonly #receiver: CommandReceiver;
  readonly #resets: Resets;

  constructor(parts: DevicePortParts) {
    const front = new FrontEnd(parts, this);
    this.#front = front;
    this.#state = front.state;
    this.slots = front.state.slots;
    this.link = parts.link;
    this.answers = parts.answers;
    this.request = this.slots.request;
    this.lba = this.slots.lba;
    this.sectors = this.slots.sectors;
    this.fua = this.slots.fua;
    this.content = this.slots.content;
    this.firstPage = this.slots.firstPage;
    this.offsetSectors = this.slots.offsetSectors;
    this.pages = this.slots.pages;
    this.#ends = new CommandEnds(front);
    this.#failure = new QueueFailure(front, this.#ends, this);
    this.#receiver = new CommandReceiver(front, this.#ends, this.#failure);
    this.#resets = new Resets(front, this.#failure);
  }

  /** Connects a host; the one before hears nothing any more. */
  attach(host: HostSide): void {
    this.#front.attach(host);
  }

  /** The signature was sent and no reset is going on. */
  get isUp(): boolean {
    return this.#state.isUp;
  }

  /** The queue has failed and log 10h was not read yet. */
  get inError(): boolean {
    return this.#state.inError;
  }

  /** Queued tags outstanding, one bit each. */
  get sActive(): number {
    return this.#state.sActive;
  }

  /** Slots that the host has given up and firmware still holds. */
  get orphanCount(): number {
    return this.#state.orphanCount;
  }

  get writeCacheOn(): boolean {
    return this.answers.settings.isWriteCacheOn;
  }

  /**
   * A command FIS has arrived; its registers are the host's at `hostSlot`. A drive that is asleep,
   * not ready or busy (BSY: a command is not accepted yet, or one that is not queued has not ended)
   * ignores it.
   */
  receive(hostSlot: number): void {
    const { host, probe } = this.#front;
    const opcode = host.opcode[hostSlot]!;
    const listener = probe.listener;
    if (listener !== null) {
      listener.note(ProbeKind.HostCommand, hostSlot, opcode, host.count[hostSlot]!);
    }
    if (this.answers.powerMode === PowerMode.Sleep || !this.#state.isUp) return;
    if (this.slots.phase[UNQUEUED_SLOT] !== SlotPhase.Free) return;
    const queued = opcode === AtaOpcode.ReadFpdmaQueued || opcode === AtaOpcode.WriteFpdmaQueued;
    if (this.#state.failed) {
      this.#ends.refuse(STATUS_FAILED | AtaStatus.DeviceFault, AtaError.Abort, 0);
    } else if (queued) this.#receiver.receiveQueued(host, hostSlot);
    else this.#receiver.receiveOther(host, hostSlot);
  }

  takeCommand(): number {
    for (;;) {
      const slot = this.#state.commands.take();
      if (slot === NONE || this.slots.phase[slot] === SlotPhase.Held) return slot;
      this.#failure.letGo(slot);
    }
  }

  get hasCommand(): boolean {
    return this.#state.commands.count > 0;
  }

  takeArrival(): number {
    return this.#state.arrivals.take();
  }

  /** True when the host has given the slot's command up: firmware ends it without its data. */
  isOrphan(slot: number): boolean {
    return this.slots.phase[slot] === SlotPhase.Orphan;
  }

  sendPages(slot: number, first: number, count: number): void {
    const { slots } = this;
    const last = first + count === slots.pages[slot];
    if (slots.phase[slot] !== SlotPhase.Held) {
      this.#failure.drop(slot, first, count);
      if (last) this.#endUnheld(slot);
      return;
    }
    const ns = burstNs(this.link, slots, slot, first, count, false);
    this.#front.noteFrames(slot, ns);
    slots.pagesMoved[slot] = first + count;
    if (last) this.#ends.end(slot, ns, STATUS_GOOD, 0, 0, 0);
    else this.link.reserve(ns);
  }

  requestPages(slot: number, count: number): void {
    const { slots } = this;
    slots.pagesAsked[slot] = count;
    if (slots.phase[slot] !== SlotPhase.Held) {
      if (slots.phase[slot] === SlotPhase.Orphan) this.#failure.arriveEmpty(slot);
      else this.#endUnheld(slot);
      return;
    }
    const first = slots.pagesMoved[slot]!;
    const activated = this.answers.settings.isAutoActivateOn;
    const ns = burstNs(this.link, slots, slot, first, count, activated);
    this.#front.noteFrames(slot, ns);
    slots.phase[slot] = SlotPhase.Receiving;
    this.#front.alarms[slot]!.armAt(this.link.reserve(ns));
  }

  complete(slot: number, status: HostStatus, lba: number): void {
    if (this.slots.phase[slot] !== SlotPhase.Held) {
      this.#endUnheld(slot);
      return;
    }
    if (status === HostStatus.Good) {
      if (slot === UNQUEUED_SLOT) this.#applyPower(this.slots.opcode[slot]!);
      this.#ends.end(slot, 0, STATUS_GOOD, 0, 0, 0);
      return;
    }
    const error = ERROR_OF[status]!;
    const fault = status === HostStatus.DeviceFault ? AtaStatus.DeviceFault : 0;
    this.#failure.dropSent(slot);
    if (slot === UNQUEUED_SLOT) this.#ends.end(slot, 0, STATUS_FAILED | fault, error, lba, 0);
    else {
      this.slots.phase[slot] = SlotPhase.Free;
      this.#failure.failTag(slot, error, lba);
    }
  }

  answerLocal(slot: number): void {
    if (this.slots.phase[slot] !== SlotPhase.Held) {
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

  trimCount(): number {
    return this.#state.trims.length;
  }

  trimLba(index: number): number {
    return this.#state.trims[index]!.lba;
  }

  trimSectors(index: number): number {
    return this.#state.trims[index]!.sectors;
  }

  linkUp(): void {
    this.#resets.linkUp();
  }

  fail(): void {
    this.#failure.failDevice();
  }

  /** COMRESET: everything outstanding is given up; the signature follows. */
  comReset(): void {
    this.#resets.comReset();
  }

  /** A control FIS with these bits of the device control register. */
  control(control: number): void {
    this.#resets.control(control);
  }

  orphansGone(): void {
    this.#resets.sendDue();
    if (this.#state.logDue) this.answerLocal(UNQUEUED_SLOT);
  }

  onAlarm(tag: number): void {
    if (tag < HOST_SLOTS) {
      this.#slotAlarm(tag);
      return;
    }
    if (tag === QUEUE_ERROR_TAG) {
      this.#failure.sent();
      return;
    }
    invariant(tag === SIGNATURE_TAG, 'an alarm of the port is one of a slot, error or signature');
    this.#resets.signatureSent();
    this.onSignature();
    if (this.#front.hasHost) this.#front.host.signature();
  }

  /** Loss of power. */
  reset(): void {
    for (const alarm of this.#front.alarms) alarm.disarm();
    this.#state.reset();
    this.answers.reset();
    this.link.reset();
  }

  save(): Saved {
    return this.#state.save();
  }

  restore(saved: Saved): void {
    this.#state.restore(saved);
  }

  #slotAlarm(slot: number): void {
    switch (this.slots.phase[slot] as SlotPhase) {
      case SlotPhase.Receiving:
        this.#pagesArrived(slot);
        return;
      case SlotPhase.Ending:
        this.#ends.ended(slot);
        return;
      case SlotPhase.Loading:
        this.#receiver.payloadArrived();
        return;
      default:
        invariant(false, 'a slot has an alarm only while something of it is on the link');
    }
  }

  #pagesArrived(slot: number): void {
    const { slots, content } = this;
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
    this.#state.arrivals.put(slot);
    this.#front.interrupts.raise(Irq.HostData);
  }

  /** Answers a command that needs no media; data comes by PIO unless the command is a DMA one. */
  #answer(slot: number): void {
    const { slots, link } = this;
    const answer = this.answers.answer(this.#state.registers);
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
    invariant(this.isOrphan(slot), 'firmware ends commands that it holds');
    this.#failure.letGo(slot);
  }

  /** Power modes that firmware has flushed for. */
  #applyPower(opcode: number): void {
    if (opcode === AtaOpcode.StandbyImmediate || opcode === AtaOpcode.Standby) {
      this.answers.powerMode = PowerMode.Standby;
    } else if (opcode === AtaOpcode.Sleep) this.answers.powerMode = PowerMode.Sleep;
  }
}
