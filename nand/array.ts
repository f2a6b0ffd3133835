/**
 * The flash array: all dies behind their channel buses, driven by flash descriptors.
 *
 * Each die works on one operation at a time; further descriptors wait in its two queues, urgent
 * ones first. A read is two events (tR over, data out), a program two (data in, tPROG over), an
 * erase one. Multi-plane: an operation covers the same page, or block, of every plane of its die.
 */

import type { Content } from '../hal/content/content.ts';
import { FlashOp, type FlashOps, FlashStatus, SLOTS_PER_OP } from '../hal/flash-ops.ts';
import type { Geometry } from '../hal/geometry.ts';
import type { InterruptController } from '../hal/interrupts.ts';
import type { PagePairing } from '../hal/pairing.ts';
import { type BandwidthPort, type FlashPort, Irq } from '../hal/ports.ts';
import type { RegisterView } from '../hal/registers.ts';
import { bitCount } from '../hal/sim/bits.ts';
import { invariant } from '../hal/sim/invariant.ts';
import { type Probe, ProbeKind } from '../hal/sim/probe.ts';
import type { Saveable, Saved } from '../hal/sim/snapshot.ts';
import type { Alarm, AlarmOwner, Timeline } from '../hal/sim/timeline.ts';
import { SLOT_BYTES } from '../hal/sim/units.ts';
import { Channels, COMMAND_NS } from './channel.ts';
import { DiePhase } from './die-table.ts';
import { CELLS_PER_SLOT, CONTENT, ORDER, PAGE_WORD, type PageStore } from './page-store.ts';
import type { BusMode, NandPart } from './part.ts';

const NONE = -1;

export interface ArrayParts {
  timeline: Timeline;
  probe: Probe;
  geometry: Geometry;
  part: NandPart;
  bus: BusMode;
  pairing: PagePairing;
  ops: FlashOps;
  store: PageStore;
  contents: Content;
  interrupts: InterruptController;
  /** Where data comes from and goes to. */
  dram: BandwidthPort;
}

export class NandArray implements FlashPort, AlarmOwner, Saveable {
  readonly kind = 'nand.array';
  readonly version = 1;
  readonly part: NandPart;
  readonly channels: Channels;
  readonly store: PageStore;
  /** Operations ended since power-on, by FlashOp. */
  readonly doneCount = new Float64Array(3);
  /** Slots moved over the buses since power-on: read and programmed. */
  readonly slotCount = new Float64Array(2);
  /** What each die is doing. */
  readonly phase: Uint8Array;
  /** Ns each die has not been idle. */
  readonly dieBusyNs: Float64Array;

  readonly #timeline: Timeline;
  readonly #probe: Probe;
  readonly #geometry: Geometry;
  readonly #pairing: PagePairing;
  readonly #ops: FlashOps;
  readonly #contents: Content;
  readonly #interrupts: InterruptController;
  readonly #dram: BandwidthPort;
  readonly #alarms: Alarm[] = [];
  readonly #channelOf: Int32Array;
  /** Descriptor each die works on, NONE when idle. */
  readonly #current: Int32Array;
  /** Instant at which the present operation of each die began. */
  readonly #startedNs: Float64Array;
  /** First and last waiting descriptor, by die * 2 + (1 - urgent). */
  readonly #head: Int32Array;
  readonly #tail: Int32Array;
  /** First and last ended descriptor not yet taken, linked like the queues. */
  #doneHead = NONE;
  #doneTail = NONE;

  constructor(parts: ArrayParts) {
    const { dies } = parts.geometry;
    this.part = parts.part;
    this.store = parts.store;
    this.channels = new Channels(parts.geometry, parts.bus);
    this.#timeline = parts.timeline;
    this.#probe = parts.probe;
    this.#geometry = parts.geometry;
    this.#pairing = parts.pairing;
    this.#ops = parts.ops;
    this.#contents = parts.contents;
    this.#interrupts = parts.interrupts;
    this.#dram = parts.dram;
    this.phase = new Uint8Array(dies);
    this.dieBusyNs = new Float64Array(dies);
    this.#startedNs = new Float64Array(dies);
    this.#current = new Int32Array(dies).fill(NONE);
    this.#head = new Int32Array(dies * 2).fill(NONE);
    this.#tail = new Int32Array(dies * 2).fill(NONE);
    this.#channelOf = Int32Array.from({ length: dies }, (_, die) => parts.geometry.channelOf(die));
    for (let die = 0; die < dies; die++) {
      this.#alarms.push(parts.timeline.claim(`die${die}`, this, die));
    }
  }

