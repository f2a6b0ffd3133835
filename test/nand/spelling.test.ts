/**
 * Goal: with somebody watching the pins, every operation is spelled as the ONFI cycles of its
 * descriptor, no rule of the bus is broken, and nothing else in the run changes.
 * Method: random operations with and without a listener; each descriptor is spelled again by hand
 * from the command table of ONFI 2.2, and the raw bytes are decoded by the page codec.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FlashOp, FlashStatus } from '../../hal/flash-ops.ts';
import { CycleKind, type CycleListener, type PageBytes } from '../../nand/cycle-listener.ts';
import { PageCodec, slotFailed } from '../../nand/ecc/page-codec.ts';
import { WEAR_LAW } from '../../nand/physics/wear.ts';
import { NandRig } from '../kit/nand-rig.ts';
import { anySteps, filled, keepBusy, runSteps } from '../kit/nand-steps.ts';

const DATA_BYTES = 8192;
const SPARE_BYTES = 448;
const SLOT_DATA = 4096;
const SLOT_SPARE = 224;
const READY = 'E0';
const FAILED = 'E1';

interface Cycle {
  kind: CycleKind;
  value: number;
  atNs: number;
  ns: number;
  bytes: Uint8Array | null;
}

/** Keeps every cycle by die. Bytes are made up at once: later the cells may hold others. */
class Pins implements CycleListener {
  readonly ofDie: Cycle[][] = [[], [], [], []];

  cycle(
    die: number,
    kind: CycleKind,
    value: number,
    atNs: number,
    ns: number,
    bytes: PageBytes | null,
  ): void {
    this.ofDie[die]!.push({ kind, value, atNs, ns, bytes: bytes === null ? null : bytes() });
  }

  /** Data phases of a die that are longer than a status. */
  data(die: number, kind: CycleKind): Cycle[] {
    return this.ofDie[die]!.filter((one) => one.kind === kind && one.value > 1);
  }

  /** What a die was told and answered, in words. */
  words(die: number): string[] {
    return this.ofDie[die]!.map(({ kind, value, bytes }) => {
      switch (kind) {
        case CycleKind.Command:
          return `${hex(value)}h`;
        case CycleKind.Address:
          return `a${hex(value)}`;
        case CycleKind.Busy:
          return 'busy';
        case CycleKind.DataIn:
          return `in${value}`;
        default:
          return value === 1 ? `status ${hex(bytes![0]!)}` : `out${value}`;
      }
    });
  }
}

function hex(value: number): string {
  return value.toString(16).toUpperCase().padStart(2, '0');
}

/** Address cycles of a row of the rig's part: 16 pages a block, so four page bits; low byte first. */
function row(block: number, page: number): string[] {
  const number = block * 16 + page;
  return [number % 256, Math.floor(number / 256) % 256, 0].map((byte) => `a${hex(byte)}`);
}

/** The cycles of a descriptor by the command table. */
function spelled(rig: NandRig, op: number): string[] {
  const { ops } = rig;
  const block = ops.block[op]!;
  const page = ops.page[op]!;
  const status = ops.status[op] === FlashStatus.Failed ? FAILED : READY;
  const end = ['70h', `status ${status}`];
  const planes = [0, 1];
  if (ops.op[op] === FlashOp.Erase) {
    const erase = planes.flatMap((p) => ['60h', ...row(block + p, 0), ['D1h', 'D0h'][p]!, 'busy']);
    return [...erase, ...end];
  }
  const column = (bytes: number) => [`a${hex(bytes % 256)}`, `a${hex(Math.floor(bytes / 256))}`];
  const address = (p: number, at: number) => [...column(at), ...row(block + p, page)];
  if (ops.op[op] === FlashOp.Program) {
    const program = planes.flatMap((p) => [
      ...['80h', ...address(p, 0), `in${DATA_BYTES + SPARE_BYTES}`, ['11h', '10h'][p]!, 'busy'],
    ]);
    return [...program, ...end];
  }
  const slotsOf = (p: number) => (ops.slotMask[op]! >> (2 * p)) & 3;
  const read = planes.filter((p) => slotsOf(p) !== 0);
  const sense = read.flatMap((p) => {
    return ['00h', ...address(p, 0), p === read.at(-1) ? '30h' : '32h', 'busy'];
  });
  const output = read.flatMap((p) => {
    const slots = slotsOf(p);
    const bytes = (slots === 3 ? 2 : 1) * (SLOT_DATA + SLOT_SPARE);
    return ['06h', ...address(p, slots === 2 ? SLOT_DATA : 0), 'E0h', `out${bytes}`];
  });
  return [...sense, ...end, ...output];
}

