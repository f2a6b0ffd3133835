/**
 * The ports: all that firmware sees of the hardware (law L5).
 *
 * Ports pass small integers and descriptor indices. One class implements each port in a process, so
 * calls stay fast without tricks. Firmware cannot reach a page's true content, another die's state
 * or the host's queue behind the 32 slots: no port offers them.
 */

/** Work of a core: called at the instant the task's cycles have been spent. */
export interface TaskBody {
  run(operand: number): void;
}

/** A run-to-completion processor: the ARM core, and Aragon behind its descriptor ring. */
export interface CorePort {
  /** Defines a task; a smaller priority number runs first. Returns the task's number. */
  define(name: string, priority: number, cycles: number, body: TaskBody): number;
  /** Queues a task; `moreCycles` are spent before its body in addition to the task's own. */
  post(task: number, operand: number, moreCycles?: number): void;
  /** Keeps the core busy for `cycles` after the running body. */
  charge(cycles: number): void;
}

/** Interrupt lines of the controller, by priority: the smallest number first. */
export enum Irq {
  /** A host command was received. */
  Host,
  /** Pages of a write have arrived. */
  HostData,
  /** A flash operation has ended. */
  Flash,
  Timer,
}

export interface InterruptPort {
  /** Routes a line to the core and task that serve it, and unmasks it. */
  connect(line: Irq, core: CorePort, task: number): void;
  /** Tells the controller that the line's cause is served; `again` leaves it asserted. */
  acknowledge(line: Irq, again: boolean): void;
}

export interface TimerPort {
  /** Starts timer `channel`; it raises Irq.Timer once after `ns`. */
  start(channel: number, ns: number): void;
  stop(channel: number): void;
  /** Channels that have run out since the last call, as a bit mask. */
  takeExpired(): number;
  /** The free-running microsecond counter firmware may read. */
  readonly microseconds: number;
}

/** What a die says of itself when it is brought up. */
export interface DieIdentity {
  /** READ ID 90h-00h, eight bytes. */
  readonly id: Uint8Array;
  /** First copy of the ONFI parameter page, 256 bytes. */
  readonly parameterPage: Uint8Array;
}

/** The flash channels: operations go in as descriptor indices (flash-ops.ts) and come back so. */
export interface FlashPort {
  /** Resets a die now and, `afterNs` later, reads its identity and sets its timing mode. */
  identify(die: number, afterNs: number): DieIdentity;
  submit(op: number): void;
  /** Next ended descriptor, or -1. */
  takeDone(): number;
}

/** What the front end has decoded a command to; what needs no media is `Local`. */
export enum HostRequest {
  Read,
  Write,
  Flush,
  Trim,
  Verify,
  /** Flush, then stand by (STANDBY IMMEDIATE, STANDBY, SLEEP). */
  Standby,
  /** Answered by the front end from its own registers and pages. */
  Local,
}

/** Slot number of the command that is not queued. */
export const UNQUEUED_SLOT = 32;
/** Command slots: 32 queued ones and the one that is not. */
export const HOST_SLOTS = 33;
/** 4 KiB pages the data phase of a slot can hold: 65536 sectors at any alignment. */
export const PAGES_PER_COMMAND = 8193;

/** How a command ended, for the status and error registers. */
export enum HostStatus {
  Good,
  Aborted,
  IdNotFound,
  Uncorrectable,
  DeviceFault,
}

/** The SATA front end as firmware sees it. Requests are read by slot number. */
export interface HostPort {
  /** Next slot whose command was received, or -1. */
  takeCommand(): number;
  /** More commands wait to be taken. */
  readonly hasCommand: boolean;
  readonly request: Uint8Array;
  readonly lba: Float64Array;
  readonly sectors: Int32Array;
  readonly fua: Uint8Array;
  /** First 4 KiB page of a slot's command, the sector of it that it begins at, pages touched. */
  readonly firstPage: Int32Array;
  readonly offsetSectors: Int32Array;
  readonly pages: Int32Array;
  /** Data handles of a slot's pages, at slot * PAGES_PER_COMMAND. */
  readonly content: Int32Array;
  /** Sends `count` pages of a read from page index `first`; the last page also ends the command. */
  sendPages(slot: number, first: number, count: number): void;
  /** Asks the host for the next `count` pages of a write. */
  requestPages(slot: number, count: number): void;
  /** Next slot with pages that have arrived, or -1. */
  takeArrival(): number;
  /** Ends a command that moved its data (or has none). */
  complete(slot: number, status: HostStatus, lba: number): void;
  /** Lets the front end answer a Local request. */
  answerLocal(slot: number): void;
  /** Number of (lba, sectors) ranges of a Trim, and one of them. */
  trimCount(): number;
  trimLba(index: number): number;
  trimSectors(index: number): number;
  /** The write cache is on (SET FEATURES 02h/82h). */
  readonly writeCacheOn: boolean;
  /** Lets the link come up: PHY ready and signature. */
  linkUp(): void;
  /** The firmware has stopped on a broken rule; every command is answered with device fault. */
  fail(): void;
}

/** Data handles: what a page holds, without looking inside. */
export interface ContentPort {
  retain(content: number): void;
  release(content: number): void;
  /** A page with the `mask`ed sectors of `above` over `below`; the caller owns the result. */
  merge(below: number, above: number, mask: number): number;
  /**
   * The same page, its `mask`ed sectors unreadable for good: takes over the caller's reference and
   * returns one to the result.
   */
  spoil(content: number, mask: number): number;
  /** Sectors of a page that are unreadable, as bits. */
  spoiledOf(content: number): number;
  /** A metadata page of 4096 bytes; takes over `bytes`. */
  write(bytes: Uint8Array): number;
  /** The bytes of a metadata page, or null when the page holds none. */
  read(content: number): Uint8Array | null;
  /** A metadata page that stands for 1024 cells of a table from `first`. */
  lend(table: TablePort, first: number): number;
  /** Loads such a page into the table at `first`; false when it is not one. */
  load(content: number, table: TablePort, first: number): boolean;
}

/** Memory whose bandwidth a device uses. */
export interface BandwidthPort {
  /** Charges a transfer; returns the ns by which the memory lags behind. */
  charge(bytes: number): number;
}

/** A big table in DRAM. */
export interface TablePort {
  readonly values: Int32Array;
  /** A cell will be wanted some events from now, or at the next one. */
  expect(index: number): void;
  need(index: number): void;
  write(index: number, value: number): void;
}
