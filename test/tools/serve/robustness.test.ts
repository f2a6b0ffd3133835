import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NbdError } from '../../../tools/serve/nbd/backend.ts';
import { Command, Option } from '../../../tools/serve/nbd/wire.ts';
import { CompletionMode } from '../../kit/memory-backend.ts';
import { NbdRig } from '../../kit/nbd-rig.ts';
import { be, infoBody, metaBody, optionBytes, RawNbd, requestBytes } from '../../kit/raw-nbd.ts';

const MIB = 1024 * 1024;
const { Read, Write, Flush } = Command;

let rig: NbdRig;
/** A second client, which must not notice what the first one does. */
let bystander: RawNbd;
beforeEach(async () => {
  rig = await NbdRig.start(64 * MIB);
  bystander = await rig.open();
});
afterEach(() => rig.stop());

async function expectBystanderServed(): Promise<void> {
  rig.backend.mode = CompletionMode.AtOnce;
  expect((await bystander.request(Flush, 0, 0)).error).toBe(0);
  expect((await (await rig.open()).request(Read, 0, 512)).error).toBe(0);
}

describe('rubbish from one client', () => {
  it.each([
    ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
    ['zeroes', Buffer.alloc(100_000)],
    ['a wrong option magic', be([32, 3], 'IHAVEOPX', [32, 3], [32, 0])],
    ['an option of 4 GiB', be([32, 3], 'IHAVEOPT', [32, 99], [32, 0xffffffff])],
  ])('%s in the negotiation ends that client only', async (_what, bytes) => {
    const client = await rig.connect();
    await client.send(bytes);
    expect(await client.ended()).toBe(18);
    await expectBystanderServed();
  });

  it('a wrong magic number in transmission: what came before is answered', async () => {
    const client = await rig.open();
    rig.backend.mode = CompletionMode.NextTurn;
    await client.send(Buffer.concat([requestBytes(Flush, 7, 0, 0), Buffer.alloc(28, 0xff)]));
    expect((await client.reply()).cookie).toBe(7n);
    expect(await client.ended()).toBe(0);
    expect(rig.violations).toHaveLength(1);
    expect(rig.server.stats.violations).toBe(1);
    await expectBystanderServed();
  });

  it('a write of 40 MiB is thrown away and refused; the next request is understood', async () => {
    const client = await rig.open();
    const payload = Buffer.alloc(40 * MIB, 0x25);
    const reply = await client.request(Write, 0, payload.length, 0, payload);
    expect(reply.error).toBe(NbdError.Invalid);
    expect((await client.request(Read, 0, 40 * MIB)).error).toBe(NbdError.Invalid);
    expect((await client.request(Read, 0, 512)).error).toBe(0);
    expect(rig.backend.disk[0]).toBe(0);
  });

  it('a write that announces 4 GiB ends the connection', async () => {
    const client = await rig.open();
    await client.send(requestBytes(Write, 1, 0, 0xfffffe00));
    expect(await client.ended()).toBe(0);
    await expectBystanderServed();
  });
});

