/**
 * A device port without a drive behind it: the test plays the firmware, so every phase of a slot
 * can be held as long as one likes.
 */
import { TaggedContent } from '../../../hal/content/tagged-content.ts';
import { InterruptController } from '../../../hal/interrupts.ts';
import { PAGES_PER_COMMAND, UNQUEUED_SLOT } from '../../../hal/ports.ts';
import { Probe } from '../../../hal/sim/probe.ts';
import { Machine } from '../../../hal/sim/snapshot.ts';
import { Timeline } from '../../../hal/sim/timeline.ts';
import { UndoLog } from '../../../hal/sim/undo-log.ts';
import { Answers } from '../../../sata/answers.ts';
import { DevicePort } from '../../../sata/device-port.ts';
import { Link } from '../../../sata/link.ts';
import type { FrameFaults } from '../../../sata/link-faults.ts';
import type { SlotPhase } from '../../../sata/slots.ts';
import type { SmartCounters } from '../../../sata/smart.ts';
import { RawHostSide, READ, type Registers } from './raw-host.ts';

export const CAPACITY = 100_000;
const IDENTITY = {
  ...{ model: 'RIG', firmware: '1', serial: '1', wwn: '5000000000000000', sectors: CAPACITY },
};

export class PortRig {
  readonly timeline = new Timeline();
  readonly machine = new Machine(this.timeline, new UndoLog());
  readonly contents = new TaggedContent(this.machine);
  readonly host = new RawHostSide();
  readonly port: DevicePort;

  /** @param linkFaults what becomes of the frames; all arrive when missing */
  constructor(linkFaults: FrameFaults | null = null) {
    const { timeline, contents, machine } = this;
    const link = machine.add(new Link({ gigabaud: 6, handshakeDwords: 106 }, timeline));
    const answers = machine.add(new Answers(IDENTITY, () => ({}) as SmartCounters));
    const interrupts = new InterruptController();
    const probe = new Probe();
    this.port = machine.add(
      new DevicePort({
        ...{ timeline, probe, link, answers, contents, interrupts },
        dram: { charge: () => 0 },
        linkFaults,
      }),
    );
    this.host.now = () => timeline.nowNs;
    this.port.attach(this.host);
    this.port.linkUp();
    this.run();
  }

  /** Fires everything that is on the link. */
  run(): void {
    this.timeline.runUntilQuiet(10_000);
  }

  /** Sends a queued command; a write's pages are counted handles. */
  queue(opcode: number, tag: number, lba: number, sectors: number): void {
    this.host.set(tag, { opcode, lba, feature: sectors, count: tag << 3 });
    if (opcode !== READ) this.fillData(tag, Math.ceil(sectors / 8));
    this.port.receive(tag);
  }

  /** Sends a command that is not queued. */
  send(registers: Registers): void {
    this.host.set(UNQUEUED_SLOT, registers);
    this.port.receive(UNQUEUED_SLOT);
  }

  /** What a driver does after a queue error; the port must answer the log by itself. */
  readLog(opcode = 0x2f): void {
    this.send({ opcode, lba: 0x10, count: 1 });
    if (this.port.takeCommand() === UNQUEUED_SLOT) this.port.answerLocal(UNQUEUED_SLOT);
  }

  /** Puts fresh counted pages into the host's memory of a slot. */
  fillData(slot: number, pages: number): void {
    for (let i = 0; i < pages; i++) this.host.data[slot * PAGES_PER_COMMAND + i] = this.page();
  }

  /** Releases what the host's memory of a slot holds. */
  dropData(slot: number, pages: number): void {
    const at = slot * PAGES_PER_COMMAND;
    for (let i = at; i < at + pages; i++) {
      this.contents.release(this.host.data[i]!);
      this.host.data[i] = 0;
    }
  }

  /** A page that is counted: a mixture of two tags. */
  page(): number {
    return this.contents.merge(1, 2, 0x0f);
  }

  /** Firmware's pages of a read, ready to be sent. */
  prepare(slot: number, first: number, count: number): void {
    const at = slot * PAGES_PER_COMMAND + first;
    for (let i = at; i < at + count; i++) this.port.content[i] = this.page();
  }

  phase(slot: number): SlotPhase {
    return this.port.slots.phase[slot]! as SlotPhase;
  }

  /** Firmware lets go of what it holds of an orphaned write: takes its arrivals, ends it. */
  endOrphanWrite(slot: number): void {
    const at = slot * PAGES_PER_COMMAND;
    for (let i = at; i < at + 64; i++) {
      this.contents.release(this.port.content[i]!);
      this.port.content[i] = 0;
    }
    this.port.complete(slot, 1, 0);
  }
}
