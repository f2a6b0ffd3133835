/** Values that commands take on the command line: each parser says what would be right. */
import { PROFILES, profileById } from '../../firmware/profiles/index.ts';
import type { DriveProfile } from '../../hal/profile.ts';
import { UsageError } from '../errors.ts';
import { nearest } from './suggest.ts';

/**
 * The profile that `--drive` names.
 * @throws UsageError listing the profiles there are
 */
export function driveProfile(name: string): DriveProfile {
  const profile = profileById(name);
  if (profile !== undefined) return profile;
  const names = PROFILES.map(({ id }) => id);
  const near = nearest(name, names);
  const hint = near === null ? '' : ` (did you mean ${near}?)`;
  throw new UsageError(`--drive: no drive "${name}"${hint}; expected one of ${names.join(', ')}`);
}

/** A parser for a whole number from `min` to `max`. */
export function wholeNumber(option: string, min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new UsageError(`${option}: "${text}"; expected a whole number from ${min} to ${max}`);
  };
}

/** A parser for a factor from `min` to `max`, such as `0.5` or `10`. */
export function factor(option: string, min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^[\d.]+(?:e[+-]?\d+)?$/i.test(text) && value >= min && value <= max) return value;
    throw new UsageError(`${option}: "${text}"; expected a number from ${min} to ${max}`);
  };
}
