/**
 * A queue of host commands: the command source of tests, tools and the library's own methods.
 *
 * Commands are plain records and are sent in order; results are kept by command number until they
 * are taken. What a read returns is resolved at its end: one tag a sector, or bytes.
 */

import {
  ATA_COMMANDS,
  AtaOpcode,
  AtaProtocol,
  AtaStatus,
  COMMAND_OF_OPCODE,
} from '../../hal/ata.ts';
import type { Content } from '../../hal/content/content.ts';
import { HOST_SLOTS, PAGES_PER_COMMAND, UNQUEUED_SLOT } from '../../hal/ports.ts';
import type { Saved } from '../../hal/sim/snapshot.ts';
import { SECTOR_BYTES } from '../../hal/sim/units.ts';
import { type CommandSource, type HostAdapter, NOTHING_YET } from './adapter.ts';

/** One command as a host issues it. */
export type QueuedCommand = {
  opcode: number;
  /** Feature register; the sector count of queued commands is taken from `sectors`. */
  feature: number;
  lba: number;
  sectors: number;
  /** Count register of commands that are not queued; ignored for queued ones. */
  count: number;
  device: number;
  /** Data handles of a write's pages, owned by the command until it ends; null for others. */
  data: Int32Array | null;
  /** Sectors that go with DATA SET MANAGEMENT and WRITE BUFFER. */
  payload: Uint8Array | null;
};

export type CommandResult = {
  status: number;
  error: number;
  lba: number;
  count: number;
  /** Tag of each sector read (a hash of its bytes when the drive holds bytes); null for no read. */
  tags: Int32Array | null;
  /** Sectors read, when the drive holds bytes, or the sector of a command such as IDENTIFY. */
  bytes: Uint8Array | null;
  /** Ns from handing the command over to its end. */
  latencyNs: number;
};

const NONE = -1;

export class CommandQueue implements CommandSource {
  readonly wakeAtNs = 0;
  readonly #contents: Content;
  #waiting: { id: number; command: QueuedCommand }[] = [];
  /** Command number in each slot, NONE when the slot is not in use. */
  readonly #idOf = new Int32Array(HOST_SLOTS).fill(NONE);
  readonly #commandOf: (QueuedCommand | null)[] = new Array(HOST_SLOTS).fill(null);
  #results = new Map<number, CommandResult>();
  #nextId = 0;
  /** Commands that have ended, by number: kept so that one can ask after taking the result. */
  endedCount = 0;

  constructor(contents: Content) {
    this.#contents = contents;
  }

  /** Queues a command; returns its number. The caller asks the adapter to pump. */
  push(command: QueuedCommand): number {
    const id = this.#nextId++;
    this.#waiting.push({ id, command });
    return id;
  }

  /** Commands waiting or outstanding. */
  get pendingCount(): number {
    return this.#nextId - this.endedCount;
  }

  /** The result of a command that has ended, null before. */
  result(id: number): CommandResult | null {
    return this.#results.get(id) ?? null;
  }

  /** The result, forgotten afterwards. */
  takeResult(id: number): CommandResult | null {
    const result = this.result(id);
    this.#results.delete(id);
    return result;
  }

  next(adapter: HostAdapter, tag: number): number {
    const first = this.#waiting.shift();
    if (first === undefined) return NOTHING_YET;
    const { command } = first;
    const slot = isQueued(command.opcode) ? tag : UNQUEUED_SLOT;
    if (slot === UNQUEUED_SLOT) {
      const { opcode, feature, lba, count, device } = command;
      adapter.unqueued(opcode, feature, lba, count, device);
      if (command.payload !== null) adapter.sectorData.set(command.payload);
    } else if (command.opcode === AtaOpcode.ReadFpdmaQueued) {
      adapter.readQueued(tag, command.lba, command.sectors);
    } else {
      adapter.writeQueued(tag, command.lba, command.sectors, command.device & 0x80);
    }
    if (command.data !== null) adapter.data.set(command.data, slot * PAGES_PER_COMMAND);
    this.#idOf[slot] = first.id;
    this.#commandOf[slot] = command;
    return slot;
  }

