import { describe, expect, it } from 'vitest';
import { TOY } from '../../firmware/profiles/toy.ts';
import { VECTOR_256 } from '../../firmware/profiles/vector.ts';
import { Dram } from '../../hal/dram.ts';
import { ImpossibleProfile } from '../../hal/profile.ts';
import { Timeline } from '../../hal/sim/timeline.ts';

/** Two DDR3L-1600 devices of 16 bits: 2 x 2 bytes x 1600 MT/s = 6.4 bytes a ns. */
const SETTINGS = VECTOR_256.dram;

describe('regions', () => {
  it('begin where the one before ends', () => {
    const dram = new Dram(SETTINGS, new Timeline());
    const bytes = [256 * 1024, 8 * 2 ** 20, 4096, 1];
    const regions = bytes.map((size, index) => dram.region(`r${index}`, size));
    expect(regions.map((region) => region.bytes)).toEqual(bytes);
    const ends = regions.map((region) => region.address + region.bytes);
    expect(regions.slice(1).map((region) => region.address)).toEqual(ends.slice(0, -1));
    expect(dram.bytesUsed).toBe(bytes.reduce((sum, size) => sum + size));
    expect(dram.regions).toEqual(regions);
  });

  it('may fill the devices to the last byte', () => {
    const dram = new Dram(SETTINGS, new Timeline());
    dram.region('all', 512 * 2 ** 20);
    expect(dram.bytesUsed).toBe(dram.bytes);
  });

  it('that do not fit are told by name, excess and what would be right', () => {
    const dram = new Dram(TOY.dram, new Timeline());
    dram.region('firmware', 8 * 2 ** 20 - 100);
    expect(() => dram.region('l2p', 356)).toThrow(
      new ImpossibleProfile(
        "DRAM region 'l2p' ends 256 bytes past the 8388608 bytes fitted (2 devices): " +
          'fewer slots or more DRAM',
      ),
    );
  });
});

describe('bandwidth', () => {
  it('is devices x bus bytes x transfers: 6.4 GB/s', () => {
    const dram = new Dram(SETTINGS, new Timeline());
    expect(dram.charge(6400)).toBe(1000);
    expect(dram.busyNs).toBe(1000);
  });

  it('queues transfers behind each other', () => {
    const timeline = new Timeline();
    const dram = new Dram(SETTINGS, timeline);
    dram.charge(6400);
    timeline.runUntil(400);
    expect(dram.charge(640)).toBe(700);
    timeline.runUntil(5000);
    expect(dram.charge(640)).toBe(100);
    expect(dram.busyNs).toBe(1200);
    expect(dram.bytesMoved).toBe(7680);
  });

  it('is lost and empty after loss of power', () => {
    const dram = new Dram(SETTINGS, new Timeline());
    dram.charge(64_000);
    dram.reset();
    expect([dram.bytesMoved, dram.charge(64)]).toEqual([0, 10]);
  });

  it('is continued from a snapshot', () => {
    const dram = new Dram(SETTINGS, new Timeline());
    dram.charge(6400);
    const fresh = new Dram(SETTINGS, new Timeline());
    fresh.restore(dram.save());
    expect(fresh.charge(640)).toBe(1100);
    expect(fresh.bytesMoved).toBe(7040);
  });
});

describe('bits that turn over', () => {
  const counts = (dram: Dram) => {
    const { registers } = dram.registers();
    return ['CORRECTED', 'FLIPPED'].map((name) => {
      return registers.find((register) => register.name === name)!.read();
    });
  };

  it('are put right by the parity device, and stay without it', () => {
    const plain = new Dram(SETTINGS, new Timeline());
    const parity = new Dram({ ...SETTINGS, parityDevice: true }, new Timeline());
    expect([plain.flip(), plain.flip(), parity.flip()]).toEqual([true, true, false]);
    expect([counts(plain), counts(parity)]).toEqual([
      [0, 2],
      [1, 0],
    ]);
  });

  it('are counted over a snapshot, from power-on', () => {
    const dram = new Dram(SETTINGS, new Timeline());
    dram.flip();
    const fresh = new Dram(SETTINGS, new Timeline());
    fresh.restore(dram.save());
    expect(counts(fresh)).toEqual([0, 1]);
    fresh.reset();
    expect(counts(fresh)).toEqual([0, 0]);
  });
});
