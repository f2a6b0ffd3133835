/** Fills in a run report: what the player's operations took and what the drive did meanwhile. */

import type { Drive } from '../../firmware/drive.ts';
import { SECTOR_BYTES, SLOT_BYTES } from '../../hal/sim/units.ts';
import {
  type BootPhase,
  emptyReport,
  type OperationKind,
  type RunReport,
} from '../report/report.ts';
import { SeriesRecorder } from '../report/series.ts';
import { type DriveCounters, nandBetween, readCounters, utilisationBetween } from './counters.ts';
import type { OperationListener, TracePlayer } from './player.ts';
import { TraceKind } from './trace.ts';

/** What the person who started the run knows about it. */
export interface RunWords {
  readonly title: string;
  readonly options: Record<string, string>;
}

/** Report kind of each TraceKind. */
const KIND_OF: readonly OperationKind[] = ['read', 'write', 'trim', 'flush'];

/** Watches one run of a player from its construction on. */
export class RunCollector implements OperationListener {
  readonly report: RunReport;
  readonly #drive: Drive;
  readonly #player: TracePlayer;
  readonly #series = new SeriesRecorder();
  readonly #began: DriveCounters;
  readonly #unmappedBefore: number;
  /** Row of the last trim: the map is counted when it ends. */
  readonly #lastTrim: number;
  #ended: DriveCounters | null = null;
  #validAfterTrims = 0;

  constructor(drive: Drive, player: TracePlayer, boot: readonly BootPhase[], words: RunWords) {
    this.#drive = drive;
    this.#player = player;
    this.report = emptyReport(words.title, drive.profile.says);
    this.report.options = { ...words.options };
    this.report.boot = [...boot];
    this.#lastTrim = player.trace.kind.lastIndexOf(TraceKind.Trim);
    this.#began = readCounters(drive);
    this.#unmappedBefore = drive.firmware.trimmer.unmappedCount;
    player.listener = this;
  }

  operationDone(row: number, latencyNs: number, atNs: number): void {
    const { trace } = this.#player;
    const name = KIND_OF[trace.kind[row]!]!;
    const kind = this.report.kinds[name];
    kind.operations++;
    kind.bytes += trace.sectors[row]! * SECTOR_BYTES;
    kind.latency.record(latencyNs);
    this.#series.record(name, atNs - this.#began.atNs);
    if (trace.kind[row] !== TraceKind.Trim) return;
    this.report.trim.sectors += trace.sectors[row]!;
    if (row === this.#lastTrim) this.#validAfterTrims = this.#validSlots();
  }

  /** The last operation has ended: what is measured over time ends here. */
  operationsEnded(): void {
    this.#ended = readCounters(this.#drive);
  }

  /**
   * The report. NAND work and write amplification count up to now: call it when the drive has
   * written out what it had buffered, or a short run would seem to write nothing.
   */
  finish(wallSeconds: number): RunReport {
    const { report } = this;
    const drive = this.#drive;
    const ended = this.#ended ?? readCounters(drive);
    const now = readCounters(drive);
    const began = this.#began;
    report.wallSeconds = wallSeconds;
    report.simulatedNs = ended.atNs - began.atNs;
    if (report.simulatedNs > 0) report.series = this.#series.finish(report.simulatedNs);
    report.utilisation = utilisationBetween(began, ended);
    report.nand = nandBetween(began, now, drive.geometry.planes);
    report.writeAmplification = this.#writeAmplification(now);
    report.verification = {
      reads: this.#player.verifiedCount,
      mismatches: this.#player.mismatchCount,
    };
    // What trims unmapped would be valid besides what was after the last of them.
    const unmapped = drive.firmware.trimmer.unmappedCount - this.#unmappedBefore;
    report.trim.validSlotsAfter = this.#validAfterTrims;
    report.trim.validSlotsBefore = this.#validAfterTrims + unmapped;
    return report;
  }

  /** Bytes programmed to flash, for whatever reason and padding included, per byte written. */
  #writeAmplification(now: DriveCounters): number | null {
    const { bytes } = this.report.kinds.write;
    if (bytes === 0) return null;
    const slots = now.programmedSlots - this.#began.programmedSlots;
    return (slots * SLOT_BYTES) / bytes;
  }

  /** Slots that the map points to. */
  #validSlots(): number {
    return this.#drive.firmware.superblocks.validCount.reduce((sum, count) => sum + count, 0);
  }
}
