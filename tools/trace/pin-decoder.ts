/**
 * The pin decoder: reads the edges of a cycle trace back into the cycles that made them.
 *
 * It looks at pins as a logic analyser would: what WE# or CLK latches while CE# is low belongs to
 * that die. Only the length of a data phase comes from the state, since not every byte is strobed.
 */

import { CycleKind, type CycleListener } from '../../nand/cycle-listener.ts';
import { RunError } from '../errors.ts';
import { PIN } from './bus-pins.ts';
import { dataOfState } from './die-state.ts';
import { parseLayout, type TraceHeader } from './trace-layout.ts';
import type { VcdHandler } from './vcd-reader.ts';

/** A pin as it was before the present instant, and as it is in it. */
interface Pin {
  before: string;
  now: string;
}

interface DieView {
  /** Counted over the array. */
  readonly die: number;
  readonly pins: ReadonlyMap<string, Pin>;
  /** The data phase that goes on, null when there is none. */
  data: { isOut: boolean; count: number; atNs: number; bytes: number[] } | null;
  /** Instant at which R/B# went low, -1 while it is high. */
  busySinceNs: number;
}

interface ChannelView {
  readonly pins: Map<string, Pin>;
  readonly dies: DieView[];
  /** Instant at which the command or address cycle began that is on the bus. */
  latchNs: number;
  isDirty: boolean;
}

export class PinDecoder implements VcdHandler {
  readonly #listener: CycleListener;
  readonly #channels = new Map<number, ChannelView>();
  readonly #byId = new Map<string, { pin: Pin; channel: ChannelView }>();
  readonly #dirty: ChannelView[] = [];
  #header: TraceHeader | null = null;
  #nowNs = 0;
  #isFirst = true;

  /** @param listener told of every cycle once it has ended; data phases with the bytes strobed */
  constructor(listener: CycleListener) {
    this.#listener = listener;
  }

