/**
 * Goal: the committed WebAssembly is what its AssemblyScript compiles to, and is not needed.
 * Method: the build script compiles it again in memory and compares; hosts that lack
 * WebAssembly or its SIMD are offered to the compiling side.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { compileModule, type WebAssemblyHost } from '../../../nand/ecc/bch-wasm.ts';

const SCRIPT = fileURLToPath(new URL('../../../tools/build/ecc-wasm.mjs', import.meta.url));

test('bch-module.ts is current', () => {
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, '--check'], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('a host without WebAssembly, or without its SIMD, compiles nothing', () => {
  expect(compileModule(undefined)).toBe(false);
  const { WebAssembly: host } = globalThis as unknown as { WebAssembly: WebAssemblyHost };
  expect(compileModule({ ...host, Module: host.Module, validate: () => false })).toBe(false);
  const validate = (bytes: Uint8Array) => host.validate(bytes);
  const { Module, Instance } = host;
  expect(compileModule({ validate, Module, Instance })).toBeInstanceOf(Module);
});
