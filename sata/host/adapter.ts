/**
 * The host adapter: issues commands with a queue depth, as a driver and its AHCI port do.
 *
 * It keeps up to 32 queued tags outstanding, drains the queue before a command that is not queued,
 * probes the drive after each signature (IDENTIFY, auto-activate on, UDMA 6: what Linux sends), and
 * recovers from a queue error by reading log 10h and sending the innocent commands again. Commands
 * come from a source; the adapter is part of the machine and saved with it.
 */

import { AtaDevice, AtaOpcode, AtaStatus, SataFeature, SetFeature } from '../../hal/ata.ts';
import type { Content } from '../../hal/content/content.ts';
import { HOST_SLOTS, PAGES_PER_COMMAND, UNQUEUED_SLOT } from '../../hal/ports.ts';
import { invariant } from '../../hal/sim/invariant.ts';
import type { Saveable, Saved } from '../../hal/sim/snapshot.ts';
import type { Alarm, AlarmOwner, Timeline } from '../../hal/sim/timeline.ts';
import { SECTOR_BYTES } from '../../hal/sim/units.ts';
import type { DevicePort } from '../device-port.ts';
import type { HostSide } from '../host-side.ts';
import { ncqErrorOfPage } from '../log-pages.ts';

/** Answers of CommandSource.next besides a slot number. */
export const NOTHING_YET = -1;
/** The next command is due at `wakeAtNs`. */
export const NOT_BEFORE = -2;

/** Where the adapter's commands come from. */
export interface CommandSource {
  /**
   * Fills in the registers (and, for a write, the data handles) of the next command with one of the
   * adapter's methods for `tag`, or for UNQUEUED_SLOT, and returns the slot used.
   */
  next(adapter: HostAdapter, tag: number): number;
  /** With NOT_BEFORE: when to ask again, in ns. */
  readonly wakeAtNs: number;
  /** A command has ended; its data handles are valid until this returns. */
  completed(adapter: HostAdapter, slot: number, status: number, error: number): void;
  /** A command was lost in a reset. */
  lost(adapter: HostAdapter, slot: number): void;
  save(): Saved;
  restore(saved: Saved): void;
}

/** Registers of the probe after a signature: opcode, feature, count. */
const PROBE = [
  [AtaOpcode.IdentifyDevice, 0, 0],
  [AtaOpcode.SetFeatures, SetFeature.EnableSataFeature, SataFeature.DmaSetupAutoActivate],
  [AtaOpcode.SetFeatures, SetFeature.SetTransferMode, 0x46],
] as const;

enum Stage {
  /** No signature yet: nothing is sent. */
  Down,
  /** Sending the probe commands. */
  Probing,
  Running,
  /** A queue error: reading log 10h. */
  ReadingLog,
}

const NONE = -1;
const ISSUE = 0;
const WAKE = 1;

export class HostAdapter implements HostSide, AlarmOwner, Saveable {
  readonly kind = 'host.adapter';
  readonly version = 1;
  readonly opcode = new Uint8Array(HOST_SLOTS);
  readonly feature = new Uint16Array(HOST_SLOTS);
  readonly lba = new Float64Array(HOST_SLOTS);
  readonly count = new Uint16Array(HOST_SLOTS);
  readonly device = new Uint8Array(HOST_SLOTS);
  readonly data = new Int32Array(HOST_SLOTS * PAGES_PER_COMMAND);
  readonly sectorData = new Uint8Array(8 * SECTOR_BYTES);
  /** Instant at which each command was given to the adapter. */
  readonly issuedNs = new Float64Array(HOST_SLOTS);
  /** Result registers of the last command that ended. */
  resultLba = 0;
  resultCount = 0;
  /** IDENTIFY DEVICE data of the last probe. */
  readonly identify = new Uint8Array(SECTOR_BYTES);
  /** Commands sent since power-on, probe and recovery included. */
  sentCount = 0;

