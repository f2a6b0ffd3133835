/**
 * A LUN: registers and cells of one die behind its bus, and the operation that runs in them.
 *
 * The LUN owns no alarm. Every instant at which something ends is known when it starts; `settle`
 * carries out what has ended by now, in order, at the next look. `run` is the operation in the
 * array, `next` waits for it behind a busy register, `queue` collects the planes of a group and
 * `held` says which page lies in the data registers.
 */

import type { Saved } from '../../hal/sim/snapshot.ts';
import type { NandPart } from '../part.ts';
import { ArrayJob, JobKind } from './array-job.ts';
import type { DieArray } from './die-array.ts';
import { LunState } from './lun-table.ts';
import { OtpArea } from './otp-area.ts';
import type { PageRegister } from './page-register.ts';
import type { ViolationRule, ViolationSink } from './rules.ts';
import { composeStatus } from './status.ts';
import type { OnfiTimes } from './times.ts';

/** States fit into this many: row length of {@link Lun.moveCount}. */
export const MOVE_STRIDE = 16;

export class Lun {
  readonly part: NandPart;
  readonly times: OnfiTimes;
  readonly array: DieArray;
  readonly die: number;
  readonly #sink: ViolationSink;
  readonly planes: number;
  readonly registerBytes: number;

  state = LunState.Off;
  /** Instant from which RDY is 1 (R/B# high). */
  readyAtNs = 0;
  /** Instant from which ARDY is 1; never before readyAtNs. */
  arrayReadyAtNs = 0;
  /** WP# is high. */
  notProtected = true;

  readonly run: ArrayJob;
  readonly next: ArrayJob;
  readonly queue: ArrayJob;
  readonly held: ArrayJob;
  /** The held page is still in the cache registers, untouched: no copy is needed. */
  heldInCache = false;

  /** By plane: register on the side of the bus, and on the side of the array. */
  readonly cache: PageRegister[] = [];
  readonly data: PageRegister[] = [];
  readonly otp: OtpArea;

  /** Planes whose last operation failed, and whose operation before that failed. */
  failPlanes = 0;
  failPreviousPlanes = 0;
  /** A 15h was confirmed and no 10h since: FAIL moves to FAILC at the next program. */
  cacheProgramOpen = false;
  /** Planes whose cache register holds a page that was read from their own cells. */
  copybackPlanes = 0;
  /** The last program was refused because the OTP area is protected: status reads as if by WP#. */
  otpRefused = false;
  /** Pages left out upwards when programming, since construction: legal, but worth knowing. */
  gapCount = 0;
  /** Moves between states since construction, by from * MOVE_STRIDE + to. */
  readonly moveCount = new Uint32Array(MOVE_STRIDE * MOVE_STRIDE);

  constructor(part: NandPart, array: DieArray, times: OnfiTimes, die: number, sink: ViolationSink) {
    this.part = part;
    this.array = array;
    this.times = times;
    this.die = die;
    this.#sink = sink;
    this.planes = part.planes;
    this.registerBytes = part.pageBytes + part.spareBytes;
    this.run = new ArrayJob(part.planes);
    this.next = new ArrayJob(part.planes);
    this.queue = new ArrayJob(part.planes);
    this.held = new ArrayJob(part.planes);
    this.otp = new OtpArea(this.registerBytes);
    for (let plane = 0; plane < part.planes; plane++) {
      this.cache.push(array.makeRegister());
      this.data.push(array.makeRegister());
    }
  }

  report(rule: ViolationRule, atNs: number): void {
    this.#sink.violation(rule, this.die, atNs);
  }

  /** Moves to a state. The tables of the tests hold every move to LUN_TABLE. */
  enter(state: LunState): void {
    const move = this.state * MOVE_STRIDE + state;
    this.moveCount[move] = this.moveCount[move]! + 1;
    this.state = state;
  }

  /** Busy until `readyNs`, with array and registers alike. */
  busyUntil(readyNs: number): void {
    this.readyAtNs = readyNs;
    this.arrayReadyAtNs = readyNs;
  }

