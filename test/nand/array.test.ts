import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FlashOp, FlashStatus } from '../../hal/flash-ops.ts';
import { History } from '../../hal/sim/history.ts';
import { InvariantBroken } from '../../hal/sim/invariant.ts';
import { COMMAND_NS } from '../../nand/channel.ts';
import { DIE_TABLE, DiePhase } from '../../nand/die-table.ts';
import { NandRig, type OpRequest } from '../kit/nand-rig.ts';

/** Data sheet times of the part, and what the fastest bus mode gives. */
const COMMAND = 350;
const READ_LSB = 45_000;
const READ_MSB = 65_000;
const PROGRAM_LSB = 560_000;
const PROGRAM_MSB = 2_040_000;
const ERASE = 3_800_000;
/** One slot of 4320 bytes, and a multi-plane page of 17280, at 5 ns a byte. */
const SLOT = 21_600;
const UNIT = 86_400;
/** Page 0 is an LSB page, page 4 its MSB partner. */
const MSB_PAGE = 4;

/** A page of four slots with recognisable content. */
function filled(die: number, page: number, seed = 0): OpRequest {
  const base = 1000 * seed + 100 * die + 4 * page;
  const numbers = [1, 2, 3, 4].map((j) => base + j);
  return {
    die,
    page,
    content: numbers,
    pageWord: numbers.map((n) => n + 10_000),
    order: numbers.map((n) => n + 20_000),
  };
}

/** A rig in which these pages of block pair 0 of die 0 are programmed. */
function programmedRig(...pages: number[]): NandRig {
  const rig = new NandRig();
  for (const page of pages) rig.program(filled(0, page));
  rig.timeline.runUntilQuiet();
  rig.ended.length = 0;
  rig.phases.length = 0;
  return rig;
}

describe('the time of one operation', () => {
  const timeOf = (start: (rig: NandRig) => void): number => {
    const rig = new NandRig();
    start(rig);
    rig.timeline.runUntilQuiet();
    return rig.timeline.nowNs;
  };

  it('a read of one slot: command, tR, data out', () => {
    expect(timeOf((rig) => rig.read({ die: 0 }))).toBe(COMMAND + READ_LSB + SLOT);
    expect(timeOf((rig) => rig.read({ die: 0, page: MSB_PAGE }))).toBe(COMMAND + READ_MSB + SLOT);
  });

  it('a read of more slots moves more data for one tR', () => {
    expect(timeOf((rig) => rig.read({ die: 0, slotMask: 0b1010 }))).toBe(
      COMMAND + READ_LSB + 2 * SLOT,
    );
    expect(timeOf((rig) => rig.read({ die: 0, slotMask: 0b1111 }))).toBe(COMMAND + READ_LSB + UNIT);
  });

  it('a program: command, data of both planes, tPROG', () => {
    expect(timeOf((rig) => rig.program({ die: 0 }))).toBe(COMMAND + UNIT + PROGRAM_LSB);
    expect(timeOf((rig) => rig.program({ die: 0, page: MSB_PAGE }))).toBe(
      COMMAND + UNIT + PROGRAM_MSB,
    );
  });

  it('an erase: command, tBERS', () => {
    expect(timeOf((rig) => rig.erase({ die: 0 }))).toBe(COMMAND + ERASE);
  });

  it('the command cycles are those of the channel', () => {
    expect(COMMAND_NS).toBe(COMMAND);
  });

  it('takes two events for read and program, one for erase', () => {
    const rig = new NandRig();
    rig.read({ die: 0 });
    rig.program({ die: 1 });
    rig.erase({ die: 2 });
    rig.timeline.runUntilQuiet();
    // Each end raises an interrupt, and no two ends fall together.
    expect(rig.timeline.ordinal).toBe(2 + 2 + 1 + 3);
  });
});

