/**
 * Which command a die accepts now (ONFI 2.2, section 5.1: what is valid while a LUN is busy).
 */

import type { Features } from './features.ts';
import type { Lun } from './lun.ts';
import { LunState } from './lun-table.ts';
import {
  LEGAL_BUSY,
  LEGAL_CACHE_PROGRAM,
  LEGAL_CACHE_READ,
  LEGAL_WHILE,
  Opcode,
  ROLE,
  Role,
} from './opcodes.ts';
import { ViolationRule } from './rules.ts';

/** The rule that forbids an opcode now, or null. The LUN is settled. */
export function faultOf(
  lun: Lun,
  features: Features,
  opcode: number,
  atNs: number,
): ViolationRule | null {
  if (ROLE[opcode] === Role.None) return ViolationRule.UnsupportedOpcode;
  if (lun.state === LunState.PoweringUp) return ViolationRule.CommandWhileBusy;
  if (lun.state === LunState.AwaitingReset) {
    return opcode === Opcode.Reset ? null : ViolationRule.FirstReset;
  }
  if (opcode === Opcode.SynchronousReset && !features.synchronous) {
    return ViolationRule.SynchronousReset;
  }
  if (opcode === Opcode.SetFeatures && atNs < lun.arrayReadyAtNs) {
    return ViolationRule.SetFeaturesWhileBusy;
  }
  const legal = LEGAL_WHILE[opcode]!;
  if (atNs < lun.readyAtNs) {
    return (legal & LEGAL_BUSY) !== 0 ? null : ViolationRule.CommandWhileBusy;
  }
  if (lun.state === LunState.CacheReading && (legal & LEGAL_CACHE_READ) === 0) {
    return ViolationRule.CacheSequence;
  }
  if (lun.state === LunState.CacheProgramming && (legal & LEGAL_CACHE_PROGRAM) === 0) {
    return ViolationRule.CacheSequence;
  }
  return null;
}
