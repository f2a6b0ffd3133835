/**
 * Goal: what the README shows works.
 * Method: the JavaScript block is taken out of the README and run through the package's exports.
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = new URL('..', import.meta.url).pathname;

test('README: the fault-injection test runs through exports and is about fifteen lines', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const code = /```js\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  expect(code.trim().split('\n').length).toBeLessThanOrEqual(18);
  const folder = mkdtempSync(join(ROOT, 'dist', 'readme-'));
  try {
    const file = join(folder, 'example.mjs');
    writeFileSync(file, code);
    const run = spawnSync(process.execPath, [file], { cwd: ROOT, encoding: 'utf8' });
    expect(run.stderr).toBe('');
    expect(run.status).toBe(0);
    expect(run.stdout).toContain('ch0.die0 block');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
