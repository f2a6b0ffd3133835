/**
 * A drive small enough to read whole: 2 channels x 2 dies, 64 blocks a die, 16 pages a block.
 *
 * The Vector's timings, clocks, cells (but for factory bad blocks) and firmware; 32 superblocks of
 * 256 slots. For tests, teaching and exhaustive fault campaigns.
 */

import type { DriveProfile } from '../../hal/profile.ts';
import { VECTOR_256 } from './vector.ts';

/** 4 KiB pages the host can address: 20 of the 32 superblocks. */
const USER_PAGES = 5120;

export const TOY: DriveProfile = {
  ...VECTOR_256,
  id: 'toy',
  says: 'a toy: 2 channels x 2 dies, 16 pages a block',
  identity: {
    model: 'BAREFOOT3 TOY',
    firmware: '3.0',
    serial: 'OCZ-BF3EMU0000000000',
    wwn: '5e83a97000000000',
    sectors: USER_PAGES * 8,
  },
  partId: 'toy',
  cells: { ...VECTOR_256.cells, factoryBadBlocks: false },
  geometry: {
    channels: 2,
    diesPerChannel: 2,
    planes: 2,
    blocksPerDie: 64,
    pagesPerBlock: 16,
    pageBytes: 8192,
    spareBytes: 448,
  },
  dram: { ...VECTOR_256.dram, bytesPerDevice: 4 * 2 ** 20 },
  policy: {
    ...VECTOR_256.policy,
    freeSuperblocksLow: 5,
    freeSuperblocksFloor: 2,
    freeSuperblocksHigh: 10,
    writeBufferSlots: 64,
    burstPages: 32,
  },
  spareSectors: (32 * 256 - USER_PAGES) * 8,
};
