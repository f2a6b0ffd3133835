/**
 * The header of an image: what flash it holds, checked before anything else of the file is used.
 *
 * The version is looked at before the checksum, since another version may have another header; the
 * length of the file after it, so that a damaged header is told from a file that was cut.
 */
import { Geometry, type GeometryCounts } from '../../hal/geometry.ts';
import { crc32Of } from '../../hal/sim/crc.ts';
import { RunError } from '../errors.ts';
import {
  HEADER_BYTES,
  HEADER_CRC_AT,
  HeaderRecord,
  IMAGE_VERSION,
  ImageLayout,
  JSON_AT,
  JSON_BYTES_MAX,
  MAGIC,
} from './format.ts';
import { PositionalFile } from './positional-file.ts';

/** What the pages of an image are: real bytes, or tags (hal/content). */
export type ContentKind = 'bytes' | 'tags';

/** What an image says of itself, as JSON in its header. */
export interface ImageHeader {
  /** Id of the drive's profile. */
  readonly profile: string;
  /** Id of the flash part. */
  readonly part: string;
  readonly content: ContentKind;
  readonly geometry: GeometryCounts;
  /** Seed of what belongs to places of the flash: strengths, factory bad blocks. */
  readonly seed: string;
  /** Program and version that made the image. */
  readonly createdBy: string;
}

const GEOMETRY_FIELDS = [
  ...(['channels', 'diesPerChannel', 'planes', 'blocksPerDie'] as const),
  ...(['pagesPerBlock', 'pageBytes', 'spareBytes'] as const),
];
/** Slot numbers are 31-bit integers. */
const SLOTS_MAX = 2 ** 31;

/** The first 4096 bytes of an image. Throws RunError when the texts are too long. */
export function encodeHeader(header: ImageHeader, layout: ImageLayout): Uint8Array {
  const { profile, part, content, seed, createdBy } = header;
  const counts = GEOMETRY_FIELDS.map((name) => [name, header.geometry[name]]);
  const geometry = Object.fromEntries(counts);
  const json = { profile, part, content, geometry, seed, createdBy };
  const text = new TextEncoder().encode(JSON.stringify(json));
  if (text.length > JSON_BYTES_MAX) {
    const most = `at most ${JSON_BYTES_MAX} fit`;
    throw new RunError(`the header of an image would have ${text.length} bytes of text; ${most}`);
  }
  const page = new Uint8Array(HEADER_BYTES);
  page.set(text, JSON_AT);
  const { fileBytes, blockTableAt, pageRecordsAt, dataAt } = layout;
  const fields = { fileBytes, blockTableAt, pageRecordsAt, dataAt };
  const values = { magic: MAGIC, version: IMAGE_VERSION, jsonBytes: text.length, ...fields };
  HeaderRecord.encodeInto({ ...values, crc: 0 }, page);
  HeaderRecord.encodeInto({ ...values, crc: crc32Of(page) }, page);
  return page;
}

/**
 * Reads and checks the header of a file.
 * @throws RunError saying what is wrong, at which byte, and what would be right
 */
export function readHeader(file: PositionalFile): { header: ImageHeader; layout: ImageLayout } {
  const { path } = file;
  if (!file.isFile()) throw new RunError(`${path}: this is no regular file; an image is one`);
  const { fileBytes } = file.sizes();
  if (fileBytes < HEADER_BYTES) {
    const needed = `its header alone has ${HEADER_BYTES}`;
    throw new RunError(`${path}: this is no image: it has ${fileBytes} bytes, ${needed}`);
  }
  const page = new Uint8Array(HEADER_BYTES);
  file.read(0, page);
  const { magic, ...found } = HeaderRecord.decode(page);
  if (magic.some((byte, i) => byte !== MAGIC[i])) {
    throw new RunError(`${path}: byte 0: this is no image: it does not begin with 'BF3NAND'`);
  }
  if (found.version !== IMAGE_VERSION) {
    const reads = `this program reads version ${IMAGE_VERSION}`;
    throw new RunError(`${path}: byte 8: the image has version ${found.version}; ${reads}`);
  }
  checkCrc(path, page, found.crc);
  const header = parseHeader(path, page, found.jsonBytes);
  const layout = new ImageLayout(new Geometry(header.geometry));
  for (const name of ['fileBytes', 'blockTableAt', 'pageRecordsAt', 'dataAt'] as const) {
    if (found[name] === layout[name]) continue;
    const at = `byte ${HeaderRecord.offsetOf(name)}`;
    const right = `its geometry makes it ${layout[name]}`;
    throw new RunError(`${path}: ${at}: ${name} is ${found[name]}; ${right}`);
  }
  if (fileBytes !== layout.fileBytes) {
    const fault = fileBytes < layout.fileBytes ? 'the image is cut short' : 'bytes are left over';
    const right = `its header says ${layout.fileBytes}`;
    const at = Math.min(fileBytes, layout.fileBytes);
    throw new RunError(`${path}: byte ${at}: ${fault}: it has ${fileBytes} bytes, ${right}`);
  }
  return { header, layout };
}

