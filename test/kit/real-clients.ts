import { createCipheriv } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientsReady, run, runWell } from './clients.ts';
import { NBDSH_PROTOCOL_SCRIPT } from './nbdsh-script.ts';

const MIB = 1024 * 1024;

/** An NBD server that real clients are pointed at. */
export interface ServedDrive {
  readonly uri: string;
  /** At least 32 MiB. */
  readonly sizeBytes: number;
  /** BLOCK_STATUS shows a trimmed range as a hole that reads as zeroes. */
  readonly reportsHoles: boolean;
  /** How much the copying and verifying clients move; 8 MiB to `sizeBytes`. */
  readonly workBytes: number;
  stop(): Promise<void>;
}

/** What `nbdinfo --json` says about an export; the fields that are checked. */
interface NbdInfo {
  readonly protocol: string;
  readonly structured: boolean;
  readonly exports: readonly Record<string, unknown>[];
}

interface MapEntry {
  readonly offset: number;
  readonly length: number;
  readonly type: number;
}

/**
 * Registers the tests that drive a server by the programs that people use: one server, started
 * once.
 */
export function describeRealClients(name: string, startServer: () => Promise<ServedDrive>): void {
  const ready = clientsReady(`real clients on ${name}`, [
    'nbdinfo',
    'nbdcopy',
    'nbdsh',
    'qemu-io',
    'qemu-img',
    'fio',
    'cmp',
  ]);
  describe.runIf(ready)(`real clients on ${name}`, () => {
    const shared: Shared = { drive: null, folder: '' };
    beforeAll(async () => {
      shared.folder = mkdtempSync(join(tmpdir(), 'bf3-clients-'));
      shared.drive = await startServer();
    });
    afterAll(async () => {
      await shared.drive?.stop();
      rmSync(shared.folder, { recursive: true, force: true });
    });
    registerInfo(shared);
    registerCopy(shared);
    registerQemu(shared);
    registerFio(shared);
    it('nbdsh: negotiation, refusals, flags, extents, 96 commands in flight', async () => {
      const { uri } = drive(shared);
      const script = `URI = ${JSON.stringify(uri)}\n${NBDSH_PROTOCOL_SCRIPT}`;
      const lines = (await runWell('nbdsh', ['--base-allocation', '-u', uri, '-c', script]))
        .trim()
        .split('\n');
      expect(lines).toEqual([
        'structured True',
        'can True True True True True True',
        `blocks [512, 4096, ${32 * MIB}]`,
        'allocation True',
        'protocol holds',
      ]);
    });
  });
}

interface Shared {
  drive: ServedDrive | null;
  folder: string;
}

function drive(shared: Shared): ServedDrive {
  if (shared.drive === null) throw new Error('the server was not started');
  return shared.drive;
}

function registerInfo(shared: Shared): void {
  it.each([[], ['--list']])(
    'nbdinfo --json %s shows size, flags and block sizes',
    async (...more) => {
      const { uri, sizeBytes } = drive(shared);
      const info = JSON.parse(await runWell('nbdinfo', ['--json', ...more, uri])) as NbdInfo;
      expect(info.protocol).toBe('newstyle-fixed');
      expect(info.structured).toBe(true);
      expect(info.exports).toHaveLength(1);
      expect(info.exports[0]).toMatchObject({
        'export-size': sizeBytes,
        contexts: ['base:allocation'],
        is_read_only: false,
        is_rotational: false,
        can_df: true,
        can_fast_zero: true,
        can_flush: true,
        can_fua: true,
        can_multi_conn: true,
        can_trim: true,
        can_zero: true,
        block_size_minimum: 512,
        block_size_preferred: 4096,
        block_size_maximum: 32 * MIB,
      });
    },
  );

  it('nbdinfo --map covers the export and shows what was written and discarded', async () => {
    const { uri, sizeBytes, reportsHoles } = drive(shared);
    await runWell('qemu-io', [
      ...['-f', 'raw', '-c', 'write -P 0x11 1M 1M', '-c', 'discard 1M 512k', '-c', 'flush', uri],
    ]);
    const map = JSON.parse(await runWell('nbdinfo', ['--map', '--json', uri])) as MapEntry[];
    let end = 0;
    for (const entry of map) {
      expect(entry.offset).toBe(end);
      end += entry.length;
    }
    expect(end).toBe(sizeBytes);
    const typeAt = (at: number) =>
      map.find(({ offset, length }) => offset <= at && at < offset + length)?.type;
    expect(typeAt(1.5 * MIB)).toBe(0);
    expect(typeAt(1 * MIB)).toBe(reportsHoles ? 3 : 0);
  });
}

