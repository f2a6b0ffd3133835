/**
 * The reader: host reads, window by window.
 *
 * ARM starts a read; Aragon looks a window of pages up, takes what is unmapped or in the write
 * buffer at once, and reads the rest from flash, one operation for neighbouring slots of one
 * multi-plane page. When the whole window is in DRAM it goes to the host and the next window
 * starts.
 */

import { type FlashOps, LPN_MASK, SLOTS_PER_OP } from '../hal/flash-ops.ts';
import {
  HOST_SLOTS,
  HostRequest,
  HostStatus,
  PAGES_PER_COMMAND,
  type TaskBody,
} from '../hal/ports.ts';
import type { Saveable, Saved } from '../hal/sim/snapshot.ts';
import { WHOLE_SLOT } from '../hal/sim/units.ts';
import { type Board, type OpClient, OpOwner } from './board.ts';
import { ARAGON } from './costs.ts';
import { prepareRead } from './flash-unit.ts';
import type { Mapping } from './ftl/mapping.ts';
import { sectorsOf } from './page-sectors.ts';
import type { SmartRecord } from './smart-record.ts';
import type { WriteBuffer } from './write-buffer.ts';

const NONE = -1;

export class Reader implements OpClient, TaskBody, Saveable {
  readonly kind = 'firmware.reader';
  readonly version = 1;
  /** Pages sent to hosts since power-on, and pages served without a flash read. */
  pageCount = 0;
  hitCount = 0;
  readonly #board: Board;
  readonly #ops: FlashOps;
  readonly #mapping: Mapping;
  readonly #buffer: WriteBuffer;
  readonly #smart: SmartRecord;
  readonly #windowPages: number;
  readonly #lookUp: number;
  /** First page of each slot's present window. */
  readonly #window = new Int32Array(HOST_SLOTS);
  /** Flash operations of the present window that have not ended. */
  readonly #pending = new Int32Array(HOST_SLOTS);
  /** First sector that could not be read, -1 while there is none. */
  readonly #badLba = new Float64Array(HOST_SLOTS).fill(NONE);

  constructor(board: Board, mapping: Mapping, buffer: WriteBuffer, smart: SmartRecord) {
    this.#board = board;
    this.#smart = smart;
    this.#ops = board.ops;
    this.#mapping = mapping;
    this.#buffer = buffer;
    this.#windowPages = board.profile.policy.burstPages;
    this.#lookUp = board.aragon.define('look-up', 1, ARAGON.lookUp, this);
  }

  /** Starts the read or verify of a host slot. */
  begin(slot: number): void {
    this.#window[slot] = 0;
    this.#badLba[slot] = NONE;
    this.#mapping.need(this.#board.host.firstPage[slot]!);
    this.#board.aragon.post(this.#lookUp, slot);
  }

  flashDone(op: number): void {
    const ops = this.#ops;
    const slot = ops.argument[op]!;
    const { content } = this.#board.host;
    const first = this.#board.host.firstPage[slot]!;
    for (let j = 0, mask = ops.slotMask[op]!; mask !== 0; j++, mask >>>= 1) {
      if ((mask & 1) === 0) continue;
      const page = ops.target[op * SLOTS_PER_OP + j]!;
      const at = op * SLOTS_PER_OP + j;
      const handle = ops.content[at]!;
      content[slot * PAGES_PER_COMMAND + page] = handle;
      // A spare record of another page means that the map is wrong: the data is not the host's.
      const misplaced = (ops.pageWord[at]! & LPN_MASK) !== first + page + 1;
      const bad = misplaced ? WHOLE_SLOT : ops.badSectors[at]!;
      if (bad !== 0 || handle < 0) this.#check(slot, page, handle, bad);
    }
    const left = this.#pending[slot]! - 1;
    this.#pending[slot] = left;
    if (left === 0) this.#windowReady(slot);
  }

