/**
 * Goal: cycles become the pins that ONFI 2.2 draws for them, in order of time, whatever the order
 * in which they are told.
 * Method: golden text of single operations worked out by hand; properties over made-up schedules.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CycleKind } from '../../../nand/cycle-listener.ts';
import { CycleTrace, DataDetail } from '../../../tools/trace/cycle-trace.ts';
import { decodeTraceText } from '../../../tools/trace/decode.ts';
import {
  ASYNC,
  address,
  bodyOf,
  type Cycle,
  command,
  disorderOf,
  LAYOUT,
  rowOf,
  SYNC,
  TextBox,
  traceOf,
} from './trace-kit.ts';

const ONE_DIE = { ...LAYOUT, channels: 1, dies: 1 };
/** A status read: 70h, tWHR, one byte. */
const STATUS: Cycle[] = [
  [0, CycleKind.Command, 0x70, 100, 20],
  [0, CycleKind.DataOut, 1, 180, 20, () => Uint8Array.of(0xe0)],
];

describe('golden', () => {
  test('asynchronous: WE# latches 70h, RE# brings the status', () => {
    const text = traceOf(STATUS, 300, { layout: ONE_DIE, bus: ASYNC });
    // ! CLE, " ALE, # WE_n, $ RE_n, % DQ, & CE_n, ' RB_n, ( state
    expect(bodyOf(text).split('$end\n')[1]).toBe(
      [
        ...['#1000', '0&', '1!', '0#', 'b1110000 %', 'sCMD:70h ('],
        ...['#1100', '1#', '#1200', '0!', 'bz %'],
        ...['#1800', 'b11100000 %', 'sDATA_OUT:1 (', '0$'],
        ...['#1900', '1$', '#2000', 'bz %', 'sIDLE (', '1&', '#3000', ''],
      ].join('\n'),
    );
  });

  test('NV-DDR: CLK latches 70h, both latches are high for data, DQS strobes', () => {
    const text = traceOf(STATUS, 300, { layout: ONE_DIE, bus: SYNC });
    // ! CLE, " ALE, # CLK, $ WR_n, % DQS, & DQ, ' CE_n, ( RB_n, ) state
    expect(bodyOf(text).split('$end\n')[1]).toBe(
      [
        ...['#1000', "0'", '1!', 'b1110000 &', 'sCMD:70h )'],
        ...['#1100', '1#', '#1200', '0!', '0#', 'bz &'],
        ...['#1800', '1!', '1"', '0$', 'b11100000 &', 'sDATA_OUT:1 )', '1#', '1%'],
        ...['#2000', '1$', '0%', '0!', '0"', '0#', 'bz &', 'sIDLE )', "1'", '#3000', ''],
      ].join('\n'),
    );
  });

  test('the header names interface and layout, and no date', () => {
    const [header] = traceOf([], 0, { layout: ONE_DIE, bus: ASYNC }).split('$enddefinitions');
    expect(header).toBe(`$version bf3 $end
$comment bf3-trace version=1 interface=async mode=5 data=summary channels=1 dies=1 blocks=64 \
pages=16 $end
$timescale 100 ps $end
$scope module bf3 $end
$scope module ch0 $end
$var wire 1 ! CLE $end
$var wire 1 " ALE $end
$var wire 1 # WE_n $end
$var wire 1 $ RE_n $end
$var wire 8 % DQ [7:0] $end
$scope module die0 $end
$var wire 1 & CE_n $end
$var wire 1 ' RB_n $end
$var string 1 ( state $end
$upscope $end
$upscope $end
$upscope $end
`);
  });
});

/** A page read of each die: command, tR, status, column change, data. */
function readOf(die: number, block: number, page: number, atNs: number): Cycle[] {
  const row = rowOf(block, page);
  const outNs = atNs + 45_275;
  return [
    ...command(die, 0x00, address(0, row), atNs, 25),
    [die, CycleKind.Command, 0x30, atNs + 150, 25],
    [die, CycleKind.Busy, 0, atNs + 175, 45_000],
    ...command(die, 0x06, address(0, row), outNs, 25),
    [die, CycleKind.Command, 0xe0, outNs + 150, 25],
    [die, CycleKind.DataOut, 4320, outNs + 375, 21_600, () => new Uint8Array(4320).fill(die)],
  ];
}

describe('states', () => {
  test('a read, as a viewer shows it', () => {
    const text = traceOf(readOf(0, 3, 2, 1000), 100_000, { data: DataDetail.None });
    const states = [...text.matchAll(/^s(\S+) \)$/gm)].map(([, state]) => state);
    expect(states).toEqual(
      ['IDLE', 'CMD:00h', 'CMD:30h', 'tR', 'IDLE', 'CMD:06h', 'CMD:E0h'].concat(
        ...['DATA_OUT:4320', 'IDLE'],
      ),
    );
  });

  test('two equal phases without a gap stay two', () => {
    const cycles: Cycle[] = [
      ...command(0, 0x05, [0, 0], 0, 25),
      [0, CycleKind.Command, 0xe0, 75, 25],
      [0, CycleKind.DataOut, 540, 300, 2700],
      [0, CycleKind.DataOut, 540, 3000, 2700],
      [0, CycleKind.DataOut, 540, 5700, 2700],
    ];
    const { commands } = decodeTraceText(traceOf(cycles, 10_000));
    expect(commands.map(({ dataOutBytes }) => dataOutBytes)).toEqual([3 * 540]);
  });
});

