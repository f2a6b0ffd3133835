/**
 * The words that host, drive and firmware share about ATA: opcodes, status and error bits, the task
 * file, and what is known about each command. Source: ACS-2 (INCITS 482-2012) and ATA8-ACS.
 */

/** Bytes in a logical sector; the Vector reports 512 logical and physical. */
export const SECTOR_BYTES = 512;

/** Sectors that 28 address bits can name. */
export const LBA28_LIMIT = 0x1000_0000;

/** Command codes of ACS-2 (obsolete ones of ATA8-ACS and before included). */
export enum AtaOpcode {
  Nop = 0x00,
  DataSetManagement = 0x06,
  Recalibrate = 0x10,
  ReadSectors = 0x20,
  ReadSectorsExt = 0x24,
  ReadDmaExt = 0x25,
  ReadNativeMaxAddressExt = 0x27,
  ReadMultipleExt = 0x29,
  ReadLogExt = 0x2f,
  WriteSectors = 0x30,
  WriteSectorsExt = 0x34,
  WriteDmaExt = 0x35,
  WriteMultipleExt = 0x39,
  WriteDmaFuaExt = 0x3d,
  ReadVerifySectors = 0x40,
  ReadVerifySectorsExt = 0x42,
  ReadLogDmaExt = 0x47,
  ReadFpdmaQueued = 0x60,
  WriteFpdmaQueued = 0x61,
  ExecuteDeviceDiagnostic = 0x90,
  InitializeDeviceParameters = 0x91,
  Smart = 0xb0,
  ReadMultiple = 0xc4,
  WriteMultiple = 0xc5,
  SetMultipleMode = 0xc6,
  ReadDma = 0xc8,
  WriteDma = 0xca,
  WriteMultipleFuaExt = 0xce,
  StandbyImmediate = 0xe0,
  IdleImmediate = 0xe1,
  Standby = 0xe2,
  Idle = 0xe3,
  ReadBuffer = 0xe4,
  CheckPowerMode = 0xe5,
  Sleep = 0xe6,
  FlushCache = 0xe7,
  WriteBuffer = 0xe8,
  FlushCacheExt = 0xea,
  IdentifyDevice = 0xec,
  SetFeatures = 0xef,
  ReadNativeMaxAddress = 0xf8,
}

/** Bits of the status register. */
export enum AtaStatus {
  Error = 0x01,
  Sense = 0x02,
  DataRequest = 0x08,
  /** Device seek complete in old texts; SERV, or "bit 4" of queued commands. Always set here. */
  SeekComplete = 0x10,
  DeviceFault = 0x20,
  Ready = 0x40,
  Busy = 0x80,
}

/** DRDY and DSC: what a command that succeeded leaves behind. */
export const STATUS_GOOD = AtaStatus.Ready | AtaStatus.SeekComplete;
/** DRDY, DSC and ERR: what a command that failed leaves behind. */
export const STATUS_FAILED = STATUS_GOOD | AtaStatus.Error;

/** Bits of the error register. */
export enum AtaError {
  None = 0x00,
  AddressMarkNotFound = 0x01,
  EndOfMedia = 0x02,
  Abort = 0x04,
  MediaChangeRequested = 0x08,
  IdNotFound = 0x10,
  MediaChanged = 0x20,
  Uncorrectable = 0x40,
  InterfaceCrc = 0x80,
}

/** Bits of the device register. */
export enum AtaDevice {
  /** FUA bit of READ/WRITE FPDMA QUEUED. */
  ForceUnitAccess = 0x80,
  /** LBA addressing; required with commands that carry an LBA. */
  Lba = 0x40,
}

/** Bits of the device control register. */
export enum AtaControl {
  InterruptDisable = 0x02,
  SoftReset = 0x04,
}

/** Subcommands of SMART, in the low byte of the feature register (ACS-2, 7.52). */
export enum SmartFeature {
  ReadData = 0xd0,
  ReadThresholds = 0xd1,
  AttributeAutosave = 0xd2,
  SaveAttributes = 0xd3,
  ExecuteOfflineImmediate = 0xd4,
  ReadLog = 0xd5,
  WriteLog = 0xd6,
  EnableOperations = 0xd8,
  DisableOperations = 0xd9,
  ReturnStatus = 0xda,
  AutomaticOffline = 0xdb,
}

/** Subcommands of SET FEATURES, in the low byte of the feature register (ACS-2, 7.45). */
export enum SetFeature {
  EnableWriteCache = 0x02,
  SetTransferMode = 0x03,
  EnableSataFeature = 0x10,
  DisableLookAhead = 0x55,
  KeepSettingsAtSoftReset = 0x66,
  DisableWriteCache = 0x82,
  DisableSataFeature = 0x90,
  EnableLookAhead = 0xaa,
  RevertSettingsAtSoftReset = 0xcc,
}