describe('mutated conversations', () => {
  it('whatever bytes are flipped, the server ends that client and serves the others', async () => {
    const conversation = be(
      [32, 3],
      optionBytes(Option.StructuredReply),
      optionBytes(Option.SetMetaContext, metaBody('', 'base:allocation')),
      optionBytes(Option.Go, infoBody('drive', 3)),
      requestBytes(Read, 1, 0, 4096),
      requestBytes(Write, 2, 4096, 1024, 1, Buffer.alloc(1024, 3)),
      requestBytes(Command.BlockStatus, 3, 0, 65536),
      requestBytes(Command.Trim, 4, 0, 512),
      requestBytes(Flush, 5, 0, 0),
    );
    const flip = fc.record({
      at: fc.nat(conversation.length - 1),
      by: fc.integer({ min: 1, max: 255 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(flip, { minLength: 1, maxLength: 4 }), async (flips) => {
        const bytes = Buffer.from(conversation);
        for (const { at, by } of flips) bytes[at] = bytes[at]! ^ by;
        const client = await rig.connect();
        client.socket.end(bytes);
        await client.ended();
        await rig.until(() => rig.server.stats.connections === 1);
        if ((await bystander.request(Flush, 0, 0)).error !== 0) throw new Error('not served');
      }),
      { numRuns: 300 },
    );
  });
});

describe('clients that vanish', () => {
  it('with requests in flight: their completions are dropped', async () => {
    const client = await rig.open();
    rig.backend.mode = CompletionMode.Held;
    const write = requestBytes(Write, 1, 4096, 4096, 0, Buffer.alloc(4096, 5));
    await client.send(Buffer.concat([requestBytes(Read, 2, 0, MIB), write]));
    await rig.until(() => rig.backend.waiting.length === 2);
    client.vanish();
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    rig.backend.release();
    await rig.until(() => rig.server.stats.connections === 1);
    expect(rig.backend.disk[4096]).toBe(5);
    await expectBystanderServed();
  });

  it('by a TCP reset with requests in flight: they complete into nothing', async () => {
    const { port } = await rig.server.listen({ port: 0 });
    const client = await RawNbd.open(port ?? 0);
    rig.backend.mode = CompletionMode.Held;
    await client.send(requestBytes(Read, 2, 0, MIB));
    await rig.until(() => rig.backend.waiting.length === 1);
    client.socket.resetAndDestroy();
    await rig.until(() => rig.server.stats.connections === 1);
    rig.backend.release();
    await expectBystanderServed();
  });

  it('in the middle of a payload: the write does not happen', async () => {
    const client = await rig.open();
    const write = requestBytes(Write, 1, 0, MIB, 0, Buffer.alloc(MIB, 5));
    await client.send(write.subarray(0, MIB / 2));
    await rig.until(() => rig.server.stats.connections === 2);
    client.vanish();
    await rig.until(() => rig.server.stats.connections === 1);
    expect(rig.backend.disk[0]).toBe(0);
    await expectBystanderServed();
  });

  it('in the middle of the negotiation', async () => {
    const client = await rig.connect();
    await client.greet();
    await client.send(be('IHAVEOPT', [32, Option.Go], [32, 100]));
    client.vanish();
    await rig.until(() => rig.server.stats.connections === 1);
    expect(rig.violations).toEqual([]);
    await expectBystanderServed();
  });
});

describe('limits', () => {
  it('at most 256 requests of one client are with the backend; the rest follow', async () => {
    const client = await rig.open();
    rig.backend.mode = CompletionMode.Held;
    const requests = Array.from({ length: 1000 }, (_, i) => requestBytes(Read, i, 512 * i, 512));
    await client.send(Buffer.concat(requests));
    await rig.until(() => rig.backend.waiting.length === 256);
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(rig.backend.waiting.length).toBe(256);
    const seen = new Set<bigint>();
    while (seen.size < 1000) {
      rig.backend.release(100);
      await rig.until(() => rig.backend.waiting.length > 0 || seen.size + 356 > 1000);
      for (let i = 0; i < 100 && seen.size < 1000; i++) seen.add((await client.reply()).cookie);
    }
    expect(rig.backend.waitingMax).toBe(256);
    expect(seen.size).toBe(1000);
  });

  it('a client that reads no replies is not read from: memory stays bounded', async () => {
    const client = await rig.open();
    client.socket.pause();
    const requests = Array.from({ length: 400 }, (_, i) => requestBytes(Read, i, 0, MIB));
    await client.send(Buffer.concat(requests));
    await rig.until(() => rig.server.stats.readBytes >= 32 * MIB);
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
    // 32 MiB may be held, one request over the limit, and what the kernel's socket buffers took.
    expect(rig.server.stats.readBytes).toBeLessThan(40 * MIB);
    await expectBystanderServed();
    client.socket.resume();
    for (let i = 0; i < 400; i++) expect((await client.reply()).body.length).toBe(MIB + 8);
  });

  it('connections beyond the limit are turned away', async () => {
    const small = await NbdRig.start(MIB, { maxConnections: 2 });
    try {
      const first = await small.open();
      await small.open();
      const third = await small.connect();
      expect(await third.ended()).toBe(0);
      expect(small.server.stats).toMatchObject({ connections: 2, refusedConnections: 1 });
      first.vanish();
      await small.until(() => small.server.stats.connections === 1);
      expect((await (await small.open()).request(Flush, 0, 0)).error).toBe(0);
    } finally {
      await small.stop();
    }
  });

  it('a client that does not negotiate is cut off', async () => {
    const hasty = await NbdRig.start(MIB, { handshakeTimeoutMs: 30 });
    try {
      const done = await hasty.open();
      const idle = await hasty.connect();
      expect(await idle.ended()).toBe(18);
      expect(hasty.violations).toEqual(['the negotiation took too long']);
      expect((await done.request(Flush, 0, 0)).error).toBe(0);
    } finally {
      await hasty.stop();
    }
  });
});
