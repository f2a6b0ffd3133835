/**
 * The device port: FIS in, FIS out, and the command slots between.
 *
 * The hardware accepts a command by itself (latches it in its slot, answers BSY = 0), then raises
 * Irq.Host; firmware does the rest through HostPort. Data moves in bursts: one reservation of the
 * link, one event at its end, the frames inside derived when somebody looks. Commands that need no
 * media are answered from answers.ts. Sources: Serial ATA 3.1, ACS-2.
 *
 * After a queue error everything outstanding is given up and all but reading log 10h aborts until
 * the host has read it or resets. A slot that firmware still holds then is an orphan: what it sends
 * is dropped, and answers that would let the host reuse the slot wait until it is let go.
 */

import {
  ATA_COMMANDS,
  AtaControl,
  AtaDevice,
  AtaError,
  AtaOpcode,
  AtaProtocol,
  AtaStatus,
  COMMAND_OF_OPCODE,
  firstSector,
  STATUS_FAILED,
  STATUS_GOOD,
  sectorCount,
  type TaskFile,
  taskFile,
} from '../hal/ata.ts';
import type { Content } from '../hal/content/content.ts';
import type { InterruptController } from '../hal/interrupts.ts';
import {
  HOST_SLOTS,
  type HostPort,
  HostRequest,
  HostStatus,
  Irq,
  PAGES_PER_COMMAND,
  UNQUEUED_SLOT,
} from '../hal/ports.ts';
import { invariant } from '../hal/sim/invariant.ts';
import { type Probe, ProbeKind } from '../hal/sim/probe.ts';
import type { Saveable, Saved } from '../hal/sim/snapshot.ts';
import type { Alarm, AlarmOwner, Timeline } from '../hal/sim/timeline.ts';
import { SECTOR_BYTES } from '../hal/sim/units.ts';
import { type Answers, PowerMode } from './answers.ts';
import { requestOf } from './decode.ts';
import type { HostSide } from './host-side.ts';
import type { Link } from './link.ts';
import { burstNs } from './protocol.ts';
import { SlotFifo } from './slot-fifo.ts';
import { SlotPhase, Slots } from './slots.ts';
import { decodeTrimRanges, TRIM_MAX_BLOCKS, type TrimRange } from './trim-ranges.ts';

const NONE = -1;
/** Alarm tags beyond the slots. */
const QUEUE_ERROR_TAG = HOST_SLOTS;
const SIGNATURE_TAG = HOST_SLOTS + 1;
/** From COMRESET to the signature: OOB, speed negotiation and PHY ready (assumed, mostly fixed). */
const LINK_UP_NS = 1_000_000;

export interface DevicePortParts {
  timeline: Timeline;
  probe: Probe;
  link: Link;
  answers: Answers;
  contents: Content;
  interrupts: InterruptController;
}

export class DevicePort implements HostPort, AlarmOwner, Saveable {
  readonly kind = 'sata.port';
  readonly version = 1;
  readonly slots = new Slots();
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
  /** The link is up and the signature was sent. */
  isUp = false;
  /** The queue has failed and log 10h was not read yet. */
  inError = false;
  /** Called when the signature has been sent; wiring, not state. */
  onSignature: () => void = () => {};
  /** Queued tags outstanding, as SActive shows them. */
  sActive = 0;

  readonly #probe: Probe;
  readonly #contents: Content;
  readonly #interrupts: InterruptController;
  readonly #alarms: Alarm[] = [];
  readonly #commands = new SlotFifo();
  readonly #arrivals = new SlotFifo();
  #host: HostSide | null = null;
  /** Firmware has stopped on a broken rule. */
  #failed = false;
  /** Slots in phase Orphan. */
  #orphanCount = 0;
  /** The signature waits for the orphans to be let go. */
  #signatureDue = false;
  /** SRST is set. */
  #inSoftReset = false;
  #trims: readonly TrimRange[] = [];
  /** Registers of the queue error on its way to the host. */
  #queueStatus = 0;
  #queueError = 0;

