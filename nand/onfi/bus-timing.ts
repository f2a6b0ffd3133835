/**
 * Bus timing: what a cycle costs in each timing mode and how long data must wait for its command.
 *
 * Sources: ONFI 2.2, tables of asynchronous and source synchronous (NV-DDR) timing modes 0-5; they
 * equal those of Micron's behavioural model. All times in nanoseconds.
 */

import type { BusMode } from '../part.ts';

export interface BusTiming {
  readonly synchronous: boolean;
  /** tRC: one data byte out (asynchronous); tCK: two data bytes (synchronous). */
  readonly dataCycleNs: number;
  /** tWC (asynchronous) or tCAD (synchronous): one command or address cycle. */
  readonly commandCycleNs: number;
  /** tADL: last address cycle to data in. */
  readonly adlNs: number;
  /** tWHR: command or address cycle to data out. */
  readonly whrNs: number;
  /** tRHW: data out to the next command. */
  readonly rhwNs: number;
  /** tCCS: change of column to data. */
  readonly ccsNs: number;
  /** tWB: confirm to R/B# low. */
  readonly wbNs: number;
  /** tRR: R/B# high to data out. */
  readonly rrNs: number;
  /** tWW: WP# change to command. */
  readonly wwNs: number;
}

/** tCCS and tWW are the same in every mode; tCCS stands in the parameter page too. */
const CCS_NS = 200;
const WW_NS = 100;
/** tCAD of a fast part (bit 0 of the synchronous features is 0). */
const CAD_NS = 25;

function asynchronous(
  readCycleNs: number,
  writeCycleNs: number,
  [adlNs, whrNs, rhwNs]: readonly [number, number, number],
  [wbNs, rrNs]: readonly [number, number],
): BusTiming {
  return {
    synchronous: false,
    dataCycleNs: readCycleNs,
    commandCycleNs: writeCycleNs,
    ...{ adlNs, whrNs, rhwNs, wbNs, rrNs },
    ccsNs: CCS_NS,
    wwNs: WW_NS,
  };
}

function synchronous(dataCycleNs: number, adlNs: number): BusTiming {
  return {
    synchronous: true,
    dataCycleNs,
    commandCycleNs: CAD_NS,
    adlNs,
    ...{ whrNs: 80, rhwNs: 100, wbNs: 100, rrNs: 20 },
    ccsNs: CCS_NS,
    wwNs: WW_NS,
  };
}

/** Asynchronous timing modes 0-5; tRC equals tWC but in mode 1. */
export const ASYNC_TIMINGS: readonly BusTiming[] = [
  asynchronous(100, 100, [200, 120, 200], [200, 40]),
  asynchronous(50, 45, [100, 80, 100], [100, 20]),
  asynchronous(35, 35, [100, 80, 100], [100, 20]),
  asynchronous(30, 30, [100, 60, 100], [100, 20]),
  asynchronous(25, 25, [70, 60, 100], [100, 20]),
  asynchronous(20, 20, [70, 60, 100], [100, 20]),
];

/** Synchronous (NV-DDR) timing modes 0-5. */
export const SYNC_TIMINGS: readonly BusTiming[] = [
  synchronous(50, 100),
  synchronous(30, 100),
  synchronous(20, 70),
  synchronous(15, 70),
  synchronous(12, 70),
  synchronous(10, 70),
];

/** The timing of an interface and mode 0-5. */
export function busTiming(bus: BusMode): BusTiming {
  return (bus.synchronous ? SYNC_TIMINGS : ASYNC_TIMINGS)[bus.mode]!;
}

/** Ns of one command cycle and its address cycles; a confirm alone has 0 address cycles. */
export function commandNs(bus: BusMode, addressCycles: number): number {
  return (1 + addressCycles) * busTiming(bus).commandCycleNs;
}

/** Ns of `bytes` data bytes; a synchronous bus moves two a cycle and only whole cycles. */
export function dataNs(bus: BusMode, bytes: number): number {
  const timing = busTiming(bus);
  return (timing.synchronous ? Math.ceil(bytes / 2) : bytes) * timing.dataCycleNs;
}
