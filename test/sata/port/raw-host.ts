/**
 * A host without an adapter: it puts command frames straight into the device port and notes what
 * comes back. What a driver would never send can be sent too.
 */
import { Drive } from '../../../firmware/drive.ts';
import { TOY } from '../../../firmware/profiles/toy.ts';
import { AtaDevice } from '../../../hal/ata.ts';
import { HOST_SLOTS, PAGES_PER_COMMAND, UNQUEUED_SLOT } from '../../../hal/ports.ts';
import { Awaited, type HostSide } from '../../../sata/host-side.ts';

/** A result as the host got it; `slot` is NO_TAG for a failed queue. */
export interface Ending {
  slot: number;
  status: number;
  error: number;
  lba: number;
  count: number;
  atNs: number;
}

export const QUEUE = -1;
export const READ = 0x60;
export const WRITE = 0x61;

export interface Registers {
  opcode: number;
  feature?: number;
  lba?: number;
  count?: number;
  device?: number;
}

/** Steps that any command may take. */
const STEPS_MAX = 200_000;

/** Columns and notes of a host; the drive or port it talks to is given later. */
export class RawHostSide implements HostSide {
  readonly opcode = new Uint8Array(HOST_SLOTS);
  readonly feature = new Uint16Array(HOST_SLOTS);
  readonly lba = new Float64Array(HOST_SLOTS);
  readonly count = new Uint16Array(HOST_SLOTS);
  readonly device = new Uint8Array(HOST_SLOTS);
  readonly data = new Int32Array(HOST_SLOTS * PAGES_PER_COMMAND);
  readonly sectorData = new Uint8Array(8 * 512);
  readonly endings: Ending[] = [];
  releasedCount = 0;
  clearedCount = 0;
  signatureCount = 0;
  /** 'End 5': what was lost, as the port has said. */
  readonly unansweredNotes: string[] = [];
  now: () => number = () => 0;

  set(slot: number, { opcode, feature = 0, lba = 0, count = 0, device = 0x40 }: Registers): void {
    this.opcode[slot] = opcode;
    this.feature[slot] = feature;
    this.lba[slot] = lba;
    this.count[slot] = count;
    this.device[slot] = device;
  }

  released(): void {
    this.releasedCount++;
  }

  ended(slot: number, status: number, error: number, lba: number, count: number): void {
    this.endings.push({ slot, status, error, lba, count, atNs: this.now() });
  }

  queueFailed(status: number, error: number): void {
    this.endings.push({ slot: QUEUE, status, error, lba: 0, count: 0, atNs: this.now() });
  }

  queueCleared(): void {
    this.clearedCount++;
  }

  signature(): void {
    this.signatureCount++;
  }

  unanswered(slot: number, awaited: Awaited): void {
    this.unansweredNotes.push(`${Awaited[awaited]} ${slot}`);
  }
}

export class RawHost extends RawHostSide {
  readonly drive = new Drive(TOY);
  readonly port = this.drive.port;
  readonly sectors = TOY.identity.sectors;

  /** A toy drive that has sent its signature. */
  constructor() {
    super();
    this.now = () => this.drive.timeline.nowNs;
    this.port.attach(this);
    this.drive.powerOn();
    this.runUntil(() => this.signatureCount === 1);
  }

  runUntil(holds: () => boolean): void {
    for (let left = STEPS_MAX; !holds(); left--) {
      if (left === 0 || !this.drive.timeline.step()) throw new Error('the drive came to rest');
    }
  }

  /** Fires everything that is pending within the next `ns`. */
  runFor(ns: number): void {
    this.drive.timeline.runUntil(this.now() + ns);
  }

  /** Sends one command that is not queued and returns its result. */
  command(registers: Registers): Ending {
    this.set(UNQUEUED_SLOT, registers);
    return this.exchange(UNQUEUED_SLOT);
  }

  /** Registers of a queued command. */
  setQueued(opcode: number, tag: number, lba: number, sectors: number, fua = false): void {
    const device = AtaDevice.Lba | (fua ? AtaDevice.ForceUnitAccess : 0);
    this.set(tag, { opcode, feature: sectors & 0xffff, lba, count: tag << 3, device });
  }

  /** Sends a queued command and does not wait. */
  queue(opcode: number, tag: number, lba: number, sectors: number, fua = false): void {
    this.setQueued(opcode, tag, lba, sectors, fua);
    this.port.receive(tag);
  }

  /** Sends one queued command and returns its result. */
  queued(opcode: number, tag: number, lba: number, sectors: number, fua = false): Ending {
    this.setQueued(opcode, tag, lba, sectors, fua);
    return this.exchange(tag);
  }

  /** Sends what is in the slot's registers; returns the next result, whatever it belongs to. */
  exchange(slot: number): Ending {
    const before = this.endings.length;
    this.port.receive(slot);
    this.runUntil(() => this.endings.length > before);
    return this.endings[before]!;
  }

  /** Tags of the pages of a slot's data. */
  pages(slot: number, count: number): number[] {
    const at = slot * PAGES_PER_COMMAND;
    return Array.from(this.data.subarray(at, at + count));
  }

  setPages(slot: number, tags: readonly number[]): void {
    this.data.set(tags, slot * PAGES_PER_COMMAND);
  }

  /** IDENTIFY DEVICE words. */
  identify(): Uint16Array {
    const { status } = this.command({ opcode: 0xec });
    if (status !== 0x50) throw new Error(`IDENTIFY DEVICE ended with status ${status}`);
    return Uint16Array.from({ length: 256 }, (_, word) => {
      return this.sectorData[2 * word]! + 256 * this.sectorData[2 * word + 1]!;
    });
  }
}
