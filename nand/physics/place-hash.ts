/**
 * Values that belong to a place: a hash of (seed, purpose, three integers) to 32 bits.
 *
 * A property of a block or codeword is not drawn from a stream but looked up, so it is the same
 * whenever and in whatever order it is asked for (law L9). The mixing is MurmurHash3 x86_32
 * (Appleby, public domain) with the key of the purpose at both ends.
 */

const C1 = 0xcc9e2d51 | 0;
const C2 = 0x1b873593;
const C3 = 0xe6546b64 | 0;

/** What a seed and a purpose make of the hash. */
export interface PlaceKey {
  readonly start: number;
  readonly finish: number;
}

/** @param purpose what the values are for, e.g. 'nand.block-factor' */
export function placeKey(seed: string, purpose: string): PlaceKey {
  const text = `${seed}/${purpose}`;
  return { start: hashText(0x2545f491, text), finish: hashText(0x3c6ef372, text) };
}

/**
 * Uniform in all 32 bits, signed. Places that differ in a, b or c are independent. Written out
 * flat: as nested calls it is too much for the engine to inline on the path of a read.
 */
export function placeHash(key: PlaceKey, a: number, b: number, c: number): number {
  let hash = key.start;
  let block = Math.imul(a, C1);
  hash ^= Math.imul((block << 15) | (block >>> 17), C2);
  hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + C3) | 0;
  block = Math.imul(b, C1);
  hash ^= Math.imul((block << 15) | (block >>> 17), C2);
  hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + C3) | 0;
  block = Math.imul(c, C1);
  hash ^= Math.imul((block << 15) | (block >>> 17), C2);
  hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + C3) | 0;
  return finished(hash ^ key.finish);
}

/** A hash as a fraction above 0 and below 1, in steps of 2^-32. */
export function fractionOf(hash: number): number {
  return ((hash >>> 0) + 0.5) / 2 ** 32;
}

function hashText(start: number, text: string): number {
  let hash = start;
  for (let i = 0; i < text.length; i++) hash = stirred(hash, text.charCodeAt(i));
  return finished(hash ^ text.length);
}

function stirred(hash: number, value: number): number {
  const block = Math.imul(value, C1);
  const mixed = hash ^ Math.imul((block << 15) | (block >>> 17), C2);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + C3) | 0;
}

function finished(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
