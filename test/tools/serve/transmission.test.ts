import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NbdError, NbdKind } from '../../../tools/serve/nbd/backend.ts';
import { ChunkType, Command, CommandFlag } from '../../../tools/serve/nbd/wire.ts';
import { CompletionMode } from '../../kit/memory-backend.ts';
import { NbdRig } from '../../kit/nbd-rig.ts';
import { be, requestBytes } from '../../kit/raw-nbd.ts';
import { noise } from '../../kit/real-clients.ts';

const SIZE_BYTES = 1024 * 1024;
const COOKIE = 0x1122334455667788n;
const { Read, Write, Flush, Trim, WriteZeroes, BlockStatus } = Command;

let rig: NbdRig;
beforeEach(async () => {
  rig = await NbdRig.start(SIZE_BYTES);
});
afterEach(() => rig.stop());

describe.each([true, false])('NBD commands, structured replies %s', (structured) => {
  it.each([512, 4096, 16384, 16896, 131072])('writes and reads %i bytes', async (lengthBytes) => {
    const client = await rig.open({ structured });
    const data = noise(lengthBytes);
    const written = await client.request(Write, 1024, lengthBytes, 0, data);
    expect(written).toMatchObject({ structured: false, cookie: COOKIE, error: 0 });
    const read = await client.request(Read, 1024, lengthBytes);
    expect(read).toMatchObject({ structured, cookie: COOKIE, error: 0 });
    const expected = structured ? be([64, 1024], data) : data;
    expect(Buffer.compare(read.body, expected)).toBe(0);
    expect(read.type).toBe(structured ? ChunkType.OffsetData : -1);
    expect(rig.server.stats).toMatchObject({ readBytes: lengthBytes, writtenBytes: lengthBytes });
  });

  it('works byte by byte', async () => {
    const client = await rig.open({ structured });
    client.pieceBytes = 1;
    const data = noise(512);
    expect((await client.request(Write, 512, 512, 0, data)).error).toBe(0);
    const { body } = await client.request(Read, 512, 512);
    expect(Buffer.compare(body.subarray(-512), data)).toBe(0);
  });

  it.each([
    ['read', Read, NbdError.Invalid],
    ['write', Write, NbdError.NoSpace],
    ['trim', Trim, NbdError.NoSpace],
    ['write zeroes', WriteZeroes, NbdError.NoSpace],
  ])(
    '%s out of range or not in whole sectors is refused, and the stream stays in step',
    async (...[, command, error]) => {
      const client = await rig.open({ structured });
      const payload = command === Write ? Buffer.alloc(1024, 0x25) : undefined;
      const ask = async (at: number | bigint, lengthBytes: number) =>
        (await client.request(command, at, lengthBytes, 0, payload?.subarray(0, lengthBytes)))
          .error;
      expect(await ask(SIZE_BYTES, 512)).toBe(error);
      expect(await ask(SIZE_BYTES - 512, 1024)).toBe(error);
      expect(await ask(0xffff_ffff_ffff_fe00n, 1024)).toBe(error);
      expect(await ask(2n ** 53n, 512)).toBe(error);
      expect(await ask(100, 512)).toBe(NbdError.Invalid);
      expect(await ask(0, 100)).toBe(NbdError.Invalid);
      expect(await ask(0, 0)).toBe(NbdError.Invalid);
      expect(await ask(SIZE_BYTES - 512, 512)).toBe(0);
      expect(rig.server.stats.failedRequests).toBe(7);
      expect(rig.server.stats.requests.reduce((sum, count) => sum + count)).toBe(1);
      expect(rig.violations).toEqual([]);
    },
  );

  it('a fault of the medium is EIO for the requests that touch it', async () => {
    const client = await rig.open({ structured });
    rig.backend.faultAtBytes = 8192;
    const failed = await client.request(Read, 4096, 8192);
    expect(failed).toMatchObject({ structured, error: NbdError.Io });
    expect((await client.request(Write, 8192, 512, 0, Buffer.alloc(512))).error).toBe(NbdError.Io);
    expect((await client.request(Read, 4096, 4096)).error).toBe(0);
  });

  it('commands and flags that do not exist are EINVAL', async () => {
    const client = await rig.open({ structured, context: false });
    expect((await client.request(Command.Cache, 0, 4096)).error).toBe(NbdError.Invalid);
    expect((await client.request(77, 0, 4096)).error).toBe(NbdError.Invalid);
    expect((await client.request(BlockStatus, 0, 4096)).error).toBe(NbdError.Invalid);
    for (const [command, flags] of [
      [Read, CommandFlag.NoHole],
      [Write, CommandFlag.DontFragment],
      [Flush, 0x8000],
      [Trim, CommandFlag.FastZero],
      [WriteZeroes, CommandFlag.RequestOne],
    ] as const) {
      const payload = Buffer.alloc(command === Write ? 512 : 0);
      const reply = await client.request(command, 0, 512, flags, payload);
      expect(reply.error).toBe(NbdError.Invalid);
    }
    const df = await client.request(Read, 0, 512, CommandFlag.DontFragment);
    expect(df.error).toBe(structured ? 0 : NbdError.Invalid);
  });
});

