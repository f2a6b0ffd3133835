/**
 * Goal: a trace reaches the drive as it was recorded, and what the drive gets wrong is seen.
 * Method: made-up traces on the toy drive, watched through the probe; drives that fail on purpose.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Drive } from '../../../firmware/drive.ts';
import { TOY } from '../../../firmware/profiles/toy.ts';
import { VECTOR_256 } from '../../../firmware/profiles/vector.ts';
import { AtaDevice, AtaOpcode } from '../../../hal/ata.ts';
import type { Content } from '../../../hal/content/content.ts';
import { TaggedContent } from '../../../hal/content/tagged-content.ts';
import type { DriveProfile } from '../../../hal/profile.ts';
import { ProbeKind } from '../../../hal/sim/probe.ts';
import type { Machine } from '../../../hal/sim/snapshot.ts';
import { RunError } from '../../../tools/errors.ts';
import { bootDrive } from '../../../tools/replay/boot-recorder.ts';
import { type Pace, TracePlayer } from '../../../tools/replay/player.ts';
import { replayTrace } from '../../../tools/replay/run.ts';
import { Trace, TraceKind } from '../../../tools/replay/trace.ts';
import { checkReplay } from '../../../tools/replay/verdict.ts';

const { Read, Write, Trim, Flush } = TraceKind;
const { sectors: SECTORS } = TOY.identity;
const FLAT_OUT: Pace = { flatOut: true, speed: 1 };
const RECORDED: Pace = { flatOut: false, speed: 1 };

/** Time in ns, kind, first sector, sectors, FUA. */
type Row = readonly [number, TraceKind, number, number, boolean?];

function traceOf(rows: readonly Row[]): Trace {
  const trace = new Trace({ format: 'test', fileName: 'made.up' });
  rows.forEach(([atNs, kind, lba, sectors, fua = false], index) => {
    trace.add(atNs, kind, lba, sectors, fua, index + 1);
  });
  return trace.finish();
}

interface RigOptions {
  readonly profile?: DriveProfile;
  readonly contents?: (machine: Machine) => Content;
}

/** A toy drive, booted, with a player that waits for `play`. */
function rig(trace: Trace, pace: Pace, options: RigOptions = {}) {
  const { profile = TOY, ...parts } = options;
  const players: TracePlayer[] = [];
  const drive = new Drive(profile, {
    ...parts,
    source: ({ contents }) => {
      players.push(new TracePlayer(trace, contents, profile.identity.sectors, pace));
      return players[0]!;
    },
  });
  bootDrive(drive);
  const player = players[0]!;
  const play = (): void => {
    player.start(drive.timeline.nowNs);
    drive.host.pump();
    while (!player.isDone && drive.timeline.step());
    expect(drive.panic).toBeNull();
    expect(player.doneCount).toBe(trace.count);
  };
  return { drive, player, play };
}

/** A command as the drive received it. */
interface Seen {
  readonly atNs: number;
  readonly opcode: number;
  readonly lba: number;
  readonly device: number;
  /** Commands outstanding, this one included. */
  readonly outstanding: number;
  /** Commands that had ended before. */
  readonly ended: number;
}

function watchCommands(drive: Drive): Seen[] {
  const seen: Seen[] = [];
  let ended = 0;
  drive.probe.listener = {
    note: (kind, slot, opcode) => {
      if (kind === ProbeKind.HostDone) ended++;
      if (kind !== ProbeKind.HostCommand) return;
      const { outstandingCount: outstanding, lba, device } = drive.host;
      const atNs = drive.timeline.nowNs;
      seen.push({ atNs, opcode, lba: lba[slot]!, device: device[slot]!, outstanding, ended });
    },
  };
  return seen;
}

function words(): { title: string; options: Record<string, string> } {
  return { title: 'made up', options: {} };
}

const row: fc.Arbitrary<Row> = fc.oneof(
  { weight: 9, arbitrary: dataRow(Read) },
  { weight: 9, arbitrary: dataRow(Write) },
  { weight: 2, arbitrary: dataRow(Trim) },
  { weight: 1, arbitrary: fc.nat({ max: 2_000_000 }).map((atNs): Row => [atNs, Flush, 0, 0]) },
);

/** Half of the rows crowd into 64 sectors, so that they overlap; lengths go up to 1 MiB. */
function dataRow(kind: TraceKind): fc.Arbitrary<Row> {
  const lba = fc.oneof(fc.nat({ max: 63 }), fc.nat({ max: SECTORS - 2048 }));
  const length = fc.oneof(fc.integer({ min: 1, max: 24 }), fc.integer({ min: 1, max: 2048 }));
  return fc
    .tuple(fc.nat({ max: 2_000_000 }), lba, length, fc.boolean())
    .map(([atNs, first, sectors, fua]): Row => [atNs, kind, first, sectors, fua && kind === Write]);
}