  constructor(parts: DevicePortParts) {
    this.#probe = parts.probe;
    this.link = parts.link;
    this.answers = parts.answers;
    this.#contents = parts.contents;
    this.#interrupts = parts.interrupts;
    this.request = this.slots.request;
    this.lba = this.slots.lba;
    this.sectors = this.slots.sectors;
    this.fua = this.slots.fua;
    this.content = this.slots.content;
    this.firstPage = this.slots.firstPage;
    this.offsetSectors = this.slots.offsetSectors;
    this.pages = this.slots.pages;
    for (let tag = 0; tag < HOST_SLOTS + 2; tag++) {
      const name = tag < HOST_SLOTS ? `slot${tag}` : ['queue-error', 'signature'][tag - HOST_SLOTS];
      this.#alarms.push(parts.timeline.claim(`sata.${name}`, this, tag));
    }
  }

  attach(host: HostSide): void {
    this.#host = host;
  }

  get writeCacheOn(): boolean {
    return this.answers.settings.isWriteCacheOn;
  }

  /** A command FIS has arrived; its registers are the host's at `slot`. */
  receive(slot: number): void {
    const host = this.#host!;
    const opcode = host.opcode[slot]!;
    const listener = this.#probe.listener;
    if (listener !== null) listener.note(ProbeKind.HostCommand, slot, opcode, host.count[slot]!);
    if (this.answers.powerMode === PowerMode.Sleep || !this.isUp) return;
    const queued = opcode === AtaOpcode.ReadFpdmaQueued || opcode === AtaOpcode.WriteFpdmaQueued;
    if (this.#failed) this.#refuse(STATUS_FAILED | AtaStatus.DeviceFault, AtaError.Abort, 0);
    else if (queued) this.#receiveQueued(host, host.count[slot]! >> 3, slot);
    else this.#receiveOther(host, slot);
  }

  takeCommand(): number {
    for (;;) {
      const slot = this.#commands.take();
      if (slot === NONE || this.slots.phase[slot] === SlotPhase.Held) return slot;
      this.#letGo(slot);
    }
  }

  get hasCommand(): boolean {
    return this.#commands.count > 0;
  }

  takeArrival(): number {
    return this.#arrivals.take();
  }

  /** True when the host has given the slot's command up: firmware ends it without its data. */
  isOrphan(slot: number): boolean {
    return this.slots.phase[slot] === SlotPhase.Orphan;
  }

  sendPages(slot: number, first: number, count: number): void {
    const { slots } = this;
    const last = first + count === slots.pages[slot];
    if (slots.phase[slot] === SlotPhase.Orphan) {
      this.#drop(slot, first, count);
      if (last) this.#letGo(slot);
      return;
    }
    invariant(slots.phase[slot] === SlotPhase.Held, 'pages are sent of a command that is held');
    const ns = burstNs(this.link, slots, slot, first, count, false);
    this.#noteFrames(slot, ns);
    slots.pagesMoved[slot] = first + count;
    if (last) this.#end(slot, ns, STATUS_GOOD, 0, 0, 0);
    else this.link.reserve(ns);
  }

  requestPages(slot: number, count: number): void {
    const { slots } = this;
    slots.pagesAsked[slot] = count;
    if (slots.phase[slot] === SlotPhase.Orphan) {
      this.#arrivals.put(slot);
      this.#interrupts.raise(Irq.HostData);
      return;
    }
    invariant(slots.phase[slot] === SlotPhase.Held, 'pages are asked of a command that is held');
    const first = slots.pagesMoved[slot]!;
    const activated = this.answers.settings.isAutoActivateOn;
    const ns = burstNs(this.link, slots, slot, first, count, activated);
    this.#noteFrames(slot, ns);
    slots.phase[slot] = SlotPhase.Receiving;
    this.#alarms[slot]!.armAt(this.link.reserve(ns));
  }

  complete(slot: number, status: HostStatus, lba: number): void {
    if (this.slots.phase[slot] === SlotPhase.Orphan) {
      this.#letGo(slot);
      return;
    }
    if (status === HostStatus.Good) {
      if (slot === UNQUEUED_SLOT) this.#applyPower(this.slots.opcode[slot]!);
      this.#end(slot, 0, STATUS_GOOD, 0, 0, 0);
      return;
    }
    const error = ERROR_OF[status]!;
    const fault = status === HostStatus.DeviceFault ? AtaStatus.DeviceFault : 0;
    this.#letGoHeld(slot);
    if (slot === UNQUEUED_SLOT) this.#refuse(STATUS_FAILED | fault, error, lba);
    else this.#failQueue(slot, false, error, lba);
  }

  answerLocal(slot: number): void {
    const host = this.#host!;
    if (this.slots.phase[slot] === SlotPhase.Orphan) {
      this.#letGo(slot);
      return;
    }
    const answer = this.answers.answer(registersOf(host, slot));
    let ns = 0;
    if (answer.data !== null) {
      host.sectorData.set(answer.data);
      const pio = this.slots.protocol[slot] !== AtaProtocol.DmaIn;
      ns = this.link.dataFramesNs(answer.data.length / SECTOR_BYTES);
      if (pio) ns += this.link.pioSetupNs;
    }
    const readsLog = isQueueErrorLog(host, slot);
    if (readsLog) this.#endQueueError();
    this.#end(slot, ns, answer.status, answer.error, answer.lba, answer.count);
  }

  trimCount(): number {
    return this.#trims.length;
  }

  trimLba(index: number): number {
    return this.#trims[index]!.lba;
  }

  trimSectors(index: number): number {
    return this.#trims[index]!.sectors;
  }

  linkUp(): void {
    this.#signatureDue = true;
    this.#sendSignature(LINK_UP_NS);
  }

  fail(): void {
    this.#failed = true;
    for (let slot = 0; slot < HOST_SLOTS; slot++) {
      if (this.slots.phase[slot] !== SlotPhase.Free) this.#abandon(slot);
    }
    this.#orphanCount = 0;
    this.slots.phase.fill(SlotPhase.Free);
    this.#commands.clear();
    if (this.sActive === 0) return;
    this.sActive = 0;
    this.#sendQueueError(STATUS_FAILED | AtaStatus.DeviceFault, AtaError.Abort);
  }

  /** COMRESET: everything outstanding is given up; the signature follows. */
  comReset(): void {
    this.#giveUpAll();
    this.isUp = false;
    if (this.answers.powerMode === PowerMode.Sleep) this.answers.powerMode = PowerMode.Active;
    this.linkUp();
  }

  /** A control FIS: SRST set and cleared again is a soft reset. */
  control(control: number): void {
    const softReset = (control & AtaControl.SoftReset) !== 0;
    if (softReset && !this.#inSoftReset) this.#giveUpAll();
    if (!softReset && this.#inSoftReset) {
      if (this.answers.powerMode === PowerMode.Sleep) this.answers.powerMode = PowerMode.Active;
      this.#signatureDue = true;
      this.#sendSignature(this.link.resultNs);
    }
    this.#inSoftReset = softReset;
  }

  onAlarm(tag: number): void {
    if (tag === QUEUE_ERROR_TAG) {
      this.#host!.queueFailed(this.#queueStatus, this.#queueError);
      return;
    }
    if (tag === SIGNATURE_TAG) {
      this.isUp = true;
      this.onSignature();
      this.#host?.signature();
      return;
    }
    switch (this.slots.phase[tag] as SlotPhase) {
      case SlotPhase.Receiving:
        this.#pagesArrived(tag);
        return;
      case SlotPhase.Ending:
        this.#ended(tag);
        return;
      case SlotPhase.Loading:
        this.#payloadArrived(tag);
        return;
      default:
        invariant(false, 'a slot has an alarm only while something of it is on the link');
    }
  }

  /** Loss of power. */
  reset(): void {
    for (const alarm of this.#alarms) alarm.disarm();
    this.slots.reset();
    this.#commands.clear();
    this.#arrivals.clear();
    this.answers.reset();
    this.link.reset();
    this.isUp = false;
    this.inError = false;
    this.sActive = 0;
    this.#failed = false;
    this.#orphanCount = 0;
    this.#signatureDue = false;
    this.#inSoftReset = false;
    this.#trims = [];
  }

  #receiveQueued(host: HostSide, tag: number, slot: number): void {
    const { slots } = this;
    const lba = host.lba[slot]!;
    const sectors = host.feature[slot]! || 65536;
    if (this.inError || this.#inSoftReset) {
      this.#refuse(STATUS_FAILED, AtaError.Abort, 0);
      return;
    }
    if (((this.sActive >>> tag) & 1) !== 0 || slots.phase[UNQUEUED_SLOT] !== SlotPhase.Free) {
      this.#failQueue(tag, false, AtaError.Abort, lba);
      return;
    }
    host.released(this.link.reserve(this.link.resultNs));
    this.answers.powerMode = PowerMode.Active;
    this.sActive |= 1 << tag;
    const isRead = host.opcode[slot] === AtaOpcode.ReadFpdmaQueued;
    slots.opcode[tag] = host.opcode[slot]!;
    slots.protocol[tag] = isRead ? AtaProtocol.NcqIn : AtaProtocol.NcqOut;
    slots.request[tag] = isRead ? HostRequest.Read : HostRequest.Write;
    slots.address(tag, lba, sectors);
    slots.fua[tag] = (host.device[slot]! & AtaDevice.ForceUnitAccess) !== 0 ? 1 : 0;
    slots.pagesMoved[tag] = 0;
    if (lba + sectors > this.answers.identity.sectors) {
      this.#failQueue(tag, false, AtaError.IdNotFound, Math.max(lba, this.answers.identity.sectors));
      return;
    }
    this.#hold(tag);
  }

  #receiveOther(host: HostSide, slot: number): void {
    const { slots } = this;
    const opcode = host.opcode[slot]!;
    if (this.sActive !== 0) {
      this.#failQueue(slot, true, AtaError.Abort, host.lba[slot]!);
      return;
    }
    const command = ATA_COMMANDS[COMMAND_OF_OPCODE[opcode]!];
    const readsLog = isQueueErrorLog(host, slot);
    if (command === undefined || (this.inError && !readsLog) || this.#inSoftReset) {
      this.#refuse(STATUS_FAILED, AtaError.Abort, 0);
      return;
    }
    const registers = registersOf(host, slot);
    slots.opcode[slot] = opcode;
    slots.protocol[slot] = command.protocol;
    slots.request[slot] = requestOf(command);
    if (command.lbaWidth === 0) slots.address(slot, 0, 0);
    else slots.address(slot, firstSector(command, registers), sectorCount(command, registers));
    slots.fua[slot] = opcode === AtaOpcode.WriteDmaFuaExt || opcode === 0xce ? 1 : 0;
    slots.pagesMoved[slot] = 0;
    const end = slots.lba[slot]! + slots.sectors[slot]!;
    const { sectors } = this.answers.identity;
    if (end > sectors) {
      const lba = Math.max(slots.lba[slot]!, sectors);
      this.#refuse(STATUS_FAILED, AtaError.IdNotFound, lba);
      return;
    }
    if (command.touchesMedia) this.answers.powerMode = PowerMode.Active;
    const payloadSectors = payloadSectorsOf(registers);
    if (payloadSectors < 0) this.#refuse(STATUS_FAILED, AtaError.Abort, 0);
    else if (payloadSectors > 0) this.#load(slot, payloadSectors);
    else this.#hold(slot);
  }

  #hold(slot: number): void {
    this.slots.phase[slot] = SlotPhase.Held;
    this.#commands.put(slot);
    this.#interrupts.raise(Irq.Host);
  }

