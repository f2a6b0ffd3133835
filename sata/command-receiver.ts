/**
 * The command receiver: a command FIS in, a slot for firmware out.
 *
 * The hardware accepts a command by itself: it latches it in its slot, answers a queued one with
 * BSY = 0, fetches a payload that is not user data, and then raises Irq.Host. What the standards
 * refuse before any work is done is refused here: unknown opcodes, addresses past the end, commands
 * that a queue error or a setting forbids. Sources: ACS-2; Serial ATA 3.1, 11 and 13.6.
 */

import {
  type AtaCommand,
  AtaDevice,
  AtaError,
  AtaOpcode,
  AtaProtocol,
  commandOf,
  firstSector,
  LbaWidth,
  STATUS_FAILED,
  sectorCount,
  type TaskFile,
  taskFile,
} from '../hal/ata.ts';
import { FrameVerdict } from '../hal/faults/fault-list.ts';
import { HostRequest, Irq, UNQUEUED_SLOT } from '../hal/ports.ts';
import { SECTOR_BYTES } from '../hal/sim/units.ts';
import { PowerMode } from './answers.ts';
import { type CommandEnds, CRC_ERROR } from './command-ends.ts';
import { isForceUnitAccess, isMultiple, requestOf } from './decode.ts';
import { FisType } from './fis.ts';
import type { FrontEnd } from './front-end.ts';
import { Awaited, type HostSide } from './host-side.ts';
import { SECTORS_PER_FRAME } from './link.ts';
import { NEVER } from './link-faults.ts';
import { LogAddress, readsLogPage } from './log-pages.ts';
import type { PortState } from './port-state.ts';
import type { QueueFailure } from './queue-failure.ts';
import { SlotPhase, type Slots } from './slots.ts';
import { decodeTrimRanges, TRIM_MAX_BLOCKS } from './trim-ranges.ts';

/** Payload of a command that must abort. */
const BAD_PAYLOAD = -1;
const TAG_MASK = 0x1f;

export class CommandReceiver {
  readonly #front: FrontEnd;
  readonly #state: PortState;
  readonly #slots: Slots;
  readonly #ends: CommandEnds;
  readonly #failure: QueueFailure;

  constructor(front: FrontEnd, ends: CommandEnds, failure: QueueFailure) {
    this.#front = front;
    this.#state = front.state;
    this.#slots = front.state.slots;
    this.#ends = ends;
    this.#failure = failure;
  }

  /** READ or WRITE FPDMA QUEUED; its registers are the host's at `hostSlot`. */
  receiveQueued(host: HostSide, hostSlot: number): void {
    const slots = this.#slots;
    const state = this.#state;
    const { answers } = this.#front;
    if (state.inError) {
      this.#ends.refuse(STATUS_FAILED, AtaError.Abort, 0);
      return;
    }
    const tag = (host.count[hostSlot]! >> 3) & TAG_MASK;
    if (((state.sActive >>> tag) & 1) !== 0) {
      this.#failure.failRule(true, tag, hostSlot);
      return;
    }
    const lba = host.lba[hostSlot]!;
    const sectors = host.feature[hostSlot]! || 65536;
    this.#accept(host, tag);
    answers.powerMode = PowerMode.Active;
    state.sActive |= 1 << tag;
    const isRead = host.opcode[hostSlot] === AtaOpcode.ReadFpdmaQueued;
    slots.opcode[tag] = host.opcode[hostSlot]!;
    slots.protocol[tag] = isRead ? AtaProtocol.NcqIn : AtaProtocol.NcqOut;
    slots.request[tag] = isRead ? HostRequest.Read : HostRequest.Write;
    slots.address(tag, lba, sectors);
    slots.fua[tag] = (host.device[hostSlot]! & AtaDevice.ForceUnitAccess) !== 0 ? 1 : 0;
    const capacity = answers.identity.sectors;
    if (lba + sectors > capacity) {
      this.#failure.failTag(tag, AtaError.IdNotFound, lba > capacity ? lba : capacity);
      return;
    }
    slots.begin(tag);
    this.#hold(tag);
  }

  /** Any other command; its registers are the host's at `hostSlot`. */
  receiveOther(host: HostSide, hostSlot: number): void {
    const state = this.#state;
    if (state.sActive !== 0) {
      this.#failure.failRule(false, 0, hostSlot);
      return;
    }
    const registers = registersOf(host, hostSlot);
    const command = commandOf(registers.command);
    if (command === undefined || !this.#accepts(command, registers)) {
      this.#ends.refuse(STATUS_FAILED, AtaError.Abort, 0);
      return;
    }
    state.registers = registers;
    this.#latch(command, registers);
    const slots = this.#slots;
    const capacity = this.#front.answers.identity.sectors;
    const lba = slots.lba[UNQUEUED_SLOT]!;
    if (lba + slots.sectors[UNQUEUED_SLOT]! > capacity) {
      this.#ends.refuse(STATUS_FAILED, AtaError.IdNotFound, Math.max(lba, capacity));
      return;
    }
    if (command.touchesMedia) this.#front.answers.powerMode = PowerMode.Active;
    const sectors = payloadSectorsOf(registers);
    if (sectors === BAD_PAYLOAD) this.#ends.refuse(STATUS_FAILED, AtaError.Abort, 0);
    else if (sectors > 0) this.#load(command, sectors);
    else this.#hold(UNQUEUED_SLOT);
  }