/** SATA features of SET FEATURES 10h/90h, in the count register (Serial ATA 3.1, 13.3). */
export enum SataFeature {
  NonZeroBufferOffsets = 1,
  DmaSetupAutoActivate = 2,
  DeviceInitiatedPower = 3,
  InOrderDelivery = 4,
  AsynchronousNotification = 5,
  SoftwareSettingsPreservation = 6,
  DeviceSleep = 9,
}

/** The registers of one command, or of its result. All fields are non-negative integers. */
export interface TaskFile {
  /** Opcode; 0 in a result. */
  command: number;
  /** 16 bits; 28-bit commands use the low byte. */
  feature: number;
  /** 48 bits; 28-bit commands keep bits 27:24 in the low nibble of `device`. */
  lba: number;
  /** 16 bits; 28-bit commands use the low byte. */
  count: number;
  device: number;
  /** Result only; 0 in a command. */
  status: number;
  /** Result only; 0 in a command. */
  error: number;
  /** Device control register; 0 in a result. */
  control: number;
}

/** A task file with every register zero but those given. */
export function taskFile(registers: Partial<TaskFile> = {}): TaskFile {
  return {
    command: 0,
    feature: 0,
    lba: 0,
    count: 0,
    device: 0,
    status: 0,
    error: 0,
    control: 0,
    ...registers,
  };
}

/**
 * How a command moves its data (ACS-2, section 6; the FIS sequences are those of Serial ATA 3.1).
 */
export enum AtaProtocol {
  NonData,
  PioIn,
  PioOut,
  DmaIn,
  DmaOut,
  NcqIn,
  NcqOut,
}

/**
 * Bits of the sector address in the task file. None: the registers address no sector (READ LOG
 * names a log there, DATA SET MANAGEMENT lists its sectors in the data).
 */
export enum LbaWidth {
  None = 0,
  Bits28 = 28,
  Bits48 = 48,
}

/** What is known about one command before it runs. */
export interface AtaCommand {
  readonly opcode: AtaOpcode;
  /** Name as the standard prints it. */
  readonly name: string;
  readonly protocol: AtaProtocol;
  readonly lbaWidth: LbaWidth;
  /** True when it reads, writes, trims or flushes user data. */
  readonly touchesMedia: boolean;
}

const { NonData, PioIn, PioOut, DmaIn, DmaOut, NcqIn, NcqOut } = AtaProtocol;
const { None, Bits28, Bits48 } = LbaWidth;

function row(
  opcode: AtaOpcode,
  name: string,
  protocol: AtaProtocol,
  lbaWidth: LbaWidth,
  touchesMedia: boolean,
): AtaCommand {
  return { opcode, name, protocol, lbaWidth, touchesMedia };
}

/**
 * Every command that the drive knows, by opcode. NOP is known and always aborts (ACS-2, 7.31).
 * SMART has one row although READ DATA, READ THRESHOLDS and READ LOG move data in by PIO.
 */
