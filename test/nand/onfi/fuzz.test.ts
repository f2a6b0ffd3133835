/**
 * Goal: no sequence of cycles, however senseless, brings the die out of its table, makes it throw,
 * or touches a page that was not addressed; both ways in mean the same; a saved die goes on as if
 * never saved.
 * Method: random cycles at random times, weighted towards sequences that make sense; blocks from 16
 * on are never addressed and hold known pages.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OnfiDie } from '../../../nand/onfi/die.ts';
import { OPCODES, Role } from '../../../nand/onfi/opcodes.ts';
import { movesOf, OnfiRig, TABLE_MOVES } from './rig.ts';

const GUARDED_BLOCKS = [16, 17, 33];
const ADDRESSED_BLOCKS = 16;
const OPENERS = OPCODES.filter(({ role }) => role === Role.Opener).map(({ opcode }) => opcode);
const OTHERS = OPCODES.filter(({ role }) => role !== Role.Opener).map(({ opcode }) => opcode);

interface Cycle {
  readonly what:
    | 'command'
    | 'address'
    | 'latch'
    | 'write'
    | 'read'
    | 'protect'
    | 'select'
    | 'power';
  readonly opcode: number;
  readonly block: number;
  readonly page: number;
  readonly column: number;
  readonly passNs: number;
}

const passNs = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 400 }) },
  { weight: 2, arbitrary: fc.constant(13_000) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 4_000_000 }) },
);
const common = {
  opcode: fc.oneof(fc.constantFrom(...OTHERS), fc.integer({ min: 0, max: 255 })),
  block: fc.integer({ min: 0, max: ADDRESSED_BLOCKS - 1 }),
  page: fc.integer({ min: 0, max: 5 }),
  column: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 0xffff })),
  passNs,
};
const cycle = (what: Cycle['what'], opcode = common.opcode) =>
  fc.record({ ...common, what: fc.constant(what), opcode });
/** The confirms that start work are likelier than chance would have them. */
const confirms = fc.constantFrom(0x10, 0x11, 0x15, 0x30, 0x31, 0x32, 0x35, 0x3f, 0xd0, 0xd1, 0xe0);
const anyCycle = fc.oneof(
  { weight: 8, arbitrary: cycle('latch', fc.constantFrom(...OPENERS)) },
  { weight: 8, arbitrary: cycle('command', confirms) },
  { weight: 3, arbitrary: cycle('command') },
  { weight: 2, arbitrary: cycle('address') },
  { weight: 4, arbitrary: cycle('write') },
  { weight: 3, arbitrary: cycle('read') },
  { weight: 1, arbitrary: cycle('protect') },
  { weight: 1, arbitrary: cycle('select') },
  { weight: 1, arbitrary: fc.oneof({ weight: 9, arbitrary: cycle('read') }, cycle('power')) },
);
const cycles = fc.array(anyCycle, { minLength: 20, maxLength: 80 });

/** How whole addresses go in. */
type Latch = (die: OnfiDie, cycle: Cycle, atNs: number) => void;

const latchAtOnce: Latch = (die, { opcode, column, block, page }, atNs) =>
  die.latchAddress(opcode, column, block, page, atNs);

const latchByCycles: Latch = (die, { opcode, column, block, page }, atNs) => {
  const row = block * 16 + page;
  const columnBytes = [column & 0xff, column >>> 8];
  const rowBytes = [row & 0xff, row >>> 8, 0];
  const count = OPCODES.find((row) => row.opcode === opcode)!.addressCycles;
  die.command(opcode, atNs);
  const bytes = count === 3 ? rowBytes : count === 5 ? [...columnBytes, ...rowBytes] : columnBytes;
  for (const byte of bytes.slice(0, count)) die.address(byte, atNs);
};

/** Carries one cycle out and returns what came back over the bus. */
function drive(rig: OnfiRig, given: Cycle, latch: Latch): number[] {
  const { die } = rig;
  const { what, opcode, column } = given;
  rig.nowNs += given.passNs;
  const atNs = rig.nowNs;
  if (what === 'command') die.command(opcode, atNs);
  // Single address bytes stay below the guarded blocks: 0 and 1 as any byte of a row.
  if (what === 'address') die.address(column & 1, atNs);
  if (what === 'latch') latch(die, given, atNs);
  if (what === 'write') die.writeData(Uint8Array.of(column & 0xff, column >>> 8, 1, 2), atNs);
  if (what === 'protect') die.writeProtect(column < 5 ? 0 : 1, atNs);
  if (what === 'select') die.chipEnable(column === 0 ? 1 : 0, atNs);
  if (what === 'power') {
    die.powerOff(atNs);
    die.powerOn(atNs);
    rig.wait().command(0xff);
  }
  const into = new Uint8Array(what === 'read' ? 4 : 0);
  if (what === 'read') die.readData(into, atNs);
  return [...into, die.readyAtNs, die.arrayReadyAtNs, die.status(atNs)];
}

