/**
 * Compiles the AssemblyScript of the ECC (nand/ecc/wasm) into nand/ecc/wasm/bch-module.ts.
 *
 *   node tools/build/ecc-wasm.mjs           writes the file
 *   node tools/build/ecc-wasm.mjs --check   compiles in memory; exit code 1 when the file is stale
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { main } from 'assemblyscript/asc';

const FOLDER = new URL('../../nand/ecc/wasm/', import.meta.url);
const MODULE = new URL('bch-module.ts', FOLDER);
const COLUMNS = 92;

/** The sources end in `.as`, so that no TypeScript tool takes them for TypeScript. */
function readSource(name) {
  const source = new URL(name.replace(/\.ts$/, '.as'), FOLDER);
  return existsSync(source) ? readFileSync(source, 'utf8') : null;
}

async function compile() {
  let binary;
  const options = ['--outFile', 'bch.wasm', '--optimizeLevel', '3', '--noAssert'];
  const memory = ['--runtime', 'stub', '--initialMemory', '10', '--maximumMemory', '10'];
  const { error, stderr } = await main(
    ['bch.ts', ...options, ...memory, '--enable', 'simd', '--use', 'abort='],
    {
      readFile: readSource,
      writeFile: (_, contents) => {
        binary = contents;
      },
      listFiles: () => [],
    },
  );
  if (error !== null) throw new Error(`AssemblyScript: ${error.message}\n${stderr.toString()}`);
  return Buffer.from(binary);
}

function moduleText(binary) {
  const lines = binary.toString('base64').match(new RegExp(`.{1,${COLUMNS}}`, 'g'));
  return [
    '/**',
    ' * The compiled BCH module in base64: generated from the `.as` files of this folder by',
    ' * `npm run build:wasm`; not to be edited.',
    ' */',
    '',
    'export const BCH_MODULE = [',
    ...lines.map((line) => `  '${line}',`),
    "].join('');",
    '',
  ].join('\n');
}

const binary = await compile();
const text = moduleText(binary);
const path = fileURLToPath(MODULE);
if (process.argv.includes('--check')) {
  const stale = !existsSync(path) || readFileSync(path, 'utf8') !== text;
  if (stale) console.error('nand/ecc/wasm/bch-module.ts is stale: npm run build:wasm');
  process.exitCode = stale ? 1 : 0;
} else {
  writeFileSync(`${path}.tmp`, text);
  renameSync(`${path}.tmp`, path);
  console.log(`${path}: ${binary.length} bytes of WebAssembly`);
}
