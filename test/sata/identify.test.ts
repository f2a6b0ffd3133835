import { describe, expect, it } from 'vitest';
import { AtaOpcode, commandOf } from '../../hal/ata.ts';
import { type DriveIdentity, idemaSectors } from '../../hal/identity.ts';
import { identifyDevice, POWER_ON_SETTINGS } from '../../sata/identify.ts';
import { hasGoodChecksum } from '../../sata/log-pages.ts';
import { HDPARM, judge, runProgram } from '../kit/programs.ts';

const IDENTITY: DriveIdentity = {
  model: 'OCZ-VECTOR',
  firmware: '3.0',
  serial: 'OCZ-0123456789ABCD',
  wwn: '5e83a97012345678',
  sectors: idemaSectors(128),
};

/**
 * The words other than zero of a complete OCZ-VECTOR of 128 GB. Composed from public smartctl and
 * hdparm listings of real drives and from the standard; not a dump of one drive.
 */
const COMPLETE_DRIVE = new Map<number, number>([
  ...words(1, '3fff c837 0010'),
  ...words(6, '003f'),
  ...words(10, '4f43 5a2d 3031 3233 3435 3637 3839 4142 4344 2020'),
  ...words(23, '332e 3020 2020 2020 4f43 5a2d 5645 4354 4f52'),
  ...words(32, '2020 2020 2020 2020 2020 2020 2020 2020 2020 2020 2020 2020 2020 2020 2020'),
  ...words(47, '8001 0000 2f00 4000'),
  ...words(53, '0007 3fff 0010 003f fc10 00fb 0101 c2b0 0ee7 0000 0007'),
  ...words(64, '0003 0078 0078 0078 0078'),
  ...words(75, '001f 050e 0006 004c 0040 01f8 0000 746b 7d01 6162 7469 bc01 6162 407f 0001 0001'),
  ...words(92, 'fffe'),
  ...words(100, 'c2b0 0ee7'),
  ...words(105, '0008 4000 0000 5e83 a970 1234 5678'),
  ...words(119, '401c 401c'),
  ...words(128, '0021'),
  ...words(169, '0001'),
  ...words(217, '0001'),
  ...words(222, '107f'),
]);

/** Words in which this drive says less (or, where noted, otherwise) than the complete one. */
const DELIBERATE = new Map<number, number>([
  ...words(21, 'ffff 3000'), // retired words, as a rebranded drive of the same controller fills them
  [76, 0x010e], // no phy event counters
  [78, 0x0004], // no software settings preservation, no device initiated power management
  [79, 0x0000], // auto-activate is off until SET FEATURES
  [82, 0x7069], // no SECURITY, no HPA
  [83, 0x7400], // no DCO, no SET MAX security, no DOWNLOAD MICROCODE
  [84, 0x4160], // no self-test, no IDLE IMMEDIATE with unload
  [85, 0x7069],
  [86, 0xb400],
  [87, 0x4160],
  [89, 0x0000], // 89, 90, 92, 128: belong to SECURITY
  [90, 0x0000],
  [92, 0x0000],
  [119, 0x4008], // no WRITE UNCORRECTABLE, no segmented DOWNLOAD MICROCODE
  [120, 0x4008],
  [128, 0x0000],
]);

function words(first: number, text: string): [number, number][] {
  return text.split(' ').map((word, i) => [first + i, Number.parseInt(word, 16)]);
}

function wordOf(sector: Uint8Array, word: number): number {
  return Buffer.from(sector).readUInt16LE(word * 2);
}

function hdparmWords(sector: Uint8Array): string {
  const text = Array.from({ length: 256 }, (_, word) => wordOf(sector, word).toString(16));
  return text.map((word, i) => word.padStart(4, '0') + (i % 8 === 7 ? '\n' : ' ')).join('');
}

