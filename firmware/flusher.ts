/**
 * The flusher: waits until the log is programmed up to a position.
 *
 * A flush, a FUA write or a standby seals the log at its tail and waits. When the host is idle for
 * a while a partly filled unit is written out as well.
 */

import { HostStatus } from '../hal/ports.ts';
import { invariant } from '../hal/sim/invariant.ts';
import type { Saveable, Saved } from '../hal/sim/snapshot.ts';
import { type Board, TimerChannel } from './board.ts';
import type { HostStream } from './host-stream.ts';
import type { WriteBuffer } from './write-buffer.ts';

const WAITERS_MAX = 64;

/** Told when a standby's data is durable. */
export interface StandbyListener {
  flushed(slot: number): void;
}

export class Flusher implements Saveable {
  readonly kind = 'firmware.flusher';
  readonly version = 1;
  standby: StandbyListener | null = null;
  readonly #board: Board;
  readonly #buffer: WriteBuffer;
  readonly #stream: HostStream;
  /** Host slots that wait, oldest first, each with its position and whether it stands by. */
  readonly #slot = new Int32Array(WAITERS_MAX);
  readonly #position = new Float64Array(WAITERS_MAX);
  readonly #standsBy = new Uint8Array(WAITERS_MAX);
  #count = 0;
  #timerRuns = false;
  /** The log's tail when the idle timer was started. */
  #tailSeen = 0;

  constructor(board: Board, buffer: WriteBuffer, stream: HostStream) {
    this.#board = board;
    this.#buffer = buffer;
    this.#stream = stream;
  }

  /** Ends the command of `slot` when the log is programmed up to `position`. */
  after(slot: number, position: number): void {
    this.#wait(slot, position, false);
  }

  /** Tells the standby listener when all of the log is programmed. */
  beforeStandby(slot: number): void {
    this.#wait(slot, this.#buffer.tail, true);
  }

  /** The log has grown: watch for idleness. */
  dirtied(): void {
    if (this.#timerRuns) return;
    this.#timerRuns = true;
    this.#tailSeen = this.#buffer.tail;
    this.#board.timers.start(TimerChannel.IdleFlush, this.#board.profile.policy.idleFlushNs);
  }

  /** The idle timer has run out. */
  timerExpired(): void {
    this.#timerRuns = false;
    const buffer = this.#buffer;
    if (buffer.issued === buffer.tail) return;
    if (buffer.tail === this.#tailSeen) {
      this.#stream.sealedTo = buffer.tail;
      this.#stream.pump();
    }
    if (buffer.issued < buffer.tail) this.dirtied();
  }

  /** The log's head has moved: end what it has passed. */
  check(): void {
    while (this.#count > 0 && this.#buffer.head >= this.#position[0]!) {
      const slot = this.#slot[0]!;
      const standsBy = this.#standsBy[0]!;
      this.#slot.copyWithin(0, 1, this.#count);
      this.#position.copyWithin(0, 1, this.#count);
      this.#standsBy.copyWithin(0, 1, this.#count);
      this.#count--;
      if (standsBy === 1) this.standby!.flushed(slot);
      else this.#board.host.complete(slot, HostStatus.Good, 0);
    }
  }

  #wait(slot: number, position: number, standsBy: boolean): void {
    invariant(this.#count < WAITERS_MAX, 'every command waits for one flush at most');
    this.#slot[this.#count] = slot;
    this.#position[this.#count] = position;
    this.#standsBy[this.#count] = standsBy ? 1 : 0;
    this.#count++;
    if (position > this.#stream.sealedTo) this.#stream.sealedTo = position;
    this.#stream.pump();
    this.check();
  }

  reset(): void {
    this.#count = 0;
    this.#timerRuns = false;
    this.#tailSeen = 0;
  }

  save(): Saved {
    return {
      slot: this.#slot.slice(),
      position: this.#position.slice(),
      standsBy: this.#standsBy.slice(),
      count: this.#count,
      timerRuns: this.#timerRuns,
      tailSeen: this.#tailSeen,
    };
  }

  restore(saved: Saved): void {
    this.#slot.set(saved.slot as Int32Array);
    this.#position.set(saved.position as Float64Array);
    this.#standsBy.set(saved.standsBy as Uint8Array);
    this.#count = saved.count as number;
    this.#timerRuns = saved.timerRuns as boolean;
    this.#tailSeen = saved.tailSeen as number;
  }
}
