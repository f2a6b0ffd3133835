/**
 * Goal: a trace file says what happened: decoding its pins gives the commands that made them.
 * Method: the same cycles go to a trace and straight to a command list; the array itself, and a
 * drive that boots, are the source of cycles.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Drive } from '../../../firmware/drive.ts';
import { TOY } from '../../../firmware/profiles/toy.ts';
import { FlashOp, SLOTS_PER_OP } from '../../../hal/flash-ops.ts';
import { CycleKind, type CycleListener } from '../../../nand/cycle-listener.ts';
import { CommandList, type DieCommand, nameOf } from '../../../tools/trace/command-list.ts';
import { CycleTrace, DataDetail } from '../../../tools/trace/cycle-trace.ts';
import { decodeTraceText } from '../../../tools/trace/decode.ts';
import { ASYNC, address, type Cycle, command, rowOf, SYNC, TextBox, traceOf } from './trace-kit.ts';

/** One listener for two. */
class Both implements CycleListener {
  readonly list = new CommandList();
  readonly trace: CycleTrace;

  constructor(trace: CycleTrace) {
    this.trace = trace;
  }

  cycle(...cycle: Parameters<CycleListener['cycle']>): void {
    this.trace.cycle(...cycle);
    this.list.cycle(...cycle);
  }
}

/** A drive, its power off, and two listeners for its flash. */
function traced(data: DataDetail): { drive: Drive; box: TextBox; both: Both } {
  const drive = new Drive(TOY);
  const box = new TextBox();
  const both = new Both(new CycleTrace(box, { layout: drive.geometry, bus: TOY.bus, data }));
  return { drive, box, both };
}

function boot(drive: Drive, eachEvent: (nowNs: number) => void): void {
  drive.powerOn();
  while (!drive.isReady) {
    drive.timeline.step();
    eachEvent(drive.timeline.nowNs);
  }
}

/** One operation on page 0 of a block pair, all four slots of it. */
function submit(drive: Drive, kind: FlashOp, die: number, block: number): void {
  const { ops } = drive;
  const op = ops.take();
  ops.op[op] = kind;
  ops.die[op] = die;
  ops.block[op] = block;
  ops.page[op] = 0;
  ops.slotMask[op] = 0b1111;
  ops.urgent[op] = 0;
  for (let slot = 0; slot < SLOTS_PER_OP; slot++) {
    const at = op * SLOTS_PER_OP + slot;
    ops.content[at] = slot + 1;
    ops.pageWord[at] = slot + 11;
    ops.order[at] = slot + 21;
  }
  drive.array.submit(op);
}

/** Commands in order of time and die: a listener is told in the order of events. */
function inOrder(commands: readonly DieCommand[]): DieCommand[] {
  return [...commands].sort((a, b) => a.atNs - b.atNs || a.die - b.die);
}

describe('three operations of the array', () => {
  test.each([
    ['summary', DataDetail.Summary],
    ['full', DataDetail.Full],
  ])('%s: program, read and erase with their opcodes, rows and bytes', (_, data) => {
    const { drive, box, both } = traced(data);
    const { geometry, timeline } = drive;
    // Watched from the first instant, so that the dies are driven by their cycles.
    drive.array.cycles = { cycle: () => undefined };
    boot(drive, () => undefined);
    drive.array.cycles = both;
    // From here on the flash belongs to the test: the firmware is told of nothing.
    drive.array.takeDone = () => -1;
    for (const kind of [FlashOp.Program, FlashOp.Read, FlashOp.Erase]) {
      submit(drive, kind, 1, 40);
      while (drive.array.currentOf(1) >= 0) timeline.step();
      // The status read is over before the next operation comes.
      const restNs = timeline.nowNs + 1000;
      while (timeline.nowNs < restNs) timeline.step();
      both.trace.flush(timeline.nowNs);
    }
    drive.array.cycles = null;
    both.trace.finish(timeline.nowNs + 1000);
    const rawBytes = geometry.pageBytes + geometry.spareBytes;
    const rowOfBlock = (block: number) => block * geometry.pagesPerBlock;
    const { commands } = decodeTraceText(box.text);
    const seen = commands
      .filter(({ opcodes }) => opcodes[0] !== 0x70)
      .map((one) => [nameOf(one), one.die, one.row, one.dataInBytes, one.dataOutBytes]);
    expect(seen).toEqual([
      ['PROGRAM PAGE MULTI-PLANE', 1, rowOfBlock(40), rawBytes, 0],
      ['PROGRAM PAGE', 1, rowOfBlock(41), rawBytes, 0],
      ['READ PAGE MULTI-PLANE', 1, rowOfBlock(40), 0, 0],
      ['READ PAGE', 1, rowOfBlock(41), 0, 0],
      ['CHANGE READ COLUMN ENHANCED', 1, rowOfBlock(40), 0, rawBytes],
      ['CHANGE READ COLUMN ENHANCED', 1, rowOfBlock(41), 0, rawBytes],
      ['ERASE BLOCK MULTI-PLANE', 1, rowOfBlock(40), 0, 0],
      ['ERASE BLOCK', 1, rowOfBlock(41), 0, 0],
    ]);
    expect(both.trace.counts.clashes).toBe(0);
    expect(withBytes(commands, data)).toEqual(withBytes(both.list.commands, data));
  });

  /** A summary holds the first byte of each phase; bytes are compared as one text. */
  function withBytes(commands: readonly DieCommand[], data: DataDetail) {
    return inOrder(commands).map(({ bytes, ...rest }) => {
      const kept = data === DataDetail.Full ? bytes : bytes.slice(0, 1);
      return { ...rest, bytes: Buffer.from(kept).toString('hex') };
    });
  }
});

