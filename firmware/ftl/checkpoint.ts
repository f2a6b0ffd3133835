/**
 * The checkpoint: writes block table and map to flash when the drive stands by.
 *
 * Collection pauses and everything in flight ends first. The checkpoint takes erased superblocks of
 * its own (LSB pages only), as many as its pages need; then a root record makes it the truth, and
 * the superblocks of the checkpoint before it are erased. When a program fails it begins again in
 * other superblocks. Map pages are lent from DRAM, not copied.
 */

import { FlashStatus, SLOTS_PER_OP } from '../../hal/flash-ops.ts';
import { Bytes } from '../../hal/sim/bytes.ts';
import { invariant } from '../../hal/sim/invariant.ts';
import type { Saveable, Saved } from '../../hal/sim/snapshot.ts';
import { SLOT_BYTES } from '../../hal/sim/units.ts';
import type { Board, OpClient } from '../board.ts';
import type { HostStream } from '../host-stream.ts';
import type { SmartRecord } from '../smart-record.ts';
import type { Writer } from '../writer.ts';
import { BAD_WORDS } from './bad-blocks.ts';
import { CheckpointUnits } from './checkpoint-units.ts';
import type { Collector } from './collector.ts';
import type { Eraser } from './eraser.ts';
import type { Frontier } from './frontier.ts';
import {
  CHECKPOINT_SUPERBLOCKS_MAX,
  type CheckpointPlace,
  encodeHeader,
  HEADER_MAGIC,
  LAYOUT_VERSION,
  NO_SUPERBLOCK,
  ROWS_PER_PAGE,
  RootState,
  SuperblockRow,
} from './layouts.ts';
import { type MetadataIo, MetadataUser } from './metadata-io.ts';
import type { PerformanceMode } from './performance-mode.ts';
import type { RootBlocks } from './root.ts';
import { SuperblockState, type Superblocks } from './superblocks.ts';

export const CELLS_PER_MAP_PAGE = SLOT_BYTES / 4;
const NONE = -1;

enum Step {
  Idle,
  /** Waiting until collection and host stream are quiet. */
  Settling,
  Writing,
  /** The root record is on its way. */
  Sealing,
}

export interface CheckpointParts {
  board: Board;
  io: MetadataIo;
  root: RootBlocks;
  superblocks: Superblocks;
  collector: Collector;
  stream: HostStream;
  eraser: Eraser;
  writer: Writer;
  mode: PerformanceMode;
  smart: SmartRecord;
  hostFrontier: Frontier;
  collectorFrontier: Frontier;
}

export class Checkpoint implements OpClient, Saveable {
  readonly kind = 'firmware.checkpoint';
  readonly version = 2;
  readonly #parts: CheckpointParts;
  readonly #unitsMax: number;
  #step = Step.Idle;
  /** Where its pages go. */
  readonly #units: CheckpointUnits;
  /** Superblocks to erase when this one is sealed: of the checkpoint before, and failed ones. */
  #replaced: number[] = [];
  /** A program of it has failed. */
  #failed = false;
  /** Next metadata page to write: 0 the header, then table pages, then map pages with content. */
  #page = 0;
  #mapPage = 0;
  #mapPages = 0;

  constructor(parts: CheckpointParts) {
    this.#parts = parts;
    this.#unitsMax = parts.board.profile.policy.programsPerDie * parts.board.geometry.dies;
    this.#units = new CheckpointUnits(parts.board.geometry, parts.board.pairing);
    parts.io.connect(MetadataUser.Checkpoint, this);
  }

  get isRunning(): boolean {
    return this.#step !== Step.Idle;
  }

  /** Starts; the root's listener learns of the end. */
  begin(): void {
    this.#step = Step.Settling;
    this.#parts.collector.paused = true;
    this.#parts.collector.pump();
    this.settle();
  }