  completed(adapter: HostAdapter, slot: number, status: number, error: number): void {
    const failed = (status & AtaStatus.Error) !== 0;
    const { data, bytes } = failed ? NO_DATA : this.#collect(adapter, slot);
    this.#end(slot, {
      status,
      error,
      lba: adapter.resultLba,
      count: adapter.resultCount,
      tags: data,
      bytes,
      latencyNs: adapter.nowNs - adapter.issuedNs[slot]!,
    });
  }

  lost(_adapter: HostAdapter, slot: number): void {
    const lost = { status: 0, error: 0, lba: 0, count: 0, tags: null, bytes: null, latencyNs: 0 };
    this.#end(slot, lost);
  }

  #end(slot: number, result: CommandResult): void {
    const id = this.#idOf[slot]!;
    if (id === NONE) return;
    this.#results.set(id, result);
    this.#idOf[slot] = NONE;
    this.#commandOf[slot] = null;
    this.endedCount++;
  }

  #collect(
    adapter: HostAdapter,
    slot: number,
  ): { data: Int32Array | null; bytes: Uint8Array | null } {
    const command = this.#commandOf[slot];
    if (command === null || command === undefined) return NO_DATA;
    const row = ATA_COMMANDS[COMMAND_OF_OPCODE[command.opcode]!];
    const protocol = row?.protocol;
    if (row === undefined || command.data !== null) return NO_DATA;
    const reads = protocol === AtaProtocol.PioIn || protocol === AtaProtocol.DmaIn;
    if (!reads && protocol !== AtaProtocol.NcqIn && row.opcode !== AtaOpcode.Smart) return NO_DATA;
    if (!row.touchesMedia) return { data: null, bytes: adapter.sectorData.slice(0, SECTOR_BYTES) };
    return this.#sectors(adapter, slot, command);
  }

  #sectors(
    adapter: HostAdapter,
    slot: number,
    command: QueuedCommand,
  ): { data: Int32Array; bytes: Uint8Array | null } {
    const tags = new Int32Array(command.sectors);
    const holdsBytes = this.#contents.holdsBytes;
    const bytes = holdsBytes ? new Uint8Array(command.sectors * SECTOR_BYTES) : null;
    for (let i = 0; i < command.sectors; i++) {
      const at = (command.lba % 8) + i;
      const content = adapter.data[slot * PAGES_PER_COMMAND + Math.floor(at / 8)]!;
      tags[i] = this.#contents.sectorTag(content, at % 8);
      if (bytes === null) continue;
      const from = (at % 8) * SECTOR_BYTES;
      const page = this.#contents.bytesOf(content);
      bytes.set(page.subarray(from, from + SECTOR_BYTES), i * SECTOR_BYTES);
    }
    return { data: tags, bytes };
  }

  save(): Saved {
    return {
      waiting: this.#waiting.map(({ id, command }) => ({ id, command: { ...command } })),
      idOf: this.#idOf.slice(),
      commandOf: this.#commandOf.map((command) => (command === null ? null : { ...command })),
      results: [...this.#results].map(([id, result]) => ({ id, result: { ...result } })),
      nextId: this.#nextId,
      endedCount: this.endedCount,
    };
  }

  restore(saved: Saved): void {
    this.#waiting = [...(saved.waiting as { id: number; command: QueuedCommand }[])];
    this.#idOf.set(saved.idOf as Int32Array);
    (saved.commandOf as (QueuedCommand | null)[]).forEach((command, slot) => {
      this.#commandOf[slot] = command;
    });
    const results = saved.results as { id: number; result: CommandResult }[];
    this.#results = new Map(results.map(({ id, result }) => [id, result]));
    this.#nextId = saved.nextId as number;
    this.endedCount = saved.endedCount as number;
  }
}

const NO_DATA = { data: null, bytes: null } as const;

function isQueued(opcode: number): boolean {
  return opcode === AtaOpcode.ReadFpdmaQueued || opcode === AtaOpcode.WriteFpdmaQueued;
}