  /** @throws RunError when the file is no cycle trace */
  get header(): TraceHeader {
    if (this.#header !== null) return this.#header;
    throw new RunError('no cycle trace: expected a comment "bf3-trace ..." before the variables');
  }

  /** The last instant of the file. */
  get nowNs(): number {
    return this.#nowNs;
  }

  comment(text: string): void {
    this.#header ??= parseLayout(text);
  }

  variable(id: string, path: readonly string[]): void {
    const { layout } = this.header;
    const [, channelName = '', ...rest] = path;
    const number = numbered('ch', channelName, layout.channels);
    if (number < 0) return;
    let channel = this.#channels.get(number);
    if (channel === undefined) {
      channel = { pins: new Map(), dies: [], latchNs: 0, isDirty: false };
      this.#channels.set(number, channel);
    }
    const pin: Pin = { before: 'x', now: 'x' };
    if (rest.length === 1) channel.pins.set(rest[0]!, pin);
    else {
      const way = numbered('die', rest[0]!, layout.dies / layout.channels);
      if (way < 0) return;
      const die = way * layout.channels + number;
      let view = channel.dies.find((known) => known.die === die);
      if (view === undefined) {
        view = { die, pins: new Map(), data: null, busySinceNs: -1 };
        channel.dies.push(view);
      }
      (view.pins as Map<string, Pin>).set(rest[1]!, pin);
    }
    this.#byId.set(id, { pin, channel });
  }

  time(ns: number): void {
    this.#instant();
    this.#nowNs = ns;
  }

  change(id: string, value: string): void {
    const found = this.#byId.get(id);
    if (found === undefined) return;
    found.pin.now = value;
    if (found.channel.isDirty) return;
    found.channel.isDirty = true;
    this.#dirty.push(found.channel);
  }

  /** The file has ended. */
  end(): void {
    this.#instant();
  }

  #instant(): void {
    if (this.#dirty.length === 0) return;
    for (const channel of this.#dirty) {
      // The first values are no edges, but what they show may have begun.
      if (this.#isFirst) this.#begin(channel);
      else this.#look(channel);
      channel.isDirty = false;
      for (const pin of channel.pins.values()) pin.before = pin.now;
      for (const { pins } of channel.dies) for (const pin of pins.values()) pin.before = pin.now;
    }
    this.#isFirst = false;
    this.#dirty.length = 0;
  }

  #begin(channel: ChannelView): void {
    channel.latchNs = this.#nowNs;
    for (const view of channel.dies) {
      if (pinOf(view.pins, PIN.readyBusy).now === '0') view.busySinceNs = this.#nowNs;
      this.#enter(view, pinOf(view.pins, PIN.state).now);
    }
  }

  #look(channel: ChannelView): void {
    const { pins } = channel;
    const isSynchronous = this.header.isSynchronous;
    const clock = pinOf(pins, isSynchronous ? PIN.clock : PIN.writeEnable);
    const cle = pinOf(pins, PIN.cle);
    const ale = pinOf(pins, PIN.ale);
    const selected = channel.dies.find(({ pins }) => pinOf(pins, PIN.chipEnable).now === '0');
    // Dies first: a data phase begins with the edge of its first byte.
    for (const view of channel.dies) this.#lookAtDie(view);
    const isCommand = cle.now === '1' && ale.now === '0';
    const isAddress = ale.now === '1' && cle.now === '0';
    if (rises(clock) && (isCommand || isAddress) && selected !== undefined) {
      const kind = isCommand ? CycleKind.Command : CycleKind.Address;
      const ns = Math.round((this.#nowNs - channel.latchNs) * 20) / 10;
      const value = byteOf(pinOf(pins, PIN.data).now) ?? 0;
      this.#listener.cycle(selected.die, kind, value, channel.latchNs, ns, null);
    }
    if (falls(clock) || changes(cle) || changes(ale)) channel.latchNs = this.#nowNs;
    const data = selected?.data ?? null;
    if (data === null || !this.#strobes(pins, data.isOut, clock)) return;
    const byte = byteOf(pinOf(pins, PIN.data).now);
    if (byte !== null && data.bytes.length < data.count) data.bytes.push(byte);
  }

  #strobes(pins: ReadonlyMap<string, Pin>, isOut: boolean, clock: Pin): boolean {
    if (this.header.isSynchronous) return changes(pinOf(pins, PIN.strobe));
    return rises(isOut ? pinOf(pins, PIN.readEnable) : clock);
  }

  #lookAtDie(view: DieView): void {
    const state = pinOf(view.pins, PIN.state);
    if (changes(state)) {
      this.#leaveData(view);
      this.#enter(view, state.now);
    }
    const ready = pinOf(view.pins, PIN.readyBusy);
    if (falls(ready)) view.busySinceNs = this.#nowNs;
    if (!rises(ready) || view.busySinceNs < 0) return;
    const ns = this.#round(this.#nowNs - view.busySinceNs);
    this.#listener.cycle(view.die, CycleKind.Busy, 0, view.busySinceNs, ns, null);
    view.busySinceNs = -1;
  }

  #enter(view: DieView, state: string): void {
    const data = dataOfState(state);
    if (data === null) return;
    view.data = { isOut: data.isOut, count: data.bytes, atNs: this.#nowNs, bytes: [] };
  }

  #leaveData(view: DieView): void {
    const { data } = view;
    if (data === null) return;
    view.data = null;
    const kind = data.isOut ? CycleKind.DataOut : CycleKind.DataIn;
    const ns = this.#round(this.#nowNs - data.atNs);
    const bytes = data.bytes.length === 0 ? null : () => Uint8Array.from(data.bytes);
    this.#listener.cycle(view.die, kind, data.count, data.atNs, ns, bytes);
  }

  /** A difference of instants, to the 100 ps that they are exact to. */
  #round(ns: number): number {
    return Math.round(ns * 10) / 10;
  }
}

/** A pin that the file lacks never moves. */
const ABSENT: Pin = { before: 'x', now: 'x' };

function pinOf(pins: ReadonlyMap<string, Pin>, name: string): Pin {
  return pins.get(name) ?? ABSENT;
}

function rises({ before, now }: Pin): boolean {
  return before === '0' && now === '1';
}

function falls({ before, now }: Pin): boolean {
  return before === '1' && now === '0';
}

function changes({ before, now }: Pin): boolean {
  return before !== now;
}

/** The byte on DQ, null when a bit of it is not driven. */
function byteOf(bits: string): number | null {
  return /^[01]{1,8}$/.test(bits) ? Number.parseInt(bits, 2) : null;
}

/** The number in `ch3`, -1 when it is none below `count`. */
function numbered(prefix: string, name: string, count: number): number {
  const match = /^([a-z]+)(\d{1,6})$/.exec(name);
  if (match === null || match[1] !== prefix) return -1;
  const number = Number(match[2]);
  return number < count ? number : -1;
}
