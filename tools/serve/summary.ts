/** What a served drive has done, for the closing words. */

import type { Drive } from '../../firmware/drive.ts';
import { SECTORS_PER_SLOT, SLOT_BYTES } from '../../hal/sim/units.ts';
import { formatBytes, formatCount, formatDuration } from '../cli/format.ts';
import { NbdKind } from './nbd/backend.ts';
import type { NbdStats } from './nbd/stats.ts';
import type { SpillFile } from './spill.ts';

/** Counts since power-on; bytes are payload. */
export interface ServeSummary {
  readonly reads: number;
  readonly writes: number;
  readonly flushes: number;
  readonly trims: number;
  readonly zeroes: number;
  readonly failed: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly trimmedBytes: number;
  readonly flashWrittenBytes: number;
  /** Bytes programmed for each byte the host wrote; null before it has written anything. */
  readonly writeAmplification: number | null;
  readonly spilledPages: number;
  readonly events: number;
  readonly emulatedNs: number;
  readonly wallNs: number;
  /** Emulated time given up because the emulator was too slow; paced runs only. */
  readonly lostNs: number;
}

export function summarise(
  drive: Drive,
  stats: NbdStats,
  spill: SpillFile,
  wallNs: number,
  lostNs: number,
): ServeSummary {
  const { smart, stream, collector } = drive.firmware;
  const { slotsPerUnit } = drive.geometry;
  const units = smart.programUnits + stream.unitCount + collector.movedCount / slotsPerUnit;
  const flashWrittenBytes = Math.ceil(units) * slotsPerUnit * SLOT_BYTES;
  const hostPages = smart.hostWrittenSectors / SECTORS_PER_SLOT;
  return {
    reads: stats.requests[NbdKind.Read]!,
    writes: stats.requests[NbdKind.Write]!,
    flushes: stats.requests[NbdKind.Flush]!,
    trims: stats.requests[NbdKind.Trim]!,
    zeroes: stats.requests[NbdKind.WriteZeroes]!,
    failed: stats.failedRequests,
    readBytes: stats.readBytes,
    writtenBytes: stats.writtenBytes,
    trimmedBytes: stats.trimmedBytes,
    flashWrittenBytes,
    writeAmplification: hostPages === 0 ? null : flashWrittenBytes / (hostPages * SLOT_BYTES),
    spilledPages: spill.writtenCount,
    events: drive.timeline.ordinal,
    emulatedNs: drive.timeline.nowNs,
    wallNs,
    lostNs,
  };
}

/** The summary for people, a few lines. */
export function summaryText(summary: ServeSummary): string {
  const { reads, writes, flushes, trims, zeroes, failed, writeAmplification } = summary;
  const lines = [
    `reads    ${formatCount(reads)} (${formatBytes(summary.readBytes)})`,
    `writes   ${formatCount(writes)} (${formatBytes(summary.writtenBytes)})`,
    `others   ${formatCount(flushes)} flushes, ${formatCount(trims + zeroes)} trims and zeroes` +
      ` (${formatBytes(summary.trimmedBytes)}), ${formatCount(failed)} failed`,
    `flash    ${formatBytes(summary.flashWrittenBytes)} programmed, write amplification ` +
      (writeAmplification === null ? '-' : writeAmplification.toFixed(2)),
    `time     ${formatDuration(summary.emulatedNs)} emulated in ` +
      `${formatDuration(summary.wallNs)}, ${formatCount(summary.events)} events`,
  ];
  if (summary.spilledPages > 0) {
    lines.push(`memory   ${formatBytes(summary.spilledPages * SLOT_BYTES)} went to the spill file`);
  }
  if (summary.lostNs > 0) {
    lines.push(`pacing   the emulator fell behind by ${formatDuration(summary.lostNs)} in all`);
  }
  return `${lines.join('\n')}\n`;
}
