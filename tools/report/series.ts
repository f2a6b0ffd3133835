/**
 * Operations over time. The recorder does not know how long a run will last, so it starts with
 * narrow buckets and doubles their width when it runs out: a fixed amount of memory, and between
 * half and all of its buckets in use at the end.
 */
import type { OperationKind } from './report.ts';

/** IOPS a bucket of simulated time; all four arrays have the same length. */
export interface IopsSeries {
  readonly bucketNs: number;
  readonly read: Float64Array;
  readonly write: Float64Array;
  readonly trim: Float64Array;
  readonly flush: Float64Array;
}

/** Counts completions; `finish` turns the counts into IOPS. */
export class SeriesRecorder {
  private readonly counts: Record<OperationKind, Float64Array>;
  private readonly capacity: number;
  /** Width of a bucket now: the starting width times a power of two. */
  private bucketNs: number;
  /** One past the last bucket that holds a completion. */
  private used = 0;

  /**
   * @param startBucketNs width of a bucket at first
   * @param capacity how many buckets to keep at most: an even number
   */
  constructor(startBucketNs = 1_000_000, capacity = 1024) {
    if (!Number.isSafeInteger(startBucketNs) || startBucketNs < 1) {
      throw new RangeError(`a bucket is at least one whole nanosecond wide, not ${startBucketNs}`);
    }
    if (!Number.isSafeInteger(capacity) || capacity < 2 || capacity % 2 !== 0) {
      throw new RangeError(`a series keeps an even number of buckets, not ${capacity}`);
    }
    this.bucketNs = startBucketNs;
    this.capacity = capacity;
    const column = (): Float64Array => new Float64Array(capacity);
    this.counts = { read: column(), write: column(), trim: column(), flush: column() };
  }

  /**
   * Counts one completion.
   * @param atNs simulated time since the start of the run
   */
  record(kind: OperationKind, atNs: number): void {
    if (!(atNs >= 0 && atNs <= Number.MAX_SAFE_INTEGER)) {
      throw new RangeError(`an operation completes at a time from 0 on, not ${atNs}`);
    }
    let bucket = Math.floor(atNs / this.bucketNs);
    while (bucket >= this.capacity) {
      this.widen();
      bucket = Math.floor(atNs / this.bucketNs);
    }
    const column = this.counts[kind];
    column[bucket] = column[bucket]! + 1;
    if (bucket >= this.used) this.used = bucket + 1;
  }

  /**
   * The series so far.
   * @param endNs simulated length of the run, above 0; the last bucket may be shorter and is scaled
   */
  finish(endNs: number): IopsSeries {
    if (!(endNs > 0 && endNs <= Number.MAX_SAFE_INTEGER)) {
      throw new RangeError(`a run has a length above 0, not ${endNs}`);
    }
    while (endNs > this.bucketNs * this.capacity) this.widen();
    // What completes at the very end closes the run: it belongs to the last bucket.
    const length = Math.max(1, Math.ceil(endNs / this.bucketNs));
    const column = (kind: OperationKind): Float64Array => {
      const counts = this.counts[kind].slice(0, length);
      for (const late of this.counts[kind].subarray(length, this.used)) {
        counts[length - 1] = counts[length - 1]! + late;
      }
      return counts.map((count, index) => {
        const coveredNs = Math.min(this.bucketNs, endNs - index * this.bucketNs);
        return (count * 1e9) / coveredNs;
      });
    };
    return {
      bucketNs: this.bucketNs,
      read: column('read'),
      write: column('write'),
      trim: column('trim'),
      flush: column('flush'),
    };
  }

  private widen(): void {
    for (const column of Object.values(this.counts)) {
      const half = this.capacity / 2;
      for (let bucket = 0; bucket < half; bucket += 1) {
        column[bucket] = column[bucket * 2]! + column[bucket * 2 + 1]!;
      }
      column.fill(0, half);
    }
    this.bucketNs *= 2;
    this.used = Math.ceil(this.used / 2);
  }
}
