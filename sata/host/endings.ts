/**
 * Endings: what the source is told of its commands, and what becomes of their data then.
 *
 * The adapter owns the handles of a write it sent and of a read it received: they are released once
 * the source has been told. A read that failed has brought none.
 */

import { AtaError, AtaStatus, STATUS_FAILED } from '../../hal/ata.ts';
import type { Content } from '../../hal/content/content.ts';
import { PAGES_PER_COMMAND } from '../../hal/ports.ts';
import type { HostAdapter } from './adapter.ts';
import { type CommandSource, NOT_BEFORE, NOTHING_YET } from './command-source.ts';
import type { HostRegisters } from './host-registers.ts';

export class Endings {
  readonly #adapter: HostAdapter;
  readonly #source: CommandSource;
  readonly #registers: HostRegisters;
  readonly #contents: Content;

  constructor(
    adapter: HostAdapter,
    source: CommandSource,
    registers: HostRegisters,
    contents: Content,
  ) {
    this.#adapter = adapter;
    this.#source = source;
    this.#registers = registers;
    this.#contents = contents;
  }

  /** A command has ended, or the adapter has given it up. */
  finish(slot: number, status: number, error: number): void {
    this.#source.completed(this.#adapter, slot, status, error);
    this.#releaseData(slot, (status & AtaStatus.Error) !== 0);
  }

  /** A command was lost in a reset that somebody asked for. */
  lose(slot: number): void {
    this.#source.lost(this.#adapter, slot);
    this.#releaseData(slot, true);
  }

  /**
   * Asks the source for its next command and fails it: there is no drive.
   * @returns what the source has answered
   */
  refuseNext(nowNs: number): number {
    const slot = this.#source.next(this.#adapter, 0);
    if (slot === NOTHING_YET || slot === NOT_BEFORE) return slot;
    this.#registers.issuedNs[slot] = nowNs;
    this.finish(slot, STATUS_FAILED, AtaError.Abort);
    return slot;
  }

  #releaseData(slot: number, failed: boolean): void {
    if (failed && this.#registers.isRead(slot)) return;
    const { data } = this.#registers;
    const at = slot * PAGES_PER_COMMAND;
    const end = at + this.#registers.pagesOf(slot);
    for (let i = at; i < end; i++) {
      if (data[i]! < 0) {
        this.#contents.release(data[i]!);
        data[i] = 0;
      }
    }
  }
}
