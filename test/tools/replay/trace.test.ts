import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RunError } from '../../../tools/errors.ts';
import { PlaceUnit, Trace, TraceKind } from '../../../tools/replay/trace.ts';

const { Read, Write, Trim, Flush } = TraceKind;

function newTrace(): Trace {
  return new Trace({ format: 'mqsim', fileName: 'a.trace' });
}

describe('Trace', () => {
  test('sums up kinds, bytes, the highest sector and the span', () => {
    const trace = newTrace();
    trace.add(500, Write, 8, 16, true, 1);
    trace.add(700, Read, 0, 8, false, 2);
    trace.add(900, Trim, 1000, 24, false, 3);
    trace.add(1500, Flush, 0, 0, false, 4);
    expect(trace.finish().summary()).toEqual({
      reads: 1,
      writes: 1,
      trims: 1,
      flushes: 1,
      fuaWrites: 1,
      readBytes: 4096,
      writtenBytes: 8192,
      trimmedBytes: 12288,
      neededSectors: 1024,
      spanNs: 1000,
    });
  });

  test('an empty trace has an empty summary', () => {
    const summary = newTrace().finish().summary();
    expect(Object.values(summary).every((value) => value === 0)).toBe(true);
  });

  test('sorts by time, keeps file order within one time and starts at 0', () => {
    const rows = fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 3000 });
    fc.assert(
      fc.property(rows, (times) => {
        const trace = newTrace();
        times.forEach((atNs, i) => {
          trace.add(atNs, Write, i, 1, false, i + 1);
        });
        trace.finish();
        const order = times.map((atNs, i) => ({ atNs, i })).sort((a, b) => a.atNs - b.atNs);
        expect([...trace.lba]).toEqual(order.map(({ i }) => i));
        expect([...trace.place]).toEqual(order.map(({ i }) => i + 1));
        expect([...trace.atNs]).toEqual(order.map(({ atNs }) => atNs - order[0]!.atNs));
      }),
      { numRuns: 30 },
    );
  });

  test('columns are as long as the trace after finish', () => {
    const trace = newTrace();
    for (let i = 0; i < 5000; i++) trace.add(i, Read, i, 1, false, i + 1);
    trace.finish();
    const { atNs, kind, lba, sectors, fua, place } = trace;
    expect([atNs, kind, lba, sectors, fua, place].map((c) => c.length)).toEqual(
      Array(6).fill(5000),
    );
  });

  test('widens bytes to whole sectors', () => {
    const trace = newTrace();
    trace.addBytes(0, Read, 511, 2, 1);
    trace.addBytes(1, Read, 512, 512, 2);
    trace.addBytes(2, Read, 1000, 1, 3);
    trace.addBytes(3, Read, 77, 0, 4);
    trace.finish();
    expect([...trace.lba]).toEqual([0, 1, 1]);
    expect([...trace.sectors]).toEqual([2, 1, 1]);
    expect(trace.emptyCount).toBe(1);
  });

  test('refuses lengths and addresses that no row can hold', () => {
    const trace = newTrace();
    expect(() => trace.add(0, Trim, 0, 2 ** 31, false, 9)).toThrow(
      'a.trace:9: a length of 2147483648 sectors; expected at most 2147483647',
    );
    expect(() => trace.add(0, Read, Number.MAX_SAFE_INTEGER, 1, false, 9)).toThrow(
      'a.trace:9: sector 9007199254740991; expected an address below 2^53',
    );
    expect(trace.count).toBe(0);
  });

  test('counts operations for each device and takes the chosen one', () => {
    const trace = new Trace({ format: 'spc', fileName: 'f', device: '1' });
    expect(['0', '1', '1'].map((device) => trace.takes(device))).toEqual([false, true, true]);
    expect([...trace.devices]).toEqual([
      ['0', 1],
      ['1', 2],
    ]);
  });
});

describe('capacity', () => {
  test('checkFits names the first operation beyond the drive', () => {
    const trace = newTrace();
    trace.add(0, Write, 92, 8, false, 1);
    trace.add(1, Flush, 0, 0, false, 2);
    trace.add(2, Read, 96, 8, false, 3);
    trace.add(3, Read, 500, 8, false, 4);
    trace.finish();
    expect(() => trace.checkFits(508)).not.toThrow();
    expect(() => trace.checkFits(100)).toThrow(RunError);
    expect(() => trace.checkFits(100)).toThrow(
      'a.trace:3: a read of 8 sectors at LBA 96 ends beyond the drive; the trace needs 508 ' +
        'sectors, the drive has 100; --wrap folds the addresses into the drive',
    );
  });

  test('a binary trace names the byte offset', () => {
    const origin = { format: 'blktrace', fileName: 'b', placeUnit: PlaceUnit.Byte };
    const trace = new Trace(origin);
    trace.add(0, Trim, 0, 8, false, 4096);
    expect(() => trace.finish().checkFits(4)).toThrow('b: byte 4096: a trim of 8 sectors at LBA 0');
  });

  test('wrap makes everything fit, keeps lengths and leaves alone what fits', () => {
    const operations = fc.array(
      fc.record({ lba: fc.nat({ max: 2 ** 40 }), sectors: fc.integer({ min: 1, max: 300 }) }),
      { minLength: 1, maxLength: 100 },
    );
    fc.assert(
      fc.property(operations, fc.integer({ min: 1, max: 5000 }), (rows, capacity) => {
        const trace = newTrace();
        rows.forEach(({ lba, sectors }, i) => {
          trace.add(i, Write, lba, sectors, false, i + 1);
        });
        trace.finish();
        const outside = rows.filter(({ lba, sectors }) => lba + sectors > capacity).length;
        expect(trace.wrap(capacity)).toBe(outside);
        expect(() => trace.checkFits(capacity)).not.toThrow();
        const lengths = rows.map(({ sectors }) => Math.min(sectors, capacity));
        expect([...trace.sectors]).toEqual(lengths);
        const start = (lba: number, length: number) =>
          Math.min(lba % capacity, capacity - Math.min(length, capacity));
        expect([...trace.lba]).toEqual(rows.map(({ lba, sectors }) => start(lba, sectors)));
        expect(trace.wrap(capacity)).toBe(0);
      }),
    );
  });
});
