/**
 * The channel buses: eight 8-bit ONFI buses, each carrying one transfer at a time.
 *
 * Transfers are served in the order they are asked for; a reservation is made at once, so a bus is
 * one number: the instant it is free from. Command, address and turn-around cycles are charged with
 * each operation (tWB, tADL, tWHR and six or seven cycles of tCAD: about 0.35 us, ONFI 2.2 tables).
 * Bus cycles are never events; a trace derives them inside one.
 */

import type { Geometry } from '../hal/geometry.ts';
import type { Saved } from '../hal/sim/snapshot.ts';
import { type BusMode, nsPerByte } from './part.ts';

/** Command, address and wait cycles of one operation. */
export const COMMAND_NS = 350;

export class Channels {
  /** Ns to move the data and spare bytes of `n` slots, by n. */
  readonly slotsNs: Int32Array;
  /** Instant from which each bus is free. */
  readonly freeAtNs: Float64Array;
  /** Ns each bus has carried something since power-on. */
  readonly busyNs: Float64Array;

  constructor(geometry: Geometry, bus: BusMode) {
    const bytesPerSlot = (geometry.pageBytes + geometry.spareBytes) / geometry.slotsPerPage;
    this.slotsNs = new Int32Array(geometry.slotsPerUnit + 1);
    for (let n = 1; n < this.slotsNs.length; n++) {
      this.slotsNs[n] = Math.ceil(n * bytesPerSlot * nsPerByte(bus));
    }
    this.freeAtNs = new Float64Array(geometry.channels);
    this.busyNs = new Float64Array(geometry.channels);
  }

  /** Reserves `ns` on a bus from `nowNs` on, behind what was reserved before; returns its end. */
  reserve(channel: number, nowNs: number, ns: number): number {
    const freeAtNs = this.freeAtNs[channel]!;
    const endNs = (freeAtNs > nowNs ? freeAtNs : nowNs) + ns;
    this.freeAtNs[channel] = endNs;
    this.busyNs[channel] = this.busyNs[channel]! + ns;
    return endNs;
  }

  reset(): void {
    this.freeAtNs.fill(0);
    this.busyNs.fill(0);
  }

  save(): Saved {
    return { freeAtNs: this.freeAtNs.slice(), busyNs: this.busyNs.slice() };
  }

  restore(saved: Saved): void {
    this.freeAtNs.set(saved.freeAtNs as Float64Array);
    this.busyNs.set(saved.busyNs as Float64Array);
  }
}
