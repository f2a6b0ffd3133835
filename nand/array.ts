/**
 * The flash array: all dies behind their channel buses, driven by flash descriptors.
 *
 * Each die works on one operation at a time; further descriptors wait in its two queues, urgent
 * ones first. A read is two events (tR over, data out), a program or an erase is one: when the bus
 * is free is known when it is asked for, so the end of the data is an instant, not an event.
 * Multi-plane: a program or erase covers the same page, or block, of every plane of its die.
 */

import type { Content } from '../hal/content/content.ts';
import type { FaultList } from '../hal/faults/fault-list.ts';
import { FlashEffect } from '../hal/faults/flash-verdict.ts';
import { FlashOp, type FlashOps } from '../hal/flash-ops.ts';
import type { Geometry } from '../hal/geometry.ts';
import type { InterruptController } from '../hal/interrupts.ts';
import type { PagePairing } from '../hal/pairing.ts';
import { type BandwidthPort, type DieIdentity, type FlashPort, Irq } from '../hal/ports.ts';
import type { RegisterView } from '../hal/registers.ts';
import { bitCount } from '../hal/sim/bits.ts';
import { invariant } from '../hal/sim/invariant.ts';
import { type Probe, ProbeKind } from '../hal/sim/probe.ts';
import type { Saveable, Saved } from '../hal/sim/snapshot.ts';
import type { Alarm, AlarmOwner, Timeline } from '../hal/sim/timeline.ts';
import { SLOT_BYTES } from '../hal/sim/units.ts';
import { Channels } from './channel.ts';
import { Chips } from './chips.ts';
import type { CycleListener } from './cycle-listener.ts';
import { DieCells } from './die-cells.ts';
import { DieFaults } from './die-faults.ts';
import { DieMirror } from './die-mirror.ts';
import { DieQueues } from './die-queues.ts';
import { DiePhase } from './die-table.ts';
import { DieWork } from './die-work.ts';
import { DecodeTiming } from './ecc/decode-timing.ts';
import { FlashCounters } from './flash-counters.ts';
import type { Media } from './media.ts';
import { OnfiDie } from './onfi/die.ts';
import type { ViolationRule, ViolationSink } from './onfi/rules.ts';
import { OpResults } from './op-results.ts';
import type { PageStore } from './page-store.ts';
import type { BusMode, NandPart } from './part.ts';
import type { InterruptedDraws } from './physics/interrupted.ts';
import type { Wear } from './physics/wear.ts';
import { DriveRawPages } from './raw-pages.ts';
import { Sequencer } from './sequencer.ts';

const NONE = -1;
/** Ns after which an operation is given up: more than twice tBERS max. Assumed. */
const OPERATION_TIMEOUT_NS = 25_000_000;

export interface ArrayParts {
  timeline: Timeline;
  probe: Probe;
  geometry: Geometry;
  part: NandPart;
  bus: BusMode;
  pairing: PagePairing;
  ops: FlashOps;
  media: Media;
  contents: Content;
  interrupts: InterruptController;
  /** Where data comes from and goes to. */
  dram: BandwidthPort;
  /** Null: blocks neither fail nor age. */
  wear: Wear | null;
  draws: InterruptedDraws;
  /** Faults over the flash; null when none can be added. */
  faults: FaultList | null;
}

export class NandArray implements FlashPort, AlarmOwner, Saveable, ViolationSink {
  readonly kind = 'nand.array';
  readonly version = 2;
  readonly part: NandPart;
  readonly channels: Channels;
  readonly sequencer: Sequencer;
  readonly media: Media;
  readonly counters = new FlashCounters();
  readonly work: DieWork;
  /** Called when a fault cuts the power; told the instant. */
  onPowerCut: (atNs: number) => void = () => {};

  readonly #timeline: Timeline;
  readonly #probe: Probe;
  readonly #geometry: Geometry;
  readonly #ops: FlashOps;
  readonly #interrupts: InterruptController;
  readonly #dram: BandwidthPort;
  readonly #chips: Chips;
  readonly #faults: DieFaults;
  readonly #cells: readonly DieCells[];
  readonly #queues: DieQueues;
  readonly #results: OpResults;
  readonly #decoder: DecodeTiming;
  readonly #alarms: Alarm[] = [];
  readonly #channelOf: Int32Array;
  readonly #isMsb: Uint8Array;

