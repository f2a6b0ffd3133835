/**
 * The retention clock: how old charge is, in whole minutes at 30 C.
 *
 * Simulated time counts at the factor of the drive's temperature (Arrhenius, JESD218); ageing moves
 * the clock on without running the machine, as a drive on a shelf or in an oven ages.
 */

import { invariant } from '../hal/sim/invariant.ts';
import type { Saveable, Saved } from '../hal/sim/snapshot.ts';
import type { Timeline } from '../hal/sim/timeline.ts';
import { accelerationFactor, equivalentMinutes, REFERENCE_CELSIUS } from './physics/arrhenius.ts';

const NS_PER_MINUTE = 60_000_000_000;
/** Minutes fit a table's cell plus one. */
const MINUTES_MAX = 2 ** 31 - 2;

export class RetentionClock implements Saveable {
  readonly kind = 'nand.retention-clock';
  readonly version = 1;
  readonly #timeline: Timeline;
  /** Minutes at 30 C up to the instant `#sinceNs`. */
  #baseMinutes = 0;
  #sinceNs = 0;
  #celsius = REFERENCE_CELSIUS;
  #factor = 1;
  /** Reading of the last look and the instant up to which it holds: looks are frequent. */
  #minute = 0;
  #validUntilNs = 0;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  get celsius(): number {
    return this.#celsius;
  }

  /** Whole minutes at 30 C since the drive was made. */
  get minute(): number {
    const { nowNs } = this.#timeline;
    if (nowNs >= this.#validUntilNs || nowNs < this.#sinceNs) this.#look(nowNs);
    return this.#minute;
  }

  /** The dies are at another temperature from now on. Throws on one below absolute zero. */
  setTemperature(celsius: number): void {
    this.#baseMinutes = this.#exact(this.#timeline.nowNs);
    this.#sinceNs = this.#timeline.nowNs;
    this.#celsius = celsius;
    this.#factor = accelerationFactor(celsius);
    this.#validUntilNs = 0;
  }

  /** Lets `days` pass at a temperature, off the timeline. */
  age(days: number, celsius: number): void {
    invariant(days >= 0, 'a drive ages forwards');
    const minutes = this.#baseMinutes + equivalentMinutes(days, celsius);
    invariant(minutes < MINUTES_MAX, 'a drive ages less than 4000 years at 30 C');
    this.#baseMinutes = minutes;
    this.#validUntilNs = 0;
  }

  /** Sets the clock of a drive whose flash comes from an image. */
  startAt(minute: number): void {
    this.#baseMinutes = minute;
    this.#sinceNs = this.#timeline.nowNs;
    this.#validUntilNs = 0;
  }

  #exact(nowNs: number): number {
    return this.#baseMinutes + ((nowNs - this.#sinceNs) / NS_PER_MINUTE) * this.#factor;
  }

  #look(nowNs: number): void {
    const exact = this.#exact(nowNs);
    this.#minute = Math.floor(exact);
    const leftNs = ((this.#minute + 1 - exact) * NS_PER_MINUTE) / this.#factor;
    this.#validUntilNs = nowNs + leftNs * 0.999;
  }

  save(): Saved {
    return {
      baseMinutes: this.#baseMinutes,
      sinceNs: this.#sinceNs,
      celsius: this.#celsius,
    };
  }

  restore(saved: Saved): void {
    this.#baseMinutes = saved.baseMinutes as number;
    this.#sinceNs = saved.sinceNs as number;
    this.#celsius = saved.celsius as number;
    this.#factor = accelerationFactor(this.#celsius);
    this.#validUntilNs = 0;
  }
}
