/**
 * The busy times of a die that do not depend on block and page, each with its source.
 *
 * "Model" is Micron's behavioural model of the sibling die M73A (same page, ONFI 2.2, synchronous).
 * tR, tPROG and tBERS come from the array behind the die.
 */

import type { NandPart } from '../part.ts';
import { READ_MAX_NS } from './parameter-page.ts';

export interface OnfiTimes {
  /** tDBSY: dummy busy between the planes of a group. Source: model, typical. */
  readonly dummyBusyNs: number;
  /** tCBSY less waiting: cache register to data register of a program. Source: model. */
  readonly programCacheBusyNs: number;
  /** tRCBSY less waiting: data register to cache register of a read. Source: model, first 31h. */
  readonly readCacheBusyNs: number;
  /** tFEAT: get and set features. Source: model, maximum. */
  readonly featureNs: number;
  /** tITC: interface and timing mode change. Source: model, maximum. */
  readonly interfaceChangeNs: number;
  /** tOBSY: a program of a protected OTP page. Source: model. */
  readonly otpBusyNs: number;
  /** tR of parameter page and unique id. Source: L74A feature page Rev G, maximum. */
  readonly identifyNs: number;
  /** tRST by what was interrupted. Source: model. */
  readonly resetIdleNs: number;
  readonly resetReadNs: number;
  readonly resetProgramNs: number;
  readonly resetEraseNs: number;
  /** tRST of the first reset after power-up. Source: ONFI 2.2. */
  readonly firstResetNs: number;
  /** Supply stable to R/B# high: FFh is accepted from here on. Source: model (RB_PU). */
  readonly powerUpNs: number;
}

/** The times of a part. */
export function onfiTimesOf(part: NandPart): OnfiTimes {
  return {
    dummyBusyNs: 500,
    programCacheBusyNs: 12_000,
    readCacheBusyNs: 9_000,
    featureNs: 1_000,
    interfaceChangeNs: 1_000,
    otpBusyNs: 30_000,
    identifyNs: READ_MAX_NS,
    resetIdleNs: part.resetNs,
    resetReadNs: part.resetNs,
    resetProgramNs: 10_000,
    resetEraseNs: 500_000,
    firstResetNs: part.firstResetNs,
    powerUpNs: 100_000,
  };
}
