/**
 * Tagged content: a page is one integer, so a full drive fits in about a gigabyte.
 *
 * A page written in one piece is its tag. A page merged from writes of single sectors is a mixture:
 * eight tags in a pool, counted by the places that refer to it. Tags wrap; they are compared
 * together with the logical page, so a wrap is harmless.
 */

import { BigTable } from '../sim/big-table.ts';
import type { Machine, Saved } from '../sim/snapshot.ts';
import { SECTOR_BYTES, SECTORS_PER_SLOT, SLOT_BYTES, WHOLE_SLOT } from '../sim/units.ts';
import { type Content, ContentBase } from './content.ts';
import { countHandles, isMetadata, lenderOf, MetadataPages } from './metadata-pages.ts';

const FIRST_MIXTURES = 1024;

/** Tag of a sector that cannot be read any more. */
const SPOILED = -0x8000_0000;

export class TaggedContent extends ContentBase implements Content {
  readonly kind = 'hal.content';
  readonly version = 1;
  readonly holdsBytes = false;
  readonly metadata: MetadataPages;
  readonly #machine: Machine;
  /** Eight sector tags a mixture. */
  readonly #tags: BigTable;
  /** References to each mixture; of a free one, the next free index plus one. */
  readonly #references: BigTable;
  /** First free mixture plus one, 0 when none is free below the high-water mark. */
  #free = 0;
  /** Mixtures ever used. */
  #highWater = 0;

  constructor(machine: Machine, metadata = new MetadataPages()) {
    super();
    this.#machine = machine;
    this.metadata = metadata;
    this.#tags = machine.addTable(
      new BigTable('mixture-tags', FIRST_MIXTURES * SECTORS_PER_SLOT, machine.log),
    );
    this.#references = machine.addTable(
      new BigTable('mixture-references', FIRST_MIXTURES, machine.log),
    );
  }

  /** Mixtures in use. */
  get mixtureCount(): number {
    let free = 0;
    for (let at = this.#free; at !== 0; at = this.#references.values[at - 1]!) free++;
    return this.#highWater - free;
  }

  retain(content: number): void {
    if (content >= 0) return;
    if (isMetadata(content)) {
      this.metadata.retain(content);
      return;
    }
    const index = -content - 1;
    this.#references.write(index, this.#references.values[index]! + 1);
  }

  release(content: number): void {
    if (content >= 0) return;
    if (isMetadata(content)) {
      this.metadata.release(content);
      return;
    }
    const index = -content - 1;
    const left = this.#references.values[index]! - 1;
    if (left > 0) {
      this.#references.write(index, left);
      return;
    }
    this.#references.write(index, this.#free);
    this.#free = index + 1;
  }

  merge(below: number, above: number, mask: number): number {
    if (mask === WHOLE_SLOT) {
      this.retain(above);
      return above;
    }
    const index = this.#take();
    let same = true;
    const first = this.#tagOf(mask & 1 ? above : below, 0);
    for (let sector = 0; sector < SECTORS_PER_SLOT; sector++) {
      const tag = this.#tagOf((mask >> sector) & 1 ? above : below, sector);
      same = same && tag === first;
      this.#tags.write(index * SECTORS_PER_SLOT + sector, tag);
    }
    this.#references.write(index, 1);
    if (!same || first === SPOILED) return -index - 1;
    this.release(-index - 1);
    return first;
  }

  spoil(content: number, mask: number): number {
    const index = this.#take();
    for (let sector = 0; sector < SECTORS_PER_SLOT; sector++) {
      const tag = (mask >> sector) & 1 ? SPOILED : this.#tagOf(content, sector);
      this.#tags.write(index * SECTORS_PER_SLOT + sector, tag);
    }
    this.#references.write(index, 1);
    this.release(content);
    return -index - 1;
  }

  spoiledOf(content: number): number {
    if (content >= 0 || isMetadata(content)) return 0;
    let mask = 0;
    for (let sector = 0; sector < SECTORS_PER_SLOT; sector++) {
      if (this.#tagOf(content, sector) === SPOILED) mask |= 1 << sector;
    }
    return mask;
  }

  sectorTag(content: number, sector: number): number {
    return this.#tagOf(content, sector);
  }

  bytesOf(content: number): Uint8Array {
    if (isMetadata(content)) return this.metadata.read(content);
    const bytes = new Uint8Array(SLOT_BYTES);
    const view = new DataView(bytes.buffer);
    for (let sector = 0; sector < SECTORS_PER_SLOT; sector++) {
      const tag = this.#tagOf(content, sector);
      for (let at = 0; tag !== 0 && at < SECTOR_BYTES; at += 4) {
        view.setInt32(sector * SECTOR_BYTES + at, tag, true);
      }
    }
    return bytes;
  }

  sweep(flash: readonly number[]): void {
    const { metadata, pages } = countHandles(flash);
    this.metadata.sweep(metadata);
    this.#free = 0;
    for (let index = this.#highWater - 1; index >= 0; index--) {
      const kept = pages.get(index) ?? 0;
      this.#references.write(index, kept === 0 ? this.#free : kept);
      if (kept === 0) this.#free = index + 1;
    }
  }

  fork(machine: Machine): TaggedContent {
    const copy = new TaggedContent(machine, this.metadata.fork());
    copy.#tags.growTo(this.#tags.values.length);
    copy.#references.growTo(this.#references.values.length);
    copy.#tags.values.set(this.#tags.values);
    copy.#references.values.set(this.#references.values);
    copy.#free = this.#free;
    copy.#highWater = this.#highWater;
    return copy;
  }

  save(): Saved {
    return { free: this.#free, highWater: this.#highWater, metadata: this.metadata.save() };
  }

  restore(saved: Saved): void {
    this.#free = saved.free as number;
    this.#highWater = saved.highWater as number;
    this.metadata.restore(saved.metadata as Saved, lenderOf(this.#machine));
  }

  #tagOf(content: number, sector: number): number {
    if (content >= 0) return content;
    return this.#tags.values[(-content - 1) * SECTORS_PER_SLOT + sector]!;
  }

  #take(): number {
    if (this.#free !== 0) {
      const index = this.#free - 1;
      this.#free = this.#references.values[index]!;
      return index;
    }
    if (this.#highWater === this.#references.values.length) {
      this.#references.growTo(this.#highWater * 2);
      this.#tags.growTo(this.#highWater * 2 * SECTORS_PER_SLOT);
    }
    return this.#highWater++;
  }
}
