/**
 * The kinds of faults as a table: what each is about, what it may name, what it needs.
 *
 * The table drives the matching, the JSON form, the command line and its help.
 */

import {
  FAULT_REGIONS,
  type Fault,
  type FaultKind,
  type FaultPlace,
  FIS_TYPES,
  OPERATIONS,
  type OperationName,
} from './fault.ts';

export type FaultFamily = 'flash' | 'link' | 'memory';
export type PlaceField = keyof FaultPlace;

/** What a field of a fault may hold. */
export type FieldRule =
  | { readonly whole: boolean; readonly least: number; readonly most: number }
  | { readonly names: readonly string[] }
  | { readonly lettersMax: number };

export interface FaultParameter {
  readonly rule: FieldRule;
  readonly isNeeded: boolean;
}

export interface FaultKindRow {
  readonly family: FaultFamily;
  readonly says: string;
  /** Operations it is about; of the flash family only. */
  readonly operations: readonly OperationName[];
  /** `op` may narrow the operations. */
  readonly choosesOperation: boolean;
  /** Fires once unless said otherwise; the others fire whenever they fit. */
  readonly isTransient: boolean;
  readonly place: readonly PlaceField[];
  readonly neededPlace: readonly PlaceField[];
  readonly parameters: Readonly<Record<string, FaultParameter>>;
}

/** Descriptor columns that a flip may hit, with their bits; true: one value a slot. */
export const DESCRIPTOR_FIELDS: Readonly<Record<string, { bits: number; isPerSlot: boolean }>> = {
  op: { bits: 8, isPerSlot: false },
  die: { bits: 32, isPerSlot: false },
  block: { bits: 32, isPerSlot: false },
  page: { bits: 32, isPerSlot: false },
  slotMask: { bits: 8, isPerSlot: false },
  urgent: { bits: 8, isPerSlot: false },
  status: { bits: 8, isPerSlot: false },
  owner: { bits: 8, isPerSlot: false },
  argument: { bits: 32, isPerSlot: false },
  content: { bits: 32, isPerSlot: true },
  pageWord: { bits: 32, isPerSlot: true },
  order: { bits: 32, isPerSlot: true },
  target: { bits: 32, isPerSlot: true },
};

/** More than any drive has of anything, and still exact as a 32-bit mask or count. */
export const NUMBER_MAX = 2 ** 31 - 1;
/** Bits of a codeword that may be wrong at most: more than any codeword has. */
const BIT_ERRORS_MAX = 65_535;
const SLOWEST_FACTOR = 1_000_000;

const needed = (rule: FieldRule): FaultParameter => ({ rule, isNeeded: true });
const optional = (rule: FieldRule): FaultParameter => ({ rule, isNeeded: false });
const whole = (least: number, most: number): FieldRule => ({ whole: true, least, most });
const names = (list: readonly string[]): FieldRule => ({ names: list });

const DIE: readonly PlaceField[] = ['channel', 'die'];
const BLOCK: readonly PlaceField[] = [...DIE, 'plane', 'block', 'region'];
const PAGE: readonly PlaceField[] = [...BLOCK, 'page'];
const SLOT: readonly PlaceField[] = [...PAGE, 'slot'];
const FRAME = { fis: optional(names(Object.keys(FIS_TYPES))) };

const FLASH: FaultKindRow = {
  family: 'flash',
  says: '',
  operations: OPERATIONS,
  choosesOperation: false,
  isTransient: false,
  place: PAGE,
  neededPlace: [],
  parameters: {},
};
const LINK: FaultKindRow = {
  ...FLASH,
  ...{ family: 'link', operations: [], isTransient: true, place: [], parameters: FRAME },
};
const MEMORY: FaultKindRow = { ...LINK, family: 'memory' };

/** The kinds that a command may narrow, and that pass by. */
const PASSING = { choosesOperation: true, isTransient: true };

