import { createServer, type Server, type Socket } from 'node:net';
import { RunError } from '../../errors.ts';
import {
  checkTarget,
  clearStaleSocket,
  listenError,
  type NbdListenTarget,
  nbdUri,
} from './address.ts';
import type { NbdBackend } from './backend.ts';
import { BufferPool } from './buffers.ts';
import { Connection, type ConnectionContext } from './connection.ts';
import { createStats, type NbdStats } from './stats.ts';
import * as wire from './wire.ts';

/** Idle buffers that a server keeps, all clients together. */
const MAX_FREE_BUFFER_BYTES = 64 * 1024 * 1024;
const DEFAULT_MAX_CONNECTIONS = 64;
const DEFAULT_HANDSHAKE_TIMEOUT_MS = 30_000;
const DEFAULT_CLOSE_TIMEOUT_MS = 2_000;

/** Options of a server; all have defaults. */
export interface NbdServerOptions {
  /** Name of the export beside the default "". At most 4096 bytes of UTF-8. Default "". */
  readonly exportName?: string;
  /** Shown by clients that list exports. At most 4096 bytes of UTF-8. Default "". */
  readonly description?: string;
  /** Clients at once; further ones are turned away. Default 64. */
  readonly maxConnections?: number;
  /** A client that has not finished its negotiation after this time is cut off. Default 30 s. */
  readonly handshakeTimeoutMs?: number;
  /** How long `close` waits for requests that are under way. Default 2 s. */
  readonly closeTimeoutMs?: number;
  /** Told the number of clients whenever it changes. */
  readonly onConnections?: (count: number) => void;
  /** Told why a client was cut off: one sentence. */
  readonly onViolation?: (reason: string) => void;
}

/** Where a server listens. */
export interface NbdAddress {
  /** What clients take, for example `nbd://127.0.0.1:10809/`. */
  readonly uri: string;
  /** The Unix socket, or null. */
  readonly path: string | null;
  /** The TCP host and port, or null. */
  readonly host: string | null;
  readonly port: number | null;
}

/** Serves one block device to many NBD clients. */
export class NbdServer {
  /** Counts since the start. */
  readonly stats: NbdStats = createStats();
  private readonly listeners: Server[] = [];
  private readonly connections = new Set<Connection>();
  private readonly options: NbdServerOptions;
  private readonly context: ConnectionContext;
  private closing: Promise<void> | null = null;
  /** Wakes `close` when the last client has gone. */
  private onEmpty: (() => void) | null = null;

  /** Throws `RunError` for a size or a name that the protocol cannot carry. */
  constructor(backend: NbdBackend, options: NbdServerOptions = {}) {
    checkSize(backend.sizeBytes);
    const name = checkText('the export name', options.exportName ?? '');
    const description = checkText('the export description', options.description ?? '');
    this.options = options;
    this.context = {
      backend,
      nbdExport: { name, description, sizeBytes: backend.sizeBytes, flags: exportFlags(backend) },
      pool: new BufferPool(MAX_FREE_BUFFER_BYTES),
      stats: this.stats,
      handshakeTimeoutMs: options.handshakeTimeoutMs ?? DEFAULT_HANDSHAKE_TIMEOUT_MS,
      onClosed: (connection) => this.forget(connection),
      onViolation: (reason) => options.onViolation?.(reason),
    };
  }

  /**
   * Starts listening; may be called again for a second address. A Unix socket file that nobody
   * listens on is replaced. Throws `UsageError` for an impossible address and `RunError` for one
   * that cannot be had.
   */
  async listen(target: NbdListenTarget): Promise<NbdAddress> {
    checkTarget(target);
    if (this.closing !== null) throw new RunError('the NBD server has been closed');
    const where =
      'path' in target ? target : { port: target.port, host: target.host ?? '127.0.0.1' };
    if ('path' in where) await clearStaleSocket(where.path);
    const listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      this.accept(socket),
    );
    await new Promise<void>((resolve, reject) => {
      listener.on('error', (error) => reject(listenError(where, error)));
      listener.listen(where, resolve);
    });
    this.listeners.push(listener);
    const name = this.context.nbdExport.name;
    if ('path' in where) {
      return { uri: nbdUri(where, name), path: where.path, host: null, port: null };
    }
    const bound = listener.address();
    const port = bound !== null && typeof bound === 'object' ? bound.port : where.port;
    return { uri: nbdUri({ host: where.host, port }, name), path: null, host: where.host, port };
  }

  /**
   * Stops listening (socket files are removed), lets requests that are under way finish within
   * `closeTimeoutMs`, and closes all connections.
   */
  close(): Promise<void> {
    this.closing ??= this.shutDown();
    return this.closing;
  }

  private async shutDown(): Promise<void> {
    // Node removes the file of a Unix socket when its listener closes.
    const closed = this.listeners.map(
      (listener) => new Promise<void>((resolve) => listener.close(() => resolve())),
    );
    for (const connection of this.connections) connection.beginClosing();
    if (this.connections.size > 0) {
      const timer = setTimeout(() => {
        for (const connection of this.connections) connection.destroy();
      }, this.options.closeTimeoutMs ?? DEFAULT_CLOSE_TIMEOUT_MS);
      await new Promise<void>((resolve) => {
        this.onEmpty = resolve;
      });
      clearTimeout(timer);
    }
    await Promise.all(closed);
  }

  private accept(socket: Socket): void {
    const limit = this.options.maxConnections ?? DEFAULT_MAX_CONNECTIONS;
    if (this.closing !== null || this.connections.size >= limit) {
      this.stats.refusedConnections++;
      socket.destroy();
      return;
    }
    this.stats.acceptedConnections++;
    this.connections.add(new Connection(socket, this.context));
    this.countConnections();
  }

  private forget(connection: Connection): void {
    this.connections.delete(connection);
    this.countConnections();
    if (this.connections.size === 0) this.onEmpty?.();
  }

  private countConnections(): void {
    this.stats.connections = this.connections.size;
    this.options.onConnections?.(this.connections.size);
  }
}

function exportFlags(backend: NbdBackend): number {
  const { TransmissionFlag: Flag } = wire;
  const always = Flag.HasFlags | Flag.SendFlush | Flag.CanMultiConn;
  if (backend.readOnly === true) return always | Flag.ReadOnly;
  return always | Flag.SendFua | Flag.SendTrim | Flag.SendWriteZeroes | Flag.SendFastZero;
}

function checkSize(sizeBytes: number): void {
  if (Number.isSafeInteger(sizeBytes) && sizeBytes > 0 && sizeBytes % wire.MIN_BLOCK_BYTES === 0) {
    return;
  }
  throw new RunError(
    `a device of ${sizeBytes} bytes cannot be served: the size must be a positive multiple of 512`,
  );
}

function checkText(what: string, text: string): string {
  if (Buffer.byteLength(text) <= wire.MAX_NAME_BYTES) return text;
  throw new RunError(`${what} is longer than ${wire.MAX_NAME_BYTES} bytes`);
}
