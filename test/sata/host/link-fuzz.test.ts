/**
 * Goal: on any bad link, every command ends, a good one has done what it says, and nothing leaks.
 * Method: random commands over random faults; the oracle is a model of the disk in which a write
 * that failed may have happened. Every fault is lifted in the end, and then all must work.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Host } from '../../../firmware/host.ts';
import { AtaOpcode } from '../../../hal/ata.ts';
import { type Fault, FIS_TYPES, type FisName } from '../../../hal/faults/fault.ts';
import { findLeak } from '../../kit/leaks.ts';
import { ModelDisk } from '../../kit/model-disk.ts';

const GOOD = 0x50;
/** Sectors that the commands address: few, so that they meet. */
const AREA = 1200;
const RUNS = 40;

const fis = fc.option(fc.constantFrom(...(Object.keys(FIS_TYPES) as FisName[])), { nil: null });
const fault = fc
  .record({
    kind: fc.constantFrom('link-crc' as const, 'lost-fis' as const),
    fis,
    nth: fc.integer({ min: 1, max: 60 }),
    times: fc.integer({ min: 1, max: 6 }),
    probability: fc.constantFrom(1, 0.3),
  })
  .map(({ kind, fis: type, nth, ...rest }): Fault => {
    return { kind, ...(type === null ? {} : { fis: type }), when: { nth }, ...rest };
  });
const command = fc.record({
  kind: fc.constantFrom(
    'write',
    'write',
    'write',
    'read',
    'read',
    'dma write',
    'dma read',
    'flush',
  ),
  lba: fc.nat(AREA - 160),
  sectors: fc.integer({ min: 1, max: 150 }),
  fua: fc.boolean(),
});
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

function pagesOf({ lba, sectors }: Command): number {
  return Math.ceil(((lba % 8) + sectors) / 8);
}

/** Issues a command; returns its number. */
function submit(host: Host, row: Command, tags: readonly number[]): number {
  const { kind, lba, sectors, fua } = row;
  const data = Int32Array.from(tags);
  switch (kind) {
    case 'write':
      return host.submitWrite(lba, tags, sectors, fua);
    case 'read':
      return host.submit({ opcode: AtaOpcode.ReadFpdmaQueued, lba, sectors });
    case 'dma write':
      return host.submit({ opcode: AtaOpcode.WriteDmaExt, lba, sectors, count: sectors, data });
    case 'dma read':
      return host.submit({ opcode: AtaOpcode.ReadDmaExt, lba, sectors, count: sectors });
    default:
      return host.submit({ opcode: AtaOpcode.FlushCacheExt });
  }
}

/** First thing that is wrong with a command that has ended; null when all is well. */
function settle(host: Host, id: number, row: Command, tags: readonly number[], model: ModelDisk) {
  const { status, tags: read } = host.result(id)!;
  if (row.kind.endsWith('write')) {
    if (status === GOOD) model.write(row.lba, row.sectors, tags);
    else model.maybeWrite(row.lba, row.sectors, tags);
  }
  return status === GOOD && read !== null ? model.check(row.lba, read) : null;
}

function overlaps(a: Command, b: Command): boolean {
  return a.lba < b.lba + b.sectors && b.lba < a.lba + a.sectors;
}

test('random commands on a random bad link', () => {
  const bursts = fc.array(fc.array(command, { minLength: 1, maxLength: 12 }), { maxLength: 6 });
  const faults = fc.array(fault, { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(bursts, faults, (rows, laid) => {
      const host = new Host('toy');
      const list = host.drive.faults;
      host.drive.port.frames.connect(list);
      host.boot();
      for (const one of laid) list.add(one);
      const model = new ModelDisk(AREA);
      let tag = 1;
      for (const burst of rows) {
        // What overlaps within a queue has no order, so it is left out.
        const apart = burst.filter((row, i) => !burst.slice(0, i).some((o) => overlaps(o, row)));
        const issued = apart.map((row) => {
          const tags = Array.from({ length: pagesOf(row) }, () => tag++);
          return { row, tags, id: submit(host, row, tags) };
        });
        host.runUntil(() => issued.every(({ id }) => host.result(id) !== null));
        for (const { row, tags, id } of issued) {
          expect(settle(host, id, row, tags, model)).toBe(null);
        }
      }
      list.liftAll();
      if (!host.drive.isReady) host.drive.host.comReset();
      host.runUntil(() => host.drive.isReady);
      expect(model.check(0, host.read(0, AREA).tags!)).toBe(null);
      expect(host.flush().status).toBe(GOOD);
      expect(findLeak(host)).toBe(null);
      expect(host.drive.panic).toBe(null);
    }),
    { numRuns: RUNS, seed: 5 },
  );
});