/** Everything a drive would notice of a run: events, ends, cells, counters and descriptors. */
function traceOf(rig: NandRig): unknown[] {
  const { array, timeline, ended, taken, phases, contents } = rig;
  const tables = rig.machine.tables.map(({ values }) => hashOf(values));
  const { ops } = rig;
  const columns = [ops.status, ops.content, ops.pageWord, ops.order, ops.badSectors];
  return [
    ...[timeline.hash, timeline.nowNs, timeline.ordinal, ended, taken, phases, tables],
    ...[array.counters.save(), array.work.save(), array.channels.save(), contents.mixtureCount],
    columns.map((column) => hashOf(column)),
  ];
}

function hashOf(values: ArrayLike<number>): number {
  let hash = 0;
  for (let i = 0; i < values.length; i++) hash = Math.imul(hash ^ values[i]!, 0x01000193) + i;
  return hash;
}

/** Cycles of one channel that share the bus with another, and those of a die that go back. */
function collisions(rig: NandRig, pins: Pins): string[] {
  const wrong: string[] = [];
  const ofDie = pins.ofDie.map((cycles) => cycles.filter(({ kind }) => kind !== CycleKind.Busy));
  for (let channel = 0; channel < rig.geometry.channels; channel++) {
    const onBus = ofDie.flatMap((cycles, die) => {
      if (rig.geometry.channelOf(die) !== channel) return [];
      return cycles.map((one) => ({ die, ...one }));
    });
    onBus.sort((a, b) => a.atNs - b.atNs);
    let untilNs = 0;
    for (const { die, atNs, ns, value, kind } of onBus) {
      if (atNs < untilNs) wrong.push(`die ${die} ${CycleKind[kind]} ${hex(value)} @${atNs}`);
      untilNs = Math.max(untilNs, atNs + ns);
    }
  }
  ofDie.forEach((cycles, die) => {
    cycles.forEach(({ atNs }, i) => {
      if (i > 0 && atNs < cycles[i - 1]!.atNs) wrong.push(`die ${die} goes back @${atNs}`);
    });
  });
  return wrong;
}

const CODEC = new PageCodec({ pageBytes: DATA_BYTES, spareBytes: SPARE_BYTES });

/** What a raw page of a plane holds: [content, page word, order] of the slots asked for. */
function decoded(
  place: { block: number; page: number },
  raw: Uint8Array,
  slots: readonly number[],
): (readonly [number, number, number] | string)[] {
  const data = new Uint8Array(DATA_BYTES);
  const records = CODEC.newRecords();
  const verdict = CODEC.decodePage(place, raw, data, records);
  return slots.map((slot) => {
    if (!verdict.erased && slotFailed(verdict, slot)) return 'lost';
    if (((verdict.crcWrong >> slot) & 1) !== 0) return 'crc';
    const view = new DataView(data.buffer, slot * SLOT_DATA, SLOT_DATA);
    // A tagged page is its tag, over and over.
    const tags = new Set(
      Array.from({ length: SLOT_DATA / 4 }, (_, i) => view.getInt32(i * 4, true)),
    );
    if (tags.size !== 1) return 'mixed';
    return [[...tags][0]!, records[slot]!.pageWord, records[slot]!.order] as const;
  });
}

