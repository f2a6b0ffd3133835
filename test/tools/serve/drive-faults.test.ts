/**
 * Goal: faults and age reach a served drive from the command line, and a client sees them.
 * Method: the built program serves an image; the commands run as processes of their own, too.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Command } from '../../../tools/serve/nbd/wire.ts';
import { type ProgramRun, runBf3 } from '../../kit/bf3.ts';
import { RawNbd } from '../../kit/raw-nbd.ts';
import { type ServedProcess, started } from './served-process.ts';

const EIO = 5;
const PAGE = 4096;
let folder = '';
let image = '';
let control = '';
let served: ServedProcess | null = null;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bf3-serve-'));
  image = join(folder, 'drive.nand');
  control = join(folder, 'control');
  await serve('--drive', 'toy');
});

afterEach(async () => {
  await served?.kill();
  served = null;
  rmSync(folder, { recursive: true, force: true });
});

async function serve(...args: string[]): Promise<void> {
  const where = ['--socket', join(folder, 'nbd'), '--control', control];
  served = await started(['--image', image, ...where, ...args]);
}

async function stop(): Promise<void> {
  expect(await served!.stop('SIGTERM')).toMatchObject({ code: 0, error: '' });
  served = null;
}

/** A command line that works; what it prints. */
function done(...args: string[]): string {
  const run: ProgramRun = runBf3(args);
  expect(run).toMatchObject({ code: 0, error: '' });
  return run.out;
}

test('a fault shows at the client; lifted, the data is there again', async () => {
  const client = await RawNbd.open(join(folder, 'nbd'), { structured: false });
  const data = Buffer.alloc(64 * PAGE, 0x5a);
  expect((await client.request(Command.Write, 0, data.length, 0, data)).error).toBe(0);
  expect((await client.request(Command.Flush, 0, 0)).error).toBe(0);
  expect(done('fault', 'add', 'uncorrectable', '--attach', control)).toBe('fault 1 added\n');
  const never = ['link-crc', '--from', '999999999999', '--note', 'far away'];
  expect(done('fault', 'add', ...never, '--attach', control)).toBe('fault 2 added\n');
  expect((await client.request(Command.Read, 8 * PAGE, PAGE)).error).toBe(EIO);
  expect(done('fault', 'list', '--attach', control)).toMatch(/1 +uncorrectable .* armed +\d/);
  const report = JSON.parse(done('fault', 'report', '--attach', control, '--json'));
  expect(report.unfired).toEqual([2]);
  expect(report.faults[0]).toMatchObject({ kind: 'uncorrectable', armed: true });
  expect(report.faults[0].firedCount).toBeGreaterThan(0);
  // By its number: the protocol's own ids have long gone other ways.
  expect(done('fault', 'lift', '2', '1', '--attach', control)).toBe('2 faults lifted\n');
  expect(done('fault', 'lift', '--all', '--attach', control)).toBe('0 faults lifted\n');
  const read = await client.request(Command.Read, 0, data.length);
  expect(read.error).toBe(0);
  expect(Buffer.compare(read.body, data)).toBe(0);
  const beyond = runBf3(['fault', 'add', 'dead-die', '--die', '4', '--attach', control]);
  expect(beyond.error).toBe("bf3: --die: 4 is beyond the drive's last die 3\n");
  expect(beyond.code).toBe(2);
  client.vanish();
  await stop();
});

test('days pass through the socket and in the file, and outlast the program', async () => {
  const days = ['--days', '365', '--temp', '30'];
  expect(done('age', ...days, '--attach', control)).toBe(
    'aged by 365 days at 30 C, which is 365 days at 30 C\nits age is 365 days at 30 C\n',
  );
  const served = runBf3(['age', ...days, '--image', image]);
  expect(served.error).toMatch(/process \d+ has it open/);
  expect(served.code).toBe(1);
  await stop();
  const aged = JSON.parse(done('age', '--days', '1', '--image', image, '--json'));
  expect(aged).toEqual({ days: 1, celsius: 30, agedMinutes: 1440, minute: 366 * 1440 });
  const info = JSON.parse(done('image', 'info', image, '--json'));
  expect(info).toMatchObject({ minute: 366 * 1440, wasClean: true });
  await serve();
  const more = JSON.parse(done('age', '--days', '0', '--attach', control, '--json'));
  expect(more).toMatchObject({ agedMinutes: 0, minute: 366 * 1440 });
  await stop();
});

test.each([
  [['--days', '1'], 'say which drive: either --attach SOCKET or --image FILE'],
  [['--days', 'x', '--image', 'f'], '--days: "x"; expected a number such as 30 or 2.75'],
  [['--image', 'f'], "required option '--days <number>' not specified"],
])('age %j is a mistake', (args, sentence) => {
  const run = runBf3(['age', ...args]);
  expect(run.error).toContain(sentence);
  expect(run.code).toBe(2);
});

test('age names the option that is wrong', () => {
  const run = runBf3(['age', '--days', '1', '--temp', '200', '--attach', control]);
  expect(run.error).toBe('bf3: --temp must be a number from -65 to 150, not 200\n');
  expect(run.code).toBe(2);
});
