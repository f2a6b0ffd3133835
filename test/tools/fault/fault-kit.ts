/** A control socket that knows faults only, over a list of a small drive. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { TOY } from '../../../firmware/profiles/toy.ts';
import { FaultList } from '../../../hal/faults/fault-list.ts';
import { Geometry } from '../../../hal/geometry.ts';
import { type FaultTarget, faultControl } from '../../../tools/fault/fault-control.ts';

const GEOMETRY = new Geometry(TOY.geometry);

export function newTarget(): FaultTarget {
  const limits = { geometry: GEOMETRY, dramRegions: [{ name: 'l2p', bytes: 4096 }] };
  return { faults: new FaultList(GEOMETRY, 'seed', limits), limits };
}

export class FaultServer {
  readonly folder = mkdtempSync(join(tmpdir(), 'bf3-fault-'));
  readonly path = join(this.folder, 'control');
  readonly target = newTarget();
  /** Every request line that came. */
  readonly lines: string[] = [];
  readonly #server: Server;

  private constructor(answer: (line: string, server: FaultServer) => string | null) {
    this.#server = createServer((socket) => {
      socket.on('error', () => {});
      createInterface({ input: socket }).on('line', (line) => {
        this.lines.push(line);
        const text = answer(line, this);
        if (text === null) socket.destroy();
        else socket.write(`${text}\n`);
      });
    });
  }

  static async start(answer = answered): Promise<FaultServer> {
    const server = new FaultServer(answer);
    await new Promise<void>((resolve) => server.#server.listen(server.path, resolve));
    return server;
  }

  async stop(): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function answered(line: string, { target }: FaultServer): string {
  const request = JSON.parse(line) as Record<string, unknown>;
  const { id } = request;
  try {
    return JSON.stringify({ id, result: faultControl(target, request) });
  } catch (error) {
    return JSON.stringify({ id, error: (error as Error).message });
  }
}
