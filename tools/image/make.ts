/** Makes image files: complete or not there. */
import { existsSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Geometry } from '../../hal/geometry.ts';
import { RunError } from '../errors.ts';
import { ImageLayout, SessionState } from './format.ts';
import { encodeHeader, type ImageHeader } from './header.ts';
import { ImageLock } from './lock.ts';
import { fileFault, PositionalFile } from './positional-file.ts';
import { writeSession } from './session.ts';

/**
 * Makes an image of erased flash. It takes a few kilobytes on disk.
 * @throws RunError when there is a file of this name, or none can be made
 */
export function makeImage(path: string, header: ImageHeader): void {
  const lock = ImageLock.take(resolve(path));
  const temporary = join(dirname(resolve(path)), `.${basename(path)}.${process.pid}.tmp`);
  try {
    if (existsSync(path)) {
      throw new RunError(`cannot make ${path}: it exists already; give a new name or remove it`);
    }
    const layout = new ImageLayout(new Geometry(header.geometry));
    const bytes = encodeHeader(header, layout);
    const file = new PositionalFile(temporary, 'wx+');
    try {
      file.setLength(layout.fileBytes);
      file.write(0, bytes);
      writeSession(file, { state: SessionState.Clean, openings: 0, minute: 0 });
      file.sync();
    } finally {
      file.close();
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    if (error instanceof RunError) throw error;
    throw new RunError(`cannot make ${path}: ${fileFault(error)}`, { cause: error });
  } finally {
    lock.release();
  }
}

/**
 * Where a file really lies: one file has one lock, whatever links lead to it.
 * @throws RunError when there is no such file
 */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw new RunError(`cannot open ${path}: ${fileFault(error)}`, { cause: error });
  }
}
