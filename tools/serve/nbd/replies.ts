import { type BufferPool, HEADROOM_BYTES, type PooledBuffer } from './buffers.ts';
import type { ExtentList, NbdRequest } from './request.ts';
import * as wire from './wire.ts';

/** Small replies gather in pieces of this size. */
const BATCH_BYTES = 256 * 1024;
/**
 * Read data up to this size is copied into the batch: cheaper than one more piece for the socket.
 */
const COPY_LIMIT_BYTES = 16 * 1024;

/** The part of a socket that replies need. */
export interface ReplySink {
  write(bytes: Uint8Array, done?: (error?: Error | null) => void): boolean;
  cork(): void;
  uncork(): void;
}

/**
 * Replies on their way to one client. They gather until `flush`, leave in one write, and while that
 * write has not been taken by the kernel the next ones gather again: so at most one write is ever
 * under way.
 */
export class Replies {
  /** Bytes of replies that the kernel has not taken yet. */
  queuedBytes = 0;
  /** Pieces that wait for the next write, in order, without the open batch. */
  private pieces: Uint8Array[] = [];
  /** Pool buffers behind `pieces`. */
  private buffers: PooledBuffer[] = [];
  /** The batch that is being filled. */
  private batch: PooledBuffer | null = null;
  private batchBytes = 0;
  private writing = false;
  private writingBytes = 0;
  private writingBuffers: PooledBuffer[] = [];
  private readonly sink: ReplySink;
  private readonly pool: BufferPool;
  private readonly onWritten: () => void;
  private readonly writeDone = (error?: Error | null): void => this.finishWrite(error);

  /** `onWritten` is called whenever a write has been taken by the kernel. */
  constructor(sink: ReplySink, pool: BufferPool, onWritten: () => void) {
    this.sink = sink;
    this.pool = pool;
    this.onWritten = onWritten;
  }

  /** Nothing waits and nothing is under way. */
  get idle(): boolean {
    return this.queuedBytes === 0;
  }

  /** Bytes of the handshake as they are. */
  raw(bytes: Uint8Array): void {
    const at = this.reserve(bytes.length);
    this.batch!.data.set(bytes, at);
  }

  /** One reply to an option; `body` at most 64 KiB. */
  option(code: number, type: wire.OptionReply, body?: Uint8Array): void {
    const at = this.reserve(wire.OPTION_REPLY_HEAD_BYTES + (body?.length ?? 0));
    const out = this.batch!.data;
    out.writeUInt32BE(wire.OPTION_REPLY_MAGIC[0], at);
    out.writeUInt32BE(wire.OPTION_REPLY_MAGIC[1], at + 4);
    out.writeUInt32BE(code, at + 8);
    out.writeUInt32BE(type, at + 12);
    out.writeUInt32BE(body?.length ?? 0, at + 16);
    if (body !== undefined) out.set(body, at + wire.OPTION_REPLY_HEAD_BYTES);
  }

  /** A simple reply without data. */
  simple(cookieHigh: number, cookieLow: number, error: number): void {
    const at = this.reserve(wire.SIMPLE_REPLY_BYTES);
    simpleHead(this.batch!.data, at, cookieHigh, cookieLow, error);
  }

  /** A structured reply that says only that the request failed. */
  errorChunk(cookieHigh: number, cookieLow: number, error: number): void {
    const at = this.reserve(wire.CHUNK_HEAD_BYTES + 6);
    const out = this.batch!.data;
    chunkHead(out, at, wire.ChunkType.Error, cookieHigh, cookieLow, 6);
    out.writeUInt32BE(error, at + wire.CHUNK_HEAD_BYTES);
    out.writeUInt16BE(0, at + wire.CHUNK_HEAD_BYTES + 4); // no message
  }

  /** The data of a read that succeeded; takes over the request's buffer. */
  readData(request: NbdRequest, structured: boolean): void {
    const buffer = request.detach()!;
    const lengthBytes = request.lengthBytes;
    const headBytes = structured ? wire.CHUNK_HEAD_BYTES + 8 : wire.SIMPLE_REPLY_BYTES;
    if (lengthBytes <= COPY_LIMIT_BYTES) {
      const at = this.reserve(headBytes + lengthBytes);
      const out = this.batch!.data;
      readHead(out, at, request, structured);
      out.set(buffer.data, at + headBytes);
      this.pool.release(buffer);
      return;
    }
    const start = HEADROOM_BYTES - headBytes;
    readHead(buffer.bytes, start, request, structured);
    this.pieces.push(buffer.bytes.subarray(start, HEADROOM_BYTES + lengthBytes));
    this.buffers.push(buffer);
    this.queuedBytes += headBytes + lengthBytes;
  }