describe('NBD commands beside reading and writing', () => {
  it('FUA, FLUSH, TRIM, WRITE_ZEROES reach the backend with their flags', async () => {
    const client = await rig.open();
    await client.request(Write, 0, 16384, CommandFlag.Fua, Buffer.alloc(16384, 1));
    await client.request(Flush, 0, 0);
    await client.request(Trim, 4096, 4096, CommandFlag.Fua);
    await client.request(WriteZeroes, 8192, 4096, CommandFlag.NoHole);
    const { backend, server } = rig;
    expect([backend.fuaWrites, backend.flushes, backend.noHoleZeroes]).toEqual([1, 1, 1]);
    expect(server.stats.requests[NbdKind.Trim]).toBe(1);
    expect(server.stats.trimmedBytes).toBe(8192);
    const expected = Buffer.concat([4096, 8192, 4096].map((n, i) => Buffer.alloc(n, (i + 1) % 2)));
    expect(Buffer.compare(backend.disk.subarray(0, 16384), expected)).toBe(0);
  });

  it('FAST_ZERO is ENOTSUP where zeroes are not fast, and leaves the data alone', async () => {
    const client = await rig.open();
    const { FastZero, NoHole } = CommandFlag;
    await client.request(Write, 0, 4096, 0, Buffer.alloc(4096, 1));
    const noHole = await client.request(WriteZeroes, 0, 4096, FastZero | NoHole);
    expect(noHole.error).toBe(NbdError.NotSupported);
    rig.backend.zeroesFast = false;
    expect((await client.request(WriteZeroes, 0, 4096, FastZero)).error).toBe(
      NbdError.NotSupported,
    );
    expect(rig.backend.disk[0]).toBe(1);
    rig.backend.zeroesFast = true;
    expect((await client.request(WriteZeroes, 0, 4096, FastZero)).error).toBe(0);
    expect(rig.backend.disk[0]).toBe(0);
  });

  it('BLOCK_STATUS merges, cuts off and obeys REQ_ONE', async () => {
    const client = await rig.open();
    await client.request(Write, 8192, 8192, 0, Buffer.alloc(8192, 1));
    const all = await client.request(BlockStatus, 512, 20480);
    expect(all).toMatchObject({ structured: true, type: ChunkType.BlockStatus, error: 0 });
    expect(all.body).toEqual(
      be([32, 1], [32, 7680], [32, 3], [32, 8192], [32, 0], [32, 4608], [32, 3]),
    );
    const one = await client.request(BlockStatus, 8192, 65536, CommandFlag.RequestOne);
    expect(one.body).toEqual(be([32, 1], [32, 8192], [32, 0]));
    const past = await client.request(BlockStatus, SIZE_BYTES, 512);
    expect(past).toMatchObject({ structured: true, type: ChunkType.Error, error: 22 });
  });

  it('a read-only export says so and refuses changes with EPERM', async () => {
    const readOnly = await NbdRig.start();
    try {
      readOnly.backend.readOnly = true;
      const client = await readOnly.open();
      for (const command of [Write, Trim, WriteZeroes]) {
        const payload = Buffer.alloc(command === Write ? 4096 : 0);
        const { error } = await client.request(command, 0, 4096, 0, payload);
        expect(error).toBe(NbdError.NotPermitted);
      }
      expect((await client.request(Read, 0, 4096)).error).toBe(0);
    } finally {
      await readOnly.stop();
    }
  });

  it('replies leave as their requests complete, not as they came', async () => {
    const client = await rig.open();
    rig.backend.mode = CompletionMode.Held;
    const ask = (cookie: number) => requestBytes(Read, cookie, 4096 * cookie, 4096);
    await client.send(Buffer.concat([ask(1), ask(2), ask(3)]));
    await rig.until(() => rig.backend.waiting.length === 3);
    rig.backend.waiting.reverse();
    rig.backend.release();
    const cookies = [await client.reply(), await client.reply(), await client.reply()].map(
      ({ cookie }) => cookie,
    );
    expect(cookies).toEqual([3n, 2n, 1n]);
  });

  it('DISC lets the requests before it finish, answers them, then closes', async () => {
    const client = await rig.open();
    rig.backend.mode = CompletionMode.Held;
    const write = requestBytes(Write, 9, 0, 512, 0, Buffer.alloc(512, 7));
    await client.send(Buffer.concat([write, requestBytes(Command.Disconnect, 0, 0, 0)]));
    await rig.until(() => rig.backend.waiting.length === 1);
    rig.backend.release();
    expect(await client.reply()).toMatchObject({ cookie: 9n, error: 0 });
    expect(await client.ended()).toBe(0);
    expect(rig.backend.disk[511]).toBe(7);
  });

  it('a client that only closes its sending side still gets its replies', async () => {
    const client = await rig.open();
    rig.backend.mode = CompletionMode.Held;
    client.socket.end(requestBytes(Flush, 4, 0, 0));
    await rig.until(() => rig.backend.waiting.length === 1);
    rig.backend.release();
    expect((await client.reply()).cookie).toBe(4n);
    expect(await client.ended()).toBe(0);
  });

  it('two clients see one drive, and each its own replies', async () => {
    const [one, two] = [await rig.open(), await rig.open({ structured: false })];
    await one.request(Write, 0, 4096, 0, Buffer.alloc(4096, 0x33));
    expect((await two.request(Flush, 0, 0)).error).toBe(0);
    const { body } = await two.request(Read, 0, 4096);
    expect(Buffer.compare(body, Buffer.alloc(4096, 0x33))).toBe(0);
    await two.request(Trim, 0, 4096);
    expect((await one.request(Read, 0, 512)).body.subarray(8).every((byte) => byte === 0)).toBe(
      true,
    );
    expect(rig.server.stats.connections).toBe(2);
  });
});

describe('the backend contract', () => {
  it('completing twice, or extents that nobody asked for, is a broken rule', async () => {
    const client = await rig.open();
    rig.backend.mode = CompletionMode.Held;
    await client.send(requestBytes(Flush, 1, 0, 0));
    await rig.until(() => rig.backend.waiting.length === 1);
    const request = rig.backend.waiting[0]!;
    expect(() => request.extents.push(512, 0)).toThrow('BlockStatus');
    rig.backend.release();
    expect(() => request.complete(NbdError.Ok)).toThrow('completed once');
  });
});
