/**
 * Goal: a served drive's flash outlasts the program, however it ends, and says what it is.
 * Method: the built program over image files, with an NBD client that writes and reads patterns; it
 * is ended, and killed in the middle of writing. Damage is made by hand in the file.
 */
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TOY } from '../../../firmware/profiles/toy.ts';
import { main } from '../../../tools/cli/main.ts';
import { openSnapshot } from '../../../tools/dump/open.ts';
import { dumpTable } from '../../../tools/dump/tables.ts';
import { RunError } from '../../../tools/errors.ts';
import { DriveImage } from '../../../tools/image/drive-image.ts';
import { PageState } from '../../../tools/image/format.ts';
import { ImageFile } from '../../../tools/image/image-file.ts';
import { SlotValues } from '../../../tools/image/page-records.ts';
import { verifyImage } from '../../../tools/image/verify.ts';
import { withControl } from '../../../tools/serve/control-client.ts';
import { NbdError, NbdKind } from '../../../tools/serve/nbd/backend.ts';
import { Command } from '../../../tools/serve/nbd/wire.ts';
import { readRecord } from '../../../tools/serve/record.ts';
import { runBf3 } from '../../kit/bf3.ts';
import { RawNbd } from '../../kit/raw-nbd.ts';
import { HandRequest, ServedToy } from './drive-kit.ts';
import { type ServedProcess, started } from './served-process.ts';

const EIO = 5;
const PAGE = 4096;
let folder = '';
let image = '';
let served: ServedProcess | null = null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bf3-serve-'));
  image = join(folder, 'drive.nand');
});

afterEach(async () => {
  await served?.kill();
  served = null;
  rmSync(folder, { recursive: true, force: true });
});

async function serve(...args: string[]): Promise<ServedProcess> {
  const socket = join(folder, 'nbd');
  rmSync(socket, { force: true });
  served = await started(['--image', image, '--socket', socket, ...args]);
  return served;
}

async function stop(signal?: NodeJS.Signals): Promise<Awaited<ReturnType<ServedProcess['stop']>>> {
  const result = await served!.stop(signal);
  served = null;
  return result;
}

function connected(): Promise<RawNbd> {
  return RawNbd.open(join(folder, 'nbd'), { structured: false });
}

function pattern(page: number, round: number): Buffer {
  const bytes = Buffer.alloc(PAGE, (page * 7 + round) & 0xff);
  bytes.writeUInt32LE(page, 0);
  bytes.writeUInt32LE(round, PAGE - 4);
  return bytes;
}

async function refused(...args: string[]): Promise<{ code: number; error: string }> {
  let error = '';
  const code = await main(['serve', ...args], undefined, {
    out: () => {},
    error: (text) => {
      error += text;
    },
  });
  return { code, error };
}

