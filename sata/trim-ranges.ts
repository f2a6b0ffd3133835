/**
 * TRIM ranges: the payload of DATA SET MANAGEMENT, both ways. Source: ACS-2, 7.10.
 */

import { SECTOR_BYTES } from '../hal/ata.ts';
import { Bytes } from '../hal/sim/bytes.ts';
import { record, u16, u48 } from '../hal/sim/record.ts';

/** Most 512-byte blocks of one DATA SET MANAGEMENT command (IDENTIFY word 105; assumed). */
export const TRIM_MAX_BLOCKS = 8;

/** One entry of a DATA SET MANAGEMENT payload (ACS-2, 7.10): 64 of them fill a block. */
const TrimEntry = record({ lba: u48, sectors: u16 });

/** A run of sectors that the host no longer needs; `sectors` is 1 to 65535. */
export interface TrimRange {
  readonly lba: number;
  readonly sectors: number;
}

/** The ranges of one command, or the reason why the whole command has to fail. */
export interface TrimList {
  /** In the order of the payload, overlaps included; empty when the command fails. */
  readonly ranges: readonly TrimRange[];
  /** First sector beyond the capacity that the payload names, -1 when there is none. */
  readonly firstBadLba: number;
}

/**
 * Decodes the payload of DATA SET MANAGEMENT with the TRIM bit. Entries of length zero are unused
 * whatever their LBA. One entry past `capacitySectors` fails the command before anything is
 * trimmed. Throws a RangeError when the payload is not a whole number of 512-byte blocks.
 */
export function decodeTrimRanges(payload: Uint8Array, capacitySectors: number): TrimList {
  if (payload.length % SECTOR_BYTES !== 0) {
    throw new RangeError(
      `a TRIM payload is a multiple of ${SECTOR_BYTES} bytes, not ${payload.length}`,
    );
  }
  const ranges: TrimRange[] = [];
  for (let offset = 0; offset < payload.length; offset += TrimEntry.span) {
    const { lba, sectors } = TrimEntry.decode(payload, offset);
    if (sectors === 0) continue;
    if (lba + sectors > capacitySectors) {
      return { ranges: [], firstBadLba: Math.max(lba, capacitySectors) };
    }
    ranges.push({ lba, sectors });
  }
  return { ranges, firstBadLba: -1 };
}

/**
 * Payload of DATA SET MANAGEMENT for these ranges, filled up with unused entries to whole blocks;
 * what a host sends. Throws a RangeError for a length outside 1 to 65535.
 */
export function encodeTrimRanges(ranges: readonly TrimRange[]): Bytes {
  const blocks = Math.max(1, Math.ceil((ranges.length * TrimEntry.span) / SECTOR_BYTES));
  const payload = new Bytes(blocks * SECTOR_BYTES);
  ranges.forEach((range, index) => {
    if (range.sectors === 0) throw new RangeError('a TRIM range has at least one sector');
    TrimEntry.encodeInto(
      { lba: range.lba, sectors: range.sectors },
      payload,
      index * TrimEntry.span,
    );
  });
  return payload;
}
