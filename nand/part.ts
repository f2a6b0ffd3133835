/**
 * Part data: what the data sheet says of one flash die.
 *
 * The Vector's die is the IMFT 25 nm 64 Gbit MLC, Micron L74A (Intel-sourced wafers in the drive).
 * Sources: Micron L74A feature page Rev G (page, block, tPROG 1300 us typical, tBERS 3.8 ms
 * typical, tR 75 us max); the ONFI 2.2 tables for the bus. The split of tPROG and tR into LSB and
 * MSB pages is assumed: 560/2040 us keeps the mean at 1300 us with the ratio of 3-5 published for
 * 2x nm MLC, 45/65 us lies under the maximum as other tools assume.
 */

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
  readonly readLsbNs: number;
  readonly readMsbNs: number;
  readonly programLsbNs: number;
  readonly programMsbNs: number;
  readonly eraseNs: number;
  /** tRST at idle and at power-on. */
  readonly resetNs: number;
  readonly firstResetNs: number;
  readonly ratedEraseCount: number;
}

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
  readLsbNs: 45_000,
  readMsbNs: 65_000,
  programLsbNs: 560_000,
  programMsbNs: 2_040_000,
  eraseNs: 3_800_000,
  resetNs: 5_000,
  firstResetNs: 1_000_000,
  ratedEraseCount: 3000,
};

/** A die small enough to read whole: the Vector's timings, 16 pages a block with scaled pairing. */
const TOY: NandPart = { ...L74A, id: 'toy', model: 'TOY', blocksPerDie: 64, pagesPerBlock: 16 };

const PARTS: ReadonlyMap<string, NandPart> = new Map([L74A, TOY].map((part) => [part.id, part]));

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
