/**
 * Answers: the commands that need no media, from the front end's own registers and pages.
 *
 * IDENTIFY, SMART, logs, SET FEATURES, the power modes without a flush, READ NATIVE MAX, READ/WRITE
 * BUFFER and the obsolete harmless ones. What is not in the command table never comes here.
 */

import {
  AtaError,
  AtaOpcode,
  SataFeature,
  SetFeature,
  SmartFeature,
  STATUS_FAILED,
  STATUS_GOOD,
  type TaskFile,
} from '../hal/ata.ts';
import type { DriveIdentity } from '../hal/identity.ts';
import { Bytes } from '../hal/sim/bytes.ts';
import type { Saveable, Saved } from '../hal/sim/snapshot.ts';
import { SECTOR_BYTES } from '../hal/sim/units.ts';
import { type DriveSettings, identifyDevice, POWER_ON_SETTINGS } from './identify.ts';
import { logPage, logRequest, type NcqError } from './log-pages.ts';
import {
  hasSmartSignature,
  SMART_GOOD_LBA,
  type SmartCounters,
  smartData,
  smartThresholds,
} from './smart.ts';

export enum PowerMode {
  Active,
  Idle,
  Standby,
  /** Only a reset wakes the drive. */
  Sleep,
}

/** CHECK POWER MODE results by power mode (ACS-2, 7.3). */
const POWER_CODE = [0xff, 0x80, 0x00, 0x00] as const;
/** Feature of IDLE IMMEDIATE that asks for an unload, which IDENTIFY does not announce. */
const IDLE_UNLOAD = 0x44;
const LBA28_MAX = 0x0fff_ffff;