function guardedRig(): OnfiRig {
  const rig = OnfiRig.ready();
  for (const block of GUARDED_BLOCKS) {
    for (let page = 0; page < 3; page++) rig.program({ block, page }, block, page, 0x5a);
  }
  return rig;
}

/** Single row bytes of 1 in the middle or high place reach block 16 or another LUN. */
function harmless(given: readonly Cycle[]): Cycle[] {
  return given.map((one) => (one.what === 'address' ? { ...one, column: 0 } : one));
}

describe('random cycles', () => {
  test('stay in the table, never throw, and leave other blocks alone', () => {
    const taken = new Set<number>();
    fc.assert(
      fc.property(cycles, (given) => {
        const rig = guardedRig();
        for (const one of harmless(given)) drive(rig, one, latchAtOnce);
        for (const move of movesOf(rig.die)) taken.add(move);
        if (movesOf(rig.die).some((move) => !TABLE_MOVES.has(move))) return false;
        rig.die.chipEnable(0, rig.nowNs);
        rig.waitArray().command(0xff).wait();
        return GUARDED_BLOCKS.every((block) =>
          [0, 1, 2].every((page) => {
            const [a, b, c, d] = rig.readPage({ block, page }, 4);
            return a === block && b === page && c === 0x5a && d === 0xff;
          }),
        );
      }),
      { numRuns: 300, seed: 25 },
    );
    // The fuzz is worth something only if it comes around: most rows of the table are taken.
    expect(taken.size).toBeGreaterThan(TABLE_MOVES.size / 2);
  });

  test('a die that is programmed by rules keeps every page it was given', () => {
    const writes = fc.array(fc.tuple(fc.integer({ min: 0, max: 7 }), fc.boolean(), fc.nat(255)), {
      minLength: 5,
      maxLength: 40,
    });
    fc.assert(
      fc.property(writes, (given) => {
        const rig = OnfiRig.ready();
        const expected = new Map<string, number>();
        const nextPage = new Map<number, number>();
        for (const [block, cached, value] of given) {
          const page = nextPage.get(block) ?? 0;
          if (page === rig.part.pagesPerBlock) continue;
          nextPage.set(block, page + 1);
          expected.set(`${block} ${page}`, value);
          rig
            .at(0x80, { block, page })
            .data(value)
            .command(cached ? 0x15 : 0x10)
            .wait();
        }
        rig.waitArray();
        const kept = [...expected].every(([place, value]) => {
          const [block, page] = place.split(' ').map(Number) as [number, number];
          return rig.stored(block, page, 1)[0] === value;
        });
        return kept && rig.broken.length === 0;
      }),
      { numRuns: 100, seed: 26 },
    );
  });
});

describe('both ways in', () => {
  test('whole addresses and single cycles give the same die', () => {
    fc.assert(
      fc.property(cycles, (given) => {
        const whole = guardedRig();
        const single = guardedRig();
        const ofWhole = given.map((one) => drive(whole, one, latchAtOnce));
        const ofSingle = given.map((one) => drive(single, one, latchByCycles));
        expect(ofSingle).toEqual(ofWhole);
        expect(single.broken).toEqual(whole.broken);
        return sameState(whole, single);
      }),
      { numRuns: 150, seed: 27 },
    );
  });
});

describe('a saved die', () => {
  test('goes on the same from any cycle', () => {
    fc.assert(
      fc.property(cycles, fc.nat(), (given, cut) => {
        const first = guardedRig();
        const at = cut % given.length;
        for (const one of given.slice(0, at)) drive(first, one, latchByCycles);
        const second = new OnfiRig();
        second.die.restore(first.die.save());
        second.array.restore(first.array.save());
        second.nowNs = first.nowNs;
        first.broken.length = 0;
        const rest = given.slice(at);
        const ofFirst = rest.map((one) => drive(first, one, latchByCycles));
        const ofSecond = rest.map((one) => drive(second, one, latchByCycles));
        expect(ofSecond).toEqual(ofFirst);
        expect(second.broken).toEqual(first.broken);
        return sameState(first, second);
      }),
      { numRuns: 150, seed: 28 },
    );
  });
});

/** A save as text; big arrays as hex, which compares faster than deep equality. */
function stateOf(rig: OnfiRig): string {
  const text = (_key: string, value: unknown) => {
    if (!ArrayBuffer.isView(value)) return value;
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  };
  return JSON.stringify([rig.die.save(), rig.array.save()], text);
}

function sameState(a: OnfiRig, b: OnfiRig): boolean {
  return stateOf(a) === stateOf(b);
}