  readonly #timeline: Timeline;
  readonly #port: DevicePort;
  readonly #contents: Content;
  readonly #source: CommandSource;
  readonly #issue: Alarm;
  readonly #wake: Alarm;
  /** Bit n: tag n is outstanding. */
  #inFlight = 0;
  #inFlightCount = 0;
  /** Bit n: tag n was outstanding when the queue failed and is sent again. */
  #resend = 0;
  #queueDepth = 32;
  #stage = Stage.Down;
  #probeAt = 0;
  /** Slot whose command FIS is on the link, NONE when none is. */
  #sending = NONE;
  /** UNQUEUED_SLOT holds a command that waits for the queue to drain. */
  #unqueuedWaiting = false;
  #unqueuedInFlight = false;

  constructor(timeline: Timeline, port: DevicePort, contents: Content, source: CommandSource) {
    this.#timeline = timeline;
    this.#port = port;
    this.#contents = contents;
    this.#source = source;
    this.#issue = timeline.claim('host.issue', this, ISSUE);
    this.#wake = timeline.claim('host.wake', this, WAKE);
    port.attach(this);
  }

  /** The present instant, for sources that measure. */
  get nowNs(): number {
    return this.#timeline.nowNs;
  }

  /** Tags kept outstanding at most, 1 to 32. */
  get queueDepth(): number {
    return this.#queueDepth;
  }

  set queueDepth(depth: number) {
    invariant(depth >= 1 && depth <= 32, 'a queue depth is 1 to 32');
    this.#queueDepth = depth;
  }

  /** Commands outstanding. */
  get outstandingCount(): number {
    return this.#inFlightCount + (this.#unqueuedInFlight ? 1 : 0);
  }

  get isReady(): boolean {
    return this.#stage === Stage.Running;
  }

  /** Registers of READ FPDMA QUEUED. */
  readQueued(tag: number, lba: number, sectors: number): void {
    this.#queued(tag, AtaOpcode.ReadFpdmaQueued, lba, sectors, 0);
  }

  /** Registers of WRITE FPDMA QUEUED; the data handles go into `data` at the tag's pages. */
  writeQueued(tag: number, lba: number, sectors: number, fua: number): void {
    const device = fua === 0 ? 0 : AtaDevice.ForceUnitAccess;
    this.#queued(tag, AtaOpcode.WriteFpdmaQueued, lba, sectors, device);
  }

  /** Registers of the command that is not queued. */
  unqueued(opcode: number, feature: number, lba: number, count: number, device = 0): void {
    const slot = UNQUEUED_SLOT;
    this.opcode[slot] = opcode;
    this.feature[slot] = feature;
    this.lba[slot] = lba;
    this.count[slot] = count;
    this.device[slot] = device | AtaDevice.Lba;
  }

