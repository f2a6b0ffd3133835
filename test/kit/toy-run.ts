/**
 * A seeded run on the toy drive: mixed reads, writes of any length, trims, flushes, power modes.
 *
 * The source is part of the machine (saved and restored with it), so a run can be stopped, unwound
 * and continued anywhere.
 */

import { Drive, type DriveOptions } from '../../firmware/drive.ts';
import { TOY } from '../../firmware/profiles/toy.ts';
import { AtaOpcode } from '../../hal/ata.ts';
import { PAGES_PER_COMMAND, UNQUEUED_SLOT } from '../../hal/ports.ts';
import { RandomStream } from '../../hal/sim/random.ts';
import type { Saved } from '../../hal/sim/snapshot.ts';
import { type CommandSource, type HostAdapter, NOTHING_YET } from '../../sata/host/adapter.ts';
import { encodeTrimRanges } from '../../sata/trim-ranges.ts';

export class RandomSource implements CommandSource {
  readonly wakeAtNs = 0;
  doneCount = 0;
  readonly #random: RandomStream;
  readonly #sectors: number;
  #left: number;
  #tag = 1;

  constructor(seed: string, commands: number, sectors: number) {
    this.#random = new RandomStream(seed, 'toy-run');
    this.#left = commands;
    this.#sectors = sectors;
  }

  next(adapter: HostAdapter, tag: number): number {
    if (this.#left === 0) return NOTHING_YET;
    this.#left--;
    const choice = this.#random.below(100);
    const isAligned = choice % 2 === 0;
    const length = 1 + this.#random.below(choice % 10 === 0 ? 400 : 24);
    const sectors = isAligned ? length * 8 : length;
    const at = this.#random.below(this.#sectors - sectors);
    const lba = isAligned ? at - (at % 8) : at;
    if (choice < 55) return this.#write(adapter, tag, lba, sectors, choice === 1 ? 1 : 0);
    if (choice < 90) {
      adapter.readQueued(tag, lba, sectors);
      return tag;
    }
    if (choice < 94) {
      adapter.sectorData.set(encodeTrimRanges([{ lba, sectors }]));
      adapter.unqueued(AtaOpcode.DataSetManagement, 1, 0, 1);
    } else if (choice < 99) adapter.unqueued(AtaOpcode.FlushCacheExt, 0, 0, 0);
    else adapter.unqueued(AtaOpcode.StandbyImmediate, 0, 0, 0);
    return UNQUEUED_SLOT;
  }

  completed(): void {
    this.doneCount++;
  }

  lost(): void {
    this.doneCount++;
  }

  #write(a: HostAdapter, tag: number, lba: number, sectors: number, fua: number): number {
    a.writeQueued(tag, lba, sectors, fua);
    const pages = Math.ceil(((lba % 8) + sectors) / 8);
    for (let i = 0; i < pages; i++) a.data[tag * PAGES_PER_COMMAND + i] = this.#tag++;
    return tag;
  }

  save(): Saved {
    const { doneCount } = this;
    return { doneCount, left: this.#left, tag: this.#tag, random: this.#random.save() };
  }

  restore(saved: Saved): void {
    this.doneCount = saved.doneCount as number;
    this.#left = saved.left as number;
    this.#tag = saved.tag as number;
    this.#random.restore(saved.random as Saved);
  }
}

/** A booted toy drive in front of a random source; the run has not begun. */
export function toyRun(seed: string, commands: number, options: DriveOptions = {}): Drive {
  const sectors = TOY.identity.sectors;
  const source = () => new RandomSource(seed, commands, sectors);
  const drive = new Drive(TOY, { ...options, source });
  drive.powerOn();
  return drive;
}

/** Events until only the watchdog is left and everything the host asked for is done. */
export function runToRest(drive: Drive, limit = 3_000_000): void {
  const { timeline } = drive;
  for (let i = 0; i < limit; i++) {
    if (drive.isReady && drive.host.outstandingCount === 0 && timeline.pendingCount <= 1) return;
    timeline.step();
  }
  throw new Error('the toy run did not come to rest');
}
