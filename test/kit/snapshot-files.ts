/**
 * Snapshot files for tests: made from the toy machine, taken apart and sealed again by the
 * description of the format alone.
 */
import { checksumOf } from '../../hal/sim/checksum.ts';
import type { Machine } from '../../hal/sim/snapshot.ts';
import { encodeSnapshot, SnapshotFile, type SnapshotSource } from '../../hal/sim/snapshot-file.ts';
import { ToyMachine } from './toy-machine.ts';

export const HEADER_BYTES = 40;

export type Json = { [name: string]: unknown };

export function toyAt(ordinal: number, cells?: number): ToyMachine {
  const toy = new ToyMachine(cells);
  toy.timeline.runToOrdinal(ordinal);
  return toy;
}

export function fileOf(machine: Machine, metadata?: { [name: string]: string }): Uint8Array {
  return Buffer.concat(encodeSnapshot(machine, metadata));
}

/** A file with correct lengths and checksums around any structure. */
export function seal(
  json: unknown,
  binary: Uint8Array,
  header: { version?: number } = {},
): Uint8Array {
  const text = Buffer.from(typeof json === 'string' ? json : JSON.stringify(json));
  const padded = Buffer.concat([text, Buffer.alloc(-text.length & 7, ' ')]);
  const head = Buffer.alloc(HEADER_BYTES);
  head.write('BF3SNAP\0', 'latin1');
  head.writeUInt32LE(header.version ?? 1, 8);
  head.writeUInt32LE(padded.length, 12);
  head.writeUIntLE(binary.length, 16, 6);
  head.writeUInt32LE(checksumOf(padded), 24);
  head.writeUInt32LE(checksumOf(binary), 28);
  head.writeUInt32LE(checksumOf(head.subarray(0, 36)), 36);
  return Buffer.concat([head, padded, binary]);
}

/** Structure and binary block of a file, by the description of the format alone. */
export function split(file: Uint8Array): { json: Json; binary: Uint8Array } {
  const bytes = Buffer.from(file);
  const jsonBytes = bytes.readUInt32LE(12);
  const text = bytes.subarray(HEADER_BYTES, HEADER_BYTES + jsonBytes).toString('utf8');
  return { json: JSON.parse(text) as Json, binary: bytes.subarray(HEADER_BYTES + jsonBytes) };
}

/** Restores into a machine that has run elsewhere; throws what restoring throws. */
export function attempt(file: Uint8Array | SnapshotSource, toy = toyAt(31)): void {
  const before = toy.fingerprint;
  try {
    SnapshotFile.open(file).restoreInto(toy.machine);
  } catch (error) {
    if (toy.fingerprint !== before) throw new Error(`half restored after ${String(error)}`);
    throw error;
  }
}

export function errorOf(file: Uint8Array | SnapshotSource, toy?: ToyMachine): Error | null {
  try {
    attempt(file, toy);
  } catch (error) {
    return error as Error;
  }
  return null;
}