test('a drive that boots: the file says what the array told', () => {
  const { drive, box, both } = traced(DataDetail.None);
  drive.array.cycles = both;
  boot(drive, (nowNs) => both.trace.flush(nowNs));
  drive.array.cycles = null;
  // Long enough for whatever is still to come.
  both.trace.finish(drive.timeline.nowNs + 1e9);
  expect(both.trace.counts.clashes).toBe(0);
  const { commands, layout } = decodeTraceText(box.text);
  expect(commands.length).toBeGreaterThan(100);
  const bare = (list: readonly DieCommand[]) => inOrder(list).map((one) => ({ ...one, bytes: [] }));
  expect(bare(commands)).toEqual(bare(both.list.commands));
  expect(layout.pagesPerBlock).toBe(TOY.geometry.pagesPerBlock);
});

describe('command list', () => {
  /** Commands on one bus, one behind the other, as cycles and as what must be found again. */
  const work = fc.array(
    fc.record({
      die: fc.nat(3),
      kind: fc.constantFrom('read', 'program', 'erase', 'id', 'reset'),
      block: fc.nat(63),
      page: fc.nat(15),
      column: fc.nat(4000).map((half) => half * 2),
      count: fc.integer({ min: 1, max: 40 }),
      gapNs: fc.nat(300),
    }),
    { maxLength: 20 },
  );

  test('what is put in comes out, in every interface and detail', () => {
    fc.assert(
      fc.property(work, fc.boolean(), fc.nat(2), (rows, synchronous, data) => {
        const bus = synchronous ? SYNC : ASYNC;
        const cycles: Cycle[] = [];
        let nowNs = 0;
        for (const { die, kind, block, page, column, count, gapNs } of rows) {
          nowNs += gapNs;
          const row = rowOf(block, page);
          const isPage = kind === 'read' || kind === 'program';
          const bytes = [row & 0xff, row >>> 8, 0];
          const opener = { read: 0x00, program: 0x80, erase: 0x60, id: 0x90, reset: 0xff }[kind];
          const sent = isPage ? address(column, row) : { erase: bytes, id: [0] }[kind as string];
          cycles.push(...command(die, opener!, sent ?? [], nowNs, 25));
          nowNs += 25 * (1 + (sent?.length ?? 0)) + 70;
          if (kind === 'program' || kind === 'id') {
            const way = kind === 'id' ? CycleKind.DataOut : CycleKind.DataIn;
            cycles.push([
              die,
              way,
              count,
              nowNs,
              20 * count,
              () => new Uint8Array(count).fill(count),
            ]);
            nowNs += 20 * count;
          }
          const confirm = { read: 0x30, program: 0x10, erase: 0xd0 }[kind as string];
          if (confirm !== undefined) {
            cycles.push([die, CycleKind.Command, confirm, nowNs, 25]);
            nowNs += 25;
          }
          if (kind !== 'id') {
            cycles.push([die, CycleKind.Busy, 0, nowNs, 500]);
            nowNs += 500;
          }
        }
        const list = new CommandList();
        for (const [die, kind, value, atNs, ns, bytes] of cycles) {
          list.cycle(die, kind, value, atNs, ns, data === DataDetail.None ? null : (bytes ?? null));
        }
        const first = (one: DieCommand) =>
          data === DataDetail.Summary ? { ...one, bytes: one.bytes.slice(0, 1) } : one;
        const { commands } = decodeTraceText(traceOf(cycles, nowNs + 100, { bus, data }));
        expect(commands).toEqual(list.commands.map(first));
      }),
      { numRuns: 100 },
    );
  });

  test.each([
    ['READ PAGE', [0x00, 0x30], 5],
    ['READ MODE', [0x00], 0],
    ['PROGRAM PAGE', [0x80, 0x85, 0x10], 5],
    ['PROGRAM PAGE MULTI-PLANE', [0x81, 0x11], 5],
    ['COPYBACK PROGRAM', [0x85, 0x10], 5],
    ['CHANGE WRITE COLUMN', [0x85], 2],
    ['ERASE BLOCK', [0x60, 0xd0], 3],
    ['READ STATUS ENHANCED', [0x78], 3],
    ['GET FEATURES', [0xee], 1],
    ['UNKNOWN 42h', [0x42], 0],
  ])('%s', (name, opcodes, addresses) => {
    const list = new CommandList();
    const [first, ...rest] = opcodes;
    list.cycle(0, CycleKind.Command, first!, 0, 25, null);
    for (let i = 0; i < addresses; i++) list.cycle(0, CycleKind.Address, i, 25 + i * 25, 25, null);
    for (const opcode of rest) list.cycle(0, CycleKind.Command, opcode, 500, 25, null);
    expect(list.commands.map(nameOf)).toEqual([name]);
  });

  test('a busy time goes behind the status reads that poll it', () => {
    const cycles: Cycle[] = [
      ...command(0, 0x60, [0x21, 0, 0], 0, 25),
      [0, CycleKind.Command, 0xd0, 100, 25],
      [0, CycleKind.Busy, 0, 125, 3_800_000],
      [0, CycleKind.Command, 0x70, 1_000_000, 25],
      [0, CycleKind.DataOut, 1, 1_000_105, 10, () => Uint8Array.of(0x80)],
    ];
    const { commands } = decodeTraceText(traceOf(cycles, 4_000_000));
    expect(commands.map((one) => [nameOf(one), one.row, one.busyNs, one.bytes])).toEqual([
      ['ERASE BLOCK', 0x21, 3_800_000, []],
      ['READ STATUS', null, null, [0x80]],
    ]);
  });
});

