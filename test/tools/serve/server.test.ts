import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunError, UsageError } from '../../../tools/errors.ts';
import { NbdServer } from '../../../tools/serve/nbd/server.ts';
import { Command } from '../../../tools/serve/nbd/wire.ts';
import { CompletionMode, MemoryBackend } from '../../kit/memory-backend.ts';
import { RawNbd, requestBytes } from '../../kit/raw-nbd.ts';

let folder: string;
let server: NbdServer;
let backend: MemoryBackend;
const counts: number[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bf3-nbd-'));
  backend = new MemoryBackend(65536);
  counts.length = 0;
  server = new NbdServer(backend, {
    closeTimeoutMs: 50,
    onConnections: (count) => counts.push(count),
  });
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Rejects with the error class and a sentence that holds the given words. */
async function expectRefusal(
  attempt: Promise<unknown>,
  kind: typeof RunError | typeof UsageError,
  words: string,
): Promise<void> {
  const error = await attempt.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(kind);
  expect((error as Error).message).toContain(words);
}

describe('where the server listens', () => {
  it('on a Unix socket, and removes its file when it closes', async () => {
    const path = join(folder, 'a socket');
    const address = await server.listen({ path });
    expect(address).toMatchObject({ path, host: null, port: null });
    expect(address.uri).toBe(`nbd+unix:///?socket=${folder}/a%20socket`);
    const client = await RawNbd.open(path);
    expect(counts).toEqual([1]);
    await server.close();
    expect(await client.ended()).toBe(0);
    expect(counts).toEqual([1, 0]);
    expect(existsSync(path)).toBe(false);
  });

  it('on a free port of the loopback address', async () => {
    const { port, host, uri } = await server.listen({ port: 0 });
    expect(host).toBe('127.0.0.1');
    expect(port).toBeGreaterThan(0);
    expect(uri).toBe(`nbd://127.0.0.1:${port}/`);
    await new Promise<void>((resolve, reject) => {
      const socket = connect(port ?? 0, '127.0.0.1');
      socket.once('data', () => {
        socket.destroy();
        resolve();
      });
      socket.once('error', reject);
    });
  });

  it('on both at once', async () => {
    const path = join(folder, 's');
    await server.listen({ path });
    await server.listen({ port: 0 });
    expect((await (await RawNbd.open(path)).request(Command.Flush, 0, 0)).error).toBe(0);
  });

  it('replaces a socket file that nobody listens on', async () => {
    const path = join(folder, 's');
    const die = "() => process.kill(process.pid, 'SIGKILL')";
    const script = `require('net').createServer().listen(${JSON.stringify(path)}, ${die})`;
    spawnSync(process.execPath, ['-e', script]);
    expect(existsSync(path)).toBe(true);
    await server.listen({ path });
    expect((await (await RawNbd.open(path)).request(Command.Flush, 0, 0)).error).toBe(0);
  });

  it('refuses a socket that answers, and leaves it alone', async () => {
    const path = join(folder, 's');
    await server.listen({ path });
    const second = new NbdServer(backend);
    await expectRefusal(second.listen({ path }), RunError, 'in use by another server');
    expect((await (await RawNbd.open(path)).request(Command.Flush, 0, 0)).error).toBe(0);
  });

  it('refuses a file that is no socket, and leaves it alone', async () => {
    const path = join(folder, 'file');
    writeFileSync(path, 'mine');
    await expectRefusal(server.listen({ path }), RunError, 'is not a socket');
    expect(existsSync(path)).toBe(true);
  });

  it('refuses a port that is taken, a missing folder, a foreign address', async () => {
    const { port } = await server.listen({ port: 0 });
    const other = new NbdServer(backend);
    await expectRefusal(other.listen({ port: port ?? 0 }), RunError, `127.0.0.1:${port} is in use`);
    const path = join(folder, 'no', 'folder');
    await expectRefusal(other.listen({ path }), RunError, 'directory does not exist');
    // 192.0.2.0/24 is reserved for documentation (RFC 5737).
    const foreign = { port: 0, host: '192.0.2.1' };
    await expectRefusal(other.listen(foreign), RunError, 'no such address');
  });

  it('refuses impossible ports and paths', async () => {
    await expectRefusal(server.listen({ port: 65536 }), UsageError, '65536');
    await expectRefusal(server.listen({ port: 1.5 }), UsageError, '1.5');
    await expectRefusal(server.listen({ path: '' }), UsageError, 'empty');
    const path = join(folder, 'x'.repeat(108));
    await expectRefusal(server.listen({ path }), UsageError, 'the system allows 107');
  });

  it.each([0, -512, 1000, Number.NaN])('refuses a device of %d bytes', (sizeBytes) => {
    expect(() => new NbdServer({ sizeBytes, submit() {} })).toThrow(RunError);
  });
});

describe('the end of the server', () => {
  it('waits for requests under way and answers them', async () => {
    const path = join(folder, 's');
    await server.listen({ path });
    const client = await RawNbd.open(path);
    backend.mode = CompletionMode.NextTurn;
    await client.send(requestBytes(Command.Read, 1, 0, 65536));
    while (backend.waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const closed = server.close();
    expect((await client.reply()).cookie).toBe(1n);
    await closed;
    await expectRefusal(server.listen({ path }), RunError, 'has been closed');
  });

  it('does not wait for ever', async () => {
    const path = join(folder, 's');
    await server.listen({ path });
    const client = await RawNbd.open(path);
    backend.mode = CompletionMode.Held;
    await client.send(requestBytes(Command.Read, 1, 0, 65536));
    while (backend.waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await server.close();
    expect(await client.ended()).toBe(0);
    backend.release();
  });
});
