/** Options of commands that keep a drive's data: sizes in bytes, and the drives there are. */
import { PROFILES } from '../../firmware/profiles/index.ts';
import { UsageError } from '../errors.ts';

/** Binary prefixes, as for memory and files. */
const UNITS: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** Lines of help that name every drive. */
export function drivesHelp(): string {
  const width = Math.max(...PROFILES.map(({ id }) => id.length));
  return PROFILES.map(({ id, says }) => `  ${id.padEnd(width)}  ${says}`).join('\n');
}

/**
 * A parser for a number of bytes: `4096`, `512K`, `1.5G`; K, M and G are powers of 1024.
 * @param option named in the error, e.g. '--memory'
 */
export function byteCount(option: string, min: number, max: number): (text: string) => number {
  return (text) => {
    const match = /^(\d{1,15}(?:\.\d{1,6})?)([kmg]?)(?:i?b)?$/i.exec(text.trim());
    if (match === null) {
      throw new UsageError(`${option}: "${text}"; expected a size such as 4096, 512K, 64M or 2G`);
    }
    const bytes = Math.round(Number(match[1]) * UNITS[match[2]!.toLowerCase()]!);
    if (bytes >= min && bytes <= max) return bytes;
    throw new UsageError(
      `${option}: "${text}"; expected a size from ${shortBytes(min)} to ${shortBytes(max)}`,
    );
  };
}

/** A size with the largest binary prefix that divides it: `1M`, `1536K`. */
export function shortBytes(bytes: number): string {
  for (const prefix of ['g', 'm', 'k']) {
    const unit = UNITS[prefix]!;
    if (bytes >= unit && bytes % unit === 0) return `${bytes / unit}${prefix.toUpperCase()}`;
  }
  return String(bytes);
}
