/**
 * An array job: one read, program or erase of one page or block in one or more planes of a LUN.
 *
 * A LUN owns a handful of jobs and copies between them; none is made while it works.
 */

import type { Saved } from '../../hal/sim/snapshot.ts';

export enum JobKind {
  None,
  Read,
  Program,
  Erase,
}

export class ArrayJob {
  kind = JobKind.None;
  /** Planes that take part: bit p for plane p; 0 exactly when the kind is None. */
  planeMask = 0;
  /** Block of each plane that takes part, numbered over the die. */
  readonly blocks: Int32Array;
  /** Page in all of them; 0 for an erase. */
  page = 0;
  /** Pages of the OTP area instead of the array. */
  otp = false;
  /** The cells exchange data with the cache registers, else with the data registers. */
  viaCache = false;
  startNs = 0;
  endNs = 0;

  constructor(planes: number) {
    this.blocks = new Int32Array(planes);
  }

  clear(): void {
    this.kind = JobKind.None;
    this.planeMask = 0;
  }

  copyFrom(other: ArrayJob): void {
    this.kind = other.kind;
    this.planeMask = other.planeMask;
    for (let plane = 0; plane < this.blocks.length; plane++) {
      this.blocks[plane] = other.blocks[plane]!;
    }
    this.page = other.page;
    this.otp = other.otp;
    this.viaCache = other.viaCache;
    this.startNs = other.startNs;
    this.endNs = other.endNs;
  }

  /** Part of its time that has passed at an instant, 0 to 1. */
  fractionAt(atNs: number): number {
    if (atNs <= this.startNs) return 0;
    return Math.min(1, (atNs - this.startNs) / (this.endNs - this.startNs));
  }

  save(): Saved {
    const { kind, planeMask, page, otp, viaCache, startNs, endNs } = this;
    return { kind, planeMask, blocks: this.blocks.slice(), page, otp, viaCache, startNs, endNs };
  }

  restore(saved: Saved): void {
    this.kind = saved.kind as JobKind;
    this.planeMask = saved.planeMask as number;
    this.blocks.set(saved.blocks as Int32Array);
    this.page = saved.page as number;
    this.otp = saved.otp as boolean;
    this.viaCache = saved.viaCache as boolean;
    this.startNs = saved.startNs as number;
    this.endNs = saved.endNs as number;
  }
}