/**
 * What an image says of itself; nobody else's writing is waited for, and no lock is taken.
 * @throws RunError as readHeader does
 */
export function headerOf(path: string): ImageHeader {
  const file = new PositionalFile(path, 'r');
  try {
    return readHeader(file).header;
  } finally {
    file.close();
  }
}

/**
 * Makes sure that an image fits a drive.
 * @throws RunError naming the first field that differs
 */
export function checkFits(path: string, header: ImageHeader, wanted: ImageHeader): void {
  const differs = (field: string, has: unknown, needs: unknown): never => {
    throw new RunError(
      `${path}: header: ${field} is ${String(has)}; this drive needs ${String(needs)}`,
    );
  };
  for (const name of ['profile', 'part', 'content'] as const) {
    if (header[name] !== wanted[name]) differs(name, header[name], wanted[name]);
  }
  for (const name of GEOMETRY_FIELDS) {
    const [has, needs] = [header.geometry[name], wanted.geometry[name]];
    if (has !== needs) differs(`geometry.${name}`, has, needs);
  }
}

function checkCrc(path: string, page: Uint8Array, expected: number): void {
  const zeroed = page.slice();
  zeroed.fill(0, HEADER_CRC_AT, HEADER_CRC_AT + 4);
  const crc = crc32Of(zeroed);
  if (crc === expected) return;
  const fault = `the header is damaged: its CRC is ${crc}, ${expected} expected`;
  throw new RunError(`${path}: bytes 0 to ${HEADER_BYTES - 1}: ${fault}`);
}

function parseHeader(path: string, page: Uint8Array, jsonBytes: number): ImageHeader {
  const fail = (what: string): never => {
    throw new RunError(`${path}: byte ${JSON_AT}: header: ${what}`);
  };
  if (jsonBytes > JSON_BYTES_MAX) fail(`${jsonBytes} bytes of JSON; at most ${JSON_BYTES_MAX} fit`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(page.subarray(JSON_AT, JSON_AT + jsonBytes)));
  } catch {
    fail('this is no JSON');
  }
  const json = objectOf(value) ?? fail('a JSON object is wanted');
  const text = (name: string): string => {
    const field = json[name];
    return typeof field === 'string' ? field : fail(`${name}: a text is wanted`);
  };
  const content = text('content');
  if (content !== 'bytes' && content !== 'tags') fail(`content: "bytes" or "tags" is wanted`);
  const counts = objectOf(json.geometry) ?? fail('geometry: an object is wanted');
  const geometry = checkGeometry(counts, fail);
  const texts = { profile: text('profile'), part: text('part'), seed: text('seed') };
  return {
    ...texts,
    ...{ content: content as ContentKind, geometry, createdBy: text('createdBy') },
  };
}

function checkGeometry(
  counts: Readonly<Record<string, unknown>>,
  fail: (what: string) => never,
): GeometryCounts {
  for (const name of GEOMETRY_FIELDS) {
    const count = counts[name];
    if (Number.isSafeInteger(count) && (count as number) >= 1 && (count as number) <= SLOTS_MAX) {
      continue;
    }
    fail(`geometry.${name}: ${String(count)}; a whole number from 1 to 2^31 is wanted`);
  }
  const geometry = counts as unknown as GeometryCounts;
  const { channels, diesPerChannel, blocksPerDie, pagesPerBlock, pageBytes, planes } = geometry;
  const blocks = channels * diesPerChannel * blocksPerDie;
  if (blocks * pagesPerBlock * (pageBytes / 4096) >= SLOTS_MAX) {
    fail('geometry: fewer than 2^31 slots are wanted');
  }
  if (planes > blocksPerDie) fail('geometry.planes: no more than blocksPerDie are wanted');
  try {
    new Geometry(geometry);
  } catch (error) {
    fail(`geometry: ${error instanceof Error ? error.message : String(error)}`);
  }
  return geometry;
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)
    : null;
}
