/**
 * Shutdown: STANDBY IMMEDIATE, STANDBY and SLEEP make everything durable before they complete.
 *
 * The log is flushed, then a checkpoint is written unless the last one is still the whole truth.
 */

import { HostStatus } from '../hal/ports.ts';
import type { Saveable, Saved } from '../hal/sim/snapshot.ts';
import type { Board } from './board.ts';
import type { StandbyListener } from './flusher.ts';
import type { Checkpoint } from './ftl/checkpoint.ts';
import { RootState } from './ftl/layouts.ts';
import type { RootBlocks } from './ftl/root.ts';
import type { SmartRecord } from './smart-record.ts';

const NONE = -1;

export class Shutdown implements StandbyListener, Saveable {
  readonly kind = 'firmware.shutdown';
  readonly version = 1;
  readonly #board: Board;
  readonly #checkpoint: Checkpoint;
  readonly #root: RootBlocks;
  readonly #smart: SmartRecord;
  /** Host slot that waits for the checkpoint, -1 when none does. */
  #slot = NONE;

  constructor(board: Board, checkpoint: Checkpoint, root: RootBlocks, smart: SmartRecord) {
    this.#board = board;
    this.#checkpoint = checkpoint;
    this.#root = root;
    this.#smart = smart;
  }

  flushed(slot: number): void {
    const root = this.#root;
    this.#slot = slot;
    if (!root.isClean) {
      this.#checkpoint.begin();
    } else if (root.root!.powerCycles !== this.#smart.powerCycles) {
      const fields = { powerCycles: this.#smart.powerCycles };
      root.write(root.state as RootState, fields, root.places);
    } else {
      this.#complete();
    }
  }

  /** A root record that says clean is durable. */
  sealed(state: RootState): void {
    if (state === RootState.Clean) this.#checkpoint.sealed();
    this.#complete();
  }

  get isWaiting(): boolean {
    return this.#slot !== NONE;
  }

  #complete(): void {
    const slot = this.#slot;
    this.#slot = NONE;
    if (slot !== NONE) this.#board.host.complete(slot, HostStatus.Good, 0);
  }

  reset(): void {
    this.#slot = NONE;
  }

  save(): Saved {
    return { slot: this.#slot };
  }

  restore(saved: Saved): void {
    this.#slot = saved.slot as number;
  }
}
