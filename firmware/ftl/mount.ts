/**
 * The mount: finds the newest root and reads the checkpoint it names.
 *
 * A drive that was never written to is formatted: its factory marks are read. A clean root leads to
 * its checkpoint, whose pages are read in any order; each says in its spare what it is. A dirty
 * root means that power was lost: recovering such a drive is not built yet, so the mount fails and
 * the drive refuses its media.
 */

import { LPN_MASK, METADATA, SLOTS_PER_OP } from '../../hal/flash-ops.ts';
import { Bytes } from '../../hal/sim/bytes.ts';
import { invariant } from '../../hal/sim/invariant.ts';
import type { Saveable, Saved } from '../../hal/sim/snapshot.ts';
import type { Board, OpClient } from '../board.ts';
import { ARAGON } from '../costs.ts';
import type { SmartRecord } from '../smart-record.ts';
import type { Writer } from '../writer.ts';
import { CELLS_PER_MAP_PAGE } from './checkpoint.ts';
import { CheckpointUnits } from './checkpoint-units.ts';
import type { Eraser } from './eraser.ts';
import type { Frontier } from './frontier.ts';
import {
  decodeHeader,
  type Header,
  NO_SUPERBLOCK,
  ROWS_PER_PAGE,
  RootState,
  SuperblockRow,
} from './layouts.ts';
import type { Mapping } from './mapping.ts';
import type { MarkScan } from './mark-scan.ts';
import { type MetadataIo, MetadataUser } from './metadata-io.ts';
import type { PerformanceMode } from './performance-mode.ts';
import type { RootBlocks } from './root.ts';
import { SuperblockState, type Superblocks } from './superblocks.ts';

const NONE = -1;

/** Told how the mount has ended. */
export interface MountListener {
  mounted(): void;
  mountFailed(): void;
}

export interface MountParts {
  board: Board;
  io: MetadataIo;
  root: RootBlocks;
  superblocks: Superblocks;
  mapping: Mapping;
  marks: MarkScan;
  eraser: Eraser;
  writer: Writer;
  mode: PerformanceMode;
  smart: SmartRecord;
  hostFrontier: Frontier;
  collectorFrontier: Frontier;
}

export class Mount implements OpClient, Saveable {
  readonly kind = 'firmware.mount';
  readonly version = 2;
  listener: MountListener | null = null;
  readonly #parts: MountParts;
  readonly #unitsMax: number;
  readonly #units: CheckpointUnits;
  /** Pages of the checkpoint not yet asked for, and not yet read. */
  #pagesToAsk = 0;
  #pagesLeft = 0;
  /** A page of the checkpoint could not be read. */
  #unreadable = false;
  #header: Header | null = null;

  constructor(parts: MountParts) {
    this.#parts = parts;
    this.#unitsMax = parts.board.geometry.dies * 2;
    this.#units = new CheckpointUnits(parts.board.geometry, parts.board.pairing);
    parts.io.connect(MetadataUser.Mount, this);
    parts.marks.onEnd = () => this.#marksRead();
  }

  begin(): void {
    this.#parts.root.search();
  }

  /** The newest root record is known. */
  rootFound(): void {
    const { root, superblocks, smart, marks } = this.#parts;
    switch (root.state) {
      case null:
      case RootState.Formatted:
        marks.begin();
        return;
      case RootState.Dirty:
        this.#count();
        smart.unplannedLosses++;
        this.listener!.mountFailed();
        return;
      case RootState.Clean: {
        superblocks.format();
        this.#units.start(root.places);
        this.#pagesToAsk = root.root!.checkpointPages;
        this.#pagesLeft = this.#pagesToAsk;
        this.#unreadable = false;
        this.#header = null;
        this.#pump();
      }
    }
  }

