/**
 * Goal: the laws of the house hold in every source file, by machine.
 * Method: parse each file with TypeScript, list every broken rule by file and line, expect none.
 * The checker itself is shown to see: each rule catches a small source that breaks it.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { checkSource, describeViolation, type Room } from './kit/architecture.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const ROOMS: readonly Room[] = ['firmware', 'hal', 'nand', 'sata', 'tools', 'test'];

/** What the top level must hold. */
const REQUIRED = [
  'package.json',
  'tsconfig.json',
  'firmware',
  'hal',
  'nand',
  'sata',
  'test',
  'tools',
];
/** What it may hold besides files whose names begin with a dot. */
const ALLOWED = ['README.md', 'LICENSE', 'package-lock.json', 'biome.json'];

function sourceFiles(room: Room): string[] {
  return readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && statSync(join(ROOT, room, name)).isFile())
    .map((name) =>
      relative(ROOT, join(ROOT, room, name))
        .split(sep)
        .join('/'),
    )
    .sort();
}

function dependencies(): string[] {
  const manifest: { dependencies: Record<string, string> } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  );
  return Object.keys(manifest.dependencies);
}

/** Whether `.gitignore` names the entry: plain names, folders, and `*.ending`. */
function ignoredBy(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => {
    const bare = pattern.replace(/\/$/, '');
    return bare.startsWith('*') ? name.endsWith(bare.slice(1)) : name === bare;
  });
}

describe('architecture: every source file obeys', () => {
  const packages = dependencies();
  test.each(ROOMS)('%s', (room) => {
    const broken = sourceFiles(room).flatMap((file) =>
      checkSource(file, readFileSync(join(ROOT, file), 'utf8'), packages),
    );
    expect(broken.map(describeViolation)).toEqual([]);
  });
});

test('architecture: the top level holds what it should and nothing else', () => {
  const ignored = readFileSync(join(ROOT, '.gitignore'), 'utf8').split('\n').filter(Boolean);
  const entries = readdirSync(ROOT);
  const known = new Set([...REQUIRED, ...ALLOWED]);
  const strangers = entries.filter(
    (name) => !name.startsWith('.') && !known.has(name) && !ignoredBy(ignored, name),
  );
  expect(strangers).toEqual([]);
  expect(REQUIRED.filter((name) => !entries.includes(name))).toEqual([]);
});

const HEADER = '/** Counts the pages of a block that were programmed. */\n';

/** The rules that a source breaks, as `line: rule`. */
function broken(file: string, text: string): string[] {
  return checkSource(file, text, ['commander']).map(({ line, rule }) => `${line}: ${rule}`);
}

describe('architecture: the checker sees what is wrong', () => {
  const inDie = (code: string): string[] => broken('nand/die.ts', `${HEADER}${code}\n`);

  test.each([
    ['async', 'async function f() {}', '2: no async'],
    ['async arrow', 'const f = async () => 1;', '2: no async'],
    ['async method', 'class A { async f() {} }', '2: no async'],
    ['await', 'await f();', '2: no await'],
    ['for await', 'for await (const a of b) f(a);', '2: no await'],
    ['generator', 'function* f() {}', '2: no generator (function*)'],
    ['generator method', 'class A { *f() {} }', '2: no generator (function*)'],
    ['Promise value', 'Promise.resolve(1);', '2: no Promise'],
    ['Promise type', 'let a: Promise<number>;', '2: no Promise'],
    ['Date', 'const a = Date.now();', '2: no Date'],
    ['new Date', 'const a = new Date();', '2: no Date'],
    ['timer', 'setTimeout(f, 1);', '2: no setTimeout'],
    ['immediate', 'setImmediate(f);', '2: no setImmediate'],
    ['wall clock', 'const a = performance.now();', '2: no performance'],
    ['Buffer', 'const a = Buffer.alloc(1);', '2: no Buffer'],
    ['process', 'const a = process.argv;', '2: no process'],
    ['console', "console.log('a');", '2: no console'],
    ['shorthand', 'const a = { process };', '2: no process'],
    ['by way of globalThis', 'globalThis.setTimeout(f, 1);', '2: no globalThis'],
    ['chance', 'const a = Math.random();', '2: no Math.random: engines differ in it'],
    ['exp', 'const a = Math.exp(1);', '2: no Math.exp: engines differ in it'],
    ['pow', 'const a = Math.pow(2, b);', '2: no Math.pow: engines differ in it'],
    ['log', 'const a = Math.log(2);', '2: no Math.log: engines differ in it'],
    ['power', 'const a = b ** 2;', '2: no ** but of 2 or of literals: engines differ in it'],
    [
      'Math taken apart',
      'const { exp } = Math;',
      '2: name the function of Math in place: Math.floor',
    ],
    ['Math by string', "Math['random']();", '2: name the function of Math in place: Math.floor'],
    ['any', 'let a: any;', '2: no any'],
    ['cast', 'const a = b as any;', '2: no any'],
    ['switched off checks', '// @ts-ignore\nf();', '2: no @ts-ignore and its like'],
    ['switched off lint', '/* biome-ignore lint: x */', '2: no biome-ignore'],
    ['promised work', 'f(); // TODO later', '2: no TODO'],
    ['known fault', '/**\n * FIXME\n */\nf();', '3: no FIXME'],
    [
      'long line',
      `const a = ${'1'.repeat(100)};`,
      '2: a line has at most 100 columns, this one 111',
    ],
  ])('%s', (_, code, expected) => {
    expect(inDie(code)).toEqual([expected]);
  });

  test('a long function, once, where it starts', () => {
    const body = 'f();\n'.repeat(59);
    expect(inDie(`function f() {\n${body}}`)).toEqual([
      '2: a function has at most 60 lines, this one 61',
    ]);
    expect(inDie(`function f() {\n${body.slice(5)}}`)).toEqual([]);
  });

  test('a long file', () => {
    expect(inDie('f();\n'.repeat(399).trimEnd())).toEqual([]);
    expect(inDie('f();\n'.repeat(400).trimEnd())).toEqual([
      '402: a file has at most 400 lines, this one 401',
    ]);
  });

  test.each([
    ['none', 'const a = 1;\n'],
    ['a line comment', '// Counts the pages of a block that were programmed.\nf();\n'],
    ['too little', '/** Die. */\nf();\n'],
  ])('header: %s', (_, text) => {
    const rule = '1: begin with a /** header */ that says what the part is';
    expect(broken('hal/core.ts', text)).toEqual([rule]);
    expect(broken('tools/core.ts', text)).toEqual([]);
  });
});

