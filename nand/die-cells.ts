/**
 * The cells of one die: what its operations do to the page store, and how long they take.
 *
 * An operation covers one block, or page, in several planes. Wear and faults decide whether it
 * fails; one that is cut short damages what it worked on. A program takes the references of its
 * descriptor over, unless it fails: then firmware can program them again elsewhere. What firmware
 * may never do - pages out of order - is a broken rule.
 */

import type { Content } from '../hal/content/content.ts';
import { type FlashOps, SLOTS_PER_OP } from '../hal/flash-ops.ts';
import type { Geometry } from '../hal/geometry.ts';
import type { PagePairing } from '../hal/pairing.ts';
import { BlockFlag } from './block-history.ts';
import type { Media } from './media.ts';
import type { PageStore } from './page-store.ts';
import type { NandPart } from './part.ts';
import {
  eraseRber,
  type InterruptedDraws,
  lsbProgramRber,
  msbProgramRber,
  partnerRber,
} from './physics/interrupted.ts';
import type { Wear } from './physics/wear.ts';

/** RBER of a page whose program failed: nothing of it can be read. */
const FAILED_RBER = 0.5;

export interface DieCellsParts {
  die: number;
  geometry: Geometry;
  part: NandPart;
  pairing: PagePairing;
  media: Media;
  contents: Content;
  ops: FlashOps;
  /** Null: blocks neither fail nor age. */
  wear: Wear | null;
  draws: InterruptedDraws;
}

export class DieCells {
  /** Planes whose present operation fails, and those where nothing happens (faults). */
  failPlanes = 0;
  silentPlanes = 0;
  /** A fault has sent the present operation to another block. */
  redirected = false;
  /** Planes that failed in the last program or erase. */
  #failed = 0;
  /** Planes in which the last program has stored nothing, and yet not failed. */
  #dropped = 0;
  readonly #parts: DieCellsParts;
  readonly #store: PageStore;

  constructor(parts: DieCellsParts) {
    this.#parts = parts;
    this.#store = parts.media.store;
  }

  /** First slot of a page of this die. */
  firstSlotOf(block: number, page: number): number {
    return this.#parts.geometry.slotOf(this.#parts.die, block, page, 0);
  }

