/**
 * What a run measured: the one shape that demo and replay fill, and that the screen, the
 * SVG and the JSON output print. All times but `wallSeconds` are simulated.
 */
import { RunError } from '../errors.ts';
import { LatencyHistogram } from './histogram.ts';
import type { IopsSeries } from './series.ts';

/** What a host asks of a drive, in the order in which reports list it. */
export const OPERATION_KINDS = ['read', 'write', 'trim', 'flush'] as const;
export type OperationKind = (typeof OPERATION_KINDS)[number];

/** One kind of host operation over the whole run. */
export interface KindReport {
  /** Completed operations; equals `latency.count` when every one was timed. */
  operations: number;
  /** Bytes moved or, for trims, covered. */
  bytes: number;
  /** From the moment the host issues the command to its completion. */
  latency: LatencyHistogram;
}

/** What the flash array did, whoever asked for it. */
export interface NandReport {
  /** Page reads, page programs (a multi-plane program counts each page) and block erases. */
  reads: number;
  programs: number;
  erases: number;
  /** 4 KiB slots that garbage collection or folding copied. */
  gcMovedSlots: number;
}

/** What trims were for: slots that no longer need copying. */
export interface TrimReport {
  sectors: number;
  /** 4 KiB slots holding valid data before and after the trims of the run. */
  validSlotsBefore: number;
  validSlotsAfter: number;
}

/** Busy fractions over the run, 0 to 1. */
export interface Utilisation {
  /** One entry a NAND channel bus. */
  channels: Float64Array;
  /** One entry a die, channel-major: die `d` of channel `c` at `c * diesPerChannel + d`. */
  dies?: Float64Array;
  arm: number;
  aragon: number;
  /** The SATA link, either direction. */
  link: number;
}

/** One step of the way from power to ready. */
export interface BootPhase {
  name: string;
  durationNs: number;
}

/** Reads whose data was compared with what was last written. */
export interface Verification {
  reads: number;
  mismatches: number;
}

export interface RunReport {
  /** What was run, in a few words: "4 KiB random writes, queue depth 32". */
  title: string;
  /** The drive's name: "OCZ Vector 256 GB". */
  drive: string;
  /** What the user chose, as name and text; fio's names where fio has one (rw, bs, iodepth). */
  options: Record<string, string>;
  /** Real seconds that the run took. Leave it out of anything that must not vary. */
  wallSeconds: number;
  simulatedNs: number;
  kinds: Record<OperationKind, KindReport>;
  nand: NandReport;
  /** NAND bytes programmed over host bytes written; null when the host wrote nothing. */
  writeAmplification: number | null;
  trim: TrimReport;
  utilisation: Utilisation;
  series: IopsSeries;
  verification: Verification;
  boot: BootPhase[];
}

/** A report of a run in which nothing happened: fill in what was measured. */
export function emptyReport(title: string, drive: string): RunReport {
  const kind = (): KindReport => ({ operations: 0, bytes: 0, latency: new LatencyHistogram() });
  const none = new Float64Array(0);
  return {
    title,
    drive,
    options: {},
    wallSeconds: 0,
    simulatedNs: 0,
    kinds: { read: kind(), write: kind(), trim: kind(), flush: kind() },
    nand: { reads: 0, programs: 0, erases: 0, gcMovedSlots: 0 },
    writeAmplification: null,
    trim: { sectors: 0, validSlotsBefore: 0, validSlotsAfter: 0 },
    utilisation: { channels: none, arm: 0, aragon: 0, link: 0 },
    series: { bucketNs: 1, read: none, write: none, trim: none, flush: none },
    verification: { reads: 0, mismatches: 0 },
    boot: [],
  };
}

/** Events a simulated second; 0 for a run that took no simulated time. */
export function perSecond(count: number, simulatedNs: number): number {
  return simulatedNs > 0 ? (count * 1e9) / simulatedNs : 0;
}

/** The kinds that the run used, in report order. */
export function usedKinds(report: RunReport): OperationKind[] {
  return OPERATION_KINDS.filter((kind) => report.kinds[kind].operations > 0);
}

/** Operations of every kind. */
export function totalOperations(report: RunReport): number {
  return OPERATION_KINDS.reduce((sum, kind) => sum + report.kinds[kind].operations, 0);
}

/**
 * Refuses a report that cannot be printed truthfully: counts that are not whole, fractions
 * outside 0 to 1, numbers that are not finite.
 * @throws RunError naming the field
 */
export function checkReport(report: RunReport): void {
  const { kinds, nand, trim, utilisation, verification } = report;
  checkCounts('simulatedNs', { simulatedNs: report.simulatedNs });
  for (const kind of OPERATION_KINDS) {
    checkCounts(kind, { operations: kinds[kind].operations, bytes: kinds[kind].bytes });
  }
  checkCounts('nand', { ...nand });
  checkCounts('trim', { ...trim });
  checkCounts('verification', { ...verification });
  for (const phase of report.boot) checkCounts(`boot.${phase.name}`, { ns: phase.durationNs });
  const cores = [utilisation.arm, utilisation.aragon, utilisation.link];
  for (const fraction of [...cores, ...utilisation.channels, ...(utilisation.dies ?? [])]) {
    if (!(fraction >= 0 && fraction <= 1)) {
      throw new RunError(`utilisation: a busy fraction lies between 0 and 1, not at ${fraction}`);
    }
  }
  const factor = report.writeAmplification;
  if (factor !== null && !(Number.isFinite(factor) && factor >= 0)) {
    throw new RunError(`writeAmplification: a number from 0 on or null, not ${factor}`);
  }
}

function checkCounts(where: string, counts: Record<string, number>): void {
  for (const [field, value] of Object.entries(counts)) {
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new RunError(`${where}.${field}: a whole number from 0 on, not ${value}`);
    }
  }
}
