/**
 * The trace player: a recorded workload as the source of a host adapter's commands.
 *
 * Operations go out in the order of the trace, each not before its recorded time (or as fast as the
 * queue takes them). What the trace wrote is remembered by a reference disk, and every read is
 * compared with it sector by sector. An operation that overlaps one still under way waits, unless
 * both are reads: the block layer of a host sees to that, and no read has two right answers then.
 */

import { AtaOpcode, AtaStatus } from '../../hal/ata.ts';
import type { Content } from '../../hal/content/content.ts';
import { HOST_SLOTS, PAGES_PER_COMMAND, UNQUEUED_SLOT } from '../../hal/ports.ts';
import type { Saved } from '../../hal/sim/snapshot.ts';
import { SECTORS_PER_SLOT } from '../../hal/sim/units.ts';
import {
  type CommandSource,
  type HostAdapter,
  NOT_BEFORE,
  NOTHING_YET,
} from '../../sata/host/adapter.ts';
import { encodeTrimRanges, TRIM_MAX_BLOCKS, type TrimRange } from '../../sata/trim-ranges.ts';
import { ReferenceDisk } from '../workload/reference-disk.ts';
import { Operations } from './operations.ts';
import { type Trace, TraceKind } from './trace.ts';

/** Most sectors of READ and WRITE FPDMA QUEUED: a count of 0 stands for 65536 (ACS-2, 7.23). */
export const COMMAND_SECTORS_MAX = 65536;
/** Most sectors of an entry of a TRIM list, and entries of a command. */
const RANGE_SECTORS_MAX = 65535;
const RANGES_MAX = TRIM_MAX_BLOCKS * 64;
const TRIM_FEATURE = 1;
const NONE = -1;

/** When the operations of a trace are issued. */
export interface Pace {
  /** True: as fast as the queue takes them. False: not before their recorded time. */
  readonly flatOut: boolean;
  /** Recorded seconds that pass in one second of the drive; above 0. */
  readonly speed: number;
}

/** Told of every operation that has ended. */
export interface OperationListener {
  /** `latencyNs`: from its first command's issue to its last one's end, now at `atNs`. */
  operationDone(row: number, latencyNs: number, atNs: number): void;
}

export class TracePlayer implements CommandSource {
  readonly trace: Trace;
  readonly pace: Pace;
  readonly reference: ReferenceDisk;
  listener: OperationListener | null = null;
  wakeAtNs = 0;
  /** Operations that have ended, those of them that failed, and reads that were compared. */
  doneCount = 0;
  failedCount = 0;
  verifiedCount = 0;
  /** Reads with a wrong sector, and all their wrong sectors. */
  mismatchCount = 0;
  wrongSectors = 0;
  /** The first wrong read and the first failure, in words and with their place; null when none. */
  firstMismatch: string | null = null;
  firstFailure: string | null = null;
  readonly #contents: Content;
  readonly #operations = new Operations();
  /** Of each slot's command: its operation, first sector, sectors, and first tag for a write. */
  readonly #operationOf = new Int32Array(HOST_SLOTS).fill(NONE);
  readonly #lba = new Float64Array(HOST_SLOTS);
  readonly #sectors = new Float64Array(HOST_SLOTS);
  readonly #firstTag = new Int32Array(HOST_SLOTS);
  /** Instant that the first operation's time of 0 stands for, NONE before the start. */
  #startNs = NONE;
  /** Next row to issue. */
  #row = 0;
  /** Operation of which some commands are still to be issued, NONE when there is none. */
  #open = NONE;
  /** Sectors of it that are issued. */
  #issuedSectors = 0;

  /** @param sectors of the drive: every address of the trace lies below */
  constructor(trace: Trace, contents: Content, sectors: number, pace: Pace) {
    this.trace = trace;
    this.pace = pace;
    this.reference = new ReferenceDisk(sectors);
    this.#contents = contents;
  }

  /** Begins to issue: call the adapter's `pump` after it. */
  start(nowNs: number): void {
    this.#startNs = nowNs;
  }

  /** True when every operation has ended. */
  get isDone(): boolean {
    return this.doneCount === this.trace.count;
  }

