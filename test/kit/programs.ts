import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A program of the operating system that serves as an independent judge in some tests. */
export interface Program {
  readonly name: string;
  /** Debian or Ubuntu package that brings it. */
  readonly aptPackage: string;
}

export const HDPARM: Program = { name: 'hdparm', aptPackage: 'hdparm' };
export const SMARTCTL: Program = { name: 'smartctl', aptPackage: 'smartmontools' };
export const SKDUMP: Program = { name: 'skdump', aptPackage: 'libatasmart-bin' };

/** Where Debian keeps programs that an ordinary user's PATH leaves out. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/sbin', '/usr/local/sbin'];
const RUN_LIMIT_MS = 20_000;
const alreadyMissed = new Set<string>();

/** Full path of an installed program, undefined when PATH and the system folders have none. */
export function findProgram(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return [...folders, ...SYSTEM_FOLDERS].map((folder) => join(folder, name)).find(isExecutable);
}

/**
 * Path of a judge, undefined when it is not installed: one line then says how to install it. Where
 * the environment variable CI is "true" a judge has to be there, so a missing one throws.
 */
export function judge(program: Program): string | undefined {
  const path = findProgram(program.name);
  if (path !== undefined) return path;
  const remedy = `${program.name} is not installed: sudo apt-get install ${program.aptPackage}`;
  if (process.env.CI === 'true') throw new Error(remedy);
  if (!alreadyMissed.has(program.name)) {
    alreadyMissed.add(program.name);
    process.stderr.write(`${remedy} (its checks are left out)\n`);
  }
  return undefined;
}

/** Runs a program to its end; returns what it printed on both outputs, and its exit code. */
export function runProgram(
  path: string,
  args: readonly string[],
  input: string | Uint8Array = '',
): { output: string; exitCode: number | null } {
  const run = spawnSync(path, args, {
    input,
    timeout: RUN_LIMIT_MS,
    env: { ...process.env, LC_ALL: 'C' },
  });
  if (run.error !== undefined) throw run.error;
  return { output: `${run.stdout}${run.stderr}`, exitCode: run.status };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
