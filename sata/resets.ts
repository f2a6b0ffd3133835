/**
 * Resets: how the link comes up, COMRESET, soft reset, and the signature that follows each.
 *
 * A reset gives everything outstanding up; the signature is sent when firmware holds nothing of it
 * any more. COMRESET sets what SET FEATURES has chosen back to its power-on values, because
 * software settings preservation is not announced; SRST keeps it unless SET FEATURES CCh asked
 * otherwise.
 * Both wake the drive from Sleep. Sources: Serial ATA 3.1, 8.4 and 11.2; ACS-2, 7.45.
 */

import { AtaControl } from '../hal/ata.ts';
import { FrameVerdict } from '../hal/faults/fault-list.ts';
import { UNQUEUED_SLOT } from '../hal/ports.ts';
import { PowerMode } from './answers.ts';
import { FisType } from './fis.ts';
import { type FrontEnd, SIGNATURE_TAG } from './front-end.ts';
import { Awaited } from './host-side.ts';
import type { PortState } from './port-state.ts';
import type { QueueFailure } from './queue-failure.ts';

/** From COMRESET to the signature: OOB, speed negotiation and PHY ready (assumed, mostly fixed). */
const LINK_UP_NS = 1_000_000;

export class Resets {
  readonly #front: FrontEnd;
  readonly #state: PortState;
  readonly #failure: QueueFailure;

  constructor(front: FrontEnd, failure: QueueFailure) {
    this.#front = front;
    this.#state = front.state;
    this.#failure = failure;
  }

  /** Firmware is ready for a host: the link may come up. */
  linkUp(): void {
    this.#state.isStarted = true;
    this.#due(LINK_UP_NS);
  }

  /** COMRESET. A drive that is off or boots does not hear it: its link comes up later anyway. */
  comReset(): void {
    const state = this.#state;
    if (!state.isStarted) return;
    this.#front.frames.comResetCount++;
    this.#begin();
    state.isLinked = false;
    state.inSoftReset = false;
    this.#wake();
    this.#front.answers.hardwareReset();
    this.#due(LINK_UP_NS);
  }

  /**
   * A control FIS: SRST set and cleared again is a soft reset. Not heard while the link is down.
   * False when the frame is lost on the link.
   */
  control(control: number): boolean {
    const state = this.#state;
    const { frames, link, answers } = this.#front;
    if (!state.isLinked) return true;
    if (frames.armed) {
      frames.frameNs(FisType.RegisterHostToDevice, link.registerNs);
      if (frames.outcome === FrameVerdict.Lost) return false;
    }
    const softReset = (control & AtaControl.SoftReset) !== 0;
    if (softReset === state.inSoftReset) return true;
    state.inSoftReset = softReset;
    if (softReset) {
      this.#begin();
      return true;
    }
    this.#wake();
    answers.softReset();
    this.#due(link.resultNs);
    return true;
  }

  /** Sends the signature that waited for the orphans. */
  sendDue(): void {
    const state = this.#state;
    if (!state.signatureDue || state.orphanCount > 0) return;
    state.signatureDue = false;
    state.inError = false;
    const alarm = this.#front.alarms[SIGNATURE_TAG]!;
    alarm.disarm();
    alarm.armAfter(state.signatureNs + this.#resentNs());
  }

  /** The signature was sent: the drive takes commands. */
  signatureSent(): void {
    this.#state.isLinked = true;
    this.#state.isUp = true;
  }

  /** Tells the host of the signature that was sent, if there is a host and it has arrived. */
  tellHost(): void {
    if (!this.#front.hasHost) return;
    const { host } = this.#front;
    if (this.#state.signatureLost) host.unanswered(UNQUEUED_SLOT, Awaited.Signature);
    else host.signature();
  }

  /** Ns by which the signature arrives later because it is sent again. */
  #resentNs(): number {
    const { frames, link } = this.#front;
    this.#state.signatureLost = false;
    if (!frames.armed) return 0;
    const ns = frames.frameNs(FisType.RegisterDeviceToHost, link.resultNs);
    this.#state.signatureLost = frames.outcome === FrameVerdict.Lost;
    return ns - link.resultNs;
  }

  #begin(): void {
    this.#failure.giveUpAll();
    this.#state.isUp = false;
    this.#state.signatureDue = false;
    this.#front.link.clear();
  }

  #due(afterNs: number): void {
    this.#state.signatureDue = true;
    this.#state.signatureNs = afterNs;
    this.sendDue();
  }

  #wake(): void {
    const { answers } = this.#front;
    if (answers.powerMode === PowerMode.Sleep) answers.powerMode = PowerMode.Active;
  }
}