  constructor(parts: ArrayParts) {
    const { geometry, part, timeline, media, contents, ops } = parts;
    const { dies } = geometry;
    this.part = part;
    this.media = media;
    this.channels = new Channels(geometry);
    this.#timeline = timeline;
    this.#probe = parts.probe;
    this.#geometry = geometry;
    this.#ops = ops;
    this.#interrupts = parts.interrupts;
    this.#dram = parts.dram;
    this.#decoder = new DecodeTiming();
    this.work = new DieWork(dies, parts.probe);
    this.#channelOf = Int32Array.from({ length: dies }, (_, die) => geometry.channelOf(die));
    const pages = new DriveRawPages(geometry, media.store, contents, ops);
    const { pairing, wear, draws } = parts;
    this.#isMsb = pairing.isMsb;
    const chips: OnfiDie[] = [];
    const cells: DieCells[] = [];
    for (let die = 0; die < dies; die++) {
      const own = new DieCells({
        ...{ die, geometry, part, pairing, media, contents, ops, wear, draws },
      });
      cells.push(own);
      chips.push(new OnfiDie({ part, array: new DieMirror(own, pages), sink: this, die }));
      this.#alarms.push(timeline.claim(`die${die}`, this, die));
    }
    this.#chips = new Chips(chips);
    this.#cells = cells;
    this.#queues = new DieQueues(dies, ops);
    this.#faults = new DieFaults(parts.faults, ops, cells, geometry.planes);
    const results = { ops, geometry, media, counters: this.counters, faults: this.#faults };
    this.#results = new OpResults(results);
    this.sequencer = new Sequencer(chips, geometry, part, parts.bus, pages, ops);
  }

  /** The chips on the channels; who asks for them may drive their pins. */
  get dies(): readonly OnfiDie[] {
    this.#chips.driven();
    return this.#chips.dies;
  }

  get store(): PageStore {
    return this.media.store;
  }

  /** Watches the pins of the channels; null: nobody does. */
  get cycles(): CycleListener | null {
    return this.sequencer.cycles;
  }

  set cycles(listener: CycleListener | null) {
    this.sequencer.cycles = listener;
    this.#chips.driven();
  }

  /** The supply of the dies is stable. */
  powerOn(): void {
    this.#chips.powerOn(this.#timeline.nowNs);
  }

  identify(die: number, afterNs: number): DieIdentity {
    this.#chips.driven();
    return this.sequencer.identify(die, this.#timeline.nowNs, afterNs);
  }

  submit(op: number): void {
    const die = this.#ops.die[op]!;
    this.#queues.put(op);
    if (this.work.phase[die] === DiePhase.Idle) this.#start(die);
  }

  takeDone(): number {
    return this.#queues.takeDone();
  }

  /** What a die is doing at this instant. */
  phaseOf(die: number): DiePhase {
    return this.work.phaseAt(die, this.#timeline.nowNs);
  }

  /** Descriptor a die works on, or -1. */
  currentOf(die: number): number {
    return this.work.op[die]!;
  }

  /** Descriptors waiting for a die. */
  waitingCount(die: number): number {
    return this.#queues.waitingCount(die);
  }

  violation(rule: ViolationRule, die: number, atNs: number): void {
    this.counters.violations++;
    const listener = this.#probe.listener;
    if (listener !== null) listener.note(ProbeKind.Violation, rule, die, atNs);
  }

  onAlarm(die: number): void {
    const op = this.work.op[die]!;
    if (this.#faults.hitCount > 0 && this.#faults.isSilent(die)) {
      this.#results.timeout(op);
      this.#finish(die, op);
      return;
    }
    switch (this.work.phase[die] as DiePhase) {
      case DiePhase.Reading:
        this.#sense(die, op);
        return;
      case DiePhase.TransferOut:
        break;
      case DiePhase.TransferIn:
        this.work.enter(die, DiePhase.Programming);
        this.#work(die, op);
        break;
      case DiePhase.Erasing:
        this.#work(die, op);
        break;
      default:
        invariant(false, 'an idle die has no alarm');
    }
    this.#finish(die, op);
  }

  /** One register a die: its phase; and what has been done. */
  registers(): RegisterView {
    const dies = this.#chips.dies.map((_, die) => ({
      name: `DIE${die}_PHASE`,
      offset: 0x100 + die * 4,
      says: 'DiePhase: 0 idle, 1 reading, 2 out, 3 in, 4 programming, 5 erasing',
      read: () => this.phaseOf(die),
    }));
    return {
      name: 'FLASH',
      baseAddress: 0x6000_0000,
      registers: [...this.counters.registers(), ...dies],
    };
  }

