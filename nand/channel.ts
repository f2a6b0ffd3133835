/**
 * The channel buses: eight 8-bit ONFI buses, each carrying one transfer at a time.
 *
 * Transfers are served in the order they are asked for; a reservation is made at once, so a bus is
 * one number: the instant it is free from. What a transfer takes is the sequencer's to say. Bus
 * cycles are never events; a trace derives them inside one.
 */

import type { Geometry } from '../hal/geometry.ts';
import type { Saved } from '../hal/sim/snapshot.ts';

export class Channels {
  /** Instant from which each bus is free. */
  readonly freeAtNs: Float64Array;
  /** Ns each bus has carried something since power-on. */
  readonly busyNs: Float64Array;

  constructor(geometry: Geometry) {
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
