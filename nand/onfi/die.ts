/**
 * An ONFI 2.2 die as a chip: pins, bus cycles, and the commands they spell. One LUN a target.
 *
 * A passive part: every method takes the instant of its bus cycle, instants never go back, and what
 * has ended by then is carried out first. There are two ways in that mean the same: cycle by cycle
 * (`command`, `address`), or a whole address at once (`latchAddress`, `confirm`) for a sequencer.
 * The die does what the part does with a wrong sequence and reports the broken rule.
 */

import type { Saved } from '../../hal/sim/snapshot.ts';
import type { NandPart } from '../part.ts';
import { JobKind } from './array-job.ts';
import { ASYNC_TIMINGS, type BusTiming, SYNC_TIMINGS } from './bus-timing.ts';
import { CommandLatch, NO_OPCODE } from './command-latch.ts';
import { confirmSequence } from './confirm.ts';
import { DataOutput, OutputSource } from './data-output.ts';
import type { DieArray } from './die-array.ts';
import { powerDownLun, powerUpLun, resetLun } from './die-reset.ts';
import { FeatureIntake } from './feature-intake.ts';
import { Features } from './features.ts';
import { DieIdentity } from './identify.ts';
import { faultOf } from './legality.ts';
import { Lun } from './lun.ts';
import { LunState } from './lun-table.ts';
import { Opcode, ROLE, Role } from './opcodes.ts';
import { ColumnChange, OpenSequence } from './open-sequence.ts';
import { ERASED_BYTE, type PageRegister } from './page-register.ts';
import { ViolationRule, type ViolationSink } from './rules.ts';
import { getFeature, identify, openFeature, takeFeature } from './self-commands.ts';
import { ALL_PLANES } from './status.ts';
import { type OnfiTimes, onfiTimesOf } from './times.ts';

/** Level of a pin. */
export type PinLevel = 0 | 1;

export interface OnfiDieParts {
  readonly part: NandPart;
  readonly array: DieArray;
  readonly sink: ViolationSink;
  /** Number of the die, told to the sink. */
  readonly die: number;
  /** Makes the unique id; by default the number of the die. */
  readonly serialNumber?: string;
  /** Busy times; by default those of the part. */
  readonly times?: OnfiTimes;
}

export class OnfiDie {
  readonly kind: string;
  readonly version = 1;
  /** The array side: state, jobs, registers. For reading only. */
  readonly lun: Lun;
  readonly features = new Features();
  readonly output: DataOutput;
  readonly #identity: DieIdentity;
  readonly #latch: CommandLatch;
  readonly #open: OpenSequence;
  /** CE# is high: the die hears no cycle. Low at construction. */
  #deselected = false;
  /** The last command was not accepted: its addresses and data go unheard. */
  #deaf = false;
  /** Instants from which data may be written and read (tADL, tCCS, tWHR). */
  #dataInFromNs = 0;
  #dataOutFromNs = 0;
  /** 78h is allowed: the last operation was one of the array. */
  #enhancedAllowed = false;
  readonly #intake = new FeatureIntake();