describe('dies and buses', () => {
  it('two dies of one channel share the bus but not the array', () => {
    const rig = new NandRig();
    // Dies 0 and 2 are on channel 0, die 1 has channel 1.
    for (const die of [0, 2, 1]) rig.program({ die });
    rig.timeline.runUntilQuiet();
    const alone = COMMAND + UNIT + PROGRAM_LSB;
    expect(rig.ended).toEqual([
      `0 Program @${alone}`,
      `1 Program @${alone}`,
      `2 Program @${alone + COMMAND + UNIT}`,
    ]);
    expect([...rig.array.channels.busyNs]).toEqual([2 * (COMMAND + UNIT), COMMAND + UNIT]);
  });

  it('data out waits for the bus; tR of the dies overlaps', () => {
    const rig = new NandRig();
    rig.read({ die: 0 });
    rig.read({ die: 2 });
    rig.timeline.runUntilQuiet();
    const first = COMMAND + READ_LSB + SLOT;
    expect(rig.ended).toEqual([`0 Read @${first}`, `2 Read @${first + SLOT}`]);
  });

  it('operations of one die run one at a time, in the order they came', () => {
    const rig = new NandRig();
    rig.read({ die: 0 });
    rig.read({ die: 0, page: 1 });
    rig.erase({ die: 0, block: 2 });
    expect([rig.array.waitingCount(0), rig.array.waitingCount(1)]).toEqual([2, 0]);
    rig.timeline.runUntilQuiet();
    const read = COMMAND + READ_LSB + SLOT;
    expect(rig.ended).toEqual([
      `0 Read @${read}`,
      `0 Read @${2 * read}`,
      `0 Erase @${2 * read + COMMAND + ERASE}`,
    ]);
  });

  it('urgent reads overtake what is queued, not what is under way, and keep their own order', () => {
    const rig = new NandRig();
    const under = rig.program(filled(0, 0));
    const queued = rig.program(filled(0, 1));
    const first = rig.read({ die: 0, page: 0, urgent: true });
    const second = rig.read({ die: 0, page: 0, slotMask: 2, urgent: true });
    expect([rig.array.currentOf(0), rig.array.waitingCount(0)]).toEqual([under, 3]);
    rig.timeline.runUntilQuiet();
    expect(rig.taken).toEqual([under, first, second, queued]);
    const programmed = COMMAND + UNIT + PROGRAM_LSB;
    const read = COMMAND + READ_LSB + SLOT;
    expect(rig.ended).toEqual([
      `0 Program @${programmed}`,
      `0 Read @${programmed + read}`,
      `0 Read @${programmed + 2 * read}`,
      `0 Program @${programmed + 2 * read + programmed}`,
    ]);
  });

  it('each end raises the flash interrupt and is taken once', () => {
    const rig = new NandRig();
    const ops = [0, 1, 2, 3].map((die) => rig.erase({ die }));
    rig.timeline.runUntilQuiet();
    expect([...rig.taken].sort()).toEqual(ops);
    expect(rig.array.takeDone()).toBe(-1);
    const flash = rig.interrupts.registers().registers.find((one) => one.name === 'INT_CNT_FLASH');
    expect(flash?.read()).toBe(4);
  });
});

describe('what is read', () => {
  it('is what was programmed: handle, page word and order, for the slots asked for', () => {
    const rig = programmedRig(0);
    const op = rig.read({ die: 0, slotMask: 0b1010 });
    rig.timeline.runUntilQuiet();
    expect([0, 1, 2, 3].map((j) => rig.slot(op, j))).toEqual([
      [0, 0, 0],
      [2, 10_002, 20_002],
      [0, 0, 0],
      [4, 10_004, 20_004],
    ]);
    expect(rig.ops.status[op]).toBe(FlashStatus.Ok);
  });

  it('is zeros from erased pages, in every column', () => {
    const rig = programmedRig(0);
    rig.erase({ die: 0 });
    const op = rig.read({ die: 0, slotMask: 0b1111 });
    rig.ops.content.fill(9, op * 8, op * 8 + 4);
    rig.ops.pageWord.fill(9, op * 8, op * 8 + 4);
    rig.ops.order.fill(9, op * 8, op * 8 + 4);
    rig.timeline.runUntilQuiet();
    expect([0, 1, 2, 3].map((j) => rig.slot(op, j))).toEqual(Array(4).fill([0, 0, 0]));
  });

  it('covers both planes: slots 2 and 3 lie in the next block', () => {
    const rig = programmedRig(0);
    const { geometry, store } = rig;
    const slots = [0, 1].flatMap((plane) => [0, 1].map((i) => geometry.slotOf(0, plane, 0, i)));
    expect(slots.map((slot) => store.contentOf(slot))).toEqual([1, 2, 3, 4]);
    expect([...store.nextPage.values.subarray(0, 3)]).toEqual([1, 1, 0]);
    rig.erase({ die: 0 });
    rig.timeline.runUntilQuiet();
    expect([...store.eraseCount.values.subarray(0, 3)]).toEqual([1, 1, 0]);
  });

  it('counts as one more reference to a mixture, which outlives the erase of its page', () => {
    const rig = new NandRig();
    const mixture = rig.contents.merge(5, 6, 0x0f);
    rig.program({ die: 0, content: [0, mixture] });
    const op = rig.read({ die: 0, slotMask: 0b0010 });
    rig.erase({ die: 0 });
    rig.timeline.runUntilQuiet();
    expect(rig.slot(op, 1)[0]).toBe(mixture);
    expect([0, 7].map((sector) => rig.contents.sectorTag(mixture, sector))).toEqual([6, 5]);
    rig.contents.release(mixture);
    expect(rig.contents.mixtureCount).toBe(0);
  });

  it('breaks a rule when pages are programmed out of order', () => {
    const rig = programmedRig(3);
    rig.program(filled(0, 2));
    expect(() => rig.timeline.runUntilQuiet()).toThrow(InvariantBroken);
  });
});

