/**
 * A fault: what goes wrong, where, when and how often.
 *
 * A fault is plain data and lies over the truth: it decides what an operation reports or what a
 * reader sees, and never changes what is stored, so that it can be lifted and the truth compared.
 */

/** One number, or all from the first to the last of two. */
export type NumberRange = number | readonly [number, number];

/** Operations of the flash by the names of the JSON form, in the order of FlashOp. */
export const OPERATIONS = ['read', 'program', 'erase'] as const;
export type OperationName = (typeof OPERATIONS)[number];

/** What a page holds, as firmware lays the flash out. */
export const FAULT_REGIONS = ['boot', 'root', 'checkpoint', 'journal', 'footer', 'data'] as const;
export type FaultRegion = (typeof FAULT_REGIONS)[number];

/** A part of the array; a field that is missing holds everywhere. */
export interface FaultPlace {
  readonly channel?: NumberRange;
  /** Counted over the whole array, across the channels first. */
  readonly die?: NumberRange;
  readonly plane?: NumberRange;
  /** Counted within the die as ONFI does: the lowest bits are the plane. */
  readonly block?: NumberRange;
  /** A fault that names a page is about reads and programs: an erase has no page. */
  readonly page?: NumberRange;
  /** 4 KiB slot within its page. */
  readonly slot?: NumberRange;
  readonly region?: FaultRegion;
}

/** When an operation that fits the place is meant; all conditions hold together. */
export interface FaultTime {
  /** The nth operation that fits, from 1; with `times`, those after it too. */
  readonly nth?: number;
  /** First and last event ordinal, both included. */
  readonly from?: number;
  readonly to?: number;
}

/** The plain numbers of what is asked; a number that does not apply is -1. */
export interface FaultQuestion {
  readonly op: number;
  readonly die: number;
  /** Block of plane 0: the operation covers one block a plane. */
  readonly block: number;
  readonly page: number;
  readonly slotMask: number;
  readonly fisType: number;
  readonly ordinal: number;
}

/** A pure function of the question; without a JSON form. */
export type FaultCondition = (question: FaultQuestion) => boolean;

interface AnyFault {
  /** For the report. */
  readonly note?: string;
  readonly when?: FaultTime;
  /** How often it fires; see `timesOf` for what is meant when it is missing. */
  readonly times?: number | 'unlimited';
  /** Chance of each operation that fits, 0 to 1; decided by hash, so a run repeats. */
  readonly probability?: number;
  readonly if?: FaultCondition;
}

interface FlashFault extends AnyFault {
  readonly where?: FaultPlace;
}

/** Of the operations that the kind is about, only this one. */
interface ChoosesOperation {
  readonly op?: OperationName;
}

/** Every codeword of the slots reads with `count` wrong bits more. */
export interface BitErrors extends FlashFault {
  readonly kind: 'bit-errors';
  readonly count: number;
}

/** The slots read as uncorrectable. */
export interface Uncorrectable extends FlashFault {
  readonly kind: 'uncorrectable';
}

/** The die reports FAIL for a program. */
export interface ProgramFail extends FlashFault {
  readonly kind: 'program-fail';
}

/** The die reports FAIL for an erase. */
export interface EraseFail extends FlashFault {
  readonly kind: 'erase-fail';
}

/** The operation takes its time, reports Ok and does nothing. */
export interface SilentNoOp extends FlashFault, ChoosesOperation {
  readonly kind: 'silent-no-op';
}

/** The die stays busy until it is reset. */
export interface StuckBusy extends FlashFault, ChoosesOperation {
  readonly kind: 'stuck-busy';
}

/** The operation ends, but READ STATUS is not answered in time. */
export interface StatusTimeout extends FlashFault, ChoosesOperation {
  readonly kind: 'status-timeout';
}

/** The array's part of the operation takes `factor` times as long. */
export interface SlowDie extends FlashFault, ChoosesOperation {
  readonly kind: 'slow-die';
  readonly factor: number;
}

/** The die answers nothing. */
export interface DeadDie extends FlashFault {
  readonly kind: 'dead-die';
}

/** No die of the channel answers. */
export interface DeadChannel extends FlashFault {
  readonly kind: 'dead-channel';
}

/** One data line of the bus has one level in whatever is read. */
export interface MissingDqBit extends FlashFault {
  readonly kind: 'missing-dq-bit';
  readonly bit: number;
  readonly level: number;
}

/** An address line fails: operations on the blocks go to another block of the same die. */
export interface WrongBlock extends FlashFault, ChoosesOperation {
  readonly kind: 'wrong-block';
  readonly toBlock: number;
}

/** Power is lost when `fraction` of the operation's time has passed. */
export interface PowerCut extends FlashFault, ChoosesOperation {
  readonly kind: 'power-cut';
  readonly fraction: number;
}

/** A bit of a DRAM region turns over: of a byte (0 to 7) or of a table's cell (0 to 31). */
export interface DramFlip extends AnyFault {
  readonly kind: 'dram-flip';
  readonly region: string;
  readonly byte?: number;
  readonly cell?: number;
  readonly bit: number;
}

/** A bit of a flash descriptor in SRAM turns over. */
export interface SramFlip extends AnyFault {
  readonly kind: 'sram-flip';
  readonly descriptor: number;
  /** A column of FlashOps. */
  readonly field: string;
  /** For columns with one value a slot. */
  readonly slot?: number;
  readonly bit: number;
}

/** A frame arrives with a wrong CRC. */
export interface LinkCrc extends AnyFault {
  readonly kind: 'link-crc';
  /** Only frames of this type; any when missing. */
  readonly fis?: FisName;
}

/** A frame does not arrive. */
export interface LostFis extends AnyFault {
  readonly kind: 'lost-fis';
  readonly fis?: FisName;
}

export type Fault =
  | BitErrors
  | Uncorrectable
  | ProgramFail
  | EraseFail
  | SilentNoOp
  | StuckBusy
  | StatusTimeout
  | SlowDie
  | DeadDie
  | DeadChannel
  | MissingDqBit
  | WrongBlock
  | PowerCut
  | DramFlip
  | SramFlip
  | LinkCrc
  | LostFis;

export type FaultKind = Fault['kind'];
export type MemoryFault = DramFlip | SramFlip;

/** Frame types by name: the first byte of the frame (Serial ATA 3.1, 10.3). */
export const FIS_TYPES = {
  'register-host-to-device': 0x27,
  'register-device-to-host': 0x34,
  'dma-activate': 0x39,
  'dma-setup': 0x41,
  data: 0x46,
  'pio-setup': 0x5f,
  'set-device-bits': 0xa1,
} as const;
export type FisName = keyof typeof FIS_TYPES;

/** A set of faults and the seed of their chances, as a file holds it. */
export interface FaultDocument {
  readonly version: 1;
  readonly seed: string;
  readonly faults: readonly Fault[];
}

/** A fault that is none: where in it, and what would be right. */
export class BadFault extends Error {
  override readonly name = 'BadFault';
  /** The field, e.g. 'faults[2].where.block'. */
  readonly path: string;
  readonly problem: string;

  constructor(path: string, problem: string) {
    super(`${path}: ${problem}`);
    this.path = path;
    this.problem = problem;
  }
}