describe('a drive in an image', () => {
  test('has after a restart what was written before, and what it was', async () => {
    const { ready } = await serve('--drive', 'toy', '--seed', 'one');
    expect(ready).toMatchObject({ event: 'ready', drive: 'toy', image });
    let client = await connected();
    for (let page = 0; page < 900; page++) {
      const { error } = await client.request(Command.Write, page * PAGE, PAGE, 0, pattern(page, 1));
      if (error !== 0) throw new Error(`page ${page}: error ${error}`);
    }
    expect(await client.request(Command.Trim, 100 * PAGE, PAGE)).toMatchObject({ error: 0 });
    client.vanish();
    expect(await stop('SIGTERM')).toMatchObject({
      ...{ code: 0, error: '', last: { stoppedBecause: null, image, spilledPages: 0 } },
    });
    expect(existsSync(`${image}.lock`)).toBe(false);

    await serve();
    client = await connected();
    const wrong: number[] = [];
    for (let page = 0; page < 901; page++) {
      const { body } = await client.request(Command.Read, page * PAGE, PAGE);
      const isEmpty = page === 100 || page === 900;
      const wanted = isEmpty ? Buffer.alloc(PAGE) : pattern(page, 1);
      if (Buffer.compare(body, wanted) !== 0) wrong.push(page);
    }
    expect(wrong).toEqual([]);
    client.vanish();
    expect(await stop()).toMatchObject({ code: 0, error: '' });
    expect(runBf3(['image', 'verify', image])).toMatchObject({ code: 0, error: '' });
    const info = JSON.parse(runBf3(['image', 'info', image, '--json']).out) as object;
    expect(info).toMatchObject({
      ...{ wasClean: true, openings: 2, header: { profile: 'toy', seed: 'one' } },
    });
  });

  test('killed while it is written has no damage; the next server says what it does', async () => {
    await serve('--drive', 'toy', '--memory', '1M');
    const client = await connected();
    let answered = 0;
    const writing = (async () => {
      for (let page = 0; !client.closed; page = (page + 997) % 5000, answered++) {
        await client.request(Command.Write, page * PAGE, PAGE, 0, pattern(page, answered));
      }
    })().catch(() => {});
    while (answered < 3000) await new Promise((resolve) => setTimeout(resolve, 1));
    await served!.kill();
    await writing;
    const verified = runBf3(['image', 'verify', image]);
    expect(verified.out).toContain('the image was not closed by the program that wrote it');
    expect(verified.out).toMatch(/\nno damage\n$/);
    expect(verified.code).toBe(0);

    const { complaints } = await serve();
    expect(complaints()).toMatch(/took over the lock .* of process \d+, which is gone\n/);
    expect(complaints()).toMatch(/was not closed \(\d+ pages in the middle of a program, 0 blocks/);
    expect(complaints()).toContain(
      'the drive lost power while it was in use and refuses its media',
    );
    const again = await connected();
    const errors = [
      await again.request(Command.Read, 0, PAGE),
      await again.request(Command.Write, 0, PAGE, 0, pattern(0, 0)),
      await again.request(Command.Flush, 0, 0),
    ].map(({ error }) => error);
    expect(errors).toEqual([EIO, EIO, EIO]);
    again.vanish();
    expect(await stop()).toMatchObject({ code: 0, last: { stoppedBecause: null, failed: 3 } });
  });

  test('is open once; a second server names the first', async () => {
    const { child } = await serve('--drive', 'toy');
    const other = join(folder, 'other');
    // One file has one lock, whatever name leads to it.
    symlinkSync(image, other);
    for (const path of [image, other]) {
      const { code, error } = await refused('--image', path, '--port', '0');
      expect(error).toContain(`process ${child.pid} has it open; end it, or use another image`);
      expect(code).toBe(1);
    }
  });
});

describe('mistakes', () => {
  const HEADER = { profile: TOY, seed: 'bf3' };

  test.each([
    [['--drive', 'vector-256'], 2, 'is the flash of a toy; leave --drive out'],
    [['--seed', 'two'], 2, 'has "bf3"; leave --seed out: it belongs to the flash'],
    [['--record', 'run'], 2, '--record goes with a new image, and'],
    [['--spill-dir', '/no/such'], 1, 'cannot make a spill file'],
  ])('%j', async (args, exitCode, sentence) => {
    DriveImage.open(image, {}, HEADER).close();
    const { code, error } = await refused('--image', image, '--port', '0', ...args);
    expect(error).toContain(sentence);
    expect(code).toBe(exitCode);
    // It was given back as it was.
    const { wasClean, openings } = ImageFile.open(image, { readOnly: true });
    expect([wasClean, existsSync(`${image}.lock`)]).toEqual([true, false]);
    expect(openings).toBeLessThanOrEqual(2);
  });

  test.each([
    ['foreign', (file: Buffer) => file.fill(0x41, 0, 8), "it does not begin with 'BF3NAND'"],
    ['of another version', (file: Buffer) => file.fill(9, 8, 9), 'the image has version 9'],
    ['cut', (file: Buffer) => file.subarray(0, 1_000_000), 'byte 1000000: the image is cut short'],
    ['empty', (file: Buffer) => file.subarray(0, 0), 'this is no image: it has 0 bytes'],
  ])('a file that is %s', async (_, change, sentence) => {
    DriveImage.open(image, {}, HEADER).close();
    writeFileSync(image, change(readFileSync(image)));
    const { code, error } = await refused('--image', image, '--port', '0');
    expect(error).toContain(sentence);
    expect(code).toBe(1);
  });

  test.each([
    ['/no/such/drive.nand', '/no/such/drive.nand.lock: no such file or folder'],
    ['/tmp', 'this is no regular file; an image is one'],
    ['/proc/drive.nand', 'cannot make the lock /proc/drive.nand.lock'],
  ])('%s', async (path, sentence) => {
    const { code, error } = await refused('--image', path, '--drive', 'toy', '--port', '0');
    expect(error).toContain(sentence);
    expect(code).toBe(1);
  });
});

describe('in this process', () => {
  const options = (path: string) => ({
    image: DriveImage.open(path, {}, { profile: TOY, seed: 'bf3' }),
    controlPath: join(folder, 'control'),
  });

  test('a snapshot holds the pages that lie in the image, unless they are too many', async () => {
    const toy = await ServedToy.start(() => options(image));
    const data = Buffer.concat(Array.from({ length: 300 }, (_, page) => pattern(page, 3)));
    toy.run(new HandRequest(NbdKind.Write, 0, data.length, { data }));
    toy.run(new HandRequest(NbdKind.Flush, 0, 0));
    const snapshot = join(folder, 'snap');
    await withControl(join(folder, 'control'), async (client) => {
      expect(await client.ask({ cmd: 'save', path: snapshot })).toMatchObject({ path: snapshot });
    });
    const drive = openSnapshot(snapshot);
    for (const table of ['l2p', 'superblocks']) {
      expect(dumpTable(drive, table)).toEqual(dumpTable(toy.service.drive, table));
    }
    const { store } = drive.array;
    const held = drive.contents.bytesOf(store.contentOf(drive.l2p.values[17]! - 1));
    expect(Buffer.compare(held, pattern(17, 3))).toBe(0);
    await toy.stop();

    const small = await ServedToy.start(() => ({ ...options(image), memoryBytes: 2 ** 20 }));
    await withControl(join(folder, 'control'), async (client) => {
      await expect(client.ask({ cmd: 'save', path: snapshot })).rejects.toThrow(
        /^no snapshot: it would hold 1\.23 MB, .* end the server and copy .*drive\.nand$/,
      );
    });
    // What is bounded can still be read, from the image.
    const read = new HandRequest(NbdKind.Read, 0, data.length);
    expect(small.run(read).error).toBe(NbdError.Ok);
    expect(Buffer.compare(read.data, data)).toBe(0);
    expect(await small.stop()).toMatchObject({ spilledPages: 0 });
  });

  test('whatever a client was told is in the file, were the program killed then', async () => {
    const toy = await ServedToy.start(() => options(image));
    const missing: number[] = [];
    for (let page = 0; page < 40; page++) {
      const data = Buffer.concat([pattern(page, 1), pattern(page + 1, 1)]);
      const request = new HandRequest(NbdKind.Write, page * PAGE, 2 * PAGE, { data, fua: true });
      const { complete } = request;
      request.complete = (error) => {
        complete.call(request, error);
        const copy = join(folder, `copy${page}.nand`);
        copyFileSync(image, copy);
        const file = ImageFile.open(copy, { readOnly: true });
        const slot = toy.service.drive.l2p.values[page]! - 1;
        if (file.readRecord(slot, new SlotValues()) !== PageState.Programmed) missing.push(page);
        file.close();
        rmSync(copy);
      };
      expect(toy.run(request).error).toBe(NbdError.Ok);
    }
    expect(missing).toEqual([]);
    await toy.stop();
  });

  test('what could not be written into the file is not answered as done', async () => {
    const opened = options(image);
    const toy = await ServedToy.start(() => opened);
    opened.image.flush = () => {
      throw new RunError('no space left on the device');
    };
    const data = pattern(1, 1);
    const write = new HandRequest(NbdKind.Write, 0, PAGE, { data, fua: true });
    expect(toy.run(write).error).toBe(NbdError.Io);
    expect(toy.service.stoppedBecause).toBe('no space left on the device');
    await toy.stop();
  });

  test('a record names its new image, and keeps what it cannot hold away', async () => {
    const record = join(folder, 'run');
    const toy = await ServedToy.start(() => ({ ...options(image), recordPath: record }));
    toy.run(new HandRequest(NbdKind.Write, 0, PAGE, { data: pattern(0, 1) }));
    await withControl(join(folder, 'control'), async (client) => {
      const fault = { cmd: 'fault.add', faults: [{ kind: 'uncorrectable' }] };
      for (const request of [fault, { cmd: 'age', days: 1 }, { cmd: 'temperature', celsius: 9 }]) {
        await expect(client.ask(request)).rejects.toThrow('a record holds host commands only');
      }
      expect(await client.ask({ ...fault, check: true })).toMatchObject({ count: 1 });
      expect(await client.ask({ cmd: 'fault.list' })).toEqual({ faults: [] });
    });
    await toy.stop();
    expect(readRecord(record).commands.length).toBeGreaterThan(1);
    expect(readFileSync(record, 'utf8').split('\n')[0]).toContain(`"image":"${image}"`);
  });

  test('a page that the file has lost fails its reads, and nothing else', async () => {
    const first = await ServedToy.start(() => options(image));
    const data = Buffer.concat([pattern(0, 1), pattern(1, 1)]);
    first.run(new HandRequest(NbdKind.Write, 0, data.length, { data }));
    first.run(new HandRequest(NbdKind.Flush, 0, 0));
    const slot = first.service.drive.l2p.values[0]! - 1;
    await first.stop();
    const file = readFileSync(image);
    file[ImageFile.open(image, { readOnly: true }).layout.slotDataAt(slot) + 99]! ^= 1;
    writeFileSync(image, file);
    const second = await ServedToy.start(() => options(image));
    const lost = second.run(new HandRequest(NbdKind.Read, 0, PAGE));
    const whole = second.run(new HandRequest(NbdKind.Read, PAGE, PAGE));
    expect([lost.error, whole.error]).toEqual([NbdError.Io, NbdError.Ok]);
    expect(Buffer.compare(whole.data, pattern(1, 1))).toBe(0);
    expect(second.notices).toEqual([expect.stringMatching(/^a read failed: .*checksum$/)]);
    await second.stop();
    expect(verifyImage(ImageFile.open(image, { readOnly: true })).damage).toHaveLength(1);
  });
});