  /** Asks the source again: call when it has new commands. */
  pump(): void {
    if (this.#sending !== NONE || this.#unqueuedInFlight) return;
    if (this.#stage !== Stage.Running) {
      this.#pumpStage();
      return;
    }
    if (this.#resend !== 0) {
      this.#send(31 - Math.clz32(this.#resend & -this.#resend));
      return;
    }
    if (this.#unqueuedWaiting) {
      if (this.#inFlightCount === 0) this.#send(UNQUEUED_SLOT);
      return;
    }
    if (this.#inFlightCount >= this.#queueDepth) return;
    const free = ~this.#inFlight;
    const slot = this.#source.next(this, 31 - Math.clz32(free & -free));
    if (slot === NOTHING_YET) return;
    if (slot === NOT_BEFORE) this.#sleepUntil(this.#source.wakeAtNs);
    else this.#take(slot);
  }

  /** COMRESET: what is outstanding is lost, then the drive is probed again. */
  comReset(): void {
    this.#loseAll();
    this.#port.comReset();
  }

  /** Soft reset by the control register. */
  softReset(): void {
    this.#loseAll();
    this.#port.control(0x04);
    this.#port.control(0x00);
  }

  onAlarm(tag: number): void {
    if (tag === WAKE) {
      this.pump();
      return;
    }
    const slot = this.#sending;
    this.#sending = NONE;
    this.sentCount++;
    if (slot === UNQUEUED_SLOT) this.#unqueuedInFlight = true;
    else {
      this.#inFlight |= 1 << slot;
      this.#inFlightCount++;
    }
    this.#port.receive(slot);
    this.pump();
  }

  released(_atNs: number): void {}

  ended(slot: number, status: number, error: number, lba: number, count: number): void {
    this.resultLba = lba;
    this.resultCount = count;
    if (slot !== UNQUEUED_SLOT) {
      this.#inFlight &= ~(1 << slot);
      this.#inFlightCount--;
      this.#finish(slot, status, error);
      this.pump();
      return;
    }
    this.#unqueuedInFlight = false;
    if (this.#stage === Stage.Probing) this.#probed();
    else if (this.#stage === Stage.ReadingLog) this.#logRead();
    else this.#finish(slot, status, error);
    this.pump();
  }

  queueFailed(_status: number, _error: number): void {
    this.#stage = Stage.ReadingLog;
    this.pump();
  }

  signature(): void {
    this.#stage = Stage.Probing;
    this.#probeAt = 0;
    this.pump();
  }

  /** Loss of power at the drive: nothing is outstanding any more. */
  powerLost(): void {
    this.#loseAll();
  }

  #queued(tag: number, opcode: number, lba: number, sectors: number, device: number): void {
    this.opcode[tag] = opcode;
    this.feature[tag] = sectors & 0xffff;
    this.lba[tag] = lba;
    this.count[tag] = tag << 3;
    this.device[tag] = device | AtaDevice.Lba;
  }

  #take(slot: number): void {
    this.issuedNs[slot] = this.#timeline.nowNs;
    if (slot !== UNQUEUED_SLOT) {
      this.#send(slot);
      return;
    }
    this.#unqueuedWaiting = true;
    this.pump();
  }

  #send(slot: number): void {
    if (slot === UNQUEUED_SLOT) this.#unqueuedWaiting = false;
    else this.#resend &= ~(1 << slot);
    this.#sending = slot;
    this.#issue.armAt(this.#port.link.reserve(this.#port.link.registerNs));
  }

  #sleepUntil(atNs: number): void {
    this.#wake.disarm();
    this.#wake.armAt(Math.max(atNs, this.#timeline.nowNs));
  }

  #pumpStage(): void {
    if (this.#stage === Stage.Probing) {
      const [opcode, feature, count] = PROBE[this.#probeAt]!;
      this.unqueued(opcode, feature, 0, count);
      this.#send(UNQUEUED_SLOT);
    } else if (this.#stage === Stage.ReadingLog) {
      this.unqueued(AtaOpcode.ReadLogDmaExt, 0, 0x10, 1);
      this.#send(UNQUEUED_SLOT);
    }
  }

  #probed(): void {
    if (this.#probeAt === 0) this.identify.set(this.sectorData.subarray(0, SECTOR_BYTES));
    this.#probeAt++;
    if (this.#probeAt === PROBE.length) this.#stage = Stage.Running;
  }

  /** Log 10h was read: one command failed, the others are sent again. */
  #logRead(): void {
    const failure = ncqErrorOfPage(this.sectorData.subarray(0, SECTOR_BYTES));
    this.#stage = Stage.Running;
    this.#resend |= this.#inFlight;
    const outstanding = this.#inFlight;
    this.#inFlight = 0;
    this.#inFlightCount = 0;
    if (failure === undefined || !failure.isQueued) return;
    const bit = 1 << failure.tag;
    if ((outstanding & bit) === 0) return;
    this.#resend &= ~bit;
    this.resultLba = failure.lba;
    this.#finish(failure.tag, failure.status, failure.error);
  }

  #finish(slot: number, status: number, error: number): void {
    this.#source.completed(this, slot, status, error);
    this.#releaseData(slot, (status & AtaStatus.Error) !== 0);
  }

  /** Pages of a slot's command, 0 when it moves no user data. */
  pagesOf(slot: number): number {
    if (slot !== UNQUEUED_SLOT) {
      const lba = this.lba[slot]!;
      const offset = lba - Math.floor(lba / 8) * 8;
      return (offset + (this.feature[slot]! || 65536) + 7) >> 3;
    }
    return this.#port.slots.pages[slot]!;
  }

