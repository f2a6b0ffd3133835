/**
 * A synthetic workload as a command source: one pattern, one block size, verified.
 *
 * Every page written gets a new tag that a reference disk remembers; every page read is compared
 * with it at the command's end. Nothing is allocated per command.
 */

import { AtaOpcode, AtaStatus } from '../../hal/ata.ts';
import { PAGES_PER_COMMAND, UNQUEUED_SLOT } from '../../hal/ports.ts';
import { BigTable } from '../../hal/sim/big-table.ts';
import { RandomStream } from '../../hal/sim/random.ts';
import type { Machine, Saved } from '../../hal/sim/snapshot.ts';
import { type CommandSource, type HostAdapter, NOTHING_YET } from '../../sata/host/adapter.ts';
import type { LatencyHistogram } from '../report/histogram.ts';

export interface Pattern {
  readonly kind: 'read' | 'write';
  readonly order: 'random' | 'sequential';
  /** 4 KiB pages of one command. */
  readonly pages: number;
  /** Commands to issue. */
  readonly count: number;
  /** Pages of the address range, from page 0; the whole drive when not given. */
  readonly spanPages?: number;
}

enum Standby {
  None,
  Wanted,
  Sent,
}

export class Workload implements CommandSource {
  readonly wakeAtNs = 0;
  /**
   * Tag last written to each page: the reference disk; a table of the machine, so it is undone too.
   */
  readonly reference: BigTable;
  /** Commands that have ended, those that failed, and pages that read wrong. */
  doneCount = 0;
  failedCount = 0;
  mismatchCount = 0;
  /** Receives the latency of every command; null to measure none. */
  latency: LatencyHistogram | null = null;
  readonly #random: RandomStream;
  readonly #pages: number;
  #isRead = true;
  #isRandom = false;
  #commandPages = 1;
  #places = 0;
  #left = 0;
  /** Place of the next command: known one command ahead, so that its reference is near by then. */
  #place = 0;
  #nextTag = 1;
  #standby = Standby.None;

  constructor(machine: Machine, pages: number, seed: string) {
    this.#pages = pages;
    this.reference = machine.addTable(new BigTable('reference', pages, machine.log));
    this.#random = new RandomStream(seed, 'workload');
  }

  /** Sets the pattern that is issued from now on. */
  start(pattern: Pattern): void {
    this.#isRead = pattern.kind === 'read';
    this.#isRandom = pattern.order === 'random';
    this.#commandPages = pattern.pages;
    this.#places = Math.floor((pattern.spanPages ?? this.#pages) / pattern.pages);
    this.#left = pattern.count;
    this.#place = this.#isRandom ? this.#random.below(this.#places) : 0;
    this.doneCount = 0;
    this.failedCount = 0;
    this.mismatchCount = 0;
  }

  /** Commands not yet issued. */
  get leftCount(): number {
    return this.#left;
  }

  /** Asks for a STANDBY IMMEDIATE as the next command. */
  standBy(): void {
    this.#standby = Standby.Wanted;
  }

  get standbyPending(): boolean {
    return this.#standby !== Standby.None;
  }

  next(adapter: HostAdapter, tag: number): number {
    if (this.#standby === Standby.Wanted) {
      this.#standby = Standby.Sent;
      adapter.unqueued(AtaOpcode.StandbyImmediate, 0, 0, 0);
      return UNQUEUED_SLOT;
    }
    if (this.#left === 0) return NOTHING_YET;
    this.#left--;
    const pages = this.#commandPages;
    const first = this.#place * pages;
    this.#advance();
    if (this.#isRead) {
      adapter.readQueued(tag, first * 8, pages * 8);
      return tag;
    }
    adapter.writeQueued(tag, first * 8, pages * 8, 0);
    const at = tag * PAGES_PER_COMMAND;
    for (let i = 0; i < pages; i++) {
      const content = this.#nextTag;
      this.#nextTag = content === 0x7fff_ffff ? 1 : content + 1;
      adapter.data[at + i] = content;
      this.reference.write(first + i, content);
    }
    return tag;
  }

  #advance(): void {
    const following = this.#place + 1 === this.#places ? 0 : this.#place + 1;
    this.#place = this.#isRandom ? this.#random.below(this.#places) : following;
    this.reference.expect(this.#place * this.#commandPages);
  }

  completed(adapter: HostAdapter, slot: number, status: number, _error: number): void {
    if (slot === UNQUEUED_SLOT) {
      this.#standby = Standby.None;
      return;
    }
    this.doneCount++;
    if (this.latency !== null) this.latency.record(adapter.nowNs - adapter.issuedNs[slot]!);
    if ((status & AtaStatus.Error) !== 0) {
      this.failedCount++;
      return;
    }
    if (!this.#isRead) return;
    const first = adapter.lba[slot]! / 8;
    const at = slot * PAGES_PER_COMMAND;
    const { values } = this.reference;
    for (let i = 0; i < this.#commandPages; i++) {
      if (adapter.data[at + i] !== values[first + i]) this.mismatchCount++;
    }
  }

  lost(): void {
    this.failedCount++;
    this.doneCount++;
  }

  save(): Saved {
    return {
      random: this.#random.save(),
      isRead: this.#isRead,
      isRandom: this.#isRandom,
      commandPages: this.#commandPages,
      places: this.#places,
      left: this.#left,
      place: this.#place,
      nextTag: this.#nextTag,
      standby: this.#standby,
      doneCount: this.doneCount,
      failedCount: this.failedCount,
      mismatchCount: this.mismatchCount,
    };
  }

  restore(saved: Saved): void {
    this.#random.restore(saved.random as Saved);
    this.#isRead = saved.isRead as boolean;
    this.#isRandom = saved.isRandom as boolean;
    this.#commandPages = saved.commandPages as number;
    this.#places = saved.places as number;
    this.#left = saved.left as number;
    this.#place = saved.place as number;
    this.#nextTag = saved.nextTag as number;
    this.#standby = saved.standby as Standby;
    this.doneCount = saved.doneCount as number;
    this.failedCount = saved.failedCount as number;
    this.mismatchCount = saved.mismatchCount as number;
  }
}
