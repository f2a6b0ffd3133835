/**
 * Ends of commands: the frames that close a command, and what the host is told then.
 *
 * A queued command ends with Set Device Bits, any other with a register FIS; a command that sent
 * data by PIO ends with its last data frame (Serial ATA 3.1, 11). A register FIS carries no tag, so
 * a command that was never accepted ends in slot 32 whatever it was.
 */

import { AtaError, AtaProtocol, AtaStatus, STATUS_FAILED } from '../hal/ata.ts';
import { HostRequest, PAGES_PER_COMMAND, UNQUEUED_SLOT } from '../hal/ports.ts';
import { invariant } from '../hal/sim/invariant.ts';
import { ProbeKind } from '../hal/sim/probe.ts';
import { FisType } from './fis.ts';
import type { FrontEnd } from './front-end.ts';
import { Awaited } from './host-side.ts';
import type { Link } from './link.ts';
import { NEVER } from './link-faults.ts';
import type { PortState } from './port-state.ts';
import { SlotPhase, type Slots } from './slots.ts';

/** Error register of a command whose data had a wrong CRC (ACS-2: ICRC, and ABRT with it). */
export const CRC_ERROR = AtaError.InterfaceCrc | AtaError.Abort;

export class CommandEnds {
  readonly #front: FrontEnd;
  readonly #state: PortState;
  readonly #slots: Slots;
  readonly #link: Link;

  constructor(front: FrontEnd) {
    this.#front = front;
    this.#state = front.state;
    this.#slots = front.state.slots;
    this.#link = front.link;
  }

  /** Puts the frames that end a held command on the link, behind `dataNs` of data. */
  end(
    slot: number,
    dataNs: number,
    status: number,
    error: number,
    lba: number,
    count: number,
  ): void {
    const slots = this.#slots;
    invariant(slots.phase[slot] === SlotPhase.Held, 'a command ends once, while it is held');
    slots.phase[slot] = SlotPhase.Ending;
    slots.status[slot] = status;
    slots.error[slot] = error;
    slots.resultLba[slot] = lba;
    slots.resultCount[slot] = count;
    const endNs = this.#endNs(slot, dataNs, status);
    if (endNs === NEVER) this.#front.host.unanswered(slot, Awaited.End);
    else this.#front.alarms[slot]!.armAt(endNs);
  }

  /** The last frame has arrived: the slot is free and the host has its command's result. */
  ended(slot: number): void {
    const slots = this.#slots;
    const host = this.#front.host;
    if (slots.request[slot] === HostRequest.Read) {
      const at = slot * PAGES_PER_COMMAND;
      const end = at + slots.pagesMoved[slot]!;
      for (let i = at; i < end; i++) {
        host.data[i] = slots.content[i]!;
        slots.content[i] = 0;
      }
    }
    slots.phase[slot] = SlotPhase.Free;
    if (slot !== UNQUEUED_SLOT) this.#state.sActive &= ~(1 << slot);
    const status = slots.status[slot]!;
    const error = slots.error[slot]!;
    const listener = this.#front.probe.listener;
    if (listener !== null) listener.note(ProbeKind.HostDone, slot, status, error);
    host.ended(slot, status, error, slots.resultLba[slot]!, slots.resultCount[slot]!);
  }

  /** Answers a command that gets no further: one register FIS. Slot 32 must be free. */
  refuse(status: number, error: number, lba: number): void {
    const slots = this.#slots;
    slots.phase[UNQUEUED_SLOT] = SlotPhase.Held;
    slots.request[UNQUEUED_SLOT] = HostRequest.Local;
    slots.protocol[UNQUEUED_SLOT] = AtaProtocol.NonData;
    this.end(UNQUEUED_SLOT, 0, status, error, lba, 0);
  }

  /** Ends a held command of slot 32 by a data frame of wrong CRC, behind `dataNs` of data. */
  endByCrc(dataNs: number): void {
    const lba = this.#slots.lba[UNQUEUED_SLOT]!;
    this.end(UNQUEUED_SLOT, dataNs, STATUS_FAILED, CRC_ERROR, lba, 0);
  }

  /** When the last frame of a command has arrived, which goes behind `dataNs` of data. */
  #endNs(slot: number, dataNs: number, status: number): number {
    const { frames } = this.#front;
    const link = this.#link;
    const isPioIn = this.#slots.protocol[slot] === AtaProtocol.PioIn;
    const endsWithData = isPioIn && dataNs > 0 && (status & AtaStatus.Error) === 0;
    if (endsWithData) return link.reserve(dataNs);
    if (slot === UNQUEUED_SLOT) {
      return frames.reserve(FisType.RegisterDeviceToHost, link.resultNs, dataNs);
    }
    return frames.reserve(FisType.SetDeviceBits, link.deviceBitsNs, dataNs);
  }
}
