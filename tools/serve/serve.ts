/** Runs `bf3 serve` from the command line's options to the closing words. */

import { once } from 'node:events';
import { driveProfile } from '../cli/arguments.ts';
import { UsageError } from '../errors.ts';
import type { NbdListenTarget } from './nbd/address.ts';
import type { NbdAddress } from './nbd/server.ts';
import { DriveService } from './service.ts';
import { summaryText } from './summary.ts';

/** Options as the command line gives them. */
export interface ServeCommandOptions {
  readonly drive: string;
  readonly socket?: string;
  readonly port?: number;
  readonly host?: string;
  readonly export: string;
  readonly realtime?: boolean;
  readonly memory: number;
  readonly spillDir?: string;
  readonly control?: string;
  readonly record?: string;
  readonly seed?: string;
  readonly json?: boolean;
}

/**
 * Serves a drive until SIGINT or SIGTERM.
 * @throws UsageError and RunError as the command line deserves
 */
export async function runServe(options: ServeCommandOptions): Promise<void> {
  const target = targetOf(options);
  const profile = driveProfile(options.drive);
  const service = new DriveService({
    profile,
    memoryBytes: options.memory,
    exportName: options.export,
    realtime: options.realtime ?? false,
    ...(options.seed === undefined ? {} : { seed: options.seed }),
    ...(options.spillDir === undefined ? {} : { spillFolder: options.spillDir }),
    ...(options.control === undefined ? {} : { controlPath: options.control }),
    ...(options.record === undefined ? {} : { recordPath: options.record }),
    onNotice: (text) => process.stderr.write(`bf3: ${text}\n`),
  });
  const ended = signalled();
  const address = await service.start(target);
  process.stdout.write(
    options.json === true ? readyJson(options, address) : welcome(options, address),
  );
  await ended;
  const summary = await service.stop();
  const { stoppedBecause } = service;
  process.stdout.write(
    options.json === true
      ? `${JSON.stringify({ event: 'stopped', stoppedBecause, ...summary })}\n`
      : `\n${summaryText(summary)}`,
  );
  if (stoppedBecause !== null) process.exitCode = 1;
}

function targetOf(options: ServeCommandOptions): NbdListenTarget {
  const { socket, port, host } = options;
  if (socket !== undefined) {
    if (host !== undefined) throw new UsageError('--host goes with --port, not with --socket');
    return { path: socket };
  }
  if (port === undefined) {
    throw new UsageError('where to listen? give --socket PATH or --port N');
  }
  return host === undefined ? { port } : { port, host };
}

/** The first SIGINT or SIGTERM; a second one ends the process as usual. */
async function signalled(): Promise<void> {
  const settled = new AbortController();
  const wait = (signal: string) => once(process, signal, { signal: settled.signal });
  await Promise.race([wait('SIGINT'), wait('SIGTERM')].map((one) => one.catch(() => {})));
  settled.abort();
}

function readyJson(options: ServeCommandOptions, address: NbdAddress): string {
  const { drive, control = null, record = null } = options;
  return `${JSON.stringify({ event: 'ready', drive, ...address, control, record })}\n`;
}

function welcome(options: ServeCommandOptions, { uri }: NbdAddress): string {
  const url = `'${uri}'`;
  const lines = [
    `${options.drive} is served at ${uri}`,
    '',
    'Try:',
    `  nbdinfo ${url}`,
    `  qemu-io -f raw -c 'write -P 0x5a 0 1M' -c 'read -P 0x5a 0 1M' ${url}`,
    `  qemu-img bench -f raw -c 100000 -d 32 -s 4096 -w ${url}`,
    `  fio --name=job --ioengine=nbd --uri=${url} --rw=randwrite --bs=4k --iodepth=32 --size=64M`,
    ...attachLines(options),
  ];
  if (options.control !== undefined) {
    lines.push(`  echo '{"id":1,"cmd":"status"}' | nc -N -U ${options.control}`);
  }
  return `${lines.join('\n')}\n\nCtrl+C ends it.\n`;
}

/** How the kernel's client attaches it. */
function attachLines(options: ServeCommandOptions): string[] {
  const name = options.export === '' ? '' : ` -N '${options.export}'`;
  if (options.socket !== undefined) {
    return [`  sudo nbd-client -unix ${options.socket}${name} /dev/nbd0`];
  }
  return options.port === 0
    ? []
    : [`  sudo nbd-client ${options.host ?? '127.0.0.1'} ${options.port}${name} /dev/nbd0`];
}
