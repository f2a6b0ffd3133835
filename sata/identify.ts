/**
 * IDENTIFY DEVICE: the 256 words in which the drive says what it is and what it answers.
 *
 * Values are those of the real drive as far as public listings show them, less what is not
 * modelled. Source: ACS-2, 7.16.
 */

import { LBA28_LIMIT, SECTOR_BYTES } from '../hal/ata.ts';
import type { DriveIdentity } from '../hal/identity.ts';
import { Bytes } from '../hal/sim/bytes.ts';
import { sealChecksum } from './log-pages.ts';
import { TRIM_MAX_BLOCKS } from './trim-ranges.ts';

/** Settings that the host changes with SET FEATURES, SMART and SET MULTIPLE MODE. */
export interface DriveSettings {
  /**
   * DMA mode last chosen with SET FEATURES 03h: 20h + n multiword, 40h + n Ultra; 0 when none was
   * chosen. A choice of a PIO mode does not change it.
   */
  readonly dmaMode: number;
  /** Sectors of a DRQ block of READ/WRITE MULTIPLE; 0 when never set. */
  readonly multipleSectors: number;
  readonly isWriteCacheOn: boolean;
  readonly isLookAheadOn: boolean;
  readonly isSmartOn: boolean;
  /** DMA Setup auto-activate, SET FEATURES 10h/90h count 2. */
  readonly isAutoActivateOn: boolean;
  /** Negotiated link speed: 1, 2 or 3 for 1.5, 3 or 6 Gbit/s; 0 unknown. */
  readonly linkGeneration: number;
}

/** Settings after power-on; Ultra DMA 6 and one sector a block, as real drives report at once. */
export const POWER_ON_SETTINGS: DriveSettings = {
  dmaMode: 0x46,
  multipleSectors: 1,
  isWriteCacheOn: true,
  isLookAheadOn: true,
  isSmartOn: true,
  isAutoActivateOn: false,
  linkGeneration: 3,
};

/** Queued commands that the drive holds at once. */
export const QUEUE_DEPTH = 32;

const HEADS = 16;
const TRACK_SECTORS = 63;
const MOST_CYLINDERS = 16383;

/** Bits of words 82 and 85. */
enum FeatureSet82 {
  Smart = 0x0001,
  PowerManagement = 0x0008,
  WriteCache = 0x0020,
  LookAhead = 0x0040,
  WriteBuffer = 0x1000,
  ReadBuffer = 0x2000,
  Nop = 0x4000,
}

const SUPPORTED_82 =
  FeatureSet82.Smart |
  FeatureSet82.PowerManagement |
  FeatureSet82.WriteCache |
  FeatureSet82.LookAhead |
  FeatureSet82.WriteBuffer |
  FeatureSet82.ReadBuffer |
  FeatureSet82.Nop;

/** LBA48, FLUSH CACHE, FLUSH CACHE EXT. */
const FEATURES_83 = 0x3400;
/** General purpose logging, WRITE DMA FUA EXT, World Wide Name. */
const FEATURES_84 = 0x0160;
/** READ LOG DMA EXT. */
const FEATURES_119 = 0x0008;
/** Bit 14 set and bit 15 clear say that a word of feature bits is valid. */
const VALID = 0x4000;
/** The same in word 86: words 119 and 120 are valid. */
const WORDS_119_120_VALID = 0x8000;
const AUTO_ACTIVATE = 0x0004;

/**
 * IDENTIFY DEVICE data of an OCZ Vector: 512 bytes, checksum included (ACS-2, 7.16).
 *
 * It announces what the drive answers and nothing else. The real drive also has the SECURITY,
 * HPA, DCO, DOWNLOAD MICROCODE and self-test feature sets. Words that only such a feature set
 * fills are zero. Throws a RangeError when the identity does not fit its words.
 */
export function identifyDevice(identity: DriveIdentity, settings: DriveSettings): Bytes {
  checkIdentity(identity);
  const sector = new Bytes(SECTOR_BYTES);
  const writeWord = (word: number, value: number) => sector.writeUIntLE(value, word * 2, 2);
  for (const [word, value] of FIXED_WORDS) writeWord(word, value);
  for (const [word, value] of settingWords(settings)) writeWord(word, value);
  writeText(sector, 10, 10, identity.serial);
  writeText(sector, 23, 4, identity.firmware);
  writeText(sector, 27, 20, identity.model);
  writeCapacity(sector, identity.sectors);
  for (let i = 0; i < 4; i++)
    writeWord(108 + i, Number.parseInt(identity.wwn.slice(i * 4, i * 4 + 4), 16));
  sector[510] = 0xa5;
  return sealChecksum(sector);
}

type WordValue = readonly [word: number, value: number];

