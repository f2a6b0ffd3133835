/**
 * Goal: `bf3 serve` from the command line: its mistakes, its life as a process, real clients on it.
 * Method: the command in this process for its refusals, the built program for the rest.
 */
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { main } from '../../../tools/cli/main.ts';
import { readRecord } from '../../../tools/serve/record.ts';
import { describeRealClients } from '../../kit/real-clients.ts';
import { started } from './served-process.ts';

const MIB = 1024 * 1024;

async function refused(...args: string[]): Promise<{ code: number; error: string }> {
  let error = '';
  const code = await main(['serve', ...args], undefined, {
    out: () => {},
    error: (text) => {
      error += text;
    },
  });
  return { code, error };
}

describe('mistakes', () => {
  test.each([
    [[], 2, 'where to listen? give --socket PATH or --port N'],
    [['--drive', 'vectr-256', '--port', '0'], 2, 'did you mean vector-256?'],
    [['--port', '0', '--memory', 'lots'], 2, '--memory: "lots"; expected a size such as'],
    [['--port', '0', '--memory', '4K'], 2, '--memory: "4K"; expected a size from 1M to 1024G'],
    [['--port', '70000'], 2, '--port: "70000"; expected a whole number from 0 to 65535'],
    [['--socket', 's', '--host', 'h'], 2, '--host goes with --port, not with --socket'],
    [['--socket', 's', '--port', '1'], 2, "option '--socket <path>' cannot be used with"],
    [['--drive', 'toy', '--socket', `/${'x'.repeat(120)}`], 2, 'the system allows 107'],
    [['--drive', 'toy', '--socket', '/no/such/s'], 1, 'its directory does not exist'],
    [['--drive', 'toy', '--port', '0', '--spill-dir', '/no/such'], 1, 'cannot make a spill file'],
    [['--drive', 'toy', '--port', '0', '--record', '/no/such/r'], 1, 'cannot write the record'],
  ])('%j', async (args, exitCode, sentence) => {
    const { code, error } = await refused(...args);
    expect(error).toContain(sentence);
    expect(code).toBe(exitCode);
  });

  test('a port in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const { code, error } = await refused('--drive', 'toy', '--port', String(port));
    expect(error).toContain(`127.0.0.1:${port} is in use`);
    expect(code).toBe(1);
    other.close();
  });
});

test('a process: served, ended by SIGINT with code 0, nothing left but its record', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bf3-serve-'));
  const [socket, control, record] = ['nbd', 'ctl', 'run'].map((name) => join(folder, name));
  const args = ['--drive', 'toy', '--socket', socket!, '--control', control!, '--record', record!];
  const { stop, ready } = await started(args);
  expect(ready).toMatchObject({ event: 'ready', drive: 'toy', path: socket, control, record });
  expect(existsSync(control!)).toBe(true);
  const { code, last, error } = await stop();
  expect({ code, error }).toEqual({ code: 0, error: '' });
  expect(last).toMatchObject({ event: 'stopped', stoppedBecause: null, reads: 0, failed: 0 });
  expect([existsSync(socket!), existsSync(control!)]).toEqual([false, false]);
  const { commands, end } = readRecord(record!);
  expect(commands).toHaveLength(1);
  expect(end?.ordinal).toBe(last.events);
  rmSync(folder, { recursive: true, force: true });
});

describeRealClients('bf3 serve --drive vector-256', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bf3-serve-'));
  const { ready, stop } = await started([
    ...['--drive', 'vector-256', '--socket', join(folder, 'nbd'), '--export', 'bf3'],
  ]);
  return {
    uri: ready.uri,
    sizeBytes: 256_060_514_304,
    reportsHoles: true,
    workBytes: 16 * MIB,
    stop: async () => {
      const { code, error } = await stop();
      rmSync(folder, { recursive: true, force: true });
      expect({ code, error }).toEqual({ code: 0, error: '' });
    },
  };
});
