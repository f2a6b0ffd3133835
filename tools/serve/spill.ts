/** Where the pages of a served drive go that find no room in memory: a file without a name. */

import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PageBacking } from '../../hal/content/byte-content.ts';
import { SLOT_BYTES } from '../../hal/sim/units.ts';
import { RunError } from '../errors.ts';

/**
 * Pages by number in a sparse file. Its name is removed at once, so the space is given back however
 * the program ends.
 */
export class SpillFile implements PageBacking {
  readonly #file: number;
  readonly #folder: string;
  /** Pages written and read so far. */
  writtenCount = 0;
  readCount = 0;

  /**
   * @param folder where the file is made; the system's temporary folder when not given
   * @throws RunError when no file can be made there
   */
  constructor(folder = tmpdir()) {
    const path = join(folder, `.bf3-spill-${process.pid}-${randomBytes(6).toString('hex')}`);
    this.#folder = folder;
    try {
      this.#file = openSync(path, 'wx+', 0o600);
      unlinkSync(path);
    } catch (error) {
      throw new RunError(`cannot make a spill file in ${folder}: ${codeOf(error)}`);
    }
  }

  write(page: number, bytes: Uint8Array): void {
    let done = 0;
    try {
      while (done < SLOT_BYTES) {
        done += writeSync(this.#file, bytes, done, SLOT_BYTES - done, page * SLOT_BYTES + done);
      }
    } catch (error) {
      throw new RunError(`cannot write the spill file in ${this.#folder}: ${codeOf(error)}`);
    }
    this.writtenCount++;
  }

  read(page: number, into: Uint8Array): void {
    let done = 0;
    while (done < SLOT_BYTES) {
      const count = this.#readSome(page * SLOT_BYTES + done, into, done);
      if (count === 0) throw new RunError(`the spill file in ${this.#folder} has lost a page`);
      done += count;
    }
    this.readCount++;
  }

  close(): void {
    closeSync(this.#file);
  }

  #readSome(at: number, into: Uint8Array, offset: number): number {
    try {
      return readSync(this.#file, into, offset, SLOT_BYTES - offset, at);
    } catch (error) {
      throw new RunError(`cannot read the spill file in ${this.#folder}: ${codeOf(error)}`);
    }
  }
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'the folder does not exist';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  if (code === 'ENOSPC') return 'no space left on the device';
  return typeof code === 'string' ? code : String(error);
}
