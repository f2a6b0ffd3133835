import { RunError } from '../../errors.ts';
import { PlaceUnit, Trace, TraceKind } from '../trace.ts';
import { addBlockEvent } from './block_events.ts';
import type { ReadOptions, TraceFormat } from './format.ts';

/** struct blk_io_trace of include/uapi/linux/blktrace_api.h: byte offsets and sizes. */
const HEADER_BYTES = 48;
const MAGIC_AT = 0;
const TIME_AT = 8;
const SECTOR_AT = 16;
const BYTES_AT = 24;
const ACTION_AT = 28;
const DEVICE_AT = 36;
const PDU_BYTES_AT = 46;

const MAGIC = 0x65617407;
const VERSION_MASK = 0xff;
const TWO_32 = 2 ** 32;
const SECTOR_BYTES = 512;
const MINOR_BITS = 20;

/** Low half of `action`: what happened. Bit 8 only says that the PDU names a control group. */
const EVENT_MASK = 0xfeff;
const QUEUED = 1;
const DISPATCHED = 7;
/** High half of `action`: BLK_TC_* categories, shifted by 16. */
const WRITE = 1 << 17;
const FLUSH = 1 << 18;
const PASSTHROUGH = 1 << 25;
const NOTIFY = 1 << 26;
const DISCARD = 1 << 29;
const FUA = 1 << 31;

/**
 * Binary Linux block traces: `struct blk_io_trace` records of 48 bytes, each followed by its PDU,
 * in either byte order, as blktrace writes them or as `blkparse -d` joins them in one stream.
 * Of the files that blktrace writes, one a processor, each holds its processor's part only.
 *
 * As in blkparse text, dispatched requests (D) are taken, or queued ones (Q) in a trace without
 * any D; messages and passthrough requests are left out. Operations are sorted by time.
 */
export const blktrace: TraceFormat = {
  name: 'blktrace',
  title: 'blktrace binary',
  score: (bytes) => (byteOrder(bytes) === undefined ? 0 : 1),
  read(source, fileName, options = {}) {
    const bytes = typeof source === 'string' ? Buffer.from(source, 'latin1') : source;
    const trace = readRecords(bytes, fileName, options, options.events ?? 'D');
    if (trace.devices.size > 0 || options.events !== undefined) return trace;
    return readRecords(bytes, fileName, options, 'Q');
  },
};

function readRecords(
  bytes: Uint8Array,
  fileName: string,
  options: ReadOptions,
  events: 'D' | 'Q',
): Trace {
  const { device } = options;
  const trace = new Trace({ format: 'blktrace', fileName, placeUnit: PlaceUnit.Byte, device });
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const little = byteOrder(bytes) ?? true;
  const wanted = events === 'D' ? DISPATCHED : QUEUED;
  const base = firstTime(view, little);
  let at = 0;
  while (at < view.byteLength) {
    checkRecord(view, at, little, fileName);
    const action = view.getUint32(at + ACTION_AT, little);
    const requested = (action & (NOTIFY | PASSTHROUGH)) === 0;
    if (requested && (action & EVENT_MASK) === wanted) addRecord(trace, view, at, little, base);
    at += HEADER_BYTES + view.getUint16(at + PDU_BYTES_AT, little);
  }
  return trace.finish();
}

/** A time of 64 bits in two halves: since boot it may pass 2^53 ns, relative to another not. */
interface SplitTime {
  readonly high: number;
  readonly low: number;
}

function addRecord(
  trace: Trace,
  view: DataView,
  at: number,
  little: boolean,
  base: SplitTime,
): void {
  if (!trace.takes(deviceName(view.getUint32(at + DEVICE_AT, little)))) return;
  const action = view.getUint32(at + ACTION_AT, little);
  const bytes = view.getUint32(at + BYTES_AT, little);
  const time = splitTime(view, at, little);
  const atNs = (time.high - base.high) * TWO_32 + (time.low - base.low);
  if (!Number.isSafeInteger(atNs)) {
    throw damaged(trace.fileName, at + TIME_AT, 'a time', 'one within 104 days of the first');
  }
  const kind = action & DISCARD ? TraceKind.Trim : action & WRITE ? TraceKind.Write : undefined;
  const flags = {
    kind: kind ?? (bytes > 0 ? TraceKind.Read : undefined),
    flush: (action & FLUSH) !== 0,
    fua: (action & FUA) !== 0,
  };
  const lba = Number(view.getBigUint64(at + SECTOR_AT, little));
  addBlockEvent(trace, flags, atNs, lba, Math.ceil(bytes / SECTOR_BYTES), at);
}

function firstTime(view: DataView, little: boolean): SplitTime {
  for (let at = 0; at + HEADER_BYTES <= view.byteLength; ) {
    if ((view.getUint32(at + ACTION_AT, little) & NOTIFY) === 0) return splitTime(view, at, little);
    at += HEADER_BYTES + view.getUint16(at + PDU_BYTES_AT, little);
  }
  return { high: 0, low: 0 };
}

function splitTime(view: DataView, at: number, little: boolean): SplitTime {
  const first = view.getUint32(at + TIME_AT, little);
  const second = view.getUint32(at + TIME_AT + 4, little);
  return little ? { high: second, low: first } : { high: first, low: second };
}

function checkRecord(view: DataView, at: number, little: boolean, fileName: string): void {
  const left = view.byteLength - at;
  if (left < HEADER_BYTES) {
    throw damaged(fileName, at, `${left} bytes at the end`, `a record of ${HEADER_BYTES} bytes`);
  }
  const magic = view.getUint32(at + MAGIC_AT, little);
  if (magic !== MAGIC) {
    const sameFormat = (magic & ~VERSION_MASK) >>> 0 === (MAGIC & ~VERSION_MASK) >>> 0;
    const noun = sameFormat ? `record version ${magic & VERSION_MASK}` : `magic ${hex(magic)}`;
    const expected = sameFormat ? `version ${MAGIC & VERSION_MASK}` : hex(MAGIC);
    throw damaged(fileName, at, noun, expected);
  }
  const pduBytes = view.getUint16(at + PDU_BYTES_AT, little);
  if (HEADER_BYTES + pduBytes > left) {
    const found = `a record with ${left - HEADER_BYTES} bytes of PDU before the end`;
    throw damaged(fileName, at, found, `the ${pduBytes} bytes that it announces`);
  }
}

/** True for little endian, false for big endian, undefined when the bytes are no blktrace. */
function byteOrder(bytes: Uint8Array): boolean | undefined {
  const is = (...magic: number[]) => magic.every((byte, i) => byte < 0 || bytes[i] === byte);
  if (bytes.length < 4) return undefined;
  if (is(-1, 0x74, 0x61, 0x65)) return true;
  return is(0x65, 0x61, 0x74, -1) ? false : undefined;
}

function deviceName(device: number): string {
  return `${device >>> MINOR_BITS},${device & ((1 << MINOR_BITS) - 1)}`;
}

function damaged(fileName: string, at: number, found: string, expected: string): RunError {
  return new RunError(`${fileName}: byte ${at}: ${found}; expected ${expected}`);
}

function hex(value: number): string {
  return `${value.toString(16).padStart(8, '0')}h`;
}
