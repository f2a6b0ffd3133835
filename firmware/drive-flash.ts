/**
 * The flash half of the composition root: dies, their physics and what lies between.
 */

import type { Content } from '../hal/content/content.ts';
import type { FaultList } from '../hal/faults/fault-list.ts';
import type { FlashOps } from '../hal/flash-ops.ts';
import type { Geometry } from '../hal/geometry.ts';
import type { InterruptController } from '../hal/interrupts.ts';
import type { PagePairing } from '../hal/pairing.ts';
import type { BandwidthPort } from '../hal/ports.ts';
import type { DriveProfile } from '../hal/profile.ts';
import type { Probe } from '../hal/sim/probe.ts';
import type { Machine } from '../hal/sim/snapshot.ts';
import { NandArray } from '../nand/array.ts';
import { BlockFlag } from '../nand/block-history.ts';
import { ExactReads } from '../nand/exact-reads.ts';
import { Media } from '../nand/media.ts';
import { PageStore } from '../nand/page-store.ts';
import { nandPart } from '../nand/part.ts';
import { errorLaw } from '../nand/physics/error-law.ts';
import { ErrorModel } from '../nand/physics/error-model.ts';
import { factoryBadMap } from '../nand/physics/factory-bad.ts';
import { InterruptedDraws } from '../nand/physics/interrupted.ts';
import { Variation } from '../nand/physics/variation.ts';
import { Wear } from '../nand/physics/wear.ts';
import { RetentionClock } from '../nand/retention-clock.ts';

/** How the drive finds out what is wrong with a codeword. */
export type EccWeight = 'counted' | 'exact';

export interface FlashParts {
  profile: DriveProfile;
  geometry: Geometry;
  pairing: PagePairing;
  machine: Machine;
  probe: Probe;
  contents: Content;
  ops: FlashOps;
  interrupts: InterruptController;
  dram: BandwidthPort;
  faults: FaultList;
  /** Seed of all that belongs to places: strength of blocks, error positions, bad blocks. */
  seed: string;
  ecc: EccWeight;
  /** Flash that exists already; null: a new one, as the factory leaves it. */
  store: PageStore | null;
}

/** Builds the flash array and adds its parts to the machine. */
export function buildFlash(parts: FlashParts): NandArray {
  const { profile, geometry, pairing, machine, contents, seed } = parts;
  const { cells } = profile;
  const { timeline } = machine;
  const store = parts.store ?? newStore(parts);
  const clock = machine.add(new RetentionClock(timeline));
  if (clock.celsius !== cells.celsius) clock.setTemperature(cells.celsius);
  machine.add(store.damage);
  const part = nandPart(profile.partId);
  const variation = new Variation(seed, geometry.blocks, pairing);
  const errors = cells.bitErrors
    ? new ErrorModel(seed, errorLaw(part.errorLawId), variation)
    : null;
  const exact = parts.ecc === 'exact' ? new ExactReads(geometry, contents, errors) : null;
  const options = { jitter: cells.timeScatter };
  const { probe, ops, interrupts, dram, faults } = parts;
  return machine.add(
    new NandArray({
      ...{ timeline, probe, geometry, pairing, ops, contents, interrupts, dram, faults },
      part,
      bus: profile.bus,
      media: new Media({ geometry, store, contents, pairing, clock, errors, exact }),
      wear: cells.wear ? new Wear(seed, geometry.blocks, variation, options) : null,
      draws: new InterruptedDraws(seed),
    }),
  );
}

function newStore({ profile, geometry, contents, machine, seed }: FlashParts): PageStore {
  const store = new PageStore(geometry, contents, machine);
  if (!profile.cells.factoryBadBlocks) return store;
  factoryBadMap(seed, geometry).forEach((bad, block) => {
    if (bad === 1) store.history.set(block, BlockFlag.FactoryMark);
  });
  return store;
}
