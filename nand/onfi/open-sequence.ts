/**
 * The sequence that stands open at a die: an addressed read, program or erase that waits for its
 * data and confirm, and the change of read column that waits for E0h.
 *
 * Here addresses are checked against the part; the array operation itself starts at the confirm.
 */

import type { Saved } from '../../hal/sim/snapshot.ts';
import { JobKind } from './array-job.ts';
import { addPlane } from './array-ops.ts';
import type { CommandLatch } from './command-latch.ts';
import type { DataOutput } from './data-output.ts';
import { OutputSource } from './data-output.ts';
import type { Features } from './features.ts';
import type { Lun } from './lun.ts';
import { ViolationRule } from './rules.ts';

export enum ColumnChange {
  None,
  /** 05h: column alone. */
  Column,
  /** 06h: column and plane. */
  Enhanced,
}

export class OpenSequence {
  readonly #lun: Lun;
  readonly #latch: CommandLatch;
  readonly #features: Features;
  /** What waits for a confirm; None when nothing does. */
  kind = JobKind.None;
  block = 0;
  page = 0;
  /** Next column of the register: where data goes in, or where a read page is read from. */
  column = 0;
  /** The address names a page or block of this LUN; else the sequence runs into the void. */
  valid = false;
  columnChange = ColumnChange.None;
  #changeColumn = 0;
  #changePlane = 0;
  #changeValid = false;

  constructor(lun: Lun, latch: CommandLatch, features: Features) {
    this.#lun = lun;
    this.#latch = latch;
    this.#features = features;
  }

  /** 11h went before: the next program belongs to the same group. */
  get programQueued(): boolean {
    return this.#lun.queue.kind === JobKind.Program;
  }