describe('order', () => {
  const schedule = fc
    .array(
      fc.record({
        die: fc.nat(3),
        gapNs: fc.integer({ min: 0, max: 500 }),
        kind: fc.constantFrom(CycleKind.Command, CycleKind.Address, CycleKind.DataIn),
        out: fc.boolean(),
        value: fc.nat(255),
        busyNs: fc.integer({ min: 0, max: 3000 }),
      }),
      { maxLength: 60 },
    )
    .map((rows) => {
      // A bus carries one cycle at a time; dies are busy beside it.
      const freeNs = [0, 0];
      const cycles: Cycle[] = [];
      for (const { die, gapNs, kind, out, value, busyNs } of rows) {
        const atNs = freeNs[die % 2]! + gapNs;
        const isData = kind === CycleKind.DataIn;
        const ns = isData ? Math.max(10, Math.ceil(value / 2) * 10) : 25;
        const used = isData && out ? CycleKind.DataOut : kind;
        cycles.push([die, used, value, atNs, ns, () => new Uint8Array(value).fill(value)]);
        if (busyNs > 0) cycles.push([die, CycleKind.Busy, 0, atNs + ns, busyNs]);
        freeNs[die % 2] = atNs + ns;
      }
      return cycles;
    });
  const details = fc.constantFrom(DataDetail.None, DataDetail.Summary, DataDetail.Full);
  const buses = fc.constantFrom(ASYNC, SYNC);

  test('time only grows, values only change, whatever is told', () => {
    fc.assert(
      fc.property(schedule, details, buses, (cycles, data, bus) => {
        expect(disorderOf(traceOf(cycles, 100_000, { data, bus }))).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  test('flushed as time goes on or at the end, the file is the same', () => {
    fc.assert(
      fc.property(schedule, details, buses, (cycles, data, bus) => {
        const box = new TextBox();
        const trace = new CycleTrace(box, { layout: LAYOUT, bus, data });
        // Told at the instant of the cycle itself: the latest that a listener may be told.
        const told = cycles.map((cycle, i) => ({ cycle, i }));
        told.sort((a, b) => a.cycle[3] - b.cycle[3] || a.i - b.i);
        for (const { cycle } of told) {
          trace.flush(cycle[3]);
          trace.cycle(cycle[0], cycle[1], cycle[2], cycle[3], cycle[4], cycle[5] ?? null);
        }
        trace.finish(100_000);
        expect(trace.pendingCount).toBe(0);
        expect(box.text).toBe(
          traceOf(
            told.map(({ cycle }) => cycle),
            100_000,
            { bus, data },
          ),
        );
      }),
      { numRuns: 100 },
    );
  });

  test('a cycle in the written past is refused', () => {
    const trace = new CycleTrace(new TextBox(), { layout: LAYOUT, bus: SYNC, data: 0 });
    trace.flush(1000);
    expect(() => trace.cycle(0, CycleKind.Command, 0xff, 999, 25, null)).toThrow('written');
  });
});

describe('what is shown', () => {
  test('only chosen dies, without the bytes of others being made', () => {
    const cycles = [0, 1, 2, 3].flatMap((die) => readOf(die, 1, 1, 1000));
    let asked = 0;
    const counted = cycles.map(([die, kind, value, atNs, ns, bytes]): Cycle => {
      const made = () => {
        asked++;
        return bytes!();
      };
      return [die, kind, value, atNs, ns, bytes == null ? null : made];
    });
    const text = traceOf(counted, 100_000, { channels: [1], dies: [0, 1] });
    expect([...text.matchAll(/\$scope module (\S+)/g)].map(([, name]) => name)).toEqual([
      ...['bf3', 'ch1', 'die0'],
    ]);
    expect(asked).toBe(1);
    expect(decodeTraceText(text).commands.map(({ die }) => die)).toEqual([1, 1]);
  });

  test('only the chosen time: what goes on at its beginning is shown, bytes before it are not made', () => {
    const cycles = [...readOf(0, 1, 1, 0), ...readOf(0, 2, 2, 200_000)];
    const text = traceOf(cycles, 300_000, { fromNs: 220_000, toNs: 250_000 });
    expect(bodyOf(text)).toContain('stR )\n');
    expect(bodyOf(text).startsWith('#2200000\n')).toBe(true);
    expect(text.endsWith('#2500000\n')).toBe(true);
    expect(disorderOf(text)).toEqual([]);
  });

  test('cycles that clash on a bus are counted', () => {
    const box = new TextBox();
    const trace = new CycleTrace(box, { layout: LAYOUT, bus: SYNC, data: DataDetail.None });
    const ends: Cycle[] = [
      ...command(0, 0x60, [1, 2, 3], 1000, 25),
      ...command(2, 0x60, [1, 2, 3], 1090, 25),
      ...command(1, 0x60, [1, 2, 3], 1000, 25),
    ];
    for (const [die, kind, value, atNs, ns] of ends) trace.cycle(die, kind, value, atNs, ns, null);
    trace.finish(2000);
    expect([trace.counts.clashes, trace.counts.firstClashNs]).toEqual([1, 1090]);
  });

  test('a loss of power ends what was to come', () => {
    const box = new TextBox();
    const trace = new CycleTrace(box, { layout: LAYOUT, bus: ASYNC, data: DataDetail.Full });
    for (const [die, kind, value, atNs, ns, bytes] of readOf(0, 1, 1, 1000)) {
      trace.cycle(die, kind, value, atNs, ns, bytes ?? null);
    }
    trace.powerLost(20_000);
    expect(trace.pendingCount).toBe(0);
    trace.finish(100_000);
    expect(disorderOf(box.text)).toEqual([]);
    expect(bodyOf(box.text)).toMatch(/#200000\n1'\nsIDLE \(\n#1000000\n$/);
  });
});
