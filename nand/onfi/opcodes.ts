/**
 * The commands of an ONFI 2.2 die: opcodes with their data-sheet names, what role each has in a
 * cycle sequence, and the command table that readers, decoder and tests share.
 *
 * Sources: ONFI 2.2 section 5 (command definition) and Micron's behavioural model of a sibling die.
 */

export enum Opcode {
  ReadPage = 0x00,
  ChangeReadColumn = 0x05,
  ChangeReadColumnEnhanced = 0x06,
  ProgramConfirm = 0x10,
  ProgramMultiPlaneConfirm = 0x11,
  ProgramCacheConfirm = 0x15,
  ReadConfirm = 0x30,
  ReadCacheConfirm = 0x31,
  ReadMultiPlaneConfirm = 0x32,
  CopybackReadConfirm = 0x35,
  ReadCacheEnd = 0x3f,
  EraseBlock = 0x60,
  ReadStatus = 0x70,
  ReadStatusEnhanced = 0x78,
  ProgramPage = 0x80,
  /** Second opener of a multi-plane program in JEDEC style. */
  ProgramPageSecond = 0x81,
  /** Change write column, change row address, and opener of a copyback program. */
  ChangeWriteColumn = 0x85,
  ReadId = 0x90,
  EraseConfirm = 0xd0,
  EraseMultiPlaneConfirm = 0xd1,
  ChangeReadColumnConfirm = 0xe0,
  ReadParameterPage = 0xec,
  ReadUniqueId = 0xed,
  GetFeatures = 0xee,
  SetFeatures = 0xef,
  ResetLun = 0xfa,
  SynchronousReset = 0xfc,
  Reset = 0xff,
}

/** What an opcode does in a cycle sequence. */
export enum Role {
  /** Not an opcode of this part. */
  None,
  /** Address cycles follow. */
  Opener,
  /** Ends a sequence and starts the work. */
  Confirm,
  /** Complete in itself. */
  Immediate,
}

/** When an opcode is legal beside an idle LUN: bits of {@link LEGAL_WHILE}. */
export const LEGAL_BUSY = 1;
export const LEGAL_CACHE_READ = 2;
export const LEGAL_CACHE_PROGRAM = 4;
const LEGAL_CACHE = LEGAL_CACHE_READ | LEGAL_CACHE_PROGRAM;
const LEGAL_ALWAYS = LEGAL_BUSY | LEGAL_CACHE;

interface OpcodeRow {
  readonly opcode: Opcode;
  readonly role: Role;
  /** Address cycles that follow; 85h also ends after 2 (change write column). */
  readonly addressCycles: 0 | 1 | 2 | 3 | 5;
  readonly legalWhile: number;
}

function opener(
  opcode: Opcode,
  addressCycles: OpcodeRow['addressCycles'],
  legalWhile = 0,
): OpcodeRow {
  return { opcode, role: Role.Opener, addressCycles, legalWhile };
}

function confirm(opcode: Opcode, legalWhile = 0): OpcodeRow {
  return { opcode, role: Role.Confirm, addressCycles: 0, legalWhile };
}

function immediate(opcode: Opcode): OpcodeRow {
  return { opcode, role: Role.Immediate, addressCycles: 0, legalWhile: LEGAL_ALWAYS };
}

/** One row an opcode. Source: ONFI 2.2, table of command definitions. */
export const OPCODES: readonly OpcodeRow[] = [
  opener(Opcode.ReadPage, 5, LEGAL_CACHE),
  opener(Opcode.ChangeReadColumn, 2, LEGAL_CACHE),
  opener(Opcode.ChangeReadColumnEnhanced, 5, LEGAL_CACHE),
  opener(Opcode.EraseBlock, 3),
  opener(Opcode.ReadStatusEnhanced, 3, LEGAL_ALWAYS),
  opener(Opcode.ProgramPage, 5, LEGAL_CACHE_PROGRAM),
  opener(Opcode.ProgramPageSecond, 5, LEGAL_CACHE_PROGRAM),
  opener(Opcode.ChangeWriteColumn, 5, LEGAL_CACHE_PROGRAM),
  opener(Opcode.ReadId, 1),
  opener(Opcode.ReadParameterPage, 1),
  opener(Opcode.ReadUniqueId, 1),
  opener(Opcode.GetFeatures, 1),
  opener(Opcode.SetFeatures, 1),
  opener(Opcode.ResetLun, 3, LEGAL_ALWAYS),
  confirm(Opcode.ProgramConfirm, LEGAL_CACHE_PROGRAM),
  confirm(Opcode.ProgramMultiPlaneConfirm, LEGAL_CACHE_PROGRAM),
  confirm(Opcode.ProgramCacheConfirm, LEGAL_CACHE_PROGRAM),
  confirm(Opcode.ReadConfirm),
  confirm(Opcode.ReadCacheConfirm, LEGAL_CACHE_READ),
  confirm(Opcode.ReadMultiPlaneConfirm, LEGAL_CACHE_READ),
  confirm(Opcode.CopybackReadConfirm),
  confirm(Opcode.ReadCacheEnd, LEGAL_CACHE_READ),
  confirm(Opcode.EraseConfirm),
  confirm(Opcode.EraseMultiPlaneConfirm),
  confirm(Opcode.ChangeReadColumnConfirm, LEGAL_CACHE),
  immediate(Opcode.ReadStatus),
  immediate(Opcode.SynchronousReset),
  immediate(Opcode.Reset),
];

