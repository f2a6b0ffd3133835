/**
 * The chips: the ONFI dies of the array, side by side.
 *
 * Between bring-up and the next time somebody watches the pins they stand still, so what they save
 * is kept and handed out again until something drives them.
 */

import type { Saved } from '../hal/sim/snapshot.ts';
import type { OnfiDie } from './onfi/die.ts';

export class Chips {
  readonly dies: readonly OnfiDie[];
  /** What the dies save as they stand; null when they were driven since. */
  #saved: Saved[] | null = null;

  constructor(dies: readonly OnfiDie[]) {
    this.dies = dies;
  }

  /** Something is going to drive a die. */
  driven(): void {
    this.#saved = null;
  }

  powerOn(nowNs: number): void {
    this.driven();
    for (const die of this.dies) die.powerOn(nowNs);
  }

  powerOff(nowNs: number): void {
    this.driven();
    for (const die of this.dies) die.powerOff(nowNs);
  }

  save(): Saved[] {
    this.#saved ??= this.dies.map((die) => die.save());
    return this.#saved;
  }

  restore(saved: Saved[]): void {
    if (saved === this.#saved) return;
    this.dies.forEach((die, i) => {
      die.restore(saved[i]!);
    });
    this.#saved = saved;
  }
}
