/** A file that is read and written at places; a failure of the system becomes one sentence. */
import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { RunError } from '../errors.ts';

export class PositionalFile {
  readonly path: string;
  readonly #file: number;
  #closed = false;

  /**
   * @param flags as for `fs.open`: 'r', 'r+', 'wx+'
   * @throws RunError when it cannot be opened
   */
  constructor(path: string, flags: 'r' | 'r+' | 'wx+') {
    this.path = path;
    try {
      this.#file = openSync(path, flags, 0o644);
    } catch (error) {
      throw new RunError(`cannot open ${path}: ${fileFault(error)}`, { cause: error });
    }
  }

  /** Length of the file, and the bytes that it takes on disk. */
  sizes(): { fileBytes: number; diskBytes: number } {
    const { size, blocks } = fstatSync(this.#file);
    return { fileBytes: size, diskBytes: blocks * 512 };
  }

  isFile(): boolean {
    return fstatSync(this.#file).isFile();
  }

  /** Fills `into` from `offset` on with `length` bytes that lie at `at`. */
  read(at: number, into: Uint8Array, offset = 0, length = into.length - offset): void {
    let done = 0;
    while (done < length) {
      const count = this.#readSome(at + done, into, offset + done, length - done);
      if (count === 0) {
        const range = `the bytes ${at} to ${at + length} are wanted`;
        throw new RunError(`${this.path}: the file ends at ${at + done}; ${range}`);
      }
      done += count;
    }
  }

  /** Writes `length` bytes of `source` from `offset` on to `at`. */
  write(at: number, source: Uint8Array, offset = 0, length = source.length - offset): void {
    let done = 0;
    try {
      while (done < length) {
        done += writeSync(this.#file, source, offset + done, length - done, at + done);
      }
    } catch (error) {
      const place = `at byte ${at + done}`;
      throw new RunError(`cannot write ${this.path} ${place}: ${fileFault(error)}`, {
        cause: error,
      });
    }
  }

  /** Gives the file a length; what lies behind its old end is a hole. */
  setLength(bytes: number): void {
    try {
      ftruncateSync(this.#file, bytes);
    } catch (error) {
      const why = `the file system takes no sparse file of ${bytes} bytes`;
      throw new RunError(`cannot make ${this.path}: ${why} (${fileFault(error)})`, {
        cause: error,
      });
    }
  }

  sync(): void {
    fsyncSync(this.#file);
  }

  /** Safe to call twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#file);
  }

  #readSome(at: number, into: Uint8Array, offset: number, length: number): number {
    try {
      return readSync(this.#file, into, offset, length, at);
    } catch (error) {
      throw new RunError(`cannot read ${this.path} at byte ${at}: ${fileFault(error)}`, {
        cause: error,
      });
    }
  }
}

/** What went wrong with a file, in words, for the failures that a user can do something about. */
export function fileFault(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ENOENT':
      return 'no such file or folder';
    case 'EEXIST':
      return 'it exists already';
    case 'EISDIR':
      return 'it is a folder';
    case 'EACCES':
    case 'EPERM':
      return 'permission denied';
    case 'ENOSPC':
      return 'no space left on the device';
    case 'EFBIG':
      return 'too large for the file system';
    case 'EROFS':
      return 'the file system is read-only';
    default:
      return typeof code === 'string' ? code : String(error);
  }
}
