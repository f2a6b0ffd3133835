/**
 * The host adapter: issues commands with a queue depth, as a driver and its AHCI port do.
 *
 * It keeps up to 32 queued tags outstanding, drains the queue before a command that is not queued,
 * and after a queue error sends the innocent commands again; probe and recovery are recovery.ts.
 * Commands come from a source; the adapter is part of the machine and saved with it.
 */

import { AtaControl, AtaDevice, AtaError, AtaOpcode, AtaStatus } from '../../hal/ata.ts';
import type { Content } from '../../hal/content/content.ts';
import { UNQUEUED_SLOT } from '../../hal/ports.ts';
import { invariant } from '../../hal/sim/invariant.ts';
import type { Saveable, Saved } from '../../hal/sim/snapshot.ts';
import type { Alarm, AlarmOwner, Timeline } from '../../hal/sim/timeline.ts';
import type { DevicePort } from '../device-port.ts';
import { FisType } from '../fis.ts';
import type { Awaited, HostSide } from '../host-side.ts';
import { NEVER } from '../link-faults.ts';
import { type CommandSource, NOT_BEFORE, NOTHING_YET } from './command-source.ts';
import { CommandTimer, OWN_COMMAND } from './command-timer.ts';
import { Endings } from './endings.ts';
import { HostRegisters } from './host-registers.ts';
import { NO_SLOT, Outstanding } from './outstanding.ts';
import { Recovery, Stage } from './recovery.ts';
import { Unanswered } from './unanswered.ts';

export { type CommandSource, NOT_BEFORE, NOTHING_YET } from './command-source.ts';

const ISSUE = 0;
const WAKE = 1;
const TIMEOUT = 2;
/** What it takes a host to fail a command for a drive that is gone (assumed). */
const REFUSE_NS = 1000;
const QUEUED_TAGS = 32;

export class HostAdapter implements HostSide, AlarmOwner, Saveable {
  readonly kind = 'host.adapter';
  readonly version = 3;
  readonly opcode: Uint8Array;
  readonly feature: Uint16Array;
  readonly lba: Float64Array;
  readonly count: Uint16Array;
  readonly device: Uint8Array;
  readonly data: Int32Array;
  readonly sectorData: Uint8Array;
  /** Instant at which each command was given to the adapter. */
  readonly issuedNs: Float64Array;
  /** Result registers of the last command that ended. */
  resultLba = 0;
  resultCount = 0;
  /** Commands sent since power-on, probe and recovery included. */
  sentCount = 0;

  readonly #timeline: Timeline;
  readonly #port: DevicePort;
  readonly #source: CommandSource;
  readonly #issue: Alarm;
  readonly #wake: Alarm;
  readonly #registers = new HostRegisters();
  readonly #recovery = new Recovery(this.#registers);
  readonly #outstanding = new Outstanding();
  readonly #timer: CommandTimer;
  readonly #endings: Endings;
  readonly #unanswered: Unanswered;
  #queueDepth = QUEUED_TAGS;

