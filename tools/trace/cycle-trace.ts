/**
 * The cycle trace: turns cycles of the flash channels into pins that move, as a VCD file.
 *
 * An event tells cycles ahead of its instant, and dies tell theirs independently. So each cycle
 * waits in a heap until the present has passed it; then its edges are made, one at a time, and in
 * order of time go into the file. Cycles that are still to come are all that is kept.
 */

import { invariant } from '../../hal/sim/invariant.ts';
import { CycleKind, type CycleListener, type PageBytes } from '../../nand/cycle-listener.ts';
import { ArrayPins, type DiePins, type PinChoice } from './array-pins.ts';
import { busyName } from './command-names.ts';
import { commandState, dataState, STATE_BUSY, STATE_IDLE, STATE_WAIT } from './die-state.ts';
import { type Timed, TimeHeap } from './time-heap.ts';
import { layoutComment } from './trace-layout.ts';
import { type TextSink, TICKS_PER_NS, VcdWriter } from './vcd-writer.ts';

/** How much of a data phase the file shows; the number of bytes always stands in the state. */
export enum DataDetail {
  /** DQ is unknown during the phase. */
  None,
  /** The first byte is strobed and stays on DQ. */
  Summary,
  /** Every byte is strobed. */
  Full,
}

export interface CycleTraceOptions extends PinChoice {
  readonly data: DataDetail;
  /** What the file shows of simulated time; all when not given. */
  readonly fromNs?: number;
  readonly toNs?: number;
  /** The trace ends before the file is longer; no limit when not given. */
  readonly bytesMax?: number;
}

/** What was told of the chosen dies inside the chosen time. */
export interface CycleCounts {
  /** Cycles and phases, by CycleKind. */
  readonly cycles: Float64Array;
  /** Bytes of data phases. */
  dataInBytes: number;
  dataOutBytes: number;
  /** Cycles that began while another was on their bus: both are drawn, and neither can be read. */
  clashes: number;
  /** Instant of the first of them, -1 when there is none. */
  firstClashNs: number;
}

/** A cycle on its way into the file. */
interface Motion extends Timed {
  readonly pins: DiePins;
  readonly kind: CycleKind;
  readonly value: number;
  readonly beginTicks: number;
  readonly spanTicks: number;
  /** Bytes to strobe, null when DQ stays unknown. */
  readonly bytes: Uint8Array | null;
  /** Steps done. */
  stage: number;
}

export class CycleTrace implements CycleListener {
  readonly counts: CycleCounts = {
    cycles: new Float64Array(CycleKind.Busy + 1),
    dataInBytes: 0,
    dataOutBytes: 0,
    clashes: 0,
    firstClashNs: -1,
  };
  readonly #writer: VcdWriter;
  readonly #options: CycleTraceOptions;
  readonly #fromTicks: number;
  readonly #toTicks: number;
  readonly #pins: ArrayPins;
  readonly #motions = new TimeHeap<Motion>();
  /** Everything before this instant is in the file. */
  #flushedTicks = 0;
  #order = 0;

  /** Writes the header. Throws when a channel or die does not exist. */
  constructor(sink: TextSink, options: CycleTraceOptions) {
    const { fromNs = 0, toNs = Number.POSITIVE_INFINITY } = options;
    const { bytesMax = Number.POSITIVE_INFINITY } = options;
    invariant(fromNs <= toNs, 'the time that a trace shows begins before it ends');
    this.#options = options;
    this.#fromTicks = ticksOf(fromNs);
    this.#toTicks = ticksOf(toNs);
    const window = { fromTicks: this.#fromTicks, toTicks: this.#toTicks, bytesMax };
    this.#writer = new VcdWriter(sink, window);
    const { layout, bus, data } = options;
    this.#writer.header('bf3', layoutComment(layout, bus, DataDetail[data].toLowerCase()));
    this.#pins = new ArrayPins(this.#writer, options);
  }

  /** Bytes of the file so far, and value changes in it. */
  get bytes(): number {
    return this.#writer.bytes;
  }

  get changes(): number {
    return this.#writer.changes;
  }

  /** No later cycle will be shown. */
  get isOver(): boolean {
    return this.#writer.isOver;
  }

  /** The file would have been longer than allowed. */
  get isFull(): boolean {
    return this.#writer.isFull;
  }

  /** Cycles that are told and not yet wholly written. */
  get pendingCount(): number {
    return this.#motions.size;
  }

  cycle(
    die: number,
    kind: CycleKind,
    value: number,
    atNs: number,
    ns: number,
    bytes: PageBytes | null,
  ): void {
    const pins = this.#pins.dies[die];
    if (pins === undefined || this.#writer.isOver) return;
    const beginTicks = ticksOf(atNs);
    const spanTicks = ticksOf(ns);
    invariant(beginTicks >= this.#flushedTicks, 'a cycle begins at or after the written instants');
    if (beginTicks > this.#toTicks || spanTicks <= 0) return;
    const isShown = beginTicks + spanTicks > this.#fromTicks;
    if (isShown) this.#count(kind, value);
    this.#motions.push({
      ...{ pins, kind, value, beginTicks, spanTicks, ticks: beginTicks, rank: 1, stage: 0 },
      bytes: isShown && bytes !== null ? this.#shownBytes(bytes) : null,
      order: this.#order++,
    });
  }

  /** Writes everything before `nowNs`: no cycle that begins earlier may be told any more. */
  flush(nowNs: number): void {
    this.#drain(ticksOf(nowNs));
  }

  /** The power is lost: what was still to come does not happen, and every pin is released. */
  powerLost(nowNs: number): void {
    const ticks = ticksOf(nowNs);
    this.#drain(ticks);
    this.#motions.clear();
    this.#writer.advance(ticks);
    this.#pins.releaseAll();
  }

  /** Writes everything up to `nowNs` and ends the file there. */
  finish(nowNs: number): void {
    const ticks = ticksOf(nowNs);
    this.#drain(ticks + 1);
    this.#writer.finish(ticks);
  }

  #count(kind: CycleKind, value: number): void {
    const { counts } = this;
    counts.cycles[kind]! += 1;
    if (kind === CycleKind.DataIn) counts.dataInBytes += value;
    if (kind === CycleKind.DataOut) counts.dataOutBytes += value;
  }

  /** Copied at once: the register behind them may hold something else later. */
  #shownBytes(bytes: PageBytes): Uint8Array | null {
    switch (this.#options.data) {
      case DataDetail.None:
        return null;
      case DataDetail.Summary:
        return bytes().slice(0, 1);
      case DataDetail.Full:
        return bytes().slice();
    }
  }

