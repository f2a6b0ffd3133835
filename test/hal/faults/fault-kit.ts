/** Random faults and operations, and a list written without any of the list's short cuts. */
import fc from 'fast-check';
import { happens, seedHashOf } from '../../../hal/faults/chance.ts';
import {
  FAULT_REGIONS,
  type Fault,
  type FaultPlace,
  FIS_TYPES,
  type NumberRange,
} from '../../../hal/faults/fault.ts';
import { parseFault } from '../../../hal/faults/fault-file.ts';
import {
  DESCRIPTOR_FIELDS,
  FAULT_KIND_NAMES,
  FAULT_KINDS,
  type FieldRule,
  operationsOf,
  timesOf,
} from '../../../hal/faults/fault-kinds.ts';
import { FlashOp } from '../../../hal/flash-ops.ts';
import { Geometry } from '../../../hal/geometry.ts';

/** Small, so that random places meet: 2 channels x 2 dies, 2 planes, 8 blocks, 4 pages, 2 slots. */
export const SMALL = new Geometry({
  ...{ channels: 2, diesPerChannel: 2, planes: 2, blocksPerDie: 8, pagesPerBlock: 4 },
  ...{ pageBytes: 8192, spareBytes: 448 },
});

export interface Operation {
  readonly op: FlashOp;
  readonly die: number;
  readonly block: number;
  readonly page: number;
  readonly slotMask: number;
}

export const anyOperation: fc.Arbitrary<Operation> = fc.record({
  op: fc.constantFrom(FlashOp.Read, FlashOp.Program, FlashOp.Erase),
  die: fc.nat({ max: 3 }),
  block: fc.nat({ max: 3 }).map((pair) => pair * 2),
  page: fc.nat({ max: 3 }),
  slotMask: fc.integer({ min: 1, max: 15 }),
});

/** What a page holds, for the tests: any pure function will do. */
export function regionOfBlock(die: number, block: number): string {
  return FAULT_REGIONS[(die + (block >> 1)) % FAULT_REGIONS.length]!;
}

const COUNTS = { channel: 2, die: 4, plane: 2, block: 8, page: 4, slot: 2 };

function anyRange(count: number): fc.Arbitrary<NumberRange> {
  const number = fc.nat({ max: count - 1 });
  const pair = fc
    .tuple(number, number)
    .map(([one, other]): NumberRange => [Math.min(one, other), Math.max(one, other)]);
  return fc.oneof(number, pair);
}

function anyByRule(rule: FieldRule): fc.Arbitrary<unknown> {
  if ('names' in rule) return fc.constantFrom(...rule.names);
  if ('lettersMax' in rule) return fc.string({ minLength: 1, maxLength: rule.lettersMax });
  const max = Math.min(rule.most, 1000);
  if (rule.whole) return fc.integer({ min: rule.least, max });
  return fc.double({ min: rule.least, max, noNaN: true });
}

/** A value, or in half of the cases none. */
function maybe<Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> {
  return fc.option(value, { nil: undefined });
}

const anyTime = fc
  .record({
    nth: maybe(fc.integer({ min: 1, max: 5 })),
    from: maybe(fc.nat({ max: 20 })),
    to: maybe(fc.integer({ min: 20, max: 60 })),
  })
  .map(withoutGaps);

