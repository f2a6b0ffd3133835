/**
 * The registers and memory a host keeps for each command slot, until the command ends.
 *
 * Slots 0 to 31 are NCQ tags, slot 32 is the command that is not queued: what an AHCI port has as
 * its command list. Data is a handle a 4 KiB page, as everywhere in the machine. Source: ACS-2, 4.
 */

import {
  AtaDevice,
  AtaOpcode,
  AtaProtocol,
  commandOf,
  firstSector,
  LbaWidth,
  sectorCount,
  taskFile,
} from '../../hal/ata.ts';
import { HOST_SLOTS, PAGES_PER_COMMAND, UNQUEUED_SLOT } from '../../hal/ports.ts';
import type { Saved } from '../../hal/sim/snapshot.ts';
import { SECTOR_BYTES, SECTORS_PER_SLOT } from '../../hal/sim/units.ts';
import { TRIM_MAX_BLOCKS } from '../trim-ranges.ts';
import type { Outstanding } from './outstanding.ts';

export class HostRegisters {
  readonly opcode = new Uint8Array(HOST_SLOTS);
  readonly feature = new Uint16Array(HOST_SLOTS);
  readonly lba = new Float64Array(HOST_SLOTS);
  readonly count = new Uint16Array(HOST_SLOTS);
  readonly device = new Uint8Array(HOST_SLOTS);
  readonly data = new Int32Array(HOST_SLOTS * PAGES_PER_COMMAND);
  readonly sectorData = new Uint8Array(TRIM_MAX_BLOCKS * SECTOR_BYTES);
  /** Instant at which each command was given to the adapter. */
  readonly issuedNs = new Float64Array(HOST_SLOTS);

  /** Registers of a queued command; `sectors` 65536 becomes 0. */
  queued(tag: number, opcode: number, lba: number, sectors: number, device: number): void {
    this.opcode[tag] = opcode;
    this.feature[tag] = sectors & 0xffff;
    this.lba[tag] = lba;
    this.count[tag] = tag << 3;
    this.device[tag] = device | AtaDevice.Lba;
  }

  /** Registers of the command that is not queued. */
  unqueued(opcode: number, feature: number, lba: number, count: number, device: number): void {
    const slot = UNQUEUED_SLOT;
    this.opcode[slot] = opcode;
    this.feature[slot] = feature;
    this.lba[slot] = lba;
    this.count[slot] = count;
    this.device[slot] = device | AtaDevice.Lba;
  }

  /** Pages of user data of a slot's command. */
  pagesOf(slot: number): number {
    if (slot === UNQUEUED_SLOT) return this.#unqueuedPages();
    return pagesTouched(this.lba[slot]!, this.feature[slot]! || 65536);
  }

  /** Handles of a slot's pages of user data, where they are. */
  dataOf(slot: number): Int32Array {
    const at = slot * PAGES_PER_COMMAND;
    return this.data.subarray(at, at + this.pagesOf(slot));
  }

  /** Whether a slot's command brings user data to the host. */
  isRead(slot: number): boolean {
    if (slot !== UNQUEUED_SLOT) return this.opcode[slot] === AtaOpcode.ReadFpdmaQueued;
    const protocol = commandOf(this.opcode[slot]!)?.protocol;
    return protocol === AtaProtocol.PioIn || protocol === AtaProtocol.DmaIn;
  }

  /** Data is saved for the writes in use: what a read brings is there when it ends. */
  save(outstanding: Outstanding): Saved {
    const data: number[] = [];
    for (let slot = 0; slot < HOST_SLOTS; slot++) {
      if (!outstanding.uses(slot) || this.isRead(slot)) continue;
      const at = slot * PAGES_PER_COMMAND;
      data.push(...this.data.subarray(at, at + this.pagesOf(slot)));
    }
    return {
      ...{ opcode: this.opcode.slice(), feature: this.feature.slice(), lba: this.lba.slice() },
      ...{ count: this.count.slice(), device: this.device.slice() },
      ...{ issuedNs: this.issuedNs.slice(), sectorData: this.sectorData.slice() },
      data: Int32Array.from(data),
    };
  }

  restore(saved: Saved, outstanding: Outstanding): void {
    this.opcode.set(saved.opcode as Uint8Array);
    this.feature.set(saved.feature as Uint16Array);
    this.lba.set(saved.lba as Float64Array);
    this.count.set(saved.count as Uint16Array);
    this.device.set(saved.device as Uint8Array);
    this.issuedNs.set(saved.issuedNs as Float64Array);
    this.sectorData.set(saved.sectorData as Uint8Array);
    const data = saved.data as Int32Array;
    let from = 0;
    for (let slot = 0; slot < HOST_SLOTS; slot++) {
      if (!outstanding.uses(slot) || this.isRead(slot)) continue;
      const pages = this.pagesOf(slot);
      this.data.set(data.subarray(from, from + pages), slot * PAGES_PER_COMMAND);
      from += pages;
    }
  }

  #unqueuedPages(): number {
    const slot = UNQUEUED_SLOT;
    const command = commandOf(this.opcode[slot]!);
    if (command === undefined || command.lbaWidth === LbaWidth.None) return 0;
    const [lba, count, device] = [this.lba[slot]!, this.count[slot]!, this.device[slot]!];
    const registers = taskFile({ lba, count, device });
    return pagesTouched(firstSector(command, registers), sectorCount(command, registers));
  }
}

function pagesTouched(lba: number, sectors: number): number {
  const offset = lba - Math.floor(lba / SECTORS_PER_SLOT) * SECTORS_PER_SLOT;
  return (offset + sectors + SECTORS_PER_SLOT - 1) >> 3;
}
