/**
 * The map: where each 4 KiB logical page is.
 *
 * A cell is 0 (unmapped), a flash slot plus one, or, above all flash slots, a place in the write
 * buffer. A page in the buffer is therefore found by the same look-up as one in flash. Every mapped
 * flash slot has its valid bit set and is counted in its superblock; nothing else is.
 */

import type { Geometry } from '../../hal/geometry.ts';
import type { TablePort } from '../../hal/ports.ts';
import { invariant } from '../../hal/sim/invariant.ts';
import type { Superblocks } from './superblocks.ts';

export const UNMAPPED = 0;

export class Mapping {
  readonly l2p: TablePort;
  readonly validBits: TablePort;
  readonly geometry: Geometry;
  /** Cells above this number are places in the write buffer. */
  readonly flashTop: number;
  readonly #superblocks: Superblocks;

  constructor(geometry: Geometry, l2p: TablePort, validBits: TablePort, superblocks: Superblocks) {
    this.geometry = geometry;
    this.l2p = l2p;
    this.validBits = validBits;
    this.flashTop = geometry.slots;
    this.#superblocks = superblocks;
  }

  /** A page will be looked up some events from now, or at the next one. */
  expect(lpn: number): void {
    this.l2p.expect(lpn);
  }

  need(lpn: number): void {
    this.l2p.need(lpn);
  }

  /** A page is about to be overwritten: the valid bit of its slot will be wanted too. */
  needToOverwrite(lpn: number): void {
    this.l2p.need(lpn);
    const old = this.l2p.values[lpn]!;
    if (old !== UNMAPPED && old <= this.flashTop) this.validBits.expect((old - 1) >>> 5);
  }

  /** Points a page to a place in the write buffer; what it pointed to in flash falls invalid. */
  toBuffer(lpn: number, bufferIndex: number): void {
    const old = this.l2p.values[lpn]!;
    this.l2p.write(lpn, this.flashTop + 1 + bufferIndex);
    if (old !== UNMAPPED && old <= this.flashTop) this.#invalidate(old - 1);
  }

  /** A buffered page has been programmed: the map follows unless it points elsewhere by now. */
  fromBuffer(lpn: number, bufferIndex: number, slot: number): void {
    if (this.l2p.values[lpn] !== this.flashTop + 1 + bufferIndex) return;
    this.l2p.write(lpn, slot + 1);
    this.validate(slot);
  }

  /** Collected data has been programmed: the map follows unless it points elsewhere by now. */
  move(lpn: number, from: number, to: number): void {
    if (this.l2p.values[lpn] !== from + 1) return;
    this.l2p.write(lpn, to + 1);
    this.#invalidate(from);
    this.validate(to);
  }

  /** Unmaps a page; true when it was mapped. */
  unmap(lpn: number): boolean {
    const old = this.l2p.values[lpn]!;
    if (old === UNMAPPED) return false;
    this.l2p.write(lpn, UNMAPPED);
    if (old <= this.flashTop) this.#invalidate(old - 1);
    return true;
  }

  isValid(slot: number): boolean {
    return ((this.validBits.values[slot >>> 5]! >>> (slot & 31)) & 1) !== 0;
  }

  /** Valid bits of the unit that begins at `slot`: bit j is slot j of it. */
  validMask(slot: number): number {
    const word = this.validBits.values[slot >>> 5]!;
    return (word >>> (slot & 31)) & ((1 << this.geometry.slotsPerUnit) - 1);
  }

  validate(slot: number): void {
    const word = slot >>> 5;
    this.validBits.write(word, this.validBits.values[word]! | (1 << (slot & 31)));
    this.#superblocks.addValid(this.geometry.superblockOf(slot));
  }

  #invalidate(slot: number): void {
    const word = slot >>> 5;
    this.validBits.write(word, this.validBits.values[word]! & ~(1 << (slot & 31)));
    this.#superblocks.removeValid(this.geometry.superblockOf(slot));
  }

  /** Walks the whole map: bits and counts agree with it, no slot serves two pages. For tests. */
  verify(): void {
    const counts = new Int32Array(this.geometry.superblocks);
    const taken = new Uint8Array(Math.ceil(this.geometry.slots / 8));
    let mapped = 0;
    for (const cell of this.l2p.values) {
      if (cell === UNMAPPED || cell > this.flashTop) continue;
      mapped++;
      const slot = cell - 1;
      invariant(this.isValid(slot), 'a mapped slot has its valid bit set');
      const bit = 1 << (slot & 7);
      invariant((taken[slot >>> 3]! & bit) === 0, 'no two pages share a slot');
      taken[slot >>> 3] = taken[slot >>> 3]! | bit;
      const superblock = this.geometry.superblockOf(slot);
      counts[superblock] = counts[superblock]! + 1;
    }
    let bits = 0;
    for (const word of this.validBits.values) {
      for (let rest = word; rest !== 0; rest &= rest - 1) bits++;
    }
    invariant(bits === mapped, 'no slot is valid that the map does not point to');
    counts.forEach((count, superblock) => {
      const known = this.#superblocks.validCount[superblock];
      invariant(known === count, 'a superblock counts its valid slots');
    });
  }
}