  #load(slot: number, sectors: number): void {
    this.slots.phase[slot] = SlotPhase.Loading;
    this.slots.pagesAsked[slot] = sectors;
    const ns = this.link.activateNs + this.link.dataFramesNs(sectors);
    this.#alarms[slot]!.armAt(this.link.reserve(ns));
  }

  #payloadArrived(slot: number): void {
    const host = this.#host!;
    const payload = host.sectorData.subarray(0, this.slots.pagesAsked[slot]! * SECTOR_BYTES);
    if (this.slots.opcode[slot] === AtaOpcode.WriteBuffer) this.answers.scratch.set(payload);
    else {
      const list = decodeTrimRanges(payload, this.answers.identity.sectors);
      if (list.firstBadLba >= 0) {
        this.slots.phase[slot] = SlotPhase.Free;
        this.#refuse(STATUS_FAILED, AtaError.IdNotFound, list.firstBadLba);
        return;
      }
      this.#trims = list.ranges;
    }
    this.#hold(slot);
  }

  #pagesArrived(slot: number): void {
    const { slots } = this;
    const first = slots.pagesMoved[slot]!;
    const count = slots.pagesAsked[slot]!;
    const at = slot * PAGES_PER_COMMAND + first;
    const from = this.#host!.data;
    for (let i = at; i < at + count; i++) {
      const content = from[i]!;
      if (content < 0) this.#contents.retain(content);
      this.content[i] = content;
    }
    slots.pagesMoved[slot] = first + count;
    slots.phase[slot] = SlotPhase.Held;
    this.#arrivals.put(slot);
    this.#interrupts.raise(Irq.HostData);
  }

  /** Puts the frames that end a command on the link, behind `dataNs` of data. */
  #end(
    slot: number,
    dataNs: number,
    status: number,
    error: number,
    lba: number,
    count: number,
  ): void {
    const { slots, link } = this;
    invariant(slots.phase[slot] === SlotPhase.Held, 'a command ends once, while it is held');
    const isPioIn = slots.protocol[slot] === AtaProtocol.PioIn && dataNs > 0;
    let ns = slot === UNQUEUED_SLOT ? link.resultNs : link.deviceBitsNs;
    if (isPioIn) ns = 0;
    slots.phase[slot] = SlotPhase.Ending;
    slots.status[slot] = status;
    slots.error[slot] = error;
    slots.resultLba[slot] = lba;
    slots.resultCount[slot] = count;
    this.#alarms[slot]!.armAt(link.reserve(dataNs + ns));
  }

  #ended(slot: number): void {
    const { slots } = this;
    const host = this.#host!;
    const isRead = slots.request[slot] === HostRequest.Read;
    if (isRead) {
      const at = slot * PAGES_PER_COMMAND;
      const end = at + slots.pagesMoved[slot]!;
      for (let i = at; i < end; i++) host.data[i] = this.content[i]!;
    }
    slots.phase[slot] = SlotPhase.Free;
    if (slot !== UNQUEUED_SLOT) this.sActive &= ~(1 << slot);
    const listener = this.#probe.listener;
    if (listener !== null) {
      listener.note(ProbeKind.HostDone, slot, slots.status[slot]!, slots.error[slot]!);
    }
    const status = slots.status[slot]!;
    host.ended(slot, status, slots.error[slot]!, slots.resultLba[slot]!, slots.resultCount[slot]!);
  }

  /** Answers a command that never got a slot: one register FIS. */
  #refuse(status: number, error: number, lba: number): void {
    const { slots } = this;
    slots.phase[UNQUEUED_SLOT] = SlotPhase.Held;
    slots.request[UNQUEUED_SLOT] = HostRequest.Local;
    slots.protocol[UNQUEUED_SLOT] = AtaProtocol.NonData;
    this.#end(UNQUEUED_SLOT, 0, status, error, lba, 0);
  }

  #failQueue(slot: number, notQueued: boolean, error: number, lba: number): void {
    const host = this.#host!;
    this.answers.failure = {
      isQueued: !notQueued,
      tag: notQueued ? 0 : slot,
      status: STATUS_FAILED & ~AtaStatus.SeekComplete,
      error,
      lba,
      device: host.device[slot]!,
      count: host.count[slot]!,
    };
    this.inError = true;
    this.#giveUpAll();
    this.#sendQueueError(STATUS_FAILED & ~AtaStatus.SeekComplete, error);
  }

  #sendQueueError(status: number, error: number): void {
    this.#queueStatus = status;
    this.#queueError = error;
    const alarm = this.#alarms[QUEUE_ERROR_TAG]!;
    alarm.disarm();
    alarm.armAt(this.link.reserve(this.link.deviceBitsNs));
  }

  #endQueueError(): void {
    this.inError = false;
    this.link.reserve(this.link.deviceBitsNs);
  }

  #giveUpAll(): void {
    for (let slot = 0; slot < HOST_SLOTS; slot++) this.#abandon(slot);
    this.sActive = 0;
    this.#alarms[QUEUE_ERROR_TAG]!.disarm();
    this.#alarms[SIGNATURE_TAG]!.disarm();
  }

  #abandon(slot: number): void {
    const { slots } = this;
    switch (slots.phase[slot] as SlotPhase) {
      case SlotPhase.Held:
        slots.phase[slot] = SlotPhase.Orphan;
        this.#orphanCount++;
        return;
      case SlotPhase.Receiving:
        this.#alarms[slot]!.disarm();
        slots.phase[slot] = SlotPhase.Orphan;
        this.#orphanCount++;
        this.#arrivals.put(slot);
        this.#interrupts.raise(Irq.HostData);
        return;
      case SlotPhase.Ending:
      case SlotPhase.Loading:
        this.#alarms[slot]!.disarm();
        if (slots.request[slot] === HostRequest.Read) this.#drop(slot, 0, slots.pagesMoved[slot]!);
        slots.phase[slot] = SlotPhase.Free;
        return;
      default:
    }
  }

  #letGo(slot: number): void {
    this.slots.phase[slot] = SlotPhase.Free;
    this.#orphanCount--;
    if (this.#orphanCount === 0 && this.#signatureDue) this.#sendSignature(LINK_UP_NS);
  }

  #letGoHeld(slot: number): void {
    this.slots.phase[slot] = SlotPhase.Free;
  }

  #sendSignature(afterNs: number): void {
    if (this.#orphanCount > 0) return;
    this.#signatureDue = false;
    this.inError = false;
    const alarm = this.#alarms[SIGNATURE_TAG]!;
    alarm.disarm();
    alarm.armAfter(afterNs);
  }

  #drop(slot: number, first: number, count: number): void {
    const at = slot * PAGES_PER_COMMAND + first;
    for (let i = at; i < at + count; i++) {
      if (this.content[i]! < 0) this.#contents.release(this.content[i]!);
    }
  }

  /** Power modes that firmware has flushed for. */
  #applyPower(opcode: number): void {
    if (opcode === AtaOpcode.StandbyImmediate || opcode === AtaOpcode.Standby) {
      this.answers.powerMode = PowerMode.Standby;
    } else if (opcode === AtaOpcode.Sleep) this.answers.powerMode = PowerMode.Sleep;
  }

  #noteFrames(slot: number, ns: number): void {
    const listener = this.#probe.listener;
    if (listener !== null) listener.note(ProbeKind.Frame, this.slots.protocol[slot]!, slot, ns);
  }

  save(): Saved {
    return {
      slots: this.slots.save(),
      commands: this.#commands.save(),
      arrivals: this.#arrivals.save(),
      isUp: this.isUp,
      inError: this.inError,
      sActive: this.sActive,
      failed: this.#failed,
      orphanCount: this.#orphanCount,
      signatureDue: this.#signatureDue,
      inSoftReset: this.#inSoftReset,
      trims: this.#trims.flatMap((range) => [range.lba, range.sectors]),
      queueStatus: this.#queueStatus,
      queueError: this.#queueError,
    };
  }

  restore(saved: Saved): void {
    this.slots.restore(saved.slots as Saved);
    this.#commands.restore(saved.commands as Int32Array);
    this.#arrivals.restore(saved.arrivals as Int32Array);
    this.isUp = saved.isUp as boolean;
    this.inError = saved.inError as boolean;
    this.sActive = saved.sActive as number;
    this.#failed = saved.failed as boolean;
    this.#orphanCount = saved.orphanCount as number;
    this.#signatureDue = saved.signatureDue as boolean;
    this.#inSoftReset = saved.inSoftReset as boolean;
    const trims = saved.trims as number[];
    this.#trims = trims.flatMap((lba, i) => (i % 2 === 0 ? [{ lba, sectors: trims[i + 1]! }] : []));
    this.#queueStatus = saved.queueStatus as number;
    this.#queueError = saved.queueError as number;
  }
}

