/**
 * The BCH engine in WebAssembly, for codes of GF(2^14) with at most 512 parity bits (t <= 36).
 *
 * The module (`wasm/`) divides, and corrects, in a memory of its own; this side fills its tables
 * and carries codewords in. A codeword assembled in `workspace` lies in that memory already.
 */

import {
  applyErrors,
  type BchEngine,
  type BchParameters,
  checkParameters,
  checkStretch,
  UNCORRECTABLE,
} from './code.ts';
import { Galois } from './galois.ts';
import { Generator, setDegree } from './generator.ts';
import { SyndromeTable } from './syndromes.ts';
import { BCH_MODULE } from './wasm/bch-module.ts';

const WASM_M = 14;
const MOST_PARITY_BITS = 512;

/** The part of WebAssembly's interface for JavaScript that is used here. */
export interface WebAssemblyHost {
  validate(bytes: Uint8Array): boolean;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: object };
}
declare const WebAssembly: WebAssemblyHost | undefined;

interface Address {
  readonly value: number;
}

/** What `wasm/bch.as` exports. */
interface BchExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly CODEWORD: Address;
  readonly PARITY_MASK: Address;
  readonly ERRORS: Address;
  readonly SLICES: Address;
  readonly JOINS: Address;
  readonly SYNDROME_TABLE: Address;
  readonly LOG: Address;
  readonly ANTILOG: Address;
  readonly QUADRATIC: Address;
  readonly REMAINDER_BYTES: Address;
  readonly SYNDROME_ROW_BYTES: Address;
  configure(t: number, dataBytes: number, parityBits: number): void;
  encode(): void;
  decode(): number;
}

/** Compiled once; each engine is an instance of its own. Null until asked, false: does not work. */
let compiled: object | false | null = null;

/** Whether WebAssembly with SIMD works here and the module handles such a code. */
export function wasmHandles({ m, t }: BchParameters): boolean {
  return m === WASM_M && m * t <= MOST_PARITY_BITS && compiledModule() !== false;
}

export class BchWasm implements BchEngine {
  readonly m: number;
  readonly t: number;
  readonly dataBytes: number;
  readonly parityBits: number;
  readonly parityBytes: number;
  readonly workspace: Uint8Array;
  readonly errorBits: Int32Array;
  errorCount = 0;
  readonly #module: BchExports;

  /** Throws a RangeError when the parameters name no code or one that the module cannot handle. */
  constructor(parameters: BchParameters) {
    checkParameters(parameters);
    if (!wasmHandles(parameters)) {
      throw new RangeError(
        `BCH in WebAssembly: m is ${WASM_M}, m t at most ${MOST_PARITY_BITS}, the host has SIMD`,
      );
    }
    const { m, t, dataBytes } = parameters;
    this.m = m;
    this.t = t;
    this.dataBytes = dataBytes;
    this.parityBytes = Math.ceil((m * t) / 8);
    this.#module = newInstance();
    this.parityBits = fillTables(this.#module, parameters);
    const { memory, CODEWORD, ERRORS } = this.#module;
    const codewordBytes = dataBytes + this.parityBytes;
    this.workspace = new Uint8Array(memory.buffer, CODEWORD.value, codewordBytes);
    this.errorBits = new Int32Array(memory.buffer, ERRORS.value, t);
  }

  encode(data: Uint8Array, dataAt: number, parity: Uint8Array, parityAt: number): void {
    this.#takeIn(data, dataAt, parity, parityAt);
    this.#module.encode();
    const { workspace, dataBytes, parityBytes } = this;
    if (parity === workspace && parityAt === dataBytes) return;
    for (let i = 0; i < parityBytes; i++) parity[parityAt + i] = workspace[dataBytes + i]!;
  }

  decode(data: Uint8Array, dataAt: number, parity: Uint8Array, parityAt: number): number {
    this.#takeIn(data, dataAt, parity, parityAt);
    const { workspace, dataBytes, parityBytes } = this;
    if (parity !== workspace || parityAt !== dataBytes) {
      for (let i = 0; i < parityBytes; i++) workspace[dataBytes + i] = parity[parityAt + i]!;
    }
    const count = this.#module.decode();
    this.errorCount = Math.max(count, 0);
    if (count > 0) applyErrors(this, data, dataAt, parity, parityAt);
    return count < 0 ? UNCORRECTABLE : count;
  }

  /** Checks the stretches and places the data in the module's memory, unless they lie there. */
  #takeIn(data: Uint8Array, dataAt: number, parity: Uint8Array, parityAt: number): void {
    const { workspace, dataBytes } = this;
    if (data !== workspace || dataAt !== 0) {
      checkStretch('data', data, dataAt, dataBytes);
      workspace.set(data.subarray(dataAt, dataAt + dataBytes));
    }
    checkStretch('parity', parity, parityAt, this.parityBytes);
  }
}

