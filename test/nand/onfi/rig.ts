/**
 * A die on a bench: a raw array behind it, a clock that the test moves, and the broken rules by
 * name. Cycles wait out the timing of the bus, so a rule is broken only on purpose.
 */
import { OnfiDie } from '../../../nand/onfi/die.ts';
import { MOVE_STRIDE } from '../../../nand/onfi/lun.ts';
import { LUN_TABLE } from '../../../nand/onfi/lun-table.ts';
import { RawDieArray } from '../../../nand/onfi/raw-die-array.ts';
import { ViolationRule } from '../../../nand/onfi/rules.ts';
import { type NandPart, nandPart } from '../../../nand/part.ts';

export const L74A = nandPart('imft-25nm-64gbit');
export const TOY = nandPart('toy');
export const READ_LSB = 45_000;
export const PROGRAM_LSB = 560_000;
export const ERASE = 3_800_000;
/** Longer than any tADL, tCCS, tWHR or tRR. */
const SETTLING_NS = 300;

export interface Place {
  readonly block: number;
  readonly page: number;
  readonly column?: number;
}

export class OnfiRig {
  nowNs = 0;
  readonly broken: string[] = [];
  readonly array: RawDieArray;
  readonly die: OnfiDie;
  readonly part: NandPart;

  constructor(part: NandPart = TOY, factoryBad: number[] = []) {
    this.part = part;
    this.array = new RawDieArray(part, factoryBad);
    const sink = {
      violation: (rule: ViolationRule) => {
        this.broken.push(ViolationRule[rule]);
      },
    };
    this.die = new OnfiDie({ part, array: this.array, sink, die: 0, serialNumber: 'TEST-1' });
  }

  /** A powered die after its first reset. */
  static ready(part: NandPart = TOY, factoryBad: number[] = []): OnfiRig {
    const rig = new OnfiRig(part, factoryBad);
    rig.die.powerOn(0);
    rig.wait();
    rig.command(0xff);
    rig.wait();
    return rig;
  }

  /** Until RDY. */
  wait(): this {
    this.nowNs = Math.max(this.nowNs, this.die.readyAtNs) + SETTLING_NS;
    this.die.settle(this.nowNs);
    return this;
  }

  /** Until ARDY. */
  waitArray(): this {
    this.nowNs = Math.max(this.nowNs, this.die.arrayReadyAtNs) + SETTLING_NS;
    this.die.settle(this.nowNs);
    return this;
  }

  pass(ns: number): this {
    this.nowNs += ns;
    this.die.settle(this.nowNs);
    return this;
  }

  command(...opcodes: number[]): this {
    for (const opcode of opcodes) this.die.command(opcode, this.nowNs);
    return this;
  }

  address(...bytes: number[]): this {
    for (const byte of bytes) this.die.address(byte, this.nowNs);
    return this;
  }

  /** Opcode and five address cycles; 60h, 78h and FAh take three. */
  at(opcode: number, { block, page, column = 0 }: Place): this {
    const row = block * this.part.pagesPerBlock + page;
    this.command(opcode);
    if (![0x60, 0x78, 0xfa].includes(opcode)) this.address(column & 0xff, column >>> 8);
    this.address(row & 0xff, (row >>> 8) & 0xff, row >>> 16);
    this.nowNs += SETTLING_NS;
    return this;
  }

  data(...bytes: number[]): this {
    this.die.writeData(Uint8Array.from(bytes), this.nowNs);
    return this;
  }

  read(count: number): number[] {
    this.nowNs += SETTLING_NS;
    const into = new Uint8Array(count);
    this.die.readData(into, this.nowNs);
    return [...into];
  }

  /** 70h and one byte. */
  status(): number {
    return this.command(0x70).read(1)[0]!;
  }

  /** 78h for a plane and one byte. */
  planeStatus(plane: number): number {
    return this.at(0x78, { block: plane, page: 0 }).read(1)[0]!;
  }

  program(place: Place, ...bytes: number[]): this {
    return this.at(0x80, place)
      .data(...bytes)
      .command(0x10)
      .wait();
  }

  readPage(place: Place, count: number): number[] {
    return this.at(0x00, place).command(0x30).wait().read(count);
  }

  erase(block: number): this {
    return this.at(0x60, { block, page: 0 }).command(0xd0).wait();
  }

  setFeature(address: number, p1: number): this {
    this.command(0xef).address(address);
    this.nowNs += SETTLING_NS;
    const twice = this.die.features.synchronous;
    return this.data(...[p1, 0, 0, 0].flatMap((byte) => (twice ? [byte, byte] : [byte]))).wait();
  }

  /** Interface and mode, with the pulse of CE# that brings it into effect. */
  setTiming(p1: number): this {
    this.setFeature(0x01, p1).pass(1_000);
    this.die.chipEnable(1, this.nowNs);
    this.die.chipEnable(0, this.nowNs);
    return this;
  }

  /** What a page holds, from `column` on. */
  stored(block: number, page: number, count = 4, column = 0): number[] {
    const cells = this.array.pageOf(block, page);
    return Array.from({ length: count }, (_, i) => cells?.[column + i] ?? 0xff);
  }
}

/** Every move between states as from * stride + to: what the table allows. */
export const TABLE_MOVES: ReadonlySet<number> = new Set(
  LUN_TABLE.transitions.map(({ from, to }) => from * MOVE_STRIDE + to),
);

/** The moves that a die has made. */
export function movesOf(die: OnfiDie): number[] {
  return [...die.lun.moveCount.keys()].filter((move) => die.lun.moveCount[move]! > 0);
}