  /** Loss of power: what runs is cut short; queues and registers are gone. */
  reset(): void {
    for (const alarm of this.#alarms) alarm.disarm();
    const { nowNs } = this.#timeline;
    for (let die = 0; die < this.#chips.dies.length; die++) {
      if (this.#faults.isSilent(die)) continue;
      this.work.cutShort(die, this.#ops, this.#cells[die]!, nowNs);
    }
    this.#chips.powerOff(nowNs);
    this.work.reset();
    this.#queues.reset();
    this.#faults.reset();
    this.channels.reset();
    this.counters.reset();
  }

  #start(die: number): void {
    const op = this.#queues.take(die);
    if (op === NONE) return;
    this.work.begin(die, op, this.#timeline.nowNs);
    if (this.#faults.armed && this.#startFaulty(die, op)) return;
    this.#alarms[die]!.armAt(this.#begin(die, op, this.#ops.block[op]!));
  }

  /** Puts an operation on the bus; returns the instant at which the die is ready again. */
  #begin(die: number, op: number, block: number): number {
    const page = this.#ops.page[op]!;
    const { sequencer } = this;
    this.work.block[die] = block;
    let busNs: number;
    let arrayNs: number;
    switch (this.#ops.op[op] as FlashOp) {
      case FlashOp.Read:
        busNs = sequencer.readNs[bitCount(sequencer.planesOf[this.#ops.slotMask[op]!]!)]!;
        this.media.expect(die, block, page, this.#ops.slotMask[op]!);
        arrayNs = this.#isMsb[page] === 1 ? this.part.readMsbNs : this.part.readLsbNs;
        this.work.enter(die, DiePhase.Reading);
        break;
      case FlashOp.Program:
        busNs = sequencer.programNs;
        arrayNs = this.#cells[die]!.groupProgramNs(block, page);
        this.work.enter(die, DiePhase.TransferIn);
        break;
      default:
        busNs = sequencer.eraseNs[this.#geometry.planes]!;
        arrayNs = this.#cells[die]!.groupEraseNs(block);
        this.work.enter(die, DiePhase.Erasing);
    }
    const busEndNs = this.#reserve(die, busNs);
    // The confirm cycle has ended tWB before the bus is given up: the array works from then on.
    const arrayFromNs = busEndNs - sequencer.timing.wbNs;
    const readyNs = arrayFromNs + arrayNs;
    this.work.arrayFromNs[die] = arrayFromNs;
    this.work.readyNs[die] = readyNs;
    if (sequencer.cycles !== null) sequencer.spell(die, op, block, busEndNs - busNs, readyNs);
    return readyNs;
  }

  /** Faults may silence, redirect, slow down or cut an operation; false when none hits it. */
  #startFaulty(die: number, op: number): boolean {
    const { nowNs, ordinal } = this.#timeline;
    const verdict = this.#faults.begin(die, op, ordinal);
    if (verdict === null) return false;
    if (this.#faults.isSilent(die)) {
      const untilNs = nowNs + OPERATION_TIMEOUT_NS;
      this.work.hang(die, this.#ops.op[op]!, untilNs);
      this.#alarms[die]!.armAt(untilNs);
      return true;
    }
    const plainNs = this.#begin(die, op, this.#faults.blockOf(die, this.#ops.block[op]!));
    const fromNs = this.work.arrayFromNs[die]!;
    const readyNs = fromNs + Math.round((plainNs - fromNs) * verdict.slowFactor);
    this.work.readyNs[die] = readyNs;
    this.#alarms[die]!.armAt(readyNs);
    if ((verdict.effects & FlashEffect.PowerCut) !== 0) {
      this.onPowerCut(Math.floor(fromNs + (readyNs - fromNs) * verdict.cutFraction));
    }
    return true;
  }

  /** tR is over: what the page register holds is decoded on its way out. */
  #sense(die: number, op: number): void {
    const ops = this.#ops;
    const mask = ops.slotMask[op]!;
    const slots = bitCount(mask);
    const { sequencer } = this;
    const planeMask = sequencer.planesOf[mask]!;
    const planeCount = bitCount(planeMask);
    const block = this.work.block[die]!;
    this.media.sensed(this.#geometry.blockIndex(die, block), planeMask);
    const ns = sequencer.outputNs[planeCount]! + sequencer.slotsNs[slots]!;
    const endNs = this.#reserve(die, ns);
    if (sequencer.cycles !== null) sequencer.output(die, block, ops.page[op]!, mask, endNs - ns);
    this.work.enter(die, DiePhase.TransferOut);
    const worst = this.#results.read(die, op, block);
    const counts = this.counters.slots;
    counts[0] = counts[0]! + slots;
    this.#dram.charge(slots * SLOT_BYTES);
    this.#alarms[die]!.armAt(endNs + this.#decoder.decodeNs(worst, slots * 4));
  }

  /** A program or erase has ended: its status says how. */
  #work(die: number, op: number): void {
    const cells = this.#cells[die]!;
    const block = this.work.block[die]!;
    const isProgram = this.#ops.op[op] === FlashOp.Program;
    const failed = isProgram ? cells.program(block, this.#ops.page[op]!, op) : cells.erase(block);
    this.#results.work(op, failed);
    const { sequencer } = this;
    const endNs = this.#reserve(die, sequencer.statusNs);
    if (sequencer.cycles !== null) sequencer.status(die, endNs - sequencer.statusNs);
    if (!isProgram) return;
    const { slotsPerUnit } = this.#geometry;
    const { slots } = this.counters;
    slots[1] = slots[1]! + slotsPerUnit;
    this.#dram.charge(slotsPerUnit * SLOT_BYTES);
    const first = this.#geometry.slotOf(die, block, this.#ops.page[op]!, 0);
    this.store.follower?.programmed(first, slotsPerUnit);
  }

  #reserve(die: number, ns: number): number {
    return this.channels.reserve(this.#channelOf[die]!, this.#timeline.nowNs, ns);
  }

  #finish(die: number, op: number): void {
    const ops = this.#ops;
    this.work.end(die, this.#timeline.nowNs);
    if (this.#faults.hitCount > 0) this.#faults.end(die);
    const { done } = this.counters;
    done[ops.op[op]!] = done[ops.op[op]!]! + 1;
    this.#queues.putDone(op);
    const listener = this.#probe.listener;
    if (listener !== null) {
      listener.note(ProbeKind.FlashDone, ops.op[op]!, die, ops.status[op]!);
    }
    this.#interrupts.raise(Irq.Flash);
    this.#start(die);
  }

  save(): Saved {
    if (this.cycles !== null) this.#chips.driven();
    return {
      channels: this.channels.save(),
      dies: this.#chips.save(),
      queues: this.#queues.save(),
      faults: this.#faults.save(),
      counters: this.counters.save(),
      work: this.work.save(),
    };
  }

  restore(saved: Saved): void {
    this.channels.restore(saved.channels as Saved);
    this.#chips.restore(saved.dies as Saved[]);
    this.#queues.restore(saved.queues as Saved);
    this.#faults.restore(saved.faults as Saved);
    this.counters.restore(saved.counters as Saved);
    this.work.restore(saved.work as Saved);
  }
}
