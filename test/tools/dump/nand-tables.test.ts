/**
 * Goal: the tables about the silicon say what was done to it. Method: one block of a toy drive is
 * programmed, read, damaged and marked by hand, one program is made to fail; every row is known.
 */
import { expect, test } from 'vitest';
import { Host } from '../../../firmware/host.ts';
import { FlashOp } from '../../../hal/flash-ops.ts';
import { BlockFlag } from '../../../nand/block-history.ts';
import { type DumpOptions, dumpTable } from '../../../tools/dump/tables.ts';

/** Superblock in the middle of the toy drive that nothing uses yet. */
const UNUSED = 20;

function booted(): Host {
  const host = new Host('toy');
  host.boot();
  return host;
}

function rows(host: Host, name: string, options?: DumpOptions) {
  return dumpTable(host.drive, name, options).rows;
}

test('a block shows its past, its flags and the bit error rate of its last page', () => {
  const host = booted();
  const { geometry, array } = host.drive;
  const { store, media } = array;
  const block = geometry.blockIndex(3, UNUSED * geometry.planes);
  expect(rows(host, 'blocks', { superblock: UNUSED })).toEqual([]);
  store.history.load(block, 0, 700);
  store.openPage(block, 0, media.clock.minute);
  store.openPage(block, 1, media.clock.minute);
  for (let i = 0; i < 5; i++) store.history.read(block);
  store.damagePage(block, 1, 0.25);
  store.flag(block, BlockFlag.Weak);
  media.clock.age(30, 30);
  const rber = Math.round(media.rberOf(block, 1) * 1e9);
  expect(rber).toBeGreaterThan(0.25e9);
  const where = 'ch1.die1 block 40';
  // The scan for factory marks has read every block once.
  const row = [block, where, UNUSED, 2, 700, 0, 0, 30, 6, 'weak+damaged', rber];
  expect(rows(host, 'blocks', { superblock: UNUSED })).toEqual([row]);
  expect(rows(host, 'blocks', { from: block, count: 1 })).toEqual([row]);
  expect(rows(host, 'blocks', { from: block + 1, superblock: UNUSED })).toEqual([]);
  expect(rows(host, 'damage')).toEqual([[block, 1, `${where} page 1 slot 0`, 0.25e9]]);
});

test('a bad block group is marked by the factory, or has failed', () => {
  const host = booted();
  const { drive } = host;
  const { geometry, array, firmware } = drive;
  expect(rows(host, 'bad-blocks')).toEqual([]);
  const { bad } = firmware.superblocks;
  array.store.flag(geometry.blockIndex(1, UNUSED * geometry.planes + 1), BlockFlag.FactoryMark);
  bad.addFactory(UNUSED, 1);
  bad.addGrown(UNUSED + 1, 0);
  bad.addGrown(UNUSED + 1, 2);
  expect(rows(host, 'bad-blocks')).toEqual([
    [UNUSED, 1, 'ch1.die0 block 40', 'factory'],
    [UNUSED + 1, 0, 'ch0.die0 block 42', 'grown'],
    [UNUSED + 1, 2, 'ch0.die1 block 42', 'grown'],
  ]);
  expect(rows(host, 'bad-blocks', { superblock: UNUSED + 1 })).toHaveLength(2);
  expect(rows(host, 'bad-blocks', { from: 2 }).map(([, die]) => die)).toEqual([2]);
});

test('a fault is listed with what became of it, and what it left is damage and a bad block', () => {
  const host = booted();
  const { drive } = host;
  const fault = { kind: 'program-fail', times: 1, where: { region: 'data' } } as const;
  const id = drive.faults.add(fault);
  const lifted = drive.faults.add({ kind: 'erase-fail', where: { die: 2 } });
  drive.faults.lift(lifted);
  host.write(0, [1, 2, 3, 4, 5, 6, 7, 8]);
  host.flush();
  const [fired, other] = rows(host, 'faults');
  const { ordinal } = drive.timeline;
  expect(fired!.slice(0, 3)).toEqual([id, 'program-fail', 'used up']);
  expect(fired!.slice(3, 5)).toEqual([1, 1]);
  expect(fired![5]).toBe(fired![6]);
  expect(fired![5] as number).toBeLessThan(ordinal);
  expect(JSON.parse(fired![7] as string)).toEqual(fault);
  expect(other!.slice(0, 7)).toEqual([lifted, 'erase-fail', 'lifted', 0, 0, null, null]);
  expect(rows(host, 'damage').length).toBeGreaterThan(0);
  expect(rows(host, 'bad-blocks').map((row) => row[3])).toEqual(['grown']);
  expect(drive.array.counters.done[FlashOp.Erase]).toBe(0);
});
