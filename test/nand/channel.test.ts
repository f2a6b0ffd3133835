/**
 * Goal: a bus carries one thing at a time, in the order of asking.
 * Method: single reservations, and random ones against one number a bus.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VECTOR_256 } from '../../firmware/profiles/vector.ts';
import { Geometry } from '../../hal/geometry.ts';
import { Channels } from '../../nand/channel.ts';

const GEOMETRY = new Geometry(VECTOR_256.geometry);

describe('a bus', () => {
  it('serves reservations in the order they are made, each behind the last', () => {
    const channels = new Channels(GEOMETRY);
    expect(channels.reserve(3, 1000, 500)).toBe(1500);
    expect(channels.reserve(3, 1100, 350)).toBe(1850);
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
        const channels = new Channels(GEOMETRY);
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
    const channels = new Channels(GEOMETRY);
    channels.reserve(1, 0, 700);
    const fresh = new Channels(GEOMETRY);
    fresh.restore(channels.save());
    expect(fresh.reserve(1, 0, 1)).toBe(701);
    expect(channels.reserve(1, 0, 1)).toBe(701);
    channels.reset();
    expect([channels.reserve(1, 0, 1), channels.busyNs[1]]).toEqual([1, 1]);
  });
});
