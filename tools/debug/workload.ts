/**
 * Small seeded workloads that give a drive under the debugger something to do.
 *
 * They begin by themselves when the drive is ready and end after a number of commands. Queue depth
 * and sizes are small, so that a trace can be followed.
 */
import { AtaOpcode } from '../../hal/ata.ts';
import { PAGES_PER_COMMAND, UNQUEUED_SLOT } from '../../hal/ports.ts';
import { RandomStream } from '../../hal/sim/random.ts';
import type { Saved } from '../../hal/sim/snapshot.ts';
import { type CommandSource, type HostAdapter, NOTHING_YET } from '../../sata/host/adapter.ts';
import { encodeTrimRanges } from '../../sata/trim-ranges.ts';

export const WORKLOADS = ['write', 'read', 'mixed', 'trim', 'none'] as const;
export type WorkloadName = (typeof WORKLOADS)[number];

/** What each workload sends. */
export const WORKLOAD_SAYS: { readonly [name in WorkloadName]: string } = {
  write: 'random writes of 1 to 8 pages',
  read: 'pages 0 to 511 in order, then random reads among them',
  mixed: 'writes and reads in turn by chance, a flush now and then',
  trim: 'random writes, every eighth command a trim',
  none: 'no commands: the drive boots and waits',
};

const PAGES_MAX = 8;
/** Pages that the read workload fills first, or all there are. */
const FILL_PAGES = 512;
const FLUSH_EVERY = 32;
const TRIM_EVERY = 8;
/** DATA SET MANAGEMENT with the TRIM bit. */
const TRIM_FEATURE = 1;

export class DebugWorkload implements CommandSource {
  readonly wakeAtNs = 0;
  readonly name: WorkloadName;
  /** Commands sent, ended, and ended with an error or lost. */
  sentCount = 0;
  doneCount = 0;
  failedCount = 0;
  readonly #random: RandomStream;
  readonly #pages: number;
  readonly #commands: number;
  #nextTag = 1;

  /**
   * @param pages 4 KiB pages of the drive
   * @param commands commands to send
   */
  constructor(name: WorkloadName, pages: number, commands: number, seed: string) {
    this.name = name;
    this.#pages = pages;
    this.#commands = name === 'none' ? 0 : commands;
    this.#random = new RandomStream(seed, `debug.${name}`);
  }

  next(adapter: HostAdapter, tag: number): number {
    if (this.sentCount >= this.#commands) return NOTHING_YET;
    const number = this.sentCount++;
    switch (this.name) {
      case 'read':
        return this.#fillThenRead(adapter, tag, number);
      case 'mixed':
        if (number % FLUSH_EVERY === FLUSH_EVERY - 1) return flush(adapter);
        return this.#random.below(2) === 0 ? this.#write(adapter, tag) : this.#read(adapter, tag);
      case 'trim':
        return number % TRIM_EVERY === TRIM_EVERY - 1
          ? this.#trim(adapter)
          : this.#write(adapter, tag);
      default:
        return this.#write(adapter, tag);
    }
  }

  completed(_adapter: HostAdapter, _slot: number, _status: number, error: number): void {
    this.doneCount++;
    if (error !== 0) this.failedCount++;
  }

  lost(): void {
    this.doneCount++;
    this.failedCount++;
  }

  #fillThenRead(adapter: HostAdapter, tag: number, number: number): number {
    const fill = Math.min(FILL_PAGES, this.#pages - (this.#pages % PAGES_MAX));
    if (number * PAGES_MAX < fill) {
      return this.#writeAt(adapter, tag, number * PAGES_MAX, PAGES_MAX);
    }
    const count = 1 + this.#random.below(PAGES_MAX);
    adapter.readQueued(tag, this.#random.below(fill - count + 1) * 8, count * 8);
    return tag;
  }

  #read(adapter: HostAdapter, tag: number): number {
    const count = 1 + this.#random.below(PAGES_MAX);
    adapter.readQueued(tag, this.#random.below(this.#pages - count + 1) * 8, count * 8);
    return tag;
  }

  #write(adapter: HostAdapter, tag: number): number {
    const count = 1 + this.#random.below(PAGES_MAX);
    return this.#writeAt(adapter, tag, this.#random.below(this.#pages - count + 1), count);
  }

  #writeAt(adapter: HostAdapter, tag: number, first: number, count: number): number {
    adapter.writeQueued(tag, first * 8, count * 8, 0);
    for (let i = 0; i < count; i++) {
      adapter.data[tag * PAGES_PER_COMMAND + i] = this.#nextTag;
      this.#nextTag = this.#nextTag === 0x7fff_ffff ? 1 : this.#nextTag + 1;
    }
    return tag;
  }

  #trim(adapter: HostAdapter): number {
    const sectors = 8 * (1 + this.#random.below(PAGES_MAX * 4));
    const lba = 8 * this.#random.below(this.#pages - sectors / 8 + 1);
    adapter.unqueued(AtaOpcode.DataSetManagement, TRIM_FEATURE, 0, 1);
    adapter.sectorData.set(encodeTrimRanges([{ lba, sectors }]));
    return UNQUEUED_SLOT;
  }

  save(): Saved {
    return {
      random: this.#random.save(),
      nextTag: this.#nextTag,
      sentCount: this.sentCount,
      doneCount: this.doneCount,
      failedCount: this.failedCount,
    };
  }

  restore(saved: Saved): void {
    this.#random.restore(saved.random as Saved);
    this.#nextTag = saved.nextTag as number;
    this.sentCount = saved.sentCount as number;
    this.doneCount = saved.doneCount as number;
    this.failedCount = saved.failedCount as number;
  }
}

function flush(adapter: HostAdapter): number {
  adapter.unqueued(AtaOpcode.FlushCacheExt, 0, 0, 0);
  return UNQUEUED_SLOT;
}
