/**
 * The choice of a BCH engine, and the code of the drive.
 *
 * Engines differ in speed alone: a test holds them to the same bits.
 */

import { Bch } from './bch.ts';
import { BchWasm, wasmHandles } from './bch-wasm.ts';
import type { BchEngine, BchParameters } from './code.ts';

export { type BchEngine, type BchParameters, UNCORRECTABLE } from './code.ts';

/**
 * 1024 bytes of data and 7 of metadata with 49 bytes of parity: exactly 1080 bytes, an eighth of a
 * page with its spare area. Stronger than the 24 bits in 1080 bytes that the die's data sheet asks
 * for. The Barefoot 3's own code is not published: assumed.
 */
export const DRIVE_CODE: BchParameters = { m: 14, t: 28, dataBytes: 1031 };

export interface BchChoice extends BchParameters {
  /** Default: WebAssembly where it works and handles the code, else TypeScript. */
  readonly engine?: 'webassembly' | 'typescript';
}

/** Builds an engine. Throws a RangeError when parameters and engine do not go together. */
export function createBch(choice: BchChoice): BchEngine {
  const { engine, m, t, dataBytes } = choice;
  const parameters = { m, t, dataBytes };
  if (engine === 'webassembly') return new BchWasm(parameters);
  if (engine === undefined && wasmHandles(parameters)) return new BchWasm(parameters);
  return new Bch(parameters);
}
