/**
 * Latency histogram in the manner of HdrHistogram: every power of two is cut into 32 equal
 * buckets, so a value is known to within 1/32 of itself whatever its size, in a fixed 12 KiB.
 *
 * Recording allocates nothing: it is safe in the hot loop of a run.
 */

const SUB_BUCKET_BITS = 5;
const SUB_BUCKETS = 1 << SUB_BUCKET_BITS;
/** Values up to 2^53 - 1 (104 days in nanoseconds): one linear row, then one row a power of two. */
const ROWS = 53 - SUB_BUCKET_BITS + 1;
const BUCKETS = ROWS * SUB_BUCKETS;
const TWO_POW_32 = 4294967296;

/** A recorded value and the end of its bucket never differ by more than this share of the value. */
export const HISTOGRAM_RELATIVE_ERROR = 1 / SUB_BUCKETS;

/** One bucket that holds something: values `fromNs <= v <= toNs`, recorded `count` times. */
export interface HistogramBucket {
  readonly fromNs: number;
  readonly toNs: number;
  readonly count: number;
}

/** Position of the highest one bit of a positive integer below 2^53. */
function floorLog2(value: number): number {
  return value < TWO_POW_32
    ? 31 - Math.clz32(value)
    : 63 - Math.clz32(Math.floor(value / TWO_POW_32));
}

function bucketOf(ns: number): number {
  if (ns < SUB_BUCKETS) return ns;
  const shift = floorLog2(ns) - SUB_BUCKET_BITS;
  // Shifting is much faster than dividing, and nearly every latency is below 4.29 s.
  const lead = ns < TWO_POW_32 ? ns >>> shift : Math.floor(ns / 2 ** shift);
  return shift * SUB_BUCKETS + lead;
}

function bucketStartNs(bucket: number): number {
  if (bucket < SUB_BUCKETS) return bucket;
  const shift = Math.floor(bucket / SUB_BUCKETS) - 1;
  return (bucket - shift * SUB_BUCKETS) * 2 ** shift;
}

/** Counts of latencies in nanoseconds, with exact count, minimum, maximum, mean and deviation. */
export class LatencyHistogram {
  /** Recorded values a bucket; their sum is `count`. */
  private readonly counts = new Float64Array(BUCKETS);
  /** Welford's running mean and sum of squared distances from it. */
  private runningMean = 0;
  private squares = 0;
  private total = 0;
  private lowest = Number.POSITIVE_INFINITY;
  private highest = 0;

  /**
   * Counts one latency.
   * @param ns whole nanoseconds, 0 to 2^53 - 1
   * @throws RangeError for a negative, fractional or larger value
   */
  record(ns: number): void {
    if (!Number.isSafeInteger(ns) || ns < 0) {
      throw new RangeError(`a latency is a whole number of nanoseconds from 0 on, not ${ns}`);
    }
    const bucket = bucketOf(ns);
    this.counts[bucket] = this.counts[bucket]! + 1;
    this.total += 1;
    const before = ns - this.runningMean;
    this.runningMean += before / this.total;
    this.squares += before * (ns - this.runningMean);
    if (ns < this.lowest) this.lowest = ns;
    if (ns > this.highest) this.highest = ns;
  }

  /** How many latencies were recorded. */
  get count(): number {
    return this.total;
  }

  /** Smallest recorded latency in ns, exact; 0 when nothing was recorded. */
  get minNs(): number {
    return this.total === 0 ? 0 : this.lowest;
  }

  /** Largest recorded latency in ns, exact; 0 when nothing was recorded. */
  get maxNs(): number {
    return this.highest;
  }

  /** Mean in ns; 0 when nothing was recorded. */
  get meanNs(): number {
    return this.runningMean;
  }

  /** Sample standard deviation in ns (divisor n - 1); 0 below two values. */
  get stddevNs(): number {
    return this.total < 2 ? 0 : Math.sqrt(this.squares / (this.total - 1));
  }

  /**
   * The latency that `percent` of the operations did not exceed (nearest rank).
   * Never below the exact answer and at most `HISTOGRAM_RELATIVE_ERROR` above it.
   * @param percent 0 to 100; 0 gives the minimum
   * @returns ns; 0 when nothing was recorded
   */
  percentile(percent: number): number {
    if (!(percent >= 0 && percent <= 100)) {
      throw new RangeError(`a percentile lies between 0 and 100, not at ${percent}`);
    }
    if (this.total === 0) return 0;
    const rank = Math.max(1, Math.ceil((percent / 100) * this.total));
    if (percent === 0) return this.lowest;
    let seen = 0;
    const last = bucketOf(this.highest);
    for (let bucket = bucketOf(this.lowest); bucket < last; bucket += 1) {
      seen += this.counts[bucket]!;
      if (seen >= rank) return bucketStartNs(bucket + 1) - 1;
    }
    return this.highest;
  }

  /** How many recorded values lie in buckets that start below `ns`. */
  countBelow(ns: number): number {
    let seen = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      if (bucketStartNs(bucket) >= ns) break;
      seen += this.counts[bucket]!;
    }
    return seen;
  }

  /** Adds everything that another histogram holds. */
  merge(other: LatencyHistogram): void {
    if (other.total === 0) return;
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      this.counts[bucket] = this.counts[bucket]! + other.counts[bucket]!;
    }
    const total = this.total + other.total;
    const distance = other.runningMean - this.runningMean;
    this.squares += other.squares + (distance * distance * this.total * other.total) / total;
    this.runningMean += (distance * other.total) / total;
    this.total = total;
    this.lowest = Math.min(this.lowest, other.lowest);
    this.highest = Math.max(this.highest, other.highest);
  }

  /** The buckets that hold something, smallest first. */
  buckets(): HistogramBucket[] {
    const filled: HistogramBucket[] = [];
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      const count = this.counts[bucket]!;
      if (count === 0) continue;
      filled.push({
        fromNs: bucketStartNs(bucket),
        toNs: bucketStartNs(bucket + 1) - 1,
        count,
      });
    }
    return filled;
  }
}
