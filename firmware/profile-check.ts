/**
 * Profile check: the relations between a profile's numbers, each with its sentence.
 */

import { Geometry } from '../hal/geometry.ts';
import { type DriveProfile, ImpossibleProfile } from '../hal/profile.ts';

/** Superblocks beside user data and the erased ones: root, two frontiers, two checkpoints. */
const OTHER_SUPERBLOCKS = 3;

/** Throws ImpossibleProfile with the relation that fails and its numbers. */
export function checkProfile(profile: DriveProfile): void {
  const geometry = geometryOf(profile);
  const { policy, identity } = profile;
  const fail = (relation: string): never => {
    throw new ImpossibleProfile(`profile '${profile.id}': ${relation}`);
  };
  const floor = policy.freeSuperblocksFloor;
  const low = policy.freeSuperblocksLow;
  if (floor < 2) fail(`freeSuperblocksFloor must be at least 2, not ${floor}`);
  if (low <= floor) fail(`freeSuperblocksLow (${low}) must exceed freeSuperblocksFloor (${floor})`);
  if (policy.freeSuperblocksHigh <= low) {
    fail(`freeSuperblocksHigh (${policy.freeSuperblocksHigh}) must exceed freeSuperblocksLow`);
  }
  const pages = Math.ceil(identity.sectors / 8);
  const perSuperblock = geometry.slotsPerSuperblock;
  const userSuperblocks = Math.ceil(pages / perSuperblock);
  const mapPages = Math.ceil(pages / 1024) + 1 + Math.ceil(geometry.superblocks / 128);
  const checkpoint = Math.ceil(mapPages / (perSuperblock / 2));
  const needed = userSuperblocks + low + OTHER_SUPERBLOCKS + 2 * checkpoint;
  if (needed >= geometry.superblocks) {
    fail(
      `${identity.sectors} sectors need ${userSuperblocks} superblocks, with ${low} erased, ` +
        `${2 * checkpoint} for checkpoints and ${OTHER_SUPERBLOCKS} more ${needed}; ` +
        `the geometry has ${geometry.superblocks}`,
    );
  }
  if ((policy.writeBufferSlots & (policy.writeBufferSlots - 1)) !== 0) {
    fail(`writeBufferSlots must be a power of two, not ${policy.writeBufferSlots}`);
  }
  if (policy.writeBufferSlots < 2 * policy.burstPages) {
    fail(`writeBufferSlots must be at least two bursts (${2 * policy.burstPages})`);
  }
}

function geometryOf(profile: DriveProfile): Geometry {
  try {
    return new Geometry(profile.geometry);
  } catch (error) {
    throw new ImpossibleProfile(`profile '${profile.id}': ${(error as Error).message}`);
  }
}
