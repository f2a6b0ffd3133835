/**
 * Goal: every way to fail has its exit code and its sentence.
 * Method: a program with one command of each kind, and the real executable for what only a
 * process has: its exit code and its pipes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { main } from '../../../tools/cli/main.ts';
import type { CommandGroup } from '../../../tools/cli/program.ts';
import { coloursFor, screenWidth, wantsColour } from '../../../tools/cli/terminal.ts';
import { RunError, UsageError } from '../../../tools/errors.ts';

function throwing(name: string, error: unknown): (program: Command) => void {
  return (program) => {
    program.command(name).action(() => {
      throw error;
    });
  };
}

const GROUPS: readonly CommandGroup[] = [
  {
    heading: 'Run a drive:',
    modules: [
      {
        register: (program) => {
          program
            .command('demo')
            .description('watch a drive')
            .option('--seed <text>')
            .action(() => {});
        },
      },
    ],
  },
  {
    heading: 'Fail:',
    modules: [
      { register: throwing('misuse', new UsageError('trace.csv:3: no size')) },
      { register: throwing('fail', new RunError('the drive did not mount')) },
      { register: throwing('bug', new TypeError('cannot read slot')) },
    ],
  },
];

async function run(...args: string[]): Promise<{ code: number; out: string; error: string }> {
  const written = { out: '', error: '' };
  const code = await main(args, GROUPS, {
    out: (text) => {
      written.out += text;
    },
    error: (text) => {
      written.error += text;
    },
  });
  return { code, ...written };
}

describe('main', () => {
  test('a command that works: 0, no word', async () => {
    expect(await run('demo', '--seed', 'x')).toEqual({ code: 0, out: '', error: '' });
  });

  test.each([
    [['demmo'], "bf3: unknown command 'demmo'\n(Did you mean demo?)\n"],
    [['demo', '--sed', 'x'], "bf3: unknown option '--sed'\n(Did you mean --seed?)\n"],
    [['demo', '--seed'], "bf3: option '--seed <text>' argument missing\n"],
    [['misuse'], 'bf3: trace.csv:3: no size\n'],
  ])('a mistake in the call %j: 2, a sentence', async (args, error) => {
    expect(await run(...args)).toEqual({ code: 2, out: '', error });
  });

  test('a run that failed: 1, a sentence', async () => {
    expect(await run('fail')).toEqual({
      code: 1,
      out: '',
      error: 'bf3: the drive did not mount\n',
    });
  });

  test('a bug: 1, the stack, and where to go with it', async () => {
    const { code, error } = await run('bug');
    expect(code).toBe(1);
    expect(error).toMatch(/^TypeError: cannot read slot\n {4}at /);
    expect(error).toMatch(/bf3: this is a bug in the emulator: please report it .*\n$/);
  });

  test('help: 0, groups, examples, exit codes', async () => {
    const { code, out, error } = await run('--help');
    expect([code, error]).toEqual([0, '']);
    expect(out).toMatch(/Run a drive:\n {2}demo .* watch a drive\n/);
    expect(out).toMatch(/\nFail:\n {2}misuse\n/);
    expect(out).toMatch(/\nExamples:\n/);
    expect(out).toMatch(/\nExit codes:\n {2}0 .*\n {2}1 .*\n {2}2 /);
    expect((await run('help', 'demo')).out).toContain('--seed <text>');
  });

  test('nothing asked for: help on standard error, 2', async () => {
    const { code, out, error } = await run();
    expect([code, out]).toEqual([2, '']);
    expect(error).toContain('Usage: bf3 <command> [options]');
  });

  test('version', async () => {
    const { code, out } = await run('--version');
    expect(code).toBe(0);
    expect(out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('terminal', () => {
  test.each([
    [{ isTTY: true }, {}, true],
    [{ isTTY: true }, { NO_COLOR: '1' }, false],
    [{ isTTY: true }, { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
    [{ isTTY: true }, { NO_COLOR: '' }, true],
    [{ isTTY: true }, { TERM: 'dumb' }, false],
    [{}, {}, false],
    [{}, { CI: 'true' }, false],
    [{}, { FORCE_COLOR: '1' }, true],
  ])('stream %j with %j: colour %j', (stream, env, colour) => {
    expect(wantsColour(stream, env)).toBe(colour);
  });

  test('width and colours', () => {
    expect(
      [undefined, 40, 90, 200].map((columns) => screenWidth({ ...(columns && { columns }) })),
    ).toEqual([100, 80, 90, 100]);
    expect(coloursFor(false).red('a')).toBe('a');
    expect(coloursFor(true).red('a')).toBe('\u001b[31ma\u001b[39m');
  });
});

describe('executable', () => {
  const start = (...args: string[]) =>
    spawn(
      process.execPath,
      [
        '--import',
        'tsx',
        fileURLToPath(new URL('../../../tools/bf3.ts', import.meta.url)),
        ...args,
      ],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        cwd: fileURLToPath(new URL('../../..', import.meta.url)),
      },
    );

  test('exit code of the process', async () => {
    const child = start('no-such-command');
    child.stdout.resume();
    child.stderr.resume();
    expect(await once(child, 'close')).toEqual([2, null]);
  });

  test('a reader that leaves: quiet, 0', async () => {
    const child = start('--help');
    child.stdout.destroy();
    let error = '';
    child.stderr.on('data', (chunk: Buffer) => {
      error += chunk.toString();
    });
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(error).toBe('');
  });
});
