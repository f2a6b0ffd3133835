/**
 * The command slots of the front end: 32 queued ones and the one that is not.
 *
 * What a slot holds is set when its command arrives and read by firmware through HostPort. The
 * phase table is data (law L8); the running code is in the parts of the device port, and the tests
 * hold every write of a phase to the table. Source: Serial ATA 3.1, 11 (cut to what firmware sees).
 */

import { HOST_SLOTS, PAGES_PER_COMMAND } from '../hal/ports.ts';
import type { Saved } from '../hal/sim/snapshot.ts';
import type { MachineTable } from '../hal/sim/state-machine.ts';

export enum SlotPhase {
  Free,
  /** Payload that is not user data is on its way to the device. */
  Loading,
  /** Firmware has the command. */
  Held,
  /** Pages of a write are on the link. */
  Receiving,
  /** The frames that end the command are on the link. */
  Ending,
  /** The host has given the command up (reset, queue error); firmware still holds it. */
  Orphan,
}

export enum SlotEvent {
  Command,
  PayloadCommand,
  PayloadArrived,
  Request,
  PagesArrived,
  End,
  Ended,
  Fail,
  Abandon,
  LetGo,
}

export const SLOT_TABLE: MachineTable = {
  name: 'slot',
  states: SlotPhase,
  events: SlotEvent,
  initial: SlotPhase.Free,
  transitions: [
    { from: 0, on: SlotEvent.Command, to: SlotPhase.Held, says: 'the command is accepted' },
    { from: 0, on: SlotEvent.PayloadCommand, to: SlotPhase.Loading, says: 'its list follows' },
    { from: SlotPhase.Loading, on: SlotEvent.PayloadArrived, to: SlotPhase.Held, says: 'complete' },
    { from: SlotPhase.Loading, on: SlotEvent.Abandon, to: SlotPhase.Free, says: 'reset' },
    { from: SlotPhase.Held, on: SlotEvent.Request, to: SlotPhase.Receiving, says: 'room for data' },
    { from: SlotPhase.Receiving, on: SlotEvent.PagesArrived, to: SlotPhase.Held, says: 'in DRAM' },
    { from: SlotPhase.Held, on: SlotEvent.End, to: SlotPhase.Ending, says: 'firmware is done' },
    { from: SlotPhase.Ending, on: SlotEvent.Ended, to: SlotPhase.Free, says: 'the host knows' },
    { from: SlotPhase.Held, on: SlotEvent.Fail, to: SlotPhase.Free, says: 'the queue fails' },
    { from: SlotPhase.Held, on: SlotEvent.Abandon, to: SlotPhase.Orphan, says: 'given up' },
    { from: SlotPhase.Receiving, on: SlotEvent.Abandon, to: SlotPhase.Orphan, says: 'given up' },
    { from: SlotPhase.Ending, on: SlotEvent.Abandon, to: SlotPhase.Free, says: 'given up' },
    { from: SlotPhase.Orphan, on: SlotEvent.LetGo, to: SlotPhase.Free, says: 'firmware let go' },
  ],
};

export class Slots {
  readonly phase = new Uint8Array(HOST_SLOTS);
  readonly opcode = new Uint8Array(HOST_SLOTS);
  readonly protocol = new Uint8Array(HOST_SLOTS);
  readonly request = new Uint8Array(HOST_SLOTS);
  readonly lba = new Float64Array(HOST_SLOTS);
  readonly sectors = new Int32Array(HOST_SLOTS);
  readonly fua = new Uint8Array(HOST_SLOTS);
  /** Derived from lba and sectors: first 4 KiB page, sector of it that the command begins at. */
  readonly firstPage = new Int32Array(HOST_SLOTS);
  readonly offsetSectors = new Int32Array(HOST_SLOTS);
  /** 4 KiB pages the command touches. */
  readonly pages = new Int32Array(HOST_SLOTS);
  /** Pages of a write that have been asked for, or of a read that have been sent. */
  readonly pagesMoved = new Int32Array(HOST_SLOTS);
  /** Pages asked for by the last request. */
  readonly pagesAsked = new Int32Array(HOST_SLOTS);
  /**
   * FrameVerdict of the command's frames. Corrupt: the data on the link is discarded when it is
   * there. Lost: nothing of the command moves until a reset.
   */
  readonly verdict = new Uint8Array(HOST_SLOTS);
  /** Result registers while Ending. */
  readonly status = new Uint8Array(HOST_SLOTS);
  readonly error = new Uint8Array(HOST_SLOTS);
  readonly resultLba = new Float64Array(HOST_SLOTS);
  readonly resultCount = new Int32Array(HOST_SLOTS);
  /** Data handles in DRAM, PAGES_PER_COMMAND a slot. */
  readonly content = new Int32Array(HOST_SLOTS * PAGES_PER_COMMAND);

  /** Begins a command's data: no page of an earlier one is left in the slot. */
  begin(slot: number): void {
    this.pagesMoved[slot] = 0;
    this.verdict[slot] = 0;
  }

  /** Sets what a command addresses. */
  address(slot: number, lba: number, sectors: number): void {
    const firstPage = Math.floor(lba / 8);
    const offset = lba - firstPage * 8;
    this.lba[slot] = lba;
    this.sectors[slot] = sectors;
    this.firstPage[slot] = firstPage;
    this.offsetSectors[slot] = offset;
    this.pages[slot] = (offset + sectors + 7) >> 3;
  }

  /** Sectors of the command within its pages `first` .. `first + count - 1`. */
  sectorsOfPages(slot: number, first: number, count: number): number {
    const offset = this.offsetSectors[slot]!;
    const begin = first === 0 ? 0 : first * 8 - offset;
    const end = (first + count) * 8 - offset;
    const sectors = this.sectors[slot]!;
    return (end < sectors ? end : sectors) - begin;
  }

  #columns(): { [name: string]: Uint8Array | Int32Array | Float64Array } {
    const { phase, opcode, protocol, request, lba, sectors, fua, pagesMoved, pagesAsked } = this;
    const { firstPage, offsetSectors, pages } = this;
    const { verdict, status, error, resultLba, resultCount } = this;
    return {
      ...{ phase, opcode, protocol, request, lba, sectors, fua, pagesMoved, pagesAsked },
      ...{ firstPage, offsetSectors, pages, verdict, status, error, resultLba, resultCount },
    };
  }

  reset(): void {
    for (const column of Object.values(this.#columns())) column.fill(0);
  }

  /** Content is saved for slots in use only. */
  save(): Saved {
    const columns = Object.entries(this.#columns()).map(([name, c]) => [name, c.slice()]);
    const content: number[] = [];
    for (let slot = 0; slot < HOST_SLOTS; slot++) {
      if (this.phase[slot] === SlotPhase.Free) continue;
      const at = slot * PAGES_PER_COMMAND;
      content.push(...this.content.subarray(at, at + this.pages[slot]!));
    }
    return { ...Object.fromEntries(columns), content: Int32Array.from(content) };
  }

  restore(saved: Saved): void {
    for (const [name, column] of Object.entries(this.#columns())) {
      column.set(saved[name] as Int32Array);
    }
    // What a free slot held belongs to another instant: a page is zero until it has come.
    this.content.fill(0);
    const content = saved.content as Int32Array;
    let from = 0;
    for (let slot = 0; slot < HOST_SLOTS; slot++) {
      if (this.phase[slot] === SlotPhase.Free) continue;
      const pages = this.pages[slot]!;
      this.content.set(content.subarray(from, from + pages), slot * PAGES_PER_COMMAND);
      from += pages;
    }
  }
}