describe('IDENTIFY DEVICE', () => {
  const sector = identifyDevice(IDENTITY, POWER_ON_SETTINGS);

  it('equals a complete drive in every word but the deliberate ones', () => {
    for (let word = 0; word < 255; word++) {
      const expected = DELIBERATE.get(word) ?? COMPLETE_DRIVE.get(word) ?? 0;
      expect([word, wordOf(sector, word)]).toEqual([word, expected]);
    }
  });

  it('ends in the signature A5h and a checksum over all 512 bytes', () => {
    expect(sector).toHaveLength(512);
    expect(sector[510]).toBe(0xa5);
    expect(hasGoodChecksum(sector)).toBe(true);
  });

  it('claims a feature set only if the command table has its commands', () => {
    const claims = [
      [82, 0, AtaOpcode.Smart],
      [82, 1, 0xf1],
      [82, 10, 0xf9],
      [82, 12, AtaOpcode.WriteBuffer],
      [82, 13, AtaOpcode.ReadBuffer],
      [82, 14, AtaOpcode.Nop],
      [83, 0, 0x92],
      [83, 10, AtaOpcode.ReadDmaExt],
      [83, 11, 0xb1],
      [83, 13, AtaOpcode.FlushCacheExt],
      [84, 5, AtaOpcode.ReadLogExt],
      [84, 6, AtaOpcode.WriteDmaFuaExt],
      [76, 8, AtaOpcode.ReadFpdmaQueued],
      [119, 2, 0x45],
      [119, 3, AtaOpcode.ReadLogDmaExt],
      [128, 0, 0xf1],
      [169, 0, AtaOpcode.DataSetManagement],
    ] as const;
    for (const [word, bit, opcode] of claims) {
      const isClaimed = ((wordOf(sector, word) >> bit) & 1) === 1;
      expect([word, bit, isClaimed]).toEqual([word, bit, commandOf(opcode) !== undefined]);
    }
  });

  it.each([
    ['write cache off', { isWriteCacheOn: false }, 85, 0x7049],
    ['look-ahead off', { isLookAheadOn: false }, 85, 0x7029],
    ['SMART off', { isSmartOn: false }, 85, 0x7068],
    ['auto-activate on', { isAutoActivateOn: true }, 79, 0x0004],
    ['Ultra DMA 5', { dmaMode: 0x45 }, 88, 0x207f],
    ['multiword DMA 2', { dmaMode: 0x22 }, 63, 0x0407],
    ['MULTIPLE never set', { multipleSectors: 0 }, 59, 0x0000],
    ['1.5 Gbit/s', { linkGeneration: 1 }, 77, 0x0002],
  ])('shows %s', (_, change, word, expected) => {
    const changed = identifyDevice(IDENTITY, { ...POWER_ON_SETTINGS, ...change });
    expect(wordOf(changed, word)).toBe(expected);
    expect(wordOf(changed, 82)).toBe(0x7069);
    expect(hasGoodChecksum(changed)).toBe(true);
  });

  it('selects one DMA mode in one of the two words', () => {
    const multiword = identifyDevice(IDENTITY, { ...POWER_ON_SETTINGS, dmaMode: 0x22 });
    expect(wordOf(multiword, 88)).toBe(0x007f);
    expect(wordOf(sector, 63)).toBe(0x0007);
  });

  it('caps the 28-bit capacity and keeps the 48-bit one', () => {
    const big = identifyDevice({ ...IDENTITY, sectors: idemaSectors(512) }, POWER_ON_SETTINGS);
    expect(Buffer.from(big).readUInt32LE(60 * 2)).toBe(0x0fffffff);
    expect(Buffer.from(big).readUIntLE(100 * 2, 6)).toBe(1_000_215_216);
  });

  it('scales the geometry of a small drive', () => {
    const small = identifyDevice({ ...IDENTITY, sectors: 20_000 }, POWER_ON_SETTINGS);
    // 20000 sectors hold 19 cylinders of 16 heads x 63 sectors.
    expect([1, 54, 57, 58].map((word) => wordOf(small, word))).toEqual([19, 19, 19 * 1008, 0]);
  });

  it.each([
    [{ model: 'x'.repeat(41) }, 'identity model'],
    [{ firmware: '1.0 beta 2' }, 'identity firmware'],
    [{ serial: 'caf\u00e9' }, 'identity serial'],
    [{ wwn: '123' }, 'identity wwn: "123" is not 5 and 15 hexadecimal digits'],
    [{ sectors: 0 }, 'identity sectors: 0'],
  ])('refuses %o', (change, message) => {
    expect(() => identifyDevice({ ...IDENTITY, ...change }, POWER_ON_SETTINGS)).toThrow(message);
  });

  it('is understood by hdparm', () => {
    const hdparm = judge(HDPARM);
    if (hdparm === undefined) return;
    const { output } = runProgram(hdparm, ['--Istdin'], hdparmWords(sector));
    expect(output).toContain('Checksum: correct');
    expect(output).toMatch(/Model Number: +OCZ-VECTOR/);
    expect(output).toMatch(/LBA48 +user addressable sectors: +250069680/);
    expect(output).toContain('Queue depth: 32');
    expect(output).toContain('*udma6');
    expect(output).toMatch(/\*\s+Data Set Management TRIM supported \(limit 8 blocks\)/);
    expect(output).toContain('Logical Unit WWN Device Identifier: 5e83a97012345678');
    expect(output).not.toMatch(/Security|SET_MAX|Host Protected|DOWNLOAD_MICROCODE|self-test/);
  });
});
