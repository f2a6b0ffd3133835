/**
 * Goal: a table is the same wherever the drive comes from.
 * Method: drives made here are saved, recorded or served, and what `bf3 dump` reads back is compared
 * with the tables of the drive itself.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Drive } from '../../../firmware/drive.ts';
import { Host } from '../../../firmware/host.ts';
import { TOY } from '../../../firmware/profiles/toy.ts';
import { ByteContent } from '../../../hal/content/byte-content.ts';
import { fileSession } from '../../../tools/debug/debug.ts';
import { Interpreter } from '../../../tools/debug/interpreter.ts';
import { attachedTable } from '../../../tools/dump/attach.ts';
import { type DumpCommandOptions, runDump } from '../../../tools/dump/dump.ts';
import { kindOfFile, openRecord, openSnapshot, runRecord } from '../../../tools/dump/open.ts';
import { DUMP_TABLES, dumpTable } from '../../../tools/dump/tables.ts';
import { NbdKind } from '../../../tools/serve/nbd/backend.ts';
import { DriveService } from '../../../tools/serve/service.ts';
import { saveSnapshot } from '../../../tools/serve/snapshot.ts';

const folder = mkdtempSync(join(tmpdir(), 'bf3-dump-'));
const file = (name: string): string => join(folder, name);

afterAll(() => rmSync(folder, { recursive: true }));

/** What `bf3 dump` prints. */
async function printed(table: string | undefined, options: DumpCommandOptions): Promise<string> {
  let text = '';
  await runDump(table, options, (piece) => {
    text += piece;
  });
  return text;
}

function expectSameTables(one: Drive, other: Drive): void {
  for (const { name } of DUMP_TABLES) {
    expect(dumpTable(one, name), name).toEqual(dumpTable(other, name));
  }
}

describe('a snapshot', () => {
  test('of tags has the tables of the drive that was saved', async () => {
    const host = new Host('toy');
    host.boot();
    for (let i = 0; i < 200; i++) host.write(8 * ((i * 37) % 5000), [i + 1, i + 2]);
    // A command that covers parts of two pages makes mixtures.
    host.write(3, [900, 901], 8);
    host.flush();
    saveSnapshot(host.drive, 'bf3', file('tags.snap'));
    expectSameTables(openSnapshot(file('tags.snap')), host.drive);
    const csv = await printed('l2p', {
      snapshot: file('tags.snap'),
      from: 37,
      count: 2,
      csv: true,
    });
    const [first, second] = dumpTable(host.drive, 'l2p', { from: 37, count: 2 }).rows;
    expect(csv).toBe(`lpn,cell,where\n${first!.join(',')}\n${second!.join(',')}\n`);
  });

  test('of bytes is one, too, and can be debugged', () => {
    const host = new Host('toy', { contents: (machine) => new ByteContent(4096, null, machine) });
    host.boot();
    host.writeBytes(8, new Uint8Array(8192).fill(7));
    saveSnapshot(host.drive, 'bf3', file('bytes.snap'));
    expect(kindOfFile(file('bytes.snap'))).toBe('snapshot');
    expectSameTables(openSnapshot(file('bytes.snap')), host.drive);
    const { session } = fileSession(file('bytes.snap'));
    const interpreter = new Interpreter(session, () => {});
    const at = session.ordinal;
    const { hash } = session.drive.timeline;
    interpreter.run(`step 20; back to ${at}`);
    expect([session.ordinal, session.drive.timeline.hash]).toEqual([at, hash]);
    expect(interpreter.mistakeCount).toBe(0);
  });

  test('that is damaged or none is refused in one sentence', async () => {
    writeFileSync(file('none.snap'), 'BF3SNAP\0 but then nothing that belongs there, for a while');
    const snapshot = file('none.snap');
    await expect(printed('l2p', { snapshot })).rejects.toThrow(/none\.snap: .*version/);
    await expect(printed('l2p', { snapshot: file('absent') })).rejects.toThrow(
      /cannot read .*absent: the file or its folder does not exist/,
    );
    writeFileSync(file('text.txt'), 'hello');
    expect(() => fileSession(file('text.txt'))).toThrow('neither a snapshot nor a record');
  });
});

/** Serves a toy on a socket while `use` works with it. */
async function served(
  name: string,
  use: (service: DriveService, control: string) => Promise<void>,
): Promise<void> {
  const controlPath = file(`${name}.ctl`);
  const recordPath = file(`${name}.ndjson`);
  const service = new DriveService({ profile: TOY, controlPath, recordPath });
  await service.start({ path: file(`${name}.sock`) });
  try {
    await use(service, controlPath);
  } finally {
    await service.stop();
  }
}

/** Writes pages through the served drive's own queue; resolves when they have ended. */
async function writePages(service: DriveService, first: number, count: number): Promise<void> {
  const data = Buffer.alloc(count * 4096, first + 1);
  await new Promise<void>((resolve) => {
    service.backend.submit({
      ...{ kind: NbdKind.Write, offsetBytes: first * 4096, lengthBytes: data.length, data },
      ...{ fua: true, noHole: false, extents: { push: () => true }, complete: () => resolve() },
    });
  });
}

