/**
 * The front end's wiring: what the parts of the device port share besides their state.
 *
 * Link, answers, data contents, interrupt controller, probe, the attached host, and the alarms of
 * the frames on the link: one a slot, one for a queue error, one for the signature.
 */

import type { Content } from '../hal/content/content.ts';
import type { InterruptController } from '../hal/interrupts.ts';
import { type BandwidthPort, HOST_SLOTS } from '../hal/ports.ts';
import { invariant } from '../hal/sim/invariant.ts';
import { type Probe, ProbeKind } from '../hal/sim/probe.ts';
import type { Alarm, AlarmOwner, Timeline } from '../hal/sim/timeline.ts';
import { SECTOR_BYTES } from '../hal/sim/units.ts';
import type { Answers } from './answers.ts';
import type { HostSide } from './host-side.ts';
import type { Link } from './link.ts';
import { type FrameFaults, LinkFaults } from './link-faults.ts';
import { PortState } from './port-state.ts';
import { TRIM_MAX_BLOCKS } from './trim-ranges.ts';

/** Alarm tags beyond the slots. */
export const QUEUE_ERROR_TAG = HOST_SLOTS;
export const SIGNATURE_TAG = HOST_SLOTS + 1;

export interface DevicePortParts {
  timeline: Timeline;
  probe: Probe;
  link: Link;
  answers: Answers;
  contents: Content;
  interrupts: InterruptController;
  /** Where pages come from and go to. */
  dram: BandwidthPort;
  /** Faults of frames; none when missing. */
  linkFaults?: FrameFaults | null;
}

export class FrontEnd {
  readonly state = new PortState();
  readonly probe: Probe;
  readonly link: Link;
  readonly frames: LinkFaults;
  readonly answers: Answers;
  readonly contents: Content;
  readonly interrupts: InterruptController;
  readonly dram: BandwidthPort;
  /** By slot, then QUEUE_ERROR_TAG and SIGNATURE_TAG. */
  readonly alarms: readonly Alarm[];
  #host: HostSide | null = null;

  constructor(parts: DevicePortParts, owner: AlarmOwner) {
    this.probe = parts.probe;
    this.link = parts.link;
    this.frames = new LinkFaults(parts.link, parts.timeline);
    this.frames.connect(parts.linkFaults ?? null);
    this.answers = parts.answers;
    this.contents = parts.contents;
    this.interrupts = parts.interrupts;
    this.dram = parts.dram;
    const names = Array.from({ length: HOST_SLOTS }, (_, slot) => `sata.slot${slot}`);
    names.push('sata.queue-error', 'sata.signature');
    this.alarms = names.map((name, tag) => parts.timeline.claim(name, owner, tag));
  }

  get hasHost(): boolean {
    return this.#host !== null;
  }

  /** The attached host; commands come only from there, so their handling may count on it. */
  get host(): HostSide {
    return this.#host!;
  }

  attach(host: HostSide): void {
    const bytes = TRIM_MAX_BLOCKS * SECTOR_BYTES;
    invariant(host.sectorData.length >= bytes, 'a host has room for the longest list of ranges');
    this.#host = host;
  }

  /** Tells the probe of frames of a slot's command that take `ns` on the link. */
  noteFrames(slot: number, ns: number): void {
    const listener = this.probe.listener;
    if (listener === null) return;
    listener.note(ProbeKind.Frame, this.state.slots.protocol[slot]!, slot, ns);
  }
}
