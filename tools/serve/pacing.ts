/**
 * Pacing: which emulated instant belongs to a moment of the wall clock.
 *
 * Emulated time is anchored to the wall clock once and then moves with it. An emulator that cannot
 * keep up falls behind; from `LAG_MAX_NS` on the anchor is moved, so that what was lost is not made
 * up by serving later requests faster than the drive would.
 */

const NS_PER_MS = 1_000_000;
const LAG_MAX_NS = 100 * NS_PER_MS;
/** Shorter waits are spun: a timer of the event loop is good to a millisecond. */
const TIMER_MIN_MS = 2;

export class Pacer {
  /** Emulated time given up because the emulator was too slow, in ns. */
  lostNs = 0;
  #anchorMs = 0;
  #anchorNs = 0;

  /** From now on emulated `ns` is wall clock `nowMs`. */
  anchor(nowMs: number, ns: number): void {
    this.#anchorMs = nowMs;
    this.#anchorNs = ns;
  }

  /** The emulated instant that the wall clock shows, in whole ns. */
  targetNs(nowMs: number): number {
    return this.#anchorNs + Math.floor((nowMs - this.#anchorMs) * NS_PER_MS);
  }

  /** Emulated time has come to `ns` only: moves the anchor when that is far behind. */
  reached(nowMs: number, ns: number): void {
    const behindNs = this.targetNs(nowMs) - ns;
    if (behindNs <= LAG_MAX_NS) return;
    this.lostNs += behindNs;
    this.anchor(nowMs, ns);
  }

  /**
   * Milliseconds for a timer before an event at `dueNs`; 0: look again in the next turn. A timer
   * may be a millisecond late, so it is set a millisecond early.
   */
  delayMs(nowMs: number, dueNs: number): number {
    const waitMs = (dueNs - this.targetNs(nowMs)) / NS_PER_MS;
    return waitMs > TIMER_MIN_MS ? Math.floor(waitMs - 1) : 0;
  }
}
