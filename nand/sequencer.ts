/**
 * The sequencer of the channels: spells operations as ONFI cycles, and says what they cost.
 *
 * Aragon hands over descriptors; the sequencer drives the dies with the cycles of the data sheet,
 * each at its own instant, inside one event. What a sequence takes on the bus is added up once from
 * the timing mode. Between the planes of a group the bus is held (tDBSY); status is read with 70h
 * once R/B# has gone high and the bus is free.
 */

import { FlashOp, type FlashOps } from '../hal/flash-ops.ts';
import type { Geometry } from '../hal/geometry.ts';
import { bitCount } from '../hal/sim/bits.ts';
import { invariant } from '../hal/sim/invariant.ts';
import { SLOT_BYTES } from '../hal/sim/units.ts';
import { CycleKind, type CycleListener } from './cycle-listener.ts';
import { type BusTiming, busTiming, dataNs } from './onfi/bus-timing.ts';
import type { OnfiDie } from './onfi/die.ts';
import { Opcode } from './onfi/opcodes.ts';
import { onfiTimesOf } from './onfi/times.ts';
import type { BusMode, NandPart } from './part.ts';
import type { RawPages, SlotRegister } from './slot-register.ts';

const ROW_CYCLES = 3;
const PAGE_ADDRESS_CYCLES = 5;
/** Bytes of the parameter page that identification reads. */
const PARAMETER_PAGE_BYTES = 256;
const FEATURE_TIMING_MODE = 0x01;
const SYNCHRONOUS = 0x10;

export class Sequencer {
  readonly timing: BusTiming;
  /** Watches the pins; null: no cycle is derived. */
  cycles: CycleListener | null = null;
  /** Ns of the bus by planes of the group: cycles of a read up to tWB, of an erase. */
  readonly readNs: Int32Array;
  readonly eraseNs: Int32Array;
  /** Ns of the bus of a program with the data of every plane, up to its confirm. */
  readonly programNs: number;
  /** Ns of the bus by planes of a data output: status and column change, without the bytes. */
  readonly outputNs: Int32Array;
  /** Ns of a status read. */
  readonly statusNs: number;
  /** Ns of `n` slots with their share of the spare area. */
  readonly slotsNs: Int32Array;
  /** Planes that the slots of each mask lie in, as bits. */
  readonly planesOf: Uint8Array;
  readonly #dies: readonly OnfiDie[];
  readonly #geometry: Geometry;
  readonly #pages: RawPages;
  readonly #ops: FlashOps;
  readonly #bus: BusMode;
  readonly #planeDataNs: number;
  readonly #dummyNs: number;
  readonly #readId = new Uint8Array(8);
  readonly #parameterPage = new Uint8Array(PARAMETER_PAGE_BYTES);

  constructor(
    dies: readonly OnfiDie[],
    geometry: Geometry,
    part: NandPart,
    bus: BusMode,
    pages: RawPages,
    ops: FlashOps,
  ) {
    this.#dies = dies;
    this.#geometry = geometry;
    this.#pages = pages;
    this.#ops = ops;
    this.#bus = bus;
    this.timing = busTiming(bus);
    const { commandCycleNs, adlNs, ccsNs, whrNs, wbNs, dataCycleNs } = this.timing;
    const { planes, slotsPerUnit, slotsPerPage } = geometry;
    const pageBytes = geometry.pageBytes + geometry.spareBytes;
    this.#dummyNs = onfiTimesOf(part).dummyBusyNs;
    this.#planeDataNs = dataNs(bus, pageBytes);
    const perPlane = (ns: (count: number) => number) =>
      Int32Array.from({ length: planes + 1 }, (_, count) => Math.ceil(ns(count)));
    const group = (count: number, onePlaneNs: number) =>
      count * onePlaneNs + Math.max(0, count - 1) * this.#dummyNs;
    const command = (addresses: number) => (1 + addresses) * commandCycleNs;
    this.readNs = perPlane((n) => group(n, command(PAGE_ADDRESS_CYCLES) + commandCycleNs) + wbNs);
    this.eraseNs = perPlane((n) => group(n, command(ROW_CYCLES) + commandCycleNs) + wbNs);
    const programPlane = command(PAGE_ADDRESS_CYCLES) + adlNs + this.#planeDataNs + commandCycleNs;
    this.programNs = Math.ceil(group(planes, programPlane) + wbNs);
    const status = commandCycleNs + whrNs + dataCycleNs;
    this.statusNs = status;
    const column = command(PAGE_ADDRESS_CYCLES) + commandCycleNs + ccsNs;
    this.outputNs = perPlane((n) => status + n * column);
    const masks = { length: 1 << slotsPerUnit };
    this.planesOf = Uint8Array.from(masks, (_, mask) => planesOf(mask, slotsPerPage));
    const slotBytes = pageBytes / slotsPerPage;
    this.slotsNs = Int32Array.from({ length: slotsPerUnit + 1 }, (_, n) =>
      dataNs(bus, Math.ceil(n * slotBytes)),
    );
  }

