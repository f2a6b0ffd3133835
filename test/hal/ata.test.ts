import { describe, expect, it } from 'vitest';
import {
  ATA_COMMANDS,
  AtaOpcode,
  AtaProtocol,
  COMMAND_OF_OPCODE,
  commandOf,
  firstSector,
  LbaWidth,
  ncqTag,
  sectorCount,
  taskFile,
} from '../../hal/ata.ts';
import { idemaSectors } from '../../hal/identity.ts';

function known(opcode: AtaOpcode) {
  const command = commandOf(opcode);
  if (command === undefined) throw new Error(`${AtaOpcode[opcode]} has no row`);
  return command;
}

describe('the command table', () => {
  it('has one row for each named opcode', () => {
    const named = Object.values(AtaOpcode).filter((value) => typeof value === 'number');
    expect(ATA_COMMANDS.map((command) => command.opcode).sort()).toEqual([...named].sort());
  });

  it('finds each row by its opcode and nothing else', () => {
    ATA_COMMANDS.forEach((command, index) => {
      expect(COMMAND_OF_OPCODE[command.opcode]).toBe(index);
    });
    expect(COMMAND_OF_OPCODE.filter((index) => index >= 0)).toHaveLength(ATA_COMMANDS.length);
    // DEVICE RESET, IDENTIFY PACKET DEVICE and the security set all have to abort.
    expect([0x08, 0xa1, 0xf1, 0xf6].map(commandOf)).toEqual(Array(4).fill(undefined));
  });

  it('gives 48 bits exactly to the EXT and queued commands that address sectors', () => {
    for (const command of ATA_COMMANDS) {
      if (command.lbaWidth === LbaWidth.None) continue;
      const isWide = / EXT$| QUEUED$/.test(command.name);
      expect([command.name, command.lbaWidth]).toEqual([
        command.name,
        isWide ? LbaWidth.Bits48 : LbaWidth.Bits28,
      ]);
    }
  });
});

describe('sector address and count', () => {
  it('keeps bits 27:24 of a 28-bit address in the device register', () => {
    const registers = taskFile({ lba: 0x00bbccdd, device: 0x4a, count: 0 });
    expect(firstSector(known(AtaOpcode.ReadDma), registers)).toBe(0x0abbccdd);
    expect(sectorCount(known(AtaOpcode.ReadDma), registers)).toBe(256);
  });

  it('reads 48 bits and 16 for EXT, where count 0 means 65536', () => {
    const registers = taskFile({ lba: 0xaabbccddeeff, device: 0x4f, count: 0 });
    expect(firstSector(known(AtaOpcode.WriteDmaExt), registers)).toBe(0xaabbccddeeff);
    expect(sectorCount(known(AtaOpcode.WriteDmaExt), registers)).toBe(65536);
    expect(sectorCount(known(AtaOpcode.WriteDmaExt), { ...registers, count: 9 })).toBe(9);
  });

  it('takes the count of queued commands from feature and the tag from count', () => {
    const registers = taskFile({ feature: 8, count: 31 << 3 });
    expect(sectorCount(known(AtaOpcode.ReadFpdmaQueued), registers)).toBe(8);
    expect(ncqTag(registers)).toBe(31);
    expect(known(AtaOpcode.WriteFpdmaQueued).protocol).toBe(AtaProtocol.NcqOut);
  });
});

it('computes the sector counts that real drives report (IDEMA LBA1-03)', () => {
  expect([128, 256, 512].map(idemaSectors)).toEqual([250_069_680, 500_118_192, 1_000_215_216]);
  expect([120, 240, 480, 960].map(idemaSectors)).toEqual([
    234_441_648, 468_862_128, 937_703_088, 1_875_385_008,
  ]);
});
