/**
 * The checker behind the architecture test: reads one source file with TypeScript's own parser
 * and names every place where it breaks a law of the house. Comments and strings cannot fool it.
 */
import { builtinModules } from 'node:module';
import { posix } from 'node:path';
import ts from 'typescript';

export type Room = 'firmware' | 'hal' | 'nand' | 'sata' | 'tools' | 'test';

/** A broken rule: `file:line: rule`. */
export interface Violation {
  readonly file: string;
  readonly line: number;
  readonly rule: string;
}

/** Everything outside `tools` and `test` runs in simulated time and in a browser. */
export const EMULATED_ROOMS: readonly Room[] = ['firmware', 'hal', 'nand', 'sata'];

/** Files of `hal` that hold words and no device: firmware may know them. Folders end in a slash. */
export const HAL_VOCABULARY: readonly string[] = [
  'hal/addresses.ts',
  'hal/aragon-cycles.ts',
  'hal/ata.ts',
  'hal/flash-ops.ts',
  'hal/geometry.ts',
  'hal/identity.ts',
  'hal/pairing.ts',
  'hal/ports.ts',
  'hal/profile.ts',
  'hal/sim/',
  'hal/units.ts',
];

/** The only firmware files that see devices: they build the drive. */
const COMPOSITION_ROOTS: readonly string[] = [
  'firmware/drive-faults.ts',
  'firmware/drive-flash.ts',
  'firmware/drive.ts',
  'firmware/host.ts',
  'firmware/index.ts',
];

/** Packages that stand under the whole emulator; only `hal/sim` wraps them. */
const SIMULATION_PACKAGES: readonly string[] = [
  'buffer-layout',
  'crc-32',
  'seedrandom',
  'typescript-fsm',
];

const MAX_FILE_LINES = 400;
const MAX_FUNCTION_LINES = 60;
const MAX_COLUMNS = 100;
const MIN_HEADER_LETTERS = 20;

/** Global names that bring in real time, chance, the host's world or work in flight. */
const BANNED_GLOBALS: ReadonlySet<string> = new Set([
  'Buffer',
  'Date',
  'NodeJS',
  'Promise',
  'clearImmediate',
  'clearInterval',
  'clearTimeout',
  'console',
  'globalThis',
  'performance',
  'process',
  'queueMicrotask',
  'require',
  'setImmediate',
  'setInterval',
  'setTimeout',
]);

/** What ECMAScript defines to the last bit; the rest of Math differs between engines. */
const EXACT_MATH: ReadonlySet<string> = new Set([
  'abs',
  'ceil',
  'clz32',
  'floor',
  'fround',
  'imul',
  'max',
  'min',
  'round',
  'sign',
  'sqrt',
  'trunc',
]);

const BANNED_COMMENTS: readonly (readonly [RegExp, string])[] = [
  [/@ts-(?:ignore|expect-error|nocheck)/, 'no @ts-ignore and its like'],
  [/biome-ignore/, 'no biome-ignore'],
  [/\bTODO\b/, 'no TODO'],
  [/\bFIXME\b/, 'no FIXME'],
];

/** Checks one file. `file` is its path from the root of the project, with forward slashes. */
export function checkSource(
  file: string,
  text: string,
  packages: readonly string[] = [],
): Violation[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
  const room = roomOf(file);
  const found: Violation[] = [];
  const report = (position: number, rule: string): void => {
    const line = source.getLineAndCharacterOfPosition(position).line + 1;
    found.push({ file, line, rule });
  };
  const check: Check = { source, file, room, packages, report };
  const emulated = EMULATED_ROOMS.includes(room);

  if (emulated) checkHeader(check);
  if (room !== 'test') checkSizes(check);
  const visit = (node: ts.Node): void => {
    checkImport(check, node);
    checkAny(check, node);
    if (emulated) {
      checkFlight(check, node);
      checkGlobals(check, node);
      checkMath(check, node);
    }
    if (room !== 'test') checkFunction(check, node);
    ts.forEachChild(node, visit);
  };
  visit(source);
  checkComments(check);
  return found.sort((one, other) => one.line - other.line);
}

/** A violation as one line of a report. */
export function describeViolation({ file, line, rule }: Violation): string {
  return `${file}:${line}: ${rule}`;
}

interface Check {
  readonly source: ts.SourceFile;
  readonly file: string;
  readonly room: Room;
  readonly packages: readonly string[];
  report(position: number, rule: string): void;
}

function roomOf(file: string): Room {
  return file.slice(0, file.indexOf('/')) as Room;
}