  next(adapter: HostAdapter, tag: number): number {
    if (this.#startNs === NONE) return NOTHING_YET;
    if (this.#open === NONE) {
      const row = this.#row;
      if (row === this.trace.count) return NOTHING_YET;
      if (!this.pace.flatOut) {
        this.wakeAtNs = this.dueNs(row);
        if (adapter.nowNs < this.wakeAtNs) return NOT_BEFORE;
      }
      if (this.#mustWait(adapter, row)) return NOTHING_YET;
      this.#open = this.#operations.open(row, adapter.nowNs);
      this.#issuedSectors = 0;
      this.#row++;
    }
    return this.#issue(adapter, tag);
  }

  /** Instant before which a row of the trace is not issued at recorded pace. */
  dueNs(row: number): number {
    return this.#startNs + Math.ceil(this.trace.atNs[row]! / this.pace.speed);
  }

  completed(adapter: HostAdapter, slot: number, status: number, error: number): void {
    const operation = this.#operationOf[slot]!;
    if ((status & AtaStatus.Error) !== 0) {
      this.#failed(slot, `status ${hex(status)}, error ${hex(error)}`);
    } else {
      const { reference } = this;
      const lba = this.#lba[slot]!;
      const sectors = this.#sectors[slot]!;
      switch (this.trace.kind[this.#operations.row[operation]!] as TraceKind) {
        case TraceKind.Read:
          this.#compare(adapter, slot);
          break;
        case TraceKind.Write:
          reference.write(lba, sectors, this.#firstTag[slot]!);
          break;
        case TraceKind.Trim:
          reference.trim(lba, sectors);
          break;
        default:
      }
    }
    this.#ended(adapter, slot);
  }

  lost(adapter: HostAdapter, slot: number): void {
    this.#failed(slot, 'lost in a reset');
    this.#ended(adapter, slot);
  }

  /** A command that is not queued goes out alone; an overlap would give a read two answers. */
  #mustWait(adapter: HostAdapter, row: number): boolean {
    const kind = this.trace.kind[row] as TraceKind;
    const operations = this.#operations;
    if (kind === TraceKind.Trim || kind === TraceKind.Flush) return adapter.outstandingCount > 0;
    const { lba, sectors, kind: kinds } = this.trace;
    const first = lba[row]!;
    const end = first + sectors[row]!;
    for (let i = 0; i < operations.count; i++) {
      const other = operations.row[operations.used[i]!]!;
      if (kind === TraceKind.Read && kinds[other] === TraceKind.Read) continue;
      if (lba[other]! < end && first < lba[other]! + sectors[other]!) return true;
    }
    return false;
  }

  /** Gives the adapter the next command of the open operation. */
  #issue(adapter: HostAdapter, tag: number): number {
    const operation = this.#open;
    const row = this.#operations.row[operation]!;
    const lba = this.trace.lba[row]! + this.#issuedSectors;
    const left = this.trace.sectors[row]! - this.#issuedSectors;
    let slot = tag;
    let sectors = Math.min(left, COMMAND_SECTORS_MAX);
    switch (this.trace.kind[row] as TraceKind) {
      case TraceKind.Read:
        adapter.readQueued(tag, lba, sectors);
        break;
      case TraceKind.Write:
        adapter.writeQueued(tag, lba, sectors, this.trace.fua[row]!);
        this.#fill(adapter, tag, lba, sectors);
        break;
      case TraceKind.Trim: {
        slot = UNQUEUED_SLOT;
        sectors = Math.min(left, RANGES_MAX * RANGE_SECTORS_MAX);
        const payload = encodeTrimRanges(trimRanges(lba, sectors));
        adapter.sectorData.set(payload);
        adapter.unqueued(AtaOpcode.DataSetManagement, TRIM_FEATURE, 0, payload.length / 512);
        break;
      }
      case TraceKind.Flush:
        slot = UNQUEUED_SLOT;
        adapter.unqueued(AtaOpcode.FlushCacheExt, 0, 0, 0);
    }
    this.#operationOf[slot] = operation;
    this.#lba[slot] = lba;
    this.#sectors[slot] = sectors;
    this.#operations.pending[operation]!++;
    this.#issuedSectors += sectors;
    if (sectors === left) this.#open = NONE;
    return slot;
  }

  /** Every page of a write gets a tag of its own. */
  #fill(adapter: HostAdapter, tag: number, lba: number, sectors: number): void {
    const pages = Math.ceil(((lba % SECTORS_PER_SLOT) + sectors) / SECTORS_PER_SLOT);
    const first = this.reference.takeTags(pages);
    const at = tag * PAGES_PER_COMMAND;
    for (let page = 0; page < pages; page++) adapter.data[at + page] = first + page;
    this.#firstTag[tag] = first;
  }

  #compare(adapter: HostAdapter, slot: number): void {
    const { reference } = this;
    const lba = this.#lba[slot]!;
    const at = slot * PAGES_PER_COMMAND;
    const wrong = reference.compare(lba, this.#sectors[slot]!, adapter.data, at, this.#contents);
    if (wrong === 0) return;
    const operation = this.#operationOf[slot]!;
    this.#operations.wrongSectors[operation]! += wrong;
    if (this.firstMismatch !== null) return;
    const { wrongLba, wrongTag, expectedTag } = reference;
    const held = wrongTag === 0 ? 'zeros' : `page ${wrongTag} of those written`;
    const should = expectedTag === 0 ? 'zeros' : `page ${expectedTag} of those written`;
    const what = `sector ${wrongLba} holds ${held}; expected ${should}`;
    this.firstMismatch = `${this.#says(operation)}: ${what}`;
  }

  #failed(slot: number, why: string): void {
    const operation = this.#operationOf[slot]!;
    const kind = this.trace.kind[this.#operations.row[operation]!] as TraceKind;
    this.#operations.failed[operation] = 1;
    if (kind === TraceKind.Write) this.reference.forget(this.#lba[slot]!, this.#sectors[slot]!);
    if (kind === TraceKind.Trim) this.reference.trim(this.#lba[slot]!, this.#sectors[slot]!);
    this.firstFailure ??= `${this.#says(operation)} failed: ${why}`;
  }

  #ended(adapter: HostAdapter, slot: number): void {
    const operations = this.#operations;
    const operation = this.#operationOf[slot]!;
    this.#operationOf[slot] = NONE;
    operations.pending[operation]!--;
    if (operations.pending[operation]! > 0 || operation === this.#open) return;
    const row = operations.row[operation]!;
    this.doneCount++;
    const wrong = operations.wrongSectors[operation]!;
    if (operations.failed[operation] === 1) this.failedCount++;
    else if (this.trace.kind[row] === TraceKind.Read) this.verifiedCount++;
    if (wrong > 0) {
      this.mismatchCount++;
      this.wrongSectors += wrong;
    }
    const latencyNs = adapter.nowNs - operations.issuedNs[operation]!;
    operations.close(operation);
    this.listener?.operationDone(row, latencyNs, adapter.nowNs);
  }

  #says(operation: number): string {
    const { trace } = this;
    const row = this.#operations.row[operation]!;
    const kind = TraceKind[trace.kind[row]!]!.toLowerCase();
    if (kind === 'flush') return `${trace.where(row)}: a flush`;
    const { lba, sectors } = trace;
    return `${trace.where(row)}: a ${kind} of ${sectors[row]} sectors at LBA ${lba[row]}`;
  }

  save(): Saved {
    return {
      ...{ startNs: this.#startNs, row: this.#row, open: this.#open },
      ...{ issuedSectors: this.#issuedSectors, wakeAtNs: this.wakeAtNs },
      ...{ doneCount: this.doneCount, failedCount: this.failedCount },
      ...{ verifiedCount: this.verifiedCount, mismatchCount: this.mismatchCount },
      ...{ wrongSectors: this.wrongSectors },
      ...{ firstMismatch: this.firstMismatch, firstFailure: this.firstFailure },
      ...{ operationOf: this.#operationOf.slice(), lba: this.#lba.slice() },
      ...{ sectors: this.#sectors.slice(), firstTag: this.#firstTag.slice() },
      operations: this.#operations.save(),
      reference: this.reference.save(),
    };
  }

  restore(saved: Saved): void {
    this.#startNs = saved.startNs as number;
    this.#row = saved.row as number;
    this.#open = saved.open as number;
    this.#issuedSectors = saved.issuedSectors as number;
    this.wakeAtNs = saved.wakeAtNs as number;
    this.doneCount = saved.doneCount as number;
    this.failedCount = saved.failedCount as number;
    this.verifiedCount = saved.verifiedCount as number;
    this.mismatchCount = saved.mismatchCount as number;
    this.wrongSectors = saved.wrongSectors as number;
    this.firstMismatch = saved.firstMismatch as string | null;
    this.firstFailure = saved.firstFailure as string | null;
    this.#operationOf.set(saved.operationOf as Int32Array);
    this.#lba.set(saved.lba as Float64Array);
    this.#sectors.set(saved.sectors as Float64Array);
    this.#firstTag.set(saved.firstTag as Int32Array);
    this.#operations.restore(saved.operations as Saved);
    this.reference.restore(saved.reference as Saved);
  }
}

/** Entries of a TRIM list that cover these sectors. */
function trimRanges(lba: number, sectors: number): TrimRange[] {
  const ranges: TrimRange[] = [];
  for (let done = 0; done < sectors; done += RANGE_SECTORS_MAX) {
    ranges.push({ lba: lba + done, sectors: Math.min(RANGE_SECTORS_MAX, sectors - done) });
  }
  return ranges;
}

function hex(value: number): string {
  return `${value.toString(16).toUpperCase().padStart(2, '0')}h`;
}