describe('trace player on a drive that works', () => {
  test('any trace at any depth and pace: every operation ends, every read is right', () => {
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 32 }),
        fc.boolean(),
        (rows, queueDepth, flatOut) => {
          const trace = traceOf(rows);
          const pace = { flatOut, speed: 1 };
          const result = replayTrace(trace, { profile: TOY, pace, queueDepth, words: words() });
          const { player, report, drive } = result;
          const { reads, writes, trims, flushes, readBytes, writtenBytes } = trace.summary();
          expect(player.firstMismatch).toBeNull();
          expect(player.firstFailure).toBeNull();
          expect(player.verifiedCount).toBe(reads);
          const { read, write, trim, flush } = report.kinds;
          expect([read, write, trim, flush].map(({ operations }) => operations)).toEqual([
            ...[reads, writes, trims, flushes],
          ]);
          expect([read.bytes, write.bytes]).toEqual([readBytes, writtenBytes]);
          drive.firmware.verify();
        },
      ),
      { numRuns: 40 },
    );
  });

  test.each([1, 10, 0.5])('the k-th command is not issued before its time, at %s x', (speed) => {
    const rows = Array.from({ length: 50 }, (_, k): Row => {
      return [k * k * 10_000, [Read, Write, Trim, Flush][k % 4]!, k * 64, k % 4 === 3 ? 0 : 8];
    });
    const { drive, player, play } = rig(traceOf(rows), { flatOut: false, speed });
    const startNs = drive.timeline.nowNs;
    const commands = watchCommands(drive);
    play();
    expect(commands.length).toBe(50);
    commands.forEach(({ atNs }, k) => {
      const dueNs = startNs + Math.ceil((k * k * 10_000) / speed);
      expect(player.dueNs(k)).toBe(dueNs);
      expect(atNs).toBeGreaterThan(dueNs);
    });
    if (speed > 1) return;
    // In the end gaps are longer than any command takes: each goes out at once, one FIS later.
    const idleNs = commands.at(-1)!.atNs - player.dueNs(49);
    expect(idleNs).toBe(drive.port.link.registerNs);
  });

  test('each kind of operation becomes its command', () => {
    const { drive, play } = rig(
      traceOf([
        [0, Write, 8, 8, true],
        [1, Read, 8, 8],
        [2, Trim, 8, 8],
        [3, Flush, 0, 0],
      ]),
      FLAT_OUT,
    );
    const commands = watchCommands(drive);
    play();
    expect(commands.map(({ opcode }) => opcode)).toEqual([
      AtaOpcode.WriteFpdmaQueued,
      AtaOpcode.ReadFpdmaQueued,
      AtaOpcode.DataSetManagement,
      AtaOpcode.FlushCacheExt,
    ]);
    expect(commands.map(({ device }) => (device & AtaDevice.ForceUnitAccess) !== 0)).toEqual([
      ...[true, false, false, false],
    ]);
  });

  test.each([1, 3, 32])('flat out, %i commands are outstanding and never more', (queueDepth) => {
    const rows = (kind: TraceKind): Row[] =>
      Array.from({ length: 400 }, (_, k) => [0, kind, ((k * 37) % 400) * 8, 8] as const);
    const { drive, play } = rig(
      traceOf([...rows(Write), [0, Flush, 0, 0], ...rows(Read)]),
      FLAT_OUT,
    );
    drive.host.queueDepth = queueDepth;
    const commands = watchCommands(drive);
    play();
    // Reads from four dies take longer than the link needs to bring 32 commands.
    expect(Math.max(...commands.map(({ outstanding }) => outstanding))).toBe(queueDepth);
  });

  test('what overlaps an operation under way waits for its end, unless both are reads', () => {
    const { drive, play } = rig(
      traceOf([
        [0, Write, 0, 64],
        [1, Write, 64, 64],
        [2, Read, 63, 1],
        [3, Read, 60, 8],
        [4, Write, 67, 1],
        [5, Read, 128, 8],
        [6, Flush, 0, 0],
        [7, Read, 128, 8],
      ]),
      FLAT_OUT,
    );
    const commands = watchCommands(drive);
    play();
    const ended = commands.map((command) => command.ended);
    expect(commands.map(({ lba }) => lba)).toEqual([0, 64, 63, 60, 67, 128, 0, 128]);
    // The second write goes out beside the first, the first read after it, the second beside both.
    expect(ended[1]).toBe(0);
    expect(ended[2]).toBeGreaterThanOrEqual(1);
    expect(ended[3]).toBeGreaterThanOrEqual(2);
    expect(ended[4]).toBe(4);
    expect(ended.slice(6)).toEqual([6, 7]);
  });

  test('an operation longer than a command is several commands and one operation', () => {
    const trace = traceOf([
      [0, Write, 5, 200_000],
      [1, Read, 0, 65_536],
      [2, Read, 0, 200_010],
      [3, Trim, 1, 40_000_000],
      [4, Read, 0, 8],
    ]);
    const { drive, player, play } = rig(trace, FLAT_OUT, { profile: VECTOR_256 });
    const commands = watchCommands(drive);
    play();
    const count = (opcode: AtaOpcode): number =>
      commands.filter((command) => command.opcode === opcode).length;
    // 65536 sectors a command; 512 ranges of 65535 sectors a TRIM.
    expect(count(AtaOpcode.WriteFpdmaQueued)).toBe(4);
    expect(count(AtaOpcode.ReadFpdmaQueued)).toBe(1 + 4 + 1);
    expect(count(AtaOpcode.DataSetManagement)).toBe(2);
    expect([player.verifiedCount, player.mismatchCount, player.failedCount]).toEqual([3, 0, 0]);
    // Of the last read, sectors 5 to 7 were written and then trimmed: at the edge of the range, the
    // drive keeps them.
    expect([player.reference.oldCount, player.reference.zeroCount]).toEqual([3, 0]);
  });
});