function checkHeader({ source, report }: Check): void {
  const first = ts.getLeadingCommentRanges(source.text, 0)?.[0];
  const text = first === undefined ? '' : source.text.slice(first.pos, first.end);
  const letters = text.replace(/[^\p{L}]/gu, '').length;
  if (text.startsWith('/**') && letters >= MIN_HEADER_LETTERS) return;
  report(0, 'begin with a /** header */ that says what the part is');
}

function checkSizes({ source, report }: Check): void {
  const lines = source.text.split('\n');
  const count = lines.at(-1) === '' ? lines.length - 1 : lines.length;
  if (count > MAX_FILE_LINES) {
    report(source.text.length, `a file has at most ${MAX_FILE_LINES} lines, this one ${count}`);
  }
  const starts = source.getLineStarts();
  lines.forEach((line, index) => {
    const columns = [...line].length;
    if (columns <= MAX_COLUMNS) return;
    report(starts[index]!, `a line has at most ${MAX_COLUMNS} columns, this one ${columns}`);
  });
}

function checkFunction({ source, report }: Check, node: ts.Node): void {
  if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return;
  const start = node.getStart(source);
  const first = source.getLineAndCharacterOfPosition(start).line;
  const last = source.getLineAndCharacterOfPosition(node.end).line;
  const count = last - first + 1;
  if (count <= MAX_FUNCTION_LINES) return;
  report(start, `a function has at most ${MAX_FUNCTION_LINES} lines, this one ${count}`);
}

/** The text between the quotes of whatever kind of import the node is. */
function importedModule(node: ts.Node): ts.StringLiteralLike | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
    const from = node.moduleSpecifier;
    return from !== undefined && ts.isStringLiteralLike(from) ? from : undefined;
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    const { literal } = node.argument;
    return ts.isStringLiteralLike(literal) ? literal : undefined;
  }
  if (ts.isExternalModuleReference(node)) {
    return ts.isStringLiteralLike(node.expression) ? node.expression : undefined;
  }
  if (!ts.isCallExpression(node)) return undefined;
  const { expression } = node;
  const loads =
    expression.kind === ts.SyntaxKind.ImportKeyword ||
    (ts.isIdentifier(expression) && expression.text === 'require');
  const [argument] = node.arguments;
  return loads && argument !== undefined && ts.isStringLiteralLike(argument) ? argument : undefined;
}

function checkImport(check: Check, node: ts.Node): void {
  const literal = importedModule(node);
  if (literal === undefined) return;
  const wrong = importRule(check, literal.text);
  if (wrong !== undefined) check.report(literal.getStart(check.source), wrong);
}

/** What is wrong with importing `name`, or undefined. */
function importRule({ file, room, packages }: Check, name: string): string | undefined {
  if (!name.startsWith('.')) return packageRule(file, room, packages, name);
  if (!/\.(?:ts|json)$/.test(name)) return `a relative import ends in .ts, not '${name}'`;
  const target = posix.normalize(posix.join(posix.dirname(file), name));
  if (target.startsWith('..')) return `import nothing outside the project: '${name}'`;
  return mayImport(file, room, target) ? undefined : `${placeOf(file)} must not import ${target}`;
}

/** The place whose import rule holds for a file. */
function placeOf(file: string): string {
  if (file.startsWith('hal/sim/')) return 'hal/sim';
  return COMPOSITION_ROOTS.includes(file) ? file : roomOf(file);
}

function mayImport(file: string, room: Room, target: string): boolean {
  const to = roomOf(target);
  switch (placeOf(file)) {
    case 'hal/sim':
      return target.startsWith('hal/sim/');
    case 'hal':
      return to === 'hal';
    case 'nand':
    case 'sata':
      return to === 'hal' || to === room;
    case 'firmware':
      return to === 'hal' ? isVocabulary(target) : to === 'firmware' && !isRoot(target);
    case 'tools':
      return to !== 'test';
    case 'test':
      return true;
    default:
      return to === 'firmware' || to === 'hal' || to === 'nand' || to === 'sata';
  }
}

function isRoot(target: string): boolean {
  return COMPOSITION_ROOTS.includes(target);
}

function isVocabulary(target: string): boolean {
  return HAL_VOCABULARY.some((entry) =>
    entry.endsWith('/') ? target.startsWith(entry) : target === entry,
  );
}

