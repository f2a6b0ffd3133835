/**
 * The SATA link at 6 Gb/s: what each frame costs on the wire.
 *
 * The link carries one frame at a time in either direction. A frame costs its dwords, three more
 * for SOF, CRC and EOF, and one handshake (X_RDY/R_RDY .. WTRM/R_OK/SYNC) whose length the profile
 * assumes, within the 60-150 dwords that published ceilings leave. Two ALIGN in every 256 dwords.
 * One dword lasts 40 bit times in 8b/10b: 6.667 ns. Source: Serial ATA 3.1, link and phy layers.
 *
 * A reservation is made at once and in order, so the link is one number: the instant it is free.
 */

import type { Saveable, Saved } from '../hal/sim/snapshot.ts';
import type { Timeline } from '../hal/sim/timeline.ts';
import { SECTOR_BYTES } from '../hal/sim/units.ts';
import { FIS_DWORDS, FisType } from './fis.ts';

export interface LinkSettings {
  /** Gigabaud of the generation: 1.5, 3 or 6. */
  readonly gigabaud: number;
  /** Latency of one frame's handshake in dwords (assumed). */
  readonly handshakeDwords: number;
}

const BITS_PER_DWORD = 40;
const FRAMING_DWORDS = 3;
/** 2 ALIGN dwords follow every 254 others. */
const ALIGN_FACTOR = 256 / 254;
/** Sectors of a full data frame: 8192 bytes. */
export const SECTORS_PER_FRAME = 16;

export class Link implements Saveable {
  readonly kind = 'sata.link';
  readonly version = 1;
  readonly settings: LinkSettings;
  /** Ns of a frame without data, by FIS type. */
  readonly registerNs: number;
  readonly resultNs: number;
  readonly setupNs: number;
  readonly activateNs: number;
  readonly deviceBitsNs: number;
  readonly pioSetupNs: number;
  /** Ns of a data frame by its sectors. */
  readonly dataNs: Int32Array;
  /** Instant from which the link is free. */
  freeAtNs = 0;
  /** Ns the link has carried something since power-on. */
  busyNs = 0;
  readonly #timeline: Timeline;

  constructor(settings: LinkSettings, timeline: Timeline) {
    this.settings = settings;
    this.#timeline = timeline;
    this.registerNs = this.#frameNs(FIS_DWORDS[FisType.RegisterHostToDevice]);
    this.resultNs = this.#frameNs(FIS_DWORDS[FisType.RegisterDeviceToHost]);
    this.setupNs = this.#frameNs(FIS_DWORDS[FisType.DmaSetup]);
    this.activateNs = this.#frameNs(FIS_DWORDS[FisType.DmaActivate]);
    this.deviceBitsNs = this.#frameNs(FIS_DWORDS[FisType.SetDeviceBits]);
    this.pioSetupNs = this.#frameNs(FIS_DWORDS[FisType.PioSetup]);
    this.dataNs = new Int32Array(SECTORS_PER_FRAME + 1);
    for (let sectors = 1; sectors <= SECTORS_PER_FRAME; sectors++) {
      this.dataNs[sectors] = this.#frameNs(1 + (sectors * SECTOR_BYTES) / 4);
    }
  }

  /** Ns of the data frames that carry `sectors`. */
  dataFramesNs(sectors: number): number {
    const full = Math.floor(sectors / SECTORS_PER_FRAME);
    return full * this.dataNs[SECTORS_PER_FRAME]! + this.dataNs[sectors % SECTORS_PER_FRAME]!;
  }

  /** Reserves the link for `ns` behind what was reserved before; returns the end. */
  reserve(ns: number): number {
    const now = this.#timeline.nowNs;
    const startNs = this.freeAtNs > now ? this.freeAtNs : now;
    this.freeAtNs = startNs + ns;
    this.busyNs += ns;
    return this.freeAtNs;
  }

  /** A reset has emptied the link: what was reserved and not sent is forgotten. */
  clear(): void {
    this.freeAtNs = 0;
  }

  reset(): void {
    this.freeAtNs = 0;
    this.busyNs = 0;
  }

  save(): Saved {
    return { freeAtNs: this.freeAtNs, busyNs: this.busyNs };
  }

  restore(saved: Saved): void {
    this.freeAtNs = saved.freeAtNs as number;
    this.busyNs = saved.busyNs as number;
  }

  #frameNs(dwords: number): number {
    const sent = (dwords + FRAMING_DWORDS + this.settings.handshakeDwords) * ALIGN_FACTOR;
    return Math.ceil((sent * BITS_PER_DWORD) / this.settings.gigabaud);
  }
}
