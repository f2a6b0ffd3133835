/**
 * The parameter bytes of SET FEATURES on their way in.
 *
 * On a synchronous bus every byte comes twice, once an edge; the first of the two counts.
 */

import type { Saved } from '../../hal/sim/snapshot.ts';
import { FEATURE_BYTES } from './features.ts';

const NO_ADDRESS = -1;

export class FeatureIntake {
  /** Feature that is waited for, or NO_ADDRESS. */
  address = NO_ADDRESS;
  /** Data bytes of the bus so far, both edges counted. */
  #count = 0;
  /** P1-P4 so far. */
  readonly parameters = new Uint8Array(FEATURE_BYTES);

  get isOpen(): boolean {
    return this.address !== NO_ADDRESS;
  }

  begin(address: number): void {
    this.address = address;
    this.#count = 0;
  }

  /** Takes data bytes; true when all parameters are there. What comes after them is dropped. */
  take(bytes: Uint8Array, synchronous: boolean): boolean {
    const perByte = synchronous ? 2 : 1;
    for (let i = 0; i < bytes.length && this.#count < FEATURE_BYTES * perByte; i++) {
      if (this.#count % perByte === 0) this.parameters[this.#count / perByte] = bytes[i]!;
      this.#count++;
    }
    return this.#count === FEATURE_BYTES * perByte;
  }

  end(): void {
    this.address = NO_ADDRESS;
  }

  save(): Saved {
    return { address: this.address, count: this.#count, parameters: this.parameters.slice() };
  }

  restore(saved: Saved): void {
    this.address = saved.address as number;
    this.#count = saved.count as number;
    this.parameters.set(saved.parameters as Uint8Array);
  }
}