  submit(op: number): void {
    const ops = this.#ops;
    const die = ops.die[op]!;
    const queue = die * 2 + (1 - ops.urgent[op]!);
    ops.next[op] = NONE;
    if (this.#head[queue] === NONE) this.#head[queue] = op;
    else ops.next[this.#tail[queue]!] = op;
    this.#tail[queue] = op;
    if (this.phase[die] === DiePhase.Idle) this.#start(die);
  }

  takeDone(): number {
    const op = this.#doneHead;
    if (op === NONE) return NONE;
    this.#doneHead = this.#ops.next[op]!;
    if (this.#doneHead === NONE) this.#doneTail = NONE;
    return op;
  }

  /** Descriptor a die works on, or -1. */
  currentOf(die: number): number {
    return this.#current[die]!;
  }

  /** Descriptors waiting for a die. */
  waitingCount(die: number): number {
    let count = 0;
    for (const queue of [die * 2, die * 2 + 1]) {
      for (let op = this.#head[queue]!; op !== NONE; op = this.#ops.next[op]!) count++;
    }
    return count;
  }

  onAlarm(die: number): void {
    switch (this.phase[die] as DiePhase) {
      case DiePhase.Reading: {
        const ns = this.channels.slotsNs[bitCount(this.#ops.slotMask[this.#current[die]!]!)]!;
        const endNs = this.#reserve(die, ns);
        this.#enter(die, DiePhase.TransferOut);
        this.#alarms[die]!.armAt(endNs);
        return;
      }
      case DiePhase.TransferIn: {
        const msb = this.#pairing.isMsb[this.#ops.page[this.#current[die]!]!] === 1;
        this.#enter(die, DiePhase.Programming);
        this.#alarms[die]!.armAfter(msb ? this.part.programMsbNs : this.part.programLsbNs);
        return;
      }
      case DiePhase.TransferOut:
        this.#readOut(this.#current[die]!);
        break;
      case DiePhase.Programming:
        this.#program(this.#current[die]!);
        break;
      case DiePhase.Erasing:
        this.#erase(this.#current[die]!);
        break;
      default:
        invariant(false, 'an idle die has no alarm');
    }
    this.#finish(die);
  }

  /** One register a die: its phase; and what has been done. */
  registers(): RegisterView {
    const dies = Array.from(this.phase, (_, die) => ({
      name: `DIE${die}_PHASE`,
      offset: 0x100 + die * 4,
      says: 'DiePhase: 0 idle, 1 reading, 2 out, 3 in, 4 programming, 5 erasing',
      read: () => this.phase[die]!,
    }));
    const done = ['READS', 'PROGRAMS', 'ERASES'].map((name, op) => ({
      name,
      offset: op * 4,
      says: 'operations ended',
      read: () => this.doneCount[op]!,
    }));
    return { name: 'FLASH', baseAddress: 0x6000_0000, registers: [...done, ...dies] };
  }

  /** Loss of power: queues and registers are gone; the store keeps what was programmed. */
  reset(): void {
    for (const alarm of this.#alarms) alarm.disarm();
    this.phase.fill(DiePhase.Idle);
    this.#current.fill(NONE);
    this.#head.fill(NONE);
    this.#tail.fill(NONE);
    this.#doneHead = NONE;
    this.#doneTail = NONE;
    this.channels.reset();
    this.dieBusyNs.fill(0);
    this.doneCount.fill(0);
    this.slotCount.fill(0);
  }

  #start(die: number): void {
    const ops = this.#ops;
    let queue = die * 2;
    if (this.#head[queue] === NONE) queue++;
    const op = this.#head[queue]!;
    if (op === NONE) return;
    this.#head[queue] = ops.next[op]!;
    this.#current[die] = op;
    this.#startedNs[die] = this.#timeline.nowNs;
    switch (ops.op[op] as FlashOp) {
      case FlashOp.Read: {
        const msb = this.#pairing.isMsb[ops.page[op]!] === 1;
        const commandEndNs = this.#reserve(die, COMMAND_NS);
        this.#enter(die, DiePhase.Reading);
        const readNs = msb ? this.part.readMsbNs : this.part.readLsbNs;
        this.#alarms[die]!.armAt(commandEndNs + readNs);
        return;
      }
      case FlashOp.Program: {
        const dataNs = this.channels.slotsNs[this.#geometry.slotsPerUnit]!;
        this.#enter(die, DiePhase.TransferIn);
        this.#alarms[die]!.armAt(this.#reserve(die, COMMAND_NS + dataNs));
        return;
      }
      case FlashOp.Erase:
        this.#enter(die, DiePhase.Erasing);
        this.#alarms[die]!.armAt(this.#reserve(die, COMMAND_NS) + this.part.eraseNs);
    }
  }

  #reserve(die: number, ns: number): number {
    return this.channels.reserve(this.#channelOf[die]!, this.#timeline.nowNs, ns);
  }

  #enter(die: number, phase: DiePhase): void {
    const listener = this.#probe.listener;
    if (listener !== null) listener.note(ProbeKind.DiePhase, die, this.phase[die]!, phase);
    this.phase[die] = phase;
  }

  #finish(die: number): void {
    const ops = this.#ops;
    const op = this.#current[die]!;
    this.#enter(die, DiePhase.Idle);
    this.#current[die] = NONE;
    this.dieBusyNs[die] = this.dieBusyNs[die]! + this.#timeline.nowNs - this.#startedNs[die]!;
    this.doneCount[ops.op[op]!] = this.doneCount[ops.op[op]!]! + 1;
    ops.next[op] = NONE;
    if (this.#doneTail === NONE) this.#doneHead = op;
    else ops.next[this.#doneTail] = op;
    this.#doneTail = op;
    const listener = this.#probe.listener;
    if (listener !== null) {
      listener.note(ProbeKind.FlashDone, ops.op[op]!, die, ops.status[op]!);
    }
    this.#interrupts.raise(Irq.Flash);
    this.#start(die);
  }

  /** First slot of the operation's multi-plane page. */
  #unitSlot(op: number): number {
    const ops = this.#ops;
    const superblock = ops.block[op]! >>> this.#geometry.planeBits;
    return this.#geometry.unitSlotOf(ops.die[op]!, superblock, ops.page[op]!);
  }

  #readOut(op: number): void {
    const ops = this.#ops;
    const unit = this.#unitSlot(op);
    const mask = ops.slotMask[op]!;
    ops.status[op] = FlashStatus.Ok;
    for (let j = 0, rest = mask; rest !== 0; j++, rest >>>= 1) {
      if ((rest & 1) === 0) continue;
      const cells = this.store.of(unit + j).cells.values;
      const from = (unit + j) * CELLS_PER_SLOT;
      const content = cells[from + CONTENT]!;
      if (content < 0) this.#contents.retain(content);
      ops.content[op * SLOTS_PER_OP + j] = content;
      ops.pageWord[op * SLOTS_PER_OP + j] = cells[from + PAGE_WORD]!;
      ops.order[op * SLOTS_PER_OP + j] = cells[from + ORDER]!;
    }
    const count = bitCount(mask);
    this.slotCount[0] = this.slotCount[0]! + count;
    this.#dram.charge(count * SLOT_BYTES);
  }

  #program(op: number): void {
    const ops = this.#ops;
    const { planes, slotsPerUnit } = this.#geometry;
    const unit = this.#unitSlot(op);
    ops.status[op] = FlashStatus.Ok;
    const block = this.#blockIndex(op);
    for (let plane = 0; plane < planes; plane++) this.store.openPage(block + plane, ops.page[op]!);
    for (let j = 0, at = op * SLOTS_PER_OP; j < slotsPerUnit; j++, at++) {
      this.store.program(unit + j, ops.content[at]!, ops.pageWord[at]!, ops.order[at]!);
    }
    this.slotCount[1] = this.slotCount[1]! + slotsPerUnit;
    this.#dram.charge(slotsPerUnit * SLOT_BYTES);
  }

  #erase(op: number): void {
    this.#ops.status[op] = FlashStatus.Ok;
    const block = this.#blockIndex(op);
    for (let plane = 0; plane < this.#geometry.planes; plane++) this.store.erase(block + plane);
  }

  /** Block of plane 0, counted over the whole array. */
  #blockIndex(op: number): number {
    return this.#geometry.blockIndex(this.#ops.die[op]!, this.#ops.block[op]!);
  }

  save(): Saved {
    return {
      channels: this.channels.save(),
      doneCount: this.doneCount.slice(),
      slotCount: this.slotCount.slice(),
      phase: this.phase.slice(),
      dieBusyNs: this.dieBusyNs.slice(),
      current: this.#current.slice(),
      startedNs: this.#startedNs.slice(),
      head: this.#head.slice(),
      tail: this.#tail.slice(),
      doneHead: this.#doneHead,
      doneTail: this.#doneTail,
    };
  }

  restore(saved: Saved): void {
    this.channels.restore(saved.channels as Saved);
    this.doneCount.set(saved.doneCount as Float64Array);
    this.slotCount.set(saved.slotCount as Float64Array);
    this.phase.set(saved.phase as Uint8Array);
    this.dieBusyNs.set(saved.dieBusyNs as Float64Array);
    this.#current.set(saved.current as Int32Array);
    this.#startedNs.set(saved.startedNs as Float64Array);
    this.#head.set(saved.head as Int32Array);
    this.#tail.set(saved.tail as Int32Array);
    this.#doneHead = saved.doneHead as number;
    this.#doneTail = saved.doneTail as number;
  }
}