/** A raw page with the slots of a data phase in their columns; the rest is of no codeword. */
function pageOf(bytes: Uint8Array, slots: readonly number[]): Uint8Array {
  const raw = new Uint8Array(DATA_BYTES + SPARE_BYTES);
  slots.forEach((slot, i) => {
    raw.set(bytes.subarray(i * SLOT_DATA, (i + 1) * SLOT_DATA), slot * SLOT_DATA);
    const spareAt = slots.length * SLOT_DATA + i * SLOT_SPARE;
    raw.set(bytes.subarray(spareAt, spareAt + SLOT_SPARE), DATA_BYTES + slot * SLOT_SPARE);
  });
  return raw;
}

/** Data phases whose bytes are not those of their descriptor. */
function wrongBytes(rig: NandRig, pins: Pins): string[] {
  const wrong: string[] = [];
  const phases = pins.ofDie.map((_, die) => ({
    [FlashOp.Program]: pins.data(die, CycleKind.DataIn),
    [FlashOp.Read]: pins.data(die, CycleKind.DataOut),
  }));
  for (const op of rig.taken) {
    const kind = rig.ops.op[op] as FlashOp;
    if (kind === FlashOp.Erase) continue;
    const mask = kind === FlashOp.Program ? 0b1111 : rig.ops.slotMask[op]!;
    for (const plane of [0, 1]) {
      const slots = [0, 1].filter((slot) => ((mask >> (plane * 2 + slot)) & 1) !== 0);
      if (slots.length === 0) continue;
      const { bytes } = phases[rig.ops.die[op]!]![kind].shift()!;
      const place = { block: rig.ops.block[op]! + plane, page: rig.ops.page[op]! };
      const isErased = bytes!.every((byte) => byte === 0xff);
      const found = isErased
        ? slots.map(() => [0, 0, 0])
        : decoded(place, pageOf(bytes!, slots), slots);
      const held = slots.map((slot) => rig.slot(op, plane * 2 + slot));
      if (`${found.join(';')}` !== `${held.join(';')}`) {
        wrong.push(`${FlashOp[kind]} ${JSON.stringify(place)}: ${found}, not ${held}`);
      }
    }
  }
  return wrong;
}

/** Cycles that are not those of the descriptors that a die has carried out, die by die. */
function misspelled(rig: NandRig, pins: Pins): string[] {
  return pins.ofDie.flatMap((_, die) => {
    const ops = rig.taken.filter((op) => rig.ops.die[op] === die);
    const right = ops.flatMap((op) => spelled(rig, op));
    const words = pins.words(die);
    const at = right.findIndex((word, i) => words[i] !== word);
    if (at >= 0) return [`die ${die}, cycle ${at}: ${words.slice(at, at + 9)}, not ${right[at]}`];
    return words.length === right.length ? [] : [`die ${die}: ${words.length} cycles`];
  });
}

/** A rig whose dies are up; with a listener on its pins when asked for. */
function watchedRig(pins: Pins | null): NandRig {
  const rig = new NandRig({ wear: WEAR_LAW }).bringUp();
  rig.array.cycles = pins;
  return rig;
}