/** By opcode byte: its {@link Role}. */
export const ROLE = new Uint8Array(256);
/** By opcode byte: address cycles that follow. */
export const ADDRESS_CYCLES = new Uint8Array(256);
/** By opcode byte: LEGAL_ bits. */
export const LEGAL_WHILE = new Uint8Array(256);
for (const row of OPCODES) {
  ROLE[row.opcode] = row.role;
  ADDRESS_CYCLES[row.opcode] = row.addressCycles;
  LEGAL_WHILE[row.opcode] = row.legalWhile;
}

/** One row of the command table: `C` is 2 column cycles, `R` 3 row cycles, `A` 1, `D` data. */
export interface CommandRow {
  readonly name: string;
  readonly cycles: string;
  /** The busy time by its data-sheet name, or `-`. */
  readonly busy: string;
}

/** Every command of the die, in the order of the data sheet. */
export const COMMANDS: readonly CommandRow[] = [
  { name: 'RESET', cycles: 'FFh', busy: 'tRST' },
  { name: 'SYNCHRONOUS RESET', cycles: 'FCh', busy: 'tRST' },
  { name: 'RESET LUN', cycles: 'FAh R', busy: 'tRST' },
  { name: 'READ ID', cycles: '90h A', busy: '-' },
  { name: 'READ PARAMETER PAGE', cycles: 'ECh A', busy: 'tR' },
  { name: 'READ UNIQUE ID', cycles: 'EDh A', busy: 'tR' },
  { name: 'GET FEATURES', cycles: 'EEh A', busy: 'tFEAT' },
  { name: 'SET FEATURES', cycles: 'EFh A D', busy: 'tFEAT' },
  { name: 'READ STATUS', cycles: '70h', busy: '-' },
  { name: 'READ STATUS ENHANCED', cycles: '78h R', busy: '-' },
  { name: 'READ PAGE', cycles: '00h C R 30h', busy: 'tR' },
  { name: 'READ PAGE MULTI-PLANE', cycles: '00h C R 32h', busy: 'tDBSY' },
  { name: 'READ PAGE CACHE SEQUENTIAL', cycles: '31h', busy: 'tRCBSY' },
  { name: 'READ PAGE CACHE RANDOM', cycles: '00h C R 31h', busy: 'tRCBSY' },
  { name: 'READ PAGE CACHE LAST', cycles: '3Fh', busy: 'tRCBSY' },
  { name: 'CHANGE READ COLUMN', cycles: '05h C E0h', busy: '-' },
  { name: 'CHANGE READ COLUMN ENHANCED', cycles: '06h C R E0h', busy: '-' },
  { name: 'PROGRAM PAGE', cycles: '80h C R D 10h', busy: 'tPROG' },
  { name: 'PROGRAM PAGE MULTI-PLANE', cycles: '80h C R D 11h', busy: 'tDBSY' },
  { name: 'PROGRAM PAGE CACHE', cycles: '80h C R D 15h', busy: 'tCBSY' },
  { name: 'CHANGE WRITE COLUMN', cycles: '85h C D', busy: '-' },
  { name: 'CHANGE ROW ADDRESS', cycles: '85h C R D', busy: '-' },
  { name: 'ERASE BLOCK', cycles: '60h R D0h', busy: 'tBERS' },
  { name: 'ERASE BLOCK MULTI-PLANE', cycles: '60h R D1h', busy: 'tDBSY' },
  { name: 'COPYBACK READ', cycles: '00h C R 35h', busy: 'tR' },
  { name: 'COPYBACK PROGRAM', cycles: '85h C R D 10h', busy: 'tPROG' },
  { name: 'COPYBACK PROGRAM MULTI-PLANE', cycles: '85h C R D 11h', busy: 'tDBSY' },
];
