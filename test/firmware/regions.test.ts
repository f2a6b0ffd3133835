/**
 * Goal: a fault that names a region of the layout meets every operation there and no other. Method:
 * one fault a region that notes what it is asked for and never fires, over a run that writes,
 * collects, checkpoints and mounts; what was noted is compared with the operations that were done
 * and with the spare records of what was programmed.
 */
import { expect, test } from 'vitest';
import { ROOT_SUPERBLOCK } from '../../firmware/ftl/superblocks.ts';
import { Host } from '../../firmware/host.ts';
import { FAULT_REGIONS, type FaultQuestion, type FaultRegion } from '../../hal/faults/fault.ts';
import { FlashOp, METADATA } from '../../hal/flash-ops.ts';

test('regions of programs and erases are those of the layout', () => {
  const host = new Host('toy');
  host.boot();
  const { drive } = host;
  const { geometry, array } = drive;
  const { done } = array.counters;
  const before = [done[FlashOp.Program]!, done[FlashOp.Erase]!];
  const seen = new Map<FaultRegion, FaultQuestion[]>(FAULT_REGIONS.map((region) => [region, []]));
  const wrong: string[] = [];
  for (const region of FAULT_REGIONS) {
    for (const kind of ['program-fail', 'erase-fail'] as const) {
      const note = (question: FaultQuestion) => {
        seen.get(region)!.push({ ...question });
        const { die, block, op } = question;
        const superblock = block >>> geometry.planeBits;
        const word = array.store.pageWordOf(geometry.unitSlotOf(die, superblock, 0));
        const isRoot = superblock === ROOT_SUPERBLOCK;
        if (isRoot !== (region === 'root')) wrong.push(`${region}: superblock ${superblock}`);
        // Of an erase the block still tells what it held.
        const isMetadata = (word & METADATA) !== 0;
        if (
          op === FlashOp.Erase &&
          word !== 0 &&
          !isRoot &&
          isMetadata !== (region === 'checkpoint')
        )
          wrong.push(`${region}: erase of superblock ${superblock}`);
        return false;
      };
      drive.faults.add({ kind, where: { region }, if: note });
    }
  }
  const pages = Math.floor(drive.profile.identity.sectors / 8);
  for (let round = 0; round < 3; round++) {
    for (let page = 0; page + 8 <= pages; page += 8) {
      host.write(page * 8, new Array(8).fill(round * pages + page + 1));
    }
    host.standby();
    drive.powerOff();
    host.boot();
  }
  expect(wrong).toEqual([]);
  const count = (op: FlashOp) =>
    [...seen.values()].flat().filter((question) => question.op === op).length;
  // Counters begin anew with the power; those of the last round are a part of what was seen.
  expect(count(FlashOp.Program)).toBeGreaterThan(before[0]! + done[FlashOp.Program]!);
  expect(count(FlashOp.Erase)).toBeGreaterThan(0);
  const used = FAULT_REGIONS.filter((region) => seen.get(region)!.length > 0);
  expect(used).toEqual(['root', 'checkpoint', 'data']);
});

test('a fault in the data does not touch root and checkpoint', () => {
  const host = new Host('toy');
  host.boot();
  const { drive } = host;
  const id = drive.faults.add({ kind: 'uncorrectable', where: { region: 'data' } });
  host.write(0, [7]);
  host.standby();
  drive.powerOff();
  // Mount reads root and checkpoint, all of them.
  host.boot();
  expect(drive.faults.list().find((report) => report.id === id)!.firedCount).toBe(0);
  expect(host.read(0, 8).status & 1).toBe(1);
  expect(drive.faults.list().find((report) => report.id === id)!.firedCount).toBeGreaterThan(0);
});
