/**
 * Goal: the reference disk accepts exactly what a correct drive may return.
 * Method: random writes, trims and failures against a model that keeps, for each sector, the plain
 * set of answers allowed; every sector and every wrong answer is asked for.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ReferenceDisk } from '../../../tools/workload/reference-disk.ts';

const SECTORS = 256;
/** Stands for "anything" in the model. */
const ANYTHING = 'anything';

type Step =
  | { readonly kind: 'write' | 'trim' | 'forget'; readonly lba: number; readonly sectors: number }
  | { readonly kind: 'restore' };

const range = fc
  .tuple(fc.nat({ max: SECTORS - 1 }), fc.integer({ min: 1, max: 40 }))
  .map(([lba, sectors]) => ({ lba, sectors: Math.min(sectors, SECTORS - lba) }));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: range.map((at) => ({ kind: 'write' as const, ...at })) },
  { weight: 3, arbitrary: range.map((at) => ({ kind: 'trim' as const, ...at })) },
  { weight: 1, arbitrary: range.map((at) => ({ kind: 'forget' as const, ...at })) },
  { weight: 1, arbitrary: fc.constant({ kind: 'restore' as const }) },
);

/** Sectors of an empty model. */
function blank(): { tag: number; allowed: Set<number> | typeof ANYTHING }[] {
  return Array.from({ length: SECTORS }, () => ({ tag: 0, allowed: new Set([0]) }));
}

/** How many of one sector's answers the disk finds wrong: 0 or 1. */
function wrongAt(disk: ReferenceDisk, lba: number, tag: number): number {
  // The handle says nothing of itself here, so that every sector is looked at.
  return disk.compare(lba, 1, Int32Array.of(-1), 0, { sectorTag: () => tag });
}

describe('reference disk', () => {
  test('accepts and refuses what the model does, sector by sector', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let disk = new ReferenceDisk(SECTORS);
        const model = blank();
        let highest = 0;
        for (const action of steps) {
          if (action.kind === 'restore') {
            const copy = new ReferenceDisk(SECTORS);
            copy.restore(disk.save());
            disk = copy;
            continue;
          }
          const { kind, lba, sectors } = action;
          const pages = Math.floor((lba + sectors - 1) / 8) - Math.floor(lba / 8) + 1;
          const first = kind === 'write' ? disk.takeTags(pages) : 0;
          if (kind === 'write') {
            disk.write(lba, sectors, first);
            highest = first + pages - 1;
          } else disk[kind](lba, sectors);
          for (let at = lba; at < lba + sectors; at++) {
            const cell = model[at]!;
            if (kind === 'forget') cell.allowed = ANYTHING;
            if (kind === 'trim' && cell.allowed !== ANYTHING) cell.allowed.add(0);
            if (kind !== 'write') continue;
            cell.tag = first + Math.floor(at / 8) - Math.floor(lba / 8);
            cell.allowed = new Set([cell.tag]);
          }
        }
        for (let lba = 0; lba < SECTORS; lba++) {
          const { allowed } = model[lba]!;
          for (const tag of [0, ...(allowed === ANYTHING ? [] : allowed), highest + 1]) {
            const right = allowed === ANYTHING || allowed.has(tag);
            if (wrongAt(disk, lba, tag) !== (right ? 0 : 1)) {
              throw new Error(`sector ${lba}, tag ${tag}: should be ${right ? 'right' : 'wrong'}`);
            }
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  test('counts the wrong sectors of a read and names the first', () => {
    const disk = new ReferenceDisk(1024);
    const tag = disk.takeTags(3);
    disk.write(6, 16, tag);
    expect([5, 6, 7, 8, 15, 16, 21, 22].map((lba) => disk.tagOf(lba))).toEqual([
      ...[0, tag, tag, tag + 1, tag + 1, tag + 2, tag + 2, 0],
    ]);
    // Handles of four pages as a drive would return them, the second one wrong.
    const pages = [
      [0, 0, 0, 0, 0, 0, tag, tag],
      Array(8).fill(tag + 9),
      [tag + 2, tag + 2, tag + 2, tag + 2, tag + 2, tag + 2, 0, 0],
    ];
    const contents = {
      sectorTag: (handle: number, sector: number) => pages[handle - 100]![sector]!,
    };
    const handles = Int32Array.of(100, 101, 102);
    expect(disk.compare(0, 24, handles, 0, contents)).toBe(8);
    expect([disk.wrongLba, disk.wrongTag, disk.expectedTag]).toEqual([8, tag + 9, tag + 1]);
    expect(disk.compare(12, 2, handles, 1, contents)).toBe(2);
    expect(disk.compare(16, 8, handles, 2, contents)).toBe(0);
  });

  test('what was never written reads as zeros', () => {
    const disk = new ReferenceDisk(500_000_000);
    expect(disk.compare(499_999_992, 8, Int32Array.of(0), 0, { sectorTag: () => 0 })).toBe(0);
    expect(disk.compare(499_999_992, 8, Int32Array.of(3), 0, { sectorTag: () => 3 })).toBe(8);
  });

  test('tells which of its two choices a drive took for trimmed sectors', () => {
    const disk = new ReferenceDisk(64);
    const tag = disk.takeTags(1);
    disk.write(0, 8, tag);
    disk.trim(0, 4);
    expect([disk.isTrimmed(3), disk.isTrimmed(4)]).toEqual([true, false]);
    expect(disk.compare(0, 8, Int32Array.of(tag), 0, { sectorTag: () => tag })).toBe(0);
    expect([disk.oldCount, disk.zeroCount]).toEqual([4, 0]);
    const zeros = { sectorTag: (_: number, sector: number) => (sector < 4 ? 0 : tag) };
    expect(disk.compare(0, 8, Int32Array.of(-1), 0, zeros)).toBe(0);
    expect([disk.oldCount, disk.zeroCount]).toEqual([4, 4]);
    expect(disk.compare(0, 8, Int32Array.of(0), 0, { sectorTag: () => 0 })).toBe(4);
  });

  test('tags begin again when they are used up, never with 0', () => {
    const disk = new ReferenceDisk(64);
    disk.restore({ ...disk.save(), nextTag: 0x7fff_fffe });
    expect(disk.takeTags(1)).toBe(0x7fff_fffe);
    expect(disk.takeTags(2)).toBe(1);
  });
});