function registerCopy(shared: Shared): void {
  it('nbdcopy brings an image there and back', async () => {
    const { uri, workBytes } = drive(shared);
    const image = join(shared.folder, 'image');
    const back = join(shared.folder, 'back');
    writeFileSync(image, noise(workBytes));
    await runWell('nbdcopy', ['--flush', image, uri]);
    await runWell('nbdcopy', [uri, back]);
    await runWell('cmp', ['-n', String(workBytes), image, back]);
  });

  it('qemu-img compares equal, and finds the byte that was changed', async () => {
    const { uri, workBytes } = drive(shared);
    const image = join(shared.folder, 'compared');
    writeFileSync(image, noise(workBytes));
    await runWell('nbdcopy', [image, uri]);
    const compare = ['compare', '-f', 'raw', '-F', 'raw', image, uri];
    const equal = await run('qemu-img', compare);
    // The export is larger than the image; what lies beyond may hold other tests' data.
    const beyond = /mismatch at offset (\d+)/.exec(equal.stdout)?.[1] ?? workBytes;
    expect(Number(beyond)).toBeGreaterThanOrEqual(workBytes);
    const sector = Buffer.alloc(512);
    readAt(image, 4 * MIB, sector);
    const changed = sector[0] === 0x5a ? '0xa5' : '0x5a';
    await runWell('qemu-io', ['-f', 'raw', '-c', `write -P ${changed} 4M 512`, uri]);
    const different = await run('qemu-img', compare);
    expect(different.code).toBe(1);
    expect(different.stdout).toContain(`mismatch at offset ${4 * MIB}`);
  });
}

function registerQemu(shared: Shared): void {
  it('qemu-io writes, reads, discards, zeroes, flushes', async () => {
    const { uri } = drive(shared);
    const output = await qemuIo(uri, [
      'write -P 0x5a 0 1M',
      'read -P 0x5a 0 1M',
      'discard 0 64k',
      'read -P 0 0 64k',
      'read -P 0x5a 64k 960k',
      'write -f -P 3 4M 4k',
      'read -P 3 4M 4k',
      'write -P 9 5M 128k',
      'write -z -u 5M 64k',
      'write -z 5184k 32k',
      'read -P 0 5M 96k',
      'read -P 9 5216k 32k',
      'aio_write -P 7 2M 64k',
      'aio_flush',
      'read -P 7 2M 64k',
      'write -P 1 3M 512',
      'write -P 2 3146240 512',
      'read -P 1 3M 512',
      'read -P 2 3146240 512',
      'write -P 6 8M 16M',
      'read -P 6 8M 16M',
      'flush',
    ]);
    expect(output).not.toContain('Pattern verification failed');
    expect(output).not.toContain('error');
  });

  it('qemu-io notices a wrong pattern, so the check above means something', async () => {
    const { uri } = drive(shared);
    const { code, stdout } = await run('qemu-io', [
      ...['-f', 'raw', '-c', 'write -P 1 0 64k', '-c', 'read -P 2 0 64k', uri],
    ]);
    expect(code).toBe(1);
    expect(stdout).toContain('Pattern verification failed');
  });

  it('qemu-img bench runs reads and writes with flushes at depth 32', async () => {
    const { uri } = drive(shared);
    const depth = ['bench', '-f', 'raw', '-c', '2000', '-d', '32', '-s', '4096'];
    await runWell('qemu-img', [...depth, uri]);
    await runWell('qemu-img', [...depth, '-w', '--flush-interval=100', uri]);
  });
}

function registerFio(shared: Shared): void {
  it('fio writes at random at depth 32 and verifies by CRC-32C', async () => {
    const { uri, workBytes } = drive(shared);
    const job = { rw: 'randwrite', bs: '4k', iodepth: 32, size: workBytes };
    await fio(shared, uri, { ...job, verify: 'crc32c', verify_fatal: 1, do_verify: 1 });
  });

  it('fio mixes block sizes, syncs and trims', async () => {
    const { uri } = drive(shared);
    const job = { rw: 'randwrite', bsrange: '512-64k', iodepth: 16, size: '8M', fsync: 8 };
    await fio(shared, uri, { ...job, blockalign: 512, verify: 'crc32c', verify_fatal: 1 });
    await fio(shared, uri, { rw: 'trimwrite', bs: '64k', iodepth: 4, size: '8M' });
  });
}

async function qemuIo(uri: string, commands: readonly string[]): Promise<string> {
  return runWell('qemu-io', ['-f', 'raw', ...commands.flatMap((text) => ['-c', text]), uri]);
}

async function fio(
  shared: Shared,
  uri: string,
  options: Readonly<Record<string, string | number>>,
): Promise<void> {
  const args = Object.entries(options).map(([key, value]) => `--${key}=${value}`);
  // fio leaves its verify state in the working directory.
  const { code, stdout, stderr } = await run(
    'fio',
    ['--name=job', '--ioengine=nbd', `--uri=${uri}`, '--randrepeat=1', ...args],
    { cwd: shared.folder },
  );
  expect(`${stdout}${stderr}`).toContain('err= 0');
  expect(code).toBe(0);
}

/** The same pseudo-random bytes on every run: the AES-CTR key stream of a fixed key. */
export function noise(lengthBytes: number): Buffer {
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, 0x42), Buffer.alloc(16));
  return cipher.update(Buffer.alloc(lengthBytes));
}

function readAt(path: string, at: number, into: Buffer): void {
  const file = openSync(path, 'r');
  try {
    readSync(file, into, 0, into.length, at);
  } finally {
    closeSync(file);
  }
}
