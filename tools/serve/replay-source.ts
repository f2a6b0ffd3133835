/**
 * A recorded run again: the commands of a served drive, given back at their event ordinals.
 *
 * The source is the adapter's command source and the history's input source at once. What pages
 * held is not recorded and makes no difference to time: each page written gets a tag of its own.
 */

import { PAGES_PER_COMMAND } from '../../hal/ports.ts';
import type { InputSource } from '../../hal/sim/history.ts';
import type { Saved } from '../../hal/sim/snapshot.ts';
import type { Timeline } from '../../hal/sim/timeline.ts';
import type { HostAdapter } from '../../sata/host/adapter.ts';
import { RunError } from '../errors.ts';
import { HostOp, HostQueue } from './host-queue.ts';
import type { RecordedCommand, Recording } from './record.ts';

/** Tags are positive and wrap; they are compared together with the page, so a wrap is harmless. */
const TAG_MASK = 0x3fff_ffff;

export class ReplaySource extends HostQueue implements InputSource {
  readonly recording: Recording;
  /** Commands of the record that have failed. */
  failedCount = 0;
  /** Sees a read's end: its command and where its data handles lie in `adapter.data`. */
  onRead: (command: RecordedCommand, adapter: HostAdapter, at: number) => void = () => {};
  /** Tag of the first page of each command. */
  readonly #firstTag: Int32Array;
  /** Commands given so far: an index into the record. */
  #given = 0;
  #timeline: Timeline | null = null;
  #adapter: HostAdapter | null = null;

  constructor(recording: Recording) {
    super();
    this.recording = recording;
    const { commands } = recording;
    this.#firstTag = new Int32Array(commands.length);
    let tag = 0;
    commands.forEach((command, index) => {
      this.#firstTag[index] = tag;
      if (command.op === HostOp.Write) {
        tag = (tag + Math.ceil(((command.lba % 8) + command.sectors) / 8)) & TAG_MASK;
      }
    });
  }

  /** Commands given so far. */
  get givenCount(): number {
    return this.#given;
  }

  /** Connects the source to the drive that was built with it. */
  attach(drive: { timeline: Timeline; host: HostAdapter }): void {
    this.#timeline = drive.timeline;
    this.#adapter = drive.host;
  }

  nextAfter(ordinal: number): number {
    const next = this.recording.commands[this.#given];
    if (next === undefined) return Number.POSITIVE_INFINITY;
    return next.at > ordinal ? next.at : this.#late(next, ordinal);
  }

  applyAt(ordinal: number): void {
    const timeline = this.#timeline!;
    const adapter = this.#adapter!;
    const { commands } = this.recording;
    for (;;) {
      const command = commands[this.#given];
      if (command === undefined || command.at !== ordinal) return;
      if (timeline.nextNs <= command.ns || command.ns < timeline.nowNs) this.#apart(command);
      timeline.runUntil(command.ns);
      const { op, lba, sectors, fua } = command;
      this.push(op, lba, sectors, fua, this.#given++, 0);
      adapter.pump();
    }
  }

  /**
   * Runs the whole record, from power-on of a new drive: its events and its commands.
   * @throws RunError when the run comes apart from the record
   */
  run(): void {
    const timeline = this.#timeline!;
    this.applyAt(timeline.ordinal);
    const last = this.recording.end?.ordinal ?? this.recording.commands.at(-1)?.at ?? 0;
    while (timeline.ordinal < last) {
      const stop = Math.min(last, this.nextAfter(timeline.ordinal));
      timeline.runToOrdinal(stop);
      if (timeline.ordinal < stop) {
        throw new RunError(`nothing is pending after event ${timeline.ordinal}: ${APART}`);
      }
      this.applyAt(stop);
    }
    if (this.recording.end !== null) timeline.runUntil(this.recording.end.ns);
  }

  protected override load(adapter: HostAdapter, slot: number, at: number, pages: number): void {
    const first = this.#firstTag[this.slotOwner[slot]!]!;
    for (let page = 0; page < pages; page++) {
      adapter.data[at + page] = ((first + page) & TAG_MASK) + 1;
    }
  }

  protected override ended(adapter: HostAdapter, slot: number, failed: boolean): void {
    if (failed) this.failedCount++;
    else if (this.slotOp[slot] === HostOp.Read) {
      const command = this.recording.commands[this.slotOwner[slot]!]!;
      this.onRead(command, adapter, slot * PAGES_PER_COMMAND);
    }
  }

  override save(): Saved {
    return { queue: super.save(), given: this.#given, failedCount: this.failedCount };
  }

  override restore(saved: Saved): void {
    super.restore(saved.queue as Saved);
    this.#given = saved.given as number;
    this.failedCount = saved.failedCount as number;
  }

  #late(command: RecordedCommand, ordinal: number): never {
    throw new RunError(`the command of event ${command.at} is due before ${ordinal}: ${APART}`);
  }

  #apart(command: RecordedCommand): never {
    const { ordinal, nowNs } = this.#timeline!;
    throw new RunError(
      `after event ${ordinal} the clock cannot go from ${nowNs} to ${command.ns} ns: ${APART}`,
    );
  }
}

const APART = 'the run has come apart from its record (another version of the program?)';
