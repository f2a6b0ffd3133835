/**
 * The checkpoint: writes block table and map to flash when the drive stands by.
 *
 * Collection pauses and everything in flight ends first. The checkpoint takes erased superblocks of
 * its own (LSB pages only), as many as its pages need; then a root record makes it the truth, and
 * the superblocks of the checkpoint before it are erased. Map pages are lent from DRAM, not copied.
 */

import { Bytes } from '../../hal/sim/bytes.ts';
import { invariant } from '../../hal/sim/invariant.ts';
import type { Saveable, Saved } from '../../hal/sim/snapshot.ts';
import { SLOT_BYTES } from '../../hal/sim/units.ts';
import type { Board, OpClient } from '../board.ts';
import type { HostStream } from '../host-stream.ts';
import type { SmartRecord } from '../smart-record.ts';
import type { Writer } from '../writer.ts';
import type { Collector } from './collector.ts';
import type { Eraser } from './eraser.ts';
import type { Frontier } from './frontier.ts';
import {
  CHECKPOINT_SUPERBLOCKS_MAX,
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
  readonly version = 1;
  readonly #parts: CheckpointParts;
  readonly #unitsMax: number;
  #step = Step.Idle;
  /** Superblocks of this checkpoint, and of the one it replaces. */
  #superblocks: number[] = [];
  #replaced: number[] = [];
  /** Next metadata page to write: 0 the header, then table pages, then map pages with content. */
  #page = 0;
  #mapPage = 0;
  #mapPages = 0;
  /** Next unit of the checkpoint, over all its superblocks. */
  #unit = 0;

  constructor(parts: CheckpointParts) {
    this.#parts = parts;
    this.#unitsMax = parts.board.profile.policy.programsPerDie * parts.board.geometry.dies;
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
    this.#plan();
    this.#pump();
  }

  flashDone(_op: number): void {
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
    const { board, superblocks, root, collector } = this.#parts;
    if (collector.victim !== NONE) collector.giveUpVictim();
    this.#mapPages = this.#countMapPages();
    const pages = 1 + this.#tablePages + this.#mapPages;
    const units = Math.ceil(pages / board.geometry.slotsPerUnit);
    const unitsPerSuperblock = board.pairing.lsbPages.length * board.geometry.dies;
    const needed = Math.ceil(units / unitsPerSuperblock);
    invariant(needed <= CHECKPOINT_SUPERBLOCKS_MAX, 'a checkpoint fits its list of superblocks');
    this.#replaced = [...root.superblocks];
    this.#superblocks = [];
    for (let i = 0; i < needed; i++) {
      const superblock = superblocks.open(true, SuperblockState.Metadata);
      invariant(superblock !== NONE, 'erased superblocks are kept for a checkpoint');
      this.#superblocks.push(superblock);
    }
    this.#page = 0;
    this.#mapPage = 0;
    this.#unit = 0;
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
    root.write(RootState.Clean, fields, this.#superblocks);
  }

  #writeUnit(total: number): void {
    const { board, io } = this.#parts;
    const { dies, planes, slotsPerUnit } = board.geometry;
    const rows = board.pairing.lsbPages.length;
    const superblock = this.#superblocks[Math.floor(this.#unit / (rows * dies))]!;
    const inSuperblock = this.#unit % (rows * dies);
    const page = board.pairing.lsbPages[Math.floor(inSuperblock / dies)]!;
    const die = inSuperblock % dies;
    const op = io.prepareProgram(MetadataUser.Checkpoint, die, superblock * planes, page);
    for (let j = 0; j < slotsPerUnit && this.#page < total; j++) this.#writePage(op, j);
    this.#unit++;
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
    while (!this.#hasCells(this.#mapPage)) this.#mapPage++;
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
      };
      SuperblockRow.encodeInto(row, bytes, i * SuperblockRow.span);
    }
    return bytes;
  }

  reset(): void {
    this.#step = Step.Idle;
    this.#superblocks = [];
    this.#replaced = [];
  }

  save(): Saved {
    return {
      step: this.#step,
      superblocks: [...this.#superblocks],
      replaced: [...this.#replaced],
      page: this.#page,
      mapPage: this.#mapPage,
      mapPages: this.#mapPages,
      unit: this.#unit,
    };
  }

  restore(saved: Saved): void {
    this.#step = saved.step as Step;
    this.#superblocks = [...(saved.superblocks as number[])];
    this.#replaced = [...(saved.replaced as number[])];
    this.#page = saved.page as number;
    this.#mapPage = saved.mapPage as number;
    this.#mapPages = saved.mapPages as number;
    this.#unit = saved.unit as number;
  }
}
