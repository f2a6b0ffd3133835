/**
 * Chance of a fault as a pure function: the same seed, fault and operation give the same answer.
 *
 * A stream of draws would shift when another fault is added or lifted; a hash of what is decided
 * does not. The mixing is that of MurmurHash3 for 32-bit machines (A. Appleby, public domain).
 */

/** Number of outcomes of a draw. */
const OUTCOMES = 2 ** 32;

/** The start of the draws that belong to a seed. */
export function seedHashOf(seed: string): number {
  let hash = 0x811c9dc5 | 0;
  for (let i = 0; i < seed.length; i++) hash = mix(hash, seed.charCodeAt(i));
  return finish(hash);
}

/**
 * Whether something of a certain probability happens.
 * @param seedHash of `seedHashOf`
 * @param faultId the fault that asks
 * @param operationNumber which of the operations that fit it
 * @param probability 0 (never) to 1 (always)
 */
export function happens(
  seedHash: number,
  faultId: number,
  operationNumber: number,
  probability: number,
): boolean {
  const draw = finish(mix(mix(seedHash, faultId), operationNumber));
  return draw < probability * OUTCOMES;
}

function mix(hash: number, value: number): number {
  let word = Math.imul(value, 0xcc9e2d51);
  word = (word << 15) | (word >>> 17);
  const mixed = hash ^ Math.imul(word, 0x1b873593);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

function finish(hash: number): number {
  let value = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