  /** The payload of slot 32 has arrived. */
  payloadArrived(): void {
    const { host, answers } = this.#front;
    const slots = this.#slots;
    if (slots.verdict[UNQUEUED_SLOT] !== FrameVerdict.Ok) {
      this.#ends.refuse(STATUS_FAILED, CRC_ERROR, 0);
      return;
    }
    const payload = host.sectorData.subarray(0, slots.pagesAsked[UNQUEUED_SLOT]! * SECTOR_BYTES);
    if (slots.opcode[UNQUEUED_SLOT] === AtaOpcode.WriteBuffer) answers.scratch.set(payload);
    else {
      const list = decodeTrimRanges(payload, answers.identity.sectors);
      if (list.firstBadLba >= 0) {
        this.#ends.refuse(STATUS_FAILED, AtaError.IdNotFound, list.firstBadLba);
        return;
      }
      this.#state.trims = list.ranges;
    }
    this.#hold(UNQUEUED_SLOT);
  }

  /** Answers a queued command with BSY = 0. */
  #accept(host: HostSide, tag: number): void {
    const { link, frames } = this.#front;
    const atNs = frames.reserve(FisType.RegisterDeviceToHost, link.resultNs);
    if (atNs === NEVER) host.unanswered(tag, Awaited.Acceptance);
    else host.released(atNs);
  }

  #accepts(command: AtaCommand, registers: TaskFile): boolean {
    const { answers } = this.#front;
    if (this.#state.inError) {
      const isDiagnostic = command.opcode === AtaOpcode.ExecuteDeviceDiagnostic;
      return isDiagnostic || readsLogPage(registers, LogAddress.NcqError);
    }
    if (command.lbaWidth === LbaWidth.Bits28 && (registers.device & AtaDevice.Lba) === 0) {
      return false;
    }
    if (isMultiple(command.opcode)) return answers.settings.multipleSectors !== 0;
    return true;
  }

  #latch(command: AtaCommand, registers: TaskFile): void {
    const slots = this.#slots;
    const slot = UNQUEUED_SLOT;
    slots.opcode[slot] = command.opcode;
    slots.protocol[slot] = command.protocol;
    slots.request[slot] = requestOf(command);
    if (command.lbaWidth === LbaWidth.None) slots.address(slot, 0, 0);
    else slots.address(slot, firstSector(command, registers), sectorCount(command, registers));
    slots.fua[slot] = isForceUnitAccess(command.opcode) ? 1 : 0;
    slots.begin(slot);
  }

  #hold(slot: number): void {
    this.#slots.phase[slot] = SlotPhase.Held;
    this.#state.commands.put(slot);
    this.#front.interrupts.raise(Irq.Host);
  }

  #load(command: AtaCommand, sectors: number): void {
    const { link, frames, alarms, host } = this.#front;
    this.#slots.phase[UNQUEUED_SLOT] = SlotPhase.Loading;
    this.#slots.pagesAsked[UNQUEUED_SLOT] = sectors;
    if (frames.armed) {
      const endNs = link.reserve(frames.burstNs(command.protocol, sectors, true, false));
      this.#slots.verdict[UNQUEUED_SLOT] = frames.outcome;
      if (frames.outcome === FrameVerdict.Lost) host.unanswered(UNQUEUED_SLOT, Awaited.End);
      else alarms[UNQUEUED_SLOT]!.armAt(endNs);
      return;
    }
    const isPio = command.protocol === AtaProtocol.PioOut;
    const dataFrames = Math.ceil(sectors / SECTORS_PER_FRAME);
    const askNs = isPio ? sectors * link.pioSetupNs : dataFrames * link.activateNs;
    alarms[UNQUEUED_SLOT]!.armAt(link.reserve(askNs + link.dataFramesNs(sectors)));
  }
}

function registersOf(host: HostSide, slot: number): TaskFile {
  return taskFile({
    command: host.opcode[slot]!,
    feature: host.feature[slot]!,
    lba: host.lba[slot]!,
    count: host.count[slot]!,
    device: host.device[slot]!,
  });
}

/** Sectors of payload that is not user data, 0 for none, BAD_PAYLOAD when it must abort. */
function payloadSectorsOf(registers: TaskFile): number {
  if (registers.command === AtaOpcode.WriteBuffer) return 1;
  if (registers.command !== AtaOpcode.DataSetManagement) return 0;
  const isTrim = (registers.feature & 1) === 1;
  const { count } = registers;
  return isTrim && count >= 1 && count <= TRIM_MAX_BLOCKS ? count : BAD_PAYLOAD;
}
