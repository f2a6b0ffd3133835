/**
 * A die array of raw bytes: sparse pages, for tests and for users of a single die.
 *
 * Over-programming ands the cells and damages the MLC partner; an interrupted program or erase
 * leaves damage that is a fixed function of block, page and fraction, so a run repeats exactly.
 */

import { PagePairing } from '../../hal/pairing.ts';
import type { Saved } from '../../hal/sim/snapshot.ts';
import type { NandPart } from '../part.ts';
import type { DieArray } from './die-array.ts';
import { ERASED_BYTE, type PageRegister, RawPageRegister } from './page-register.ts';

/** One bit in so many is wrong in a damaged page (assumed: far beyond any code). */
const DAMAGE_BITS = 32;

export class RawDieArray implements DieArray {
  readonly part: NandPart;
  readonly #pairing: PagePairing;
  readonly #pageBytes: number;
  readonly #factoryBad: ReadonlySet<number>;
  /** Programmed pages by block * pagesPerBlock + page; absent is erased. */
  readonly #pages = new Map<number, Uint8Array>();
  /** Programs of each page since its erase, by the same key. */
  readonly #programCounts = new Map<number, number>();
  /** Next page of each block in rising order. */
  readonly #nextPages: Int32Array;
  readonly eraseCounts: Int32Array;
  /** Blocks and pages (by key) whose programs or erases report FAIL. */
  readonly failingPrograms = new Set<number>();
  readonly failingErases = new Set<number>();

  /** @param factoryBad blocks marked bad: their first page reads as zeros */
  constructor(part: NandPart, factoryBad: Iterable<number> = []) {
    this.part = part;
    this.#pairing = new PagePairing(part.pagesPerBlock, part.pairingScheme);
    this.#pageBytes = part.pageBytes + part.spareBytes;
    this.#factoryBad = new Set(factoryBad);
    this.#nextPages = new Int32Array(part.blocksPerDie);
    this.eraseCounts = new Int32Array(part.blocksPerDie);
    for (const block of this.#factoryBad) {
      this.#pages.set(this.key(block, 0), new Uint8Array(this.#pageBytes));
    }
  }

  key(block: number, page: number): number {
    return block * this.part.pagesPerBlock + page;
  }

  /** What a page holds, for reading only; null when erased. */
  pageOf(block: number, page: number): Uint8Array | null {
    return this.#pages.get(this.key(block, page)) ?? null;
  }

  makeRegister(): RawPageRegister {
    return new RawPageRegister(this.#pageBytes);
  }

  load(block: number, page: number, register: PageRegister): void {
    raw(register).fill(this.pageOf(block, page));
  }

  program(block: number, page: number, register: PageRegister): boolean {
    const key = this.key(block, page);
    const again = this.programCount(block, page) > 0;
    const cells = this.#cells(key);
    const content = raw(register).content;
    if (content !== null) andInto(cells, content, cells.length);
    if (again) this.#damagePartner(block, page, 1);
    this.#count(block, page);
    return !this.failingPrograms.has(key);
  }

  erase(block: number): boolean {
    for (let page = 0; page < this.part.pagesPerBlock; page++) {
      this.#pages.delete(this.key(block, page));
      this.#programCounts.delete(this.key(block, page));
    }
    this.#nextPages[block] = 0;
    this.eraseCounts[block] = this.eraseCounts[block]! + 1;
    return !this.failingErases.has(block);
  }

  programInterrupted(block: number, page: number, register: PageRegister, fraction: number): void {
    const key = this.key(block, page);
    const cells = this.#cells(key);
    const content = raw(register).content;
    // The cells that a program reaches early are those of the low columns here.
    const reached = Math.floor(fraction * cells.length);
    if (content !== null) andInto(cells, content, reached);
    damage(cells, key);
    this.#damagePartner(block, page, 2);
    this.#count(block, page);
  }

  eraseInterrupted(block: number, fraction: number): void {
    for (let page = 0; page < this.part.pagesPerBlock; page++) {
      const key = this.key(block, page);
      const cells = this.#pages.get(key);
      if (cells === undefined) continue;
      cells.fill(ERASED_BYTE, 0, Math.floor(fraction * cells.length));
      damage(cells, key);
    }
    // Nothing can be said of the order any more: the block has to be erased again.
    this.#nextPages[block] = this.part.pagesPerBlock;
  }

  readNs(_block: number, page: number): number {
    return this.#isMsb(page) ? this.part.readMsbNs : this.part.readLsbNs;
  }

  programNs(_block: number, page: number): number {
    return this.#isMsb(page) ? this.part.programMsbNs : this.part.programLsbNs;
  }

  eraseNs(_block: number): number {
    return this.part.eraseNs;
  }

  isFactoryBad(block: number): boolean {
    return this.#factoryBad.has(block);
  }

  nextPage(block: number): number {
    return this.#nextPages[block]!;
  }

  programCount(block: number, page: number): number {
    return this.#programCounts.get(this.key(block, page)) ?? 0;
  }

  #isMsb(page: number): boolean {
    return this.#pairing.isMsb[page] === 1;
  }