  /**
   * Spells the cycles of an operation, from `atNs` on the bus.
   * @param readyNs instant at which the array has said that the die is ready again
   */
  spell(die: number, op: number, block: number, atNs: number, readyNs: number): void {
    const ops = this.#ops;
    const page = ops.page[op]!;
    const kind = ops.op[op] as FlashOp;
    if (kind === FlashOp.Program) this.#startProgram(die, block, page, op, atNs);
    else if (kind === FlashOp.Erase) this.#startErase(die, block, atNs);
    else {
      const planeMask = this.planesOf[ops.slotMask[op]!]!;
      this.#startRead(die, block, page, planeMask, atNs);
    }
    const agree = this.#dies[die]!.readyAtNs === readyNs;
    invariant(agree, 'a die driven by its cycles is ready when the array says so');
  }

  /** A read of a page in the planes of `planeMask`. */
  #startRead(die: number, block: number, page: number, planeMask: number, atNs: number): void {
    const chip = this.#dies[die]!;
    const addressNs = (1 + PAGE_ADDRESS_CYCLES) * this.timing.commandCycleNs;
    let now = atNs;
    for (let plane = 0, rest = planeMask; rest !== 0; plane++, rest >>>= 1) {
      if ((rest & 1) === 0) continue;
      chip.latchAddress(Opcode.ReadPage, 0, block + plane, page, now);
      this.#traceRow(die, Opcode.ReadPage, block + plane, page, now, 0);
      now += addressNs;
      const confirm = rest === 1 ? Opcode.ReadConfirm : Opcode.ReadMultiPlaneConfirm;
      now = this.#confirm(die, confirm, now);
    }
  }

  /** A program of every plane with the slots of a descriptor. */
  #startProgram(die: number, block: number, page: number, op: number, atNs: number): void {
    const chip = this.#dies[die]!;
    const { planes } = this.#geometry;
    const { commandCycleNs, adlNs } = this.timing;
    let now = atNs;
    for (let plane = 0; plane < planes; plane++) {
      const opcode = Opcode.ProgramPage;
      chip.latchAddress(opcode, 0, block + plane, page, now);
      this.#traceRow(die, opcode, block + plane, page, now, 0);
      now += (1 + PAGE_ADDRESS_CYCLES) * commandCycleNs + adlNs;
      const firstSlot = this.#geometry.slotOf(die, block + plane, page, 0);
      (chip.cacheRegister(plane) as SlotRegister).stage(op, plane, firstSlot);
      this.#traceProgramData(die, op, plane, firstSlot, now);
      now += this.#planeDataNs;
      const last = plane === planes - 1;
      const confirm = last ? Opcode.ProgramConfirm : Opcode.ProgramMultiPlaneConfirm;
      now = this.#confirm(die, confirm, now);
    }
  }

  /** An erase of a block in every plane. */
  #startErase(die: number, block: number, atNs: number): void {
    const chip = this.#dies[die]!;
    const { planes } = this.#geometry;
    const addressNs = (1 + ROW_CYCLES) * this.timing.commandCycleNs;
    let now = atNs;
    for (let plane = 0; plane < planes; plane++) {
      chip.latchAddress(Opcode.EraseBlock, 0, block + plane, 0, now);
      this.#traceRow(die, Opcode.EraseBlock, block + plane, 0, now, -1);
      now += addressNs;
      const last = plane === planes - 1;
      now = this.#confirm(die, last ? Opcode.EraseConfirm : Opcode.EraseMultiPlaneConfirm, now);
    }
  }

  /**
   * Reads the status and brings the slots of `slotMask` out; the bus is its from `atNs`.
   * @returns the status byte
   */
  output(die: number, block: number, page: number, slotMask: number, atNs: number): number {
    const chip = this.#dies[die]!;
    const { slotsPerPage } = this.#geometry;
    const planeSlots = (1 << slotsPerPage) - 1;
    const { commandCycleNs, whrNs, dataCycleNs, ccsNs } = this.timing;
    const status = this.#status(die, atNs);
    let now = atNs + commandCycleNs + whrNs + dataCycleNs;
    for (let plane = 0, rest = slotMask; rest !== 0; plane++, rest >>>= slotsPerPage) {
      const slots = rest & planeSlots;
      if (slots === 0) continue;
      const column = (31 - Math.clz32(slots & -slots)) * SLOT_BYTES;
      const opcode = Opcode.ChangeReadColumnEnhanced;
      chip.latchAddress(opcode, column, block + plane, page, now);
      this.#traceRow(die, opcode, block + plane, page, now, column);
      now += (1 + PAGE_ADDRESS_CYCLES) * commandCycleNs;
      chip.confirm(Opcode.ChangeReadColumnConfirm, now);
      this.#trace(die, CycleKind.Command, Opcode.ChangeReadColumnConfirm, now, commandCycleNs);
      now += commandCycleNs + ccsNs;
      // Again, for a listener that came while the die was sensing.
      const firstSlot = this.#geometry.slotOf(die, block + plane, page, 0);
      (chip.cacheRegister(plane) as SlotRegister).sense(firstSlot);
      this.#traceOutput(die, plane, slots, now);
      now += this.slotsNs[bitCount(slots)]!;
    }
    return status;
  }

  /** Reads the status of an operation that moves no data. */
  status(die: number, atNs: number): number {
    return this.#status(die, atNs);
  }

  /**
   * Brings a die up: reset, id, parameter page, timing mode. Takes less than the ROM allows for it.
   * @returns READ ID and the first copy of the parameter page
   */
  identify(
    die: number,
    atNs: number,
    afterNs: number,
  ): { id: Uint8Array; parameterPage: Uint8Array } {
    const chip = this.#dies[die]!;
    const cycleNs = chip.timing.commandCycleNs;
    const send = (opcode: number, address: number, fromNs: number) => {
      chip.command(opcode, fromNs);
      this.#trace(die, CycleKind.Command, opcode, fromNs, cycleNs);
      chip.address(address, fromNs + cycleNs);
      this.#trace(die, CycleKind.Address, address, fromNs + cycleNs, cycleNs);
      return fromNs + 2 * cycleNs;
    };
    // The dies of a channel are reset one behind the other, and then asked in their turns.
    const way = Math.floor(die / this.#geometry.channels);
    const resetNs = Math.max(atNs, chip.readyAtNs) + way * cycleNs;
    chip.command(Opcode.Reset, resetNs);
    this.#trace(die, CycleKind.Command, Opcode.Reset, resetNs, cycleNs);
    let now = Math.max(chip.readyAtNs, atNs + afterNs);
    now = send(Opcode.ReadId, 0x00, now) + chip.timing.whrNs;
    chip.readData(this.#readId, now);
    now += this.#readId.length * chip.timing.dataCycleNs + chip.timing.rhwNs;
    send(Opcode.ReadParameterPage, 0x00, now);
    now = chip.readyAtNs + chip.timing.rrNs;
    chip.readData(this.#parameterPage, now);
    now += PARAMETER_PAGE_BYTES * chip.timing.dataCycleNs + chip.timing.rhwNs;
    now = send(Opcode.SetFeatures, FEATURE_TIMING_MODE, now) + chip.timing.adlNs;
    const interfaceBits = this.#bus.synchronous ? SYNCHRONOUS : 0;
    chip.writeData(Uint8Array.of(interfaceBits | this.#bus.mode, 0, 0, 0), now);
    now = chip.readyAtNs;
    chip.chipEnable(1, now);
    chip.chipEnable(0, now + onfiTimesOf(chip.lun.part).interfaceChangeNs);
    return { id: this.#readId.slice(), parameterPage: this.#parameterPage.slice() };
  }

  /** A confirm and what follows it on the bus; returns the instant of the next cycle. */
  #confirm(die: number, opcode: number, atNs: number): number {
    const chip = this.#dies[die]!;
    const { commandCycleNs } = this.timing;
    const beganNs = atNs + commandCycleNs;
    chip.confirm(opcode, beganNs);
    this.#trace(die, CycleKind.Command, opcode, atNs, commandCycleNs);
    this.#trace(die, CycleKind.Busy, 0, beganNs, chip.readyAtNs - beganNs);
    return beganNs + this.#dummyNs;
  }

  #status(die: number, atNs: number): number {
    const { commandCycleNs, whrNs, dataCycleNs } = this.timing;
    this.#trace(die, CycleKind.Command, Opcode.ReadStatus, atNs, commandCycleNs);
    const status = this.#dies[die]!.status(atNs);
    const outNs = atNs + commandCycleNs + whrNs;
    const bytes = () => Uint8Array.of(status);
    this.cycles?.cycle(die, CycleKind.DataOut, 1, outNs, dataCycleNs, bytes);
    return status;
  }

  #trace(die: number, kind: CycleKind, value: number, atNs: number, ns: number): void {
    this.cycles?.cycle(die, kind, value, atNs, ns, null);
  }

  /** Opcode, column (left out when negative) and row, low byte first. */
  #traceRow(
    die: number,
    opcode: number,
    block: number,
    page: number,
    atNs: number,
    column: number,
  ): void {
    const { commandCycleNs } = this.timing;
    const row = (block << this.#geometry.pageBits) | page;
    this.#trace(die, CycleKind.Command, opcode, atNs, commandCycleNs);
    const bytes = [row & 0xff, (row >>> 8) & 0xff, (row >>> 16) & 0xff];
    if (column >= 0) bytes.unshift(column & 0xff, column >>> 8);
    let now = atNs;
    for (const byte of bytes) {
      now += commandCycleNs;
      this.#trace(die, CycleKind.Address, byte, now, commandCycleNs);
    }
  }

  #traceProgramData(die: number, op: number, plane: number, firstSlot: number, atNs: number): void {
    const pages = this.#pages;
    const bytes = () => pages.rawOfOp(op, plane, firstSlot);
    this.cycles?.cycle(die, CycleKind.DataIn, pages.rawBytes, atNs, this.#planeDataNs, bytes);
  }

  /**
   * Data of the slots, then their shares of the spare area. The change of column between the two is
   * left out, on the bus and here.
   */
  #traceOutput(die: number, plane: number, slots: number, atNs: number): void {
    const { pageBytes, spareBytes, slotsPerPage } = this.#geometry;
    const register = this.#dies[die]!.cacheRegister(plane);
    const spareShare = spareBytes / slotsPerPage;
    const count = bitCount(slots) * (SLOT_BYTES + spareShare);
    const bytes = () => {
      const out = new Uint8Array(count);
      let at = 0;
      const take = (column: number, size: number) => {
        register.read(column, out, at, size);
        at += size;
      };
      const held = Array.from({ length: slotsPerPage }, (_, slot) => slot);
      const wanted = held.filter((slot) => ((slots >>> slot) & 1) !== 0);
      for (const slot of wanted) take(slot * SLOT_BYTES, SLOT_BYTES);
      for (const slot of wanted) take(pageBytes + slot * spareShare, spareShare);
      return out;
    };
    this.cycles?.cycle(die, CycleKind.DataOut, count, atNs, dataNs(this.#bus, count), bytes);
  }
}

/** Planes that the slots of a descriptor's mask lie in, as bits. */
export function planesOf(slotMask: number, slotsPerPage: number): number {
  const planeSlots = (1 << slotsPerPage) - 1;
  let planes = 0;
  for (let plane = 0, rest = slotMask; rest !== 0; plane++, rest >>>= slotsPerPage) {
    if ((rest & planeSlots) !== 0) planes |= 1 << plane;
  }
  return planes;
}
