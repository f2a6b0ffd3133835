/**
 * The checksum of a snapshot file: MurmurHash3 for 32-bit machines (A. Appleby, public domain),
 * over whole words only.
 *
 * A CRC would do as well but runs at half the speed, and snapshots of a full drive have a gigabyte.
 * Every step is a bijection of the state, so a single damaged word is always found.
 */

import { invariant } from './invariant.ts';

const WORD_BYTES = 4;

export class Checksum {
  #hash: number;
  #byteCount = 0;

  /** @param seed start of the hash, an unsigned 32-bit integer */
  constructor(seed = 0) {
    this.#hash = seed | 0;
  }

  /** Adds bytes, a multiple of four of them; words are little-endian. */
  add(bytes: Uint8Array): void {
    invariant(bytes.length % WORD_BYTES === 0, 'a checksum is taken over whole words');
    const aligned = bytes.byteOffset % WORD_BYTES === 0 ? bytes : Uint8Array.from(bytes);
    const count = aligned.length / WORD_BYTES;
    const words = new Int32Array(aligned.buffer, aligned.byteOffset, count);
    this.#hash = hashWords(this.#hash, words);
    this.#byteCount += bytes.length;
  }

  /** The checksum of everything added so far, an unsigned 32-bit integer. */
  get value(): number {
    let hash = this.#hash ^ (this.#byteCount | 0);
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return (hash ^ (hash >>> 16)) >>> 0;
  }
}

/** The checksum of some bytes, a multiple of four of them. */
export function checksumOf(bytes: Uint8Array): number {
  const checksum = new Checksum();
  checksum.add(bytes);
  return checksum.value;
}

function hashWords(seed: number, words: Int32Array): number {
  let hash = seed;
  for (let i = 0; i < words.length; i++) {
    let word = Math.imul(words[i]!, 0xcc9e2d51);
    word = (word << 15) | (word >>> 17);
    hash ^= Math.imul(word, 0x1b873593);
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  return hash;
}