  #cells(key: number): Uint8Array {
    let cells = this.#pages.get(key);
    if (cells === undefined) {
      cells = new Uint8Array(this.#pageBytes).fill(ERASED_BYTE);
      this.#pages.set(key, cells);
    }
    return cells;
  }

  #count(block: number, page: number): void {
    const key = this.key(block, page);
    this.#programCounts.set(key, this.programCount(block, page) + 1);
    if (page >= this.#nextPages[block]!) this.#nextPages[block] = page + 1;
  }

  #damagePartner(block: number, page: number, salt: number): void {
    const key = this.key(block, this.#pairing.partner[page]!);
    const cells = this.#pages.get(key);
    if (cells !== undefined) damage(cells, key + salt);
  }

  save(): Saved {
    return {
      keys: Int32Array.from(this.#pages.keys()),
      pages: [...this.#pages.values()].map((page) => page.slice()),
      countKeys: Int32Array.from(this.#programCounts.keys()),
      counts: Int32Array.from(this.#programCounts.values()),
      nextPages: this.#nextPages.slice(),
      eraseCounts: this.eraseCounts.slice(),
    };
  }

  restore(saved: Saved): void {
    this.#pages.clear();
    const pages = saved.pages as Uint8Array[];
    (saved.keys as Int32Array).forEach((key, i) => {
      this.#pages.set(key, pages[i]!.slice());
    });
    this.#programCounts.clear();
    const counts = saved.counts as Int32Array;
    (saved.countKeys as Int32Array).forEach((key, i) => {
      this.#programCounts.set(key, counts[i]!);
    });
    this.#nextPages.set(saved.nextPages as Int32Array);
    this.eraseCounts.set(saved.eraseCounts as Int32Array);
  }
}

function raw(register: PageRegister): RawPageRegister {
  return register as RawPageRegister;
}

/** Flips about one bit in DAMAGE_BITS, chosen by `seed` (an integer hash in the manner of FNV). */
function damage(cells: Uint8Array, seed: number): void {
  let hash = Math.imul(seed ^ 0x9e3779b9, 0x01000193) | 1;
  const flips = Math.ceil((cells.length * 8) / DAMAGE_BITS);
  for (let i = 0; i < flips; i++) {
    hash ^= hash << 13;
    hash ^= hash >>> 17;
    hash ^= hash << 5;
    const bit = (hash >>> 0) % (cells.length * 8);
    cells[bit >>> 3] = cells[bit >>> 3]! ^ (1 << (bit & 7));
  }
}

function andInto(cells: Uint8Array, content: Uint8Array, count: number): void {
  for (let i = 0; i < count; i++) cells[i] = cells[i]! & content[i]!;
}
