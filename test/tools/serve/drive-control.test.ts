/** Goal: the control socket stops, moves and shows a served drive, whatever its clients send. */
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TOY } from '../../../firmware/profiles/toy.ts';
import { NbdError, NbdKind } from '../../../tools/serve/nbd/backend.ts';
import { DriveService } from '../../../tools/serve/service.ts';
import { HandRequest } from './drive-kit.ts';

interface Answer {
  readonly id: unknown;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: string;
}

let folder = '';
let path = '';
let service: DriveService;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bf3-control-'));
  path = join(folder, 'control');
  service = new DriveService({ profile: TOY, controlPath: path });
  await service.start({ path: join(folder, 'nbd') });
});

afterEach(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A client that sends lines and takes lines. */
class Client {
  readonly socket: Socket;
  private readonly lines: AsyncIterator<string>;
  private nextId = 1;

  private constructor(socket: Socket) {
    this.socket = socket;
    this.lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  }

  static async open(): Promise<Client> {
    const socket = connect({ path, allowHalfOpen: true });
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.on('error', () => {});
    return new Client(socket);
  }

  /** The next answer, null when the server has closed the connection. */
  async answer(): Promise<Answer | null> {
    const { value, done } = await this.lines.next();
    return done === true ? null : (JSON.parse(value as string) as Answer);
  }

  async ask(cmd: string, fields: object = {}): Promise<Answer> {
    const id = this.nextId++;
    this.socket.write(`${JSON.stringify({ id, cmd, ...fields })}\n`);
    const answer = await this.answer();
    expect(answer?.id).toBe(id);
    return answer!;
  }
}

function submitted(kind: NbdKind, data = Buffer.alloc(4096, 1)): HandRequest {
  const request = new HandRequest(kind, 0, data.length, kind === NbdKind.Write ? { data } : {});
  service.backend.submit(request);
  return request;
}

async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 20_000 && !holds(); turn++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(holds()).toBe(true);
}

