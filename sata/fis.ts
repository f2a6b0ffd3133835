/**
 * Frame information structures: what travels between host and device, byte by byte.
 *
 * The running machine moves registers and charges time; these records are for whoever looks at the
 * frames themselves. Source: Serial ATA 3.1, 10.3.
 */

import { type TaskFile, taskFile } from '../hal/ata.ts';
import type { Bytes } from '../hal/sim/bytes.ts';
import { bits, record, reserved, u8, u16, u24, u32 } from '../hal/sim/record.ts';

/** First byte of a frame information structure (Serial ATA 3.1, 10.3). */
export enum FisType {
  RegisterHostToDevice = 0x27,
  RegisterDeviceToHost = 0x34,
  DmaActivate = 0x39,
  DmaSetup = 0x41,
  Data = 0x46,
  BistActivate = 0x58,
  PioSetup = 0x5f,
  SetDeviceBits = 0xa1,
}

/** Largest payload of one Data FIS in bytes: 2048 dwords. */
export const DATA_FIS_MAX_BYTES = 8192;

/** Register host to device: a command (isCommand = 1) or a write of the control register (0). */
export const RegisterHostToDevice = record({
  type: u8,
  flags: bits(1, { portMultiplier: [0, 4], isCommand: [7, 1] }),
  command: u8,
  featureLow: u8,
  lbaLow: u24,
  device: u8,
  lbaHigh: u24,
  featureHigh: u8,
  count: u16,
  isochronousCompletion: u8,
  control: u8,
  auxiliary: u32,
});

/** Register device to host: the result of a command, or the signature after a reset. */
export const RegisterDeviceToHost = record({
  type: u8,
  flags: bits(1, { portMultiplier: [0, 4], interrupt: [6, 1] }),
  status: u8,
  error: u8,
  lbaLow: u24,
  device: u8,
  lbaHigh: u24,
  reserved11: reserved(1),
  count: u16,
  reserved14: reserved(6),
});

/** Set Device Bits: completes queued commands. A status byte here leaves BSY and DRQ untouched. */
export const SetDeviceBits = record({
  type: u8,
  flags: bits(1, { portMultiplier: [0, 4], interrupt: [6, 1], notification: [7, 1] }),
  status: bits(1, { low: [0, 3], high: [4, 3] }),
  error: u8,
  /** One bit per tag that this frame completes. */
  sActive: u32,
});

/** DMA Activate: the host may send the next Data FIS. */
export const DmaActivate = record({
  type: u8,
  flags: bits(1, { portMultiplier: [0, 4] }),
  reserved2: reserved(2),
});

/** First-party DMA Setup: opens the data phase of a queued command. */
export const DmaSetup = record({
  type: u8,
  flags: bits(1, {
    portMultiplier: [0, 4],
    toHost: [5, 1],
    interrupt: [6, 1],
    autoActivate: [7, 1],
  }),
  reserved2: reserved(2),
  /** The tag of the command. */
  bufferIdLow: u32,
  bufferIdHigh: u32,
  reserved12: reserved(4),
  bufferOffset: u32,
  transferBytes: u32,
  reserved24: reserved(4),
});

/** Header of a Data FIS; up to 8192 bytes of payload follow. */
export const DataHeader = record({
  type: u8,
  flags: bits(1, { portMultiplier: [0, 4] }),
  reserved2: reserved(2),
});

/** PIO Setup: announces one DRQ block, with the status before and after it. */
export const PioSetup = record({
  type: u8,
  flags: bits(1, { portMultiplier: [0, 4], toHost: [5, 1], interrupt: [6, 1] }),
  status: u8,
  error: u8,
  lbaLow: u24,
  device: u8,
  lbaHigh: u24,
  reserved11: reserved(1),
  count: u16,
  reserved14: reserved(1),
  endStatus: u8,
  transferBytes: u16,
  reserved18: reserved(2),
});

/** Length of each FIS in dwords without its CRC; Data: the header alone. */
export const FIS_DWORDS: Readonly<Record<FisType, number>> = {
  [FisType.RegisterHostToDevice]: 5,
  [FisType.RegisterDeviceToHost]: 5,
  [FisType.DmaActivate]: 1,
  [FisType.DmaSetup]: 7,
  [FisType.Data]: 1,
  [FisType.BistActivate]: 3,
  [FisType.PioSetup]: 5,
  [FisType.SetDeviceBits]: 2,
};

