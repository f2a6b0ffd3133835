/**
 * The device port: the front end as firmware sees it (HostPort), and as a host sees it.
 *
 * It hands each call to the part that does the work: command receiver, transfers, command ends,
 * queue failure, resets. They share one state (port-state.ts), which is what a snapshot holds.
 * While BSY is set the drive does not look at further commands. Sources: Serial ATA 3.1, ACS-2.
 */

import { AtaError, AtaOpcode, AtaStatus, STATUS_FAILED } from '../hal/ata.ts';
import { HOST_SLOTS, type HostPort, type HostStatus, UNQUEUED_SLOT } from '../hal/ports.ts';
import type { RegisterView } from '../hal/registers.ts';
import { invariant } from '../hal/sim/invariant.ts';
import { ProbeKind } from '../hal/sim/probe.ts';
import type { Saveable, Saved } from '../hal/sim/snapshot.ts';
import type { AlarmOwner } from '../hal/sim/timeline.ts';
import { type Answers, PowerMode } from './answers.ts';
import { CommandEnds } from './command-ends.ts';
import { CommandReceiver } from './command-receiver.ts';
import { type DevicePortParts, FrontEnd, QUEUE_ERROR_TAG, SIGNATURE_TAG } from './front-end.ts';
import type { HostSide } from './host-side.ts';
import type { Link } from './link.ts';
import type { LinkFaults } from './link-faults.ts';
import type { PortState } from './port-state.ts';
import { type OrphanWaiter, QueueFailure } from './queue-failure.ts';
import { Resets } from './resets.ts';
import { SlotPhase, type Slots } from './slots.ts';
import { Transfers } from './transfers.ts';

const NONE = -1;

export class DevicePort implements HostPort, AlarmOwner, OrphanWaiter, Saveable {
  readonly kind = 'sata.port';
  readonly version = 3;
  readonly slots: Slots;
  readonly answers: Answers;
  readonly link: Link;
  readonly frames: LinkFaults;
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
  readonly #transfers: Transfers;
  readonly #resets: Resets;

  constructor(parts: DevicePortParts) {
    const front = new FrontEnd(parts, this);
    this.#front = front;
    this.#state = front.state;
    this.slots = front.state.slots;
    this.link = parts.link;
    this.frames = front.frames;
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
    this.#transfers = new Transfers(front, this.#ends, this.#failure);
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

  /** Frames with a wrong CRC since power-on, both ways. */
  get crcErrorCount(): number {
    return this.frames.crcErrorCount;
  }

  /** Queued tags outstanding, one bit each. */
  get sActive(): number {
    return this.#state.sActive;
  }

  /** Slots that the host has given up and firmware still holds. */
  get orphanCount(): number {
    return this.#state.orphanCount;
  }

  registers(): RegisterView {
    const { slots, answers, frames } = this;
    const register = (name: string, offset: number, says: string, read: () => number) => ({
      ...{ name, offset, says, read },
    });
    return {
      name: 'SATA',
      baseAddress: 0x7000_0000,
      registers: [
        register('PHY_STATUS', 0x00, '1: the link is up', () => Number(this.isUp)),
        register('SACTIVE', 0x04, 'queued tags outstanding', () => this.sActive >>> 0),
        register('NCQ_ERR', 0x08, '1: log 10h must be read', () => Number(this.inError)),
        register('ORPHANS', 0x0c, 'slots given up by the host', () => this.orphanCount),
        register('POWER', 0x10, 'PowerMode: 0 active, 1 idle, 2 standby, 3 sleep', () => {
          return answers.powerMode;
        }),
        register('WCACHE', 0x14, '1: the write cache is on', () => Number(this.writeCacheOn)),
        register('CRC_ERR', 0x18, 'frames with a wrong CRC', () => frames.crcErrorCount),
        register('R_ERR_TX', 0x1c, 'R_ERR sent: frames of the host', () => frames.sentErrorCount),
        register('R_ERR_RX', 0x20, 'R_ERR received: frames of the drive', () => {
          return frames.receivedErrorCount;
        }),
        register('COMRESET', 0x24, 'COMRESETs heard', () => frames.comResetCount),
        ...Array.from(slots.phase, (_, slot) =>
          register(`SLOT${slot}`, 0x100 + slot * 4, 'SlotPhase', () => slots.phase[slot]!),
        ),
      ],
    };
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
    this.#transfers.sendPages(slot, first, count);
  }

  requestPages(slot: number, count: number): void {
    this.#transfers.requestPages(slot, count);
  }

  complete(slot: number, status: HostStatus, lba: number): void {
    this.#transfers.complete(slot, status, lba);
  }

  answerLocal(slot: number): void {
    this.#transfers.answerLocal(slot);
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

  /** A control FIS with these bits of the device control register; false when it is lost. */
  control(control: number): boolean {
    return this.#resets.control(control);
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
    this.#resets.tellHost();
  }

  /** Loss of power. */
  reset(): void {
    for (const alarm of this.#front.alarms) alarm.disarm();
    this.#state.reset();
    this.answers.reset();
    this.link.reset();
    this.frames.reset();
  }

  save(): Saved {
    return { ...this.#state.save(), frames: this.frames.save() };
  }

  restore(saved: Saved): void {
    this.#state.restore(saved);
    this.frames.restore(saved.frames as Saved);
  }

  #slotAlarm(slot: number): void {
    switch (this.slots.phase[slot] as SlotPhase) {
      case SlotPhase.Receiving:
        this.#transfers.pagesArrived(slot);
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
}