  /** Status byte for a mask of planes (ALL_PLANES for 70h). Settles first. */
  statusOf(planes: number, atNs: number): number {
    this.settle(atNs);
    const free = this.notProtected && !this.otpRefused;
    const ready = atNs >= this.readyAtNs;
    const arrayReady = atNs >= this.arrayReadyAtNs;
    return composeStatus(ready, arrayReady, free, this.failPlanes, this.failPreviousPlanes, planes);
  }

  /** Time that a job will take in the array: the slowest plane decides. */
  durationNs(job: ArrayJob): number {
    let longestNs = 0;
    for (let plane = 0; plane < this.planes; plane++) {
      if (((job.planeMask >>> plane) & 1) === 0) continue;
      const ns = this.#planeNs(job, job.blocks[plane]!);
      if (ns > longestNs) longestNs = ns;
    }
    return longestNs;
  }

  #planeNs(job: ArrayJob, block: number): number {
    switch (job.kind) {
      case JobKind.Read:
        return this.array.readNs(block, job.page);
      case JobKind.Program:
        return this.array.programNs(block, job.page);
      case JobKind.Erase:
        return this.array.eraseNs(block);
      default:
        return 0;
    }
  }

  /** Carries out everything that has ended by `atNs`, in the order in which it ended. */
  settle(atNs: number): void {
    while (this.#advance(atNs));
  }

  /** One step of {@link settle}; true when the next one may be due as well. */
  #advance(atNs: number): boolean {
    switch (this.state) {
      case LunState.Off:
      case LunState.AwaitingReset:
      case LunState.Idle:
        return false;
      case LunState.PoweringUp:
        if (atNs < this.readyAtNs) return false;
        this.enter(LunState.AwaitingReset);
        return false;
      case LunState.Resetting:
      case LunState.FeatureBusy:
      case LunState.Identifying:
        if (atNs < this.readyAtNs) return false;
        this.enter(LunState.Idle);
        return false;
      case LunState.DummyBusy:
        return this.#advanceDummy(atNs);
      case LunState.Programming:
        if (this.next.kind === JobKind.None) return this.#advanceLast(atNs);
        if (atNs < this.run.endNs) return false;
        this.#complete(this.run);
        this.#promoteProgram();
        return true;
      case LunState.CacheProgramBusy:
        return this.#advanceCacheProgram(atNs);
      case LunState.CacheReadBusy:
        return this.#advanceCacheRead(atNs);
      default:
        return this.#advanceLast(atNs);
    }
  }

  /** The only operation left ends, and with it the state. */
  #advanceLast(atNs: number): boolean {
    if (atNs < this.run.endNs) return false;
    this.#complete(this.run);
    this.enter(LunState.Idle);
    return false;
  }

  #advanceDummy(atNs: number): boolean {
    const run = this.run;
    if (run.kind !== JobKind.None && run.endNs <= this.readyAtNs) {
      if (atNs < run.endNs) return false;
      this.#complete(run);
    }
    if (atNs < this.readyAtNs) return false;
    if (run.kind === JobKind.None) this.enter(LunState.Idle);
    else if (run.kind === JobKind.Read) this.enter(LunState.CacheReading);
    else this.enter(LunState.CacheProgramming);
    return true;
  }

  #advanceCacheProgram(atNs: number): boolean {
    if (this.run.kind !== JobKind.None) {
      if (atNs < this.run.endNs) return false;
      this.#complete(this.run);
    }
    if (atNs < this.readyAtNs) return false;
    for (let plane = 0; plane < this.planes; plane++) {
      if (((this.next.planeMask >>> plane) & 1) === 0) continue;
      this.data[plane]!.copyFrom(this.cache[plane]!);
    }
    this.#promoteProgram();
    this.enter(LunState.CacheProgramming);
    return true;
  }

  #promoteProgram(): void {
    this.failPreviousPlanes = this.failPlanes;
    this.failPlanes = 0;
    this.run.copyFrom(this.next);
    this.next.clear();
  }

  #advanceCacheRead(atNs: number): boolean {
    if (this.run.kind !== JobKind.None) {
      if (atNs < this.run.endNs) return false;
      this.#complete(this.run);
    }
    if (atNs < this.readyAtNs) return false;
    const planeMask = this.held.planeMask;
    for (let plane = 0; plane < this.planes && !this.heldInCache; plane++) {
      if (((planeMask >>> plane) & 1) === 0) continue;
      this.cache[plane]!.copyFrom(this.data[plane]!);
    }
    this.copybackPlanes = planeMask;
    this.held.clear();
    if (this.next.kind === JobKind.None) {
      this.enter(LunState.Idle);
      return false;
    }
    this.run.copyFrom(this.next);
    this.next.clear();
    this.enter(LunState.CacheReading);
    return true;
  }

  /** What an operation leaves behind at its end. */
  #complete(job: ArrayJob): void {
    for (let plane = 0; plane < this.planes; plane++) {
      if (((job.planeMask >>> plane) & 1) === 0) continue;
      const register = (job.viaCache ? this.cache : this.data)[plane]!;
      if (!this.#completePlane(job, job.blocks[plane]!, register)) this.failPlanes |= 1 << plane;
    }
    if (job.kind === JobKind.Read) {
      this.held.copyFrom(job);
      this.heldInCache = job.viaCache;
      if (job.viaCache) this.copybackPlanes = job.planeMask;
    }
    job.clear();
  }

  #completePlane(job: ArrayJob, block: number, register: PageRegister): boolean {
    switch (job.kind) {
      case JobKind.Read:
        if (job.otp) this.otp.load(job.page, register);
        else this.array.load(block, job.page, register);
        return true;
      case JobKind.Program:
        if (!job.otp) return this.array.program(block, job.page, register);
        this.otp.program(job.page, register);
        return true;
      case JobKind.Erase:
        return this.array.erase(block);
      default:
        return true;
    }
  }

  save(): Saved {
    const { state, readyAtNs, arrayReadyAtNs, notProtected, heldInCache } = this;
    const { failPlanes, failPreviousPlanes, cacheProgramOpen, copybackPlanes } = this;
    return {
      ...{ state, readyAtNs, arrayReadyAtNs, notProtected, heldInCache },
      ...{ failPlanes, failPreviousPlanes, cacheProgramOpen, copybackPlanes },
      otpRefused: this.otpRefused,
      gapCount: this.gapCount,
      moveCount: this.moveCount.slice(),
      run: this.run.save(),
      next: this.next.save(),
      queue: this.queue.save(),
      held: this.held.save(),
      cache: this.cache.map((register) => register.save()),
      data: this.data.map((register) => register.save()),
      otp: this.otp.save(),
    };
  }

  restore(saved: Saved): void {
    this.state = saved.state as LunState;
    this.readyAtNs = saved.readyAtNs as number;
    this.arrayReadyAtNs = saved.arrayReadyAtNs as number;
    this.notProtected = saved.notProtected as boolean;
    this.heldInCache = saved.heldInCache as boolean;
    this.failPlanes = saved.failPlanes as number;
    this.failPreviousPlanes = saved.failPreviousPlanes as number;
    this.cacheProgramOpen = saved.cacheProgramOpen as boolean;
    this.copybackPlanes = saved.copybackPlanes as number;
    this.otpRefused = saved.otpRefused as boolean;
    this.gapCount = saved.gapCount as number;
    this.moveCount.set(saved.moveCount as Uint32Array);
    this.run.restore(saved.run as Saved);
    this.next.restore(saved.next as Saved);
    this.queue.restore(saved.queue as Saved);
    this.held.restore(saved.held as Saved);
    this.cache.forEach((register, i) => {
      register.restore((saved.cache as Saved[])[i]!);
    });
    this.data.forEach((register, i) => {
      register.restore((saved.data as Saved[])[i]!);
    });
    this.otp.restore(saved.otp as Saved);
  }
}
