import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readTraceFile } from '../../../tools/replay/detect.ts';
import { type Trace, TraceKind } from '../../../tools/replay/trace.ts';

const { Read, Write, Trim, Flush } = TraceKind;

function fixture(name: string): string {
  return new URL(`../../fixtures/${name}`, import.meta.url).pathname;
}

const binary = readTraceFile(fixture('guest_ahci.blktrace'));
const text = readTraceFile(fixture('blkparse_guest_ahci.txt'));

/** Operations in order, without times. */
function operations(trace: Trace): string[] {
  return Array.from(trace.kind, (kind, i) => {
    const fua = trace.fua[i] === 1 ? ' FUA' : '';
    return `${TraceKind[kind]} ${trace.lba[i]} ${trace.sectors[i]}${fua}`;
  });
}

const KINDS = new Map([
  [0x60, Read],
  [0x61, Write],
  [0x06, Trim],
  [0xe7, Flush],
]);

/** The data, discard and flush commands that the drive received, in order. */
function fisCommands(): { kind: TraceKind; lba: number; sectors: number }[] {
  const commands: { kind: TraceKind; lba: number; sectors: number }[] = [];
  for (const row of readFileSync(fixture('ahci_fis_trace.log'), 'latin1').split('\n')) {
    const [, type, , hex] = row.split(' ');
    if (type !== 'H2D') continue;
    const fis = Buffer.from(hex!, 'hex');
    const kind = KINDS.get(fis[2]!);
    if (kind === undefined) continue;
    const lba = fis.readUIntLE(4, 3) + fis.readUIntLE(8, 3) * 2 ** 24;
    // Queued commands carry the sector count in the FEATURES fields.
    commands.push({ kind, lba, sectors: fis[3]! + fis[11]! * 256 });
  }
  return commands;
}

describe('Linux guest on AHCI, three recordings of one run', () => {
  test.each([
    ['blktrace', binary],
    ['blkparse', text],
  ])('%s holds the published counts', (format, trace) => {
    expect(trace.format).toBe(format);
    expect(trace.summary()).toMatchObject({ trims: 6, flushes: 20, fuaWrites: 0 });
    expect(trace.summary().reads + trace.summary().writes).toBe(509);
    expect(trace.summary().neededSectors).toBe(1048576);
    expect(trace.count).toBe(535);
    expect([...trace.devices]).toEqual([['8,0', 535]]);
    expect(trace.emptyCount).toBe(0);
  });

  test('text and binary give the same operations', () => {
    expect(operations(text)).toEqual(operations(binary));
  });

  test('text and binary give the same times but for the restart of the clock', () => {
    // Up to line 512 exactly the same; after it the text lacks the time between the events of
    // lines 512 and 513, which nothing in it tells.
    const lost = Array.from(binary.atNs, (atNs, i) => atNs - text.atNs[i]!);
    const restart = lost.findIndex((ns) => ns !== 0);
    expect(text.place[restart - 1]).toBeLessThan(513);
    expect(text.place[restart]).toBeGreaterThanOrEqual(513);
    expect(new Set(lost)).toEqual(new Set([0, lost[restart]]));
    expect(lost[restart]).toBeGreaterThan(0);
    expect(lost[restart]).toBeLessThan(100_000);
  });

  test('the dispatched operations are the commands that the drive received, in order', () => {
    const commands = fisCommands().slice(3, -1);
    expect(
      fisCommands()
        .slice(0, 3)
        .every(({ kind }) => kind === Read),
    ).toBe(true);
    expect(fisCommands().at(-1)?.kind).toBe(Flush);
    expect([...binary.kind]).toEqual(commands.map(({ kind }) => kind));
    const transfers = commands.filter(({ kind }) => kind === Read || kind === Write);
    expect(transfers.length).toBe(509);
    const received = transfers.map(({ kind, lba, sectors }) => {
      return `${TraceKind[kind]} ${lba} ${sectors}`;
    });
    expect(operations(binary).filter((row) => /^(Read|Write)/.test(row))).toEqual(received);
  });

  test('queued events on request: the same bytes, flushes folded into writes', () => {
    const queued = readTraceFile(fixture('guest_ahci.blktrace'), { events: 'Q' });
    const queuedText = readTraceFile(fixture('blkparse_guest_ahci.txt'), { events: 'Q' });
    expect(operations(queuedText)).toEqual(operations(queued));
    // RWBS of the Q lines: FWS x10 and FWFSM x3 flush; WFS x1, WFSM x3 and FWFSM x3 are FUA.
    expect(queued.summary()).toMatchObject({ reads: 450, trims: 6, flushes: 13, fuaWrites: 7 });
    expect(queued.summary().writtenBytes).toBe(binary.summary().writtenBytes);
    expect(queued.summary().readBytes).toBe(binary.summary().readBytes);
  });

  test('fstrim discards the bytes that it reported', () => {
    const discarded = Array.from(binary.sectors).filter((_, i) => binary.kind[i] === Trim);
    const fstrim = discarded.slice(2).reduce((sum, sectors) => sum + sectors * 512, 0);
    // mkfs.ext4 discards one block, then the whole drive; the rest is fstrim's.
    expect(discarded.slice(0, 2)).toEqual([8, 1048576]);
    expect(fstrim).toBe(510_849_024);
  });
});

describe('fio iologs', () => {
  test('version 2: waits set the pace', () => {
    const trace = readTraceFile(fixture('fio_v2.log'));
    expect(operations(trace)).toEqual([
      'Write 0 8',
      'Write 16 128',
      'Read 0 8',
      'Trim 16 128',
      'Flush 0 0',
    ]);
    expect([...trace.atNs]).toEqual([0, 0, 1e6, 1e6, 1e6]);
    expect(trace.where(0)).toMatch(/fio_v2\.log:4$/);
  });

  test('version 3: each line has its own time, the first operation is at 0', () => {
    const trace = readTraceFile(fixture('fio_v3.log'));
    expect(operations(trace)).toEqual(['Write 0 8', 'Write 16 128', 'Read 0 8', 'Trim 16 128']);
    expect([...trace.atNs]).toEqual([0, 1e6, 299e6, 399e6]);
  });

  test('written by fio itself', () => {
    const trace = readTraceFile(fixture('fio_v3_written_by_fio.log'));
    expect(trace.summary()).toMatchObject({
      reads: 12,
      writes: 8,
      readBytes: 12 * 4096,
      writtenBytes: 8 * 4096,
      spanNs: (5895 - 867) * 1000,
    });
    expect(trace.lba[0]).toBe(61440 / 512);
  });
});
