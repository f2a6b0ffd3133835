/**
 * The writer: host writes into the write buffer.
 *
 * ARM starts a write. Pages written only in part need what they held: those in flash are read
 * before data is asked for, several commands at a time. Then places in the buffer are promised and
 * the host is asked for a burst; when it has arrived, Aragon puts its pages into the log and points
 * the map there. The command is acknowledged when its last page is in the log, or, with FUA or the
 * write cache off, when the log is programmed up to there.
 */

import { LPN_MASK, SLOTS_PER_OP } from '../hal/flash-ops.ts';
import { HOST_SLOTS, HostStatus, Irq, PAGES_PER_COMMAND, type TaskBody } from '../hal/ports.ts';
import { invariant } from '../hal/sim/invariant.ts';
import type { Saveable, Saved } from '../hal/sim/snapshot.ts';
import { WHOLE_SLOT } from '../hal/sim/units.ts';
import { type Board, type OpClient, OpOwner } from './board.ts';
import { ARAGON } from './costs.ts';
import { prepareRead } from './flash-unit.ts';
import type { Flusher } from './flusher.ts';
import type { Mapping } from './ftl/mapping.ts';
import type { Superblocks } from './ftl/superblocks.ts';
import type { HostStream } from './host-stream.ts';
import { sectorsOf } from './page-sectors.ts';
import type { WriteBuffer } from './write-buffer.ts';

const NONE = -1;
/** Partial pages of a command: its first and its last. */
const EDGES = 2;

export interface WriterParts {
  board: Board;
  mapping: Mapping;
  superblocks: Superblocks;
  buffer: WriteBuffer;
  stream: HostStream;
  flusher: Flusher;
}

export class Writer implements OpClient, TaskBody, Saveable {
  readonly kind = 'firmware.writer';
  readonly version = 1;
  /** Order number of the next command that changes data: dense, shared with trims. */
  nextOrder = 1;
  /** Pages taken from hosts since power-on. */
  pageCount = 0;
  readonly #board: Board;
  readonly #mapping: Mapping;
  readonly #superblocks: Superblocks;
  readonly #buffer: WriteBuffer;
  readonly #stream: HostStream;
  readonly #flusher: Flusher;
  readonly #burstPages: number;
  /** Pages of each slot's command that are in the log. */
  readonly #logged = new Int32Array(HOST_SLOTS);
  /** Order number of each slot's command; 0 until its first page is logged. */
  readonly #order = new Float64Array(HOST_SLOTS);
  /** Reads of old contents that have not ended, by slot. */
  readonly #reading = new Int32Array(HOST_SLOTS);
  /** 1: a burst of the slot is in DRAM and not yet in the log. */
  readonly #arrived = new Uint8Array(HOST_SLOTS);
  /** Old content of the edges and the flash slot it was read from, NONE when not read. */
  readonly #oldContent = new Int32Array(HOST_SLOTS * EDGES);
  readonly #oldSlot = new Int32Array(HOST_SLOTS * EDGES).fill(NONE);
  /** Slots waiting for room, oldest first. */
  readonly #waiting = new Int32Array(HOST_SLOTS);
  #waitingCount = 0;

  constructor(parts: WriterParts) {
    this.#board = parts.board;
    this.#mapping = parts.mapping;
    this.#superblocks = parts.superblocks;
    this.#buffer = parts.buffer;
    this.#stream = parts.stream;
    this.#flusher = parts.flusher;
    const { burstPages, writeBufferSlots } = parts.board.profile.policy;
    this.#burstPages = Math.min(burstPages, writeBufferSlots >> 1);
    const { aragon, interrupts } = parts.board;
    const arrive = aragon.define('arrive', 0, ARAGON.arrive, this);
    interrupts.connect(Irq.HostData, aragon, arrive);
  }

  /** Starts the write of a host slot. */
  begin(slot: number): void {
    this.#mapping.needToOverwrite(this.#board.host.firstPage[slot]!);
    this.#logged[slot] = 0;
    this.#order[slot] = 0;
    this.#arrived[slot] = 0;
    this.#reading[slot] = 1;
    for (let edge = 0; edge < EDGES; edge++) this.#oldSlot[slot * EDGES + edge] = NONE;
    this.#readEdges(slot);
    this.#edgeRead(slot);
  }

  /** Position behind the newest slot of the log: what a flush waits for. */
  get logEnd(): number {
    return this.#buffer.tail;
  }

  /** Commands that wait for room in the buffer. */
  get waitingCount(): number {
    return this.#waitingCount;
  }

