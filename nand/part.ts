/**
 * Part data: what the data sheet says of one flash die.
 *
 * The Vector's die is the IMFT 25 nm 64 Gbit MLC, Micron L74A (Intel-sourced wafers in the drive);
 * later Barefoot 3 drives carry the 20 nm L84 (Vertex 450) and Toshiba 19 nm (Vector 150, Vertex
 * 460). No data sheet splits tPROG and tR into LSB and MSB pages: that split is assumed everywhere.
 */

import type { PairingSchemeId } from '../hal/pairing.ts';
import { invariant } from '../hal/sim/invariant.ts';

export interface NandPart {
  readonly id: string;
  readonly maker: string;
  readonly model: string;
  /** READ ID 90h-00h. */
  readonly idBytes: readonly number[];
  readonly planes: number;
  readonly blocksPerDie: number;
  readonly pagesPerBlock: number;
  readonly pageBytes: number;
  readonly spareBytes: number;
  /** Which pages share cells, see hal/pairing.ts. */
  readonly pairingScheme: PairingSchemeId;
  readonly readLsbNs: number;
  readonly readMsbNs: number;
  readonly programLsbNs: number;
  readonly programMsbNs: number;
  readonly eraseNs: number;
  /** tRST at idle and at power-on. */
  readonly resetNs: number;
  readonly firstResetNs: number;
  readonly ratedEraseCount: number;
  /** Bits that the maker asks a code to correct, per 1 KiB of data and its share of the spare. */
  readonly eccBits: number;
  /** Levels of shifted references beyond the ordinary read; 0 without read retry. */
  readonly readRetryLevels: number;
  /** Most blocks of a die that may be bad, from the factory to the rated erase count. */
  readonly badBlocksPerDieMax: number;
  /** Coefficients of the raw bit error rate, see nand/physics/error-law.ts. */
  readonly errorLawId: string;
}

/**
 * Sources: Micron L74A feature page Rev G (page, block, tPROG 1300 us typical, tBERS 3.8 ms
 * typical, tR 75 us max, 24 bit per 1080 byte); driver tables for the identification and the
 * bad blocks. Assumed: 560/2040 us keeps the mean at 1300 us with the ratio of 3-5 published for
 * 2x nm MLC, 45/65 us lies under the maximum as other tools assume.
 */
const L74A: NandPart = {
  id: 'imft-25nm-64gbit',
  maker: 'INTEL',
  model: '29F64G08ACME3',
  idBytes: [0x89, 0x88, 0x24, 0x4b, 0xa9, 0x00, 0x00, 0x00],
  planes: 2,
  blocksPerDie: 4096,
  pagesPerBlock: 256,
  pageBytes: 8192,
  spareBytes: 448,
  pairingScheme: '25nm',
  readLsbNs: 45_000,
  readMsbNs: 65_000,
  programLsbNs: 560_000,
  programMsbNs: 2_040_000,
  eraseNs: 3_800_000,
  resetNs: 5_000,
  firstResetNs: 1_000_000,
  ratedEraseCount: 3000,
  eccBits: 24,
  readRetryLevels: 0,
  badBlocksPerDieMax: 100,
  errorLawId: '25-nm',
};

/**
 * Sources: Micron L84 feature page (page and spare, tR 100 us max, 3000 cycles, read retry);
 * Telechips and Allwinner driver tables of the asynchronous MT29F64G08CBABA (identification,
 * blocks, 100 bad, 40 bit per 1 KiB). Assumed: that the synchronous die answers with the same
 * bytes; tR in the proportion of the L74A to its maximum; tPROG, tBERS and tRST of the L74A; four
 * levels of read retry; the error law, which holds for about 60 days without power.
 */
const L84: NandPart = {
  ...L74A,
  id: 'imft-20nm-64gbit',
  maker: 'MICRON',
  model: 'MT29F64G08CBCBB',
  idBytes: [0x2c, 0x64, 0x44, 0x4b, 0xa9, 0x00, 0x00, 0x00],
  spareBytes: 744,
  pairingScheme: '20nm',
  readLsbNs: 60_000,
  readMsbNs: 87_000,
  eccBits: 40,
  readRetryLevels: 4,
  errorLawId: '2y-nm',
};

/**
 * Sources: part number of published Vertex 460 boards (TH58TEG7DDJBA4C, two dies a package);
 * identification as public tables give it for that part; 16 KiB pages, 256 pages a block and read
 * retry of the single die TC58TEG6DDJ in Allwinner's tables (five or six levels, by version);
 * spare, 40 bit per 1 KiB and 148 bad blocks of its sibling DCJ in Telechips' table; 3000 cycles
 * from the SMART arithmetic of the drives. Assumed: all times; that the die has 2048 blocks (it has
 * 2130, but counts of the emulated geometry are powers of two); the error law as for the L84; and
 * that its Toggle bus costs the same time as an ONFI synchronous bus of equal rate.
 */
const TOSHIBA_19NM: NandPart = {
  id: 'toshiba-19nm-64gbit',
  maker: 'TOSHIBA',
  model: 'TH58TEG7DDJBA4C',
  idBytes: [0x98, 0xde, 0x94, 0x93, 0x76, 0xd7, 0x00, 0x00],
  planes: 2,
  blocksPerDie: 2048,
  pagesPerBlock: 256,
  pageBytes: 16_384,
  spareBytes: 1280,
  pairingScheme: '19nm',
  readLsbNs: 50_000,
  readMsbNs: 75_000,
  programLsbNs: 500_000,
  programMsbNs: 2_300_000,
  eraseNs: 5_000_000,
  resetNs: 5_000,
  firstResetNs: 1_000_000,
  ratedEraseCount: 3000,
  eccBits: 40,
  readRetryLevels: 5,
  badBlocksPerDieMax: 148,
  errorLawId: '2y-nm',
};

/** A die small enough to read whole: the Vector's timings, 16 pages a block with scaled pairing. */
const TOY: NandPart = {
  ...L74A,
  id: 'toy',
  model: 'TOY',
  blocksPerDie: 64,
  pagesPerBlock: 16,
  // The share of the whole die.
  badBlocksPerDieMax: 1,
};

/** All parts. */
export const NAND_PARTS: readonly NandPart[] = [L74A, L84, TOSHIBA_19NM, TOY];

const PARTS: ReadonlyMap<string, NandPart> = new Map(NAND_PARTS.map((part) => [part.id, part]));

/** The part with this id; throws when there is none. */
export function nandPart(id: string): NandPart {
  const part = PARTS.get(id);
  invariant(part !== undefined, 'a profile names a part that exists');
  return part;
}

/**
 * MT/s of the synchronous (NV-DDR) timing modes 0-5 on an 8-bit bus. Source: ONFI 2.2, table of
 * tCK.
 */
export const SYNC_MEGATRANSFERS = [40, 66.7, 100, 133, 166.7, 200] as const;
/** MT/s of the asynchronous timing modes 0-5: 1000 / tRC. Source: ONFI 2.2. */
export const ASYNC_MEGATRANSFERS = [10, 20, 28.6, 33.3, 40, 50] as const;

/** Interface and timing mode negotiated at boot by SET FEATURES 01h. */
export interface BusMode {
  readonly synchronous: boolean;
  readonly mode: 0 | 1 | 2 | 3 | 4 | 5;
}

/** Ns a byte takes on the bus. */
export function nsPerByte(bus: BusMode): number {
  const rates = bus.synchronous ? SYNC_MEGATRANSFERS : ASYNC_MEGATRANSFERS;
  return 1_000 / rates[bus.mode];
}