  constructor(timeline: Timeline, port: DevicePort, contents: Content, source: CommandSource) {
    this.#timeline = timeline;
    this.#port = port;
    this.#source = source;
    const registers = this.#registers;
    this.opcode = registers.opcode;
    this.feature = registers.feature;
    this.lba = registers.lba;
    this.count = registers.count;
    this.device = registers.device;
    this.data = registers.data;
    this.sectorData = registers.sectorData;
    this.issuedNs = registers.issuedNs;
    this.#issue = timeline.claim('host.issue', this, ISSUE);
    this.#wake = timeline.claim('host.wake', this, WAKE);
    this.#timer = new CommandTimer(timeline.claim('host.timeout', this, TIMEOUT), timeline);
    this.#endings = new Endings(this, source, registers, contents);
    this.#unanswered = new Unanswered(
      this.#outstanding,
      this.#recovery,
      this.#timer,
      this.#endings,
    );
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
    invariant(depth >= 1 && depth <= QUEUED_TAGS, 'a queue depth is 1 to 32');
    this.#queueDepth = depth;
  }

  /** Ns after which a command that is not answered makes the host reset the drive; 30 s. */
  get commandTimeoutNs(): number {
    return this.#timer.timeoutNs;
  }

  set commandTimeoutNs(ns: number) {
    invariant(ns > 0 && ns < Number.POSITIVE_INFINITY, 'a timeout is a positive finite time');
    this.#timer.timeoutNs = ns;
  }

  /** Commands outstanding. */
  get outstandingCount(): number {
    return this.#outstanding.count;
  }

  get isReady(): boolean {
    return this.#recovery.stage === Stage.Running;
  }

  /** IDENTIFY DEVICE data of the last probe. */
  get identify(): Uint8Array {
    return this.#recovery.identify;
  }

  /** Registers of READ FPDMA QUEUED. */
  readQueued(tag: number, lba: number, sectors: number): void {
    this.#registers.queued(tag, AtaOpcode.ReadFpdmaQueued, lba, sectors, 0);
  }

  /** Registers of WRITE FPDMA QUEUED; the data handles go into `data` at the tag's pages. */
  writeQueued(tag: number, lba: number, sectors: number, fua: number): void {
    const device = fua === 0 ? 0 : AtaDevice.ForceUnitAccess;
    this.#registers.queued(tag, AtaOpcode.WriteFpdmaQueued, lba, sectors, device);
  }

  /** Registers of the command that is not queued. */
  unqueued(opcode: number, feature: number, lba: number, count: number, device = 0): void {
    this.#registers.unqueued(opcode, feature, lba, count, device);
  }

  /** Pages of user data of a slot's command, 0 when it moves none. */
  pagesOf(slot: number): number {
    return this.#registers.pagesOf(slot);
  }

  /** Asks the source again: call when it has new commands. */
  pump(): void {
    const outstanding = this.#outstanding;
    if (outstanding.sending !== NO_SLOT || outstanding.unqueuedInFlight) return;
    if (this.#recovery.stage !== Stage.Running) {
      if (this.#recovery.fill()) this.#send(UNQUEUED_SLOT);
      else if (this.#recovery.stage === Stage.Gone) this.#sleepUntil(this.nowNs + REFUSE_NS);
      return;
    }
    if (outstanding.resend !== 0) {
      this.#send(outstanding.takeResend());
      return;
    }
    if (outstanding.unqueuedWaiting) {
      if (outstanding.tagCount > 0) return;
      outstanding.unqueuedWaiting = false;
      this.#send(UNQUEUED_SLOT);
      return;
    }
    if (outstanding.tagCount >= this.#queueDepth) return;
    const slot = this.#source.next(this, outstanding.freeTag);
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
    const isSet = this.#port.control(AtaControl.SoftReset);
    if (!this.#port.control(0) || !isSet) this.#timer.waitForSignature();
  }

  /** Loss of power at the drive: nothing is outstanding any more. */
  powerLost(): void {
    this.#loseAll();
  }

  onAlarm(tag: number): void {
    if (tag === ISSUE) this.#issued();
    else if (tag === TIMEOUT) this.#timedOut();
    else if (this.#recovery.stage === Stage.Gone) this.#refuseNext();
    else this.pump();
  }

  released(_atNs: number): void {}

  ended(slot: number, status: number, error: number, lba: number, count: number): void {
    this.resultLba = lba;
    this.resultCount = count;
    if (this.#timer.isRunning) this.#timer.ended(slot);
    if (slot !== UNQUEUED_SLOT) {
      this.#outstanding.ended(slot);
      this.#endings.finish(slot, status, error);
    } else if (this.#outstanding.unqueuedInFlight) this.#unqueuedEnded(status, error);
    else this.#refused(status, error);
    this.pump();
  }

  queueFailed(_status: number, _error: number): void {
    this.#recovery.beginLog(this.#outstanding.unqueuedWaiting);
    this.pump();
  }

  queueCleared(_atNs: number): void {}

  signature(): void {
    this.#recovery.beginProbe();
    this.pump();
  }

  unanswered(slot: number, awaited: Awaited): void {
    this.#unanswered.note(slot, awaited);
  }

  #take(slot: number): void {
    this.issuedNs[slot] = this.#timeline.nowNs;
    this.#timer.begin(slot);
    if (slot !== UNQUEUED_SLOT) {
      this.#send(slot);
      return;
    }
    this.#outstanding.unqueuedWaiting = true;
    this.pump();
  }

  #send(slot: number): void {
    const outstanding = this.#outstanding;
    const { link, frames } = this.#port;
    outstanding.sending = slot;
    this.#timer.sent(slot);
    if (outstanding.isBusy) {
      this.#timer.waitFor(slot);
      return;
    }
    const atNs = frames.reserve(FisType.RegisterHostToDevice, link.registerNs);
    outstanding.isSendingLost = atNs === NEVER;
    this.#issue.armAt(atNs === NEVER ? link.freeAtNs : atNs);
  }

  /** The command FIS on the link has been sent. */
  #issued(): void {
    const outstanding = this.#outstanding;
    this.sentCount++;
    const slot = outstanding.arrived();
    if (outstanding.isSendingLost) this.#unanswered.stayBusy(slot);
    else this.#port.receive(slot);
    this.pump();
  }

  #sleepUntil(atNs: number): void {
    this.#wake.disarm();
    this.#wake.armAt(Math.max(atNs, this.#timeline.nowNs));
  }

  #unqueuedEnded(status: number, error: number): void {
    const { stage } = this.#recovery;
    const isOwn = stage !== Stage.Running;
    this.#outstanding.unqueuedInFlight = false;
    if (isCrcError(status, error) && this.#timer.mayRetry(isOwn ? OWN_COMMAND : UNQUEUED_SLOT)) {
      // A command of the present stage is filled in again anyway.
      this.#outstanding.unqueuedWaiting ||= !isOwn;
      return;
    }
    if (stage === Stage.Probing) {
      this.#recovery.probed(status);
      if (this.#recovery.stage === Stage.Running) this.#timer.ready();
    } else if (stage === Stage.ReadingLog) this.#logEnded(status, error);
    else this.#endings.finish(UNQUEUED_SLOT, status, error);
  }

  /**
   * The queued command sent last was not accepted. One that met a queue error is sent again with
   * the others once log 10h was read.
   */
  #refused(status: number, error: number): void {
    const tag = this.#outstanding.lastSent;
    if (this.#recovery.stage !== Stage.Running || !this.#outstanding.has(tag)) return;
    if (this.#timer.isRunning && (status & AtaStatus.DeviceFault) === 0) {
      // Whoever missed the queue error learns of it here.
      this.queueFailed(status, error);
      return;
    }
    this.#outstanding.ended(tag);
    this.#endings.finish(tag, status, error);
  }

  /**
   * READ LOG of 10h has ended: one command failed, the others are sent again. When the log cannot
   * be read, all of them have failed.
   */
  #logEnded(status: number, error: number): void {
    const discarded = this.#outstanding.discard();
    this.#timer.stop();
    this.#timer.ready();
    if ((status & AtaStatus.Error) !== 0) {
      this.#recovery.logFailed();
      for (let tag = 0; tag < QUEUED_TAGS; tag++) {
        if (((discarded >>> tag) & 1) !== 0) this.#endings.finish(tag, status, error);
      }
      return;
    }
    const failure = this.#recovery.logRead();
    this.#outstanding.resend |= discarded;
    if (failure === undefined || !failure.isQueued) return;
    const bit = 1 << failure.tag;
    if ((discarded & bit) === 0) return;
    if (isCrcError(failure.status, failure.error) && this.#timer.mayRetry(failure.tag)) return;
    this.#outstanding.resend &= ~bit;
    this.resultLba = failure.lba;
    this.#endings.finish(failure.tag, failure.status, failure.error);
  }

  /** Nobody has answered in time: COMRESET, and all is sent again after the probe. */
  #timedOut(): void {
    this.#issue.disarm();
    this.#wake.disarm();
    if (this.#unanswered.sendAgain()) this.#port.comReset();
    else this.pump();
  }

  /** The drive is gone: the source's next command fails. */
  #refuseNext(): void {
    const slot = this.#endings.refuseNext(this.nowNs);
    if (slot === NOT_BEFORE) this.#sleepUntil(this.#source.wakeAtNs);
    else if (slot !== NOTHING_YET) this.pump();
  }

  #loseAll(): void {
    const outstanding = this.#outstanding;
    for (let tag = 0; tag < QUEUED_TAGS; tag++) if (outstanding.uses(tag)) this.#endings.lose(tag);
    this.#recovery.unpark();
    const isSources = outstanding.unqueuedWaiting || this.#recovery.stage === Stage.Running;
    if (isSources && outstanding.uses(UNQUEUED_SLOT)) this.#endings.lose(UNQUEUED_SLOT);
    outstanding.clear();
    this.#timer.stop();
    this.#timer.ready();
    this.#issue.disarm();
    this.#wake.disarm();
    this.#recovery.stage = Stage.Down;
  }

  save(): Saved {
    return {
      registers: this.#registers.save(this.#outstanding),
      recovery: this.#recovery.save(),
      outstanding: this.#outstanding.save(),
      timer: this.#timer.save(),
      ...{ resultLba: this.resultLba, resultCount: this.resultCount, sentCount: this.sentCount },
      queueDepth: this.#queueDepth,
      source: this.#source.save(),
    };
  }

  restore(saved: Saved): void {
    this.resultLba = saved.resultLba as number;
    this.resultCount = saved.resultCount as number;
    this.sentCount = saved.sentCount as number;
    this.#queueDepth = saved.queueDepth as number;
    this.#outstanding.restore(saved.outstanding as Saved);
    this.#timer.restore(saved.timer as Saved);
    this.#recovery.restore(saved.recovery as Saved);
    this.#registers.restore(saved.registers as Saved, this.#outstanding);
    this.#source.restore(saved.source as Saved);
  }
}

function isCrcError(status: number, error: number): boolean {
  return (status & AtaStatus.Error) !== 0 && (error & AtaError.InterfaceCrc) !== 0;
}
