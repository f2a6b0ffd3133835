/**
 * Goal: an output file is whole or it is not there, and a failure says what to do.
 * Method: real files in a temporary folder.
 */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkWritable, writeFileAtomic } from '../../../tools/cli/output.ts';
import { RunError } from '../../../tools/errors.ts';

describe('writeFileAtomic', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'bf3-output-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('new and replaced: text and bytes, nothing else left in the folder', () => {
    const path = join(folder, 'report.svg');
    writeFileAtomic(path, 'first');
    expect(readFileSync(path, 'utf8')).toBe('first');
    writeFileAtomic(path, Uint8Array.of(1, 2, 3));
    expect([...readFileSync(path)]).toEqual([1, 2, 3]);
    expect(readdirSync(folder)).toEqual(['report.svg']);
  });

  test('a replaced file keeps its permissions', () => {
    const path = join(folder, 'private');
    writeFileSync(path, '');
    chmodSync(path, 0o600);
    writeFileAtomic(path, 'secret');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('a link is followed, not replaced', () => {
    const path = join(folder, 'link');
    writeFileSync(join(folder, 'real'), 'old');
    symlinkSync('real', path);
    writeFileAtomic(path, 'new');
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, 'real'), 'utf8')).toBe('new');
  });

  test('a device stays a device', () => {
    writeFileAtomic('/dev/null', 'gone');
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });

  test('asking beforehand leaves the folder and the file as they are', () => {
    const path = join(folder, 'report.svg');
    checkWritable(path);
    expect(readdirSync(folder)).toEqual([]);
    writeFileAtomic(path, 'first');
    checkWritable(path);
    checkWritable('/dev/null');
    expect(readdirSync(folder)).toEqual(['report.svg']);
    expect(readFileSync(path, 'utf8')).toBe('first');
  });

  test.each([
    ['a folder that does not exist', 'no/such/file', /the folder .*no\/such does not exist$/],
    ['a folder', 'inner', /it is a folder; give a file name inside it$/],
    ['below a file', 'plain/file', /plain is not a folder$/],
    ['a name that is too long', 'n'.repeat(300), /the name is too long$/],
  ])('%s', (_, name, message) => {
    mkdirSync(join(folder, 'inner'));
    writeFileSync(join(folder, 'plain'), '');
    const before = readdirSync(folder);
    const write = (): void => writeFileAtomic(join(folder, name), 'x');
    expect(write).toThrow(RunError);
    expect(write).toThrow(message);
    expect(() => checkWritable(join(folder, name))).toThrow(RunError);
    expect(() => checkWritable(join(folder, name))).toThrow(message);
    expect(readdirSync(folder)).toEqual(before);
    expect(existsSync(join(folder, 'no'))).toBe(false);
  });
});
