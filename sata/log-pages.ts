/**
 * Log pages: the general purpose logs of the drive, and their checksum.
 *
 * The drive has the directory (00h) and the NCQ command error log (10h). Sources: ACS-2, annex A;
 * Serial ATA 3.1, 13.7.
 */

import { AtaOpcode, SECTOR_BYTES, type TaskFile } from '../hal/ata.ts';
import { Bytes } from '../hal/sim/bytes.ts';
import { bits, record, reserved, u8, u16, u24 } from '../hal/sim/record.ts';

/** Addresses of the logs that this drive answers (ACS-2, annex A). */
export enum LogAddress {
  Directory = 0x00,
  NcqError = 0x10,
}

/** Pages of 512 bytes of each log that exists; a log that is not listed here does not exist. */
export const LOG_PAGE_COUNTS: Readonly<Record<LogAddress, number>> = {
  [LogAddress.Directory]: 1,
  [LogAddress.NcqError]: 1,
};

/** Pages of a log (address 0-255), 0 when the drive has no such log. */
export function logPageCount(address: number): number {
  return (LOG_PAGE_COUNTS as Readonly<Record<number, number>>)[address] ?? 0;
}

/** What the drive remembers of the command that stopped the queue. */
export interface NcqError {
  /** False when a command that is not queued arrived while queued ones were outstanding. */
  readonly isQueued: boolean;
  /** Tag (0-31) of the command that failed; without meaning when it was not queued. */
  readonly tag: number;
  readonly status: number;
  readonly error: number;
  /** First sector that failed, 48 bits. */
  readonly lba: number;
  readonly device: number;
  readonly count: number;
}

/** What READ LOG (DMA) EXT asks for: LBA 7:0 log, LBA 39:32 and 15:8 page, count pages. */
export function logRequest(registers: TaskFile): { address: number; page: number; pages: number } {
  const { lba } = registers;
  const pageLow = Math.floor(lba / 0x100) % 0x100;
  const pageHigh = Math.floor(lba / 0x1_0000_0000) % 0x100;
  return { address: lba % 0x100, page: pageHigh * 0x100 + pageLow, pages: registers.count };
}

/** True for READ LOG EXT or READ LOG DMA EXT of page 0 of the log at `address`. */
export function readsLogPage(registers: TaskFile, address: LogAddress): boolean {
  const opcode: AtaOpcode = registers.command;
  if (opcode !== AtaOpcode.ReadLogExt && opcode !== AtaOpcode.ReadLogDmaExt) return false;
  const request = logRequest(registers);
  return request.address === address && request.page === 0 && request.pages === 1;
}

/** Log 10h, page 0 (Serial ATA 3.1, 13.7.2); sense bytes and the vendor part stay zero. */
const NcqErrorPage = record({
  origin: bits(1, { tag: [0, 5], unload: [6, 1], notQueued: [7, 1] }),
  reserved1: reserved(1),
  status: u8,
  error: u8,
  lbaLow: u24,
  device: u8,
  lbaHigh: u24,
  reserved11: reserved(1),
  count: u16,
  reserved14: reserved(497),
  checksum: u8,
});

/**
 * Sets byte 511 so that the bytes of the sector add up to zero modulo 256 (ACS-2: IDENTIFY word
 * 255, SMART structures, most logs). Returns the same array. Throws unless it has 512 bytes.
 */
export function sealChecksum<Sector extends Uint8Array>(sector: Sector): Sector {
  if (sector.length !== SECTOR_BYTES) {
    throw new RangeError(`a checksum covers ${SECTOR_BYTES} bytes, not ${sector.length}`);
  }
  sector[SECTOR_BYTES - 1] = 0;
  sector[SECTOR_BYTES - 1] = -byteSum(sector) & 0xff;
  return sector;
}

/** True when the 512 bytes add up to zero modulo 256. */
export function hasGoodChecksum(sector: Uint8Array): boolean {
  return sector.length === SECTOR_BYTES && (byteSum(sector) & 0xff) === 0;
}

function byteSum(sector: Uint8Array): number {
  let sum = 0;
  for (const byte of sector) sum += byte;
  return sum;
}

/** Log 00h: word 0 is the version, word n the pages of log n. SMART READ LOG shows the same. */
export function logDirectory(): Bytes {
  const page = new Bytes(SECTOR_BYTES);
  page.writeUIntLE(1, 0, 2);
  for (let address = 1; address < 256; address++) {
    page.writeUIntLE(logPageCount(address), 2 * address, 2);
  }
  return page;
}

/**
 * Log 10h page 0. With no error to report it carries NQ = 1 and zeros, which hosts read as "no
 * queued command failed" (assumed; the standard leaves the content open).
 */
export function ncqErrorPage(failure: NcqError | undefined): Bytes {
  const isQueued = failure?.isQueued ?? false;
  const lba = failure?.lba ?? 0;
  const page = NcqErrorPage.encode({
    origin: { tag: isQueued ? (failure?.tag ?? 0) : 0, unload: 0, notQueued: isQueued ? 0 : 1 },
    status: failure?.status ?? 0,
    error: failure?.error ?? 0,
    lbaLow: lba % 0x100_0000,
    device: failure?.device ?? 0,
    lbaHigh: Math.floor(lba / 0x100_0000),
    count: failure?.count ?? 0,
    checksum: 0,
  });
  return sealChecksum(page);
}

/** The error in a log 10h page: what a host makes of it. Undefined when its checksum is wrong. */
export function ncqErrorOfPage(page: Uint8Array): NcqError | undefined {
  if (!hasGoodChecksum(page)) return undefined;
  const fields = NcqErrorPage.decode(page);
  return {
    isQueued: fields.origin.notQueued === 0,
    tag: fields.origin.tag,
    status: fields.status,
    error: fields.error,
    lba: fields.lbaHigh * 0x100_0000 + fields.lbaLow,
    device: fields.device,
    count: fields.count,
  };
}

/**
 * One page of a log as READ LOG EXT, READ LOG DMA EXT and SMART READ LOG return it, undefined when
 * the log or the page does not exist (the command then aborts).
 */
export function logPage(
  address: number,
  page: number,
  failure: NcqError | undefined,
): Bytes | undefined {
  if (page >= logPageCount(address)) return undefined;
  switch (address) {
    case LogAddress.Directory:
      return logDirectory();
    case LogAddress.NcqError:
      return ncqErrorPage(failure);
    default:
      return undefined;
  }
}
