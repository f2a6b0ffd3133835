/**
 * The ONFI parameter page (ONFI 2.2, section 5.7): 256 bytes in which a die describes itself.
 *
 * Sizes, maker and model come from the part; what the part data does not hold (limits of the data
 * sheet, optional commands) stands here as data. All integers are little endian.
 */

import { Bytes } from '../../hal/sim/bytes.ts';
import { bytes, record, reserved, u8, u16, u32 } from '../../hal/sim/record.ts';
import { log2Exact, NS_PER_US } from '../../hal/sim/units.ts';
import type { NandPart } from '../part.ts';
import { ASYNC_TIMINGS, SYNC_TIMINGS } from './bus-timing.ts';

export const PARAMETER_PAGE_BYTES = 256;
/** Copies that READ PARAMETER PAGE gives before it starts again. */
export const PARAMETER_PAGE_COPIES = 3;

/** Bytes 0-31: signature, revision, what is supported. */
export const RevisionRecord = record({
  signature: bytes(4),
  revisions: u16,
  features: u16,
  optionalCommands: u16,
  pad: reserved(2),
  extendedPageBytes: u16,
  copies: u8,
  tail: reserved(17),
});

/** Bytes 32-79: who made it. */
export const MakerRecord = record({
  maker: bytes(12),
  model: bytes(20),
  jedecId: u8,
  dateCode: u16,
  tail: reserved(13),
});

/** Bytes 80-127: sizes of the array, and how far it can be trusted. */
export const MemoryRecord = record({
  pageBytes: u32,
  spareBytes: u16,
  partialPage: reserved(6),
  pagesPerBlock: u32,
  blocksPerLun: u32,
  luns: u8,
  addressCycles: u8,
  bitsPerCell: u8,
  badBlocksMax: u16,
  enduranceValue: u8,
  enduranceExponent: u8,
  guaranteedBlocks: u8,
  guaranteedEndurance: u16,
  programsPerPage: u8,
  obsolete: reserved(1),
  eccBits: u8,
  planeAddressBits: u8,
  multiPlaneAttributes: u8,
  tail: reserved(13),
});

/** Bytes 128-163: pins and times. */
export const ElectricalRecord = record({
  ioCapacitanceMax: u8,
  asyncModes: u16,
  obsolete: reserved(2),
  programMaxUs: u16,
  eraseMaxUs: u16,
  readMaxUs: u16,
  ccsNs: u16,
  syncModes: u8,
  pad: reserved(1),
  syncFeatures: u8,
  clockCapacitance: u16,
  ioCapacitance: u16,
  inputCapacitance: u16,
  inputCapacitanceMax: u8,
  driveStrengths: u8,
  multiPlaneReadMaxUs: u16,
  adlNs: u16,
  tail: reserved(8),
});

/** Bytes 164-253: the maker's own. */
export const VendorRecord = record({
  revision: u16,
  multiPlaneRead: u8,
  pad: reserved(3),
  driveStrengthCount: u8,
  driveStrengthAddress: u8,
  pullDownSupported: u8,
  pullDownAddress: u8,
  pullDownCount: u8,
  otpSupport: u8,
  otpStartPage: u8,
  otpProtectPage: u8,
  otpPages: u8,
  otpFeature: u8,
  tail: reserved(74),
});

/** Where each record begins. */
export const MAKER_OFFSET = 32;
export const MEMORY_OFFSET = 80;
export const ELECTRICAL_OFFSET = 128;
export const VENDOR_OFFSET = 164;
export const CRC_OFFSET = 254;

/** Pages 2-31 of block 0 are the OTP area, page 1 protects them. Source: Micron's pages. */
export const OTP_START_PAGE = 2;
export const OTP_PROTECT_PAGE = 1;
export const OTP_PAGES = 30;

/** Limits that the part data does not hold. Source: L74A sheet; the maxima in us are recalled. */
const READ_MAX_US = 75;
const PROGRAM_MAX_US = 2600;
const ERASE_MAX_US = 10_000;
/** ONFI 1.0 to 2.2. */
const REVISIONS = 0x001e;
/** Multi-plane program and erase, odd/even copyback, synchronous, multi-plane read, 80h clear. */
const FEATURES = 0x0178;
/** All ten optional commands. */
const OPTIONAL_COMMANDS = 0x03ff;
/** Two column cycles in the high nibble, three row cycles in the low one. */
const ADDRESS_CYCLES = 0x23;
/** No block restriction, program cache, address restriction, read cache. */
const MULTI_PLANE_ATTRIBUTES = 0x1e;
const ALL_MODES = 0x3f;

/**
 * CRC-16 of the parameter page: polynomial 8005h, start 4F4Eh, most significant bit first, no final
 * XOR (ONFI 2.2, section 5.7.1.24).
 */