describe('the counters of use', () => {
  it('add up the buses, the dies, the operations and the slots', () => {
    const rig = programmedRig();
    rig.program(filled(0, 0));
    rig.read({ die: 0, slotMask: 0b0111 });
    rig.read({ die: 3, page: MSB_PAGE });
    rig.erase({ die: 2 });
    rig.timeline.runUntilQuiet();
    const { array } = rig;
    expect([FlashOp.Read, FlashOp.Program, FlashOp.Erase].map((op) => array.doneCount[op])).toEqual(
      [2, 1, 1],
    );
    expect([...array.slotCount]).toEqual([4, 4]);
    expect([...array.channels.busyNs]).toEqual([
      COMMAND + UNIT + COMMAND + 3 * SLOT + COMMAND,
      COMMAND + SLOT,
    ]);
    const programNs = COMMAND + UNIT + PROGRAM_LSB;
    // The erase command of die 2 waited for the bus behind the data of die 0.
    expect([...array.dieBusyNs]).toEqual([
      programNs + COMMAND + READ_LSB + 3 * SLOT,
      0,
      COMMAND + UNIT + COMMAND + ERASE,
      COMMAND + READ_MSB + SLOT,
    ]);
  });
});

interface Step {
  die: number;
  kind: 'read' | 'program' | 'erase';
  pair: number;
  page: number;
  slotMask: number;
  urgent: boolean;
  waitNs: number;
}

const anySteps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    die: fc.nat({ max: 3 }),
    kind: fc.constantFrom('read', 'read', 'program', 'program', 'erase') as fc.Arbitrary<
      Step['kind']
    >,
    pair: fc.nat({ max: 1 }),
    page: fc.nat({ max: 15 }),
    slotMask: fc.integer({ min: 1, max: 15 }),
    urgent: fc.boolean(),
    waitNs: fc.constantFrom(0, 0, 400, 30_000, 700_000),
  }),
  { maxLength: 60 },
);

/** The next page that each block pair will accept when all that is queued has run. */
class Planner {
  readonly #nextPage = new Map<string, number>();
  #seed = 0;

