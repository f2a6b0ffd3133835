/**
 * The header of a snapshot file: 40 bytes that say what follows; snapshot-file.ts draws the file.
 *
 * The version is checked before the checksum, since another version may have another header. The
 * checksum comes before the lengths, so that a damaged length is told from a file that was cut.
 */

import { checksumOf } from './checksum.ts';
import { bytes, record, reserved, u32, u48 } from './record.ts';
import {
  ALIGN_BYTES,
  readExactly,
  SnapshotFileError,
  type SnapshotSource,
} from './snapshot-block.ts';

export const SNAPSHOT_FILE_VERSION = 1;

const SnapshotHeader = record({
  magic: bytes(8),
  version: u32,
  jsonBytes: u32,
  binaryBytes: u48,
  padding: reserved(2),
  jsonChecksum: u32,
  binaryChecksum: u32,
  spare: reserved(4),
  headerChecksum: u32,
});
export const HEADER_BYTES = SnapshotHeader.span;
const HEADER_CHECKSUM_AT = SnapshotHeader.offsetOf('headerChecksum');
const MAGIC = new TextEncoder().encode('BF3SNAP\0');
/** More structure than any machine has; longer text does not fit into a string of every engine. */
export const JSON_BYTES_MAX = 2 ** 28;

/** What the header tells about the rest of the file; lengths in bytes. */
export interface HeaderValues {
  jsonBytes: number;
  binaryBytes: number;
  jsonChecksum: number;
  binaryChecksum: number;
}

export function encodeHeader(values: HeaderValues): Uint8Array {
  const header = SnapshotHeader.encode({
    magic: MAGIC,
    version: SNAPSHOT_FILE_VERSION,
    ...values,
    headerChecksum: 0,
  });
  header.writeUInt32LE(checksumOf(header.subarray(0, HEADER_CHECKSUM_AT)), HEADER_CHECKSUM_AT);
  return header;
}

/** Reads and checks the header; throws SnapshotFileError when the file is none, damaged or cut. */
export function readHeader(source: SnapshotSource): HeaderValues {
  const { size } = source;
  if (size < HEADER_BYTES) {
    throw new SnapshotFileError(0, `${size} bytes are too short; the header has ${HEADER_BYTES}`);
  }
  const raw = readExactly(source, 0, HEADER_BYTES).slice();
  const { magic, ...header } = SnapshotHeader.decode(raw);
  if (magic.some((byte, index) => byte !== MAGIC[index])) {
    throw new SnapshotFileError(0, "this is no snapshot: it does not begin with 'BF3SNAP'");
  }
  if (header.version !== SNAPSHOT_FILE_VERSION) {
    const found = `the file has version ${header.version}`;
    throw new SnapshotFileError(8, `${found}; this program reads ${SNAPSHOT_FILE_VERSION}`);
  }
  const checksum = checksumOf(raw.subarray(0, HEADER_CHECKSUM_AT));
  if (checksum !== header.headerChecksum) {
    const expected = `${header.headerChecksum} expected`;
    throw new SnapshotFileError(
      HEADER_CHECKSUM_AT,
      `the header is damaged: its checksum is ${checksum}, ${expected}`,
    );
  }
  const { jsonBytes, binaryBytes } = header;
  if (jsonBytes % ALIGN_BYTES !== 0 || jsonBytes > JSON_BYTES_MAX) {
    const right = `a multiple of ${ALIGN_BYTES} up to ${JSON_BYTES_MAX} expected`;
    throw new SnapshotFileError(12, `${jsonBytes} bytes of JSON, ${right}`);
  }
  if (binaryBytes % ALIGN_BYTES !== 0) {
    const right = `a multiple of ${ALIGN_BYTES} expected`;
    throw new SnapshotFileError(16, `${binaryBytes} bytes of arrays, ${right}`);
  }
  const expected = HEADER_BYTES + jsonBytes + binaryBytes;
  if (size === expected) return header;
  const fault = size < expected ? 'the file is cut short' : 'bytes are left over at the end';
  throw new SnapshotFileError(
    Math.min(size, expected),
    `${fault}: it has ${size} bytes, its header says ${expected}`,
  );
}
