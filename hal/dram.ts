/**
 * DDR3L: two devices (an optional third carries parity), a region map proven to fit, and the charge
 * for bandwidth.
 *
 * Regions chain: each begins where the one before it ends, as in the Barefoot family's firmware.
 * The big tables that live in DRAM are reached through `table`; after loss of power they hold
 * nothing. A bit that turns over is put right by the parity device; without one it stays. Sources:
 * two DDR3L-1600 devices of 256 MB on the Vector 256 GB and a pad for a third (AnandTech 6363, Tech
 * Report 23937); the width of 16 bits a device is assumed.
 */

import type { BandwidthPort } from './ports.ts';
import { ImpossibleProfile } from './profile.ts';
import type { RegisterView } from './registers.ts';
import type { Saveable, Saved } from './sim/snapshot.ts';
import type { Timeline } from './sim/timeline.ts';

export interface DramSettings {
  readonly devices: number;
  readonly bytesPerDevice: number;
  readonly megatransfersPerSecond: number;
  readonly busBytesPerDevice: number;
  /** A third device that carries parity is fitted. */
  readonly parityDevice: boolean;
}

export interface DramRegion {
  readonly name: string;
  readonly address: number;
  readonly bytes: number;
}

const DRAM_BASE = 0x4000_0000;

export class Dram implements BandwidthPort, Saveable {
  readonly kind = 'hal.dram';
  readonly version = 2;
  readonly settings: DramSettings;
  readonly bytes: number;
  readonly #timeline: Timeline;
  readonly #bytesPerNs: number;
  readonly #regions: DramRegion[] = [];
  #bytesUsed = 0;
  /** Bytes moved since power-on. */
  bytesMoved = 0;
  /** Bits that turned over since power-on: those put right by parity, and those that stayed. */
  correctedCount = 0;
  flippedCount = 0;
  /** Instant until which the charged transfers keep the devices busy. */
  #freeAtNs = 0;

  constructor(settings: DramSettings, timeline: Timeline) {
    this.settings = settings;
    this.bytes = settings.devices * settings.bytesPerDevice;
    this.#timeline = timeline;
    const busBytes = settings.devices * settings.busBytesPerDevice;
    this.#bytesPerNs = (settings.megatransfersPerSecond * busBytes) / 1_000;
  }

  /** Reserves the next region; throws ImpossibleProfile when it does not fit. */
  region(name: string, bytes: number): DramRegion {
    const region = { name, address: DRAM_BASE + this.#bytesUsed, bytes };
    this.#bytesUsed += bytes;
    if (this.#bytesUsed > this.bytes) {
      throw new ImpossibleProfile(
        `DRAM region '${name}' ends ${this.#bytesUsed - this.bytes} bytes past the ` +
          `${this.bytes} bytes fitted (${this.settings.devices} devices): fewer slots or more DRAM`,
      );
    }
    this.#regions.push(region);
    return region;
  }

  get regions(): readonly DramRegion[] {
    return this.#regions;
  }

  get bytesUsed(): number {
    return this.#bytesUsed;
  }

  /** Charges a transfer; returns the ns by which the devices lag behind. */
  charge(bytes: number): number {
    const now = this.#timeline.nowNs;
    const startNs = this.#freeAtNs > now ? this.#freeAtNs : now;
    this.bytesMoved += bytes;
    this.#freeAtNs = startNs + bytes / this.#bytesPerNs;
    return this.#freeAtNs - now;
  }

  /** Ns the devices have spent on transfers since power-on. */
  get busyNs(): number {
    return this.bytesMoved / this.#bytesPerNs;
  }

  /** A bit turns over; true when it stays so because there is no parity to put it right. */
  flip(): boolean {
    if (this.settings.parityDevice) {
      this.correctedCount++;
      return false;
    }
    this.flippedCount++;
    return true;
  }

  reset(): void {
    this.#freeAtNs = 0;
    this.bytesMoved = 0;
    this.correctedCount = 0;
    this.flippedCount = 0;
  }

  registers(): RegisterView {
    return {
      name: 'SDRAM',
      baseAddress: 0x4800_0000,
      registers: [
        { name: 'SIZE', offset: 0x00, says: 'bytes fitted', read: () => this.bytes },
        { name: 'USED', offset: 0x04, says: 'bytes in regions', read: () => this.#bytesUsed },
        { name: 'DEVICES', offset: 0x08, says: 'devices', read: () => this.settings.devices },
        {
          name: 'PARITY',
          offset: 0x10,
          says: '1: a third device carries parity',
          read: () => Number(this.settings.parityDevice),
        },
        { name: 'MOVED', offset: 0x0c, says: 'bytes moved', read: () => this.bytesMoved },
        {
          name: 'CORRECTED',
          offset: 0x14,
          says: 'bits put right by parity',
          read: () => this.correctedCount,
        },
        {
          name: 'FLIPPED',
          offset: 0x18,
          says: 'bits that turned over and stayed',
          read: () => this.flippedCount,
        },
      ],
    };
  }

  save(): Saved {
    const { bytesMoved, correctedCount, flippedCount } = this;
    return { bytesMoved, correctedCount, flippedCount, freeAtNs: this.#freeAtNs };
  }

  restore(saved: Saved): void {
    this.bytesMoved = saved.bytesMoved as number;
    this.correctedCount = saved.correctedCount as number;
    this.flippedCount = saved.flippedCount as number;
    this.#freeAtNs = saved.freeAtNs as number;
  }
}
