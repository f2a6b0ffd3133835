/** Writes a served drive to a snapshot file. */

import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Drive } from '../../firmware/drive.ts';
import { encodeSnapshot } from '../../hal/sim/snapshot-file.ts';
import { packageVersion } from '../cli/version.ts';
import { RunError } from '../errors.ts';

/**
 * Saves the machine as it is now: a temporary file is written and renamed. Nothing runs meanwhile,
 * because the pieces of the file are views of the machine's tables.
 * @throws RunError when the file cannot be written
 */
export function saveSnapshot(drive: Drive, seed: string, path: string): void {
  const target = resolve(path);
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`);
  const pieces = encodeSnapshot(drive.machine, {
    profile: drive.profile.id,
    seed,
    program: packageVersion(),
  });
  try {
    const file = openSync(temporary, 'w');
    try {
      for (const piece of pieces) {
        for (let at = 0; at < piece.length; ) at += writeSync(file, piece, at);
      }
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    const why = code === 'ENOENT' ? 'the folder does not exist' : code;
    throw new RunError(`cannot write the snapshot ${path}: ${why}`);
  }
}