describe('architecture: the checker sees imports against the direction', () => {
  const importing = (file: string, name: string): string[] =>
    broken(file, `${HEADER}import { a } from '${name}';\n`);

  test.each([
    ['hal/sim/heap.ts', '../ports.ts', 'hal/sim must not import hal/ports.ts'],
    ['hal/core.ts', '../nand/die.ts', 'hal must not import nand/die.ts'],
    ['hal/core.ts', 'seedrandom', "hal must not import the package 'seedrandom'"],
    ['hal/sim/heap.ts', 'commander', "hal/sim must not import the package 'commander'"],
    ['nand/die.ts', '../sata/fis.ts', 'nand must not import sata/fis.ts'],
    ['nand/die.ts', '../firmware/drive.ts', 'nand must not import firmware/drive.ts'],
    ['sata/fis.ts', '../nand/die.ts', 'sata must not import nand/die.ts'],
    ['sata/host/adapter.ts', '../../tools/errors.ts', 'sata must not import tools/errors.ts'],
    ['firmware/boot.ts', '../nand/die.ts', 'firmware must not import nand/die.ts'],
    ['firmware/ftl/gc.ts', '../../hal/dram.ts', 'firmware must not import hal/dram.ts'],
    ['firmware/boot.ts', './drive.ts', 'firmware must not import firmware/drive.ts'],
    [
      'firmware/drive.ts',
      '../tools/errors.ts',
      'firmware/drive.ts must not import tools/errors.ts',
    ],
    ['tools/bf3.ts', '../test/kit/rig.ts', 'tools must not import test/kit/rig.ts'],
    ['tools/bf3.ts', 'left-pad', "'left-pad' is not among the dependencies"],
    ['nand/die.ts', 'node:fs', "only tools and test import Node modules, not nand: 'node:fs'"],
    ['hal/sim/heap.ts', 'fs', "only tools and test import Node modules, not hal/sim: 'fs'"],
    ['nand/die.ts', './page.js', "a relative import ends in .ts, not './page.js'"],
    ['tools/bf3.ts', '../../x.ts', "import nothing outside the project: '../../x.ts'"],
  ])('%s from %s', (file, name, rule) => {
    expect(importing(file, name)).toEqual([`2: ${rule}`]);
  });

  test.each([
    ['hal/sim/heap.ts', './units.ts'],
    ['hal/sim/random.ts', 'seedrandom'],
    ['nand/die.ts', '../hal/sim/timeline.ts'],
    ['sata/host/adapter.ts', '../fis.ts'],
    ['firmware/ftl/gc.ts', '../../hal/ports.ts'],
    ['firmware/ftl/gc.ts', '../../hal/sim/units.ts'],
    ['firmware/ftl/gc.ts', '../../hal/geometry.ts'],
    ['firmware/drive.ts', '../nand/array.ts'],
    ['firmware/index.ts', './drive.ts'],
    ['tools/replay/run.ts', '../../firmware/drive.ts'],
    ['tools/bf3.ts', 'commander'],
    ['tools/bf3.ts', 'node:fs'],
    ['test/kit/rig.ts', '../../nand/die.ts'],
  ])('%s may import %s', (file, name) => {
    expect(importing(file, name)).toEqual([]);
  });

  test.each([
    ["import type { A } from '../sata/fis.ts';"],
    ["export * from '../sata/fis.ts';"],
    ["import '../sata/fis.ts';"],
    ["type A = import('../sata/fis.ts').A;"],
  ])('%s', (code) => {
    expect(broken('nand/die.ts', HEADER + code)).toEqual(['2: nand must not import sata/fis.ts']);
  });
});

describe('architecture: the checker is not fooled', () => {
  test.each([
    ['a comment', '// async await function* Promise Date Math.random() any'],
    ['a string', "const a = 'async // TODO setTimeout @ts-ignore';"],
    ['a template', 'const a = `Date // FIXME any`;'],
    ['a regular expression', 'const a = /\\/\\/ TODO any/;'],
    ['a member', 'die.process(); this.performance = 1; queue.console;'],
    ['a declared member', 'interface A { process: number; Date(): void }'],
    ['a key', 'const a = { process: 1, Buffer: 2 };'],
    ['exact mathematics', 'const a = Math.imul(Math.floor(b), Math.PI) + Math.sqrt(2) + 2 ** b;'],
    ['a word with a banned one in it', 'const anyPage = performanceMode + TODOS;'],
  ])('%s', (_, code) => {
    expect(broken('nand/die.ts', `${HEADER}${code}\n`)).toEqual([]);
  });

  test('tools may wait', () => {
    expect(
      broken('tools/serve/run.ts', 'await new Promise((done) => setTimeout(done, 1));'),
    ).toEqual([]);
  });
});
