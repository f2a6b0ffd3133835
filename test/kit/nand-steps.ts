/**
 * Steps for a flash array on a bench: random operations that keep the rules of programming, and
 * what reads must have seen of them.
 */
import fc from 'fast-check';
import { FlashOp } from '../../hal/flash-ops.ts';
import type { NandRig, OpRequest } from './nand-rig.ts';

/** Pages a block of the rig. */
const PAGES = 16;

/** A page of four slots with recognisable content. */
export function filled(die: number, page: number, seed = 0): OpRequest {
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

export interface Step {
  die: number;
  kind: 'read' | 'program' | 'erase';
  /** Pair of blocks of the die. */
  pair: number;
  /** Of a read; a program takes the next one. */
  page: number;
  slotMask: number;
  urgent: boolean;
  waitNs: number;
}

export const anySteps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    die: fc.nat({ max: 3 }),
    kind: fc.constantFrom('read', 'read', 'program', 'program', 'erase') as fc.Arbitrary<
      Step['kind']
    >,
    pair: fc.nat({ max: 1 }),
    page: fc.nat({ max: PAGES - 1 }),
    slotMask: fc.integer({ min: 1, max: 15 }),
    urgent: fc.boolean(),
    waitNs: fc.constantFrom(0, 0, 400, 30_000, 700_000),
  }),
  { maxLength: 60 },
);

/** The next page that each block pair will accept when all that is queued has run. */
export class Planner {
  readonly #nextPage = new Map<string, number>();
  #seed = 0;

  submit(rig: NandRig, { die, kind, pair, page, slotMask, urgent }: Step): number {
    const key = `${die}.${pair}`;
    const next = this.#nextPage.get(key) ?? 0;
    const block = pair * 2;
    if (kind === 'read') return rig.read({ die, block, page, slotMask, urgent });
    if (kind === 'erase' || next === PAGES) {
      this.#nextPage.set(key, 0);
      return rig.erase({ die, block });
    }
    this.#nextPage.set(key, next + 1);
    return rig.program({ ...filled(die, next, ++this.#seed), block });
  }
}

/** Submits steps at their instants and lets them end. */
export function runSteps(rig: NandRig, steps: readonly Step[]): void {
  const planner = new Planner();
  for (const step of steps) {
    planner.submit(rig, step);
    rig.timeline.runUntil(rig.timeline.nowNs + step.waitNs);
  }
  rig.settle();
}

/** Replays the ended descriptors on a plain map; returns what reads should have seen but did not. */
export function wrongReads(rig: NandRig): string[] {
  const media = new Map<string, [number, number, number]>();
  const wrong: string[] = [];
  const { ops } = rig;
  for (const op of rig.taken) {
    const place = (page: number, j: number) => `${ops.die[op]}.${ops.block[op]}.${page}.${j}`;
    for (let j = 0; j < 4; j++) {
      const page = ops.page[op]!;
      if (ops.op[op] === FlashOp.Program) media.set(place(page, j), rig.slot(op, j));
      if (ops.op[op] === FlashOp.Erase) {
        for (let erased = 0; erased < PAGES; erased++) media.delete(place(erased, j));
      }
      if (ops.op[op] !== FlashOp.Read || ((ops.slotMask[op]! >> j) & 1) === 0) continue;
      const right = media.get(place(page, j)) ?? [0, 0, 0];
      if (`${rig.slot(op, j)}` !== `${right}`) wrong.push(`${place(page, j)} is not ${right}`);
    }
  }
  return wrong;
}

/** Puts much under way on every die: reads, programs and erases, urgent and not. */
export function keepBusy(rig: NandRig): NandRig {
  const planner = new Planner();
  const kinds = ['program', 'program', 'read', 'program', 'read', 'erase', 'program'] as const;
  for (let i = 0; i < 120; i++) {
    planner.submit(rig, {
      die: (i * 5) % 4,
      kind: kinds[i % kinds.length]!,
      pair: (i >> 3) & 1,
      page: i % PAGES,
      slotMask: 1 + (i % 15),
      urgent: i % 3 === 0,
      waitNs: 0,
    });
  }
  return rig;
}
