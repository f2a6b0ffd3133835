/** Runs `bf3 serve` from the command line's options to the closing words. */

import { once } from 'node:events';
import type { DriveProfile } from '../../hal/profile.ts';
import { driveProfile } from '../cli/arguments.ts';
import { UsageError } from '../errors.ts';
import { DriveImage } from '../image/drive-image.ts';
import type { NbdListenTarget } from './nbd/address.ts';
import type { NbdAddress } from './nbd/server.ts';
import { DriveService, type ServeOptions } from './service.ts';
import { summaryText } from './summary.ts';

/** Options as the command line gives them. */
export interface ServeCommandOptions {
  readonly drive?: string;
  readonly image?: string;
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
  // Before anything is opened: a signal that comes early ends it as cleanly as a late one.
  const signal = new StopSignal();
  try {
    const service = serviceOf(options);
    const address = await service.start(target);
    process.stdout.write(
      options.json === true
        ? readyJson(options, service, address)
        : welcome(options, service.drive.profile.id, address),
    );
    await signal.came;
    await stop(service, options);
  } finally {
    signal.forget();
  }
}

async function stop(service: DriveService, options: ServeCommandOptions): Promise<void> {
  const { json, image = null } = options;
  const summary = await service.stop();
  const { stoppedBecause } = service;
  process.stdout.write(
    json === true
      ? `${JSON.stringify({ event: 'stopped', stoppedBecause, image, ...summary })}\n`
      : `\n${summaryText(summary)}`,
  );
  if (stoppedBecause !== null) process.exitCode = 1;
}

/** What is served when neither the command line nor an image says it. */
const STANDARD_DRIVE = 'vector-256';
const STANDARD_SEED = 'bf3';

/** Builds the drive; with an image, out of it. */
function serviceOf(options: ServeCommandOptions): DriveService {
  const profile = options.drive === undefined ? undefined : driveProfile(options.drive);
  const image = imageOf(options, profile);
  try {
    if (image !== null && !image.isNew && options.record !== undefined) {
      const why = 'a record begins with an empty drive, or it could not be replayed';
      throw new UsageError(`--record goes with a new image, and ${options.image} exists: ${why}`);
    }
    return new DriveService(serveOptions(options, profile, image));
  } catch (error) {
    image?.close();
    throw error;
  }
}

function imageOf(
  { image, seed }: ServeCommandOptions,
  profile: DriveProfile | undefined,
): DriveImage | null {
  if (image === undefined) return null;
  const wanted = {
    ...(profile === undefined ? {} : { profile }),
    ...(seed === undefined ? {} : { seed }),
  };
  const standard = { profile: driveProfile(STANDARD_DRIVE), seed: STANDARD_SEED };
  return DriveImage.open(image, wanted, standard);
}

function serveOptions(
  options: ServeCommandOptions,
  profile: DriveProfile | undefined,
  image: DriveImage | null,
): ServeOptions {
  return {
    profile: image?.profile ?? profile ?? driveProfile(STANDARD_DRIVE),
    seed: image?.seed ?? options.seed ?? STANDARD_SEED,
    memoryBytes: options.memory,
    exportName: options.export,
    realtime: options.realtime ?? false,
    ...(image === null ? {} : { image }),
    ...(options.spillDir === undefined ? {} : { spillFolder: options.spillDir }),
    ...(options.control === undefined ? {} : { controlPath: options.control }),
    ...(options.record === undefined ? {} : { recordPath: options.record }),
    onNotice: (text) => process.stderr.write(`bf3: ${text}\n`),
  };
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
class StopSignal {
  readonly came: Promise<void>;
  readonly #settled = new AbortController();

  constructor() {
    const { signal } = this.#settled;
    const wait = (name: string) => once(process, name, { signal }).catch(() => {});
    this.came = Promise.race(['SIGINT', 'SIGTERM'].map(wait)).then(() => this.forget());
  }

  forget(): void {
    this.#settled.abort();
  }
}

function readyJson(
  options: ServeCommandOptions,
  service: DriveService,
  address: NbdAddress,
): string {
  const { control = null, record = null, image = null } = options;
  const drive = service.drive.profile.id;
  return `${JSON.stringify({ event: 'ready', drive, ...address, control, record, image })}\n`;
}

function welcome(options: ServeCommandOptions, drive: string, { uri }: NbdAddress): string {
  const url = `'${uri}'`;
  const kept = options.image === undefined ? '' : `, kept in ${options.image}`;
  const lines = [
    `${drive} is served at ${uri}${kept}`,
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
