/**
 * What a host adapter has outstanding: tags in flight, tags to send again, and slot 32.
 */

import { UNQUEUED_SLOT } from '../../hal/ports.ts';
import type { Saved } from '../../hal/sim/snapshot.ts';

export const NO_SLOT = -1;

export class Outstanding {
  /** Bit n: tag n is outstanding. */
  tags = 0;
  /** Bits in `tags`. */
  tagCount = 0;
  /** Bit n: tag n was outstanding when the queue failed and is sent again. */
  resend = 0;
  /** Slot whose command FIS is on the link, NO_SLOT when none is. */
  sending = NO_SLOT;
  /** That command FIS is lost. */
  isSendingLost = false;
  /** BSY stays set in the host's registers: nothing may be sent until a reset. */
  isBusy = false;
  /** Slot of the last command FIS that arrived. */
  lastSent = NO_SLOT;
  /** The source's command for slot 32 waits for the queue to drain. */
  unqueuedWaiting = false;
  /** The command in slot 32 has arrived and not ended. */
  unqueuedInFlight = false;

  /** Commands that the drive has. */
  get count(): number {
    return this.tagCount + (this.unqueuedInFlight ? 1 : 0);
  }

  /** Lowest tag that is not outstanding; there must be one. */
  get freeTag(): number {
    const free = ~this.tags;
    return 31 - Math.clz32(free & -free);
  }

  has(tag: number): boolean {
    return tag >= 0 && tag < UNQUEUED_SLOT && ((this.tags >>> tag) & 1) !== 0;
  }

  /** The command FIS on the link has arrived; returns its slot. */
  arrived(): number {
    const slot = this.sending;
    this.sending = NO_SLOT;
    this.lastSent = slot;
    if (slot === UNQUEUED_SLOT) this.unqueuedInFlight = true;
    else {
      this.tags |= 1 << slot;
      this.tagCount++;
    }
    return slot;
  }

  /** A queued command has ended. */
  ended(tag: number): void {
    this.tags &= ~(1 << tag);
    this.tagCount--;
  }

  /** Lowest tag to send again, taken from the set; there must be one. */
  takeResend(): number {
    const tag = 31 - Math.clz32(this.resend & -this.resend);
    this.resend &= ~(1 << tag);
    return tag;
  }

  /** The drive has discarded its queue; returns what was in it. */
  discard(): number {
    const { tags } = this;
    this.tags = 0;
    this.tagCount = 0;
    return tags;
  }

  /**
   * The drive is reset and everything is sent again: the tags `sent`, those that waited for it, and
   * what is in slot 32 if `isUnqueuedSent` or if it waited.
   */
  interrupt(sent: number, isUnqueuedSent: boolean): void {
    const resend = this.resend | sent;
    const isWaiting = this.unqueuedWaiting || isUnqueuedSent;
    this.clear();
    this.resend = resend;
    this.unqueuedWaiting = isWaiting;
  }

  /** Whether the registers and data of a slot are in use. */
  uses(slot: number): boolean {
    if (this.sending === slot) return true;
    if (slot === UNQUEUED_SLOT) return this.unqueuedInFlight || this.unqueuedWaiting;
    return (((this.tags | this.resend) >>> slot) & 1) !== 0;
  }

  clear(): void {
    this.tags = 0;
    this.tagCount = 0;
    this.resend = 0;
    this.sending = NO_SLOT;
    this.isSendingLost = false;
    this.isBusy = false;
    this.lastSent = NO_SLOT;
    this.unqueuedWaiting = false;
    this.unqueuedInFlight = false;
  }

  save(): Saved {
    const { tags, tagCount, resend, sending, lastSent, unqueuedWaiting, unqueuedInFlight } = this;
    const { isSendingLost, isBusy } = this;
    return {
      ...{ tags, tagCount, resend, sending, lastSent, unqueuedWaiting, unqueuedInFlight },
      ...{ isSendingLost, isBusy },
    };
  }

  restore(saved: Saved): void {
    this.tags = saved.tags as number;
    this.tagCount = saved.tagCount as number;
    this.resend = saved.resend as number;
    this.sending = saved.sending as number;
    this.lastSent = saved.lastSent as number;
    this.isSendingLost = saved.isSendingLost as boolean;
    this.isBusy = saved.isBusy as boolean;
    this.unqueuedWaiting = saved.unqueuedWaiting as boolean;
    this.unqueuedInFlight = saved.unqueuedInFlight as boolean;
  }
}
