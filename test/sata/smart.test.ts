import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { idemaSectors } from '../../hal/identity.ts';
import { identifyDevice, POWER_ON_SETTINGS } from '../../sata/identify.ts';
import { hasGoodChecksum } from '../../sata/log-pages.ts';
import {
  attributesOfData,
  hasSmartSignature,
  remainingLifePercent,
  SMART_EXCEEDED_LBA,
  SMART_GOOD_LBA,
  type SmartCounters,
  smartAttributes,
  smartData,
  smartThresholds,
} from '../../sata/smart.ts';
import { judge, runProgram, SKDUMP, SMARTCTL } from '../kit/programs.ts';

/** A worn 256 GB drive with firmware 3.0, as a public smartctl log shows one. */
const COUNTERS: SmartCounters = {
  runtimeBadBlocks: 0,
  powerOnHours: 3056,
  powerCycles: 3338,
  spareSectorsAtFactory: 36_466_000,
  unplannedPowerLosses: 114,
  programFailures: 0,
  eraseFailures: 0,
  uncorrectableReads: 0,
  averageEraseCount: 158,
  sataCrcErrors: 13,
  hostWrittenSectors: 7681 * 2_097_152 + 2_097_151,
  hostReadSectors: 13123 * 2_097_152,
  nandProgramUnits: 554_557_110,
};
/** [id, value, raw] of that log, in its order. */
const LOGGED = [
  [5, 0, 0],
  [9, 100, 3056],
  [12, 100, 3338],
  [171, 80, 36_466_000],
  [174, 100, 114],
  [195, 100, 0],
  [196, 100, 0],
  [197, 100, 0],
  [208, 100, 158],
  [210, 100, 13],
  [224, 100, 1],
  [233, 95, 95],
  [241, 100, 7681],
  [242, 100, 13123],
  [249, 100, 554_557_110],
];

describe('SMART READ DATA', () => {
  const sector = smartData(COUNTERS);

  it('shows the attributes of a real drive from its counters', () => {
    const shown = attributesOfData(sector).map(({ id, value, raw }) => [id, value, raw]);
    expect(shown).toEqual(LOGGED);
  });

  it('has revision 18, flags zero, worst equal to value, and a good checksum', () => {
    expect(Buffer.from(sector).readUInt16LE(0)).toBe(18);
    for (let at = 2; at < 2 + 12 * LOGGED.length; at += 12) {
      expect([sector[at + 1], sector[at + 2]]).toEqual([0, 0]);
      expect(sector[at + 4]).toBe(sector[at + 3]);
    }
    expect(hasGoodChecksum(sector)).toBe(true);
  });

  it('claims neither off-line collection nor self-tests nor an error log', () => {
    expect([...sector.subarray(362, 377)]).toEqual([0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0]);
  });

  it('takes 4 MiB of spare room and one point of attribute 5 for each retired block', () => {
    const [first, , , spare] = smartAttributes({ ...COUNTERS, runtimeBadBlocks: 1 });
    expect(first).toEqual({ id: 5, value: 1, raw: 1 });
    expect(spare?.raw).toBe(36_457_808);
    const [worn] = smartAttributes({ ...COUNTERS, runtimeBadBlocks: 258 });
    expect(worn).toEqual({ id: 5, value: 2, raw: 258 });
  });

  it('never shows less than no spare room', () => {
    const attributes = smartAttributes({ ...COUNTERS, runtimeBadBlocks: 5000 });
    expect(attributes[3]?.raw).toBe(0);
  });
});

it.each([
  [0, 100],
  [5, 100],
  [145, 96],
  [158, 95],
  [272, 91],
  [823, 73],
  [1480, 51],
  [1785, 41],
  [3000, 0],
  [9000, 0],
])('an average of %i erases leaves %i %% of life, as in public logs', (erases, percent) => {
  expect(remainingLifePercent(erases)).toBe(percent);
});

it('thresholds name the same attributes and are all zero', () => {
  const sector = smartThresholds(COUNTERS);
  const rows = LOGGED.map((_, i) => [...sector.subarray(2 + 12 * i, 14 + 12 * i)]);
  expect(rows).toEqual(LOGGED.map(([id]) => [id, ...Array(11).fill(0)]));
  expect(hasGoodChecksum(sector)).toBe(true);
});