export const FAULT_KINDS: Readonly<Record<FaultKind, FaultKindRow>> = {
  'bit-errors': {
    ...{ ...FLASH, says: 'codewords read with more wrong bits', operations: ['read'], place: SLOT },
    parameters: { count: needed(whole(1, BIT_ERRORS_MAX)) },
  },
  uncorrectable: {
    ...{ ...FLASH, says: 'slots read as uncorrectable', operations: ['read'], place: SLOT },
  },
  'program-fail': { ...FLASH, says: 'a program reports FAIL', operations: ['program'] },
  'erase-fail': {
    ...{ ...FLASH, says: 'an erase reports FAIL', operations: ['erase'], place: BLOCK },
  },
  'silent-no-op': {
    ...{ ...FLASH, ...PASSING, says: 'an operation reports Ok and does nothing' },
    operations: ['program', 'erase'],
  },
  'stuck-busy': { ...FLASH, ...PASSING, says: 'a die stays busy until it is reset' },
  'status-timeout': { ...FLASH, ...PASSING, says: 'READ STATUS is not answered in time' },
  'slow-die': {
    ...{ ...FLASH, says: 'operations take longer', choosesOperation: true },
    parameters: { factor: needed({ whole: false, least: 1, most: SLOWEST_FACTOR }) },
  },
  'dead-die': { ...FLASH, says: 'a die answers nothing', place: DIE, neededPlace: ['die'] },
  'dead-channel': {
    ...{ ...FLASH, says: 'no die of a channel answers', place: ['channel'] },
    neededPlace: ['channel'],
  },
  'missing-dq-bit': {
    ...{ ...FLASH, says: 'a data line has one level in all reads', place: DIE },
    operations: ['read'],
    parameters: { bit: needed(whole(0, 7)), level: needed(whole(0, 1)) },
  },
  'wrong-block': {
    ...{ ...FLASH, says: 'operations go to another block of the die', choosesOperation: true },
    operations: ['read', 'program'],
    neededPlace: ['block'],
    parameters: { toBlock: needed(whole(0, NUMBER_MAX)) },
  },
  'power-cut': {
    ...{ ...FLASH, ...PASSING, says: 'power is lost at a fraction of an operation' },
    parameters: { fraction: needed({ whole: false, least: 0, most: 1 }) },
  },
  'dram-flip': {
    ...{ ...MEMORY, says: 'a bit of a DRAM region turns over' },
    parameters: {
      region: needed({ lettersMax: 40 }),
      byte: optional(whole(0, 2 ** 40)),
      cell: optional(whole(0, NUMBER_MAX)),
      bit: needed(whole(0, 31)),
    },
  },
  'sram-flip': {
    ...{ ...MEMORY, says: 'a bit of a flash descriptor turns over' },
    parameters: {
      descriptor: needed(whole(0, NUMBER_MAX)),
      field: needed(names(Object.keys(DESCRIPTOR_FIELDS))),
      slot: optional(whole(0, 7)),
      bit: needed(whole(0, 31)),
    },
  },
  'link-crc': { ...LINK, says: 'a frame arrives with a wrong CRC' },
  'lost-fis': { ...LINK, says: 'a frame does not arrive' },
};

export const FAULT_KIND_NAMES = Object.keys(FAULT_KINDS) as readonly FaultKind[];

/** How often a fault fires: as it says, else once where it passes by or counts to its nth. */
export function timesOf(fault: Fault): number {
  if (fault.times === 'unlimited') return Number.POSITIVE_INFINITY;
  if (fault.times !== undefined) return fault.times;
  const isOnce = FAULT_KINDS[fault.kind].isTransient || fault.when?.nth !== undefined;
  return isOnce ? 1 : Number.POSITIVE_INFINITY;
}

/** The operations that a fault is about. */
export function operationsOf(fault: Fault): readonly OperationName[] {
  const { operations } = FAULT_KINDS[fault.kind];
  return 'op' in fault && fault.op !== undefined ? [fault.op] : operations;
}

/** What the names of a place's regions are. */
export const REGION_RULE: FieldRule = names(FAULT_REGIONS);
