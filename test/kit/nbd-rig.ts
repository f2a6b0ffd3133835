import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NbdServer, type NbdServerOptions } from '../../tools/serve/nbd/server.ts';
import { MemoryBackend } from './memory-backend.ts';
import { RawNbd } from './raw-nbd.ts';

/** A server on a Unix socket in a folder of its own, over a backend in memory. */
export class NbdRig {
  readonly backend: MemoryBackend;
  readonly server: NbdServer;
  readonly folder = mkdtempSync(join(tmpdir(), 'bf3-nbd-'));
  readonly path = join(this.folder, 'socket');
  /** Why clients were cut off. */
  readonly violations: string[] = [];
  private readonly clients: RawNbd[] = [];

  private constructor(sizeBytes: number, options: NbdServerOptions) {
    this.backend = new MemoryBackend(sizeBytes);
    this.server = new NbdServer(this.backend, {
      exportName: 'drive',
      description: 'a drive in memory',
      onViolation: (reason) => this.violations.push(reason),
      ...options,
    });
  }

  static async start(sizeBytes = 1024 * 1024, options: NbdServerOptions = {}): Promise<NbdRig> {
    const rig = new NbdRig(sizeBytes, options);
    await rig.server.listen({ path: rig.path });
    return rig;
  }

  /** A client that has not negotiated yet. */
  async connect(): Promise<RawNbd> {
    const client = await RawNbd.connect(this.path);
    this.clients.push(client);
    return client;
  }

  /** A client in transmission. */
  async open(options?: { structured?: boolean; context?: boolean }): Promise<RawNbd> {
    const client = await RawNbd.open(this.path, options);
    this.clients.push(client);
    return client;
  }

  /** Lets the event loop turn until `holds`; throws when it does not within some thousand turns. */
  async until(holds: () => boolean): Promise<void> {
    for (let turn = 0; turn < 20_000; turn++) {
      if (holds()) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error('what the test waited for did not happen');
  }

  async stop(): Promise<void> {
    for (const client of this.clients) client.vanish();
    await this.server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