export function onfiCrc16(data: Uint8Array, end = data.length): number {
  let crc = 0x4f4e;
  for (let i = 0; i < end; i++) {
    crc ^= data[i]! << 8;
    for (let bit = 0; bit < 8; bit++) {
      crc = (crc & 0x8000) !== 0 ? ((crc << 1) ^ 0x8005) & 0xffff : (crc << 1) & 0xffff;
    }
  }
  return crc;
}

/** ASCII, padded with spaces; longer text is cut. */
function ascii(text: string, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) =>
    i < text.length ? text.charCodeAt(i) & 0x7f : 0x20,
  );
}

/** The number as value and decimal exponent of one digit: 3000 is 3 and 3. */
function scientific(value: number): [value: number, exponent: number] {
  let exponent = 0;
  let rest = value;
  while (rest > 9) {
    rest = Math.floor(rest / 10);
    exponent++;
  }
  return [rest, exponent];
}

/** The 256 bytes of one copy, CRC included. */
export function parameterPageOf(part: NandPart): Uint8Array {
  const page = new Bytes(PARAMETER_PAGE_BYTES);
  RevisionRecord.encodeInto(
    {
      signature: ascii('ONFI', 4),
      revisions: REVISIONS,
      features: FEATURES,
      optionalCommands: OPTIONAL_COMMANDS,
      extendedPageBytes: 0,
      copies: PARAMETER_PAGE_COPIES,
    },
    page,
  );
  MakerRecord.encodeInto(
    {
      maker: ascii(part.maker, 12),
      model: ascii(part.model, 20),
      jedecId: part.idBytes[0] ?? 0,
      dateCode: 0,
    },
    page,
    MAKER_OFFSET,
  );
  encodeMemory(part, page);
  encodeElectrical(page);
  encodeVendor(page);
  const crc = onfiCrc16(page, CRC_OFFSET);
  page[CRC_OFFSET] = crc & 0xff;
  page[CRC_OFFSET + 1] = crc >>> 8;
  return page;
}

function encodeMemory(part: NandPart, page: Uint8Array): void {
  const [enduranceValue, enduranceExponent] = scientific(part.ratedEraseCount);
  MemoryRecord.encodeInto(
    {
      pageBytes: part.pageBytes,
      spareBytes: part.spareBytes,
      pagesPerBlock: part.pagesPerBlock,
      blocksPerLun: part.blocksPerDie,
      luns: 1,
      addressCycles: ADDRESS_CYCLES,
      bitsPerCell: 2,
      badBlocksMax: Math.min(part.badBlocksPerDieMax, part.blocksPerDie),
      enduranceValue,
      enduranceExponent,
      guaranteedBlocks: 1,
      guaranteedEndurance: 0,
      programsPerPage: 1,
      eccBits: part.eccBits,
      planeAddressBits: log2Exact(part.planes, 'planes of a die'),
      multiPlaneAttributes: MULTI_PLANE_ATTRIBUTES,
    },
    page,
    MEMORY_OFFSET,
  );
}

function encodeElectrical(page: Uint8Array): void {
  ElectricalRecord.encodeInto(
    {
      ioCapacitanceMax: 5,
      asyncModes: ALL_MODES,
      programMaxUs: PROGRAM_MAX_US,
      eraseMaxUs: ERASE_MAX_US,
      readMaxUs: READ_MAX_US,
      ccsNs: ASYNC_TIMINGS[0]!.ccsNs,
      syncModes: ALL_MODES,
      // Typical capacitances are given, tCAD is the fast one.
      syncFeatures: 0x02,
      clockCapacitance: 40,
      ioCapacitance: 45,
      inputCapacitance: 40,
      inputCapacitanceMax: 5,
      driveStrengths: 0x07,
      multiPlaneReadMaxUs: READ_MAX_US,
      adlNs: SYNC_TIMINGS[5]!.adlNs,
    },
    page,
    ELECTRICAL_OFFSET,
  );
}

function encodeVendor(page: Uint8Array): void {
  VendorRecord.encodeInto(
    {
      revision: 1,
      multiPlaneRead: 1,
      driveStrengthCount: 4,
      driveStrengthAddress: 0x10,
      pullDownSupported: 1,
      pullDownAddress: 0x81,
      pullDownCount: 4,
      otpSupport: 2,
      otpStartPage: OTP_START_PAGE,
      otpProtectPage: OTP_PROTECT_PAGE,
      otpPages: OTP_PAGES,
      otpFeature: 0x90,
    },
    page,
    VENDOR_OFFSET,
  );
}

/** The longest tR that the page promises, in ns: what reading the page itself takes. */
export const READ_MAX_NS = READ_MAX_US * NS_PER_US;
