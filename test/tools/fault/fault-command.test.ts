/**
 * Goal: `bf3 fault` says to a drive what was typed, and to people what became of it.
 * Method: a control socket over a real fault list; the command line by main(); files in a folder.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { stringifyFaults } from '../../../hal/faults/fault-file.ts';
import { FAULT_KIND_NAMES, FAULT_KINDS } from '../../../hal/faults/fault-kinds.ts';
import { FlashOp } from '../../../hal/flash-ops.ts';
import { main } from '../../../tools/cli/main.ts';
import { RunError, UsageError } from '../../../tools/errors.ts';
import * as command from '../../../tools/fault/command.ts';
import { runAdd, runCheck, runLift, runList, runReport } from '../../../tools/fault/fault.ts';
import { FAULT_OPTIONS, faultOfOptions } from '../../../tools/fault/fault-options.ts';
import { kindsText } from '../../../tools/fault/fault-table.ts';
import { FaultServer } from './fault-kit.ts';

let server: FaultServer;
let written = '';

const write = (text: string): void => {
  written += text;
};

beforeEach(async () => {
  server = await FaultServer.start();
  written = '';
});

afterEach(() => server.stop());

function fileOf(text: string): string {
  const path = join(server.folder, 'faults.json');
  writeFileSync(path, text);
  return path;
}

/** Runs a command line of which only the failure matters. */
async function failure(...args: string[]): Promise<[number, string]> {
  let error = '';
  const output = {
    out: () => {},
    error: (text: string) => {
      error += text;
    },
  };
  const groups = [{ heading: 'Test:', modules: [command] }];
  const code = await main(['fault', ...args], groups, output);
  return [code, error.trimEnd()];
}

describe('a drive', () => {
  test('gets a fault by options; list, report and lift tell of it', async () => {
    const attach = server.path;
    await runAdd('program-fail', { attach, die: '3', block: '7', times: '1', note: 'n' }, write);
    await runAdd('power-cut', { attach, op: 'erase', fraction: '0.5' }, write);
    expect(written).toBe('fault 1 added\nfault 2 added\n');
    server.target.faults.onFlash(FlashOp.Program, 3, 6, 0, 0, 42);
    written = '';
    await runList({ attach }, write);
    const rows = written.split('\n').map((line) => line.trim().split(/ {2,}/));
    expect(rows.slice(0, 3)).toEqual([
      ['id', 'kind', 'what', 'where', 'when', 'state', 'fired'],
      ['1', 'program-fail', 'die 3 block 7', 'times 1', 'used up', '1'],
      ['2', 'power-cut', 'fraction 0.5 op erase', 'anywhere', 'always', 'armed', '0'],
    ]);
    written = '';
    await runReport({ attach }, write);
    expect(written).toContain('\nNEVER FIRED: 1 of 2: 2 power-cut\n');
    written = '';
    await runReport({ attach, json: true }, write);
    expect(JSON.parse(written)).toMatchObject({
      faults: [{ firstFiredOrdinal: 42 }, {}],
      unfired: [2],
    });
    written = '';
    await runLift(['1', '2'], { attach }, write);
    expect(written).toBe('2 faults lifted\n');
    expect(server.target.faults.armedCount).toBe(0);
  });

  test('gets a file that is longer than a request, whole or not at all', async () => {
    const faults = Array.from({ length: 2000 }, (_, i) => ({
      ...{ kind: 'bit-errors' as const, count: 1 + (i % 9), where: { die: i % 4, page: i % 16 } },
    }));
    const file = fileOf(stringifyFaults({ version: 1, seed: 'file', faults }));
    await runAdd(undefined, { attach: server.path, file }, write);
    expect(written).toBe('2000 faults added: 1 to 2000\n');
    const list = server.target.faults.list();
    expect(list.map(({ fault }) => fault)).toEqual(faults);
    expect(list[1999]!.seed).toBe('file');
    expect(Math.max(...server.lines.map((line) => line.length))).toBeLessThan(65_536);

    const wrong = [...faults, { kind: 'bit-errors' as const, count: 1, where: { die: 4 } }];
    fileOf(stringifyFaults({ version: 1, seed: 'file', faults: wrong }));
    await expect(runAdd(undefined, { attach: server.path, file }, write)).rejects.toThrow(
      new UsageError(`${file}: faults[2000].where.die: 4 is beyond the drive's last die 3`),
    );
    expect(server.target.faults.list()).toHaveLength(2000);
  });

  test('says in terms of the options what does not fit it', async () => {
    const [code, error] = await failure(
      ...['add', '--attach', server.path, 'erase-fail', '--block', '64'],
    );
    expect([code, error]).toEqual([2, "bf3: --block: 64 is beyond the die's last block 63"]);
  });

  test('that hangs up, is not there or speaks otherwise is told apart', async () => {
    await server.stop();
    await expect(runList({ attach: server.path }, write)).rejects.toThrow(
      new RunError(
        `cannot attach to ${server.path}: no such socket; start bf3 serve with --control`,
      ),
    );
    const answers: [string | null, string][] = [
      [null, ': the server hung up'],
      ['hello', ' does not speak the protocol of bf3 serve: no JSON came back'],
      ['{"id":7,"result":{}}', ' does not speak the protocol of bf3 serve: another id came'],
    ];
    for (const [answer, sentence] of answers) {
      server = await FaultServer.start(() => answer as string);
      const { path } = server;
      await expect(runList({ attach: path }, write)).rejects.toThrow(new RunError(path + sentence));
      if (answer !== answers.at(-1)![0]) await server.stop();
    }
  });
});