/** Registers of a result and the data that goes with it. */
export interface Answer {
  status: number;
  error: number;
  lba: number;
  count: number;
  data: Bytes | null;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class Answers implements Saveable {
  readonly kind = 'sata.answers';
  readonly version = 2;
  readonly identity: DriveIdentity;
  readonly settings: Mutable<DriveSettings> = { ...POWER_ON_SETTINGS };
  powerMode = PowerMode.Active;
  /** The command that stopped the queue, for log 10h. */
  failure: NcqError | null = null;
  /** Sector of READ BUFFER and WRITE BUFFER. */
  readonly scratch = new Bytes(SECTOR_BYTES);
  /** SET FEATURES CCh is in force. */
  #revertsAtSoftReset = false;
  readonly #counters: () => SmartCounters;

  constructor(identity: DriveIdentity, counters: () => SmartCounters) {
    this.identity = identity;
    this.#counters = counters;
  }

  answer(registers: TaskFile): Answer {
    switch (registers.command as AtaOpcode) {
      case AtaOpcode.IdentifyDevice:
        return withData(identifyDevice(this.identity, this.settings));
      case AtaOpcode.Smart:
        return this.#smart(registers);
      case AtaOpcode.ReadLogExt:
      case AtaOpcode.ReadLogDmaExt:
        return this.#readLog(registers);
      case AtaOpcode.SetFeatures:
        return this.#setFeatures(registers);
      case AtaOpcode.SetMultipleMode:
        return this.#setMultiple(registers.count & 0xff);
      case AtaOpcode.ReadNativeMaxAddress:
        return good(Math.min(this.identity.sectors - 1, LBA28_MAX));
      case AtaOpcode.ReadNativeMaxAddressExt:
        return good(this.identity.sectors - 1);
      case AtaOpcode.CheckPowerMode:
        return { ...good(0), count: POWER_CODE[this.powerMode]! };
      case AtaOpcode.IdleImmediate:
        if ((registers.feature & 0xff) === IDLE_UNLOAD) return aborted();
        this.powerMode = PowerMode.Idle;
        return good(0);
      case AtaOpcode.Idle:
        this.powerMode = PowerMode.Idle;
        return good(0);
      case AtaOpcode.ReadBuffer:
        return withData(Bytes.over(this.scratch.slice()));
      case AtaOpcode.WriteBuffer:
      case AtaOpcode.Recalibrate:
      case AtaOpcode.InitializeDeviceParameters:
        return good(0);
      case AtaOpcode.ExecuteDeviceDiagnostic:
        return { status: STATUS_GOOD, error: 1, lba: 1, count: 1, data: null };
      default:
        return aborted();
    }
  }

  /**
   * COMRESET: software settings preservation is not announced, so all settings but SMART, which
   * keeps its state over every reset, go back to their power-on values.
   */
  hardwareReset(): void {
    const { isSmartOn } = this.settings;
    Object.assign(this.settings, POWER_ON_SETTINGS, { isSmartOn });
    this.#revertsAtSoftReset = false;
  }

  /** SRST keeps the settings unless SET FEATURES CCh has asked to revert them. */
  softReset(): void {
    if (this.#revertsAtSoftReset) this.hardwareReset();
  }

  /** Power-on: all settings to their defaults. */
  reset(): void {
    Object.assign(this.settings, POWER_ON_SETTINGS);
    this.#revertsAtSoftReset = false;
    this.powerMode = PowerMode.Active;
    this.failure = null;
    this.scratch.fill(0);
  }

  #smart(registers: TaskFile): Answer {
    if (!hasSmartSignature(registers.lba)) return aborted();
    const feature = registers.feature & 0xff;
    if (!this.settings.isSmartOn && feature !== SmartFeature.EnableOperations) return aborted();
    switch (feature as SmartFeature) {
      case SmartFeature.ReadData:
        return withData(smartData(this.#counters()));
      case SmartFeature.ReadThresholds:
        return withData(smartThresholds(this.#counters()));
      case SmartFeature.AttributeAutosave:
      case SmartFeature.SaveAttributes:
        return good(registers.lba);
      case SmartFeature.EnableOperations:
      case SmartFeature.DisableOperations:
        this.settings.isSmartOn = feature === SmartFeature.EnableOperations;
        return good(registers.lba);
      case SmartFeature.ReturnStatus:
        return good(SMART_GOOD_LBA);
      case SmartFeature.ReadLog:
        return this.#log(registers.lba & 0xff, 0, registers.count & 0xff);
      default:
        return aborted();
    }
  }

  #readLog(registers: TaskFile): Answer {
    const { address, page, pages } = logRequest(registers);
    return this.#log(address, page, pages);
  }

  #log(address: number, page: number, pages: number): Answer {
    if (pages !== 1) return aborted();
    const data = logPage(address, page, this.failure ?? undefined);
    return data === undefined ? aborted() : withData(data);
  }

  #setFeatures(registers: TaskFile): Answer {
    const { settings } = this;
    switch ((registers.feature & 0xff) as SetFeature) {
      case SetFeature.EnableWriteCache:
      case SetFeature.DisableWriteCache:
        settings.isWriteCacheOn = (registers.feature & 0xff) === SetFeature.EnableWriteCache;
        return good(0);
      case SetFeature.EnableLookAhead:
      case SetFeature.DisableLookAhead:
        settings.isLookAheadOn = (registers.feature & 0xff) === SetFeature.EnableLookAhead;
        return good(0);
      case SetFeature.SetTransferMode:
        return this.#setTransferMode(registers.count & 0xff);
      case SetFeature.EnableSataFeature:
      case SetFeature.DisableSataFeature:
        if ((registers.count & 0xff) !== SataFeature.DmaSetupAutoActivate) return aborted();
        settings.isAutoActivateOn = (registers.feature & 0xff) === SetFeature.EnableSataFeature;
        return good(0);
      case SetFeature.KeepSettingsAtSoftReset:
      case SetFeature.RevertSettingsAtSoftReset:
        this.#revertsAtSoftReset =
          (registers.feature & 0xff) === SetFeature.RevertSettingsAtSoftReset;
        return good(0);
      default:
        return aborted();
    }
  }

  /** PIO 0-4 and default, multiword DMA 0-2, Ultra DMA 0-6 (ACS-2, 7.45.6). */
  #setTransferMode(mode: number): Answer {
    const isPio = mode === 0 || mode === 1 || (mode >= 0x08 && mode <= 0x0c);
    const isDma = (mode >= 0x20 && mode <= 0x22) || (mode >= 0x40 && mode <= 0x46);
    if (!isPio && !isDma) return aborted();
    if (isDma) this.settings.dmaMode = mode;
    return good(0);
  }

  #setMultiple(sectors: number): Answer {
    if (sectors > 1) return aborted();
    this.settings.multipleSectors = sectors;
    return good(0);
  }

  save(): Saved {
    return {
      settings: { ...this.settings },
      powerMode: this.powerMode,
      failure: this.failure === null ? null : { ...this.failure },
      scratch: Uint8Array.from(this.scratch),
      revertsAtSoftReset: this.#revertsAtSoftReset,
    };
  }

  restore(saved: Saved): void {
    Object.assign(this.settings, saved.settings);
    this.powerMode = saved.powerMode as PowerMode;
    this.failure = saved.failure as NcqError | null;
    this.scratch.set(saved.scratch as Uint8Array);
    this.#revertsAtSoftReset = saved.revertsAtSoftReset as boolean;
  }
}

function good(lba: number): Answer {
  return { status: STATUS_GOOD, error: 0, lba, count: 0, data: null };
}

function withData(data: Bytes): Answer {
  return { status: STATUS_GOOD, error: 0, lba: 0, count: 0, data };
}

function aborted(): Answer {
  return { status: STATUS_FAILED, error: AtaError.Abort, lba: 0, count: 0, data: null };
}
