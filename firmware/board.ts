/**
 * The board as firmware holds it: its ports, the tables in DRAM and the profile it was built for.
 */

import type { FlashOps } from '../hal/flash-ops.ts';
import type { Geometry } from '../hal/geometry.ts';
import type { PagePairing } from '../hal/pairing.ts';
import type {
  ContentPort,
  CorePort,
  FlashPort,
  HostPort,
  InterruptPort,
  TablePort,
  TimerPort,
} from '../hal/ports.ts';
import type { DriveProfile } from '../hal/profile.ts';
import type { Probe } from '../hal/sim/probe.ts';

export interface Board {
  readonly profile: DriveProfile;
  readonly geometry: Geometry;
  readonly pairing: PagePairing;
  readonly arm: CorePort;
  readonly aragon: CorePort;
  readonly interrupts: InterruptPort;
  readonly timers: TimerPort;
  readonly ops: FlashOps;
  readonly flash: FlashPort;
  readonly host: HostPort & { isOrphan(slot: number): boolean };
  readonly content: ContentPort;
  /** Map: one cell a logical page (mapping.ts). */
  readonly l2p: TablePort;
  /** One bit a slot: the map points to it. */
  readonly validBits: TablePort;
  readonly probe: Probe;
  /** Levels of shifted references that the part has beyond the ordinary read. */
  readonly readRetryLevels: number;
}

/** Who is told when a flash operation ends: FlashOps.owner. */
export enum OpOwner {
  Reader,
  Writer,
  HostStream,
  Collector,
  CollectorStream,
  Eraser,
  Metadata,
}

/** Receives its ended flash operations, at the instant Aragon retires them. */
export interface OpClient {
  flashDone(op: number): void;
}

/** Timer channels. */
export enum TimerChannel {
  IdleFlush,
}
