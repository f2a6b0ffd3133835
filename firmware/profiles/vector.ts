/**
 * OCZ Vector 128, 256 and 512 GB (2012): Barefoot 3 M00 at 400 MHz, IMFT 25 nm MLC.
 *
 * Sources: AnandTech 6363, Tech Report 23937, Tom's Hardware 3358 (dies, page, block, clocks,
 * DRAM); IDEMA LBA1-03 (capacity); public SMART logs of the drives (attribute 171).
 */

import { idemaSectors } from '../../hal/identity.ts';
import type { DriveProfile } from '../../hal/profile.ts';

const ASSUMPTIONS = [
  'link handshake of 106 dwords a frame: within the 60-150 that published ceilings leave',
  'tPROG 560 us (LSB) and 2040 us (MSB): the data sheet gives only the mean, 1300 us',
  'tR 45 us (LSB) and 65 us (MSB): below the 75 us maximum of the data sheet',
  'ARM and Aragon cycle costs: hand-counted; the split of work was never published',
  'DDR3L bus of 16 bits a device',
  'cells: the error, wear and bad block laws of nand/physics; no scatter of times; 30 C',
  'ECC: BCH of 28 bits on 1080 bytes, decoded at 200 MHz; the real code was never published',
  'boot times of ROM, DRAM training and die identification',
  'policy: free superblock levels, burst size and queue lengths of the firmware',
  'write buffer of 8 MiB: no hold-up capacitors, so little is kept dirty',
];

const VECTOR: DriveProfile = {
  id: 'vector-256',
  says: 'OCZ Vector 256 GB: 8 channels x 4 dies',
  identity: {
    model: 'OCZ-VECTOR',
    firmware: '3.0',
    serial: 'OCZ-BF3EMU0000000256',
    wwn: '5e83a97000000256',
    sectors: idemaSectors(256),
  },
  partId: 'imft-25nm-64gbit',
  geometry: {
    channels: 8,
    diesPerChannel: 4,
    planes: 2,
    blocksPerDie: 4096,
    pagesPerBlock: 256,
    pageBytes: 8192,
    spareBytes: 448,
  },
  bus: { synchronous: true, mode: 5 },
  armMegahertz: 400,
  aragonMegahertz: 400,
  dram: {
    devices: 2,
    bytesPerDevice: 256 * 2 ** 20,
    megatransfersPerSecond: 1600,
    busBytesPerDevice: 2,
    parityDevice: false,
  },
  link: { gigabaud: 6, handshakeDwords: 106 },
  armCycles: { accept: 700, local: 4000, slow: 1500, timer: 300 },
  boot: { romNs: 12_000_000, dramNs: 3_000_000, resetDiesNs: 1_000_000, identifyDieNs: 120_000 },
  cells: {
    bitErrors: true,
    factoryBadBlocks: true,
    wear: true,
    timeScatter: false,
    celsius: 30,
  },
  policy: {
    performanceMode: true,
    freeSuperblocksLow: 28,
    freeSuperblocksFloor: 8,
    freeSuperblocksHigh: 256,
    writeBufferSlots: 2048,
    burstPages: 32,
    programsPerDie: 2,
    collectReadsPerDie: 2,
    idleFlushNs: 5_000_000,
  },
  spareSectors: 36_466_000,
  assumptions: ASSUMPTIONS,
};

export const VECTOR_256 = VECTOR;

export const VECTOR_128: DriveProfile = {
  ...VECTOR,
  id: 'vector-128',
  says: 'OCZ Vector 128 GB: 8 channels x 2 dies',
  identity: {
    ...VECTOR.identity,
    serial: 'OCZ-BF3EMU0000000128',
    wwn: '5e83a97000000128',
    sectors: idemaSectors(128),
  },
  geometry: { ...VECTOR.geometry, diesPerChannel: 2 },
  spareSectors: 32_744 * 8192 - idemaSectors(128),
};

export const VECTOR_512: DriveProfile = {
  ...VECTOR,
  id: 'vector-512',
  says: 'OCZ Vector 512 GB: 8 channels x 8 dies',
  identity: {
    ...VECTOR.identity,
    serial: 'OCZ-BF3EMU0000000512',
    wwn: '5e83a97000000512',
    sectors: idemaSectors(512),
  },
  geometry: { ...VECTOR.geometry, diesPerChannel: 8 },
  dram: { ...VECTOR.dram, bytesPerDevice: 512 * 2 ** 20 },
  spareSectors: (131_072 - 84) * 8192 - idemaSectors(512),
};
