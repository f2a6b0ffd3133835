import { describe, expect, test } from 'vitest';
import { blktrace } from '../../../tools/replay/formats/blktrace.ts';
import { type Trace, TraceKind } from '../../../tools/replay/trace.ts';

/** Categories of include/uapi/linux/blktrace_api.h, in the high half of the action. */
const WRITE = 1 << 1;
const FLUSH = 1 << 2;
const PC = 1 << 9;
const NOTIFY = 1 << 10;
const DISCARD = 1 << 13;
const FUA = 1 << 15;
const DISPATCHED = 7;
const QUEUED = 1;
const CGROUP = 0x100;

interface Fields {
  ns?: bigint;
  sector?: bigint;
  bytes?: number;
  event?: number;
  category?: number;
  device?: number;
  pdu?: number;
}

function record(fields: Fields, little = true): Uint8Array {
  const { ns = 0n, sector = 0n, bytes = 0, event = DISPATCHED, category = 0 } = fields;
  const { device = 0x800000, pdu = 0 } = fields;
  const view = new DataView(new ArrayBuffer(48 + pdu));
  view.setUint32(0, 0x65617407, little);
  view.setBigUint64(8, ns, little);
  view.setBigUint64(16, sector, little);
  view.setUint32(24, bytes, little);
  view.setUint32(28, ((category << 16) | event) >>> 0, little);
  view.setUint32(36, device, little);
  view.setUint16(46, pdu, little);
  return new Uint8Array(view.buffer);
}

function rows(trace: Trace): string[] {
  return Array.from(trace.kind, (kind, i) => {
    const fua = trace.fua[i] === 1 ? ' FUA' : '';
    return `${trace.atNs[i]} ${TraceKind[kind]} ${trace.lba[i]} ${trace.sectors[i]}${fua}`;
  });
}

function workload(little: boolean): Uint8Array {
  // Uptime beyond 2^53 ns, and an address beyond 2^32 sectors.
  const boot = 2n ** 60n + 1n;
  return Buffer.concat([
    record({ event: 1, category: NOTIFY, pdu: 16, ns: 5n }, little),
    record({ ns: boot, sector: 2n ** 33n, bytes: 4096, category: WRITE }, little),
    record({ ns: boot + 3n, bytes: 0, category: FLUSH, sector: 2n ** 64n - 1n }, little),
    record({ ns: boot + 2n, bytes: 512, event: DISPATCHED | CGROUP, pdu: 8 }, little),
    record({ ns: boot + 4n, bytes: 1 << 31, category: DISCARD | WRITE }, little),
    record({ ns: boot + 5n, bytes: 36, category: PC }, little),
    record({ ns: boot + 6n, bytes: 512, category: WRITE | FUA, device: (8 << 20) | 16 }, little),
    record({ ns: boot + 7n, bytes: 512, event: QUEUED }, little),
  ]);
}

describe('blktrace records', () => {
  test.each([
    ['little', true],
    ['big', false],
  ])('%s endian: kinds, times and addresses of 64 bits', (_, little) => {
    const trace = blktrace.read(workload(little), 'b');
    expect(rows(trace)).toEqual([
      '0 Write 8589934592 8',
      '2 Read 0 1',
      '3 Flush 0 0',
      '4 Trim 0 4194304',
      '6 Write 0 1 FUA',
    ]);
    expect([...trace.devices]).toEqual([
      ['8,0', 4],
      ['8,16', 1],
    ]);
  });

  test('a device can be chosen', () => {
    const trace = blktrace.read(workload(true), 'b', { device: '8,16' });
    expect(rows(trace)).toEqual(['0 Write 0 1 FUA']);
  });

  test('Q events when there is no D', () => {
    const queued = record({ event: QUEUED, category: FLUSH | WRITE | FUA, bytes: 1024 });
    expect(rows(blktrace.read(queued, 'b'))).toEqual(['0 Flush 0 0', '0 Write 0 2 FUA']);
    expect(blktrace.read(queued, 'b', { events: 'D' }).count).toBe(0);
  });

  test('damage is named with its byte offset', () => {
    const good = record({ bytes: 512, pdu: 8 });
    const read = (...parts: Uint8Array[]) => blktrace.read(Buffer.concat(parts), 'b');
    expect(() => read(good, good.subarray(0, 20))).toThrow(
      'b: byte 56: 20 bytes at the end; expected a record of 48 bytes',
    );
    expect(() => read(good, good.subarray(0, 51))).toThrow(
      'b: byte 56: a record with 3 bytes of PDU before the end; expected the 8 bytes that it',
    );
    expect(() => read(good, new Uint8Array(48))).toThrow(
      'b: byte 56: magic 00000000h; expected 65617407h',
    );
    const other = record({ bytes: 512 });
    other[0] = 6;
    expect(() => read(other)).toThrow('b: byte 0: record version 6; expected version 7');
    const far = record({ bytes: 512, sector: 2n ** 63n });
    expect(() => read(good, far)).toThrow('b: byte 56: sector 9223372036854776000; expected an');
    const late = record({ bytes: 512, ns: 2n ** 60n });
    expect(() => read(good, late)).toThrow('b: byte 64: a time; expected one within 104 days');
  });
});
