/**
 * Goal: every opcode answers as the command table says, and takes the frames of its protocol.
 * Oracle: ACS-2 (who aborts), and link times computed by hand: (dwords + 3 framing + 106 handshake)
 * x 256/254 for ALIGN x 40 bits / 6 Gbaud, each frame rounded up to a nanosecond.
 */
import { expect, test } from 'vitest';
import { ATA_COMMANDS, type AtaCommand, AtaProtocol, LbaWidth } from '../../../hal/ata.ts';
import { encodeTrimRanges } from '../../../sata/trim-ranges.ts';
import { RawHost, READ, type Registers, WRITE } from './raw-host.ts';

/** Ns of frames: 5, 2, 1, 7 dwords, and data of 1, 8, 16 sectors. */
const RESULT = 766;
const BITS = 746;
const ACTIVATE = 740;
const SETUP = 780;
const PIO = 766;
const DATA_1 = 1600;
const DATA_8 = 7620;
const DATA_16 = 14_500;

/** What the registers must say for the command to do its work. */
const REGISTERS: { readonly [opcode: number]: Partial<Registers> } = {
  6: { feature: 1, count: 1 },
  47: { lba: 0x10, count: 1 },
  71: { lba: 0x10, count: 1 },
  176: { feature: 0xda, lba: 0xc24f00 },
  198: { count: 1 },
  239: { feature: 0x02 },
};

function registersOf(command: AtaCommand): Registers {
  const given = REGISTERS[command.opcode] ?? {};
  const addressed = command.lbaWidth === LbaWidth.None ? {} : { lba: 8, count: 1 };
  return { opcode: command.opcode, ...addressed, ...given };
}

/** Frames that carry one sector of the protocol, and its end. */
function expectedNs(protocol: AtaProtocol): number {
  switch (protocol) {
    case AtaProtocol.NonData:
      return RESULT;
    case AtaProtocol.PioIn:
      return PIO + DATA_1;
    case AtaProtocol.PioOut:
      return PIO + DATA_1 + RESULT;
    case AtaProtocol.DmaIn:
      return DATA_1 + RESULT;
    case AtaProtocol.DmaOut:
      return ACTIVATE + DATA_1 + RESULT;
    default:
      throw new Error('a queued command is not sent here');
  }
}

const unqueued = ATA_COMMANDS.filter(({ opcode }) => opcode !== READ && opcode !== WRITE);

test.each(unqueued.map((c) => [c.name, c] as const))('command: %s answers', (_name, command) => {
  const host = new RawHost();
  host.sectorData.set(encodeTrimRanges([{ lba: 0, sectors: 8 }]));
  const busyNs = host.port.link.busyNs;
  const { slot, status, error } = host.command(registersOf(command));
  const isNop = command.opcode === 0;
  const code = command.opcode === 0x90 ? 1 : 0;
  expect({ slot, status, error }).toEqual({
    ...{ slot: 32, status: isNop ? 0x51 : 0x50, error: isNop ? 0x04 : code },
  });
  expect(host.port.link.busyNs - busyNs).toBe(expectedNs(command.protocol));
});

test('command: every opcode that is not in the table aborts with one register FIS', () => {
  const host = new RawHost();
  const known = new Set<number>(ATA_COMMANDS.map((command) => command.opcode));
  const answers: string[] = [];
  for (let opcode = 0; opcode < 256; opcode++) {
    if (known.has(opcode)) continue;
    const busyNs = host.port.link.busyNs;
    const { status, error } = host.command({ opcode, lba: 8, count: 1 });
    const ns = host.port.link.busyNs - busyNs;
    if (status !== 0x51 || error !== 0x04 || ns !== RESULT) answers.push(`${opcode}: ${status}`);
  }
  expect(answers).toEqual([]);
});

test.each([
  ['queued read of 8 sectors', READ, 8, false, RESULT + SETUP + DATA_8 + BITS],
  ['queued read of 24 sectors', READ, 24, false, RESULT + SETUP + DATA_16 + DATA_8 + BITS],
  ['queued write of 8', WRITE, 8, false, RESULT + SETUP + ACTIVATE + DATA_8 + BITS],
  ['queued write of 8, auto-activate', WRITE, 8, true, RESULT + SETUP + DATA_8 + BITS],
  ['queued write of 24', WRITE, 24, false, RESULT + SETUP + 2 * ACTIVATE + DATA_16 + DATA_8 + BITS],
  [
    'queued write of 24, auto-activate',
    WRITE,
    24,
    true,
    RESULT + SETUP + ACTIVATE + DATA_16 + DATA_8 + BITS,
  ],
  // Two bursts of the toy's 32 pages: one DMA Setup, and 32 frames of 16 sectors.
  ['queued read of 512', READ, 512, false, RESULT + SETUP + 32 * DATA_16 + BITS],
] as const)('link: %s', (_name, opcode, sectors, autoActivate, ns) => {
  const host = new RawHost();
  if (autoActivate) expect(host.command({ opcode: 0xef, feature: 0x10, count: 2 }).error).toBe(0);
  const busyNs = host.port.link.busyNs;
  expect(host.queued(opcode, 3, 64, sectors)).toMatchObject({ slot: 3, status: 0x50, error: 0 });
  expect(host.port.link.busyNs - busyNs).toBe(ns);
  expect(host.port.link.freeAtNs).toBe(host.now());
});

test.each([
  ['READ DMA EXT of 8', 0x25, 8, DATA_8 + RESULT],
  ['READ DMA EXT of 24', 0x25, 24, DATA_16 + DATA_8 + RESULT],
  ['WRITE DMA EXT of 24', 0x35, 24, 2 * ACTIVATE + DATA_16 + DATA_8 + RESULT],
  ['READ SECTORS EXT of 3', 0x24, 3, 3 * (PIO + DATA_1)],
  ['WRITE MULTIPLE EXT of 3', 0x39, 3, 3 * (PIO + DATA_1) + RESULT],
] as const)('link: %s', (_name, opcode, count, ns) => {
  const host = new RawHost();
  const busyNs = host.port.link.busyNs;
  expect(host.command({ opcode, lba: 64, count })).toMatchObject({ slot: 32, status: 0x50 });
  expect(host.port.link.busyNs - busyNs).toBe(ns);
});

test('link: SMART READ DATA comes by PIO and has no register FIS behind it', () => {
  const host = new RawHost();
  const busyNs = host.port.link.busyNs;
  host.command({ opcode: 0xb0, feature: 0xd0, lba: 0xc24f00 });
  expect(host.port.link.busyNs - busyNs).toBe(PIO + DATA_1);
});

test('data: what each protocol writes, each protocol reads', () => {
  const host = new RawHost();
  const writes = [0x30, 0x34, 0x35, 0x39, 0x3d, 0xc5, 0xca, 0xce];
  const reads = [0x20, 0x24, 0x25, 0x29, 0xc4, 0xc8];
  writes.forEach((opcode, i) => {
    host.setPages(32, [1000 + i]);
    expect(host.command({ opcode, lba: 8 * i, count: 8 }).status).toBe(0x50);
  });
  host.setPages(5, [2000, 2001]);
  expect(host.queued(WRITE, 5, 64, 16).status).toBe(0x50);
  const written = [...writes.map((_, i) => 1000 + i), 2000, 2001];
  for (const opcode of reads) {
    expect(host.command({ opcode, lba: 0, count: 80 }).status).toBe(0x50);
    expect(host.pages(32, 10)).toEqual(written);
  }
  expect(host.queued(READ, 31, 0, 80).status).toBe(0x50);
  expect(host.pages(31, 10)).toEqual(written);
});
