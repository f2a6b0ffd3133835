/**
 * Resets and loss of power: how they cut short what a LUN is doing.
 *
 * An interrupted program damages its pages, an interrupted erase its blocks; a page that waited
 * behind another (15h) or was only queued has not begun and stays as it was.
 */

import { JobKind } from './array-job.ts';
import { clearFailures } from './array-ops.ts';
import type { Lun } from './lun.ts';
import { LunState } from './lun-table.ts';

/** FFh, FCh or FAh: everything stops, tRST depends on what was stopped. */
export function resetLun(lun: Lun, atNs: number): void {
  lun.settle(atNs);
  const resetNs = resetTimeNs(lun);
  // A reset during a reset does not shorten it.
  const earliestNs = lun.state === LunState.Resetting ? lun.readyAtNs : atNs;
  interrupt(lun, atNs);
  lun.busyUntil(Math.max(earliestNs, atNs + resetNs));
  lun.enter(LunState.Resetting);
}

/** The supply comes up: registers hold ones, and only FFh will be heard. */
export function powerUpLun(lun: Lun, atNs: number): void {
  for (const register of lun.cache) register.clear();
  for (const register of lun.data) register.clear();
  lun.busyUntil(atNs + lun.times.powerUpNs);
  lun.enter(LunState.PoweringUp);
}

/** The supply is gone: what ran is cut short, only the cells remain. */
export function powerDownLun(lun: Lun, atNs: number): void {
  lun.settle(atNs);
  interrupt(lun, atNs);
  lun.busyUntil(atNs);
  lun.enter(LunState.Off);
}

function resetTimeNs(lun: Lun): number {
  if (lun.state === LunState.AwaitingReset) return lun.times.firstResetNs;
  if (lun.state === LunState.Identifying) return lun.times.resetReadNs;
  switch (lun.run.kind) {
    case JobKind.Read:
      return lun.times.resetReadNs;
    case JobKind.Program:
      return lun.times.resetProgramNs;
    case JobKind.Erase:
      return lun.times.resetEraseNs;
    default:
      return lun.times.resetIdleNs;
  }
}

function interrupt(lun: Lun, atNs: number): void {
  const run = lun.run;
  const fraction = run.kind === JobKind.None ? 0 : run.fractionAt(atNs);
  for (let plane = 0; plane < lun.planes && !run.otp; plane++) {
    if (((run.planeMask >>> plane) & 1) === 0) continue;
    const block = run.blocks[plane]!;
    if (run.kind === JobKind.Erase) lun.array.eraseInterrupted(block, fraction);
    if (run.kind !== JobKind.Program) continue;
    const register = (run.viaCache ? lun.cache : lun.data)[plane]!;
    lun.array.programInterrupted(block, run.page, register, fraction);
  }
  run.clear();
  lun.next.clear();
  lun.queue.clear();
  lun.held.clear();
  lun.copybackPlanes = 0;
  lun.cacheProgramOpen = false;
  lun.otpRefused = false;
  clearFailures(lun);
}
