/**
 * The feature registers of a die (SET/GET FEATURES): four parameter bytes at each address.
 *
 * | address | P1 | at power-on | FFh | FCh | FAh |
 * |---|---|---|---|---|---|
 * | 01h timing | [3:0] mode, [5:4] bus (1 sync), [6] program clear | 00h | 00h | kept | kept |
 * | 10h drive strength | 0-3, 2 is nominal | 02h | kept | kept | kept |
 * | 80h drive strength, older address | 0-3 | 00h | kept | kept | kept |
 * | 81h R/B# pull-down | 0-3, 0 is full | 00h | kept | kept | kept |
 * | 90h array operation | [0] OTP, [1] OTP protect | 00h | 00h | 00h | kept |
 *
 * A timing mode takes effect tITC after SET FEATURES; a new interface when CE# is high after tITC.
 * Sources: ONFI 2.2 section 5.22 and Micron's behavioural model; what is "kept" through a reset,
 * and FCh leaving the OTP area, is assumed.
 */

import type { Saved } from '../../hal/sim/snapshot.ts';
import type { BusMode } from '../part.ts';

export enum FeatureAddress {
  TimingMode = 0x01,
  DriveStrength = 0x10,
  DriveStrengthLegacy = 0x80,
  ReadyBusyPullDown = 0x81,
  ArrayOperation = 0x90,
}

/** Parameter bytes of a feature. */
export const FEATURE_BYTES = 4;

const ADDRESSES: readonly FeatureAddress[] = [
  FeatureAddress.TimingMode,
  FeatureAddress.DriveStrength,
  FeatureAddress.DriveStrengthLegacy,
  FeatureAddress.ReadyBusyPullDown,
  FeatureAddress.ArrayOperation,
];
/** P1 at power-on, in the order of ADDRESSES. */
const DEFAULTS = [0x00, 0x02, 0x00, 0x00, 0x00];
const TIMING = 0;
const ARRAY_OPERATION = 4;
/** No change of timing is on its way. */
const NEVER = -1;

export class Features {
  /** P1-P4 of each feature, as GET FEATURES gives them. */
  readonly #values = new Uint8Array(ADDRESSES.length * FEATURE_BYTES);
  /** Interface and timing mode on the bus now. */
  synchronous = false;
  mode = 0;
  /** Instant from which the timing in the register may take effect; NEVER when it has. */
  #changeFromNs = NEVER;

  constructor() {
    this.powerOn();
  }

  /** Interface and mode as the part data speaks of them. */
  get bus(): BusMode {
    return { synchronous: this.synchronous, mode: this.mode as BusMode['mode'] };
  }

  /** 80h clears only the page register it addresses. */
  get programClear(): boolean {
    return (this.#values[TIMING * FEATURE_BYTES]! & 0x40) !== 0;
  }

  get otpMode(): boolean {
    return (this.#values[ARRAY_OPERATION * FEATURE_BYTES]! & 1) !== 0;
  }

  isSupported(address: number): boolean {
    return ADDRESSES.includes(address);
  }

  /** Parameter byte 0-3 of a feature; 0 for one that the part lacks. */
  get(address: number, index: number): number {
    const row = ADDRESSES.indexOf(address);
    return row < 0 ? 0 : this.#values[row * FEATURE_BYTES + index]!;
  }

  /** Whether the part takes this P1; other values leave the register as it is. */
  accepts(address: number, p1: number): boolean {
    switch (address) {
      case FeatureAddress.TimingMode:
        return (p1 & 0x0f) <= 5 && (p1 & 0x30) <= 0x10 && (p1 & 0x80) === 0;
      case FeatureAddress.ArrayOperation:
      case FeatureAddress.DriveStrength:
      case FeatureAddress.DriveStrengthLegacy:
      case FeatureAddress.ReadyBusyPullDown:
        return p1 <= 3;
      default:
        return false;
    }
  }

  /** Stores P1-P4; a timing takes effect from `changeFromNs` on (see the header). */
  set(address: number, parameters: Uint8Array, changeFromNs: number): void {
    const row = ADDRESSES.indexOf(address);
    if (row < 0) return;
    this.#values.set(parameters, row * FEATURE_BYTES);
    if (row === TIMING) this.#changeFromNs = changeFromNs;
  }

  /** Whether {@link settle} has something to wait for. */
  get changing(): boolean {
    return this.#changeFromNs !== NEVER;
  }

  /** Lets a due change of timing take effect; a new interface only while CE# is high. */
  settle(atNs: number, deselected: boolean): void {
    if (this.#changeFromNs === NEVER || atNs < this.#changeFromNs) return;
    const p1 = this.#values[TIMING * FEATURE_BYTES]!;
    const synchronous = (p1 & 0x30) !== 0;
    if (synchronous !== this.synchronous && !deselected) return;
    this.synchronous = synchronous;
    this.mode = p1 & 0x0f;
    this.#changeFromNs = NEVER;
  }

  /** Defaults, asynchronous mode 0. */
  powerOn(): void {
    this.#values.fill(0);
    DEFAULTS.forEach((p1, row) => {
      this.#values[row * FEATURE_BYTES] = p1;
    });
    this.#toAsynchronous();
  }

  /** RESET (FFh). */
  reset(): void {
    this.#values.fill(0, TIMING * FEATURE_BYTES, (TIMING + 1) * FEATURE_BYTES);
    this.synchronousReset();
    this.#toAsynchronous();
  }

  /** SYNCHRONOUS RESET (FCh). */
  synchronousReset(): void {
    const row = ARRAY_OPERATION * FEATURE_BYTES;
    this.#values.fill(0, row, row + FEATURE_BYTES);
  }

  #toAsynchronous(): void {
    this.synchronous = false;
    this.mode = 0;
    this.#changeFromNs = NEVER;
  }

  save(): Saved {
    return {
      values: this.#values.slice(),
      synchronous: this.synchronous,
      mode: this.mode,
      changeFromNs: this.#changeFromNs,
    };
  }

  restore(saved: Saved): void {
    this.#values.set(saved.values as Uint8Array);
    this.synchronous = saved.synchronous as boolean;
    this.mode = saved.mode as number;
    this.#changeFromNs = saved.changeFromNs as number;
  }
}
