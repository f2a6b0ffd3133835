import { existsSync, lstatSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { RunError, UsageError } from '../../errors.ts';

/**
 * Where to listen: a Unix socket, or a TCP port (0 picks a free one) on an address of this machine.
 */
export type NbdListenTarget = { readonly path: string } | NbdPort;

export interface NbdPort {
  readonly port: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
}

/** `sun_path` of unix(7) has 108 bytes with the final zero. */
const MAX_SOCKET_PATH_BYTES = 107;

/** Refuses what `listen` could not use. Throws `UsageError`. */
export function checkTarget(target: NbdListenTarget): void {
  if ('path' in target) {
    const lengthBytes = Buffer.byteLength(target.path);
    if (lengthBytes === 0 || target.path.includes('\0')) {
      throw new UsageError('the path of a socket must not be empty or hold a zero byte');
    }
    if (lengthBytes > MAX_SOCKET_PATH_BYTES) {
      throw new UsageError(
        `socket path ${target.path} has ${lengthBytes} bytes; ` +
          `the system allows ${MAX_SOCKET_PATH_BYTES}`,
      );
    }
    return;
  }
  if (!Number.isInteger(target.port) || target.port < 0 || target.port > 65535) {
    throw new UsageError(`port ${target.port} is not a whole number from 0 to 65535`);
  }
}

/** The URI that NBD clients take (NetworkBlockDevice, doc/uri.md). */
export function nbdUri(
  target: { path: string } | { host: string; port: number },
  name = '',
): string {
  const exportName = encodeURIComponent(name);
  if ('path' in target) {
    const path = target.path.split('/').map(encodeURIComponent).join('/');
    return `nbd+unix:///${exportName}?socket=${path}`;
  }
  const host = target.host.includes(':') ? `[${target.host}]` : target.host;
  return `nbd://${host}:${target.port}/${exportName}`;
}

/**
 * Makes way for a socket at `path`: a socket file that nobody listens on is removed. Throws
 * `RunError` when a server answers there or when the file is no socket.
 */
export async function clearStaleSocket(path: string): Promise<void> {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isSocket()) {
    throw new RunError(`${path} exists and is not a socket: choose another path or remove it`);
  }
  const code = await probeSocket(path);
  if (code === '') {
    throw new RunError(
      `${path} is in use by another server: stop that server or choose another path`,
    );
  }
  if (code === 'ENOENT') return;
  if (code !== 'ECONNREFUSED') {
    throw new RunError(`${path} exists and cannot be tried (${code}): choose another path`);
  }
  try {
    rmSync(path, { force: true });
  } catch (error) {
    throw new RunError(`${path} is left over and cannot be removed (${codeOf(error)})`);
  }
}

/** The sentence for a `listen` that failed. */
export function listenError(target: NbdListenTarget, error: unknown): RunError {
  const code = codeOf(error);
  const where = 'path' in target ? target.path : `${target.host}:${target.port}`;
  if (code === 'EADDRINUSE') {
    return new RunError(
      `${where} is in use: stop the program that listens there or choose another`,
    );
  }
  // A missing directory is reported as EACCES, too (libuv).
  if ('path' in target && !existsSync(dirname(target.path))) {
    return new RunError(`cannot listen on ${where}: its directory does not exist`);
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return new RunError(`no permission to listen on ${where}`);
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new RunError(`cannot listen on ${where}: this machine has no such address`);
  }
  return new RunError(`cannot listen on ${where} (${code})`);
}

/** The error code of a connection attempt; empty when somebody answered. */
function probeSocket(path: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve('');
    });
    socket.once('error', (error) => resolve(codeOf(error)));
  });
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : String(error);
}