/** Frame of a command; with `isCommand` = false it writes the control register only. */
export function fisOfTaskFile(registers: TaskFile, isCommand = true): Bytes {
  return RegisterHostToDevice.encode({
    type: FisType.RegisterHostToDevice,
    flags: { portMultiplier: 0, isCommand: isCommand ? 1 : 0 },
    command: registers.command,
    featureLow: registers.feature & 0xff,
    ...splitLba(registers.lba),
    device: registers.device,
    featureHigh: registers.feature >> 8,
    count: registers.count,
    isochronousCompletion: 0,
    control: registers.control,
    auxiliary: 0,
  });
}

/** Task file in a Register host to device frame. Throws a RangeError when it is another frame. */
export function taskFileOfFis(frame: Uint8Array): TaskFile {
  checkFis(frame, FisType.RegisterHostToDevice);
  const fields = RegisterHostToDevice.decode(frame);
  return taskFile({
    command: fields.command,
    feature: fields.featureHigh * 256 + fields.featureLow,
    lba: joinLba(fields),
    count: fields.count,
    device: fields.device,
    control: fields.control,
  });
}

/** Frame of a command's result. `interrupt` is the I bit. */
export function fisOfResult(registers: TaskFile, interrupt: boolean): Bytes {
  return RegisterDeviceToHost.encode({
    type: FisType.RegisterDeviceToHost,
    flags: { portMultiplier: 0, interrupt: interrupt ? 1 : 0 },
    status: registers.status,
    error: registers.error,
    ...splitLba(registers.lba),
    device: registers.device,
    count: registers.count,
  });
}

/** Result registers in a Register device to host frame. Throws a RangeError for another frame. */
export function resultOfFis(frame: Uint8Array): TaskFile {
  checkFis(frame, FisType.RegisterDeviceToHost);
  const fields = RegisterDeviceToHost.decode(frame);
  return taskFile({
    lba: joinLba(fields),
    count: fields.count,
    device: fields.device,
    status: fields.status,
    error: fields.error,
  });
}

/** Frame that completes the tags in `sActive` (one bit per tag). */
export function setDeviceBits(status: number, error: number, sActive: number): Bytes {
  return SetDeviceBits.encode({
    type: FisType.SetDeviceBits,
    flags: { portMultiplier: 0, interrupt: 1, notification: 0 },
    status: { low: status & 7, high: (status >> 4) & 7 },
    error,
    sActive: sActive >>> 0,
  });
}

/** Frame that opens the data phase of queued command `tag` for `transferBytes` bytes. */
export function dmaSetup(
  tag: number,
  toHost: boolean,
  autoActivate: boolean,
  transferBytes: number,
): Bytes {
  return DmaSetup.encode({
    type: FisType.DmaSetup,
    flags: {
      portMultiplier: 0,
      toHost: toHost ? 1 : 0,
      interrupt: 0,
      autoActivate: autoActivate ? 1 : 0,
    },
    bufferIdLow: tag,
    bufferIdHigh: 0,
    bufferOffset: 0,
    transferBytes,
  });
}

/** Frame that announces a DRQ block of `transferBytes` bytes and the status behind it. */
export function pioSetup(
  registers: TaskFile,
  toHost: boolean,
  interrupt: boolean,
  endStatus: number,
  transferBytes: number,
): Bytes {
  return PioSetup.encode({
    type: FisType.PioSetup,
    flags: { portMultiplier: 0, toHost: toHost ? 1 : 0, interrupt: interrupt ? 1 : 0 },
    status: registers.status,
    error: registers.error,
    ...splitLba(registers.lba),
    device: registers.device,
    count: registers.count,
    endStatus,
    transferBytes,
  });
}

function splitLba(lba: number): { lbaLow: number; lbaHigh: number } {
  return { lbaLow: lba % 0x100_0000, lbaHigh: Math.floor(lba / 0x100_0000) };
}

function joinLba(fields: { lbaLow: number; lbaHigh: number }): number {
  return fields.lbaHigh * 0x100_0000 + fields.lbaLow;
}

function checkFis(frame: Uint8Array, type: FisType): void {
  const spanBytes = FIS_DWORDS[type] * 4;
  if (frame.length < spanBytes || frame[0] !== type) {
    const found = frame[0]?.toString(16).padStart(2, '0') ?? 'none';
    throw new RangeError(
      `FIS ${FisType[type]} needs ${spanBytes} bytes of type ${type.toString(16)}h; ` +
        `${frame.length} bytes of type ${found} given`,
    );
  }
}
