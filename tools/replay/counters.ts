/**
 * Counters of a drive at one instant; two of them tell what happened between.
 *
 * Buses and link count a transfer when it is reserved; what then still lies ahead is taken off, so
 * that busy time never exceeds the time that has passed.
 */

import type { Drive } from '../../firmware/drive.ts';
import { FlashOp } from '../../hal/flash-ops.ts';
import type { NandReport, Utilisation } from '../report/report.ts';

export interface DriveCounters {
  readonly atNs: number;
  /** Ns each channel, each die, the cores and the link have been busy. */
  readonly channelNs: Float64Array;
  readonly dieNs: Float64Array;
  readonly armNs: number;
  readonly aragonNs: number;
  readonly linkNs: number;
  /** Array operations that have ended; one covers the same page, or block, of every plane. */
  readonly reads: number;
  readonly programs: number;
  readonly erases: number;
  /** 4 KiB slots programmed, padding included, and those that collection copied. */
  readonly programmedSlots: number;
  readonly movedSlots: number;
}

export function readCounters(drive: Drive): DriveCounters {
  const { array, timeline, port, firmware } = drive;
  const { nowNs } = timeline;
  const ahead = (freeAtNs: number): number => Math.max(0, freeAtNs - nowNs);
  const { busyNs, freeAtNs } = array.channels;
  return {
    atNs: nowNs,
    channelNs: busyNs.map((ns, channel) => ns - ahead(freeAtNs[channel]!)),
    dieNs: array.work.busyNs.slice(),
    armNs: drive.arm.busyNs,
    aragonNs: drive.aragon.core.busyNs,
    linkNs: port.link.busyNs - ahead(port.link.freeAtNs),
    reads: array.counters.done[FlashOp.Read]!,
    programs: array.counters.done[FlashOp.Program]!,
    erases: array.counters.done[FlashOp.Erase]!,
    programmedSlots: array.counters.slots[1]!,
    movedSlots: firmware.collector.movedCount,
  };
}

/** Busy fractions between two instants; a die counts an operation when it ends, hence the limit. */
export function utilisationBetween(from: DriveCounters, to: DriveCounters): Utilisation {
  const elapsedNs = to.atNs - from.atNs;
  const fraction = (ns: number): number =>
    elapsedNs > 0 ? Math.min(1, Math.max(0, ns / elapsedNs)) : 0;
  return {
    channels: to.channelNs.map((ns, i) => fraction(ns - from.channelNs[i]!)),
    dies: to.dieNs.map((ns, i) => fraction(ns - from.dieNs[i]!)),
    arm: fraction(to.armNs - from.armNs),
    aragon: fraction(to.aragonNs - from.aragonNs),
    link: fraction(to.linkNs - from.linkNs),
  };
}

/**
 * NAND work between two instants. A program or an erase counts once for each plane, as that many
 * pages or blocks wear; a read counts once, however many planes it was for.
 */
export function nandBetween(from: DriveCounters, to: DriveCounters, planes: number): NandReport {
  return {
    reads: to.reads - from.reads,
    programs: (to.programs - from.programs) * planes,
    erases: (to.erases - from.erases) * planes,
    gcMovedSlots: to.movedSlots - from.movedSlots,
  };
}
