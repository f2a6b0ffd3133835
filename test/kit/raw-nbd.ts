import { connect, type Socket } from 'node:net';
import * as wire from '../../tools/serve/nbd/wire.ts';

const ATTEMPT_MS = 10_000;

/** A reply to an option. */
export interface RawOptionReply {
  readonly code: number;
  readonly type: number;
  readonly body: Buffer;
}

/** A reply to a request, simple or structured. */
export interface RawReply {
  readonly structured: boolean;
  readonly cookie: bigint;
  readonly error: number;
  /** Structured: the chunk type; simple: -1. */
  readonly type: number;
  /** Structured: the body; simple: the data of a read. */
  readonly body: Buffer;
}

/** Big-endian bytes from (bits, value) fields and raw pieces. */
export function be(...fields: ([16 | 32 | 64, number | bigint] | Uint8Array | string)[]): Buffer {
  return Buffer.concat(
    fields.map((field) => {
      if (typeof field === 'string') return Buffer.from(field);
      if (field instanceof Uint8Array) return field;
      const [bits, value] = field;
      const out = Buffer.alloc(bits / 8);
      if (bits === 64) out.writeBigUInt64BE(BigInt(value));
      else if (bits === 32) out.writeUInt32BE(Number(value));
      else out.writeUInt16BE(Number(value));
      return out;
    }),
  );
}

/** One option as a client sends it. */
export function optionBytes(code: number, body: Uint8Array = Buffer.alloc(0)): Buffer {
  return be('IHAVEOPT', [32, code], [32, body.length], body);
}

/** One request as a client sends it. */
export function requestBytes(
  command: number,
  cookie: number | bigint,
  offsetBytes: number | bigint,
  lengthBytes: number,
  flags = 0,
  payload: Uint8Array = Buffer.alloc(0),
): Buffer {
  return be(
    [32, 0x25609513],
    [16, flags],
    [16, command],
    [64, cookie],
    [64, offsetBytes],
    [32, lengthBytes],
    payload,
  );
}

/** Body of INFO and GO. */
export function infoBody(name = '', ...types: number[]): Buffer {
  return be([32, Buffer.byteLength(name)], name, [16, types.length], ...types.map(u16));
}

/** Body of LIST_META_CONTEXT and SET_META_CONTEXT. */
export function metaBody(name: string, ...queries: string[]): Buffer {
  return be([32, Buffer.byteLength(name)], name, [32, queries.length], ...queries.map(counted));
}

function u16(value: number): Buffer {
  return be([16, value]);
}

function counted(text: string): Buffer {
  return be([32, Buffer.byteLength(text)], text);
}

/** An NBD client that sends exactly the bytes it is told to. */
export class RawNbd {
  /** The other side has closed. */
  closed = false;
  /**
   * Cuts what is sent into pieces of this size, one turn of the event loop apart; 0 sends in one
   * go.
   */
  pieceBytes = 0;
  structured = false;
  private chunks: Buffer[] = [];
  private available = 0;
  private wake: (() => void) | null = null;
  readonly socket: Socket;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.chunks.push(chunk);
      this.available += chunk.length;
      this.wake?.();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.closed = true;
      this.wake?.();
    });
    socket.on('end', () => {
      this.closed = true;
      this.wake?.();
    });
  }

  /** Connects to a Unix socket, or to a TCP port of this machine. */
  static async connect(where: string | number): Promise<RawNbd> {
    const target = typeof where === 'string' ? { path: where } : { port: where, host: '127.0.0.1' };
    const socket = connect({ ...target, allowHalfOpen: true });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new RawNbd(socket);
  }

  /** Connects, negotiates and enters transmission. */
  static async open(
    where: string | number,
    { structured = true, context = true, name = '' } = {},
  ): Promise<RawNbd> {
    const client = await RawNbd.connect(where);
    await client.greet();
    if (structured) {
      await client.option(wire.Option.StructuredReply);
      client.structured = true;
    }
    if (structured && context) {
      await client.option(wire.Option.SetMetaContext, metaBody(name, 'base:allocation'));
      await client.optionReply();
    }
    await client.option(wire.Option.Go, infoBody(name));
    await client.optionReply();
    await client.optionReply();
    return client;
  }

  /** Reads the greeting and answers with client flags. */
  async greet(flags = 3): Promise<Buffer> {
    const greeting = await this.read(18);
    await this.send(be([32, flags]));
    return greeting;
  }

  /** Sends an option and returns the first reply. */
  async option(code: number, body?: Uint8Array): Promise<RawOptionReply> {
    await this.send(optionBytes(code, body));
    return this.optionReply();
  }

  async optionReply(): Promise<RawOptionReply> {
    const head = await this.read(20);
    if (head.readBigUInt64BE(0) !== 0x3e889045565a9n) throw new Error('bad option reply magic');
    const body = await this.read(head.readUInt32BE(16));
    return { code: head.readUInt32BE(8), type: head.readUInt32BE(12), body };
  }

  /** Sends a request and returns the next reply. */
  async request(
    command: number,
    offsetBytes: number | bigint,
    lengthBytes: number,
    flags = 0,
    payload?: Uint8Array,
  ): Promise<RawReply> {
    await this.send(
      requestBytes(command, 0x1122334455667788n, offsetBytes, lengthBytes, flags, payload),
    );
    return this.reply(() => (command === wire.Command.Read ? lengthBytes : 0));
  }

  /** The next reply; `readBytes` tells how much data follows a simple one that reports success. */
  async reply(readBytes: (cookie: bigint) => number = () => 0): Promise<RawReply> {
    const head = await this.read(16);
    const magic = head.readUInt32BE(0);
    const cookie = head.readBigUInt64BE(8);
    if (magic === 0x67446698) {
      const error = head.readUInt32BE(4);
      const body = await this.read(error === 0 ? readBytes(cookie) : 0);
      return { structured: false, cookie, error, type: -1, body };
    }
    if (magic !== 0x668e33ef) throw new Error('bad reply magic');
    if (head.readUInt16BE(4) !== 1) throw new Error('the chunk is not the last one');
    const type = head.readUInt16BE(6);
    const body = await this.read((await this.read(4)).readUInt32BE(0));
    const error = (type & 0x8000) !== 0 ? body.readUInt32BE(0) : 0;
    return { structured: true, cookie, error, type, body };
  }

  async send(bytes: Uint8Array): Promise<void> {
    if (this.pieceBytes === 0) {
      this.socket.write(bytes);
      return;
    }
    for (let at = 0; at < bytes.length; at += this.pieceBytes) {
      this.socket.write(bytes.subarray(at, at + this.pieceBytes));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Exactly `count` bytes; throws when the connection ends first. */
  async read(count: number): Promise<Buffer> {
    while (this.available < count) {
      if (this.closed) throw new Error('the connection has ended');
      await this.change();
    }
    const all = Buffer.concat(this.chunks);
    this.chunks = [all.subarray(count)];
    this.available = all.length - count;
    return all.subarray(0, count);
  }

  /** Waits until the server has closed; returns how many bytes came that nobody read. */
  async ended(): Promise<number> {
    while (!this.closed) await this.change();
    return this.available;
  }

  /** Goes away without a word. */
  vanish(): void {
    this.socket.destroy();
  }

  private async change(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no answer within 10 s')), ATTEMPT_MS);
      this.wake = () => {
        clearTimeout(timer);
        this.wake = null;
        resolve();
      };
    });
  }
}