  /** Goes on when nothing is in flight any more; called whenever something has ended. */
  settle(): void {
    if (this.#step !== Step.Settling) return;
    const { collector, stream, eraser, root } = this.#parts;
    if (root.writing) return;
    if (!collector.isQuiet || stream.unitsInFlight > 0 || eraser.erasingCount > 0) return;
    stream.held = true;
    this.#step = Step.Writing;
    this.#replaced = root.places.map((place) => place.superblock);
    this.#plan();
    this.#pump();
  }

  flashDone(op: number): void {
    if (this.#parts.board.ops.status[op] === FlashStatus.Failed) this.#programFailed(op);
    if (!this.#failed) this.#pump();
    else if (this.#parts.io.inFlight[MetadataUser.Checkpoint] === 0) this.#beginAgain();
  }

  /** The pages of a failed program are dropped: they are made again. */
  #programFailed(op: number): void {
    const { board, superblocks, smart } = this.#parts;
    const { ops } = board;
    for (let j = 0; j < board.geometry.slotsPerUnit; j++) {
      board.content.release(ops.content[op * SLOTS_PER_OP + j]!);
    }
    smart.programFailures++;
    superblocks.bad.addGrown(ops.block[op]! >>> board.geometry.planeBits, ops.die[op]!);
    this.#failed = true;
  }

  #beginAgain(): void {
    for (const place of this.#units.places) this.#replaced.push(place.superblock);
    this.#plan();
    this.#pump();
  }

  /** The root record is durable: the old checkpoint is given up. */
  sealed(): void {
    this.#step = Step.Idle;
    for (const superblock of this.#replaced) this.#parts.eraser.erase(superblock);
    this.#replaced = [];
  }

  get #tablePages(): number {
    return Math.ceil(this.#parts.superblocks.count / ROWS_PER_PAGE);
  }

  /** Counts the pages and takes the superblocks they need. */
  #plan(): void {
    const { board, superblocks, collector } = this.#parts;
    if (collector.victim !== NONE) collector.giveUpVictim();
    this.#mapPages = this.#countMapPages();
    const pages = 1 + this.#tablePages + this.#mapPages;
    let units = Math.ceil(pages / board.geometry.slotsPerUnit);
    const places: CheckpointPlace[] = [];
    while (units > 0) {
      const superblock = superblocks.open(true, SuperblockState.Metadata);
      invariant(superblock !== NONE, 'erased superblocks are kept for a checkpoint');
      const { words } = superblocks.bad;
      const at = superblock * BAD_WORDS;
      places.push({ superblock, badLow: words[at]!, badHigh: words[at + 1]! });
      units -= this.#units.unitsOf(superblocks.bad.usableDies(superblock));
    }
    const fits = places.length <= CHECKPOINT_SUPERBLOCKS_MAX;
    invariant(fits, 'a checkpoint fits its list of superblocks');
    this.#units.start(places);
    this.#page = 0;
    this.#mapPage = 0;
    this.#failed = false;
  }

  #countMapPages(): number {
    const pages = Math.ceil(this.#parts.board.l2p.values.length / CELLS_PER_MAP_PAGE);
    let count = 0;
    for (let page = 0; page < pages; page++) if (this.#hasCells(page)) count++;
    return count;
  }

  #hasCells(mapPage: number): boolean {
    const { values } = this.#parts.board.l2p;
    const end = Math.min(values.length, (mapPage + 1) * CELLS_PER_MAP_PAGE);
    for (let i = mapPage * CELLS_PER_MAP_PAGE; i < end; i++) if (values[i] !== 0) return true;
    return false;
  }

  #pump(): void {
    if (this.#step !== Step.Writing) return;
    const { io, root } = this.#parts;
    const total = 1 + this.#tablePages + this.#mapPages;
    while (this.#page < total && io.inFlight[MetadataUser.Checkpoint]! < this.#unitsMax) {
      this.#writeUnit(total);
    }
    if (this.#page < total || io.inFlight[MetadataUser.Checkpoint]! > 0) return;
    this.#step = Step.Sealing;
    const fields = { checkpointPages: total, nextOrder: this.#parts.writer.nextOrder };
    root.write(RootState.Clean, fields, this.#units.places);
  }

  #writeUnit(total: number): void {
    const { board, io } = this.#parts;
    const units = this.#units;
    units.take();
    const op = io.prepareProgram(MetadataUser.Checkpoint, units.die, units.block, units.page);
    const { slotsPerUnit } = board.geometry;
    for (let j = 0; j < slotsPerUnit && this.#page < total; j++) this.#writePage(op, j);
    io.submit(op);
  }

  #writePage(op: number, j: number): void {
    const { board, io } = this.#parts;
    const page = this.#page++;
    if (page === 0) {
      io.setPage(op, j, 0, board.content.write(this.#header()));
      return;
    }
    if (page <= this.#tablePages) {
      io.setPage(op, j, page, board.content.write(this.#tablePage(page - 1)));
      return;
    }
    const pages = Math.ceil(board.l2p.values.length / CELLS_PER_MAP_PAGE);
    while (this.#mapPage < pages && !this.#hasCells(this.#mapPage)) this.#mapPage++;
    invariant(this.#mapPage < pages, 'a map page that was counted is written');
    const first = this.#mapPage * CELLS_PER_MAP_PAGE;
    const index = 1 + this.#tablePages + this.#mapPage++;
    io.setPage(op, j, index, board.content.lend(board.l2p, first));
  }

  #header(): Uint8Array {
    const { superblocks, hostFrontier, collectorFrontier, smart, mode } = this.#parts;
    const { board, stream, collector } = this.#parts;
    const movedUnits = Math.ceil(collector.movedCount / board.geometry.slotsPerUnit);
    const place = (frontier: Frontier) => (frontier.isOpen ? frontier.superblock : NO_SUPERBLOCK);
    return encodeHeader({
      magic: HEADER_MAGIC,
      version: LAYOUT_VERSION,
      tablePages: this.#tablePages,
      mapPages: this.#mapPages,
      openings: superblocks.openings,
      hostSuperblock: place(hostFrontier),
      hostUnit: hostFrontier.unit,
      hostLsbOnly: hostFrontier.lsbOnly ? 1 : 0,
      writeMode: mode.mode,
      collectorSuperblock: place(collectorFrontier),
      collectorUnit: collectorFrontier.unit,
      collectorLsbOnly: collectorFrontier.lsbOnly ? 1 : 0,
      hostWrittenSectors: smart.hostWrittenSectors,
      hostReadSectors: smart.hostReadSectors,
      programUnits: smart.programUnits + stream.unitCount + movedUnits,
      factoryBad: superblocks.bad.factoryCount,
      grownBad: superblocks.bad.grownCount,
      programFailures: smart.programFailures,
      eraseFailures: smart.eraseFailures,
      uncorrectableReads: smart.uncorrectableReads,
    });
  }

  #tablePage(page: number): Uint8Array {
    const { superblocks } = this.#parts;
    const bytes = new Bytes(SLOT_BYTES);
    const first = page * ROWS_PER_PAGE;
    for (let i = 0; i < ROWS_PER_PAGE && first + i < superblocks.count; i++) {
      const superblock = first + i;
      const replaced = this.#replaced.includes(superblock);
      const row = {
        state: replaced ? SuperblockState.Erasing : superblocks.state[superblock]!,
        lsbOnly: superblocks.lsbOnly[superblock]!,
        eraseCount: superblocks.eraseCount[superblock]!,
        invalidatedOrder: superblocks.invalidatedOrder[superblock]!,
        openedNumber: superblocks.openedNumber[superblock]!,
        badLow: superblocks.bad.words[superblock * BAD_WORDS]! >>> 0,
        badHigh: superblocks.bad.words[superblock * BAD_WORDS + 1]! >>> 0,
      };
      SuperblockRow.encodeInto(row, bytes, i * SuperblockRow.span);
    }
    return bytes;
  }

  reset(): void {
    this.#step = Step.Idle;
    this.#units.start([]);
    this.#replaced = [];
    this.#failed = false;
  }

  save(): Saved {
    return {
      step: this.#step,
      units: this.#units.save(),
      failed: this.#failed,
      replaced: [...this.#replaced],
      page: this.#page,
      mapPage: this.#mapPage,
      mapPages: this.#mapPages,
    };
  }

  restore(saved: Saved): void {
    this.#step = saved.step as Step;
    this.#units.restore(saved.units as Saved);
    this.#failed = saved.failed as boolean;
    this.#replaced = [...(saved.replaced as number[])];
    this.#page = saved.page as number;
    this.#mapPage = saved.mapPage as number;
    this.#mapPages = saved.mapPages as number;
  }
}
