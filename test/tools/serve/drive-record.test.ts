/**
 * Goal: a recorded run is the same run again, event for event, on a drive without the data.
 * Method: random requests with pauses, recorded, then replayed; rolling hashes are compared.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Drive } from '../../../firmware/drive.ts';
import { TOY } from '../../../firmware/profiles/toy.ts';
import { History } from '../../../hal/sim/history.ts';
import { RandomStream } from '../../../hal/sim/random.ts';
import { NbdKind } from '../../../tools/serve/nbd/backend.ts';
import { type Recording, readRecord } from '../../../tools/serve/record.ts';
import { ReplaySource } from '../../../tools/serve/replay-source.ts';
import { HandRequest, ServedToy } from './drive-kit.ts';

const KINDS = [
  ...[NbdKind.Read, NbdKind.Write, NbdKind.Write, NbdKind.Write],
  ...[NbdKind.Trim, NbdKind.WriteZeroes, NbdKind.Flush],
];

let folder = '';
let path = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bf3-record-'));
  path = join(folder, 'run.ndjson');
  const toy = await ServedToy.start(() => ({ recordPath: path, seed: 'again' }));
  const random = new RandomStream('record', 'test.requests');
  for (let batch = 0; batch < 120; batch++) {
    for (let i = random.below(24); i >= 0; i--) {
      const kind = KINDS[random.below(KINDS.length)]!;
      const sector = random.below(5120 * 8 - 400);
      const length = kind === NbdKind.Flush ? 0 : (1 + random.below(400)) * 512;
      const offset = kind === NbdKind.Flush ? 0 : sector * 512;
      toy.submit(new HandRequest(kind, offset, length, { fua: random.below(4) === 0 }));
    }
    // Some batches meet a busy drive, some come after a pause, some while the drive works idly.
    if (random.below(3) > 0) toy.clock.settle();
    if (random.below(3) === 0) toy.clock.pass(random.below(40));
    if (random.below(4) === 0 && toy.clock.timer !== null) {
      toy.clock.ring();
      toy.clock.settle();
    }
  }
  toy.clock.settle();
  await toy.stop();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function replayed(recording: Recording): { drive: Drive; source: ReplaySource } {
  const source = new ReplaySource(recording);
  const { seed } = recording.header;
  const drive = new Drive(TOY, { seed, source: () => source });
  source.attach(drive);
  drive.powerOn();
  return { drive, source };
}

describe('record and replay', () => {
  test('the replay on a drive of tags ends at the recorded event, instant and hash', () => {
    const recording = readRecord(path);
    expect(recording.header).toMatchObject({ profile: 'toy', seed: 'again' });
    expect(recording.commands.length).toBeGreaterThan(1000);
    const { drive, source } = replayed(recording);
    source.run();
    const { ordinal, nowNs, hash } = drive.timeline;
    expect({ ordinal, ns: nowNs, hash }).toEqual(recording.end);
    expect(source.givenCount).toBe(recording.commands.length);
    expect(source.failedCount).toBe(0);
  });

  test('a history that goes back and forth gives the commands again', () => {
    const recording = readRecord(path);
    const { drive, source } = replayed(recording);
    const last = recording.end!.ordinal;
    const history = new History(drive.machine, { intervalEvents: 5000, inputs: source });
    history.goTo(last);
    expect(drive.timeline.hash).toBe(recording.end!.hash);
    history.goTo(Math.floor(last / 3));
    expect(source.givenCount).toBeLessThan(recording.commands.length);
    history.goTo(last);
    expect(drive.timeline.hash).toBe(recording.end!.hash);
    history.stop();
  });

  test('one command less and the hash is another: the comparison means something', () => {
    const recording = readRecord(path);
    const commands = recording.commands.filter((_, index) => index !== 500);
    const { drive, source } = replayed({ ...recording, commands, end: null });
    expect(() => {
      source.run();
      if (drive.timeline.hash !== recording.end!.hash) throw new Error('another hash');
    }).toThrow();
  });

  test('a record that was cut off anywhere is its readable prefix', () => {
    const whole = readRecord(path);
    const text = readFileSync(path);
    const cut = join(folder, 'cut.ndjson');
    for (const share of [0.3, 0.61, 0.999]) {
      writeFileSync(cut, text.subarray(0, Math.floor(text.length * share)));
      const { commands, end } = readRecord(cut);
      expect(end).toBeNull();
      expect(commands).toEqual(whole.commands.slice(0, commands.length));
      expect(commands.length).toBeGreaterThan(0);
    }
  });
});

describe('what is no record', () => {
  const HEADER = '{"format":"bf3-record","version":1,"profile":"toy","seed":"s","program":"0"}\n';
  const LINE = '{"at":5,"ns":9,"op":"read","lba":0,"sectors":8,"fua":false}\n';
  test.each([
    ['', 'an empty file is no record of bf3 serve'],
    ['not json\n', ':1: every line of a record is one JSON object'],
    ['{"a":1}\n', ':1: this is no record of bf3 serve: "format" must be "bf3-record"'],
    ['{"format":"bf3-record","version":9}\n', ':1: version 9 of the format; this program reads 1'],
    [`${HEADER}${LINE}[]\n`, ':3: every line of a record is one JSON object'],
    [
      `${HEADER}${LINE.replace('read', 'reed')}`,
      ':2: "op" must be one of read, write, zero, trim, flush, standby, not "reed"',
    ],
    [
      `${HEADER}${LINE}${LINE.replace('5', '4')}`,
      ':3: "at" must be a whole number from 5 to 9007199254740991, not 4',
    ],
    [
      `${HEADER}${LINE.replace('"sectors":8', '"sectors":65537')}`,
      ':2: "sectors" must be a whole number from 1 to 65536, not 65537',
    ],
    [`${HEADER}{"end":5,"ns":9,"hash":1}\n${LINE}`, ':3: nothing may follow the end'],
    [`${HEADER}${' '.repeat(5000)}\n`, ':2: a line is longer than 4096 bytes'],
  ])('%j', (text, sentence) => {
    const file = join(folder, 'bad.ndjson');
    writeFileSync(file, text);
    expect(() => readRecord(file)).toThrow(sentence);
  });

  test('a file that is not there', () => {
    expect(() => readRecord(join(folder, 'none'))).toThrow('the file or its folder does not exist');
  });
});