describe('commands', () => {
  test('pause holds requests; step and run-to move; continue lets them end', async () => {
    const client = await Client.open();
    const paused = await client.ask('pause');
    expect(paused.result).toMatchObject({ mode: 'paused' });
    const at = paused.result!.ordinal as number;
    const request = submitted(NbdKind.Write);
    expect((await client.ask('status')).result).toMatchObject({
      ...{ mode: 'paused', ordinal: at, profile: 'toy', outstanding: 1, waiting: 0, panic: null },
    });
    expect((await client.ask('step')).result).toMatchObject({ ordinal: at + 1, firedCount: 1 });
    expect((await client.ask('step', { count: 1 })).result).toMatchObject({ ordinal: at + 2 });
    const moved = await client.ask('run-to', { ordinal: at + 3 });
    expect(moved.result).toMatchObject({ ordinal: at + 3, reached: true, mode: 'paused' });
    expect(request.error).toBeNull();
    const ns = (moved.result!.ns as number) + 50_000_000;
    expect((await client.ask('run-to', { ns })).result).toMatchObject({ ns, reached: true });
    expect(request.error).toBe(NbdError.Ok);
    expect((await client.ask('continue')).result).toMatchObject({ mode: 'running' });
    const read = submitted(NbdKind.Read);
    await until(() => read.error !== null);
    expect(read.error).toBe(NbdError.Ok);
  });

  test('a run that something else ends says so', async () => {
    const client = await Client.open();
    const ordinal = 1_000_000_000_000;
    client.socket.write(
      `{"id":"far","cmd":"run-to","ordinal":${ordinal}}\n{"id":2,"cmd":"pause"}\n`,
    );
    const answers = [await client.answer(), await client.answer()];
    expect(answers.find((answer) => answer?.id === 'far')?.result).toMatchObject({
      reached: false,
    });
    expect(answers.find((answer) => answer?.id === 2)?.result).toMatchObject({ mode: 'paused' });
  });

  test('dump shows a table in pieces; save writes a snapshot file', async () => {
    const client = await Client.open();
    const write = submitted(NbdKind.Write);
    await until(() => write.error !== null);
    const dump = await client.ask('dump', { table: 'l2p', count: 3 });
    expect(dump.result).toMatchObject({ table: 'l2p', from: 0 });
    const machines = await client.ask('dump', { table: 'machines' });
    expect((machines.result!.rows as unknown[]).length).toBeGreaterThan(4);
    const file = join(folder, 'drive.snapshot');
    expect((await client.ask('save', { path: file })).result).toMatchObject({ path: file });
    expect(statSync(file).size).toBeGreaterThan(4096);
  });

  test('save while paused with commands under way is refused', async () => {
    const client = await Client.open();
    await client.ask('pause');
    submitted(NbdKind.Write);
    const { error } = await client.ask('save', { path: join(folder, 'x') });
    expect(error).toBe('1 host commands are under way: continue, then save');
  });

  test.each([
    [{ cmd: 'pasue' }, /^"cmd" must be one of pause, continue, step, .*, not "pasue"$/],
    [{ cmd: 'toString' }, /^"cmd" must be one of/],
    [{}, /^"cmd" must be one of .*, not missing$/],
    [{ cmd: 'step', count: 0 }, /^"count" must be a whole number from 1, not 0$/],
    [{ cmd: 'step', count: '7' }, /^"count" must be a whole number from 1, not "7"$/],
    [{ cmd: 'run-to' }, /^"run-to" needs either "ordinal" or "ns"$/],
    [{ cmd: 'run-to', ordinal: 0 }, /^"ordinal" must be a whole number from \d+, not 0$/],
    [{ cmd: 'dump' }, /^"table" must be one of machines, l2p/],
    [{ cmd: 'dump', table: 'l2q' }, /no table 'l2q'.*l2p/],
    [{ cmd: 'save' }, /^"path" must be/],
    [{ cmd: 'save', path: '/no/such/folder/x' }, /the folder does not exist/],
  ])('%j is refused', async (request, sentence) => {
    const client = await Client.open();
    client.socket.write(`${JSON.stringify({ id: 9, ...request })}\n`);
    const answer = await client.answer();
    expect(answer?.id).toBe(9);
    expect(answer?.error).toMatch(sentence);
  });
});

describe('clients', () => {
  test('what is no request is answered, and the client goes on', async () => {
    const client = await Client.open();
    client.socket.write('nonsense\n[1]\n\n');
    for (let i = 0; i < 2; i++) {
      expect(await client.answer()).toEqual({
        ...{ id: null, error: 'a request is one JSON object on one line' },
      });
    }
    expect((await client.ask('status')).error).toBeUndefined();
  });

  test('an endless line ends its client and no other', async () => {
    const good = await Client.open();
    const bad = await Client.open();
    bad.socket.write('x'.repeat(70_000));
    expect(await bad.answer()).toEqual({ id: null, error: 'a line is longer than 65536 bytes' });
    expect(await bad.answer()).toBeNull();
    expect((await good.ask('status')).result).toMatchObject({ mode: 'running' });
  });

  test('hundreds of requests at once, in pieces, then the end: each is answered', async () => {
    const client = await Client.open();
    const text = Array.from({ length: 300 }, (_, id) => `{"id":${id},"cmd":"status"}\n`).join('');
    for (let at = 0; at < text.length; at += 777) client.socket.write(text.slice(at, at + 777));
    client.socket.end();
    const ids = new Set<unknown>();
    for (;;) {
      const answer = await client.answer();
      if (answer === null) break;
      ids.add(answer.id);
    }
    expect(ids.size).toBe(300);
  });

  test('a client that vanishes leaves nothing behind; the socket is its own', async () => {
    const client = await Client.open();
    client.socket.write('{"id":1,"cmd":"run-to","ordinal":999999999999}\n');
    client.socket.destroy();
    const other = await Client.open();
    expect((await other.ask('continue')).result).toMatchObject({ mode: 'running' });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await service.stop();
    expect(existsSync(path)).toBe(false);
  });
});