  constructor(parts: OnfiDieParts) {
    const { part, array, sink, die } = parts;
    this.kind = `nand.onfi-die${die}`;
    this.lun = new Lun(part, array, parts.times ?? onfiTimesOf(part), die, sink);
    this.#identity = new DieIdentity(part, parts.serialNumber ?? `die ${die}`);
    this.#latch = new CommandLatch(part);
    this.#open = new OpenSequence(this.lun, this.#latch, this.features);
    this.output = new DataOutput(this.lun, this.#identity, this.features);
  }

  /** Instant from which R/B# is high. */
  get readyAtNs(): number {
    return this.lun.readyAtNs;
  }

  /** Instant from which the array is ready too. */
  get arrayReadyAtNs(): number {
    return this.lun.arrayReadyAtNs;
  }

  /** Timing of the bus as negotiated. */
  get timing(): BusTiming {
    return (this.features.synchronous ? SYNC_TIMINGS : ASYNC_TIMINGS)[this.features.mode]!;
  }

  /** Register of a plane on the side of the bus. */
  cacheRegister(plane: number): PageRegister {
    return this.lun.cache[plane]!;
  }

  /** Carries out what has ended by `atNs`. */
  settle(atNs: number): void {
    this.lun.settle(atNs);
    if (this.features.changing) this.features.settle(atNs, this.#deselected);
  }

  /** Status as 70h gives it, whatever the output stands at. */
  status(atNs: number): number {
    return this.lun.statusOf(ALL_PLANES, atNs);
  }

  /** Status of one plane, as 78h gives it. */
  planeStatus(plane: number, atNs: number): number {
    return this.lun.statusOf(1 << plane, atNs);
  }

  /** The supply becomes stable. The die is deaf until readyAtNs and wants FFh first. */
  powerOn(atNs: number): void {
    if (this.lun.state !== LunState.Off) return;
    this.features.powerOn();
    this.#forget();
    this.output.reset();
    this.#enhancedAllowed = false;
    powerUpLun(this.lun, atNs);
  }

  /** The supply goes: what runs is cut short. */
  powerOff(atNs: number): void {
    if (this.lun.state === LunState.Off) return;
    powerDownLun(this.lun, atNs);
    this.#forget();
  }

  /** WP#: low protects. */
  writeProtect(level: PinLevel, atNs: number): void {
    this.settle(atNs);
    const notProtected = level === 1;
    if (notProtected === this.lun.notProtected) return;
    if (atNs < this.lun.arrayReadyAtNs) this.lun.report(ViolationRule.WriteProtectWhileBusy, atNs);
    this.lun.notProtected = notProtected;
  }

  /** CE#: low selects. A new interface takes effect while it is high. */
  chipEnable(level: PinLevel, atNs: number): void {
    this.settle(atNs);
    this.#deselected = level === 1;
    this.settle(atNs);
  }

  /** A command cycle. */
  command(opcode: number, atNs: number): void {
    if (!this.#hears(atNs)) return;
    this.#command(opcode & 0xff, atNs);
  }

  /** An address cycle. */
  address(byte: number, atNs: number): void {
    if (!this.#hears(atNs) || this.#deaf) return;
    const latch = this.#latch;
    if (latch.opcode === NO_OPCODE) {
      this.lun.report(ViolationRule.AddressCycles, atNs);
      return;
    }
    if (latch.take(byte)) this.#addressed(atNs);
    else if (latch.opcode === Opcode.ChangeWriteColumn) {
      this.#dataInFromNs = atNs + this.timing.ccsNs;
    }
  }

  /** The opener and all its address cycles at one instant; parts an opener lacks are ignored. */
  latchAddress(opcode: number, column: number, block: number, page: number, atNs: number): void {
    if (!this.#hears(atNs)) return;
    this.#command(opcode & 0xff, atNs);
    if (this.#deaf || this.#latch.opcode === NO_OPCODE) return;
    this.#latch.takeAll(column, block, page);
    this.#addressed(atNs);
  }

  /** 05h or 85h with two column cycles at one instant. */
  latchColumn(opcode: number, column: number, atNs: number): void {
    this.command(opcode, atNs);
    this.address(column & 0xff, atNs);
    this.address(column >>> 8, atNs);
  }

  /** A confirm cycle: the same as `command`. */
  confirm(opcode: number, atNs: number): void {
    this.command(opcode, atNs);
  }

  /** Data cycles into the die. */
  writeData(bytes: Uint8Array, atNs: number): void {
    if (!this.#hears(atNs) || this.#deaf) return;
    this.#closeLatch(atNs);
    const forFeature = this.#intake.isOpen;
    if (!forFeature && this.#open.kind !== JobKind.Program) {
      this.lun.report(ViolationRule.DataInUnexpected, atNs);
      return;
    }
    if (atNs < this.#dataInFromNs) this.lun.report(ViolationRule.DataTooEarly, atNs);
    if (forFeature) takeFeature(this.lun, this.features, this.#intake, bytes, atNs);
    else this.#open.write(bytes, atNs);
  }

  /** Data cycles out of the die: fills `into`. Undriven lines read as ones. */
  readData(into: Uint8Array, atNs: number): void {
    if (!this.#hears(atNs)) {
      into.fill(ERASED_BYTE);
      return;
    }
    this.#closeLatch(atNs);
    let fromNs = this.#dataOutFromNs;
    if (this.output.source === OutputSource.Register) {
      fromNs = Math.max(fromNs, this.lun.readyAtNs + this.timing.rrNs);
    }
    if (atNs < fromNs && (this.output.source === OutputSource.Status || this.#ready(atNs))) {
      this.lun.report(ViolationRule.DataTooEarly, atNs);
    }
    this.output.read(into, atNs);
  }

  #ready(atNs: number): boolean {
    return atNs >= this.lun.readyAtNs;
  }

  #hears(atNs: number): boolean {
    if (this.#deselected || this.lun.state === LunState.Off) return false;
    this.settle(atNs);
    return true;
  }

  #command(opcode: number, atNs: number): void {
    this.#closeLatch(atNs);
    const fault = faultOf(this.lun, this.features, opcode, atNs);
    this.#deaf = fault !== null;
    if (fault !== null) {
      this.lun.report(fault, atNs);
      return;
    }
    this.#intake.end();
    if (ROLE[opcode] === Role.Opener) {
      this.#latch.begin(opcode);
      if (opcode === Opcode.ReadPage) this.output.resume();
      return;
    }
    if (ROLE[opcode] === Role.Confirm) {
      const { lun, output, features } = this;
      if (confirmSequence(lun, this.#open, output, features, opcode, atNs)) {
        this.#enhancedAllowed = !features.otpMode;
      } else if (opcode === Opcode.ChangeReadColumnConfirm) {
        this.#dataOutFromNs = atNs + this.timing.ccsNs;
      }
      return;
    }
    if (opcode === Opcode.ReadStatus) {
      this.output.selectStatus(ALL_PLANES);
      this.#dataOutFromNs = atNs + this.timing.whrNs;
      return;
    }
    this.#reset(opcode, atNs);
  }

  /** Ends the address phase when something else than an address comes. */
  #closeLatch(atNs: number): void {
    const latch = this.#latch;
    const { opcode, count } = latch;
    if (opcode === NO_OPCODE) return;
    latch.end();
    // 00h alone has brought the data back, 85h with two cycles has moved the write column.
    if (opcode === Opcode.ReadPage && count === 0) return;
    if (opcode === Opcode.ChangeWriteColumn && count === 2 && this.#open.kind === JobKind.Program) {
      this.#open.column = this.#open.checkColumn(latch.column, atNs);
      return;
    }
    this.lun.report(ViolationRule.AddressCycles, atNs);
  }

  /** All address cycles of the latched opener have come. */
  #addressed(atNs: number): void {
    const lun = this.lun;
    const open = this.#open;
    const opcode = this.#latch.opcode;
    this.#latch.opcode = NO_OPCODE;
    switch (opcode) {
      case Opcode.ReadPage:
        open.open(JobKind.Read, atNs);
        return;
      case Opcode.ProgramPageSecond:
      case Opcode.ProgramPage:
        if (opcode === Opcode.ProgramPageSecond && !open.programQueued) {
          lun.report(ViolationRule.SecondOpener, atNs);
        }
        open.openProgram(false, atNs);
        this.#dataInFromNs = atNs + this.timing.adlNs;
        return;
      case Opcode.ChangeWriteColumn:
        if (open.kind === JobKind.Program) open.changeRow(atNs);
        else open.openProgram(true, atNs);
        this.#dataInFromNs = atNs + this.timing.ccsNs;
        return;
      case Opcode.EraseBlock:
        this.#openErase(atNs);
        return;
      case Opcode.ChangeReadColumn:
        open.prepareColumnChange(ColumnChange.Column, atNs);
        return;
      case Opcode.ChangeReadColumnEnhanced:
        open.prepareColumnChange(ColumnChange.Enhanced, atNs);
        return;
      case Opcode.ReadStatusEnhanced:
        this.#readStatusEnhanced(atNs);
        return;
      case Opcode.ResetLun:
        if (this.#latch.lun === 0) this.#reset(opcode, atNs);
        else lun.report(ViolationRule.LunAddress, atNs);
        return;
      default:
        this.#identifyOrFeature(opcode, atNs);
    }
  }

  /** 60h R. The older style of a group repeats it without D1h in between. */
  #openErase(atNs: number): void {
    const open = this.#open;
    if (open.kind === JobKind.Erase && open.valid) open.enqueue(JobKind.Erase, atNs);
    if (this.#latch.isAllOnes) open.openNothing(JobKind.Erase);
    else open.open(JobKind.Erase, atNs);
  }

  /** 78h R. */
  #readStatusEnhanced(atNs: number): void {
    const { lun, output } = this;
    if (!this.#enhancedAllowed) lun.report(ViolationRule.EnhancedStatus, atNs);
    if (this.#latch.lun !== 0) {
      lun.report(ViolationRule.LunAddress, atNs);
      return;
    }
    output.plane = this.#latch.block % lun.planes;
    output.selectStatus(1 << output.plane);
    this.#dataOutFromNs = atNs + this.timing.whrNs;
  }

  /** Commands about the die itself: 90h, ECh, EDh, EEh, EFh with their one address. */
  #identifyOrFeature(opcode: number, atNs: number): void {
    const { lun, output, features } = this;
    const address = this.#latch.column;
    this.#enhancedAllowed = false;
    this.#open.abandon(atNs);
    this.#dataInFromNs = atNs + this.timing.adlNs;
    this.#dataOutFromNs = atNs + this.timing.whrNs;
    if (opcode === Opcode.SetFeatures) openFeature(lun, features, this.#intake, address, atNs);
    else if (opcode === Opcode.GetFeatures) getFeature(lun, output, features, address, atNs);
    else identify(lun, output, opcode, address, atNs);
  }

  #reset(opcode: number, atNs: number): void {
    resetLun(this.lun, atNs);
    if (opcode === Opcode.Reset) this.features.reset();
    if (opcode === Opcode.SynchronousReset) this.features.synchronousReset();
    this.#forget();
    this.output.reset();
  }

  /** Nothing is latched or open. */
  #forget(): void {
    this.#latch.end();
    this.#open.reset();
    this.#intake.end();
    this.#deaf = false;
  }

  save(): Saved {
    return {
      lun: this.lun.save(),
      features: this.features.save(),
      output: this.output.save(),
      latch: this.#latch.save(),
      open: this.#open.save(),
      intake: this.#intake.save(),
      deselected: this.#deselected,
      deaf: this.#deaf,
      dataInFromNs: this.#dataInFromNs,
      dataOutFromNs: this.#dataOutFromNs,
      enhancedAllowed: this.#enhancedAllowed,
    };
  }

  restore(saved: Saved): void {
    this.lun.restore(saved.lun as Saved);
    this.features.restore(saved.features as Saved);
    this.output.restore(saved.output as Saved);
    this.#latch.restore(saved.latch as Saved);
    this.#open.restore(saved.open as Saved);
    this.#intake.restore(saved.intake as Saved);
    this.#deselected = saved.deselected as boolean;
    this.#deaf = saved.deaf as boolean;
    this.#dataInFromNs = saved.dataInFromNs as number;
    this.#dataOutFromNs = saved.dataOutFromNs as number;
    this.#enhancedAllowed = saved.enhancedAllowed as boolean;
  }
}