/** Words that never change, by ACS-2 number. Values of the real drive except where noted above. */
const FIXED_WORDS: readonly WordValue[] = [
  [2, 0xc837], // complete data, needs no SET FEATURES to spin up
  [3, HEADS],
  [6, TRACK_SECTORS],
  [21, 0xffff], // 21 and 22: retired, as the real drive fills them
  [22, 0x3000],
  [47, 0x8001], // one sector is the largest block of READ/WRITE MULTIPLE
  [49, 0x2f00], // DMA, LBA, IORDY, standard standby timers
  [50, VALID],
  [53, 0x0007], // words 54-58, 64-70 and 88 are valid
  [55, HEADS],
  [56, TRACK_SECTORS],
  [64, 0x0003], // PIO modes 3 and 4
  [65, 120], // 65-68: cycle times in ns
  [66, 120],
  [67, 120],
  [68, 120],
  [69, 0x0000], // neither deterministic nor zeros after TRIM
  [75, QUEUE_DEPTH - 1],
  [76, 0x010e], // generations 1 to 3, NCQ
  [78, AUTO_ACTIVATE],
  [80, 0x01f8], // ATA-3 to ATA8-ACS
  [81, 0x0000], // minor version not indicated
  [82, SUPPORTED_82],
  [83, VALID | FEATURES_83],
  [84, VALID | FEATURES_84],
  [86, WORDS_119_120_VALID | FEATURES_83],
  [87, VALID | FEATURES_84],
  [105, TRIM_MAX_BLOCKS],
  [106, VALID], // logical and physical sectors of 512 bytes
  [119, VALID | FEATURES_119],
  [120, VALID | FEATURES_119],
  [169, 0x0001], // TRIM
  [217, 0x0001], // does not rotate
  [222, 0x107f], // serial transport, SATA 1.0a to 3.1
];

function settingWords(settings: DriveSettings): WordValue[] {
  let enabled82 = SUPPORTED_82;
  if (!settings.isSmartOn) enabled82 &= ~FeatureSet82.Smart;
  if (!settings.isWriteCacheOn) enabled82 &= ~FeatureSet82.WriteCache;
  if (!settings.isLookAheadOn) enabled82 &= ~FeatureSet82.LookAhead;
  const modeNumber = settings.dmaMode & 0x07;
  const isMultiword = settings.dmaMode >> 3 === 0x20 >> 3;
  const isUltra = settings.dmaMode >> 3 === 0x40 >> 3;
  return [
    [59, settings.multipleSectors === 0 ? 0 : 0x0100 | settings.multipleSectors],
    [63, 0x0007 | (isMultiword ? 0x0100 << modeNumber : 0)],
    [77, settings.linkGeneration << 1],
    [79, settings.isAutoActivateOn ? AUTO_ACTIVATE : 0],
    [85, enabled82],
    [88, 0x007f | (isUltra ? 0x0100 << modeNumber : 0)],
  ];
}

function writeCapacity(sector: Bytes, sectors: number): void {
  const cylinders = Math.min(MOST_CYLINDERS, Math.floor(sectors / (HEADS * TRACK_SECTORS)));
  sector.writeUIntLE(cylinders, 1 * 2, 2);
  sector.writeUIntLE(cylinders, 54 * 2, 2);
  sector.writeUIntLE(cylinders * HEADS * TRACK_SECTORS, 57 * 2, 4);
  sector.writeUIntLE(Math.min(sectors, LBA28_LIMIT - 1), 60 * 2, 4);
  sector.writeUIntLE(sectors, 100 * 2, 6);
}

/** ATA strings hold two characters a word, the first one in the high byte, padded with blanks. */
function writeText(sector: Bytes, word: number, words: number, text: string): void {
  const padded = text.padEnd(words * 2, ' ');
  for (let i = 0; i < words; i++) {
    sector[(word + i) * 2 + 1] = padded.charCodeAt(i * 2);
    sector[(word + i) * 2] = padded.charCodeAt(i * 2 + 1);
  }
}

function checkIdentity(identity: DriveIdentity): void {
  checkText('model', identity.model, 40);
  checkText('firmware', identity.firmware, 8);
  checkText('serial', identity.serial, 20);
  if (!/^5[0-9a-f]{15}$/i.test(identity.wwn)) {
    throw new RangeError(`identity wwn: "${identity.wwn}" is not 5 and 15 hexadecimal digits`);
  }
  if (!Number.isInteger(identity.sectors) || identity.sectors < 1 || identity.sectors >= 2 ** 48) {
    throw new RangeError(`identity sectors: ${identity.sectors} is not an integer of 1 to 48 bits`);
  }
}

function checkText(field: string, text: string, most: number): void {
  if (text.length > most || !/^[\x20-\x7e]*$/.test(text)) {
    throw new RangeError(`identity ${field}: "${text}" is not up to ${most} ASCII characters`);
  }
}