  flashDone(op: number): void {
    const { ops, content: contents } = this.#board;
    const slot = ops.argument[op]! >> 1;
    const at = ops.argument[op]!;
    for (let j = 0, mask = ops.slotMask[op]!; mask !== 0; j++, mask >>>= 1) {
      if ((mask & 1) === 0) continue;
      const from = op * SLOTS_PER_OP + j;
      const { host } = this.#board;
      const page = (at & 1) === 0 ? 0 : host.pages[slot]! - 1;
      const misplaced = (ops.pageWord[from]! & LPN_MASK) !== host.firstPage[slot]! + page + 1;
      const bad = misplaced ? WHOLE_SLOT : ops.badSectors[from]!;
      const content = ops.content[from]!;
      // What cannot be read stays unreadable: the new sectors do not make the old ones fresh.
      this.#oldContent[at] = bad === 0 ? content : contents.spoil(content, bad);
      this.#oldSlot[at] = ops.target[op * SLOTS_PER_OP + j]!;
    }
    this.#edgeRead(slot);
  }

  /** Buffer places have become free: the oldest waiting commands go on. */
  spaceFreed(): void {
    while (this.#waitingCount > 0 && this.#hasRoom(this.#waiting[0]!)) {
      const slot = this.#waiting[0]!;
      this.#waiting.copyWithin(0, 1, this.#waitingCount--);
      this.#ask(slot);
    }
  }