  /**
   * A descriptor's slots are programmed into a page of every plane.
   * @returns planes that failed, as bits
   */
  program(block: number, page: number, op: number): number {
    this.#failed = 0;
    this.#dropped = 0;
    const { planes } = this.#parts.geometry;
    for (let plane = 0; plane < planes; plane++) {
      if (!this.#programPlane(block + plane, page, op, plane)) this.#failed |= 1 << plane;
    }
    if ((this.#failed | this.#dropped) !== 0) this.#settleReferences(op);
    return this.#failed;
  }

  /**
   * The blocks of a group are erased.
   * @returns planes that failed, as bits
   */
  erase(block: number): number {
    this.#failed = 0;
    const { planes } = this.#parts.geometry;
    for (let plane = 0; plane < planes; plane++) {
      if (!this.#erasePlane(block + plane, plane)) this.#failed |= 1 << plane;
    }
    return this.#failed;
  }

  /** Whether the plane of a block has not failed in the last program or erase. */
  lastWorked(block: number): boolean {
    return ((this.#failed >>> (block & (this.#parts.geometry.planes - 1))) & 1) === 0;
  }

  /** A program was cut short after a fraction of its time, above 0. */
  programInterrupted(block: number, page: number, op: number, fraction: number): void {
    const { planes } = this.#parts.geometry;
    for (let plane = 0; plane < planes; plane++) {
      this.#cutProgram(block + plane, page, op, plane, fraction);
    }
  }

  /** An erase was cut short after a fraction of its time, above 0. */
  eraseInterrupted(block: number, fraction: number): void {
    const { planes } = this.#parts.geometry;
    for (let plane = 0; plane < planes; plane++) {
      if (((this.silentPlanes >>> plane) & 1) === 0) this.#cutErase(block + plane, fraction);
    }
  }

  #programPlane(block: number, page: number, op: number, plane: number): boolean {
    const { geometry, die, wear, media } = this.#parts;
    const store = this.#store;
    const index = geometry.blockIndex(die, block);
    if ((this.redirected || this.silentPlanes !== 0) && this.#isLost(index, page, plane)) {
      this.#dropped |= 1 << plane;
      return true;
    }
    const worn = wear?.failsProgram(index, page, store.history.eraseCountOf(index)) ?? false;
    const failed = worn || ((this.failPlanes >>> plane) & 1) !== 0;
    store.openPage(index, page, media.clock.minute);
    if (failed) store.damagePage(index, page, FAILED_RBER);
    else this.#commit(op, plane, geometry.slotOf(die, block, page, 0));
    return !failed;
  }

  /** Faults keep a program out of its page; one that goes astray can spoil a page that is full. */
  #isLost(index: number, page: number, plane: number): boolean {
    if (((this.silentPlanes >>> plane) & 1) !== 0) return true;
    if (!this.redirected || page >= this.#store.history.nextPageOf(index)) return false;
    this.#store.damagePage(index, page, FAILED_RBER);
    return true;
  }

  #erasePlane(block: number, plane: number): boolean {
    if (((this.silentPlanes >>> plane) & 1) !== 0) return true;
    if (((this.failPlanes >>> plane) & 1) !== 0) return false;
    const { geometry, die, wear } = this.#parts;
    const index = geometry.blockIndex(die, block);
    if (wear?.failsErase(index, this.#store.history.eraseCountOf(index)) ?? false) return false;
    this.#store.erase(index);
    return true;
  }

  #cutProgram(block: number, page: number, op: number, plane: number, fraction: number): void {
    const { geometry, die, pairing, media, draws } = this.#parts;
    const store = this.#store;
    const index = geometry.blockIndex(die, block);
    if (this.#isLost(index, page, plane)) return;
    store.openPage(index, page, media.clock.minute);
    this.#commit(op, plane, geometry.slotOf(die, block, page, 0));
    this.#retain(op, plane);
    if (pairing.isMsb[page] === 0) {
      store.damagePage(index, page, lsbProgramRber(fraction));
      return;
    }
    const draw = draws.ofProgram(index, page, store.history.eraseCountOf(index));
    store.damagePage(index, page, msbProgramRber(fraction, draw));
    store.damagePage(index, pairing.partner[page]!, partnerRber(fraction));
  }

  #cutErase(block: number, fraction: number): void {
    const { geometry, die, draws } = this.#parts;
    const store = this.#store;
    const index = geometry.blockIndex(die, block);
    const rber = eraseRber(fraction, draws.ofErase(index, store.history.eraseCountOf(index)));
    store.erase(index);
    store.flag(index, BlockFlag.Weak);
    if (rber > 0) store.flag(index, BlockFlag.EraseTorn);
  }

  /** tR of a page. */
  readNs(page: number): number {
    const { part, pairing } = this.#parts;
    return pairing.isMsb[page] === 1 ? part.readMsbNs : part.readLsbNs;
  }

  /** tPROG of the page of a group: the slowest plane decides. */
  groupProgramNs(block: number, page: number): number {
    const { geometry, wear, die } = this.#parts;
    const first = geometry.blockIndex(die, block);
    const eraseCount = this.#store.history.eraseCountOf(first);
    let longestNs = this.programNs(block, page);
    for (let plane = 1; plane < geometry.planes; plane++) {
      // Without scatter a plane as old as the first takes as long.
      const isSame = this.#store.history.eraseCountOf(first + plane) === eraseCount;
      if (isSame && wear?.jitter !== true) continue;
      const ns = this.programNs(block + plane, page);
      if (ns > longestNs) longestNs = ns;
    }
    return longestNs;
  }

  /** tBERS of a group: the slowest plane decides. */
  groupEraseNs(block: number): number {
    const { planes } = this.#parts.geometry;
    let longestNs = 0;
    for (let plane = 0; plane < planes; plane++) {
      longestNs = Math.max(longestNs, this.eraseNs(block + plane));
    }
    return longestNs;
  }

  programNs(block: number, page: number): number {
    const { part, pairing, wear, geometry, die } = this.#parts;
    const msb = pairing.isMsb[page] === 1;
    const nominalNs = msb ? part.programMsbNs : part.programLsbNs;
    if (wear === null) return nominalNs;
    const index = geometry.blockIndex(die, block);
    return wear.programNs(nominalNs, msb, index, page, this.#store.history.eraseCountOf(index));
  }

  eraseNs(block: number): number {
    const { part, wear, geometry, die } = this.#parts;
    if (wear === null) return part.eraseNs;
    const index = geometry.blockIndex(die, block);
    return wear.eraseNs(part.eraseNs, index, this.#store.history.eraseCountOf(index));
  }

  isFactoryBad(block: number): boolean {
    const { geometry, die } = this.#parts;
    const flags = this.#store.history.flagsOf(geometry.blockIndex(die, block));
    return (flags & BlockFlag.FactoryMark) !== 0;
  }

  nextPage(block: number): number {
    const { geometry, die } = this.#parts;
    return this.#store.history.nextPageOf(geometry.blockIndex(die, block));
  }

  programCount(block: number, page: number): number {
    return page < this.nextPage(block) && this.#isProgrammed(block, page) ? 1 : 0;
  }

  #isProgrammed(block: number, page: number): boolean {
    const { geometry, die } = this.#parts;
    const slot = geometry.slotOf(die, block, page, 0);
    return this.#store.pageWordOf(slot) !== 0 || this.#store.contentOf(slot) !== 0;
  }

  /** A plane's slots of a descriptor go into the cells, with the references to their data. */
  #commit(op: number, plane: number, firstSlot: number): void {
    const { geometry, ops } = this.#parts;
    const { slotsPerPage } = geometry;
    this.#store.programPage(firstSlot, slotsPerPage, ops, op * SLOTS_PER_OP + plane * slotsPerPage);
  }

  /** The descriptor keeps its own references. */
  #retain(op: number, plane: number): void {
    const { geometry, ops, contents } = this.#parts;
    const first = op * SLOTS_PER_OP + plane * geometry.slotsPerPage;
    for (let at = first; at < first + geometry.slotsPerPage; at++) {
      if (ops.content[at]! < 0) contents.retain(ops.content[at]!);
    }
  }

  /**
   * After a failure the descriptor keeps all its references, so planes that have taken theirs over
   * get some of their own; otherwise nobody holds those of planes that stored nothing.
   */
  #settleReferences(op: number): void {
    const { planes } = this.#parts.geometry;
    for (let plane = 0; plane < planes; plane++) {
      const isDropped = ((this.#dropped >>> plane) & 1) !== 0;
      const isTaken = !isDropped && ((this.#failed >>> plane) & 1) === 0;
      if (this.#failed !== 0 && isTaken) this.#retain(op, plane);
      if (this.#failed === 0 && isDropped) this.#release(op, plane);
    }
  }

  #release(op: number, plane: number): void {
    const { geometry, ops, contents } = this.#parts;
    const first = op * SLOTS_PER_OP + plane * geometry.slotsPerPage;
    for (let at = first; at < first + geometry.slotsPerPage; at++) {
      if (ops.content[at]! < 0) contents.release(ops.content[at]!);
    }
  }
}
