/** From data to pixels, and the round numbers to write beside an axis. */

/** Maps a value of its domain to a pixel position of its range. */
export interface Scale {
  readonly from: number;
  readonly to: number;
  /** The pixel of a value; values outside the domain are held at its ends. */
  at(value: number): number;
  /** Round values inside the domain, smallest first. */
  ticks(): number[];
}

/**
 * A linear axis.
 * @param domain smallest and largest value
 * @param range pixel of the smallest and of the largest value
 * @param count about how many ticks
 */
export function linearScale(
  domain: readonly [number, number],
  range: readonly [number, number],
  count = 5,
): Scale {
  const [from, to] = domain;
  if (!(to > from)) throw new RangeError(`an axis runs upwards, not from ${from} to ${to}`);
  return {
    from,
    to,
    at: (value) => interpolate((clamp(value, from, to) - from) / (to - from), range),
    ticks: () => niceTicks(from, to, count),
  };
}

/** A logarithmic axis with ticks at the powers of ten; a short one has 2 and 5 between them. */
export function logScale(
  domain: readonly [number, number],
  range: readonly [number, number],
): Scale {
  const [from, to] = domain;
  if (!(from > 0 && to > from)) {
    throw new RangeError(`a logarithmic axis runs upwards from above 0, not ${from} to ${to}`);
  }
  const low = Math.log10(from);
  const high = Math.log10(to);
  return {
    from,
    to,
    at: (value) => interpolate((Math.log10(clamp(value, from, to)) - low) / (high - low), range),
    ticks: () => decades(from, to),
  };
}

/** The step of 1, 2 or 5 times a power of ten that cuts `span` into about `count` parts. */
export function niceStep(span: number, count: number): number {
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((candidate) => rough <= candidate * power * (1 + 1e-9)) ?? 10;
  return factor * power;
}

/** Multiples of a nice step from `from` to `to`. */
export function niceTicks(from: number, to: number, count: number): number[] {
  const step = niceStep(to - from, count);
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  // Multiplying keeps 3 x 0.1 from drifting over many additions; rounding takes off the rest.
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  return Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step).toFixed(Math.min(20, digits))),
  );
}

/** The end of an axis that starts at 0 and holds `max`: a multiple of the tick distance. */
export function niceCeiling(max: number, count = 5): number {
  if (!(max > 0)) return 1;
  const step = niceStep(max, count);
  return step * Math.ceil(max / step - 1e-9);
}

function decades(from: number, to: number): number[] {
  const first = Math.floor(Math.log10(from));
  const last = Math.ceil(Math.log10(to));
  const factors = Math.log10(to / from) < 2 ? [1, 2, 5] : [1];
  const ticks: number[] = [];
  for (let power = first; power <= last; power += 1) {
    for (const factor of factors) ticks.push(factor * Number(`1e${power}`));
  }
  return ticks.filter((tick) => tick >= from * (1 - 1e-9) && tick <= to * (1 + 1e-9));
}

function interpolate(share: number, range: readonly [number, number]): number {
  return range[0] + share * (range[1] - range[0]);
}

function clamp(value: number, from: number, to: number): number {
  return Math.min(to, Math.max(from, value));
}
