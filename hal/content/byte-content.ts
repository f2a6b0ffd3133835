/**
 * Byte content: pages hold their real 4096 bytes.
 *
 * A page is immutable once stored and counted by the places that refer to it; a partial write makes
 * a new page. Frames in memory are bounded: beyond the bound the longest-resident page goes to an
 * injected synchronous backing (a file) and comes back when it is looked at. A page that has a home
 * (page-home.ts) needs no frame and is never written to the backing.
 */

import { invariant } from '../sim/invariant.ts';
import type { Machine, Saved } from '../sim/snapshot.ts';
import { SECTOR_BYTES, SECTORS_PER_SLOT, SLOT_BYTES, WHOLE_SLOT } from '../sim/units.ts';
import { type Content, ContentBase } from './content.ts';
import { countHandles, isMetadata, lenderOf, MetadataPages } from './metadata-pages.ts';
import { NO_HOME, type PageHome } from './page-home.ts';
import { SpoiledPages } from './spoiled-pages.ts';

/** Where pages go that find no room in memory. */
export interface PageBacking {
  write(page: number, bytes: Uint8Array): void;
  read(page: number, into: Uint8Array): void;
}

const NONE = -1;
const FRAMES_PER_SLAB = 8192;
const ZEROS = new Uint8Array(SLOT_BYTES);

export class ByteContent extends ContentBase implements Content {
  readonly kind = 'hal.content';
  readonly version = 2;
  readonly holdsBytes = true;
  readonly metadata: MetadataPages;
  readonly #machine: Machine | null;
  readonly #framesMax: number;
  readonly #backing: PageBacking | null;
  readonly #allocate: (bytes: number) => Uint8Array;
  /** References to each page. */
  #references = new Int32Array(1024);
  /** Frame of each page, NONE when it is in the backing or free. */
  #frameOf = new Int32Array(1024).fill(NONE);
  /** Flash slot that each page can be read from, NO_HOME when it is only here. */
  #homeOf = new Int32Array(1024).fill(NO_HOME);
  /** Reads pages at home; needed as soon as a page has one. */
  #home: PageHome | null = null;
  #freePages: number[] = [];
  readonly #spoiled = new SpoiledPages();
  #pageCount = 0;
  #frames: Uint8Array[] = [];
  /** Page in each frame, NONE for a free frame. */
  #pageIn: number[] = [];
  #freeFrames: number[] = [];
  /** Frame whose page is put out next. */
  #clock = 0;

  /**
   * @param framesMax pages of 4 KiB kept in memory
   * @param backing takes the rest; without one the bound is not enforced
   * @param machine holds the table that metadata pages refer to; needed to restore a new machine
   * @param allocate makes memory for frames; a host program may know a cheaper kind than plain
   * arrays
   */
  constructor(
    framesMax: number,
    backing: PageBacking | null,
    machine: Machine | null = null,
    metadata = new MetadataPages(),
    allocate: (bytes: number) => Uint8Array = (bytes) => new Uint8Array(bytes),
  ) {
    super();
    this.#allocate = allocate;
    this.#machine = machine;
    this.#framesMax = Math.max(64, framesMax);
    this.#backing = backing;
    this.metadata = metadata;
  }

  /** Pages in use, and how many of them are in memory. */
  get pageCount(): number {
    return this.#pageCount - this.#freePages.length;
  }

  get residentCount(): number {
    return this.#frames.length - this.#freeFrames.length;
  }

  /** Stores 4096 bytes copied from `bytes` at `offset`; the caller owns the handle. */
  store(bytes: Uint8Array, offset = 0): number {
    const page = this.#takePage();
    const frame = this.#frames[this.#frameOf[page]!]!;
    const whole = offset === 0 && bytes.length === SLOT_BYTES;
    frame.set(whole ? bytes : bytes.subarray(offset, offset + SLOT_BYTES));
    return -page - 1;
  }

  /** Where pages and metadata pages with a home are read from now on. */
  setHome(home: PageHome): void {
    this.#home = home;
    this.metadata.setHome(home);
  }

