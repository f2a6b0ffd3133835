/**
 * Goal: what an operation costs on the bus is what the timing modes say.
 * Method: published transfer times, and sums of the cycles of ONFI 2.2.
 */
import { describe, expect, it } from 'vitest';
import { VECTOR_256 } from '../../firmware/profiles/vector.ts';
import { FlashOps } from '../../hal/flash-ops.ts';
import { Geometry } from '../../hal/geometry.ts';
import type { BusMode } from '../../nand/part.ts';
import { nandPart } from '../../nand/part.ts';
import { planesOf, Sequencer } from '../../nand/sequencer.ts';
import type { RawPages } from '../../nand/slot-register.ts';

const GEOMETRY = new Geometry(VECTOR_256.geometry);
const FASTEST: BusMode = { synchronous: true, mode: 5 };
const PAGES: RawPages = {
  rawBytes: 8640,
  rawOfCells: () => new Uint8Array(8640),
  rawOfOp: () => new Uint8Array(8640),
};

function sequencerIn(bus: BusMode): Sequencer {
  const part = nandPart(VECTOR_256.partId);
  return new Sequencer([], GEOMETRY, part, bus, PAGES, new FlashOps(1));
}

describe('the transfer of a page of 8640 bytes', () => {
  it.each<[string, BusMode, number]>([
    ['synchronous mode 5', FASTEST, 43.2],
    ['synchronous mode 4', { synchronous: true, mode: 4 }, 51.8],
    ['synchronous mode 0', { synchronous: true, mode: 0 }, 216],
    ['asynchronous mode 5', { synchronous: false, mode: 5 }, 172.8],
  ])('in %s takes the published time', (_, bus, published) => {
    const pageNs = sequencerIn(bus).slotsNs[2]!;
    expect(Math.round(pageNs / 100) / 10).toBe(published);
  });

  it('is charged by the slot, data and spare together', () => {
    const { slotsNs } = sequencerIn(FASTEST);
    expect([...slotsNs]).toEqual([0, 21_600, 43_200, 64_800, 86_400]);
  });

  it('bounds a channel to 190 MB/s of user data in mode 5', () => {
    const megabytesPerS = (16_384 / sequencerIn(FASTEST).slotsNs[4]!) * 1000;
    expect(Math.round(megabytesPerS)).toBe(190);
  });
});

/** All modes: tCAD or tWC, tADL and tWB of ONFI 2.2. */
const MODES: [boolean, BusMode['mode'], number, number, number][] = [
  ...([0, 1, 2, 3, 4, 5] as const).map(
    (mode): [boolean, BusMode['mode'], number, number, number] => [
      ...([true, mode, 25, [100, 100, 70, 70, 70, 70][mode]!, 100] as const),
    ],
  ),
  [false, 0, 100, 200, 200],
  [false, 1, 45, 100, 100],
  [false, 2, 35, 100, 100],
  [false, 3, 30, 100, 100],
  [false, 4, 25, 70, 100],
  [false, 5, 20, 70, 100],
];

describe.each(MODES)('synchronous %s, mode %i', (synchronous, mode, cycleNs, adlNs, wbNs) => {
  const sequencer = sequencerIn({ synchronous, mode });

  it('costs whole ns, two planes more than one and less than twice with tDBSY between', () => {
    const { readNs, eraseNs, outputNs, slotsNs, programNs } = sequencer;
    const all = [...readNs, ...eraseNs, ...outputNs, ...slotsNs, programNs];
    expect(all.filter((ns) => !Number.isInteger(ns))).toEqual([]);
    expect([readNs[2]! - readNs[1]!, eraseNs[2]! - eraseNs[1]!]).toEqual([
      readNs[1]! - wbNs + 500,
      eraseNs[1]! - wbNs + 500,
    ]);
  });

  it('spends seven cycles on a read, five on an erase, and data on a program', () => {
    const { readNs, eraseNs, programNs, slotsNs } = sequencer;
    expect(readNs[1]).toBe(7 * cycleNs + wbNs);
    expect(eraseNs[1]).toBe(5 * cycleNs + wbNs);
    expect(programNs).toBe(14 * cycleNs + 2 * adlNs + 2 * slotsNs[2]! + 500 + wbNs);
  });

  it('moves slots in proportion to their bytes', () => {
    const { slotsNs } = sequencer;
    expect(slotsNs[4]).toBe(slotsNs[2]! * 2);
    expect(slotsNs[2]).toBe(slotsNs[1]! * 2);
  });
});

it('the planes of a slot mask are those of its slots', () => {
  const masks = [0b0001, 0b0010, 0b0100, 0b1000, 0b1010, 0b1111];
  expect(masks.map((mask) => planesOf(mask, 2))).toEqual([1, 1, 2, 2, 3, 3]);
  expect(planesOf(0b0001_0000, 4)).toBe(2);
});