function compiledModule(): object | false {
  compiled ??= compileModule(typeof WebAssembly === 'undefined' ? undefined : WebAssembly);
  return compiled;
}

/** Compiles the module; false where there is no WebAssembly, or none with SIMD. */
export function compileModule(host: WebAssemblyHost | undefined): object | false {
  if (host === undefined) return false;
  const bytes = fromBase64(BCH_MODULE);
  // Without SIMD the module is invalid.
  return host.validate(bytes) && new host.Module(bytes);
}

function newInstance(): BchExports {
  const module = compiledModule();
  if (module === false || typeof WebAssembly === 'undefined') {
    throw new RangeError('BCH in WebAssembly: this host has no WebAssembly with SIMD');
  }
  return new WebAssembly.Instance(module, {}).exports as BchExports;
}

/** Fills the tables of an instance. Returns the number of parity bits. */
function fillTables(module: BchExports, { m, t, dataBytes }: BchParameters): number {
  const { buffer } = module.memory;
  const field = new Galois(m);
  const generator = new Generator(field, { t });
  const { parityBits } = generator;
  const rowWords = module.REMAINDER_BYTES.value / 4;
  const bytesAt = (place: Address) => new Uint8Array(buffer, place.value);
  const halfWordsAt = (place: Address) => new Uint16Array(buffer, place.value);
  halfWordsAt(module.LOG).set(field.log);
  halfWordsAt(module.ANTILOG).set(field.antilog);
  halfWordsAt(module.QUADRATIC).set(field.quadraticRoots());
  setBigEndian(bytesAt(module.SLICES), generator.sliceTables(rowWords));
  setBigEndian(bytesAt(module.JOINS), joinTable(generator, dataBytes, rowWords));
  const syndromes = new SyndromeTable(field, t, parityBits, module.SYNDROME_ROW_BYTES.value);
  new Int32Array(buffer, module.SYNDROME_TABLE.value).set(syndromes.words);
  const ones = new Int32Array(rowWords);
  for (let degree = 0; degree < parityBits; degree++) setDegree(ones, parityBits, degree);
  setBigEndian(bytesAt(module.PARITY_MASK), ones);
  module.configure(t, dataBytes, parityBits);
  return parityBits;
}

/**
 * What each half byte of a remainder is worth once the second part of the data lies behind it: the
 * remainders of v x^(degree + 8 secondBytes). Row `half byte * 16 + v`.
 */
function joinTable(generator: Generator, dataBytes: number, rowWords: number): Int32Array {
  const { parityBits, wordCount } = generator;
  const halfByteCount = 2 * Math.ceil(parityBits / 8);
  const table = new Int32Array(halfByteCount * 16 * rowWords);
  const power = new Int32Array(wordCount);
  setDegree(power, parityBits, 0);
  const secondBytes = Math.floor(dataBytes / 8) * 4;
  for (let bit = 0; bit < 8 * secondBytes; bit++) generator.step(power);
  for (let degree = 0; degree < parityBits; degree++) {
    const place = parityBits - 1 - degree;
    const low = 8 >> (place & 3);
    for (let v = low; v < 2 * low; v++) {
      const row = ((place >> 2) * 16 + v) * rowWords;
      const rest = row - low * rowWords;
      for (let word = 0; word < wordCount; word++) {
        table[row + word] = table[rest + word]! ^ power[word]!;
      }
    }
    generator.step(power);
  }
  return table;
}

/** Writes words with their most significant byte first, the order of bits on flash. */
function setBigEndian(target: Uint8Array, words: Int32Array): void {
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    target[4 * i] = word >>> 24;
    target[4 * i + 1] = word >>> 16;
    target[4 * i + 2] = word >>> 8;
    target[4 * i + 3] = word;
  }
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Decodes base64 (RFC 4648, section 4). */
function fromBase64(text: string): Uint8Array {
  const digits = text.replace(/=+$/, '');
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4));
  let bits = 0;
  let at = 0;
  for (let i = 0; i < digits.length; i++) {
    bits = (bits << 6) | BASE64.indexOf(digits[i]!);
    if (i % 4 !== 0) bytes[at++] = bits >> (6 - 2 * (i % 4));
  }
  return bytes;
}
