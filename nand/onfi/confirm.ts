/**
 * Confirm commands: what 10h to E0h do with the open sequence.
 */

import { JobKind } from './array-job.ts';
import { dummyBusy, startErase, startProgram, startRead } from './array-ops.ts';
import { cacheProgram, cacheRead, endCacheRead } from './cache-ops.ts';
import { type DataOutput, OutputSource } from './data-output.ts';
import type { Features } from './features.ts';
import type { Lun } from './lun.ts';
import { Opcode } from './opcodes.ts';
import type { OpenSequence } from './open-sequence.ts';
import { ViolationRule } from './rules.ts';

/** Carries out an accepted confirm; true when an operation of the array was started. */
export function confirmSequence(
  lun: Lun,
  open: OpenSequence,
  output: DataOutput,
  features: Features,
  opcode: number,
  atNs: number,
): boolean {
  if (opcode === Opcode.ChangeReadColumnConfirm) {
    open.changeReadColumn(output, atNs);
    return false;
  }
  if (features.otpMode && !isPlainPageConfirm(opcode)) {
    lun.report(ViolationRule.OtpArea, atNs);
    open.reset();
    lun.queue.clear();
    return false;
  }
  switch (opcode) {
    case Opcode.ReadConfirm:
    case Opcode.CopybackReadConfirm:
    case Opcode.ReadMultiPlaneConfirm:
      return confirmRead(lun, open, output, opcode, atNs);
    case Opcode.ReadCacheConfirm:
      return confirmCacheRead(lun, open, output, atNs);
    case Opcode.ReadCacheEnd:
      open.reset();
      if (!endCacheRead(lun, atNs)) return false;
      output.select(OutputSource.Register, 0);
      return true;
    case Opcode.EraseConfirm:
      if (!open.enqueue(JobKind.Erase, atNs)) return dropQueue(lun);
      startErase(lun, atNs);
      return true;
    case Opcode.EraseMultiPlaneConfirm:
      if (!open.enqueue(JobKind.Erase, atNs)) return dropQueue(lun);
      dummyBusy(lun, lun.times.dummyBusyNs, atNs);
      return true;
    default:
      return confirmProgram(lun, open, opcode, atNs);
  }
}

function isPlainPageConfirm(opcode: number): boolean {
  return opcode === Opcode.ReadConfirm || opcode === Opcode.ProgramConfirm;
}

/** A group whose last address is wrong is not carried out in part. */
function dropQueue(lun: Lun): false {
  lun.queue.clear();
  return false;
}

function confirmRead(
  lun: Lun,
  open: OpenSequence,
  output: DataOutput,
  opcode: number,
  atNs: number,
): boolean {
  const { column, plane } = open;
  if (!open.enqueue(JobKind.Read, atNs)) return dropQueue(lun);
  if (opcode === Opcode.ReadMultiPlaneConfirm) {
    dummyBusy(lun, lun.times.dummyBusyNs, atNs);
    return true;
  }
  output.plane = plane;
  output.select(OutputSource.Register, column);
  startRead(lun, atNs);
  return true;
}

function confirmCacheRead(lun: Lun, open: OpenSequence, output: DataOutput, atNs: number): boolean {
  const random = open.kind === JobKind.Read;
  if (random && !open.enqueue(JobKind.Read, atNs)) return dropQueue(lun);
  if (!random) {
    open.reset();
    if (lun.queue.kind !== JobKind.None) {
      lun.report(ViolationRule.SequenceAbandoned, atNs);
      lun.queue.clear();
    }
  }
  if (!cacheRead(lun, random, atNs)) return false;
  output.select(OutputSource.Register, 0);
  return true;
}

function confirmProgram(lun: Lun, open: OpenSequence, opcode: number, atNs: number): boolean {
  if (!open.enqueue(JobKind.Program, atNs)) return dropQueue(lun);
  if (opcode === Opcode.ProgramMultiPlaneConfirm) dummyBusy(lun, lun.times.dummyBusyNs, atNs);
  else if (opcode === Opcode.ProgramCacheConfirm) cacheProgram(lun, atNs);
  else startProgram(lun, atNs);
  return true;
}
