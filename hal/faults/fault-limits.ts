/**
 * Whether a fault fits a drive: numbers that lie beyond it, places that no operation can be at.
 */

import type { Geometry } from '../geometry.ts';
import { BadFault, type Fault, type FaultPlace, type NumberRange } from './fault.ts';
import { hint, type Suggest } from './fault-fields.ts';
import { DESCRIPTOR_FIELDS, type PlaceField } from './fault-kinds.ts';

/** What is known of the drive; what is missing is not checked. */
export interface FaultLimits {
  readonly geometry?: Geometry;
  readonly dramRegions?: readonly { readonly name: string; readonly bytes: number }[];
  /** Flash descriptors in SRAM. */
  readonly descriptors?: number;
  readonly suggest?: Suggest;
}

const CELL_BYTES = 4;
const BITS_PER_BYTE = 8;

/** Throws BadFault when the fault cannot be on the drive, or contradicts itself. */
export function checkFits(fault: Fault, path: string, limits: FaultLimits): void {
  const { geometry } = limits;
  const where = 'where' in fault ? fault.where : undefined;
  if (geometry !== undefined && where !== undefined) checkPlace(where, `${path}.where`, geometry);
  switch (fault.kind) {
    case 'wrong-block':
      if (geometry !== undefined) checkRedirection(fault, path, geometry);
      return;
    case 'dram-flip':
      checkDram(fault, path, limits);
      return;
    case 'sram-flip':
      checkDescriptor(fault, path, limits);
  }
}

/** One past the last of each part of a place, and whose last it is. */
function placeCounts(geometry: Geometry): [PlaceField, number, string][] {
  return [
    ['channel', geometry.channels, "the drive's last channel"],
    ['die', geometry.dies, "the drive's last die"],
    ['plane', geometry.planes, "the die's last plane"],
    ['block', geometry.blocksPerDie, "the die's last block"],
    ['page', geometry.pagesPerBlock, "the block's last page"],
    ['slot', geometry.slotsPerPage, "the page's last slot"],
  ];
}

function checkPlace(where: FaultPlace, path: string, geometry: Geometry): void {
  for (const [field, count, last] of placeCounts(geometry)) {
    const [, high] = bounds(where[field] as NumberRange | undefined);
    if (Number.isFinite(high)) checkBelow(high, count, `${path}.${field}`, last);
  }
  const { channels, planes } = geometry;
  if (where.die !== undefined && !isMet(where.die, where.channel, channels)) {
    throw new BadFault(`${path}.die`, `no such die is on the channel: die d is on d % ${channels}`);
  }
  if (where.block !== undefined && !isMet(where.block, where.plane, planes)) {
    throw new BadFault(
      `${path}.block`,
      `no such block is in the plane: block b is in b % ${planes}`,
    );
  }
}

function checkBelow(value: number, count: number, path: string, last: string): void {
  if (value < count) return;
  throw new BadFault(path, `${value} is beyond ${last} ${count - 1}`);
}

/** Whether a number of `range` has a remainder in `rest`. */
function isMet(range: NumberRange, rest: NumberRange | undefined, divisor: number): boolean {
  const [low, high] = bounds(range);
  const [restLow, restHigh] = bounds(rest);
  for (let value = low; value <= high && value < low + divisor; value++) {
    if (value % divisor >= restLow && value % divisor <= restHigh) return true;
  }
  return false;
}

function bounds(range: NumberRange | undefined): readonly [number, number] {
  if (range === undefined) return [0, Number.POSITIVE_INFINITY];
  return typeof range === 'number' ? [range, range] : range;
}

function checkRedirection(
  fault: Fault & { kind: 'wrong-block' },
  path: string,
  { planes, blocksPerDie }: Geometry,
): void {
  const { toBlock, where } = fault;
  checkBelow(toBlock, blocksPerDie, `${path}.toBlock`, "the die's last block");
  const block = where?.block;
  if (typeof block !== 'number' || block % planes === toBlock % planes) return;
  const right = toBlock - (toBlock % planes) + (block % planes);
  throw new BadFault(
    `${path}.toBlock`,
    `${toBlock} is not in the plane of block ${block}; ${right} would be`,
  );
}

function checkDram(
  fault: Fault & { kind: 'dram-flip' },
  path: string,
  { dramRegions, suggest = () => null }: FaultLimits,
): void {
  const { region, byte, cell, bit } = fault;
  if ((byte === undefined) === (cell === undefined)) {
    throw new BadFault(path, 'give either "byte" or "cell"');
  }
  if (byte !== undefined && bit >= BITS_PER_BYTE) {
    throw new BadFault(`${path}.bit`, `${bit} is beyond a byte's last bit 7`);
  }
  if (dramRegions === undefined) return;
  const found = dramRegions.find(({ name }) => name === region);
  if (found === undefined) {
    const names = dramRegions.map(({ name }) => name);
    throw new BadFault(`${path}.region`, `no region "${region}"${hint(region, names, suggest)}`);
  }
  if (byte !== undefined) checkBelow(byte, found.bytes, `${path}.byte`, "the region's last byte");
  if (cell === undefined) return;
  const cells = Math.floor(found.bytes / CELL_BYTES);
  checkBelow(cell, cells, `${path}.cell`, "the region's last cell");
}

function checkDescriptor(
  fault: Fault & { kind: 'sram-flip' },
  path: string,
  { descriptors, geometry }: FaultLimits,
): void {
  const { descriptor, field, slot, bit } = fault;
  const { bits, isPerSlot } = DESCRIPTOR_FIELDS[field]!;
  if (bit >= bits) {
    throw new BadFault(`${path}.bit`, `${bit} is beyond the last bit ${bits - 1} of ${field}`);
  }
  if (isPerSlot !== (slot !== undefined)) {
    const says = isPerSlot ? 'holds one value a slot: say which' : 'holds one value for all slots';
    throw new BadFault(`${path}.slot`, `the field ${field} ${says}`);
  }
  if (descriptors !== undefined) {
    checkBelow(descriptor, descriptors, `${path}.descriptor`, 'the last descriptor');
  }
  if (slot !== undefined && geometry !== undefined) {
    checkBelow(slot, geometry.slotsPerUnit, `${path}.slot`, "the descriptor's last slot");
  }
}
