/**
 * The trimmer: unmaps the pages of DATA SET MANAGEMENT ranges.
 *
 * Ranges that continue each other are one (a host splits at 65535 sectors). Whole 4 KiB pages only;
 * sectors at the edges keep their data, as the drive promises
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
  readonly version = 2;
  /** Pages that a trim has unmapped since power-on. */
  unmappedCount = 0;
  readonly #board: Board;
  readonly #mapping: Mapping;
  readonly #superblocks: Superblocks;
  readonly #collector: Collector;
  readonly #program: number;
  /** Range after those being trimmed, and their pages that are left. */
  #range = 0;
  #lpn = 0;
  #endLpn = 0;

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
    this.#openSpan();
    this.#board.aragon.post(this.#program, slot);
  }

  #run(slot: number): void {
    const { host, aragon } = this.#board;
    let left = CHUNK_PAGES;
    let unmapped = 0;
    do {
      const to = Math.min(this.#endLpn, this.#lpn + left);
      left -= to - this.#lpn + 1;
      for (; this.#lpn < to; this.#lpn++) if (this.#mapping.unmap(this.#lpn)) unmapped++;
    } while (left > 0 && this.#openSpan());
    this.unmappedCount += unmapped;
    aragon.charge((CHUNK_PAGES / 64) * ARAGON.trimLine + unmapped * ARAGON.updateSlot);
    if (this.#lpn < this.#endLpn || this.#openSpan()) aragon.post(this.#program, slot);
    else {
      host.complete(slot, HostStatus.Good, 0);
      this.#collector.sweep();
    }
  }

  /** Takes the next range with all that continue it; false when there is none. */
  #openSpan(): boolean {
    const { host } = this.#board;
    const count = host.trimCount();
    if (this.#range === count) return false;
    const first = host.trimLba(this.#range);
    let end = first + host.trimSectors(this.#range++);
    while (this.#range < count && host.trimLba(this.#range) === end) {
      end += host.trimSectors(this.#range++);
    }
    this.#endLpn = Math.floor(end / 8);
    this.#lpn = Math.min(Math.ceil(first / 8), this.#endLpn);
    return true;
  }

  reset(): void {
    this.unmappedCount = 0;
    this.#range = 0;
    this.#lpn = 0;
    this.#endLpn = 0;
  }

  save(): Saved {
    return {
      unmappedCount: this.unmappedCount,
      range: this.#range,
      lpn: this.#lpn,
      endLpn: this.#endLpn,
    };
  }

  restore(saved: Saved): void {
    this.unmappedCount = saved.unmappedCount as number;
    this.#range = saved.range as number;
    this.#lpn = saved.lpn as number;
    this.#endLpn = saved.endLpn as number;
  }
}
