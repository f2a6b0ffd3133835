/**
 * The control socket: one JSON object a line in, one a line out, several clients.
 *
 * Answers carry the request's `id` and may come in another order. A line that is no request is
 * answered with an error; a client that sends endless lines, asks without end or does not read is
 * cut off, and none of that touches another client.
 */

import { chmodSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { RunError, UsageError } from '../errors.ts';
import { type ControlledDrive, type ControlRequest, control } from './control-commands.ts';
import { checkTarget, clearStaleSocket, listenError } from './nbd/address.ts';

const LINE_BYTES_MAX = 65_536;
const CLIENTS_MAX = 32;
/** Requests of one client under way; further input is not read until some have ended. */
const REQUESTS_MAX = 32;
/** Bytes of answers that a client may leave unread. */
const UNREAD_BYTES_MAX = 16 * 1024 * 1024;
const LINE_FEED = 0x0a;

export class ControlServer {
  readonly #target: ControlledDrive;
  readonly #clients = new Set<ControlClient>();
  #listener: Server | null = null;

  constructor(target: ControlledDrive) {
    this.#target = target;
  }

  /**
   * Listens on a Unix socket that only its owner may use.
   * @throws UsageError for an impossible path, RunError for one that cannot be had
   */
  async listen(path: string): Promise<void> {
    checkTarget({ path });
    await clearStaleSocket(path);
    const listener = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
    await new Promise<void>((resolve, reject) => {
      listener.once('error', (error) => reject(listenError({ path }, error)));
      listener.listen(path, resolve);
    });
    chmodSync(path, 0o600);
    this.#listener = listener;
  }

  /** Stops listening, which removes the socket's file, and drops all clients. */
  async close(): Promise<void> {
    const listener = this.#listener;
    this.#listener = null;
    for (const client of this.#clients) client.destroy();
    if (listener === null) return;
    await new Promise<void>((resolve) => listener.close(() => resolve()));
  }

  #accept(socket: Socket): void {
    if (this.#clients.size >= CLIENTS_MAX) {
      socket.on('error', () => {});
      socket.end(
        `${JSON.stringify({ id: null, error: `${CLIENTS_MAX} clients are connected` })}\n`,
      );
      return;
    }
    const client = new ControlClient(socket, this.#target, () => this.#clients.delete(client));
    this.#clients.add(client);
  }
}

class ControlClient {
  readonly #socket: Socket;
  readonly #target: ControlledDrive;
  /** The line that is arriving, and lines that wait for room. */
  #bytes: Buffer = Buffer.alloc(0);
  #underWay = 0;
  /** The client has sent its last byte. */
  #isComplete = false;
  /** What the client sends is not read any more. */
  #isCut = false;

  constructor(socket: Socket, target: ControlledDrive, onClosed: () => void) {
    this.#socket = socket;
    this.#target = target;
    socket.on('data', (chunk: Buffer) => this.#received(chunk));
    socket.on('end', () => {
      this.#isComplete = true;
      this.#endIfDone();
    });
    // A broken connection is followed by 'close'.
    socket.on('error', () => {});
    socket.on('close', onClosed);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #received(chunk: Buffer): void {
    if (this.#isCut) return;
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    this.#takeLines();
  }

  #takeLines(): void {
    let from = 0;
    while (this.#underWay < REQUESTS_MAX && !this.#isCut) {
      const to = this.#bytes.indexOf(LINE_FEED, from);
      const lengthBytes = (to < 0 ? this.#bytes.length : to) - from;
      if (lengthBytes > LINE_BYTES_MAX) {
        this.#answer(null, { error: `a line is longer than ${LINE_BYTES_MAX} bytes` });
        this.#isCut = true;
        break;
      }
      if (to < 0) break;
      const line = this.#bytes.toString('utf8', from, to).trim();
      from = to + 1;
      if (line !== '') this.#request(line);
    }
    this.#bytes = this.#bytes.subarray(from);
    if (this.#underWay >= REQUESTS_MAX) this.#socket.pause();
    this.#endIfDone();
  }

  #request(line: string): void {
    let request: ControlRequest;
    try {
      request = parseRequest(line);
    } catch (error) {
      this.#answer(null, { error: sentenceOf(error) });
      return;
    }
    const id = idOf(request);
    this.#underWay++;
    control(this.#target, request).then(
      (result) => this.#ended(id, { result }),
      (error: unknown) => this.#ended(id, { error: sentenceOf(error) }),
    );
  }

  #ended(id: unknown, answer: object): void {
    this.#answer(id, answer);
    this.#underWay--;
    this.#socket.resume();
    this.#takeLines();
  }

  #answer(id: unknown, answer: object): void {
    if (!this.#socket.writable) return;
    this.#socket.write(`${JSON.stringify({ id, ...answer })}\n`);
    if (this.#socket.writableLength > UNREAD_BYTES_MAX) this.#socket.destroy();
  }

  #endIfDone(): void {
    if ((this.#isComplete || this.#isCut) && this.#underWay === 0) this.#socket.end();
  }
}

function parseRequest(line: string): ControlRequest {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new UsageError('a request is one JSON object on one line');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError('a request is one JSON object on one line');
  }
  return value as ControlRequest;
}

/** An id that can go back as it came; anything else is answered as null. */
function idOf(request: ControlRequest): unknown {
  const { id } = request;
  return typeof id === 'number' || typeof id === 'string' ? id : null;
}

/** The sentence of an expected failure; another one is our mistake, and is not hidden. */
function sentenceOf(error: unknown): string {
  if (error instanceof UsageError || error instanceof RunError) return error.message;
  return `this is a bug in the emulator: ${error instanceof Error ? error.message : String(error)}`;
}
