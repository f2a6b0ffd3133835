/**
 * A drive profile: "a Vector 256 GB" as data, not code.
 *
 * Inputs are data-sheet timings, clock rates, cycle costs and firmware policy; no number that a
 * review published (law L6). Each assumed input is listed with its reason.
 */

import type { GeometryCounts } from './geometry.ts';
import type { DriveIdentity } from './identity.ts';

/** Cycles of the ARM's tasks (assumed: hand-counted for a small in-order core). */
export interface ArmCycles {
  /** Take a queued command from its slot and start it. */
  readonly accept: number;
  /** Decode and answer a command that needs no media, in addition. */
  readonly local: number;
  /** Start a flush, trim or standby, in addition. */
  readonly slow: number;
  /** Serve a timer. */
  readonly timer: number;
}

/** Boot stages in ns (assumed). */
export interface BootTimes {
  readonly romNs: number;
  readonly dramNs: number;
  /** First reset of all dies together (tRST at power-on). */
  readonly resetDiesNs: number;
  /** READ ID and parameter page of one die, feature set-up included. */
  readonly identifyDieNs: number;
}

/** Which effects of real cells the drive has. */
export interface CellEffects {
  /** Bit errors of wear, age and reads. */
  readonly bitErrors: boolean;
  /** Blocks that leave the factory marked bad. */
  readonly factoryBadBlocks: boolean;
  /** Blocks that fail to program or erase when worn, and times that drift with wear. */
  readonly wear: boolean;
  /** Scatter of tPROG and tBERS from operation to operation. */
  readonly timeScatter: boolean;
  /** Temperature of the dies in degrees Celsius. */
  readonly celsius: number;
}

export interface FirmwarePolicy {
  /** Fresh superblocks take LSB pages only while erased ones are plentiful. */
  readonly performanceMode: boolean;
  /** Erased superblocks at which performance mode ends and collection starts. */
  readonly freeSuperblocksLow: number;
  /** Erased superblocks that only collection and metadata may use. */
  readonly freeSuperblocksFloor: number;
  /** Erased superblocks that bring performance mode back. */
  readonly freeSuperblocksHigh: number;
  /** Dirty 4 KiB slots of the write buffer; a power of two. */
  readonly writeBufferSlots: number;
  /** Pages of 4 KiB asked of the host in one burst, and read in one window. */
  readonly burstPages: number;
  /** Programs in flight per die for each of host and collection. */
  readonly programsPerDie: number;
  /** Reads that collection keeps in flight per die. */
  readonly collectReadsPerDie: number;
  /** Ns after which a partly filled unit is written out when nothing more arrives. */
  readonly idleFlushNs: number;
}

export interface DriveProfile {
  /** Name on the command line. */
  readonly id: string;
  readonly says: string;
  readonly identity: DriveIdentity;
  readonly partId: string;
  readonly geometry: GeometryCounts;
  readonly bus: { readonly synchronous: boolean; readonly mode: 0 | 1 | 2 | 3 | 4 | 5 };
  readonly armMegahertz: number;
  readonly aragonMegahertz: number;
  readonly dram: {
    readonly devices: number;
    readonly bytesPerDevice: number;
    readonly megatransfersPerSecond: number;
    readonly busBytesPerDevice: number;
    readonly parityDevice: boolean;
  };
  readonly link: { readonly gigabaud: number; readonly handshakeDwords: number };
  readonly armCycles: ArmCycles;
  readonly boot: BootTimes;
  readonly cells: CellEffects;
  readonly policy: FirmwarePolicy;
  /** Over-provisioned sectors that SMART attribute 171 shows on a new drive. */
  readonly spareSectors: number;
  /** Inputs without a public source, each with its reason. */
  readonly assumptions: readonly string[];
}

/** A profile whose tables do not fit its DRAM, or another relation that cannot hold. */
export class ImpossibleProfile extends Error {
  override readonly name = 'ImpossibleProfile';
}