describe('a served drive', () => {
  test('gives its tables, in pages when they are long, and its record has them again', async () => {
    let last = '';
    await served('whole', async (service, control) => {
      await writePages(service, 0, 100);
      await writePages(service, 1000, 57);
      const direct = dumpTable(service.drive, 'l2p');
      expect(direct.rows).toHaveLength(157);
      expect(await attachedTable(control, 'l2p')).toEqual(direct);
      expect(await attachedTable(control, 'l2p', {}, 25)).toEqual(direct);
      const { rows: free } = dumpTable(service.drive, 'free');
      expect((await attachedTable(control, 'free', {}, 7)).rows).toEqual(free);
      const narrowed = await attachedTable(control, 'l2p', { from: 50, count: 60 }, 25);
      expect(narrowed.rows).toEqual(direct.rows.slice(50, 110));
      last = await printed('superblocks', { attach: control, json: true });
      expect(JSON.parse(last)).toHaveLength(32);
      await expect(printed('smrt', { attach: control })).rejects.toThrow("did you mean 'smart'");
      await expect(printed('p2l', { attach: control, superblock: 99 })).rejects.toThrow('0 to 31');
    });
    const record = file('whole.ndjson');
    const recorded = openRecord(record);
    runRecord(recorded, recorded.endOrdinal);
    const { end } = recorded.source.recording;
    expect(recorded.drive.timeline.hash).toBe(end!.hash);
    expect(dumpTable(recorded.drive, 'l2p').rows).toHaveLength(157);
    const rows = JSON.parse(await printed('l2p', { record, json: true })) as unknown[];
    expect(rows).toHaveLength(157);
    expect(await printed('l2p', { record, at: 1, json: true })).toBe('[]\n');
    await expect(printed('l2p', { record, at: end!.ordinal + 1 })).rejects.toThrow(
      `the record ends at event ${end!.ordinal}`,
    );
  });

  test('gives every row of a superblock that lies across two pages', async () => {
    await served('bad', async ({ drive }, control) => {
      for (const die of [0, 2, 3]) drive.firmware.superblocks.bad.addGrown(20, die);
      const direct = dumpTable(drive, 'bad-blocks');
      expect(direct.rows).toHaveLength(3);
      expect(await attachedTable(control, 'bad-blocks', {}, 2)).toEqual(direct);
    });
  });

  test('its record can be debugged: back over the commands and forward gives the record’s end', () => {
    const { session } = fileSession(file('whole.ndjson'));
    const { end } = openRecord(file('whole.ndjson')).source.recording;
    const lines: string[] = [];
    const interpreter = new Interpreter(session, (line) => lines.push(line));
    interpreter.run(`run ordinal ${end!.ordinal}`);
    expect(session.drive.timeline.hash).toBe(end!.hash);
    interpreter.run('back transition slot; back transition die; back to 20; next slot; next die 0');
    interpreter.run(`trace on boot; run ordinal ${end!.ordinal}`);
    expect(session.drive.timeline.hash).toBe(end!.hash);
    expect(interpreter.mistakeCount, lines.join('\n')).toBe(0);
  });

  test('that is not there, or is no drive, is told apart', async () => {
    await expect(attachedTable(file('nobody'), 'l2p')).rejects.toThrow('no such socket');
    const path = file('other.sock');
    const server = createServer((socket) => socket.end('220 mail ready\n')).listen(path);
    await new Promise<void>((resolve) => server.once('listening', () => resolve()));
    await expect(attachedTable(path, 'l2p')).rejects.toThrow('does not speak the protocol');
    server.close();
  });
});

describe('the command line', () => {
  test('wants one source, one form, a known table', async () => {
    await expect(printed('l2p', {})).rejects.toThrow('say where the drive is: --attach SOCKET');
    await expect(printed('l2p', { attach: 'a', record: 'b' })).rejects.toThrow('only one of them');
    await expect(printed('l2p', { snapshot: 'a', at: 3 })).rejects.toThrow(
      '--at goes with --record',
    );
    await expect(printed('l2p', { snapshot: 'a', json: true, csv: true })).rejects.toThrow(
      'not both',
    );
    await expect(printed('tabel', {})).rejects.toThrow("no table 'tabel'");
  });

  test('without a table lists them', async () => {
    const list = JSON.parse(await printed(undefined, { json: true })) as { table: string }[];
    expect(list.map(({ table }) => table)).toEqual(DUMP_TABLES.map(({ name }) => name));
  });
});

test('a record that another program would have written comes apart with a sentence', () => {
  const header = { format: 'bf3-record', version: 1, profile: 'toy', seed: 'bf3', program: '0' };
  const command = { at: 5, ns: 1, op: 'write', lba: 0, sectors: 8, fua: false };
  writeFileSync(file('apart.ndjson'), `${JSON.stringify(header)}\n${JSON.stringify(command)}\n`);
  const recorded = openRecord(file('apart.ndjson'));
  expect(() => runRecord(recorded, 5)).toThrow('come apart from its record');
});
