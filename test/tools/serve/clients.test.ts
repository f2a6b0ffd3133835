import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NbdServer } from '../../../tools/serve/nbd/server.ts';
import { CompletionMode, MemoryBackend } from '../../kit/memory-backend.ts';
import { describeRealClients, type ServedDrive } from '../../kit/real-clients.ts';

const MIB = 1024 * 1024;

async function start(where: 'unix' | 'tcp', mode: CompletionMode): Promise<ServedDrive> {
  const backend = new MemoryBackend(64 * MIB);
  backend.mode = mode;
  // Last in, first out within a turn: the harshest order that is still deterministic.
  backend.pick = (count) => count - 1;
  const server = new NbdServer(backend, { exportName: 'bf3', description: 'in memory' });
  const folder = mkdtempSync(join(tmpdir(), 'bf3-nbd-'));
  const address = await server.listen(
    where === 'unix' ? { path: join(folder, 'socket') } : { port: 0 },
  );
  return {
    uri: address.uri,
    sizeBytes: backend.sizeBytes,
    reportsHoles: true,
    workBytes: 16 * MIB,
    stop: async () => {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

describeRealClients('memory, Unix socket, answers at once', () =>
  start('unix', CompletionMode.AtOnce),
);
describeRealClients('memory, TCP, answers late and in reverse', () =>
  start('tcp', CompletionMode.Shuffled),
);
