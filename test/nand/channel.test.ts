import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VECTOR_256 } from '../../firmware/profiles/vector.ts';
import { Geometry } from '../../hal/geometry.ts';
import { Channels, COMMAND_NS } from '../../nand/channel.ts';
import type { BusMode } from '../../nand/part.ts';

const GEOMETRY = new Geometry(VECTOR_256.geometry);
const FASTEST: BusMode = { synchronous: true, mode: 5 };

describe('the transfer of a page of 8640 bytes', () => {
  it.each<[string, BusMode, number]>([
    ['synchronous mode 5', FASTEST, 43.2],
    ['synchronous mode 4', { synchronous: true, mode: 4 }, 51.8],
    ['synchronous mode 0', { synchronous: true, mode: 0 }, 216],
    ['asynchronous mode 5', { synchronous: false, mode: 5 }, 172.8],
  ])('in %s takes the published time', (_, bus, published) => {
    const pageNs = new Channels(GEOMETRY, bus).slotsNs[2]!;
    expect(Math.round(pageNs / 100) / 10).toBe(published);
  });

  it('is charged by the slot, data and spare together', () => {
    const { slotsNs } = new Channels(GEOMETRY, FASTEST);
    expect([...slotsNs]).toEqual([0, 21_600, 43_200, 64_800, 86_400]);
  });

  it('bounds a channel to 190 MB/s of user data in mode 5', () => {
    const channels = new Channels(GEOMETRY, FASTEST);
    const megabytesPerS = (16_384 / channels.slotsNs[4]!) * 1000;
    expect(Math.round(megabytesPerS)).toBe(190);
  });

  it('is rounded up to whole ns in every mode', () => {
    for (const synchronous of [true, false]) {
      for (const mode of [0, 1, 2, 3, 4, 5] as const) {
        const { slotsNs } = new Channels(GEOMETRY, { synchronous, mode });
        expect(slotsNs[4]! * 2).toBeGreaterThanOrEqual(slotsNs[2]! * 4 - 4);
        expect(slotsNs[4]).toBeLessThanOrEqual(slotsNs[2]! * 2);
      }
    }
  });
});

describe('a bus', () => {
  it('serves reservations in the order they are made, each behind the last', () => {
    const channels = new Channels(GEOMETRY, FASTEST);
    expect(channels.reserve(3, 1000, 500)).toBe(1500);
    expect(channels.reserve(3, 1100, COMMAND_NS)).toBe(1850);
    expect(channels.reserve(3, 9000, 10)).toBe(9010);
    // Other buses are free meanwhile.
    expect(channels.reserve(4, 1100, 10)).toBe(1110);
    expect([channels.busyNs[3], channels.busyNs[4], channels.busyNs[0]]).toEqual([860, 10, 0]);
  });

  it('never carries two things at once, and is never idle while one waits', () => {
    const step = fc.tuple(
      fc.nat({ max: 7 }),
      fc.nat({ max: 300 }),
      fc.integer({ min: 1, max: 200 }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const channels = new Channels(GEOMETRY, FASTEST);
        const endNs = new Array<number>(8).fill(0);
        let nowNs = 0;
        for (const [channel, waitNs, ns] of steps) {
          nowNs += waitNs;
          const end = channels.reserve(channel, nowNs, ns);
          expect(end).toBe(Math.max(endNs[channel]!, nowNs) + ns);
          endNs[channel] = end;
        }
        const sumNs = steps.reduce((sum, [, , ns]) => sum + ns, 0);
        expect(channels.busyNs.reduce((sum, ns) => sum + ns, 0)).toBe(sumNs);
      }),
    );
  });

  it('is saved and restored, and free after loss of power', () => {
    const channels = new Channels(GEOMETRY, FASTEST);
    channels.reserve(1, 0, 700);
    const fresh = new Channels(GEOMETRY, FASTEST);
    fresh.restore(channels.save());
    expect(fresh.reserve(1, 0, 1)).toBe(701);
    expect(channels.reserve(1, 0, 1)).toBe(701);
    channels.reset();
    expect([channels.reserve(1, 0, 1), channels.busyNs[1]]).toEqual([1, 1]);
  });
});