  submit(rig: NandRig, { die, kind, pair, page, slotMask, urgent }: Step): void {
    const key = `${die}.${pair}`;
    const next = this.#nextPage.get(key) ?? 0;
    const block = pair * 2;
    if (kind === 'read') rig.read({ die, block, page, slotMask, urgent });
    else if (kind === 'erase' || next === 16) {
      rig.erase({ die, block });
      this.#nextPage.set(key, 0);
    } else {
      rig.program({ ...filled(die, next, ++this.#seed), block });
      this.#nextPage.set(key, next + 1);
    }
  }
}

/** Replays the ended descriptors on a plain map; returns what reads should have seen but did not. */
function wrongReads(rig: NandRig): string[] {
  const media = new Map<string, [number, number, number]>();
  const wrong: string[] = [];
  for (const op of rig.taken) {
    const { ops } = rig;
    const place = (page: number, j: number) => `${ops.die[op]}.${ops.block[op]}.${page}.${j}`;
    for (let j = 0; j < 4; j++) {
      const page = ops.page[op]!;
      if (ops.op[op] === FlashOp.Program) media.set(place(page, j), rig.slot(op, j));
      if (ops.op[op] === FlashOp.Erase) {
        for (let erased = 0; erased < 16; erased++) media.delete(place(erased, j));
      }
      if (ops.op[op] !== FlashOp.Read || ((ops.slotMask[op]! >> j) & 1) === 0) continue;
      const right = media.get(place(page, j)) ?? [0, 0, 0];
      if (`${rig.slot(op, j)}` !== `${right}`) wrong.push(`${place(page, j)} is not ${right}`);
    }
  }
  return wrong;
}

describe('any sequence of operations', () => {
  it('keeps every die to the die table and takes all its rows; reads see the media', () => {
    const taken = new Set<number>();
    fc.assert(
      fc.property(anySteps, (steps) => {
        const rig = new NandRig();
        const planner = new Planner();
        for (const step of steps) {
          planner.submit(rig, step);
          rig.timeline.runUntil(rig.timeline.nowNs + step.waitNs);
        }
        rig.timeline.runUntilQuiet();
        const phase = new Uint8Array(rig.geometry.dies).fill(DIE_TABLE.initial);
        const broken: string[] = [];
        for (const [die, from, to] of rig.phases) {
          const row = DIE_TABLE.transitions.findIndex((r) => r.from === from && r.to === to);
          if (row < 0 || phase[die] !== from) {
            broken.push(`die ${die}: ${DiePhase[from]} to ${DiePhase[to]}`);
          }
          phase[die] = to;
          taken.add(row);
        }
        expect(broken).toEqual([]);
        expect([...phase]).toEqual(Array(4).fill(DiePhase.Idle));
        expect([...rig.array.phase]).toEqual([...phase]);
        expect(rig.taken).toHaveLength(steps.length);
        expect(wrongReads(rig)).toEqual([]);
        // A bus carries one thing at a time, a die does one thing at a time.
        const { nowNs } = rig.timeline;
        expect(Math.max(...rig.array.channels.busyNs)).toBeLessThanOrEqual(nowNs);
        expect(Math.max(...rig.array.dieBusyNs)).toBeLessThanOrEqual(nowNs);
      }),
    );
    expect([...taken].sort()).toEqual(DIE_TABLE.transitions.map((_, row) => row));
  });
});

it('the die table is sound: each state is reached, left, and answers an event in one way', () => {
  const states = Object.values(DiePhase).filter((value) => typeof value === 'number');
  const { transitions } = DIE_TABLE;
  expect(states.filter((state) => !transitions.some((row) => row.to === state))).toEqual([]);
  expect(states.filter((state) => !transitions.some((row) => row.from === state))).toEqual([]);
  const keys = transitions.map((row) => `${row.from} ${row.on}`);
  expect(new Set(keys).size).toBe(keys.length);
  expect(transitions.filter((row) => row.says === '')).toEqual([]);
});

/** A rig with much under way on every die: reads, programs and erases, urgent and not. */
function busyRig(): NandRig {
  const rig = new NandRig();
  const planner = new Planner();
  const kinds = ['program', 'program', 'read', 'program', 'read', 'erase', 'program'] as const;
  for (let i = 0; i < 120; i++) {
    planner.submit(rig, {
      die: (i * 5) % 4,
      kind: kinds[i % kinds.length]!,
      pair: (i >> 3) & 1,
      page: i % 16,
      slotMask: 1 + (i % 15),
      urgent: i % 3 === 0,
      waitNs: 0,
    });
  }
  return rig;
}

describe('saved in the middle', () => {
  const whole = busyRig();
  whole.timeline.runUntilQuiet();
  const last = whole.timeline.ordinal;

  it('a recorded run that is taken back at any point ends the same', () => {
    const rig = busyRig();
    const history = new History(rig.machine, { intervalEvents: 23, budgetBytes: 2 ** 22 });
    history.runToOrdinal(last);
    for (const ordinal of [last - 1, 200, 77, 1, 150, 0]) {
      history.goTo(ordinal);
      expect(rig.timeline.ordinal).toBe(ordinal);
      history.runToOrdinal(last);
      expect(rig.timeline.hash).toBe(whole.timeline.hash);
      expect(rig.machine.stateHash()).toBe(whole.machine.stateHash());
    }
    history.stop();
  });

  it('a new machine with the saved state ends the same', () => {
    for (const ordinal of [1, 50, 133, last - 2]) {
      const rig = busyRig();
      rig.timeline.runToOrdinal(ordinal);
      const fresh = new NandRig();
      fresh.machine.restoreParts(rig.machine.saveParts());
      rig.machine.tables.forEach((table, i) => {
        fresh.machine.tables[i]!.values.set(table.values);
      });
      expect(fresh.machine.stateHash()).toBe(rig.machine.stateHash());
      fresh.timeline.runUntilQuiet();
      expect(fresh.timeline.hash).toBe(whole.timeline.hash);
      expect(fresh.machine.stateHash()).toBe(whole.machine.stateHash());
      expect([...rig.taken, ...fresh.taken]).toEqual(whole.taken);
    }
  });
});

describe('loss of power', () => {
  it('forgets what was under way and keeps what had ended', () => {
    const rig = new NandRig();
    rig.program(filled(0, 0));
    rig.program(filled(0, 1));
    rig.erase({ die: 1 });
    rig.read({ die: 3 });
    rig.timeline.runUntil(COMMAND + UNIT + PROGRAM_LSB + 1000);
    rig.array.reset();
    rig.ops.reset();
    rig.timeline.runUntilQuiet();
    const cells = [0, 1].map((page) => rig.store.contentOf(rig.geometry.slotOf(0, 0, page, 0)));
    expect(cells).toEqual([1, 0]);
    expect(rig.store.nextPage.values[0]).toBe(1);
    expect(rig.store.eraseCount.values[rig.geometry.blocksPerDie]).toBe(0);
    expect(rig.array.takeDone()).toBe(-1);
    expect([...rig.array.dieBusyNs, ...rig.array.channels.busyNs]).toEqual(Array(6).fill(0));
    const start = rig.timeline.nowNs;
    rig.program(filled(0, 1));
    rig.timeline.runUntilQuiet();
    expect(rig.timeline.nowNs - start).toBe(COMMAND + UNIT + PROGRAM_LSB);
  });
});
