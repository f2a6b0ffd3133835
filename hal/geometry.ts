/**
 * Geometry: how the flash array is cut up, and the one numbering of its 4 KiB slots.
 *
 * A superblock is one block per plane per die; its stripes are one multi-plane page (a unit) per
 * die. A slot number is superblock, page, die, plane and slot in page, most significant first:
 * slots count up in the order in which a superblock is written, so that what is written together
 * lies together. Every count is a power of two, so parts of an address are bit fields. Block
 * numbers are those of ONFI: the lowest block bit is the plane.
 */

import { invariant } from './sim/invariant.ts';
import { log2Exact, SLOT_BYTES } from './sim/units.ts';

export interface GeometryCounts {
  readonly channels: number;
  readonly diesPerChannel: number;
  readonly planes: number;
  /** Blocks of one die, both planes together. */
  readonly blocksPerDie: number;
  readonly pagesPerBlock: number;
  readonly pageBytes: number;
  readonly spareBytes: number;
}

export class Geometry implements GeometryCounts {
  readonly channels: number;
  readonly diesPerChannel: number;
  readonly planes: number;
  readonly blocksPerDie: number;
  readonly pagesPerBlock: number;
  readonly pageBytes: number;
  readonly spareBytes: number;

  readonly dies: number;
  readonly blocks: number;
  readonly slotsPerPage: number;
  readonly slotsPerBlock: number;
  /** Slots of one multi-plane page: what one program operation writes. */
  readonly slotsPerUnit: number;
  readonly slots: number;
  readonly superblocks: number;
  /** Multi-plane pages of one superblock. */
  readonly unitsPerSuperblock: number;
  readonly slotsPerSuperblock: number;

  readonly slotBits: number;
  readonly pageBits: number;
  readonly blockBits: number;
  readonly planeBits: number;
  readonly dieBits: number;
  /** Bits below the die, and below the page, in a slot number. */
  readonly #dieShift: number;
  readonly #pageShift: number;
  readonly #superblockShift: number;

  /** Throws RangeError naming the count when one is not a power of two. */
  constructor(counts: GeometryCounts) {
    this.channels = counts.channels;
    this.diesPerChannel = counts.diesPerChannel;
    this.planes = counts.planes;
    this.blocksPerDie = counts.blocksPerDie;
    this.pagesPerBlock = counts.pagesPerBlock;
    this.pageBytes = counts.pageBytes;
    this.spareBytes = counts.spareBytes;

    this.slotsPerPage = counts.pageBytes / SLOT_BYTES;
    this.slotBits = log2Exact(this.slotsPerPage, 'slots per page (pageBytes / 4096)');
    this.pageBits = log2Exact(counts.pagesPerBlock, 'pagesPerBlock');
    this.blockBits = log2Exact(counts.blocksPerDie, 'blocksPerDie');
    this.planeBits = log2Exact(counts.planes, 'planes');
    this.dies = counts.channels * counts.diesPerChannel;
    this.dieBits = log2Exact(this.dies, 'channels * diesPerChannel');
    this.#dieShift = this.slotBits + this.planeBits;
    this.#pageShift = this.#dieShift + this.dieBits;
    this.#superblockShift = this.#pageShift + this.pageBits;
    this.blocks = this.dies * counts.blocksPerDie;
    this.slotsPerBlock = this.slotsPerPage * counts.pagesPerBlock;
    this.slotsPerUnit = this.slotsPerPage * counts.planes;
    this.slots = this.blocks * this.slotsPerBlock;
    this.superblocks = counts.blocksPerDie / counts.planes;
    this.unitsPerSuperblock = this.dies * counts.pagesPerBlock;
    this.slotsPerSuperblock = this.unitsPerSuperblock * this.slotsPerUnit;
    invariant(this.slotsPerUnit <= 8, 'a multi-plane page has at most eight slots');
  }

  slotOf(die: number, block: number, page: number, slotInPage: number): number {
    const plane = block & (this.planes - 1);
    const superblock = block >>> this.planeBits;
    const row = (superblock << this.pageBits) | page;
    return (
      (row << this.#pageShift) | (die << this.#dieShift) | (plane << this.slotBits) | slotInPage
    );
  }

  /** First slot of a unit: the multi-plane page at (die, superblock, page). */
  unitSlotOf(die: number, superblock: number, page: number): number {
    return (((superblock << this.pageBits) | page) << this.#pageShift) | (die << this.#dieShift);
  }

  /** Place of a slot in its unit: plane, then slot in page. */
  indexInUnit(slot: number): number {
    return slot & (this.slotsPerUnit - 1);
  }

  /** Number of a block over the whole array, superblock by superblock: plane lowest, then die. */
  blockIndex(die: number, block: number): number {
    const plane = block & (this.planes - 1);
    const row = ((block >>> this.planeBits) << this.dieBits) | die;
    return (row << this.planeBits) | plane;
  }

  /** Block of a slot, counted over the whole array. */
  blockIndexOf(slot: number): number {
    const inRow = (slot >>> this.slotBits) & (this.dies * this.planes - 1);
    return ((slot >>> this.#superblockShift) << (this.dieBits + this.planeBits)) | inRow;
  }

  /** First slot of a page of a block counted over the whole array. */
  pageSlotOf(blockIndex: number, page: number): number {
    const inRow = blockIndex & (this.dies * this.planes - 1);
    const superblock = blockIndex >>> (this.dieBits + this.planeBits);
    const row = (superblock << this.pageBits) | page;
    return (row << this.#pageShift) | (inRow << this.slotBits);
  }

  dieOf(slot: number): number {
    return (slot >>> this.#dieShift) & (this.dies - 1);
  }

  /** Block number within its die. */
  blockOf(slot: number): number {
    const plane = (slot >>> this.slotBits) & (this.planes - 1);
    return ((slot >>> this.#superblockShift) << this.planeBits) | plane;
  }

  pageOf(slot: number): number {
    return (slot >>> this.#pageShift) & (this.pagesPerBlock - 1);
  }

  superblockOf(slot: number): number {
    return slot >>> this.#superblockShift;
  }

  /** Channel of a die: dies are numbered across the channels first. */
  channelOf(die: number): number {
    return die % this.channels;
  }

  /** 'ch3.die1 block 77 page 12 slot 0', for people. */
  describe(slot: number): string {
    const die = this.dieOf(slot);
    const way = Math.floor(die / this.channels);
    const place = `block ${this.blockOf(slot)} page ${this.pageOf(slot)}`;
    return `ch${this.channelOf(die)}.die${way} ${place} slot ${slot & (this.slotsPerPage - 1)}`;
  }
}
