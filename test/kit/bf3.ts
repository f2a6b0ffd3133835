/** Runs the built program as a user does. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../dist/tools/bf3.js', import.meta.url));
const RUN_LIMIT_MS = 50_000;

export interface ProgramRun {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

/** One command line of `bf3`, in a pipe, without colours. */
export function runBf3(args: readonly string[], cwd?: string): ProgramRun {
  const run = spawnSync(process.execPath, [PROGRAM, ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    encoding: 'utf8',
    timeout: RUN_LIMIT_MS,
    maxBuffer: 2 ** 26,
    env: { ...process.env, FORCE_COLOR: '', NO_COLOR: '1' },
  });
  if (run.error !== undefined) throw run.error;
  return { code: run.status, out: run.stdout, error: run.stderr };
}

/** Full path of a recording in test/fixtures. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
}
