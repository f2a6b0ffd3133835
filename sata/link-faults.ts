/**
 * Link faults: frames that arrive with a wrong CRC, or not at all.
 *
 * The receiver of a frame with a wrong CRC answers R_ERR. A frame without data is then sent again
 * by the transport layer of its sender; a data frame is not, its command fails. Of a lost frame
 * nobody hears: its command waits for a reset. A source of faults is asked once a frame, in the
 * order of the wire and only while it is armed, so a link without faults costs one comparison.
 * Source: Serial ATA 3.1, link and transport layers.
 */

import { AtaProtocol } from '../hal/ata.ts';
import { FrameVerdict } from '../hal/faults/fault-list.ts';
import type { Saveable, Saved } from '../hal/sim/snapshot.ts';
import type { Timeline } from '../hal/sim/timeline.ts';
import { FisType } from './fis.ts';
import { type Link, SECTORS_PER_FRAME } from './link.ts';

/** Who decides what becomes of a frame. */
export interface FrameFaults {
  /** A fault of the link may still fire. */
  readonly linkArmed: boolean;
  /** What happens to a frame of this type (its first byte) at this event ordinal. */
  onFrame(fisType: number, ordinal: number): FrameVerdict;
}

/** Times that a frame is sent again before its sender gives up (assumed; the standard is open). */
export const RESENDS_MAX = 16;

/** Answer of LinkFaults.reserve: the frame does not arrive. */
export const NEVER = -1;

const NO_FAULTS: FrameFaults = { linkArmed: false, onFrame: () => FrameVerdict.Ok };

export class LinkFaults implements Saveable {
  readonly kind = 'sata.link-faults';
  readonly version = 1;
  /** R_ERR that the device has sent since power-on: frames of the host with a wrong CRC. */
  sentErrorCount = 0;
  /** R_ERR that it has received: frames of its own. */
  receivedErrorCount = 0;
  /** COMRESETs that it has heard. */
  comResetCount = 0;
  /**
   * What became of the frames of the last call; valid until the next one, so no state. Of frames
   * without data never Corrupt: they were sent until they arrived, or are Lost.
   */
  outcome = FrameVerdict.Ok;
  readonly #link: Link;
  readonly #timeline: Timeline;
  #source: FrameFaults = NO_FAULTS;

  constructor(link: Link, timeline: Timeline) {
    this.#link = link;
    this.#timeline = timeline;
  }

  /** Connects a source of faults, null for none; wiring, not state. */
  connect(source: FrameFaults | null): void {
    this.#source = source ?? NO_FAULTS;
  }

  /** A frame may go wrong: ask. */
  get armed(): boolean {
    return this.#source.linkArmed;
  }

  /** Frames with a wrong CRC since power-on, both ways: what SMART counts. */
  get crcErrorCount(): number {
    return this.sentErrorCount + this.receivedErrorCount;
  }

  /**
   * Reserves the link for a frame without data behind `dataNs` of data.
   * @returns the instant at which it has arrived, NEVER when it is lost
   */
  reserve(type: FisType, frameNs: number, dataNs = 0): number {
    if (!this.#source.linkArmed) return this.#link.reserve(dataNs + frameNs);
    const endNs = this.#link.reserve(dataNs + this.frameNs(type, frameNs));
    return this.outcome === FrameVerdict.Lost ? NEVER : endNs;
  }

  /**
   * Sends a frame without data until it has arrived or is lost.
   * @param frameNs of the frame on the link
   * @returns ns of all attempts; `outcome` is Ok or Lost
   */
  frameNs(type: FisType, frameNs: number): number {
    const toDevice = type === FisType.RegisterHostToDevice;
    for (let sent = 1; ; sent++) {
      this.#ask(type, toDevice);
      if (this.outcome !== FrameVerdict.Corrupt) return sent * frameNs;
      if (sent > RESENDS_MAX) {
        this.outcome = FrameVerdict.Lost;
        return sent * frameNs;
      }
    }
  }

  /**
   * Sends the frames of `sectors` sectors of data, until one goes wrong for good.
   * @param isFirst the burst begins the command's data
   * @param autoActivate the first data frame to the device needs no DMA Activate
   * @returns ns of the frames that were sent; `outcome` tells of the last one: Corrupt only of data
   */
  burstNs(protocol: AtaProtocol, sectors: number, isFirst: boolean, autoActivate: boolean): number {
    const isPio = protocol === AtaProtocol.PioIn || protocol === AtaProtocol.PioOut;
    const isQueued = protocol === AtaProtocol.NcqIn || protocol === AtaProtocol.NcqOut;
    const toDevice =
      protocol === AtaProtocol.PioOut ||
      protocol === AtaProtocol.DmaOut ||
      protocol === AtaProtocol.NcqOut;
    const { setupNs, pioSetupNs, activateNs, dataNs } = this.#link;
    const frameSectors = isPio ? 1 : SECTORS_PER_FRAME;
    let isActivated = isQueued && isFirst && autoActivate;
    let ns = 0;
    this.outcome = FrameVerdict.Ok;
    if (isQueued && isFirst) ns += this.frameNs(FisType.DmaSetup, setupNs);
    let left = sectors;
    while (left > 0 && this.outcome === FrameVerdict.Ok) {
      if (isPio) ns += this.frameNs(FisType.PioSetup, pioSetupNs);
      else if (toDevice && !isActivated) ns += this.frameNs(FisType.DmaActivate, activateNs);
      isActivated = false;
      if (this.outcome !== FrameVerdict.Ok) return ns;
      const carried = left < frameSectors ? left : frameSectors;
      left -= carried;
      ns += dataNs[carried]!;
      this.#ask(FisType.Data, toDevice);
    }
    return ns;
  }

  /** Loss of power. */
  reset(): void {
    this.sentErrorCount = 0;
    this.receivedErrorCount = 0;
    this.comResetCount = 0;
  }

  save(): Saved {
    const { sentErrorCount, receivedErrorCount, comResetCount } = this;
    return { sentErrorCount, receivedErrorCount, comResetCount };
  }

  restore(saved: Saved): void {
    this.sentErrorCount = saved.sentErrorCount as number;
    this.receivedErrorCount = saved.receivedErrorCount as number;
    this.comResetCount = saved.comResetCount as number;
  }

  #ask(type: FisType, toDevice: boolean): void {
    this.outcome = this.#source.onFrame(type, this.#timeline.ordinal);
    if (this.outcome !== FrameVerdict.Corrupt) return;
    if (toDevice) this.sentErrorCount++;
    else this.receivedErrorCount++;
  }
}