function packageRule(
  file: string,
  room: Room,
  packages: readonly string[],
  name: string,
): string | undefined {
  const bare = name.startsWith('@') ? name.split('/').slice(0, 2).join('/') : name.split('/')[0]!;
  if (name.startsWith('node:') || builtinModules.includes(bare)) {
    return room === 'tools' || room === 'test'
      ? undefined
      : `only tools and test import Node modules, not ${placeOf(file)}: '${name}'`;
  }
  if (room === 'test') return undefined;
  if (room === 'tools') {
    return packages.includes(bare) ? undefined : `'${bare}' is not among the dependencies`;
  }
  if (placeOf(file) === 'hal/sim' && SIMULATION_PACKAGES.includes(bare)) return undefined;
  return `${placeOf(file)} must not import the package '${bare}'`;
}

/** Nothing in flight hides in a JavaScript frame. */
function checkFlight({ source, report }: Check, node: ts.Node): void {
  const start = (): number => node.getStart(source);
  if (node.kind === ts.SyntaxKind.AsyncKeyword) report(start(), 'no async');
  if (ts.isAwaitExpression(node)) report(start(), 'no await');
  if (ts.isForOfStatement(node) && node.awaitModifier !== undefined) report(start(), 'no await');
  if (ts.isYieldExpression(node)) report(start(), 'no generator (yield)');
  if ('asteriskToken' in node && node.asteriskToken !== undefined && ts.isFunctionLike(node)) {
    report(start(), 'no generator (function*)');
  }
  if (node.kind === ts.SyntaxKind.ImportKeyword && ts.isCallExpression(node.parent)) {
    report(start(), 'no import() (it is a promise)');
  }
}

function checkGlobals({ source, report }: Check, node: ts.Node): void {
  if (!ts.isIdentifier(node) || !BANNED_GLOBALS.has(node.text) || isMemberName(node)) return;
  report(node.getStart(source), `no ${node.text}`);
}

/** Whether the identifier only names a member (`die.process`): that is no use of the global. */
function isMemberName(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.name === node;
  if (ts.isQualifiedName(parent)) return parent.right === node;
  if (ts.isBindingElement(parent)) return parent.propertyName === node;
  const names =
    ts.isPropertyAssignment(parent) ||
    ts.isPropertyDeclaration(parent) ||
    ts.isPropertySignature(parent) ||
    ts.isMethodDeclaration(parent) ||
    ts.isMethodSignature(parent) ||
    ts.isGetAccessorDeclaration(parent) ||
    ts.isSetAccessorDeclaration(parent) ||
    ts.isEnumMember(parent);
  return names && parent.name === node;
}

function checkMath({ source, report }: Check, node: ts.Node): void {
  if (ts.isIdentifier(node) && node.text === 'Math' && !isMemberName(node)) {
    const { parent } = node;
    const member = ts.isPropertyAccessExpression(parent) ? parent.name.text : undefined;
    if (member === undefined) {
      report(node.getStart(source), 'name the function of Math in place: Math.floor');
    } else if (!EXACT_MATH.has(member) && member !== member.toUpperCase()) {
      report(node.getStart(source), `no Math.${member}: engines differ in it`);
    }
  }
  if (!ts.isBinaryExpression(node) || !isPower(node.operatorToken.kind)) return;
  // Powers of two are exact everywhere, and a literal power is a constant.
  const { left, right } = node;
  const exact = ts.isNumericLiteral(left) && (left.text === '2' || ts.isNumericLiteral(right));
  if (!exact) report(node.getStart(source), 'no ** but of 2 or of literals: engines differ in it');
}

function isPower(operator: ts.SyntaxKind): boolean {
  const { AsteriskAsteriskToken, AsteriskAsteriskEqualsToken } = ts.SyntaxKind;
  return operator === AsteriskAsteriskToken || operator === AsteriskAsteriskEqualsToken;
}

function checkAny({ source, report }: Check, node: ts.Node): void {
  if (node.kind === ts.SyntaxKind.AnyKeyword) report(node.getStart(source), 'no any');
}

/** What lies between the tokens is comments and white space. */
function checkComments({ source, report }: Check): void {
  const visit = (node: ts.Node): void => {
    const children = node.getChildren(source).filter((child) => !ts.isJSDoc(child));
    if (children.length > 0) {
      children.forEach(visit);
      return;
    }
    const gap = source.text.slice(node.pos, node.getStart(source));
    for (const [pattern, rule] of BANNED_COMMENTS) {
      const at = gap.search(pattern);
      if (at >= 0) report(node.pos + at, rule);
    }
  };
  visit(source);
}