export const ATA_COMMANDS: readonly AtaCommand[] = [
  row(AtaOpcode.Nop, 'NOP', NonData, None, false),
  row(AtaOpcode.DataSetManagement, 'DATA SET MANAGEMENT', DmaOut, None, true),
  row(AtaOpcode.Recalibrate, 'RECALIBRATE', NonData, None, false),
  row(AtaOpcode.ReadSectors, 'READ SECTORS', PioIn, Bits28, true),
  row(AtaOpcode.ReadSectorsExt, 'READ SECTORS EXT', PioIn, Bits48, true),
  row(AtaOpcode.ReadDmaExt, 'READ DMA EXT', DmaIn, Bits48, true),
  row(AtaOpcode.ReadNativeMaxAddressExt, 'READ NATIVE MAX ADDRESS EXT', NonData, None, false),
  row(AtaOpcode.ReadMultipleExt, 'READ MULTIPLE EXT', PioIn, Bits48, true),
  row(AtaOpcode.ReadLogExt, 'READ LOG EXT', PioIn, None, false),
  row(AtaOpcode.WriteSectors, 'WRITE SECTORS', PioOut, Bits28, true),
  row(AtaOpcode.WriteSectorsExt, 'WRITE SECTORS EXT', PioOut, Bits48, true),
  row(AtaOpcode.WriteDmaExt, 'WRITE DMA EXT', DmaOut, Bits48, true),
  row(AtaOpcode.WriteMultipleExt, 'WRITE MULTIPLE EXT', PioOut, Bits48, true),
  row(AtaOpcode.WriteDmaFuaExt, 'WRITE DMA FUA EXT', DmaOut, Bits48, true),
  row(AtaOpcode.ReadVerifySectors, 'READ VERIFY SECTORS', NonData, Bits28, true),
  row(AtaOpcode.ReadVerifySectorsExt, 'READ VERIFY SECTORS EXT', NonData, Bits48, true),
  row(AtaOpcode.ReadLogDmaExt, 'READ LOG DMA EXT', DmaIn, None, false),
  row(AtaOpcode.ReadFpdmaQueued, 'READ FPDMA QUEUED', NcqIn, Bits48, true),
  row(AtaOpcode.WriteFpdmaQueued, 'WRITE FPDMA QUEUED', NcqOut, Bits48, true),
  row(AtaOpcode.ExecuteDeviceDiagnostic, 'EXECUTE DEVICE DIAGNOSTIC', NonData, None, false),
  row(AtaOpcode.InitializeDeviceParameters, 'INITIALIZE DEVICE PARAMETERS', NonData, None, false),
  row(AtaOpcode.Smart, 'SMART', NonData, None, false),
  row(AtaOpcode.ReadMultiple, 'READ MULTIPLE', PioIn, Bits28, true),
  row(AtaOpcode.WriteMultiple, 'WRITE MULTIPLE', PioOut, Bits28, true),
  row(AtaOpcode.SetMultipleMode, 'SET MULTIPLE MODE', NonData, None, false),
  row(AtaOpcode.ReadDma, 'READ DMA', DmaIn, Bits28, true),
  row(AtaOpcode.WriteDma, 'WRITE DMA', DmaOut, Bits28, true),
  row(AtaOpcode.WriteMultipleFuaExt, 'WRITE MULTIPLE FUA EXT', PioOut, Bits48, true),
  row(AtaOpcode.StandbyImmediate, 'STANDBY IMMEDIATE', NonData, None, true),
  row(AtaOpcode.IdleImmediate, 'IDLE IMMEDIATE', NonData, None, false),
  row(AtaOpcode.Standby, 'STANDBY', NonData, None, true),
  row(AtaOpcode.Idle, 'IDLE', NonData, None, false),
  row(AtaOpcode.ReadBuffer, 'READ BUFFER', PioIn, None, false),
  row(AtaOpcode.CheckPowerMode, 'CHECK POWER MODE', NonData, None, false),
  row(AtaOpcode.Sleep, 'SLEEP', NonData, None, true),
  row(AtaOpcode.FlushCache, 'FLUSH CACHE', NonData, None, true),
  row(AtaOpcode.WriteBuffer, 'WRITE BUFFER', PioOut, None, false),
  row(AtaOpcode.FlushCacheExt, 'FLUSH CACHE EXT', NonData, None, true),
  row(AtaOpcode.IdentifyDevice, 'IDENTIFY DEVICE', PioIn, None, false),
  row(AtaOpcode.SetFeatures, 'SET FEATURES', NonData, None, false),
  row(AtaOpcode.ReadNativeMaxAddress, 'READ NATIVE MAX ADDRESS', NonData, None, false),
];

/** Row of `ATA_COMMANDS` for each of the 256 opcodes, -1 where the drive knows none. */
export const COMMAND_OF_OPCODE: Int16Array = indexByOpcode();

function indexByOpcode(): Int16Array {
  const rows = new Int16Array(256).fill(-1);
  ATA_COMMANDS.forEach((command, index) => {
    rows[command.opcode] = index;
  });
  return rows;
}

/** The command of an opcode (0-255), undefined when the drive does not know it and must abort. */
export function commandOf(opcode: number): AtaCommand | undefined {
  return ATA_COMMANDS[COMMAND_OF_OPCODE[opcode] ?? -1];
}

/**
 * First sector of a command with an LBA. 28-bit commands keep bits 27:24 in the device register.
 */
export function firstSector(command: AtaCommand, registers: TaskFile): number {
  if (command.lbaWidth === LbaWidth.Bits48) return registers.lba;
  return (registers.device & 0x0f) * 0x100_0000 + (registers.lba % 0x100_0000);
}

/** Sectors that a command with an LBA moves: 0 in the register means 256, or 65536 with 48 bits. */
export function sectorCount(command: AtaCommand, registers: TaskFile): number {
  if (command.lbaWidth === LbaWidth.Bits28) return registers.count & 0xff || 256;
  const isQueued = command.protocol === NcqIn || command.protocol === NcqOut;
  return (isQueued ? registers.feature : registers.count) || 65536;
}

/** Tag (0-31) of READ or WRITE FPDMA QUEUED. */
export function ncqTag(registers: TaskFile): number {
  return (registers.count >> 3) & 0x1f;
}
