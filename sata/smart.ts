/**
 * SMART: attributes, thresholds and the two sectors in which a host reads them.
 *
 * Names, order and laws of the attributes follow public smartctl logs of firmware 3.0. Source of
 * the structures: ATA8-ACS, 7.52, and the vendor part as smartmontools reads it.
 */

import { SECTOR_BYTES } from '../hal/ata.ts';
import { Bytes } from '../hal/sim/bytes.ts';
import { record, reserved, u8, u16, u48 } from '../hal/sim/record.ts';
import { sealChecksum } from './log-pages.ts';

/** LBA 23:8 of every SMART command; any other value aborts (ACS-2, 7.52). */
export const SMART_SIGNATURE = 0xc24f;
/** LBA 23:0 after RETURN STATUS when no threshold is exceeded. */
export const SMART_GOOD_LBA = 0xc24f00;
/** LBA 23:0 after RETURN STATUS when a threshold is exceeded. */
export const SMART_EXCEEDED_LBA = 0x2cf400;

/** True when a SMART command carries its signature. */
export function hasSmartSignature(lba: number): boolean {
  return (Math.floor(lba / 256) & 0xffff) === SMART_SIGNATURE;
}

/** Program/erase cycles that the lifetime attribute counts as 100 %; derived from public logs. */
export const RATED_ERASE_COUNT = 3000;
/** Sectors that one retired block takes from attribute 171: one block on both planes, 4 MiB. */
export const RETIRED_BLOCK_SECTORS = 8192;

/** What the firmware counts over the life of a drive. Non-negative integers. */
export interface SmartCounters {
  /** Blocks retired since the drive left the factory. */
  readonly runtimeBadBlocks: number;
  readonly powerOnHours: number;
  readonly powerCycles: number;
  /** Over-provisioned room in sectors while no block is retired; the profile knows it. */
  readonly spareSectorsAtFactory: number;
  /** Losses of power without STANDBY IMMEDIATE or SLEEP before. */
  readonly unplannedPowerLosses: number;
  readonly programFailures: number;
  readonly eraseFailures: number;
  readonly uncorrectableReads: number;
  /** Mean over all blocks, rounded down. */
  readonly averageEraseCount: number;
  readonly sataCrcErrors: number;
  readonly hostWrittenSectors: number;
  readonly hostReadSectors: number;
  /** Programs of 16 KiB: one page on both planes. */
  readonly nandProgramUnits: number;
}

/** One row of SMART READ DATA before it is encoded. */
export interface SmartAttribute {
  readonly id: number;
  /** Normalised value; the drive reports the same as worst. */
  readonly value: number;
  /** 48 bits. */
  readonly raw: number;
}

const SECTORS_PER_GIB = 2 ** 30 / SECTOR_BYTES;
const ATTRIBUTE_SLOTS = 30;
/** Structure revision of data and thresholds, observed on all Barefoot 3 drives. */
const REVISION = 18;
/** Saves attributes before power saving, and after an event. */
const SMART_CAPABILITY = 0x0003;

const AttributeEntry = record({
  id: u8,
  flags: u16,
  value: u8,
  worst: u8,
  raw: u48,
  reserved11: reserved(1),
});

const ThresholdEntry = record({ id: u8, threshold: u8, reserved2: reserved(10) });

/** Bytes 362-511 of SMART READ DATA. */
const DataTail = record({
  offlineStatus: u8,
  selfTestStatus: u8,
  offlineSeconds: u16,
  vendor366: reserved(1),
  offlineCapability: u8,
  smartCapability: u16,
  errorLogCapability: u8,
  vendor371: reserved(1),
  shortTestMinutes: u8,
  extendedTestMinutes: u8,
  conveyanceTestMinutes: u8,
  extendedTestMinutesWide: u16,
  reserved377: reserved(135),
});
const DATA_TAIL_AT = SECTOR_BYTES - DataTail.span;

/**
 * Remaining life in percent, 0 to 100. Law: ceil(100 - 100 x average / rated), which holds on every
 * public log of a Barefoot 3 drive; here in whole numbers.
 */
