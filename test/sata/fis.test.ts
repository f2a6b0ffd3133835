import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AtaOpcode, STATUS_FAILED, STATUS_GOOD, taskFile } from '../../hal/ata.ts';
import {
  DataHeader,
  DmaActivate,
  DmaSetup,
  dmaSetup,
  FIS_DWORDS,
  FisType,
  fisOfResult,
  fisOfTaskFile,
  PioSetup,
  pioSetup,
  RegisterDeviceToHost,
  RegisterHostToDevice,
  resultOfFis,
  SetDeviceBits,
  setDeviceBits,
  taskFileOfFis,
} from '../../sata/fis.ts';

const hex = (frame: Uint8Array) => Buffer.from(frame).toString('hex');
const frameOf = (text: string) => new Uint8Array(Buffer.from(text, 'hex'));

/** Frames that SeaBIOS and Linux 6.1 sent to an AHCI port model, and the registers they mean. */
const CAPTURED_COMMANDS = [
  ['2780a10000000000000000000000000000000000', { command: 0xa1 }],
  ['2780ec0000000000000000000000000000000000', { command: AtaOpcode.IdentifyDevice }],
  [
    '2780ef0300000000000000004600000000000000',
    { command: AtaOpcode.SetFeatures, feature: 0x03, count: 0x46 },
  ],
  [
    '2780c80100000040000000000100000000000000',
    { command: AtaOpcode.ReadDma, feature: 1, count: 1, device: 0x40 },
  ],
  [
    '2780618080ff0f40000000005800000800000000',
    { command: 0x61, feature: 0x80, lba: 0x0fff80, device: 0x40, count: 11 << 3, control: 8 },
  ],
  [
    '2780614000400840000000053000000800000000',
    { command: 0x61, feature: 0x540, lba: 0x084000, device: 0x40, count: 6 << 3, control: 8 },
  ],
] as const;

describe('frames captured from real hosts', () => {
  it.each(CAPTURED_COMMANDS)('%s', (text, registers) => {
    expect(taskFileOfFis(frameOf(text))).toEqual(taskFile(registers));
    expect(hex(fisOfTaskFile(taskFile(registers)))).toBe(text);
  });
});

describe('frames that an AHCI port model answered and real drivers accepted', () => {
  it('signature after a reset', () => {
    const signature = taskFile({ status: STATUS_GOOD, error: 0x01, lba: 1, count: 1 });
    const text = '3400500101000000000000000100000000000000';
    expect(hex(fisOfResult(signature, false))).toBe(text);
    expect(resultOfFis(frameOf(text))).toEqual(signature);
  });

  it('aborted command', () => {
    const result = taskFile({ status: STATUS_FAILED, error: 0x04 });
    expect(hex(fisOfResult(result, true))).toBe('3440510400000000000000000000000000000000');
  });

  it('PIO Setup of one sector to the host', () => {
    const registers = taskFile({ status: 0x58 });
    expect(hex(pioSetup(registers, true, true, STATUS_GOOD, 512))).toBe(
      '5f60580000000000000000000000005000020000',
    );
  });

  it('completion of tag 19', () => {
    expect(hex(setDeviceBits(STATUS_GOOD, 0, 1 << 19))).toBe('a140500000000800');
  });
});

describe('frames of Serial ATA 3.1 without a capture', () => {
  it('Set Device Bits completes tag 31 and never carries BSY or DRQ', () => {
    expect(hex(setDeviceBits(0xff, 0x40, 0x8000_0000))).toBe('a140774000000080');
  });

  it('DMA Setup names the tag, the direction and the bytes', () => {
    expect(hex(dmaSetup(5, true, false, 0x20000))).toBe(
      '41200000050000000000000000000000000000000000020000000000',
    );
    expect(hex(dmaSetup(31, false, true, 512)).slice(0, 10)).toBe('418000001f');
  });

  it('a frame without the C bit writes the control register', () => {
    const frame = fisOfTaskFile(taskFile({ control: 0x04 }), false);
    expect(hex(frame)).toBe('2700000000000000000000000000000400000000');
    expect(RegisterHostToDevice.decode(frame).flags.isCommand).toBe(0);
  });

  it('has the lengths of the standard', () => {
    const spans = [
      [RegisterHostToDevice, FisType.RegisterHostToDevice],
      [RegisterDeviceToHost, FisType.RegisterDeviceToHost],
      [SetDeviceBits, FisType.SetDeviceBits],
      [DmaActivate, FisType.DmaActivate],
      [DmaSetup, FisType.DmaSetup],
      [PioSetup, FisType.PioSetup],
      [DataHeader, FisType.Data],
    ] as const;
    for (const [layout, type] of spans) expect(layout.span).toBe(4 * FIS_DWORDS[type]);
  });
});

it('carries any task file there and back', () => {
  const byte = fc.integer({ min: 0, max: 0xff });
  const word = fc.integer({ min: 0, max: 0xffff });
  const lba = fc.integer({ min: 0, max: 2 ** 48 - 1 });
  const anyTaskFile = fc.record({
    command: byte,
    feature: word,
    lba,
    count: word,
    device: byte,
    status: byte,
    error: byte,
    control: byte,
  });
  fc.assert(
    fc.property(anyTaskFile, (any) => {
      expect(taskFileOfFis(fisOfTaskFile(any))).toEqual({ ...any, status: 0, error: 0 });
      const result = { ...any, command: 0, feature: 0, control: 0 };
      expect(resultOfFis(fisOfResult(any, true))).toEqual(result);
    }),
  );
});

it('refuses frames of another type or length', () => {
  expect(() => taskFileOfFis(new Uint8Array(20))).toThrow(
    'FIS RegisterHostToDevice needs 20 bytes of type 27h; 20 bytes of type 00 given',
  );
  expect(() => taskFileOfFis(frameOf('2780ec'))).toThrow('3 bytes of type 27 given');
  expect(() => resultOfFis(new Uint8Array(0))).toThrow('0 bytes of type none given');
});
