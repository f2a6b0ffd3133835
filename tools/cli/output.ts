/** Where results go: files that are whole or not there, tables, numbers for people. */
import {
  chmodSync,
  closeSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { RunError } from '../errors.ts';

export * from './format.ts';
export type { Cell, Column, TableFormat, TableOptions } from './table.ts';
export { printTable, renderTable, tableFormat } from './table.ts';

/** Distinguishes temporary files of one process. */
let temporaryFiles = 0;

/**
 * Writes a file so that a reader sees the old content or the new one, never a part: a temporary
 * file in the same folder is written, synced and renamed. A link is followed; a device or a pipe
 * (`/dev/stdout`) is written as it is.
 * @throws RunError when the file cannot be written, saying why
 */
export function writeFileAtomic(path: string, data: string | Uint8Array): void {
  try {
    const existing = statIfAny(path);
    if (existing?.isDirectory()) {
      throw new RunError(`cannot write ${path}: it is a folder; give a file name inside it`);
    }
    if (existing !== undefined && !existing.isFile()) {
      writeFileSync(path, data);
      return;
    }
    const target = existing === undefined ? resolve(path) : realpathSync(path);
    replaceFile(target, data, existing?.mode);
  } catch (error) {
    if (error instanceof RunError) throw error;
    throw new RunError(`cannot write ${path}: ${writeFailure(error, path)}`, { cause: error });
  }
}

/**
 * Finds out whether `writeFileAtomic` will be able to write a file, without touching the file: for
 * runs that would be lost if it only failed at their end.
 * @throws RunError when it will not, saying why
 */
export function checkWritable(path: string): void {
  try {
    const existing = statIfAny(path);
    if (existing?.isDirectory()) {
      throw new RunError(`cannot write ${path}: it is a folder; give a file name inside it`);
    }
    if (existing !== undefined && !existing.isFile()) return;
    const target = existing === undefined ? resolve(path) : realpathSync(path);
    const probe = join(dirname(target), `.${basename(target)}.${process.pid}.probe.tmp`);
    closeSync(openSync(probe, 'wx'));
    unlinkSync(probe);
  } catch (error) {
    if (error instanceof RunError) throw error;
    throw new RunError(`cannot write ${path}: ${writeFailure(error, path)}`, { cause: error });
  }
}

function statIfAny(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

function replaceFile(target: string, data: string | Uint8Array, mode: number | undefined): void {
  temporaryFiles += 1;
  const name = `.${basename(target)}.${process.pid}.${temporaryFiles}.tmp`;
  const temporary = join(dirname(target), name);
  const file = openSync(temporary, 'wx');
  try {
    try {
      writeFileSync(file, data);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    if (mode !== undefined) chmodSync(temporary, mode & 0o7777);
    renameSync(temporary, target);
  } catch (error) {
    unlinkSync(temporary);
    throw error;
  }
}

/** What went wrong, in words, for the errors that a user can do something about. */
function writeFailure(error: unknown, path: string): string {
  const code = (error as NodeJS.ErrnoException).code;
  switch (code) {
    case 'ENOENT':
      return `the folder ${dirname(resolve(path))} does not exist`;
    case 'ENOTDIR':
      return `${dirname(resolve(path))} is not a folder`;
    case 'EACCES':
    case 'EPERM':
      return 'permission denied';
    case 'ENOSPC':
      return 'no space left on the device';
    case 'EROFS':
      return 'the file system is read-only';
    case 'ENAMETOOLONG':
      return 'the name is too long';
    default:
      return error instanceof Error ? error.message : String(error);
  }
}
