import { spawn, spawnSync } from 'node:child_process';
import { delimiter } from 'node:path';
import { it } from 'vitest';
import { findProgram } from './programs.ts';

/** Real programs that tests drive a server with, and the Debian package of each. */
export const CLIENT_PACKAGES = {
  nbdinfo: 'libnbd-bin',
  nbdcopy: 'libnbd-bin',
  nbdsh: 'python3-libnbd',
  'qemu-io': 'qemu-utils',
  'qemu-img': 'qemu-utils',
  fio: 'fio',
  cmp: 'diffutils',
  vcd2fst: 'gtkwave',
  fst2vcd: 'gtkwave',
} as const;

export type ClientName = keyof typeof CLIENT_PACKAGES;

/** What a program that ended left behind. */
export interface RunResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const probed = new Map<ClientName, boolean>();

/** The clients among `names` that this machine lacks. */
export function missingClients(names: readonly ClientName[]): ClientName[] {
  return names.filter((name) => !isInstalled(name));
}

/** One line: what is missing and how to get it. */
export function missingLine(missing: readonly ClientName[]): string {
  const packages = [...new Set(missing.map((name) => CLIENT_PACKAGES[name]))].join(' ');
  return `missing ${missing.join(', ')}; to install: sudo apt-get install ${packages}`;
}

/**
 * For `describe.runIf` / `it.runIf`: whether tests that need these clients can run. When some are
 * missing, with CI=true in the environment a failing test is registered, else one line is printed.
 */
export function clientsReady(purpose: string, names: readonly ClientName[]): boolean {
  const missing = missingClients(names);
  if (missing.length === 0) return true;
  const line = missingLine(missing);
  if (process.env.CI === 'true') {
    it(`${purpose}: the clients are installed`, () => {
      throw new Error(line);
    });
  } else {
    console.log(`left out: ${purpose}: ${line}`);
  }
  return false;
}

/** Runs a program to its end; a program that takes longer than `limitMs` is killed and reported. */
export function run(
  name: ClientName,
  args: readonly string[],
  { limitMs = 50_000, cwd = '/' } = {},
): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(name, args, {
      cwd,
      // The Python binding of libnbd belongs to the system's interpreter, whatever else is
      // installed.
      env: { ...process.env, PATH: `/usr/bin${delimiter}${process.env.PATH ?? ''}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      if (signal !== null) stderr += `\n${name} was ended by ${signal}`;
      resolve({ code: code ?? -1, stdout, stderr });
    });
  });
}

/**
 * As `run`; throws with the program's output when its exit code is not 0. Returns its standard
 * output.
 */
export async function runWell(
  name: ClientName,
  args: readonly string[],
  options?: { limitMs?: number; cwd?: string },
): Promise<string> {
  const { code, stdout, stderr } = await run(name, args, options);
  if (code === 0) return stdout;
  throw new Error(`${name} ${args.join(' ')}\nended with ${code}\n${stdout}${stderr}`);
}

function isInstalled(name: ClientName): boolean {
  const known = probed.get(name);
  if (known !== undefined) return known;
  const found =
    findProgram(name) !== undefined &&
    (name !== 'nbdsh' || spawnSync('/usr/bin/python3', ['-c', 'import nbd']).status === 0);
  probed.set(name, found);
  return found;
}
