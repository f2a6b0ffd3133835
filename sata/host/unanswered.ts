/**
 * Commands without an answer: what a host does when frames are lost.
 *
 * It waits until the timer of a command runs out. Then the drive is reset and probed, and all that
 * was outstanding is sent again. A command that was sent too often has failed, and so has every one
 * when the drive does not come back. Source: libata (ata_eh_autopsy, ata_eh_recover).
 */

import { AtaError, STATUS_FAILED } from '../../hal/ata.ts';
import { UNQUEUED_SLOT } from '../../hal/ports.ts';
import { Awaited } from '../host-side.ts';
import type { CommandTimer } from './command-timer.ts';
import type { Endings } from './endings.ts';
import { NO_SLOT, type Outstanding } from './outstanding.ts';
import { type Recovery, Stage } from './recovery.ts';

export class Unanswered {
  readonly #outstanding: Outstanding;
  readonly #recovery: Recovery;
  readonly #timer: CommandTimer;
  readonly #endings: Endings;

  constructor(outstanding: Outstanding, recovery: Recovery, timer: CommandTimer, endings: Endings) {
    this.#outstanding = outstanding;
    this.#recovery = recovery;
    this.#timer = timer;
    this.#endings = endings;
  }

  /** A frame of the drive is lost; see HostSide.unanswered. */
  note(slot: number, awaited: Awaited): void {
    const outstanding = this.#outstanding;
    switch (awaited) {
      case Awaited.Acceptance:
        // The command goes on; the next one finds BSY set and runs into its timeout.
        outstanding.isBusy = true;
        return;
      case Awaited.End:
        if (slot !== UNQUEUED_SLOT || outstanding.unqueuedInFlight) this.#timer.waitFor(slot);
        else this.stayBusy(outstanding.lastSent);
        return;
      case Awaited.QueueError:
        for (let tag = 0; tag < UNQUEUED_SLOT; tag++) {
          if (outstanding.has(tag)) this.#timer.waitFor(tag);
        }
        return;
      case Awaited.Signature:
        this.#timer.waitForSignature();
    }
  }

  /** The drive has not answered the command FIS of a slot, so BSY stays set. */
  stayBusy(slot: number): void {
    this.#outstanding.isBusy = true;
    this.#timer.waitFor(slot);
  }

  /**
   * The timer has run out: puts everything back to be sent again, and ends what was sent too often.
   * The stage is Down afterwards and the drive must be reset. False when it was reset often enough:
   * then all has ended and the drive is gone.
   */
  sendAgain(): boolean {
    const outstanding = this.#outstanding;
    const recovery = this.#recovery;
    const isOwn = recovery.stage !== Stage.Running;
    const { sending, unqueuedInFlight } = outstanding;
    const isUnqueuedSent = !isOwn && (unqueuedInFlight || sending === UNQUEUED_SLOT);
    const isTagSent = sending !== NO_SLOT && sending !== UNQUEUED_SLOT;
    const sent = outstanding.tags | (isTagSent ? 1 << sending : 0);
    outstanding.interrupt(sent, isUnqueuedSent);
    recovery.unpark();
    recovery.stage = Stage.Down;
    this.#timer.stop();
    const isTried = this.#timer.mayReset();
    if (!isTried) recovery.stage = Stage.Gone;
    for (let tag = 0; tag < UNQUEUED_SLOT; tag++) {
      if (((outstanding.resend >>> tag) & 1) === 0) continue;
      const wasSent = ((sent >>> tag) & 1) !== 0;
      if (isTried && (!wasSent || this.#timer.mayRetry(tag))) continue;
      outstanding.resend &= ~(1 << tag);
      this.#endings.finish(tag, STATUS_FAILED, AtaError.Abort);
    }
    if (outstanding.unqueuedWaiting) {
      if (isTried && (!isUnqueuedSent || this.#timer.mayRetry(UNQUEUED_SLOT))) recovery.park();
      else {
        outstanding.unqueuedWaiting = false;
        this.#endings.finish(UNQUEUED_SLOT, STATUS_FAILED, AtaError.Abort);
      }
    }
    return isTried;
  }
}
