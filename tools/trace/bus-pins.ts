/**
 * The pins that the dies of a channel share, and how a cycle moves them in each interface.
 *
 * Asynchronous: WE# and RE# strobe. Source synchronous (NV-DDR): the pin of WE# is CLK, that of RE#
 * is W/R#, and DQS strobes data, both CLE and ALE being high. CLK runs all the time on a board;
 * here it is drawn where it latches something. Sources: ONFI 2.2, sections 2.4, 4.2 and 4.3.
 */

import type { BusMode } from '../../nand/part.ts';
import { HIGH_Z, UNKNOWN, type VcdWriter } from './vcd-writer.ts';

/** Moves the pins; the writer stands at the instant already. */
export interface BusPins {
  /** A command or address cycle: begins, is latched, ends. */
  latchBegin(isCommand: boolean, value: number): void;
  latchStrobe(): void;
  latchEnd(): void;
  dataBegin(isOut: boolean): void;
  /** First or second half of the time of byte `half >> 1`. */
  dataHalf(half: number, isOut: boolean, byte: number): void;
  dataEnd(): void;
}

/** Names of the pins; `_n` marks what is active low, as in Verilog. */
export const PIN = {
  cle: 'CLE',
  ale: 'ALE',
  writeEnable: 'WE_n',
  readEnable: 'RE_n',
  clock: 'CLK',
  writeRead: 'WR_n',
  strobe: 'DQS',
  data: 'DQ',
  chipEnable: 'CE_n',
  readyBusy: 'RB_n',
  state: 'state',
} as const;

const DQ_WIDTH = 8;

/** Declares the pins of the interface in the present scope. */
export function busPins(writer: VcdWriter, bus: BusMode): BusPins {
  return bus.synchronous ? new SyncPins(writer) : new AsyncPins(writer);
}

class AsyncPins implements BusPins {
  readonly #writer: VcdWriter;
  readonly #cle: number;
  readonly #ale: number;
  readonly #writeEnable: number;
  readonly #readEnable: number;
  readonly #data: number;

  constructor(writer: VcdWriter) {
    this.#writer = writer;
    this.#cle = writer.wire(PIN.cle, 1, 0);
    this.#ale = writer.wire(PIN.ale, 1, 0);
    this.#writeEnable = writer.wire(PIN.writeEnable, 1, 1);
    this.#readEnable = writer.wire(PIN.readEnable, 1, 1);
    this.#data = writer.wire(PIN.data, DQ_WIDTH, HIGH_Z);
  }

  latchBegin(isCommand: boolean, value: number): void {
    const writer = this.#writer;
    writer.set(isCommand ? this.#cle : this.#ale, 1);
    writer.set(this.#writeEnable, 0);
    writer.set(this.#data, value);
  }

  latchStrobe(): void {
    this.#writer.set(this.#writeEnable, 1);
  }

  latchEnd(): void {
    const writer = this.#writer;
    writer.set(this.#cle, 0);
    writer.set(this.#ale, 0);
    writer.set(this.#data, HIGH_Z);
  }

  dataBegin(): void {
    this.#writer.set(this.#data, UNKNOWN);
  }

  dataHalf(half: number, isOut: boolean, byte: number): void {
    const writer = this.#writer;
    writer.set(isOut ? this.#readEnable : this.#writeEnable, half & 1);
    writer.set(this.#data, byte);
  }

  dataEnd(): void {
    const writer = this.#writer;
    writer.set(this.#writeEnable, 1);
    writer.set(this.#readEnable, 1);
    writer.set(this.#data, HIGH_Z);
  }
}

class SyncPins implements BusPins {
  readonly #writer: VcdWriter;
  readonly #cle: number;
  readonly #ale: number;
  readonly #clock: number;
  readonly #writeRead: number;
  readonly #strobe: number;
  readonly #data: number;

  constructor(writer: VcdWriter) {
    this.#writer = writer;
    this.#cle = writer.wire(PIN.cle, 1, 0);
    this.#ale = writer.wire(PIN.ale, 1, 0);
    this.#clock = writer.wire(PIN.clock, 1, 0);
    this.#writeRead = writer.wire(PIN.writeRead, 1, 1);
    this.#strobe = writer.wire(PIN.strobe, 1, 0);
    this.#data = writer.wire(PIN.data, DQ_WIDTH, HIGH_Z);
  }

  latchBegin(isCommand: boolean, value: number): void {
    const writer = this.#writer;
    writer.set(isCommand ? this.#cle : this.#ale, 1);
    writer.set(this.#data, value);
  }

  latchStrobe(): void {
    this.#writer.set(this.#clock, 1);
  }

  latchEnd(): void {
    this.#release();
  }

  dataBegin(isOut: boolean): void {
    const writer = this.#writer;
    writer.set(this.#cle, 1);
    writer.set(this.#ale, 1);
    writer.set(this.#writeRead, isOut ? 0 : 1);
    writer.set(this.#data, UNKNOWN);
  }

  /** Data out changes with DQS, data in stands around it. */
  dataHalf(half: number, isOut: boolean, byte: number): void {
    const writer = this.#writer;
    const level = 1 - ((half >>> 1) & 1);
    const isSecond = (half & 1) === 1;
    if (!isSecond) {
      writer.set(this.#data, byte);
      writer.set(this.#clock, level);
    }
    if (isSecond !== isOut) writer.set(this.#strobe, level);
  }

  dataEnd(): void {
    this.#writer.set(this.#writeRead, 1);
    this.#writer.set(this.#strobe, 0);
    this.#release();
  }

  #release(): void {
    const writer = this.#writer;
    writer.set(this.#cle, 0);
    writer.set(this.#ale, 0);
    writer.set(this.#clock, 0);
    writer.set(this.#data, HIGH_Z);
  }
}