describe('a run that is watched', () => {
  it('is spelled as its descriptors say, and is the run that nobody watches', () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        const pins = new Pins();
        const watched = watchedRig(pins);
        const plain = watchedRig(null);
        runSteps(watched, steps);
        runSteps(plain, steps);
        expect(traceOf(watched)).toEqual(traceOf(plain));
        expect(misspelled(watched, pins)).toEqual([]);
        expect(collisions(watched, pins)).toEqual([]);
        expect(wrongBytes(watched, pins)).toEqual([]);
        expect(watched.array.counters.violations).toBe(0);
      }),
      { numRuns: 40 },
    );
  });

  it('may begin and end anywhere', () => {
    const plain = keepBusy(watchedRig(null)).settle();
    for (const [from, to] of [
      [3, 40],
      [17, 18],
      [50, 200],
      [121, 122],
    ] as const) {
      const pins = new Pins();
      const rig = keepBusy(watchedRig(null));
      rig.timeline.runToOrdinal(from);
      rig.array.cycles = pins;
      rig.timeline.runToOrdinal(to);
      rig.array.cycles = null;
      rig.timeline.runToOrdinal(to + 9);
      rig.array.cycles = pins;
      rig.settle();
      expect(traceOf(rig)).toEqual(traceOf(plain));
      expect(rig.array.counters.violations).toBe(0);
      expect(collisions(rig, pins)).toEqual([]);
    }
  });

  it('shows the page of a read that was under way when the listener came', () => {
    const rig = watchedRig(new Pins());
    rig.program(filled(0, 0));
    rig.program(filled(0, 1));
    rig.read({ die: 0, page: 0, slotMask: 0b1111 });
    rig.settle();
    rig.array.cycles = null;
    rig.taken.length = 0;
    const pins = new Pins();
    rig.read({ die: 0, page: 1, slotMask: 0b1111 });
    rig.array.cycles = pins;
    rig.settle();
    expect(pins.data(0, CycleKind.DataOut)).toHaveLength(2);
    expect(wrongBytes(rig, pins)).toEqual([]);
  });

  it('shows the status of an operation that failed', () => {
    const pins = new Pins();
    const rig = watchedRig(pins);
    rig.faults.add({ kind: 'program-fail', where: { plane: 1, page: 1 } });
    rig.faults.add({ kind: 'erase-fail', where: { block: 2 } });
    for (const page of [0, 1, 2]) rig.program(filled(0, page));
    rig.erase({ die: 0, block: 2 });
    rig.erase({ die: 0, block: 4 });
    rig.settle();
    const answers = pins.words(0).filter((word) => word.startsWith('status'));
    expect(answers).toEqual([READY, FAILED, READY, FAILED, READY].map((one) => `status ${one}`));
    expect(misspelled(rig, pins)).toEqual([]);
    expect(rig.array.counters.violations).toBe(0);
  });

  it('goes on after a cut of power and after a die that did not answer', () => {
    const pins = new Pins();
    const rig = watchedRig(pins);
    rig.faults.add({ kind: 'stuck-busy', op: 'read', where: { die: 1 } });
    rig.program(filled(0, 0));
    rig.read({ die: 1 });
    rig.settle();
    rig.read({ die: 1 });
    rig.erase({ die: 0 });
    rig.cutAt(rig.timeline.nowNs + 40_000);
    rig.bringUp();
    pins.ofDie.forEach((cycles) => {
      cycles.length = 0;
    });
    rig.taken.length = 0;
    rig.erase({ die: 0 });
    rig.program(filled(0, 0, 1));
    rig.read({ die: 0, slotMask: 0b1111 });
    rig.read({ die: 1 });
    rig.settle();
    expect(misspelled(rig, pins)).toEqual([]);
    expect(wrongBytes(rig, pins)).toEqual([]);
    expect(rig.array.counters.violations).toBe(0);
  });
});

it('bytes of spare records and data that are sent in are those that come out', () => {
  const pins = new Pins();
  const rig = watchedRig(pins);
  rig.program(filled(0, 0));
  rig.read({ die: 0, slotMask: 0b1111 });
  rig.settle();
  const [sent, received] = [CycleKind.DataIn, CycleKind.DataOut].map((kind) =>
    pins.data(0, kind).map(({ bytes }) => Buffer.from(bytes!)),
  );
  expect(sent).toHaveLength(2);
  expect(sent!.map((bytes, i) => Buffer.compare(bytes, received![i]!))).toEqual([0, 0]);
});
