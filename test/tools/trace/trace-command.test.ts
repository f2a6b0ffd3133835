/**
 * Goal: `bf3 trace` as its user meets it: files, reports, errors, exit codes.
 * Method: the command in this process on the toy drive; the decoder and GTKWave read what it wrote.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { main } from '../../../tools/cli/main.ts';
import * as trace from '../../../tools/trace/command.ts';
import { decodeTraceFile } from '../../../tools/trace/decode.ts';
import { fixture } from '../../kit/bf3.ts';
import { clientsReady, runWell } from '../../kit/clients.ts';
import { disorderOf } from './trace-kit.ts';

let folder = '';
let out = '';
let error = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bf3-trace-'));
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

async function bf3(...args: string[]): Promise<number> {
  out = '';
  error = '';
  const add = (text: string) => {
    error += text;
  };
  return main(args, [{ heading: 'Look inside:', modules: [trace] }], { out: add, error: add });
}

const SHORT = ['--workload', 'write', '--commands', '4'];

describe('writing', () => {
  test('the report counts what the file shows', async () => {
    const file = join(folder, 'run.vcd');
    expect(await bf3('trace', '--out', file, '--workload', 'none', '--json')).toBe(0);
    const report = JSON.parse(out);
    const text = readFileSync(file, 'latin1');
    expect(disorderOf(text)).toEqual([]);
    expect(report).toMatchObject({ file, drive: 'toy', fileBytes: text.length, isCut: false });
    const { commands, endNs } = decodeTraceFile(file);
    expect(endNs).toBe(report.toNs);
    const opcodes = commands.reduce((sum, one) => sum + one.opcodes.length, 0);
    const outBytes = commands.reduce((sum, one) => sum + one.dataOutBytes, 0);
    expect([report.clashes, report.firstClashNs]).toEqual([0, null]);
    // What was on its way at the last instant is counted and not decoded: less than a page a die.
    expect(report.commandCycles - opcodes).toBeLessThanOrEqual(4 * 3);
    expect(report.dataOutBytes - outBytes).toBeLessThanOrEqual(4 * 2 * 8640);
    expect(readdirSync(folder)).toEqual(['run.vcd']);
  });

  test('the same command gives the same bytes', async () => {
    const [a, b] = ['a', 'b'].map((name) => join(folder, name));
    for (const file of [a!, b!]) expect(await bf3('trace', '--out', file, ...SHORT)).toBe(0);
    expect(Buffer.compare(readFileSync(a!), readFileSync(b!))).toBe(0);
  });

  test('a recorded workload, a window, some channels', async () => {
    const file = join(folder, 'capture.vcd');
    const code = await bf3(
      ...['trace', fixture('guest_ahci.blktrace'), '--out', file, '--limit', '20', '--wrap'],
      ...['--flat-out', '--channel', '1', '--from', '20ms', '--to', '+1ms', '--json'],
    );
    expect([code, error]).toEqual([0, '']);
    expect(JSON.parse(out)).toMatchObject({ fromNs: 20e6, toNs: 21e6 });
    const { commands } = decodeTraceFile(file);
    expect(commands.length).toBeGreaterThan(0);
    expect(commands.every(({ die, atNs }) => die % 2 === 1 && atNs >= 20e6)).toBe(true);
  });

  test('a full file ends early and says so', async () => {
    const file = join(folder, 'cut.vcd');
    expect(await bf3('trace', '--out', file, ...SHORT, '--max-size', '64K')).toBe(0);
    expect(out).toContain('cut: the file reached --max-size');
    expect(readFileSync(file).length).toBeLessThanOrEqual(65_536);
    expect(decodeTraceFile(file).commands.length).toBeGreaterThan(0);
  });
});

describe('decoding', () => {
  test('a table, CSV and JSON of one die', async () => {
    const file = join(folder, 'run.vcd');
    await bf3('trace', '--out', file, '--workload', 'none');
    expect(await bf3('trace', 'decode', file)).toBe(0);
    expect(out).toMatch(/at ns +die +command +opcodes +row +column +in +out +busy ns\n/);
    expect(out).toMatch(/ch0\.die0 +READ PAGE +00h 30h +block \d+ page \d+ +0 +0 +0 +45000\n/);
    expect(await bf3('trace', 'decode', file, '--die', '3', '--json')).toBe(0);
    const rows = JSON.parse(out);
    expect(new Set(rows.map((row: { die: string }) => row.die))).toEqual(new Set(['ch1.die1']));
    expect(await bf3('trace', 'decode', file, '--csv')).toBe(0);
    expect(out.split('\n')[0]).toBe(
      'atNs,die,command,opcodes,row,column,dataInBytes,dataOutBytes,busyNs',
    );
  });
});

describe('mistakes', () => {
  test.each([
    [2, '--out is missing', []],
    [2, '--channel: 9; toy has 0 to 1', ['--out', 'F', '--channel', '9']],
    [2, '--die: 4; toy has 0 to 3', ['--out', 'F', '--die', '2-4']],
    [2, '--die: none of the dies lies on', ['--out', 'F', '--die', '1', '--channel', '0']],
    [2, '--channel: "x"; expected numbers', ['--out', 'F', '--channel', 'x']],
    [2, '--data: "all"; expected one of none', ['--out', 'F', '--data', 'all']],
    [2, '(did you mean read?)', ['--out', 'F', '--workload', 'raed']],
    [2, '--to lies before --from', ['--out', 'F', '--from', '2ms', '--to', '1ms']],
    [2, "'soon' is no time", ['--out', 'F', '--from', 'soon']],
    [2, 'beside the file', ['nowhere.csv', '--out', 'F', '--workload', 'read']],
    [1, 'no such file', ['nowhere.csv', '--out', 'F']],
    [1, 'it is a folder', ['--out', '/tmp']],
    [1, 'it is no regular file', ['--out', '/dev/null']],
    [1, 'does not exist', ['--out', '/nowhere/x.vcd']],
    [1, 'cannot open nowhere.vcd: no such file', ['decode', 'nowhere.vcd']],
    [1, 'it is a folder', ['decode', '/tmp']],
  ])('%i: %s', async (code, message, args) => {
    const file = join(folder, 'F');
    expect(await bf3('trace', ...args.map((arg) => (arg === 'F' ? file : arg)))).toBe(code);
    expect(error).toContain(message);
    expect(error).not.toContain('    at ');
    expect(existsSync(file)).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('a damaged trace is named with its line', async () => {
    const file = join(folder, 'bad.vcd');
    writeFileSync(file, '$timescale 1 ns $end\n$enddefinitions $end\n#1\n7!\n');
    expect(await bf3('trace', 'decode', file)).toBe(1);
    expect(error).toBe(
      `bf3: ${file}:4: "7!"; expected a time such as #10 or a change such as 1!\n`,
    );
  });
});

const ready = clientsReady('cycle traces', ['vcd2fst']);
describe.runIf(ready)('GTKWave', () => {
  it('takes a trace with every byte', async () => {
    const [vcd, fst] = ['run.vcd', 'run.fst'].map((name) => join(folder, name));
    await bf3('trace', '--out', vcd!, '--from', '20ms', '--to', '21ms', '--data', 'full');
    await runWell('vcd2fst', [vcd!, fst!]);
    // An FST file begins with its header block: type 0, its length, big endian.
    const head = readFileSync(fst!);
    expect([head[0], Number(head.readBigUInt64BE(1))]).toEqual([0, 329]);
  });
});
