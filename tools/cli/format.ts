/** Numbers as people in storage write them: decimal prefixes, MB = 10^6 bytes, three digits. */

const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E'] as const;

/** Three significant digits without an exponent: 9.05, 90.5, 905. */
function threeDigits(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude >= 99.95) return value.toFixed(0);
  return magnitude >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

/** Whether rounding to three digits would print 1000 where the next unit prints 1.00. */
function overflows(value: number): boolean {
  return Math.abs(value) >= 999.5;
}

/**
 * A number with an SI prefix: `91.1 kIOPS`, `1.50 GB`.
 * Whole numbers below 1000 are printed as they are.
 */
export function formatSi(value: number, unit = ''): string {
  if (!Number.isFinite(value)) return `- ${unit}`.trim();
  if (Number.isInteger(value) && Math.abs(value) < 1000) return `${value} ${unit}`.trim();
  let scaled = value;
  let index = 0;
  while (overflows(scaled) && index < PREFIXES.length - 1) {
    scaled /= 1000;
    index += 1;
  }
  return `${threeDigits(scaled)} ${PREFIXES[index]!}${unit}`.trim();
}

/** Bytes with a decimal prefix: `256 GB`. */
export function formatBytes(bytes: number): string {
  return formatSi(bytes, 'B');
}

/** Operations a second: `91.1k IOPS`. */
export function formatIops(iops: number): string {
  return `${formatCompact(iops)} IOPS`;
}

/** A number with its prefix attached, for narrow places: `91.1k`. */
export function formatCompact(value: number): string {
  return formatSi(value).replace(' ', '');
}

/** Decimal megabytes a second, the unit of data sheets: `373 MB/s`. */
export function formatBandwidth(bytesPerSecond: number): string {
  return Number.isFinite(bytesPerSecond) ? `${threeDigits(bytesPerSecond / 1e6)} MB/s` : '- MB/s';
}

/** A time given in nanoseconds, in the unit that fits: `850 ns`, `43.1 us`, `1.30 ms`, `12.0 s`. */
export function formatDuration(ns: number): string {
  if (!Number.isFinite(ns)) return '-';
  if (Math.abs(ns) < 999.5) return `${Number.isInteger(ns) ? ns : threeDigits(ns)} ns`;
  let scaled = ns / 1000;
  for (const unit of ['us', 'ms']) {
    if (!overflows(scaled)) return `${threeDigits(scaled)} ${unit}`;
    scaled /= 1000;
  }
  return scaled < 9999.5 ? `${threeDigits(scaled)} s` : `${formatCount(Math.round(scaled))} s`;
}

/** A whole number with thin groups of three digits: `1,234,567`. */
export function formatCount(value: number): string {
  return value.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** A fraction of one as a percentage: `87.5 %`; `-` when it is not a number. */
export function formatPercent(fraction: number): string {
  return Number.isFinite(fraction) ? `${(fraction * 100).toFixed(1)} %` : '-';
}