  /** The extents of a BLOCK_STATUS request; an empty list means "all data". */
  blockStatus(request: NbdRequest, extents: ExtentList): void {
    const count = Math.max(extents.count, 1);
    const bodyBytes = 4 + 8 * count;
    const at = this.reserve(wire.CHUNK_HEAD_BYTES + bodyBytes);
    const out = this.batch!.data;
    chunkHead(
      out,
      at,
      wire.ChunkType.BlockStatus,
      request.cookieHigh,
      request.cookieLow,
      bodyBytes,
    );
    let to = out.writeUInt32BE(wire.ALLOCATION_CONTEXT_ID, at + wire.CHUNK_HEAD_BYTES);
    if (extents.count === 0) {
      to = out.writeUInt32BE(request.lengthBytes, to);
      out.writeUInt32BE(0, to);
      return;
    }
    for (let i = 0; i < 2 * count; i++) to = out.writeUInt32BE(extents.words[i]!, to);
  }

  /** Hands what has gathered to the socket, unless the previous write is still under way. */
  flush(): void {
    if (this.writing || this.queuedBytes === 0) return;
    this.sealBatch();
    const pieces = this.pieces;
    this.writing = true;
    this.writingBytes = this.queuedBytes;
    const emptied = this.writingBuffers;
    this.writingBuffers = this.buffers;
    this.buffers = emptied;
    this.pieces = [];
    if (pieces.length === 1) {
      this.sink.write(pieces[0]!, this.writeDone);
      return;
    }
    const last = pieces.length - 1;
    this.sink.cork();
    for (let i = 0; i < last; i++) this.sink.write(pieces[i]!);
    this.sink.write(pieces[last]!, this.writeDone);
    this.sink.uncork();
  }

  private finishWrite(error?: Error | null): void {
    for (const buffer of this.writingBuffers) this.pool.release(buffer);
    this.writingBuffers.length = 0;
    this.queuedBytes -= this.writingBytes;
    this.writing = false;
    // After an error the socket closes and everything still queued goes with it.
    if (error === undefined || error === null) this.onWritten();
  }

  /** Makes room for a small reply in the open batch and returns where it starts. */
  private reserve(lengthBytes: number): number {
    if (this.batchBytes + lengthBytes > BATCH_BYTES) this.sealBatch();
    this.batch ??= this.pool.take(BATCH_BYTES);
    const at = this.batchBytes;
    this.batchBytes += lengthBytes;
    this.queuedBytes += lengthBytes;
    return at;
  }

  private sealBatch(): void {
    if (this.batch === null) return;
    this.pieces.push(this.batch.data.subarray(0, this.batchBytes));
    this.buffers.push(this.batch);
    this.batch = null;
    this.batchBytes = 0;
  }
}

function simpleHead(out: Buffer, at: number, high: number, low: number, error: number): void {
  out.writeUInt32BE(wire.SIMPLE_REPLY_MAGIC, at);
  out.writeUInt32BE(error, at + 4);
  out.writeUInt32BE(high, at + 8);
  out.writeUInt32BE(low, at + 12);
}

function chunkHead(
  out: Buffer,
  at: number,
  type: wire.ChunkType,
  high: number,
  low: number,
  bodyBytes: number,
): void {
  out.writeUInt32BE(wire.CHUNK_MAGIC, at);
  out.writeUInt16BE(wire.CHUNK_FLAG_DONE, at + 4);
  out.writeUInt16BE(type, at + 6);
  out.writeUInt32BE(high, at + 8);
  out.writeUInt32BE(low, at + 12);
  out.writeUInt32BE(bodyBytes, at + 16);
}

function readHead(out: Buffer, at: number, request: NbdRequest, structured: boolean): void {
  const { cookieHigh, cookieLow, lengthBytes, offsetBytes } = request;
  if (!structured) {
    simpleHead(out, at, cookieHigh, cookieLow, 0);
    return;
  }
  chunkHead(out, at, wire.ChunkType.OffsetData, cookieHigh, cookieLow, 8 + lengthBytes);
  out.writeUInt32BE(Math.floor(offsetBytes / 2 ** 32), at + wire.CHUNK_HEAD_BYTES);
  out.writeUInt32BE(offsetBytes % 2 ** 32, at + wire.CHUNK_HEAD_BYTES + 4);
}