  /** The adapter owns the handles of a write it sent and of a read it received. */
  #releaseData(slot: number, failed: boolean): void {
    const isRead = this.opcode[slot] === AtaOpcode.ReadFpdmaQueued;
    if (failed && isRead) return;
    const at = slot * PAGES_PER_COMMAND;
    const end = at + this.pagesOf(slot);
    for (let i = at; i < end; i++) {
      if (this.data[i]! < 0) {
        this.#contents.release(this.data[i]!);
        this.data[i] = 0;
      }
    }
  }

  #loseAll(): void {
    const lost = this.#inFlight | this.#resend;
    for (let tag = 0; tag < 32; tag++) {
      if (((lost >>> tag) & 1) !== 0 || tag === this.#sending) this.#lose(tag);
    }
    const unqueued = this.#unqueuedInFlight || this.#unqueuedWaiting;
    if (this.#stage === Stage.Running && (unqueued || this.#sending === UNQUEUED_SLOT)) {
      this.#lose(UNQUEUED_SLOT);
    }
    this.#issue.disarm();
    this.#wake.disarm();
    this.#sending = NONE;
    this.#inFlight = 0;
    this.#inFlightCount = 0;
    this.#resend = 0;
    this.#unqueuedWaiting = false;
    this.#unqueuedInFlight = false;
    this.#stage = Stage.Down;
  }

  #lose(slot: number): void {
    this.#source.lost(this, slot);
    if (this.opcode[slot] !== AtaOpcode.ReadFpdmaQueued) this.#releaseData(slot, false);
  }

  save(): Saved {
    const data: number[] = [];
    for (let slot = 0; slot < HOST_SLOTS; slot++) {
      if (!this.#isUsed(slot)) continue;
      const at = slot * PAGES_PER_COMMAND;
      data.push(...this.data.subarray(at, at + this.pagesOf(slot)));
    }
    return {
      ...{ opcode: this.opcode.slice(), feature: this.feature.slice(), lba: this.lba.slice() },
      ...{ count: this.count.slice(), device: this.device.slice() },
      ...{ issuedNs: this.issuedNs.slice(), sectorData: this.sectorData.slice() },
      ...{ identify: this.identify.slice(), resultLba: this.resultLba },
      ...{ resultCount: this.resultCount, sentCount: this.sentCount },
      ...{ inFlight: this.#inFlight, inFlightCount: this.#inFlightCount, resend: this.#resend },
      ...{ queueDepth: this.#queueDepth, stage: this.#stage, probeAt: this.#probeAt },
      ...{ sending: this.#sending, unqueuedWaiting: this.#unqueuedWaiting },
      unqueuedInFlight: this.#unqueuedInFlight,
      data: Int32Array.from(data),
      source: this.#source.save(),
    };
  }

  restore(saved: Saved): void {
    this.opcode.set(saved.opcode as Uint8Array);
    this.feature.set(saved.feature as Uint16Array);
    this.lba.set(saved.lba as Float64Array);
    this.count.set(saved.count as Uint16Array);
    this.device.set(saved.device as Uint8Array);
    this.issuedNs.set(saved.issuedNs as Float64Array);
    this.sectorData.set(saved.sectorData as Uint8Array);
    this.identify.set(saved.identify as Uint8Array);
    this.resultLba = saved.resultLba as number;
    this.resultCount = saved.resultCount as number;
    this.sentCount = saved.sentCount as number;
    this.#inFlight = saved.inFlight as number;
    this.#inFlightCount = saved.inFlightCount as number;
    this.#resend = saved.resend as number;
    this.#queueDepth = saved.queueDepth as number;
    this.#stage = saved.stage as Stage;
    this.#probeAt = saved.probeAt as number;
    this.#sending = saved.sending as number;
    this.#unqueuedWaiting = saved.unqueuedWaiting as boolean;
    this.#unqueuedInFlight = saved.unqueuedInFlight as boolean;
    const data = saved.data as Int32Array;
    let from = 0;
    for (let slot = 0; slot < HOST_SLOTS; slot++) {
      if (!this.#isUsed(slot)) continue;
      const pages = this.pagesOf(slot);
      this.data.set(data.subarray(from, from + pages), slot * PAGES_PER_COMMAND);
      from += pages;
    }
    this.#source.restore(saved.source as Saved);
  }

  #isUsed(slot: number): boolean {
    if (slot === UNQUEUED_SLOT) {
      return this.#unqueuedInFlight || this.#unqueuedWaiting || this.#sending === slot;
    }
    return (((this.#inFlight | this.#resend) >>> slot) & 1) !== 0 || this.#sending === slot;
  }
}
