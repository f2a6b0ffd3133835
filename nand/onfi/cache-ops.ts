/**
 * Cache operations: the bus works on the cache registers while the array works on the data
 * registers (ONFI 2.2, sections 5.12 and 5.15).
 *
 * RDY rises as soon as the cache registers are free again, ARDY when the array is.
 */

import { type ArrayJob, JobKind } from './array-job.ts';
import { checkProgram, clearFailures, refused } from './array-ops.ts';
import type { Lun } from './lun.ts';
import { LunState } from './lun-table.ts';
import { ViolationRule } from './rules.ts';

/**
 * 31h: the page in the data registers goes to the cache registers and the array turns to the next
 * one: the queued page (random) or the one that follows (sequential).
 *
 * @returns whether it was accepted; without a page in (or on its way to) the data registers it is
 *   not
 */
export function cacheRead(lun: Lun, random: boolean, atNs: number): boolean {
  const last = lastRead(lun);
  if (last === null) return refuseCacheRead(lun, atNs);
  const next = lun.next;
  if (random) {
    next.copyFrom(lun.queue);
    lun.queue.clear();
  } else if (!follow(lun, last, next)) {
    lun.report(ViolationRule.LunEnd, atNs);
    next.clear();
  }
  busyCopying(lun, atNs);
  return true;
}

/** 3Fh: as 31h, but nothing follows. Returns whether it was accepted. */
export function endCacheRead(lun: Lun, atNs: number): boolean {
  if (lastRead(lun) === null) return refuseCacheRead(lun, atNs);
  lun.next.clear();
  busyCopying(lun, atNs);
  return true;
}

/** The page that was asked for last in a cache read, null when there is none. */
function lastRead(lun: Lun): ArrayJob | null {
  if (lun.run.kind === JobKind.Read) return lun.run;
  return lun.held.kind === JobKind.Read ? lun.held : null;
}

function refuseCacheRead(lun: Lun, atNs: number): false {
  lun.report(ViolationRule.CacheSequence, atNs);
  lun.queue.clear();
  return false;
}

/** Makes `next` the page after `last`, in every plane; false past the end of the LUN. */
function follow(lun: Lun, last: ArrayJob, next: ArrayJob): boolean {
  next.copyFrom(last);
  next.page = last.page + 1;
  if (next.page < lun.part.pagesPerBlock) return true;
  next.page = 0;
  for (let plane = 0; plane < lun.planes; plane++) {
    const block = last.blocks[plane]! + lun.planes;
    if (((last.planeMask >>> plane) & 1) !== 0 && block >= lun.part.blocksPerDie) return false;
    next.blocks[plane] = block;
  }
  return true;
}

function busyCopying(lun: Lun, atNs: number): void {
  clearFailures(lun);
  lun.cacheProgramOpen = false;
  const fromNs = lun.run.kind === JobKind.Read ? lun.run.endNs : atNs;
  lun.busyUntil(fromNs + lun.times.readCacheBusyNs);
  const next = lun.next;
  if (next.kind !== JobKind.None) {
    next.viaCache = false;
    next.startNs = lun.readyAtNs;
    next.endNs = next.startNs + lun.durationNs(next);
    lun.arrayReadyAtNs = next.endNs;
  }
  lun.enter(LunState.CacheReadBusy);
}

/** 15h: the cache registers of the queued planes go to the data registers and from there on. */
export function cacheProgram(lun: Lun, atNs: number): void {
  if (refused(lun, atNs)) return;
  checkProgram(lun, lun.queue, atNs);
  if (!lun.cacheProgramOpen) clearFailures(lun);
  lun.cacheProgramOpen = true;
  const next = lun.next;
  next.copyFrom(lun.queue);
  lun.queue.clear();
  next.viaCache = false;
  const freeNs = lun.run.kind === JobKind.Program ? lun.run.endNs : atNs;
  lun.readyAtNs = freeNs + lun.times.programCacheBusyNs;
  next.startNs = lun.readyAtNs;
  next.endNs = next.startNs + lun.durationNs(next);
  lun.arrayReadyAtNs = next.endNs;
  lun.enter(LunState.CacheProgramBusy);
}
