import { RunError } from '../errors.ts';

/** What an operation of a trace asks of the drive. */
export enum TraceKind {
  Read,
  Write,
  Trim,
  Flush,
}

/** What a `place` counts: lines from 1 in text formats, bytes from 0 in binary ones. */
export enum PlaceUnit {
  Line,
  Byte,
}

/** Totals of a trace. Sizes are bytes, `neededSectors` is the highest LBA used plus 1. */
export interface TraceSummary {
  readonly reads: number;
  readonly writes: number;
  readonly trims: number;
  readonly flushes: number;
  readonly fuaWrites: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly trimmedBytes: number;
  readonly neededSectors: number;
  readonly spanNs: number;
}

/** How a reader makes its trace. */
export interface TraceOrigin {
  /** Name of the format, as `--format` takes it. */
  readonly format: string;
  /** File that errors name. */
  readonly fileName: string;
  readonly placeUnit?: PlaceUnit;
  /** Take only the operations of this device, as the file names it. */
  readonly device?: string | undefined;
}

type Column = Float64Array | Int32Array | Uint32Array | Uint8Array;

const SECTOR_BYTES = 512;
const SECTORS_MAX = 0x7fff_ffff;
const FIRST_CAPACITY = 1024;

/**
 * The operations of a recorded workload, one row in each column, whatever the format was. Until
 * `finish()` rows stand in file order and columns may be longer than `count`; after it they are
 * sorted by time, the first is at 0 ns, and each column holds exactly `count` rows.
 */
export class Trace {
  readonly format: string;
  readonly fileName: string;
  /** Rows in use. */
  count = 0;
  /** Issue time in nanoseconds. */
  atNs = new Float64Array(FIRST_CAPACITY);
  /** A `TraceKind` each. */
  kind = new Uint8Array(FIRST_CAPACITY);
  /** First 512-byte sector; 0 for a flush. */
  lba = new Float64Array(FIRST_CAPACITY);
  /** Length in 512-byte sectors, unsplit; 0 for a flush. */
  sectors = new Int32Array(FIRST_CAPACITY);
  /** 1 where the data must be on the media at completion (force unit access). */
  fua = new Uint8Array(FIRST_CAPACITY);
  /** Line or byte offset that each row came from, for messages. */
  place = new Uint32Array(FIRST_CAPACITY);
  /** Reads, writes and trims of length 0 that were left out: ATA cannot express them. */
  emptyCount = 0;
  /** Operations met for each device, those that the device choice left out included. */
  readonly devices = new Map<string, number>();

  readonly #placeUnit: PlaceUnit;
  readonly #device: string | undefined;

  constructor(origin: TraceOrigin) {
    this.format = origin.format;
    this.fileName = origin.fileName;
    this.#placeUnit = origin.placeUnit ?? PlaceUnit.Line;
    this.#device = origin.device;
  }

  /** Counts one operation for `device` and says whether this trace takes it. */
  takes(device: string): boolean {
    this.devices.set(device, (this.devices.get(device) ?? 0) + 1);
    return this.#device === undefined || this.#device === device;
  }

  /**
   * Appends a row. A read, write or trim of 0 sectors is only counted in `emptyCount`.
   * @throws RunError when the length or the address is beyond what a row can hold.
   */
  add(atNs: number, kind: TraceKind, lba: number, sectors: number, fua: boolean, place: number) {
    const flush = kind === TraceKind.Flush;
    if (sectors === 0 && !flush) {
      this.emptyCount++;
      return;
    }
    if (sectors > SECTORS_MAX) {
      throw new RunError(
        `${this.#at(place)}: a length of ${sectors} sectors; expected at most ${SECTORS_MAX}`,
      );
    }
    if (lba + sectors > Number.MAX_SAFE_INTEGER) {
      throw new RunError(`${this.#at(place)}: sector ${lba}; expected an address below 2^53`);
    }
    if (this.count === this.atNs.length) this.#resize(this.count * 2);
    const row = this.count++;
    this.atNs[row] = atNs;
    this.kind[row] = kind;
    this.lba[row] = flush ? 0 : lba;
    this.sectors[row] = flush ? 0 : sectors;
    this.fua[row] = fua ? 1 : 0;
    this.place[row] = place;
  }

  /** Appends a row given in bytes, widened to the whole sectors that it touches. */
  addBytes(atNs: number, kind: TraceKind, offsetBytes: number, sizeBytes: number, place: number) {
    const lba = Math.floor(offsetBytes / SECTOR_BYTES);
    const sectors = sizeBytes === 0 ? 0 : Math.ceil((offsetBytes + sizeBytes) / SECTOR_BYTES) - lba;
    this.add(atNs, kind, lba, sectors, false, place);
  }

