import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Option, OptionReply } from '../../../tools/serve/nbd/wire.ts';
import { NbdRig } from '../../kit/nbd-rig.ts';
import { be, infoBody, metaBody, optionBytes, type RawNbd } from '../../kit/raw-nbd.ts';

// Oracle: the NBD protocol document (doc/proto.md of the NetworkBlockDevice project), numbers
// written out.
const SIZE_BYTES = 1024 * 1024;
/** HAS_FLAGS, FLUSH, FUA, TRIM, WRITE_ZEROES, CAN_MULTI_CONN, FAST_ZERO. */
const FLAGS = 1 | 4 | 8 | 32 | 64 | 256 | 2048;
const SEND_DF = 128;

describe('NBD negotiation', () => {
  let rig: NbdRig;
  let client: RawNbd;
  beforeAll(async () => {
    rig = await NbdRig.start(SIZE_BYTES);
  });
  beforeEach(async () => {
    client = await rig.connect();
  });
  afterEach(() => client.vanish());
  afterAll(() => rig.stop());

  it('greets with both magic words and the flags FIXED_NEWSTYLE, NO_ZEROES', async () => {
    const greeting = await client.greet();
    expect(greeting.toString('latin1')).toBe('NBDMAGICIHAVEOPT\0\x03');
  });

  it.each([
    [3, 10],
    [1, 10 + 124],
    [0, 10 + 124],
  ])('EXPORT_NAME after client flags %i answers with %i bytes', async (flags, lengthBytes) => {
    await client.greet(flags);
    await client.send(optionBytes(Option.ExportName));
    const reply = await client.read(lengthBytes);
    expect(reply.readBigUInt64BE(0)).toBe(BigInt(SIZE_BYTES));
    expect(reply.readUInt16BE(8)).toBe(FLAGS);
    expect(reply.subarray(10).every((byte) => byte === 0)).toBe(true);
    expect((await client.request(3, 0, 0)).error).toBe(0);
  });

  it('EXPORT_NAME of another export ends the connection without an answer', async () => {
    await client.greet();
    await client.send(optionBytes(Option.ExportName, Buffer.from('other')));
    expect(await client.ended()).toBe(0);
  });

  it('client flags that the protocol does not know end the connection', async () => {
    await client.greet(4);
    expect(await client.ended()).toBe(0);
  });

  it('a client without FIXED_NEWSTYLE gets no option replies', async () => {
    await client.greet(2);
    await client.send(optionBytes(Option.List));
    expect(await client.ended()).toBe(0);
  });

  it('ABORT is acknowledged, then the connection ends', async () => {
    await client.greet();
    expect(await client.option(Option.Abort)).toMatchObject({ code: 2, type: OptionReply.Ack });
    expect(await client.ended()).toBe(0);
  });

  it('LIST names the export and describes it', async () => {
    await client.greet();
    const entry = await client.option(Option.List);
    expect(entry.type).toBe(OptionReply.Server);
    expect(entry.body).toEqual(be([32, 5], 'drive', 'a drive in memory'));
    expect((await client.optionReply()).type).toBe(OptionReply.Ack);
  });

  it.each([
    [Option.List, Buffer.from('x')],
    [Option.StructuredReply, Buffer.from('x')],
    [Option.Info, Buffer.alloc(0)],
    [Option.Info, be([32, 0xffffffff], [16, 0])],
    [Option.Go, be([32, 3], 'dri')],
    [Option.Go, be([32, 0], [16, 2], [16, 0])],
    [Option.Go, be([32, 0], [16, 0], [16, 0])],
    [Option.SetMetaContext, metaBody('', 'base:allocation')],
    [Option.ListMetaContext, be([32, 0])],
    [Option.ListMetaContext, be([32, 9], 'drive', [32, 0])],
    [Option.ListMetaContext, be([32, 0], [32, 0xffffffff])],
    [Option.ListMetaContext, be([32, 0], [32, 1], [32, 5], 'base')],
    [Option.ListMetaContext, be([32, 0], [32, 0], [32, 0])],
  ])(
    'option %i with a body that makes no sense is ERR_INVALID, and the talk goes on',
    async (...args) => {
      await client.greet();
      const reply = await client.option(...args);
      expect(reply.type).toBe(OptionReply.ErrorInvalid);
      expect(reply.body.length).toBeGreaterThan(0);
      expect((await client.option(Option.StructuredReply)).type).toBe(OptionReply.Ack);
    },
  );

  it.each([5, 11, 99, 0xffffffff])('option %i is ERR_UNSUP, and the talk goes on', async (code) => {
    await client.greet();
    expect(await client.option(code, Buffer.alloc(1000))).toMatchObject({
      code,
      type: OptionReply.ErrorUnsupported,
    });
    expect((await client.option(Option.StructuredReply)).type).toBe(OptionReply.Ack);
  });

  it.each([
    [Option.Info, infoBody('other')],
    [Option.Go, infoBody('other')],
    [Option.ListMetaContext, metaBody('other')],
  ])('option %i on another export is ERR_UNKNOWN', async (code, body) => {
    await client.greet();
    expect((await client.option(code, body)).type).toBe(OptionReply.ErrorUnknown);
  });

  it.each(['', 'drive'])(
    'INFO on "%s" tells size, flags, block sizes, name, description',
    async (name) => {
      await client.greet();
      await client.option(Option.StructuredReply);
      const bodies: Buffer[] = [];
      let reply = await client.option(Option.Info, infoBody(name, 1, 2, 3, 77));
      while (reply.type === OptionReply.Info) {
        bodies.push(reply.body);
        reply = await client.optionReply();
      }
      expect(reply.type).toBe(OptionReply.Ack);
      expect(bodies).toEqual([
        be([16, 1], 'drive'),
        be([16, 2], 'a drive in memory'),
        be([16, 0], [64, SIZE_BYTES], [16, FLAGS | SEND_DF]),
        be([16, 3], [32, 512], [32, 4096], [32, 32 * 1024 * 1024]),
      ]);
      // INFO does not enter transmission.
      expect((await client.option(Option.List)).type).toBe(OptionReply.Server);
    },
  );

  it('GO tells the same and enters transmission', async () => {
    await client.greet();
    const info = await client.option(Option.Go, infoBody('drive'));
    expect(info.body).toEqual(be([16, 0], [64, SIZE_BYTES], [16, FLAGS]));
    expect((await client.optionReply()).body.readUInt16BE(0)).toBe(3);
    expect((await client.optionReply()).type).toBe(OptionReply.Ack);
    expect(await client.request(3, 0, 0)).toMatchObject({ structured: false, error: 0 });
  });

  it.each([[[]], [['base:']], [['other:x', 'base:allocation']]])(
    'LIST_META_CONTEXT %j lists base:allocation',
    async (queries) => {
      await client.greet();
      const reply = await client.option(Option.ListMetaContext, metaBody('drive', ...queries));
      expect(reply.type).toBe(OptionReply.MetaContext);
      expect(reply.body).toEqual(be([32, 0], 'base:allocation'));
      expect((await client.optionReply()).type).toBe(OptionReply.Ack);
    },
  );

  it('SET_META_CONTEXT chooses the context by its full name only, and anew each time', async () => {
    await client.greet();
    await client.option(Option.StructuredReply);
    const chosen = await client.option(Option.SetMetaContext, metaBody('', 'base:allocation'));
    expect(chosen.body).toEqual(be([32, 1], 'base:allocation'));
    await client.optionReply();
    const none = await client.option(Option.SetMetaContext, metaBody('', 'base:', 'x:y'));
    expect(none.type).toBe(OptionReply.Ack);
    await client.option(Option.Go, infoBody());
    await client.optionReply();
    await client.optionReply();
    expect((await client.request(7, 0, 4096)).error).toBe(22);
  });

  it('an option body of more than 64 KiB is thrown away and answered ERR_TOO_BIG', async () => {
    await client.greet();
    const most = await client.option(99, Buffer.alloc(65536));
    expect(most.type).toBe(OptionReply.ErrorUnsupported);
    const tooBig = await client.option(99, Buffer.alloc(1_000_000, 0x49));
    expect(tooBig).toMatchObject({ code: 99, type: OptionReply.ErrorTooBig });
    expect((await client.option(Option.StructuredReply)).type).toBe(OptionReply.Ack);
  });

  it('negotiates byte by byte', async () => {
    client.pieceBytes = 1;
    await client.greet();
    expect((await client.option(Option.StructuredReply)).type).toBe(OptionReply.Ack);
    await client.option(Option.SetMetaContext, metaBody('drive', 'base:allocation'));
    expect((await client.optionReply()).type).toBe(OptionReply.Ack);
    await client.option(Option.Go, infoBody('drive', 3));
    await client.optionReply();
    expect((await client.optionReply()).type).toBe(OptionReply.Ack);
  });

  it('takes the whole negotiation and a request in one piece', async () => {
    await client.send(
      be(
        [32, 3],
        optionBytes(Option.StructuredReply),
        optionBytes(Option.Go, infoBody()),
        [32, 0x25609513],
        [16, 0],
        [16, 0],
        [64, 5],
        [64, 0],
        [32, 512],
      ),
    );
    await client.read(18);
    for (let i = 0; i < 4; i++) await client.optionReply();
    expect(await client.reply()).toMatchObject({ structured: true, cookie: 5n, error: 0 });
  });
});