function withoutGaps(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Drafts of faults: those that contradict themselves are sorted out by the check. */
const anyDraft: fc.Arbitrary<unknown> = fc.constantFrom(...FAULT_KIND_NAMES).chain((kind) => {
  const row = FAULT_KINDS[kind];
  const parameters = Object.entries(row.parameters).map(([name, { rule, isNeeded }]) => [
    name,
    isNeeded ? anyByRule(rule) : maybe(anyByRule(rule)),
  ]);
  const place = row.place.map((name) => {
    const part = name === 'region' ? fc.constantFrom(...FAULT_REGIONS) : anyRange(COUNTS[name]);
    return [name, row.neededPlace.includes(name) ? part : maybe(part as fc.Arbitrary<unknown>)];
  });
  const where = fc.record(Object.fromEntries(place)).map(withoutGaps);
  return fc
    .record({
      kind: fc.constant(kind),
      note: maybe(fc.string({ minLength: 1, maxLength: 10 })),
      ...Object.fromEntries(parameters),
      op: row.choosesOperation ? maybe(fc.constantFrom(...row.operations)) : fc.constant(undefined),
      where: row.place.length === 0 ? fc.constant(undefined) : where,
      when: maybe(anyTime),
      times: maybe(fc.oneof(fc.integer({ min: 1, max: 4 }), fc.constant('unlimited' as const))),
      probability: maybe(fc.double({ min: 0, max: 1, noNaN: true })),
    })
    .map(withoutGaps)
    .map(mended);
});

/** Puts right what random values would seldom hit. */
function mended(draft: object): unknown {
  const fault = { ...draft } as Record<string, unknown>;
  if (fault.kind === 'dram-flip') {
    if (fault.byte !== undefined) delete fault.cell;
    else fault.cell ??= 3;
    if (fault.byte !== undefined) fault.bit = Number(fault.bit) % 8;
  }
  if (fault.kind === 'sram-flip') {
    const { bits, isPerSlot } = DESCRIPTOR_FIELDS[String(fault.field)]!;
    fault.bit = Number(fault.bit) % bits;
    if (isPerSlot) fault.slot = Number(fault.slot ?? 0) % SMALL.slotsPerUnit;
    else delete fault.slot;
  }
  if (fault.kind === 'wrong-block') fault.toBlock = Number(fault.toBlock) % SMALL.blocksPerDie;
  return fault;
}

function isFault(draft: unknown): boolean {
  try {
    parseFault(draft, 'fault', { geometry: SMALL });
    return true;
  } catch {
    return false;
  }
}

export const anyFault: fc.Arbitrary<Fault> = anyDraft.filter(isFault) as fc.Arbitrary<Fault>;

/** Faults of a flash operation only. */
export const anyFlashFault = anyFault.filter(({ kind }) => FAULT_KINDS[kind].family === 'flash');

function isIn(value: number, range: NumberRange | undefined): boolean {
  if (range === undefined) return true;
  return typeof range === 'number' ? value === range : value >= range[0] && value <= range[1];
}

/** One fault and its counts, by the words of the documentation. */
export class NaiveFault {
  matched = 0;
  fired = 0;
  private readonly id: number;
  readonly fault: Fault;
  private readonly seed: string;

  constructor(id: number, fault: Fault, seed: string) {
    this.id = id;
    this.fault = fault;
    this.seed = seed;
  }

  /** Slots of a flash operation that the fault hits now: 0 when it does not fire. */
  onFlash(operation: Operation, ordinal: number): number {
    const slots = this.slotsOf(operation);
    return slots !== 0 && this.fires(ordinal) ? slots : 0;
  }

  onFrame(fisType: number, ordinal: number): boolean {
    const { fault } = this;
    if (fault.kind !== 'link-crc' && fault.kind !== 'lost-fis') return false;
    if (fault.fis !== undefined && FIS_TYPES[fault.fis] !== fisType) return false;
    return this.fires(ordinal);
  }

  /** What `when`, `times` and `probability` say of an operation that fits. */
  fires(ordinal: number): boolean {
    const { when, probability = 1 } = this.fault;
    if (ordinal < (when?.from ?? 0) || ordinal > (when?.to ?? ordinal)) return false;
    if (this.fired >= timesOf(this.fault)) return false;
    this.matched++;
    if (when?.nth !== undefined && this.matched < when.nth) return false;
    if (!happens(seedHashOf(this.seed), this.id, this.matched, probability)) return false;
    this.fired++;
    return true;
  }

  private slotsOf({ op, die, block, page, slotMask }: Operation): number {
    const { fault } = this;
    if (FAULT_KINDS[fault.kind].family !== 'flash') return 0;
    const name = (['read', 'program', 'erase'] as const)[op]!;
    if (!operationsOf(fault).includes(name)) return 0;
    const where: FaultPlace = ('where' in fault ? fault.where : undefined) ?? {};
    if (op === FlashOp.Erase && where.page !== undefined) return 0;
    if (op !== FlashOp.Erase && !isIn(page, where.page)) return 0;
    if (!isIn(die, where.die) || !isIn(die % SMALL.channels, where.channel)) return 0;
    if (where.region !== undefined && regionOfBlock(die, block) !== where.region) return 0;
    let slots = 0;
    for (let j = 0; j < SMALL.slotsPerUnit; j++) {
      const plane = Math.floor(j / SMALL.slotsPerPage);
      if (op === FlashOp.Read && ((slotMask >> j) & 1) === 0) continue;
      if (!isIn(plane, where.plane) || !isIn(block + plane, where.block)) continue;
      if (isIn(j % SMALL.slotsPerPage, where.slot)) slots |= 1 << j;
    }
    return slots;
  }
}
