/**
 * Goal: IDENTIFY DEVICE announces only what answers: for each feature bit set, its command works.
 * Oracle: ACS-2, 7.16 (which command belongs to which bit).
 */
import { expect, test } from 'vitest';
import { encodeTrimRanges } from '../../../sata/trim-ranges.ts';
import { RawHost, READ, type Registers, WRITE } from './raw-host.ts';

/** Words 82-84 and 119: by word and bit, a command of the feature set. */
const FEATURES: readonly [word: number, bit: number, name: string, command: Registers][] = [
  [82, 0, 'SMART', { opcode: 0xb0, feature: 0xd0, lba: 0xc24f00 }],
  [82, 3, 'power management', { opcode: 0xe5 }],
  [82, 5, 'write cache', { opcode: 0xef, feature: 0x82 }],
  [82, 6, 'look-ahead', { opcode: 0xef, feature: 0x55 }],
  [82, 12, 'WRITE BUFFER', { opcode: 0xe8 }],
  [82, 13, 'READ BUFFER', { opcode: 0xe4 }],
  [83, 10, '48-bit addresses', { opcode: 0x25, lba: 0, count: 1 }],
  [83, 12, 'FLUSH CACHE', { opcode: 0xe7 }],
  [83, 13, 'FLUSH CACHE EXT', { opcode: 0xea }],
  [84, 5, 'general purpose logging', { opcode: 0x2f, lba: 0, count: 1 }],
  [84, 6, 'WRITE DMA FUA EXT', { opcode: 0x3d, lba: 0, count: 1 }],
  [119, 3, 'READ LOG DMA EXT', { opcode: 0x47, lba: 0, count: 1 }],
];
/** Bits that announce no command: NOP (always aborts), World Wide Name, words valid. */
const WITHOUT_COMMAND = new Set(['82.14', '84.8', '83.14', '84.14', '119.14']);

test.each(FEATURES)('identify: word %i bit %i: %s is announced and answers', (word, bit, _n, c) => {
  const host = new RawHost();
  expect((host.identify()[word]! >> bit) & 1).toBe(1);
  expect(host.command(c)).toMatchObject({ status: 0x50, error: 0 });
});

test('identify: no feature bit is set that the list above does not know', () => {
  const words = new RawHost().identify();
  const known = new Set(FEATURES.map(([word, bit]) => `${word}.${bit}`));
  const strangers: string[] = [];
  for (const word of [82, 83, 84, 119]) {
    for (let bit = 0; bit < 16; bit++) {
      const name = `${word}.${bit}`;
      const isKnown = known.has(name) || WITHOUT_COMMAND.has(name);
      if (((words[word]! >> bit) & 1) === 1 && !isKnown) strangers.push(name);
    }
  }
  expect(strangers).toEqual([]);
});

test('identify: queue depth, auto-activate and TRIM blocks answer up to what is announced', () => {
  const host = new RawHost();
  const words = host.identify();
  expect(words[76]! & 0x0100).toBe(0x0100);
  const depth = (words[75]! & 0x1f) + 1;
  for (let tag = 0; tag < depth; tag++) host.queue(tag % 2 === 0 ? WRITE : READ, tag, 8 * tag, 8);
  host.runUntil(() => host.port.sActive === 0);
  expect(host.endings.filter(({ status }) => status === 0x50).length).toBe(depth + 1);
  expect(words[78]! & 0x0004).toBe(0x0004);
  expect(host.command({ opcode: 0xef, feature: 0x10, count: 2 }).error).toBe(0);
  expect(host.identify()[79]! & 0x0004).toBe(0x0004);
  expect(words[169]! & 1).toBe(1);
  const ranges = Array.from({ length: 64 * words[105]! }, (_, i) => ({ lba: i * 8, sectors: 8 }));
  host.sectorData.set(encodeTrimRanges(ranges));
  const trim = host.command({ opcode: 0x06, feature: 1, count: words[105]! });
  expect(trim).toMatchObject({ status: 0x50, error: 0 });
});

test('identify: settings not announced as kept are back after COMRESET, kept over SRST', () => {
  const host = new RawHost();
  const choose = () => {
    host.command({ opcode: 0xef, feature: 0x82 });
    host.command({ opcode: 0xef, feature: 0x55 });
    host.command({ opcode: 0xef, feature: 0x10, count: 2 });
    host.command({ opcode: 0xef, feature: 0x03, count: 0x44 });
    host.command({ opcode: 0xc6, count: 0 });
    host.command({ opcode: 0xb0, feature: 0xd9, lba: 0xc24f00 });
  };
  const settings = () => {
    const words = host.identify();
    return [59, 79, 85, 88].map((word) => words[word]!.toString(16));
  };
  const softReset = () => {
    host.port.control(0x04);
    host.port.control(0x00);
    host.runUntil(() => host.port.isUp);
  };
  const atPowerOn = settings();
  choose();
  const chosen = settings();
  expect(chosen).toEqual(['0', '4', '7008', '107f']);
  softReset();
  expect(settings()).toEqual(chosen);
  expect(host.command({ opcode: 0xef, feature: 0xcc }).error).toBe(0);
  softReset();
  // SMART keeps its state over every reset.
  const reverted = [atPowerOn[0], atPowerOn[1], '7068', atPowerOn[3]];
  expect(settings()).toEqual(reverted);
  choose();
  host.port.comReset();
  host.runUntil(() => host.port.isUp);
  expect(settings()).toEqual(reverted);
  choose();
  softReset();
  expect(settings()).toEqual(chosen);
});