  /** Sorts by time (rows of one time keep file order) and moves the first operation to 0 ns. */
  finish(): this {
    const { atNs, count } = this;
    let sorted = true;
    for (let row = 1; row < count && sorted; row++) sorted = atNs[row - 1]! <= atNs[row]!;
    if (sorted) this.#resize(count);
    else this.#sort();
    const startNs = this.atNs[0] ?? 0;
    for (let row = 0; row < count; row++) this.atNs[row]! -= startNs;
    return this;
  }

  /** Keeps the first `rows` operations only. */
  limit(rows: number): void {
    if (rows >= this.count) return;
    this.count = rows;
    this.#resize(rows);
  }

  /** Where a row came from: `file:line`, or `file: byte offset` for a binary format. */
  where(row: number): string {
    return this.#at(this.place[row] ?? 0);
  }

  summary(): TraceSummary {
    const operations = [0, 0, 0, 0];
    const bytes = [0, 0, 0, 0];
    let fuaWrites = 0;
    let neededSectors = 0;
    for (let row = 0; row < this.count; row++) {
      const kind = this.kind[row]!;
      const sectors = this.sectors[row]!;
      operations[kind]!++;
      bytes[kind]! += sectors * SECTOR_BYTES;
      if (kind === TraceKind.Write) fuaWrites += this.fua[row]!;
      neededSectors = Math.max(neededSectors, this.lba[row]! + sectors);
    }
    return {
      reads: operations[TraceKind.Read]!,
      writes: operations[TraceKind.Write]!,
      trims: operations[TraceKind.Trim]!,
      flushes: operations[TraceKind.Flush]!,
      fuaWrites,
      readBytes: bytes[TraceKind.Read]!,
      writtenBytes: bytes[TraceKind.Write]!,
      trimmedBytes: bytes[TraceKind.Trim]!,
      neededSectors,
      spanNs: this.count === 0 ? 0 : this.atNs[this.count - 1]!,
    };
  }

  /** @throws RunError that names the first operation which ends beyond `capacitySectors`. */
  checkFits(capacitySectors: number): void {
    for (let row = 0; row < this.count; row++) {
      const lba = this.lba[row]!;
      const sectors = this.sectors[row]!;
      if (lba + sectors <= capacitySectors) continue;
      const name = TraceKind[this.kind[row]!]!.toLowerCase();
      throw new RunError(
        `${this.where(row)}: a ${name} of ${sectors} sectors at LBA ${lba} ends beyond the ` +
          `drive; the trace needs ${this.summary().neededSectors} sectors, the drive has ` +
          `${capacitySectors}; --wrap folds the addresses into the drive`,
      );
    }
  }

  /**
   * Folds every address into `capacitySectors` (modulo). An operation that would run over the end
   * keeps its length and is moved down to end there; one longer than the drive covers it once.
   * @returns how many operations were changed.
   */
  wrap(capacitySectors: number): number {
    let changed = 0;
    for (let row = 0; row < this.count; row++) {
      const lba = this.lba[row]!;
      const sectors = this.sectors[row]!;
      if (lba + sectors <= capacitySectors) continue;
      const kept = Math.min(sectors, capacitySectors);
      this.sectors[row] = kept;
      this.lba[row] = Math.min(lba % capacitySectors, capacitySectors - kept);
      changed++;
    }
    return changed;
  }

  #at(place: number): string {
    const unit = this.#placeUnit === PlaceUnit.Byte ? ' byte ' : '';
    return `${this.fileName}:${unit}${place}`;
  }

  #resize(rows: number): void {
    const used = Math.min(rows, this.count);
    this.atNs = moved(new Float64Array(rows), this.atNs.subarray(0, used));
    this.kind = moved(new Uint8Array(rows), this.kind.subarray(0, used));
    this.lba = moved(new Float64Array(rows), this.lba.subarray(0, used));
    this.sectors = moved(new Int32Array(rows), this.sectors.subarray(0, used));
    this.fua = moved(new Uint8Array(rows), this.fua.subarray(0, used));
    this.place = moved(new Uint32Array(rows), this.place.subarray(0, used));
  }

  #sort(): void {
    const { atNs, count } = this;
    const order = new Uint32Array(count);
    for (let row = 0; row < count; row++) order[row] = row;
    order.sort((a, b) => atNs[a]! - atNs[b]! || a - b);
    this.atNs = picked(new Float64Array(count), this.atNs, order);
    this.kind = picked(new Uint8Array(count), this.kind, order);
    this.lba = picked(new Float64Array(count), this.lba, order);
    this.sectors = picked(new Int32Array(count), this.sectors, order);
    this.fua = picked(new Uint8Array(count), this.fua, order);
    this.place = picked(new Uint32Array(count), this.place, order);
  }
}

function moved<C extends Column>(into: C, from: C): C {
  into.set(from);
  return into;
}

function picked<C extends Column>(into: C, from: C, order: Uint32Array): C {
  const target: Column = into;
  for (let row = 0; row < order.length; row++) target[row] = from[order[row]!]!;
  return into;
}