describe('options', () => {
  test('are those that the command declares', () => {
    const program = new Command();
    command.register(program);
    const add = program.commands[0]!.commands.find((one) => one.name() === 'add')!;
    const names = add.options.map((option) => option.attributeName());
    const others = ['attach', 'file', 'seed', 'json'];
    expect(names.filter((name) => !others.includes(name)).sort()).toEqual(
      [...FAULT_OPTIONS].sort(),
    );
  });

  test('reach every field of every kind', () => {
    for (const { parameters, place } of Object.values(FAULT_KINDS)) {
      const names = [...Object.keys(parameters), ...place];
      expect(names.filter((name) => !FAULT_OPTIONS.includes(name))).toEqual([]);
    }
  });

  test.each([
    [
      'bit-errors',
      { die: '0-3', region: 'root', count: '60', probability: '1e-2', nth: '2', slot: '1' },
      {
        ...{ kind: 'bit-errors', count: 60, where: { die: [0, 3], region: 'root', slot: 1 } },
        ...{ when: { nth: 2 }, probability: 0.01 },
      },
    ],
    [
      'dram-flip',
      { region: 'l2p', cell: '5', bit: '3', from: '100' },
      { kind: 'dram-flip', region: 'l2p', cell: 5, bit: 3, when: { from: 100 } },
    ],
    [
      'sram-flip',
      { descriptor: '1', field: 'order', slot: '7', bit: '31' },
      { kind: 'sram-flip', descriptor: 1, field: 'order', slot: 7, bit: 31 },
    ],
    [
      'wrong-block',
      { block: '4', toBlock: '8', times: 'unlimited', op: 'read' },
      { kind: 'wrong-block', op: 'read', where: { block: 4 }, toBlock: 8, times: 'unlimited' },
    ],
    ['link-crc', { fis: 'data', note: '7' }, { kind: 'link-crc', fis: 'data', note: '7' }],
  ])('%s %j', (kind, options, fault) => {
    expect(faultOfOptions(kind, options)).toEqual(fault);
  });

  test.each([
    ['erase-fial', {}, 'kind: "erase-fial" (did you mean erase-fail?)'],
    ['slow-die', {}, '--factor: missing; expected a number from 1 to 1000000'],
    [
      'wrong-block',
      { block: '2', toBlock: 'x' },
      '--to-block: "x"; expected a whole number from 0',
    ],
    ['dead-die', {}, '--die: missing: this kind of fault must say which'],
    ['dead-die', { die: '3-1' }, '--die: [3,1]; the first is beyond the last'],
    ['lost-fis', { die: '3' }, '--die does not go with lost-fis; it takes --nth, --from, --to'],
    ['erase-fail', { count: '3' }, '--count does not go with erase-fail; it takes --channel'],
    ['dram-flip', { region: 'l2p', bit: '1' }, 'give either "byte" or "cell"'],
  ])('%s %j is refused', (kind, options, sentence) => {
    expect(() => faultOfOptions(kind, options)).toThrow(UsageError);
    expect(() => faultOfOptions(kind, options)).toThrow(sentence);
  });
});

describe('a file', () => {
  const DOCUMENT =
    '{"version":1,"seed":"s","faults":[{"kind":"erase-fail","where":{"block":100}}]}';

  test('is checked alone, or against a drive', () => {
    const file = fileOf(DOCUMENT);
    runCheck(file, {}, write);
    expect(written).toContain('erase-fail');
    expect(written).toContain(`${file}: 1 faults, seed "s"\n`);
    written = '';
    runCheck(file, { drive: 'vector-256', json: true }, write);
    expect(JSON.parse(written)).toEqual({
      ...{ file, drive: 'vector-256', seed: 's', count: 1 },
      faults: [{ kind: 'erase-fail', where: { block: 100 } }],
    });
    expect(() => runCheck(file, { drive: 'toy' }, write)).toThrow(
      new UsageError(`${file}: faults[0].where.block: 100 is beyond the die's last block 63`),
    );
  });

  test('that is no JSON says in which line', () => {
    const file = fileOf('{\n"version": 1,\n"seed" "s"}');
    expect(() => runCheck(file, {}, write)).toThrow(UsageError);
    expect(() => runCheck(file, {}, write)).toThrow(`${file}:3: not JSON: `);
  });
});

describe('the command line', () => {
  test.each([
    [['add', '--attach', '/x'], 2, 'bf3: give the kind of a fault, or --file FILE'],
    [['add', 'erase-fail'], 2, 'bf3: say which drive: --attach SOCKET'],
    [['add', '--file', 'f', '--die', '1'], 2, 'bf3: --die does not go with --file'],
    [['lift', '--attach', '/x'], 2, 'bf3: say which fault to lift, or --all'],
    [['lift', '--attach', '/x', '3', '--all'], 2, 'bf3: say which fault to lift, or --all'],
    [['lift', '--attach', '/x', 'three'], 2, 'bf3: "three"; expected the number of a fault'],
    [['check', '/no/such'], 1, 'bf3: cannot read /no/such: no such file'],
    [['check', '/no/such', '--drive', 'vektor-256'], 2, 'bf3: --drive: no drive "vektor-256"'],
    [['reprot'], 2, 'unknown command'],
  ])('%j', async (args, code, start) => {
    const [found, error] = await failure(...args);
    expect(found).toBe(code);
    expect(error).toContain(start);
  });

  test('lists the kinds', () => {
    const kinds = JSON.parse(kindsText(true)) as { kind: string; needs: string }[];
    expect(kinds.map(({ kind }) => kind)).toEqual(FAULT_KIND_NAMES);
    expect(kinds.find(({ kind }) => kind === 'wrong-block')!.needs).toBe('block toBlock');
    expect(kindsText(false)).toContain('a die answers nothing');
  });
});
