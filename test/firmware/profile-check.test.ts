/**
 * Goal: a profile whose numbers cannot hold is refused with a sentence that says which and why.
 * Method: one broken relation a case, on the toy.
 */

import { describe, expect, test } from 'vitest';
import { Drive } from '../../firmware/drive.ts';
import { checkProfile } from '../../firmware/profile-check.ts';
import { PROFILES, profileById } from '../../firmware/profiles/index.ts';
import { TOY } from '../../firmware/profiles/toy.ts';
import { type DriveProfile, type FirmwarePolicy, ImpossibleProfile } from '../../hal/profile.ts';

const policy = (change: Partial<FirmwarePolicy>): DriveProfile => ({
  ...TOY,
  policy: { ...TOY.policy, ...change },
});
const geometry = (change: Partial<DriveProfile['geometry']>): DriveProfile => ({
  ...TOY,
  geometry: { ...TOY.geometry, ...change },
});
const sectors = (count: number): DriveProfile => ({
  ...TOY,
  identity: { ...TOY.identity, sectors: count },
});

describe('profile check', () => {
  test.each(PROFILES.map((profile) => [profile.id, profile]))('%s can hold', (id, profile) => {
    expect(() => checkProfile(profile as DriveProfile)).not.toThrow();
    expect(profileById(id as string)).toBe(profile);
  });

  const CASES: [string, DriveProfile, string][] = [
    [
      'a floor below two',
      policy({ freeSuperblocksFloor: 1 }),
      'freeSuperblocksFloor must be at least 2, not 1',
    ],
    [
      'a low level at the floor',
      policy({ freeSuperblocksLow: 2 }),
      'freeSuperblocksLow (2) must exceed freeSuperblocksFloor (2)',
    ],
    [
      'a high level at the low one',
      policy({ freeSuperblocksHigh: 5 }),
      'freeSuperblocksHigh (5) must exceed freeSuperblocksLow',
    ],
    [
      'a write buffer that is no power of two',
      policy({ writeBufferSlots: 100 }),
      'writeBufferSlots must be a power of two, not 100',
    ],
    [
      'a write buffer of one burst',
      policy({ writeBufferSlots: 32 }),
      'writeBufferSlots must be at least two bursts (64)',
    ],
    [
      'more user data than superblocks can hold',
      sectors(22 * 256 * 8),
      `${22 * 256 * 8} sectors need 22 superblocks, with 5 erased, 2 for checkpoints and 3 more ` +
        '32; the geometry has 32',
    ],
    ['planes that are no power of two', geometry({ planes: 3 }), 'planes'],
    ['blocks that are no power of two', geometry({ blocksPerDie: 60 }), 'blocksPerDie'],
    ['pages that are no power of two', geometry({ pagesPerBlock: 20 }), 'pagesPerBlock'],
    ['dies that are no power of two', geometry({ channels: 3 }), 'channels * diesPerChannel'],
    ['a page that is no whole slot', geometry({ pageBytes: 6144 }), 'slots per page'],
  ];

  test.each(CASES)('%s', (_name, profile, sentence) => {
    expect(() => checkProfile(profile)).toThrow(ImpossibleProfile);
    expect(() => checkProfile(profile)).toThrow("profile 'toy': ");
    expect(() => checkProfile(profile)).toThrow(sentence);
    expect(() => new Drive(profile)).toThrow(sentence);
  });

  test('the largest drive that the relation allows boots, fills, and goes on', () => {
    expect(() => checkProfile(sectors(21 * 256 * 8))).not.toThrow();
    expect(() => checkProfile(sectors(21 * 256 * 8 + 1))).toThrow(ImpossibleProfile);
  });

  test('a map that does not fit the DRAM is refused when the drive is built', () => {
    const dram = { ...TOY.dram, devices: 1, bytesPerDevice: 2 * 2 ** 20 };
    expect(() => new Drive({ ...TOY, dram })).toThrow(ImpossibleProfile);
    expect(() => new Drive({ ...TOY, dram })).toThrow(/DRAM region '.*' ends \d+ bytes past/);
  });
});
