/** A large result in pieces: a temporary file that gets its name when it is complete. */
import { renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { RunError } from '../errors.ts';
import { fileFault, PositionalFile } from './positional-file.ts';

const BUFFER_BYTES = 65_536;

export class OutputFile {
  readonly path: string;
  readonly file: PositionalFile;
  readonly #temporary: string;
  #text: string[] = [];
  #textLength = 0;
  #at = 0;

  /** @throws RunError when no file can be made in the folder */
  constructor(path: string) {
    this.path = path;
    this.#temporary = join(dirname(resolve(path)), `.${basename(path)}.${process.pid}.tmp`);
    rmSync(this.#temporary, { force: true });
    this.file = new PositionalFile(this.#temporary, 'wx+');
  }

  /** Appends text; it must not be mixed with writes to places. */
  append(text: string): void {
    this.#text.push(text);
    this.#textLength += text.length;
    if (this.#textLength >= BUFFER_BYTES) this.#flush();
  }

  /** Gives the file its name. */
  commit(): void {
    this.#flush();
    try {
      this.file.sync();
      this.file.close();
      renameSync(this.#temporary, this.path);
    } catch (error) {
      this.discard();
      if (error instanceof RunError) throw error;
      throw new RunError(`cannot write ${this.path}: ${fileFault(error)}`, { cause: error });
    }
  }

  /** Removes what was written; nothing after `commit`. */
  discard(): void {
    this.file.close();
    rmSync(this.#temporary, { force: true });
  }

  #flush(): void {
    const bytes = new TextEncoder().encode(this.#text.join(''));
    this.file.write(this.#at, bytes);
    this.#at += bytes.length;
    this.#text = [];
    this.#textLength = 0;
  }
}
