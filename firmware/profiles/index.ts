/**
 * The profiles by name, as the command line and the library offer them.
 */

import type { DriveProfile } from '../../hal/profile.ts';
import { TOY } from './toy.ts';
import { VECTOR_128, VECTOR_256, VECTOR_512 } from './vector.ts';

export const PROFILES: readonly DriveProfile[] = [VECTOR_128, VECTOR_256, VECTOR_512, TOY];

/** The profile with this name, undefined when there is none. */
export function profileById(id: string): DriveProfile | undefined {
  return PROFILES.find((profile) => profile.id === id);
}
