/**
 * A writer of value change dumps (VCD) that streams: it keeps one value a signal, not the run.
 *
 * Changes come in order of time. What changes to and fro within one instant is written once, or not
 * at all. Nothing in the file depends on when or where it was written.
 *
 * Source: IEEE 1364-2005, section 18; variables of type `string` are GTKWave's extension.
 */

import { invariant } from '../../hal/sim/invariant.ts';

/** Where text goes, piece by piece. */
export interface TextSink {
  append(text: string): void;
}

/** Values of a wire besides 0 and 1, or of a bus besides its numbers. */
export const HIGH_Z = -1;
export const UNKNOWN = -2;

/** Units of time in the file: 100 ps, because half of a data cycle may be 2.5 ns. */
export const TICKS_PER_NS = 10;
const TIMESCALE = '100 ps';

/** Identifiers are numbers in the printable characters of ASCII, `!` being zero. */
const ID_BASE = 94;
const ID_FIRST = 33;
/** No change with its time stamp is longer. */
const LINE_BYTES_MAX = 128;

interface Signal {
  readonly id: string;
  /** 0: a string. */
  readonly width: number;
  /** Value at the present instant, and as the file has it. */
  now: number | string;
  written: number | string | null;
  isDirty: boolean;
}

export interface VcdWindow {
  /** First and last instant that the file shows. */
  readonly fromTicks: number;
  readonly toTicks: number;
  /** The file ends before it is longer than this. */
  readonly bytesMax: number;
}

export class VcdWriter {
  readonly #sink: TextSink;
  readonly #window: VcdWindow;
  readonly #signals: Signal[] = [];
  readonly #dirty: Signal[] = [];
  #ticks = 0;
  /** The first values stand in the file. */
  #isOpen = false;
  #isOver = false;
  #isFull = false;
  /** ASCII only, so characters are bytes. */
  #bytes = 0;
  /** Changes written, first values not counted. */
  #changes = 0;
  #writtenTicks = -1;

  constructor(sink: TextSink, window: VcdWindow) {
    this.#sink = sink;
    this.#window = window;
  }

  /** Length of the file so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The present instant. */
  get ticks(): number {
    return this.#ticks;
  }

  get changes(): number {
    return this.#changes;
  }

  /** Nothing more will be written: the window or the length is used up. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The file ends because of its length. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Begins the header. */
  header(version: string, comment: string): void {
    this.#append(`$version ${version} $end\n$comment ${comment} $end\n`);
    this.#append(`$timescale ${TIMESCALE} $end\n`);
  }

  scope(name: string): void {
    this.#append(`$scope module ${name} $end\n`);
  }

  upscope(): void {
    this.#append('$upscope $end\n');
  }

  /** Declares a wire, or a bus when `width` is above 1; returns its number. */
  wire(name: string, width: number, value: number): number {
    const range = width === 1 ? '' : ` [${width - 1}:0]`;
    return this.#declare('wire', `${name}${range}`, width, value);
  }

  /** Declares a text without spaces; returns its number. */
  text(name: string, value: string): number {
    return this.#declare('string', name, 0, value);
  }

  endHeader(): void {
    this.#append('$enddefinitions $end\n');
  }

  /** Goes to an instant, which must not lie before the last one. */
  advance(ticks: number): void {
    invariant(ticks >= this.#ticks, 'a dump of value changes goes forwards in time');
    if (ticks === this.#ticks) return;
    this.#writeInstant();
    this.#ticks = ticks;
    if (ticks <= this.#window.fromTicks || this.#isOver) return;
    if (ticks > this.#window.toTicks) this.#end(this.#window.toTicks);
    else this.#open();
  }

  /** Gives a signal a value at the present instant. */
  set(signal: number, value: number | string): void {
    const entry = this.#signals[signal]!;
    entry.now = value;
    if (entry.isDirty || !this.#isOpen) return;
    entry.isDirty = true;
    this.#dirty.push(entry);
  }

  /** Ends the file at an instant, so that a viewer shows the time up to it. */
  finish(ticks: number): void {
    if (this.#isOver) return;
    this.advance(Math.max(ticks, this.#ticks));
    this.#writeInstant();
    this.#end(this.#ticks);
  }

  #declare(type: string, name: string, width: number, now: number | string): number {
    const number = this.#signals.length;
    const id = identifier(number);
    this.#signals.push({ id, width, now, written: null, isDirty: false });
    this.#append(`$var ${type} ${Math.max(1, width)} ${id} ${name} $end\n`);
    return number;
  }

  /** Writes every value as it was at the beginning of the window. */
  #open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#stamp(this.#window.fromTicks);
    this.#append('$dumpvars\n');
    for (const signal of this.#signals) this.#value(signal);
    this.#append('$end\n');
  }

  #writeInstant(): void {
    if (this.#dirty.length === 0) return;
    for (const signal of this.#dirty) {
      signal.isDirty = false;
      if (this.#isOver || signal.now === signal.written) continue;
      if (this.#bytes > this.#window.bytesMax - LINE_BYTES_MAX) {
        this.#isFull = true;
        this.#isOver = true;
        continue;
      }
      this.#stamp(this.#ticks);
      this.#value(signal);
      this.#changes++;
    }
    this.#dirty.length = 0;
  }

  #end(ticks: number): void {
    if (this.#isOver) return;
    this.#open();
    this.#stamp(Math.max(ticks, this.#window.fromTicks));
    this.#isOver = true;
  }

  #stamp(ticks: number): void {
    if (ticks === this.#writtenTicks) return;
    this.#writtenTicks = ticks;
    this.#append(`#${ticks}\n`);
  }

  #value(signal: Signal): void {
    const { now, width, id } = signal;
    signal.written = now;
    if (typeof now === 'string') this.#append(`s${now} ${id}\n`);
    else if (width === 1) this.#append(`${digit(now)}${id}\n`);
    else this.#append(`b${now < 0 ? digit(now) : now.toString(2)} ${id}\n`);
  }

  #append(text: string): void {
    this.#bytes += text.length;
    this.#sink.append(text);
  }
}

function digit(value: number): string {
  if (value === HIGH_Z) return 'z';
  return value === UNKNOWN ? 'x' : String(value);
}

function identifier(number: number): string {
  let id = '';
  for (let rest = number; ; rest = Math.floor(rest / ID_BASE) - 1) {
    id += String.fromCharCode(ID_FIRST + (rest % ID_BASE));
    if (rest < ID_BASE) return id;
  }
}
