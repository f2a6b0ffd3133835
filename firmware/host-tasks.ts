/**
 * Host tasks: the ARM's main loop for host commands.
 *
 * Fast path and slow path are visibly apart: reads and writes are accepted and started by one short
 * task; everything else goes through a second task that may cost more. Idle work is Aragon's.
 */

import { HostRequest, HostStatus, Irq, type TaskBody } from '../hal/ports.ts';
import { type Board, TimerChannel } from './board.ts';
import type { Flusher } from './flusher.ts';
import { RootState } from './ftl/layouts.ts';
import type { RootBlocks } from './ftl/root.ts';
import type { HostStream } from './host-stream.ts';
import type { Reader } from './reader.ts';
import type { SmartRecord } from './smart-record.ts';
import type { Trimmer } from './trimmer.ts';
import type { Writer } from './writer.ts';

const NONE = -1;

export interface HostTaskParts {
  board: Board;
  reader: Reader;
  writer: Writer;
  flusher: Flusher;
  trimmer: Trimmer;
  stream: HostStream;
  root: RootBlocks;
  smart: SmartRecord;
}

export class HostTasks implements TaskBody {
  readonly #parts: HostTaskParts;
  readonly #slow: number;
  readonly #local: number;
  /** The mount has failed: commands that need the media abort. */
  mediaRefused = false;

  constructor(parts: HostTaskParts) {
    this.#parts = parts;
    const { arm, interrupts, profile } = parts.board;
    const { accept, slow, local, timer } = profile.armCycles;
    const accepted = arm.define('accept', 0, accept, this);
    this.#slow = arm.define('slow-command', 1, slow, { run: (slot) => this.#startSlow(slot) });
    this.#local = arm.define('local-command', 1, local, {
      run: (slot) => parts.board.host.answerLocal(slot),
    });
    const expired = arm.define('timer', 2, timer, { run: () => this.#timerExpired() });
    interrupts.connect(Irq.Host, arm, accepted);
    interrupts.connect(Irq.Timer, arm, expired);
  }

  /** The accept task: one command from the port. */
  run(): void {
    const { board } = this.#parts;
    const slot = board.host.takeCommand();
    if (slot === NONE) {
      board.interrupts.acknowledge(Irq.Host, false);
      return;
    }
    this.#start(slot);
    board.interrupts.acknowledge(Irq.Host, board.host.hasCommand);
  }

  #start(slot: number): void {
    const { board, reader, writer, smart } = this.#parts;
    const { host } = board;
    const request = host.request[slot] as HostRequest;
    if (request === HostRequest.Local) {
      board.arm.post(this.#local, slot);
      return;
    }
    if (this.mediaRefused) {
      host.complete(slot, HostStatus.Aborted, 0);
      return;
    }
    switch (request) {
      case HostRequest.Read:
        smart.hostReadSectors += host.sectors[slot]!;
        reader.begin(slot);
        return;
      case HostRequest.Write:
        smart.hostWrittenSectors += host.sectors[slot]!;
        this.#soil();
        writer.begin(slot);
        return;
      case HostRequest.Verify:
        reader.begin(slot);
        return;
      default:
        board.arm.post(this.#slow, slot);
    }
  }

  #startSlow(slot: number): void {
    const { board, flusher, trimmer, writer } = this.#parts;
    switch (board.host.request[slot] as HostRequest) {
      case HostRequest.Flush:
        flusher.after(slot, writer.logEnd);
        return;
      case HostRequest.Standby:
        flusher.beforeStandby(slot);
        return;
      case HostRequest.Trim:
        this.#soil();
        trimmer.begin(slot, writer.nextOrder++);
        return;
      default:
        board.host.complete(slot, HostStatus.Aborted, 0);
    }
  }

  /** The map is about to change: a root record must say so before anything is programmed. */
  #soil(): void {
    const { root, stream, smart } = this.#parts;
    if (!root.isClean || root.writing) return;
    stream.held = true;
    root.write(RootState.Dirty, { powerCycles: smart.powerCycles }, root.places);
  }

  #timerExpired(): void {
    const { board, flusher } = this.#parts;
    board.interrupts.acknowledge(Irq.Timer, false);
    const expired = board.timers.takeExpired();
    if ((expired & (1 << TimerChannel.IdleFlush)) !== 0) flusher.timerExpired();
  }
}
