/**
 * The pins of the array in a trace: which dies it shows, who has the bus of each channel, and what
 * every die is doing.
 */

import { invariant } from '../../hal/sim/invariant.ts';
import type { BusMode } from '../../nand/part.ts';
import { type BusPins, busPins, PIN } from './bus-pins.ts';
import { STATE_BUSY, STATE_IDLE } from './die-state.ts';
import type { TraceLayout } from './trace-layout.ts';
import type { VcdWriter } from './vcd-writer.ts';

/** Which pins there are, and which of them are shown. */
export interface PinChoice {
  readonly layout: TraceLayout;
  readonly bus: BusMode;
  /** Channels and dies to show, dies counted over the array; all when not given. */
  readonly channels?: readonly number[];
  readonly dies?: readonly number[];
}

/** The pins of one die, and what the trace must remember of it. */
export interface DiePins {
  readonly channel: ChannelPins;
  readonly chipEnable: number;
  readonly readyBusy: number;
  readonly state: number;
  /** The last opcode, which the next busy time belongs to. */
  opcode: number;
  /** R/B# is low before this instant. */
  busyUntilTicks: number;
  busyState: string;
  /** The last data phase: its state, and where it ended. */
  dataState: string;
  dataEndTicks: number;
}

export interface ChannelPins {
  readonly bus: BusPins;
  /** The bus is taken before this instant. */
  takenUntilTicks: number;
  /** Die whose CE# is low, null when none is. */
  selected: DiePins | null;
}

export class ArrayPins {
  /** By die over the array; undefined where it is not shown. */
  readonly dies: (DiePins | undefined)[];
  readonly #writer: VcdWriter;
  readonly #layout: TraceLayout;

  /** Declares a scope a channel, in it the shared pins and a scope a die; ends the header. */
  constructor(writer: VcdWriter, choice: PinChoice) {
    const { layout, bus } = choice;
    this.#writer = writer;
    this.#layout = layout;
    this.dies = new Array<DiePins | undefined>(layout.dies).fill(undefined);
    const shown = shownDies(choice);
    writer.scope('bf3');
    for (let number = 0; number < layout.channels; number++) {
      const here = shown.filter((die) => die % layout.channels === number);
      if (here.length === 0) continue;
      writer.scope(`ch${number}`);
      const channel = { bus: busPins(writer, bus), takenUntilTicks: 0, selected: null };
      for (const die of here) this.dies[die] = this.#declareDie(die, channel);
      writer.upscope();
    }
    writer.upscope();
    writer.endHeader();
  }

  /**
   * The die has the bus: its CE# goes low, another one's high.
   * @returns false when the bus is taken already
   */
  take(pins: DiePins, beginTicks: number, endTicks: number): boolean {
    const { channel } = pins;
    const isFree = beginTicks >= channel.takenUntilTicks;
    channel.takenUntilTicks = Math.max(channel.takenUntilTicks, endTicks);
    if (channel.selected === pins) return isFree;
    if (channel.selected !== null) this.#writer.set(channel.selected.chipEnable, 1);
    channel.selected = pins;
    this.#writer.set(pins.chipEnable, 0);
    return isFree;
  }

  /** The die leaves the bus, to go on with what it is busy with or to idle. */
  release(pins: DiePins): void {
    const isBusy = this.#writer.ticks < pins.busyUntilTicks;
    this.#writer.set(pins.state, isBusy ? pins.busyState : STATE_IDLE);
    this.#deselect(pins);
  }

  /** Every pin rests, every die is idle. */
  releaseAll(): void {
    for (const pins of this.dies) {
      if (pins === undefined) continue;
      pins.busyUntilTicks = 0;
      pins.channel.takenUntilTicks = 0;
      pins.channel.bus.latchEnd();
      pins.channel.bus.dataEnd();
      this.#writer.set(pins.readyBusy, 1);
      this.release(pins);
    }
  }

  #declareDie(die: number, channel: ChannelPins): DiePins {
    const writer = this.#writer;
    writer.scope(`die${Math.floor(die / this.#layout.channels)}`);
    const pins = {
      channel,
      chipEnable: writer.wire(PIN.chipEnable, 1, 1),
      readyBusy: writer.wire(PIN.readyBusy, 1, 1),
      state: writer.text(PIN.state, STATE_IDLE),
      ...{ opcode: -1, busyUntilTicks: 0, busyState: STATE_BUSY },
      ...{ dataState: '', dataEndTicks: -1 },
    };
    writer.upscope();
    return pins;
  }

  #deselect(pins: DiePins): void {
    if (pins.channel.selected !== pins) return;
    pins.channel.selected = null;
    this.#writer.set(pins.chipEnable, 1);
  }
}

/** Dies to show, in order. */
function shownDies({ layout, channels, dies }: PinChoice): number[] {
  const inArray = (list: readonly number[], count: number) => list.every((n) => n < count);
  invariant(inArray(channels ?? [], layout.channels), 'a traced channel exists');
  invariant(inArray(dies ?? [], layout.dies), 'a traced die exists');
  return Array.from({ length: layout.dies }, (_, die) => die).filter(
    (die) =>
      (channels === undefined || channels.includes(die % layout.channels)) &&
      (dies === undefined || dies.includes(die)),
  );
}