  #drain(endTicks: number): void {
    const motions = this.#motions;
    if (endTicks > this.#flushedTicks) this.#flushedTicks = endTicks;
    for (let next = motions.peek(); next !== undefined; next = motions.peek()) {
      if (next.ticks >= endTicks) return;
      if (this.#writer.isOver) {
        motions.clear();
        return;
      }
      this.#writer.advance(next.ticks);
      const ticks = this.#step(next);
      next.stage++;
      next.rank = 0;
      if (ticks < 0) motions.pop();
      else {
        next.ticks = ticks;
        motions.sinkTop();
      }
    }
  }

  /** Makes the next edges of a cycle; returns the instant of those after them, -1 at its end. */
  #step(motion: Motion): number {
    switch (motion.kind) {
      case CycleKind.Command:
      case CycleKind.Address:
        return this.#latch(motion);
      case CycleKind.DataIn:
      case CycleKind.DataOut:
        return this.#data(motion);
      case CycleKind.Busy:
        return this.#busy(motion);
    }
  }

  #latch(motion: Motion): number {
    const { pins, kind, value, beginTicks, spanTicks } = motion;
    const { bus } = pins.channel;
    const isCommand = kind === CycleKind.Command;
    switch (motion.stage) {
      case 0:
        this.#take(motion);
        bus.latchBegin(isCommand, value);
        if (isCommand) {
          pins.opcode = value;
          this.#writer.set(pins.state, commandState(value));
        }
        return beginTicks + Math.round(spanTicks / 2);
      case 1:
        bus.latchStrobe();
        return beginTicks + spanTicks;
      default:
        bus.latchEnd();
        return -1;
    }
  }

  #data(motion: Motion): number {
    const { pins, value, beginTicks, spanTicks, stage, bytes } = motion;
    const { bus } = pins.channel;
    const isOut = motion.kind === CycleKind.DataOut;
    const shown = Math.min(bytes?.length ?? 0, value);
    const halves = 2 * shown;
    if (stage === 0) {
      this.#take(motion);
      bus.dataBegin(isOut);
      this.#enterData(pins, motion, isOut);
    } else if (stage >= halves) {
      bus.dataEnd();
      if (isOut) this.#pins.release(pins);
      else this.#writer.set(pins.state, STATE_WAIT);
      return -1;
    }
    if (stage < halves) bus.dataHalf(stage, isOut, bytes![stage >>> 1]!);
    if (stage + 1 >= halves) return beginTicks + spanTicks;
    // A synchronous bus moves pairs, so an odd byte takes the time of two.
    const times = this.#options.bus.synchronous ? value + (value & 1) : value;
    return beginTicks + Math.round((spanTicks * (stage + 1)) / (2 * times));
  }

  /** Two equal phases without a gap would look like one, so the second gets a mark. */
  #enterData(pins: DiePins, motion: Motion, isOut: boolean): void {
    const { beginTicks, spanTicks, value } = motion;
    const plain = dataState(isOut, value);
    const isSame = pins.dataEndTicks === beginTicks && pins.dataState === plain;
    pins.dataState = isSame ? `${plain}+` : plain;
    pins.dataEndTicks = beginTicks + spanTicks;
    this.#writer.set(pins.state, pins.dataState);
  }

  #busy(motion: Motion): number {
    const { pins, beginTicks, spanTicks } = motion;
    const endTicks = beginTicks + spanTicks;
    if (motion.stage === 0) {
      pins.busyUntilTicks = Math.max(pins.busyUntilTicks, endTicks);
      pins.busyState = busyName(pins.opcode) ?? STATE_BUSY;
      this.#writer.set(pins.readyBusy, 0);
      this.#pins.release(pins);
      return endTicks;
    }
    if (endTicks < pins.busyUntilTicks) return -1;
    this.#writer.set(pins.readyBusy, 1);
    if (pins.channel.selected !== pins) this.#writer.set(pins.state, STATE_IDLE);
    return -1;
  }

  /** Puts a cycle on the bus, where no other should be. */
  #take({ pins, beginTicks, spanTicks }: Motion): void {
    const endTicks = beginTicks + spanTicks;
    const isAlone = this.#pins.take(pins, beginTicks, endTicks);
    if (isAlone || endTicks <= this.#fromTicks) return;
    if (this.counts.clashes === 0) this.counts.firstClashNs = beginTicks / TICKS_PER_NS;
    this.counts.clashes++;
  }
}

function ticksOf(ns: number): number {
  return Math.round(ns * TICKS_PER_NS);
}
