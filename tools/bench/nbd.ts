/**
 * NBD throughput: `bf3 serve` with real bytes, driven by `qemu-img bench`.
 */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { RunError } from '../errors.ts';
import { type Figures, median } from './median.ts';

const run = promisify(execFile);
const BF3 = fileURLToPath(new URL('../bf3.js', import.meta.url));
const READY_LIMIT_MS = 30_000;

/**
 * Medians of reads and writes at 4 KiB QD32 and 128 KiB QD16; the smaller of the two is reported.
 */
export async function measureNbd(repeat: number): Promise<Figures> {
  const folder = await mkdtemp(join(tmpdir(), 'bf3-bench-'));
  const socket = join(folder, 'nbd.sock');
  const arguments_ = [BF3, 'serve', '--drive', 'vector-256', '--memory', '12G', '--socket', socket];
  const server = spawn(process.execPath, arguments_, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await ready(server);
    const rate = async (bytes: number, depth: number, count: number, write: boolean) => {
      const seconds: number[] = [];
      for (let i = 0; i < repeat; i++)
        seconds.push(await bench(socket, bytes, depth, count, write));
      return count / median(seconds);
    };
    await bench(socket, 131_072, 16, 4_096, true);
    const write4k = await rate(4096, 32, 200_000, true);
    const read4k = await rate(4096, 32, 200_000, false);
    const write128k = (await rate(131_072, 16, 8_192, true)) * 0.131072;
    const read128k = (await rate(131_072, 16, 8_192, false)) * 0.131072;
    return {
      nbdIops4k: Math.min(write4k, read4k),
      nbdMBPerSecond128k: Math.min(write128k, read128k),
      ...{ nbdReadIops4k: read4k, nbdWriteIops4k: write4k },
      ...{ nbdReadMBPerSecond128k: read128k, nbdWriteMBPerSecond128k: write128k },
    };
  } finally {
    server.kill('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  }
}

/** Rate of 128 KiB writes to a new drive served with more `options`, in MB/s. */
export async function serveRates(options: readonly string[]): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'bf3-bench-'));
  const socket = join(folder, 'nbd.sock');
  const arguments_ = [BF3, 'serve', '--drive', 'vector-256', '--memory', '4G', '--socket', socket];
  const server = spawn(process.execPath, [...arguments_, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await ready(server);
    await bench(socket, 131_072, 16, 2_048, true);
    return (16_384 * 0.131072) / (await bench(socket, 131_072, 16, 16_384, true));
  } finally {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  }
}

/** Resolves when the server has printed its first line. */
function ready(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (why: string) => reject(new RunError(`bf3 serve did not start: ${why}`));
    const timer = setTimeout(() => failed('no line in 30 s'), READY_LIMIT_MS);
    server.stdout!.once('data', () => {
      clearTimeout(timer);
      resolve();
    });
    server.once('exit', (code) => failed(`exit code ${code}`));
  });
}

async function bench(
  socket: string,
  bytes: number,
  depth: number,
  count: number,
  write: boolean,
): Promise<number> {
  const uri = `nbd+unix:///?socket=${socket}`;
  const options = ['bench', '-f', 'raw', '-c', `${count}`, '-d', `${depth}`, '-s', `${bytes}`];
  if (write) options.push('--pattern=90');
  const { stdout } = await run('qemu-img', [...options, ...(write ? ['-w'] : []), uri]);
  const seconds = /Run completed in ([\d.]+) seconds/.exec(stdout);
  if (seconds === null) throw new RunError(`qemu-img bench printed no time: ${stdout}`);
  return Number(seconds[1]);
}