describe('files that are no traces', () => {
  const HEADER = '$timescale 1 ns $end\n';
  test.each([
    ['empty', '', 'trace:1: the file ends in its header; expected $enddefinitions'],
    ['other', '{\n}', 'trace:1: "{" in the header; expected a word that begins with $'],
    ['scale', '$timescale 3 ns $end', 'trace:1: $timescale 3ns; expected such as 100 ps'],
    [
      'foreign',
      `${HEADER}$var wire 1 ! a $end`,
      'trace:2: no cycle trace: expected a comment "bf3-trace ..." before the variables',
    ],
    ['layout', '$comment bf3-trace version=1 channels=0 $end', 'channels=0; expected a count'],
    ['version', '$comment bf3-trace version=9 $end', 'a trace of version 9; expected 1'],
    ['body', `${HEADER}$enddefinitions $end\n?`, 'trace:3: "?"; expected a time'],
    ['unknown', `${HEADER}$enddefinitions $end\n#1\n1!`, 'a change of "!", which is no variable'],
    ['back', `${HEADER}$enddefinitions $end\n#5\n#4`, 'time goes back from #5 to #4'],
    ['huge', `${HEADER}$enddefinitions $end\n#${'9'.repeat(30)}`, 'expected up to 15 digits'],
    ['open', `${HEADER}$enddefinitions $end\n$comment`, '$comment has no $end'],
    ['scope', '$upscope $end', '$upscope without a $scope'],
  ])('%s', (_, text, message) => {
    expect(() => decodeTraceText(text)).toThrow(message);
  });

  test('any text gives a sentence', () => {
    const start = traceOf(command(0, 0xff, [], 0, 25), 100);
    fc.assert(
      fc.property(fc.nat(start.length), fc.string({ maxLength: 12 }), (at, noise) => {
        try {
          decodeTraceText(`${start.slice(0, at)}${noise}${start.slice(at)}`);
        } catch (error) {
          expect((error as Error).name).toBe('RunError');
        }
      }),
      { numRuns: 300 },
    );
  });
});