  /** Makes room for so many pages at once: before many are adopted. */
  reserve(pages: number): void {
    if (pages > this.#references.length) this.#grow(pages);
  }

  /**
   * A page that is already at home in a flash slot; the caller owns the handle.
   * @param spoiled sectors of it that are unreadable for good, as bits
   */
  adopt(slot: number, spoiled = 0): number {
    const page = this.#takeNumber();
    this.#homeOf[page] = slot;
    this.#spoiled.set(page, spoiled);
    return -page - 1;
  }

  /** The page has been stored in a flash slot: it lives there and leaves memory. */
  settleAt(content: number, slot: number): void {
    if (isMetadata(content)) {
      this.metadata.settleAt(content, slot);
      return;
    }
    const page = -content - 1;
    this.#homeOf[page] = slot;
    this.#leaveFrame(page);
  }

  /**
   * A flash slot is about to be erased: a page at home there that others refer to comes into
   * memory.
   */
  leaveHome(content: number, slot: number): void {
    if (isMetadata(content)) {
      this.metadata.leaveHome(content, slot);
      return;
    }
    const page = -content - 1;
    if (this.#homeOf[page] !== slot || this.#references[page]! < 2) return;
    if (this.#frameOf[page] === NONE) this.#bringIn(page);
    this.#homeOf[page] = NO_HOME;
  }

  retain(content: number): void {
    if (content >= 0) return;
    if (isMetadata(content)) {
      this.metadata.retain(content);
      return;
    }
    const page = -content - 1;
    this.#references[page] = this.#references[page]! + 1;
  }

  release(content: number): void {
    if (content >= 0) return;
    if (isMetadata(content)) {
      this.metadata.release(content);
      return;
    }
    const page = -content - 1;
    const left = this.#references[page]! - 1;
    invariant(left >= 0, 'a page is released once per reference');
    this.#references[page] = left;
    if (left > 0) return;
    this.#leaveFrame(page);
    this.#homeOf[page] = NO_HOME;
    this.#spoiled.set(page, 0);
    this.#freePages.push(page);
  }

  merge(below: number, above: number, mask: number): number {
    if (mask === WHOLE_SLOT) {
      this.retain(above);
      return above;
    }
    const merged = this.bytesOf(below).slice();
    const top = this.bytesOf(above);
    for (let sector = 0; sector < SECTORS_PER_SLOT; sector++) {
      if (((mask >> sector) & 1) === 0) continue;
      const at = sector * SECTOR_BYTES;
      merged.set(top.subarray(at, at + SECTOR_BYTES), at);
    }
    const handle = this.store(merged);
    const spoiled = (this.spoiledOf(below) & ~mask) | (this.spoiledOf(above) & mask);
    this.#spoiled.set(-handle - 1, spoiled);
    return handle;
  }

  spoil(content: number, mask: number): number {
    const handle = this.store(this.bytesOf(content).slice());
    this.#spoiled.set(-handle - 1, this.spoiledOf(content) | mask);
    this.release(content);
    return handle;
  }

  spoiledOf(content: number): number {
    return content >= 0 || isMetadata(content) ? 0 : this.#spoiled.maskOf(-content - 1);
  }

  sectorTag(content: number, sector: number): number {
    const bytes = this.bytesOf(content);
    let hash = 0;
    for (let i = sector * SECTOR_BYTES; i < (sector + 1) * SECTOR_BYTES; i++) {
      hash = Math.imul(hash, 31) + bytes[i]!;
    }
    return hash | 0;
  }

  /** The page's bytes: a view that is good until the next call. */
  bytesOf(content: number): Uint8Array {
    if (content >= 0) {
      invariant(content === 0, 'a store of bytes knows no tags');
      return ZEROS;
    }
    if (isMetadata(content)) return this.metadata.read(content);
    const page = -content - 1;
    if (this.#frameOf[page] === NONE) this.#bringIn(page);
    return this.#frames[this.#frameOf[page]!]!;
  }

  sweep(flash: readonly number[]): void {
    const { metadata, pages } = countHandles(flash);
    this.metadata.sweep(metadata);
    for (let page = 0; page < this.#pageCount; page++) {
      if (this.#references[page] === 0) continue;
      const kept = pages.get(page) ?? 0;
      this.#references[page] = Math.max(1, kept);
      if (kept === 0) this.release(-page - 1);
    }
  }

  fork(machine: Machine): ByteContent {
    const copy = new ByteContent(this.#framesMax, null, machine, this.metadata.fork());
    copy.#restorePages(this.#savePages());
    return copy;
  }

  save(): Saved {
    return { ...this.#savePages(), metadata: this.metadata.save() };
  }

  restore(saved: Saved): void {
    this.#restorePages(saved);
    const lender = this.#machine === null ? null : lenderOf(this.#machine);
    this.metadata.restore(saved.metadata as Saved, lender);
  }

  #savePages(): Saved {
    const pages: (Uint8Array | null)[] = [];
    for (let page = 0; page < this.#pageCount; page++) {
      pages.push(this.#references[page]! > 0 ? this.bytesOf(-page - 1).slice() : null);
    }
    return {
      pages,
      references: this.#references.slice(0, this.#pageCount),
      freePages: Int32Array.from(this.#freePages),
      spoiled: this.#spoiled.save(),
    };
  }

  #restorePages(saved: Saved): void {
    const pages = saved.pages as (Uint8Array | null)[];
    this.#frames = [];
    this.#pageIn = [];
    this.#freeFrames = [];
    this.#clock = 0;
    this.#pageCount = pages.length;
    this.#references = new Int32Array(Math.max(1024, pages.length));
    this.#references.set(saved.references as Int32Array);
    this.#frameOf = new Int32Array(this.#references.length).fill(NONE);
    this.#homeOf = new Int32Array(this.#references.length).fill(NO_HOME);
    this.#freePages = [...(saved.freePages as Int32Array)];
    this.#spoiled.restore(saved.spoiled as Int32Array);
    pages.forEach((bytes, page) => {
      if (bytes === null) return;
      this.#place(page);
      this.#frames[this.#frameOf[page]!]!.set(bytes);
    });
  }

  #takePage(): number {
    const page = this.#takeNumber();
    this.#place(page);
    return page;
  }

  #takeNumber(): number {
    const page = this.#freePages.pop() ?? this.#pageCount++;
    if (page >= this.#references.length) this.#grow(this.#references.length * 2);
    this.#references[page] = 1;
    return page;
  }

  #grow(length: number): void {
    const references = new Int32Array(length);
    references.set(this.#references);
    const frameOf = new Int32Array(length).fill(NONE);
    frameOf.set(this.#frameOf);
    const homeOf = new Int32Array(length).fill(NO_HOME);
    homeOf.set(this.#homeOf);
    this.#references = references;
    this.#frameOf = frameOf;
    this.#homeOf = homeOf;
  }

  #bringIn(page: number): void {
    invariant(this.#references[page]! > 0, 'only a live page is looked at');
    this.#place(page);
    const frame = this.#frames[this.#frameOf[page]!]!;
    const slot = this.#homeOf[page]!;
    if (slot === NO_HOME) this.#backing!.read(page, frame);
    else this.#home!.read(slot, frame);
  }

  /** Gives `page` a frame, putting the longest-resident page out when memory is used up. */
  #place(page: number): void {
    if (this.#freeFrames.length === 0) {
      const full = this.#frames.length >= this.#framesMax;
      if (!full || !this.#putOut()) this.#addSlab();
    }
    const frame = this.#freeFrames.pop()!;
    this.#pageIn[frame] = page;
    this.#frameOf[page] = frame;
  }

  /** Frees the frame of the longest-resident page that lies, or can be put, elsewhere. */
  #putOut(): boolean {
    if (this.#backing === null && this.#home === null) return false;
    for (let left = this.#frames.length; left > 0; left--) {
      const frame = this.#clock;
      this.#clock = (frame + 1) % this.#frames.length;
      const page = this.#pageIn[frame]!;
      if (this.#homeOf[page] === NO_HOME) {
        if (this.#backing === null) continue;
        this.#backing.write(page, this.#frames[frame]!);
      }
      this.#leaveFrame(page);
      return true;
    }
    return false;
  }

  #leaveFrame(page: number): void {
    const frame = this.#frameOf[page]!;
    if (frame === NONE) return;
    this.#pageIn[frame] = NONE;
    this.#freeFrames.push(frame);
    this.#frameOf[page] = NONE;
  }

  #addSlab(): void {
    const room = this.#backing === null ? FRAMES_PER_SLAB : this.#framesMax - this.#frames.length;
    const count = Math.min(FRAMES_PER_SLAB, room);
    const slab = this.#allocate(count * SLOT_BYTES);
    // The lowest frame is taken first, as the clock visits them.
    const last = this.#frames.length + count - 1;
    for (let i = 0; i < count; i++) {
      this.#freeFrames.push(last - i);
      this.#pageIn.push(NONE);
      this.#frames.push(slab.subarray(i * SLOT_BYTES, (i + 1) * SLOT_BYTES));
    }
  }
}