  /** The bad blocks of a drive without data are known. */
  #marksRead(): void {
    const { root, superblocks } = this.#parts;
    superblocks.format();
    if (root.state === null) root.write(RootState.Formatted, { powerCycles: 1 }, []);
    else this.#finish();
  }

  /** The first root record of a new drive is durable. */
  formatted(): void {
    this.#finish(0);
  }

  flashDone(op: number): void {
    const { board } = this.#parts;
    const { ops } = board;
    for (let j = 0, mask = ops.slotMask[op]!; mask !== 0; j++, mask >>>= 1) {
      if ((mask & 1) === 0) continue;
      const at = op * SLOTS_PER_OP + j;
      this.#pagesLeft--;
      if (ops.badSectors[at] !== 0) {
        this.#unreadable = true;
        board.content.release(ops.content[at]!);
        continue;
      }
      const word = ops.pageWord[at]!;
      invariant((word & METADATA) !== 0, 'a checkpoint superblock holds metadata only');
      this.#pageRead((word & LPN_MASK) - 1, ops.content[at]!);
    }
    this.#pump();
    if (this.#pagesLeft === 0) this.#complete();
  }

  #pump(): void {
    const { io, board } = this.#parts;
    const { slotsPerUnit } = board.geometry;
    const units = this.#units;
    while (this.#pagesToAsk > 0 && io.inFlight[MetadataUser.Mount]! < this.#unitsMax) {
      units.take();
      const count = Math.min(slotsPerUnit, this.#pagesToAsk);
      this.#pagesToAsk -= count;
      const mask = (1 << count) - 1;
      io.submit(io.prepareRead(MetadataUser.Mount, units.die, units.block, units.page, mask));
    }
  }

  #pageRead(index: number, content: number): void {
    const { board, superblocks } = this.#parts;
    const tablePages = Math.ceil(superblocks.count / ROWS_PER_PAGE);
    if (index === 0) this.#header = decodeHeader(board.content.read(content)!);
    else if (index <= tablePages) this.#readTable(index - 1, board.content.read(content)!);
    else this.#readMap((index - 1 - tablePages) * CELLS_PER_MAP_PAGE, content);
    board.content.release(content);
  }

  #readTable(page: number, bytes: Uint8Array): void {
    const { superblocks } = this.#parts;
    const first = page * ROWS_PER_PAGE;
    const source = Bytes.over(bytes);
    for (let i = 0; i < ROWS_PER_PAGE && first + i < superblocks.count; i++) {
      const row = SuperblockRow.decode(source, i * SuperblockRow.span);
      superblocks.state[first + i] = row.state;
      superblocks.lsbOnly[first + i] = row.lsbOnly;
      superblocks.eraseCount[first + i] = row.eraseCount;
      superblocks.invalidatedOrder[first + i] = row.invalidatedOrder;
      superblocks.openedNumber[first + i] = row.openedNumber;
      superblocks.bad.load(first + i, row.badLow | 0, row.badHigh | 0);
    }
  }

  #readMap(first: number, content: number): void {
    const { board, mapping } = this.#parts;
    invariant(board.content.load(content, board.l2p, first), 'a map page is metadata');
    const { values } = board.l2p;
    const end = Math.min(values.length, first + CELLS_PER_MAP_PAGE);
    for (let i = first; i < end; i++) if (values[i] !== 0) mapping.validate(values[i]! - 1);
    board.aragon.charge((CELLS_PER_MAP_PAGE / 64) * ARAGON.trimLine);
  }

  #complete(): void {
    const { superblocks, hostFrontier, collectorFrontier, smart, mode } = this.#parts;
    const header = this.#header;
    if (header === null || this.#unreadable) {
      this.listener!.mountFailed();
      return;
    }
    superblocks.recount(header.openings);
    const erasing: number[] = [];
    superblocks.state.forEach((state, i) => {
      if (state === SuperblockState.Erasing) erasing.push(i);
    });
    for (const superblock of erasing) this.#parts.eraser.erase(superblock);
    const { hostSuperblock, collectorSuperblock } = header;
    if (hostSuperblock !== NO_SUPERBLOCK) {
      hostFrontier.start(hostSuperblock, header.hostUnit, header.hostLsbOnly === 1);
    }
    if (collectorSuperblock !== NO_SUPERBLOCK) {
      const lsbOnly = header.collectorLsbOnly === 1;
      collectorFrontier.start(collectorSuperblock, header.collectorUnit, lsbOnly);
    }
    smart.hostWrittenSectors = header.hostWrittenSectors;
    smart.hostReadSectors = header.hostReadSectors;
    smart.programUnits = header.programUnits;
    smart.programFailures = header.programFailures;
    smart.eraseFailures = header.eraseFailures;
    smart.uncorrectableReads = header.uncorrectableReads;
    superblocks.bad.factoryCount = header.factoryBad;
    superblocks.bad.grownCount = header.grownBad;
    mode.resume(header.writeMode);
    this.#finish();
  }

  #finish(earlierCycles = 1): void {
    this.#parts.writer.nextOrder = this.#parts.root.root!.nextOrder;
    this.#count(earlierCycles);
    this.listener!.mounted();
  }

  #count(earlierCycles = 1): void {
    const { root, smart } = this.#parts;
    smart.powerCycles = root.root!.powerCycles + earlierCycles;
    smart.unplannedLosses = root.root!.unplannedLosses;
  }

  reset(): void {
    this.#units.start([]);
    this.#pagesToAsk = 0;
    this.#pagesLeft = NONE;
    this.#unreadable = false;
    this.#header = null;
  }

  save(): Saved {
    return {
      units: this.#units.save(),
      pagesToAsk: this.#pagesToAsk,
      unreadable: this.#unreadable,
      pagesLeft: this.#pagesLeft,
      header: this.#header === null ? null : { ...this.#header },
    };
  }

  restore(saved: Saved): void {
    this.#units.restore(saved.units as Saved);
    this.#pagesToAsk = saved.pagesToAsk as number;
    this.#unreadable = saved.unreadable as boolean;
    this.#pagesLeft = saved.pagesLeft as number;
    this.#header = saved.header as Header | null;
  }
}