  /** Aragon's look-up program: one window of a slot. */
  run(slot: number): void {
    const { host, flash, aragon } = this.#board;
    const ops = this.#ops;
    const { flashTop, l2p, geometry } = this.#mapping;
    const first = host.firstPage[slot]!;
    const from = this.#window[slot]!;
    const last = host.pages[slot]!;
    const to = from + this.#windowPages < last ? from + this.#windowPages : last;
    const inUnit = geometry.slotsPerUnit - 1;
    let op = NONE;
    let opUnit = NONE;
    let issues = 0;
    this.#pending[slot] = 1;
    for (let page = from; page < to; page++) {
      const cell = l2p.values[first + page]!;
      if (cell <= 0 || cell > flashTop) {
        this.#hit(slot, page, cell);
        continue;
      }
      const unit = (cell - 1) & ~inUnit;
      const j = (cell - 1) & inUnit;
      if (unit !== opUnit || ((ops.slotMask[op]! >> j) & 1) !== 0) {
        if (op !== NONE) flash.submit(op);
        op = prepareRead(this.#board, unit, OpOwner.Reader, slot);
        opUnit = unit;
        issues++;
      }
      ops.slotMask[op] = ops.slotMask[op]! | (1 << j);
      ops.target[op * SLOTS_PER_OP + j] = page;
    }
    if (op !== NONE) flash.submit(op);
    aragon.charge((to - from - 1) * ARAGON.lookUpPage + issues * ARAGON.issue);
    const left = this.#pending[slot]! + issues - 1;
    this.#pending[slot] = left;
    if (left === 0) this.#windowReady(slot);
  }

  /** A page that needs no flash read: unmapped, or in the write buffer. */
  #hit(slot: number, page: number, cell: number): void {
    const at = cell - this.#mapping.flashTop - 1;
    const content = cell === 0 ? 0 : (this.#buffer.content[at] ?? 0);
    if (content < 0) {
      this.#board.content.retain(content);
      this.#check(slot, page, content, 0);
    }
    const lpn = this.#board.host.firstPage[slot]! + page;
    if (cell !== 0 && this.#buffer.lpn[at] !== lpn) this.#check(slot, page, 0, WHOLE_SLOT);
    this.#board.host.content[slot * PAGES_PER_COMMAND + page] = content;
    this.hitCount++;
  }

  #windowReady(slot: number): void {
    const { host } = this.#board;
    const from = this.#window[slot]!;
    const pages = host.pages[slot]!;
    const to = Math.min(from + this.#windowPages, pages);
    if (this.#badLba[slot] !== NONE || host.request[slot] === HostRequest.Verify) {
      this.#drop(slot, from, to);
      if (this.#badLba[slot] !== NONE || to === pages) {
        const bad = this.#badLba[slot] !== NONE;
        if (bad) this.#smart.uncorrectableReads++;
        host.complete(slot, bad ? HostStatus.Uncorrectable : HostStatus.Good, this.#badLba[slot]!);
        return;
      }
    } else {
      this.pageCount += to - from;
      host.sendPages(slot, from, to - from);
      if (to === pages) return;
    }
    this.#window[slot] = to;
    this.#board.aragon.post(this.#lookUp, slot);
  }

  #drop(slot: number, from: number, to: number): void {
    const at = slot * PAGES_PER_COMMAND;
    for (let page = from; page < to; page++) {
      const content = this.#board.host.content[at + page]!;
      if (content < 0) this.#board.content.release(content);
      this.#board.host.content[at + page] = 0;
    }
  }

  /** Notes the first sector the host asked for that is among the `bad` ones, or spoiled. */
  #check(slot: number, page: number, content: number, bad: number): void {
    const { host, content: contents } = this.#board;
    const lost = (bad | contents.spoiledOf(content)) & sectorsOf(host, slot, page);
    if (lost === 0) return;
    const lowest = 31 - Math.clz32(lost & -lost);
    const lba = (host.firstPage[slot]! + page) * 8 + lowest;
    const known = this.#badLba[slot]!;
    if (known === NONE || lba < known) this.#badLba[slot] = lba;
  }

  reset(): void {
    this.pageCount = 0;
    this.hitCount = 0;
    this.#pending.fill(0);
  }

  save(): Saved {
    return {
      pageCount: this.pageCount,
      hitCount: this.hitCount,
      window: this.#window.slice(),
      pending: this.#pending.slice(),
      badLba: this.#badLba.slice(),
    };
  }

  restore(saved: Saved): void {
    this.pageCount = saved.pageCount as number;
    this.hitCount = saved.hitCount as number;
    this.#window.set(saved.window as Int32Array);
    this.#pending.set(saved.pending as Int32Array);
    this.#badLba.set(saved.badLba as Float64Array);
  }
}