  /** Opens a read, program or erase at the latched address. */
  open(kind: JobKind, atNs: number): void {
    if (this.kind === JobKind.Program) this.#lun.report(ViolationRule.SequenceAbandoned, atNs);
    this.kind = kind;
    this.columnChange = ColumnChange.None;
    this.setRow(atNs);
    this.column = kind === JobKind.Erase ? 0 : this.checkColumn(this.#latch.column, atNs);
  }

  /** Opens a sequence on no page or block: its confirm only forgets the queue. */
  openNothing(kind: JobKind): void {
    this.kind = kind;
    this.valid = false;
  }

  /** Takes the latched row as the address of the open sequence. */
  setRow(atNs: number): void {
    this.block = this.#latch.block;
    this.page = this.#latch.page;
    this.valid = this.#rowExists(atNs);
  }

  get plane(): number {
    return this.block % this.#lun.planes;
  }

  /** 80h and 81h clear the registers, 85h opens on what a read left in its plane. */
  openProgram(copyback: boolean, atNs: number): void {
    const lun = this.#lun;
    const grouped = this.programQueued;
    this.open(JobKind.Program, atNs);
    lun.held.clear();
    if (copyback) {
      const source = ((lun.copybackPlanes >>> this.plane) & 1) !== 0;
      if (this.valid && !source) lun.report(ViolationRule.CopybackPlane, atNs);
      return;
    }
    if (grouped || this.#features.programClear) {
      lun.cache[this.plane]!.clear();
      lun.copybackPlanes &= ~(1 << this.plane);
      return;
    }
    for (const register of lun.cache) register.clear();
    lun.copybackPlanes = 0;
  }

  /** 85h with five cycles in the middle of a program: the page that is meant changes. */
  changeRow(atNs: number): void {
    const plane = this.plane;
    this.setRow(atNs);
    this.column = this.checkColumn(this.#latch.column, atNs);
    if (this.plane !== plane) this.#lun.report(ViolationRule.PlaneAddress, atNs);
  }

  /** 05h or 06h: the column, and the plane, that E0h will turn to. */
  prepareColumnChange(change: ColumnChange, atNs: number): void {
    this.columnChange = change;
    this.#changeColumn = this.checkColumn(this.#latch.column, atNs);
    this.#changeValid = change === ColumnChange.Column || this.#rowExists(atNs);
    this.#changePlane = this.#latch.block % this.#lun.planes;
  }

  /** E0h. */
  changeReadColumn(output: DataOutput, atNs: number): void {
    const change = this.columnChange;
    this.columnChange = ColumnChange.None;
    if (change === ColumnChange.None) {
      this.#lun.report(ViolationRule.ConfirmWithoutOpener, atNs);
      return;
    }
    if (!this.#changeValid) return;
    const table =
      output.dataSource === OutputSource.ParameterPage ||
      output.dataSource === OutputSource.UniqueId;
    if (change === ColumnChange.Column && table) {
      output.select(output.dataSource, this.#changeColumn);
      return;
    }
    if (change === ColumnChange.Enhanced) output.plane = this.#changePlane;
    output.select(OutputSource.Register, this.#changeColumn);
  }

  /** A column as the part takes it: even in synchronous mode. Reports what is wrong with it. */
  checkColumn(column: number, atNs: number): number {
    let taken = column;
    if (this.#features.synchronous && (column & 1) !== 0) {
      this.#lun.report(ViolationRule.OddColumn, atNs);
      taken = column - 1;
    }
    if (taken >= this.#lun.registerBytes) this.#lun.report(ViolationRule.ColumnRange, atNs);
    return taken;
  }

  /** Moves the open page or block into the queue of the LUN; false when nothing fit is open. */
  enqueue(kind: JobKind, atNs: number): boolean {
    const open = this.kind;
    this.kind = JobKind.None;
    if (open !== kind) {
      this.#lun.report(ViolationRule.ConfirmWithoutOpener, atNs);
      return false;
    }
    if (!this.valid) return false;
    addPlane(this.#lun, kind, this.block, this.page, this.#features.otpMode, atNs);
    return true;
  }

  /** Takes data into the cache register of the open program. */
  write(bytes: Uint8Array, atNs: number): void {
    const lun = this.#lun;
    if (!this.valid) return;
    const count = Math.min(bytes.length, Math.max(0, lun.registerBytes - this.column));
    if (count > 0) lun.cache[this.plane]!.write(this.column, bytes, 0, count);
    if (count < bytes.length) lun.report(ViolationRule.ColumnRange, atNs);
    this.column += count;
  }

  /** Whether the latched row lies in this LUN, and in the OTP area while that is selected. */
  #rowExists(atNs: number): boolean {
    const { lun: lunAddress, block, page } = this.#latch;
    const lun = this.#lun;
    if (lunAddress !== 0) {
      lun.report(ViolationRule.LunAddress, atNs);
      return false;
    }
    if (block >= lun.part.blocksPerDie || page >= lun.part.pagesPerBlock) {
      lun.report(ViolationRule.AddressRange, atNs);
      return false;
    }
    const sensed = this.kind === JobKind.Read || this.kind === JobKind.Program;
    if (!this.#features.otpMode || !sensed || lun.otp.holds(block, page)) return true;
    lun.report(ViolationRule.OtpArea, atNs);
    return false;
  }

  /** A command of another kind takes the place of whatever is open. */
  abandon(atNs: number): void {
    if (this.kind === JobKind.Program) this.#lun.report(ViolationRule.SequenceAbandoned, atNs);
    this.reset();
  }

  reset(): void {
    this.kind = JobKind.None;
    this.columnChange = ColumnChange.None;
  }

  save(): Saved {
    const { kind, block, page, column, valid, columnChange } = this;
    return {
      ...{ kind, block, page, column, valid, columnChange },
      changeColumn: this.#changeColumn,
      changePlane: this.#changePlane,
      changeValid: this.#changeValid,
    };
  }

  restore(saved: Saved): void {
    this.kind = saved.kind as JobKind;
    this.block = saved.block as number;
    this.page = saved.page as number;
    this.column = saved.column as number;
    this.valid = saved.valid as boolean;
    this.columnChange = saved.columnChange as ColumnChange;
    this.#changeColumn = saved.changeColumn as number;
    this.#changePlane = saved.changePlane as number;
    this.#changeValid = saved.changeValid as boolean;
  }
}