it('recognises its signature in LBA 23:8', () => {
  expect(hasSmartSignature(SMART_GOOD_LBA + 1)).toBe(true);
  expect(hasSmartSignature(SMART_EXCEEDED_LBA)).toBe(false);
  expect(hasSmartSignature(0)).toBe(false);
});

describe('programs that decode SMART', () => {
  const identify = identifyDevice(
    {
      model: 'OCZ-VECTOR',
      firmware: '3.0',
      serial: 'OCZ-0123456789ABCD',
      wwn: '5e83a97012345678',
      sectors: idemaSectors(256),
    },
    POWER_ON_SETTINGS,
  );
  const data = smartData(COUNTERS);
  const thresholds = smartThresholds(COUNTERS);

  it('smartctl knows the family and prints the attributes', () => {
    const smartctl = judge(SMARTCTL);
    if (smartctl === undefined) return;
    const transcript =
      ioctl('IDENTIFY DEVICE', identify) +
      ioctl('SMART READ ATTRIBUTE VALUES', data) +
      ioctl('SMART READ ATTRIBUTE THRESHOLDS', thresholds) +
      ioctl('SMART STATUS CHECK');
    const { output } = runProgram(smartctl, ['-a', '-'], transcript);
    expect(output).toContain('Indilinx Barefoot 3 based SSDs');
    expect(output).toMatch(/User Capacity: +256,060,514,304 bytes/);
    expect(output).toMatch(/LU WWN Device Id: +5 e83a97 012345678/);
    expect(output).toContain('SATA 3.1, 6.0 Gb/s');
    expect(output).toContain('test result: PASSED');
    expect(output).toMatch(/171 Avail_OP_Block_Count .* 080 +080 +000 .* 36466000/);
    expect(output).toMatch(/249 Total_NAND_Prog_Ct_GiB .* 554557110/);
    expect(output).toContain('Error logging NOT supported');
    expect(output).not.toContain('Self-test supported');
    expect(output).not.toMatch(/checksum/i);
  });

  it('skdump reads model, power-on time and attributes', () => {
    const skdump = judge(SKDUMP);
    if (skdump === undefined) return;
    const folder = mkdtempSync(join(tmpdir(), 'bf3-smart-'));
    try {
      const blob = join(folder, 'skdump.blob');
      const status = Buffer.from([0, 0, 0, 1]);
      const sections = [
        section('IDFY', identify),
        section('SMST', status),
        section('SMDT', data),
        section('SMTH', thresholds),
      ];
      writeFileSync(blob, Buffer.concat(sections));
      const { output } = runProgram(skdump, [`--load=${blob}`]);
      expect(output).toContain('Model: [OCZ-VECTOR]');
      expect(output).toContain('SMART Disk Health Good: yes');
      expect(output).toMatch(/power-on-hours .*4\.2 months/);
      expect(output).toContain('Power Cycles: 3338');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

/** One command in the transcript that `smartctl -r ataioctl,2` prints and `smartctl -` replays. */
function ioctl(command: string, sector?: Uint8Array): string {
  const head = `REPORT-IOCTL: Device=/dev/sda Command=${command}\n`;
  const returned = `REPORT-IOCTL: Device=/dev/sda Command=${command} returned 0\n`;
  if (sector === undefined) return head + returned;
  const lines = Array.from({ length: 32 }, (_, row) => {
    const place = [row * 16, row * 16 + 15].map((at) => String(at).padStart(3, '0')).join('-');
    const text = Buffer.from(sector.subarray(row * 16, row * 16 + 16)).toString('hex');
    return `${place}: ${text.replace(/(..)/g, '$1 ')}|................|\n`;
  });
  const start = `===== [${command}] DATA START (BASE-16) =====\n`;
  const end = `===== [${command}] DATA END (512 Bytes) =====\n\n`;
  return head + returned + start + lines.join('') + end;
}

/** One part of a libatasmart dump: tag, length (big endian), payload. */
function section(tag: string, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(8);
  head.write(tag, 'latin1');
  head.writeUInt32BE(payload.length, 4);
  return Buffer.concat([head, payload]);
}