  /** Pages of the next burst of a slot. */
  #burst(slot: number): number {
    const left = this.#board.host.pages[slot]! - this.#logged[slot]!;
    return left < this.#burstPages ? left : this.#burstPages;
  }

  #hasRoom(slot: number): boolean {
    return this.#buffer.freeCount >= this.#burst(slot);
  }

  /** Asks for the next burst, or waits for room. */
  #proceed(slot: number): void {
    if (this.#waitingCount === 0 && this.#hasRoom(slot)) this.#ask(slot);
    else this.#waiting[this.#waitingCount++] = slot;
  }

  #ask(slot: number): void {
    const { host } = this.#board;
    const count = this.#burst(slot);
    this.#buffer.reserved += count;
    host.requestPages(slot, count);
  }

  /** Reads what the partly written edges hold, where flash holds it. */
  #readEdges(slot: number): void {
    const { host } = this.#board;
    const pages = host.pages[slot]!;
    for (let edge = 0; edge < EDGES; edge++) {
      const page = edge === 0 ? 0 : pages - 1;
      if (edge === 1 && pages === 1) continue;
      if (sectorsOf(this.#board.host, slot, page) === WHOLE_SLOT) continue;
      const cell = this.#mapping.l2p.values[host.firstPage[slot]! + page]!;
      if (cell === 0 || cell > this.#mapping.flashTop) continue;
      invariant(cell > 0, 'a map cell is not negative');
      if (this.#oldSlot[slot * EDGES + edge] === cell - 1) continue;
      this.#dropOld(slot, edge);
      const op = prepareRead(this.#board, cell - 1, OpOwner.Writer, slot * EDGES + edge);
      const { ops, geometry } = this.#board;
      const j = geometry.indexInUnit(cell - 1);
      ops.slotMask[op] = 1 << j;
      ops.target[op * SLOTS_PER_OP + j] = cell - 1;
      this.#reading[slot] = this.#reading[slot]! + 1;
      this.#board.flash.submit(op);
    }
  }

  #edgeRead(slot: number): void {
    const left = this.#reading[slot]! - 1;
    this.#reading[slot] = left;
    if (left > 0) return;
    if (this.#arrived[slot] === 1) this.#burstArrived(slot);
    else this.#proceed(slot);
  }

  /** Aragon's arrival program: bursts are in DRAM. */
  run(): void {
    const { host, interrupts } = this.#board;
    for (;;) {
      const slot = host.takeArrival();
      if (slot === NONE) break;
      this.#burstArrived(slot);
    }
    interrupts.acknowledge(Irq.HostData, false);
    this.#stream.pump();
  }

  /** Edges may have moved since they were read: then they are read again first. */
  #burstArrived(slot: number): void {
    this.#reading[slot] = 1;
    if (!this.#board.host.isOrphan(slot)) this.#readEdges(slot);
    this.#arrived[slot] = 1;
    const left = this.#reading[slot]! - 1;
    this.#reading[slot] = left;
    if (left === 0) this.#log(slot);
  }

  /** Puts the burst that has arrived into the log. */
  #log(slot: number): void {
    const { host } = this.#board;
    const count = this.#burst(slot);
    const first = this.#logged[slot]!;
    const pages = host.pages[slot]!;
    this.#arrived[slot] = 0;
    this.#buffer.reserved -= count;
    if (host.isOrphan(slot)) {
      this.#giveUp(slot, first, count);
      return;
    }
    if (this.#order[slot] === 0) this.#order[slot] = this.nextOrder++;
    this.#superblocks.presentOrder = this.#order[slot]!;
    const lpn = host.firstPage[slot]!;
    const order = this.#order[slot]! | 0;
    const data = slot * PAGES_PER_COMMAND;
    for (let page = first; page < first + count; page++) {
      const isEdge = page === 0 || page === pages - 1;
      const content = isEdge ? this.#merged(slot, page, lpn + page) : host.content[data + page]!;
      host.content[data + page] = 0;
      const at = this.#buffer.append(lpn + page, content, order, page === pages - 1);
      this.#mapping.toBuffer(lpn + page, at);
    }
    this.pageCount += count;
    this.#logged[slot] = first + count;
    this.#board.aragon.charge(count * ARAGON.arrivePage);
    if (first + count < pages) this.#proceed(slot);
    else this.#finish(slot);
  }

  #finish(slot: number): void {
    const { host } = this.#board;
    for (let edge = 0; edge < EDGES; edge++) this.#dropOld(slot, edge);
    if (host.fua[slot] === 1 || !host.writeCacheOn) this.#flusher.after(slot, this.#buffer.tail);
    else host.complete(slot, HostStatus.Good, 0);
    this.#flusher.dirtied();
  }

  /** The page's content with what it held under the sectors not written. */
  #merged(slot: number, page: number, lpn: number): number {
    const { host, content: contents } = this.#board;
    const written = host.content[slot * PAGES_PER_COMMAND + page]!;
    const mask = sectorsOf(this.#board.host, slot, page);
    if (mask === WHOLE_SLOT) return written;
    const cell = this.#mapping.l2p.values[lpn]!;
    let below = 0;
    let lost = 0;
    if (cell > this.#mapping.flashTop) {
      const at = cell - this.#mapping.flashTop - 1;
      // A place of another page means that the map is wrong: what the page held is lost.
      if (this.#buffer.lpn[at] === lpn) below = this.#buffer.content[at]!;
      else lost = WHOLE_SLOT & ~mask;
    } else if (cell !== 0) {
      below = this.#oldContent[slot * EDGES + (page === 0 ? 0 : 1)]!;
    }
    const merged = contents.merge(below, written, mask);
    if (written < 0) contents.release(written);
    return lost === 0 ? merged : contents.spoil(merged, lost);
  }

  #giveUp(slot: number, first: number, count: number): void {
    const { host, content: contents } = this.#board;
    const at = slot * PAGES_PER_COMMAND + first;
    for (let edge = 0; edge < EDGES; edge++) this.#dropOld(slot, edge);
    for (let i = at; i < at + count; i++) {
      if (host.content[i]! < 0) contents.release(host.content[i]!);
      host.content[i] = 0;
    }
    host.complete(slot, HostStatus.Aborted, 0);
    this.spaceFreed();
  }

  #dropOld(slot: number, edge: number): void {
    const at = slot * EDGES + edge;
    if (this.#oldSlot[at] !== NONE && this.#oldContent[at]! < 0) {
      this.#board.content.release(this.#oldContent[at]!);
    }
    this.#oldSlot[at] = NONE;
    this.#oldContent[at] = 0;
  }

  reset(): void {
    this.pageCount = 0;
    this.#waitingCount = 0;
    this.#reading.fill(0);
    this.#arrived.fill(0);
    this.#oldSlot.fill(NONE);
    this.#oldContent.fill(0);
  }

  save(): Saved {
    return {
      nextOrder: this.nextOrder,
      pageCount: this.pageCount,
      logged: this.#logged.slice(),
      order: this.#order.slice(),
      reading: this.#reading.slice(),
      arrived: this.#arrived.slice(),
      oldContent: this.#oldContent.slice(),
      oldSlot: this.#oldSlot.slice(),
      waiting: this.#waiting.slice(),
      waitingCount: this.#waitingCount,
    };
  }

  restore(saved: Saved): void {
    this.nextOrder = saved.nextOrder as number;
    this.pageCount = saved.pageCount as number;
    this.#logged.set(saved.logged as Int32Array);
    this.#order.set(saved.order as Float64Array);
    this.#reading.set(saved.reading as Int32Array);
    this.#arrived.set(saved.arrived as Uint8Array);
    this.#oldContent.set(saved.oldContent as Int32Array);
    this.#oldSlot.set(saved.oldSlot as Int32Array);
    this.#waiting.set(saved.waiting as Int32Array);
    this.#waitingCount = saved.waitingCount as number;
  }
}