export function remainingLifePercent(averageEraseCount: number): number {
  return Math.max(0, 100 - Math.floor((100 * averageEraseCount) / RATED_ERASE_COUNT));
}

/**
 * Attributes of firmware 3.0 in its order (public smartctl logs). Value is 100 except for 5 (low
 * byte of the raw count, so 0 on a drive without bad blocks), 171 (always 80) and 233 (the percent
 * itself).
 */
export function smartAttributes(counters: SmartCounters): SmartAttribute[] {
  const lifePercent = remainingLifePercent(counters.averageEraseCount);
  const spareSectors = Math.max(
    0,
    counters.spareSectorsAtFactory - RETIRED_BLOCK_SECTORS * counters.runtimeBadBlocks,
  );
  return [
    { id: 5, value: counters.runtimeBadBlocks % 256, raw: counters.runtimeBadBlocks },
    { id: 9, value: 100, raw: counters.powerOnHours },
    { id: 12, value: 100, raw: counters.powerCycles },
    { id: 171, value: 80, raw: spareSectors },
    { id: 174, value: 100, raw: counters.unplannedPowerLosses },
    { id: 195, value: 100, raw: counters.programFailures },
    { id: 196, value: 100, raw: counters.eraseFailures },
    { id: 197, value: 100, raw: counters.uncorrectableReads },
    { id: 208, value: 100, raw: counters.averageEraseCount },
    { id: 210, value: 100, raw: counters.sataCrcErrors },
    // In warranty; firmware 2.0 has no such attribute.
    { id: 224, value: 100, raw: 1 },
    { id: 233, value: lifePercent, raw: lifePercent },
    { id: 241, value: 100, raw: Math.floor(counters.hostWrittenSectors / SECTORS_PER_GIB) },
    { id: 242, value: 100, raw: Math.floor(counters.hostReadSectors / SECTORS_PER_GIB) },
    { id: 249, value: 100, raw: counters.nandProgramUnits },
  ];
}

/**
 * SMART READ DATA: 512 bytes with a good checksum. All attribute flags are zero, as on the real
 * drive; off-line and self-test capabilities, which it has, are not claimed because
 * EXECUTE OFF-LINE IMMEDIATE aborts here.
 */
export function smartData(counters: SmartCounters): Bytes {
  const sector = new Bytes(SECTOR_BYTES);
  sector.writeUIntLE(REVISION, 0, 2);
  smartAttributes(counters).forEach(({ id, value, raw }, index) => {
    AttributeEntry.encodeInto({ id, flags: 0, value, worst: value, raw }, sector, entryAt(index));
  });
  const tail = {
    offlineStatus: 0,
    selfTestStatus: 0,
    offlineSeconds: 0,
    offlineCapability: 0,
    smartCapability: SMART_CAPABILITY,
    errorLogCapability: 0,
    shortTestMinutes: 0,
    extendedTestMinutes: 0,
    conveyanceTestMinutes: 0,
    extendedTestMinutesWide: 0,
  };
  DataTail.encodeInto(tail, sector, DATA_TAIL_AT);
  return sealChecksum(sector);
}

/** SMART READ THRESHOLDS: the same ids in the same places, every threshold zero: never exceeded. */
export function smartThresholds(counters: SmartCounters): Bytes {
  const sector = new Bytes(SECTOR_BYTES);
  sector.writeUIntLE(REVISION, 0, 2);
  smartAttributes(counters).forEach(({ id }, index) => {
    ThresholdEntry.encodeInto({ id, threshold: 0 }, sector, entryAt(index));
  });
  return sealChecksum(sector);
}

/** Rows of a SMART READ DATA sector, unused ones left out: what a host makes of it. */
export function attributesOfData(sector: Uint8Array): SmartAttribute[] {
  const attributes: SmartAttribute[] = [];
  for (let index = 0; index < ATTRIBUTE_SLOTS; index++) {
    const { id, value, raw } = AttributeEntry.decode(sector, entryAt(index));
    if (id !== 0) attributes.push({ id, value, raw });
  }
  return attributes;
}

function entryAt(index: number): number {
  return 2 + index * AttributeEntry.span;
}
