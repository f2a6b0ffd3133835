/**
 * Array operations: reads, programs and erases of one plane or of a group of planes.
 *
 * A group is collected in the queue of the LUN, plane by plane, and started by its last confirm.
 * The rules of a group and of programming are checked here; what breaks a rule still happens as the
 * part does it, except under write protection.
 */

import { type ArrayJob, JobKind } from './array-job.ts';
import type { Lun } from './lun.ts';
import { LunState } from './lun-table.ts';
import { ViolationRule } from './rules.ts';

/** Programs that one page takes between two erases (NOP of MLC). Source: model. */
const PROGRAMS_PER_PAGE = 1;

/**
 * Adds a plane to the queued group. A later page number counts for the whole group, and a second
 * address in one plane replaces the first.
 */
export function addPlane(
  lun: Lun,
  kind: JobKind,
  block: number,
  page: number,
  otp: boolean,
  atNs: number,
): void {
  const queue = lun.queue;
  if (queue.kind !== JobKind.None && queue.kind !== kind) {
    lun.report(ViolationRule.SequenceAbandoned, atNs);
    queue.clear();
  }
  const plane = block % lun.planes;
  const samePlane = ((queue.planeMask >>> plane) & 1) !== 0;
  const otherPage = queue.planeMask !== 0 && kind !== JobKind.Erase && queue.page !== page;
  if (samePlane || otherPage) lun.report(ViolationRule.PlaneAddress, atNs);
  queue.kind = kind;
  queue.planeMask |= 1 << plane;
  queue.blocks[plane] = block;
  queue.page = kind === JobKind.Erase ? 0 : page;
  queue.otp = otp;
}

/** tDBSY after 32h, 11h or D1h; what runs in the array goes on. */
export function dummyBusy(lun: Lun, busyNs: number, atNs: number): void {
  lun.readyAtNs = atNs + busyNs;
  if (lun.arrayReadyAtNs < lun.readyAtNs) lun.arrayReadyAtNs = lun.readyAtNs;
  lun.enter(LunState.DummyBusy);
}

/** 30h or 35h: the queued pages go to the cache registers. */
export function startRead(lun: Lun, atNs: number): void {
  clearFailures(lun);
  lun.cacheProgramOpen = false;
  lun.copybackPlanes = 0;
  lun.held.clear();
  startAlone(lun, LunState.Reading, atNs);
}

/** D0h: the queued blocks are erased. */
export function startErase(lun: Lun, atNs: number): void {
  if (refused(lun, atNs)) return;
  for (let plane = 0; plane < lun.planes; plane++) {
    if (((lun.queue.planeMask >>> plane) & 1) === 0) continue;
    if (lun.array.isFactoryBad(lun.queue.blocks[plane]!)) {
      lun.report(ViolationRule.FactoryBadBlock, atNs);
    }
  }
  clearFailures(lun);
  lun.cacheProgramOpen = false;
  startAlone(lun, LunState.Erasing, atNs);
}

/** 10h: the cache registers of the queued planes are programmed, after what runs already. */
export function startProgram(lun: Lun, atNs: number): void {
  if (refused(lun, atNs)) return;
  checkProgram(lun, lun.queue, atNs);
  if (lun.state === LunState.CacheProgramming) {
    const next = lun.next;
    next.copyFrom(lun.queue);
    lun.queue.clear();
    next.viaCache = true;
    next.startNs = lun.run.endNs;
    next.endNs = next.startNs + lun.durationNs(next);
    lun.busyUntil(next.endNs);
    lun.enter(LunState.Programming);
  } else {
    lun.failPreviousPlanes = lun.cacheProgramOpen ? lun.failPlanes : 0;
    lun.failPlanes = 0;
    startAlone(lun, LunState.Programming, atNs);
  }
  lun.cacheProgramOpen = false;
}

function startAlone(lun: Lun, state: LunState, atNs: number): void {
  const run = lun.run;
  run.copyFrom(lun.queue);
  lun.queue.clear();
  run.viaCache = true;
  run.startNs = atNs;
  run.endNs = atNs + lun.durationNs(run);
  lun.otpRefused = false;
  lun.busyUntil(run.endNs);
  lun.enter(state);
}

/** FAIL and FAILC begin anew with an operation that continues no other. */
export function clearFailures(lun: Lun): void {
  lun.failPlanes = 0;
  lun.failPreviousPlanes = 0;
}

/** Whether WP# or a protected OTP area forbids the queued program or erase, which is dropped. */
export function refused(lun: Lun, atNs: number): boolean {
  if (!lun.notProtected) {
    lun.report(ViolationRule.WriteProtected, atNs);
    lun.queue.clear();
    if (lun.state === LunState.Idle) clearFailures(lun);
    return true;
  }
  if (!lun.queue.otp || !lun.otp.protected) return false;
  lun.queue.clear();
  clearFailures(lun);
  lun.otpRefused = true;
  dummyBusy(lun, lun.times.otpBusyNs, atNs);
  return true;
}

/** Reports what is wrong with a program that is about to start, and counts gaps upwards. */
export function checkProgram(lun: Lun, job: ArrayJob, atNs: number): void {
  if (job.otp) return;
  for (let plane = 0; plane < lun.planes; plane++) {
    if (((job.planeMask >>> plane) & 1) === 0) continue;
    const block = job.blocks[plane]!;
    if (lun.array.isFactoryBad(block)) lun.report(ViolationRule.FactoryBadBlock, atNs);
    let nextPage = lun.array.nextPage(block);
    let programCount = lun.array.programCount(block, job.page);
    const run = lun.run;
    // A program still running has not reached the cells yet, but its page is spoken for.
    if (run.kind === JobKind.Program && run.blocks[plane] === block) {
      if (((run.planeMask >>> plane) & 1) !== 0) {
        if (run.page >= nextPage) nextPage = run.page + 1;
        if (run.page === job.page) programCount++;
      }
    }
    if (programCount >= PROGRAMS_PER_PAGE) lun.report(ViolationRule.ProgramCount, atNs);
    else if (job.page < nextPage) lun.report(ViolationRule.PageOrder, atNs);
    else lun.gapCount += job.page - nextPage;
  }
}