describe('trace player on a drive that fails', () => {
  test('a drive that forgets part of a write is found out, with the place', () => {
    class Forgetful extends TaggedContent {
      override merge(below: number, above: number, mask: number): number {
        return super.merge(below, above, mask & ~1);
      }
    }
    const { player, play } = rig(
      traceOf([
        [0, Write, 0, 8],
        [1, Write, 8, 3],
        [2, Read, 0, 16],
        [3, Read, 9, 2],
        [4, Read, 8, 1],
      ]),
      RECORDED,
      { contents: (machine) => new Forgetful(machine) },
    );
    play();
    expect([player.verifiedCount, player.mismatchCount, player.wrongSectors]).toEqual([3, 2, 2]);
    expect(player.firstMismatch).toBe(
      'made.up:3: a read of 16 sectors at LBA 0: sector 8 holds zeros; ' +
        'expected page 2 of those written',
    );
    expect(() => checkReplay(player)).toThrow(RunError);
    expect(() => checkReplay(player)).toThrow(
      /^2 of 3 reads were wrong \(2 sectors\); the first: /,
    );
  });

  test('a command that the drive refuses counts as failed; the others go on', () => {
    const { player, play } = rig(
      traceOf([
        [0, Write, 0, 64],
        [1, Read, SECTORS - 4, 8],
        [2, Read, 0, 64],
        [3, Write, SECTORS, 1],
        [4, Trim, SECTORS, 8],
        [5, Flush, 0, 0],
        [6, Read, 0, 64],
      ]),
      FLAT_OUT,
    );
    play();
    expect([player.failedCount, player.verifiedCount, player.mismatchCount]).toEqual([3, 2, 0]);
    expect(player.firstFailure).toMatch(/^made\.up:2: a read of 8 sectors at LBA 40956 failed: /);
    expect(() => checkReplay(player)).toThrow(/^3 of 7 operations failed; the first: made\.up:2/);
  });

  test('a reset in the middle: what was outstanding is lost, the rest is right', () => {
    const rows = Array.from({ length: 300 }, (_, k): Row => {
      return [0, k % 2 === 0 ? Write : Read, ((k * 37) % 100) * 20, 20];
    });
    const { drive, player } = rig(traceOf(rows), FLAT_OUT);
    player.start(drive.timeline.nowNs);
    drive.host.pump();
    while (player.doneCount < 100) drive.timeline.step();
    const done = player.doneCount;
    drive.host.comReset();
    const lost = player.doneCount - done;
    expect(lost).toBeGreaterThan(0);
    while (!player.isDone && drive.timeline.step());
    expect([player.doneCount, player.failedCount, player.mismatchCount]).toEqual([300, lost, 0]);
    expect(player.firstFailure).toMatch(/failed: lost in a reset$/);
  });

  test('saved and restored, a player goes on from where it was', () => {
    const rows = Array.from({ length: 40 }, (_, k): Row => [k * 1000, Write, k * 8, 12]);
    const trace = traceOf(rows);
    const { drive, player } = rig(trace, RECORDED);
    player.start(drive.timeline.nowNs);
    drive.host.pump();
    while (player.doneCount < 20) drive.timeline.step();
    const copy = new TracePlayer(trace, drive.contents, SECTORS, RECORDED);
    copy.restore(player.save());
    expect(copy.save()).toEqual(player.save());
    expect(copy.doneCount).toBe(20);
  });
});