/** Error register of each HostStatus. */
const ERROR_OF = [
  AtaError.None,
  AtaError.Abort,
  AtaError.IdNotFound,
  AtaError.Uncorrectable,
  AtaError.Abort,
] as const;

function registersOf(host: HostSide, slot: number): TaskFile {
  return taskFile({
    command: host.opcode[slot]!,
    feature: host.feature[slot]!,
    lba: host.lba[slot]!,
    count: host.count[slot]!,
    device: host.device[slot]!,
  });
}

/** READ LOG (DMA) EXT of log 10h page 0: what ends a queue error. */
function isQueueErrorLog(host: HostSide, slot: number): boolean {
  const opcode = host.opcode[slot]!;
  if (opcode !== AtaOpcode.ReadLogExt && opcode !== AtaOpcode.ReadLogDmaExt) return false;
  return host.lba[slot] === 0x10 && host.count[slot] === 1;
}

/** Sectors of payload that is not user data: 0 for none, -1 when the command must abort. */
function payloadSectorsOf(registers: TaskFile): number {
  if (registers.command === AtaOpcode.WriteBuffer) return 1;
  if (registers.command !== AtaOpcode.DataSetManagement) return 0;
  const isTrim = (registers.feature & 1) === 1;
  const { count } = registers;
  return isTrim && count >= 1 && count <= TRIM_MAX_BLOCKS ? count : NONE;
}
