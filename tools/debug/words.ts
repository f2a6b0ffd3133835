/** Words of the debugger's command language that stand for numbers, times and instants. */
import { UsageError } from '../errors.ts';

const NS_PER_UNIT: { readonly [unit: string]: number } = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };

/** A whole number from `least`, commas and underscores between digits allowed. */
export function parseCount(text: string, what: string, least = 1): number {
  const value = /^\d[\d,_]*$/.test(text) ? Number(text.replaceAll(/[,_]/g, '')) : Number.NaN;
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new UsageError(`${what} must be a whole number from ${least}, not '${text}'`);
}

/** `1234`, `#1234` or, counted from `here`, `+100`. */
export function parseOrdinal(text: string, here: number): number {
  if (text.startsWith('+')) return here + parseCount(text.slice(1), 'the number of events', 0);
  return parseCount(text.startsWith('#') ? text.slice(1) : text, 'an event ordinal', 0);
}

/** `12.5ms`, `300 us`, `2s`, `800ns`; with a plus sign, counted from `nowNs`. In ns. */
export function parseTime(text: string, nowNs: number): number {
  const parts = /^(\+?)(\d+(?:\.\d+)?)(ns|us|ms|s)$/.exec(text.toLowerCase());
  if (parts === null) {
    throw new UsageError(`'${text}' is no time: write it like 12.5ms, 300us, 2s or +1ms`);
  }
  const ns = Math.round(Number(parts[2]) * NS_PER_UNIT[parts[3]!]!);
  if (!Number.isSafeInteger(ns)) throw new UsageError(`'${text}' is beyond any run`);
  return parts[1] === '+' ? nowNs + ns : ns;
}

/** Simulated time as traces print it: `1.302560 ms`. */
export function formatMs(ns: number): string {
  return `${(ns / 1e6).toFixed(6)} ms`;
}

/** The commands of a line: between semicolons; a line that begins with `#` or `//` is a comment. */
export function splitCommands(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => !/^\s*(?:#|\/\/)/.test(line))
    .flatMap((line) => line.split(';'))
    .map((command) => command.trim())
    .filter((command) => command !== '');
}
