/**
 * The trimmer: unmaps the pages of DATA SET MANAGEMENT ranges.
 *
 * Whole 4 KiB pages only; sectors at the ranges' edges keep their data, as the drive promises
 * neither deterministic nor zero reads after TRIM. The map is walked in chunks, one Aragon program
 * each, so that a trim of the whole drive is many small steps.
 */

import { HostStatus } from '../hal/ports.ts';
import type { Saveable, Saved } from '../hal/sim/snapshot.ts';
import type { Board } from './board.ts';
import { ARAGON } from './costs.ts';
import type { Collector } from './ftl/collector.ts';
import type { Mapping } from './ftl/mapping.ts';
import type { Superblocks } from './ftl/superblocks.ts';

const CHUNK_PAGES = 4096;

export class Trimmer implements Saveable {
  readonly kind = 'firmware.trimmer';
  readonly version = 1;
  /** Pages that a trim has unmapped since power-on. */
  unmappedCount = 0;
  readonly #board: Board;
  readonly #mapping: Mapping;
  readonly #superblocks: Superblocks;
  readonly #collector: Collector;
  readonly #program: number;
  /** Range and page that come next. */
  #range = 0;
  #lpn = 0;

  constructor(board: Board, mapping: Mapping, superblocks: Superblocks, collector: Collector) {
    this.#board = board;
    this.#mapping = mapping;
    this.#superblocks = superblocks;
    this.#collector = collector;
    this.#program = board.aragon.define('trim', 2, ARAGON.arrive, { run: (s) => this.#run(s) });
  }

  /** Starts the trim of a host slot with its order number. */
  begin(slot: number, order: number): void {
    this.#superblocks.presentOrder = order;
    this.#range = 0;
    this.#lpn = this.#firstPage();
    this.#board.aragon.post(this.#program, slot);
  }

  #run(slot: number): void {
    const { host, aragon } = this.#board;
    let left = CHUNK_PAGES;
    let unmapped = 0;
    while (left > 0 && this.#range < host.trimCount()) {
      const end = this.#endPage();
      const to = Math.min(end, this.#lpn + left);
      left -= Math.max(0, to - this.#lpn) + 1;
      for (; this.#lpn < to; this.#lpn++) if (this.#mapping.unmap(this.#lpn)) unmapped++;
      if (this.#lpn < end) continue;
      this.#range++;
      if (this.#range < host.trimCount()) this.#lpn = this.#firstPage();
    }
    this.unmappedCount += unmapped;
    aragon.charge((CHUNK_PAGES / 64) * ARAGON.trimLine + unmapped * ARAGON.updateSlot);
    if (this.#range < host.trimCount()) aragon.post(this.#program, slot);
    else {
      host.complete(slot, HostStatus.Good, 0);
      this.#collector.sweep();
    }
  }

  #firstPage(): number {
    const { host } = this.#board;
    return host.trimCount() === 0 ? 0 : Math.ceil(host.trimLba(this.#range) / 8);
  }

  #endPage(): number {
    const { host } = this.#board;
    return Math.floor((host.trimLba(this.#range) + host.trimSectors(this.#range)) / 8);
  }

  reset(): void {
    this.unmappedCount = 0;
    this.#range = 0;
    this.#lpn = 0;
  }

  save(): Saved {
    return { unmappedCount: this.unmappedCount, range: this.#range, lpn: this.#lpn };
  }

  restore(saved: Saved): void {
    this.unmappedCount = saved.unmappedCount as number;
    this.#range = saved.range as number;
    this.#lpn = saved.lpn as number;
  }
}
