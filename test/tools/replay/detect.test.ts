import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { RunError, UsageError } from '../../../tools/errors.ts';
import { detectFormat, readTraceFile, TRACE_FORMATS } from '../../../tools/replay/detect.ts';

const folder = mkdtempSync(join(tmpdir(), 'bf3-trace-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(content: string | Uint8Array): string {
  const path = join(folder, 'trace');
  writeFileSync(path, content);
  return path;
}

function detected(text: string): string {
  return detectFormat(Buffer.from(text), 't').name;
}

const KNOWN =
  'fio (fio iolog v2 and v3), blkparse (blkparse text), blktrace (blktrace binary), ' +
  'msr (MSR Cambridge CSV), spc (SPC (UMass Financial, WebSearch)), disksim (DiskSim ASCII), ' +
  'mqsim (MQSim ASCII)';

describe('detectFormat', () => {
  test.each([
    ['128166477394345573,hm,1,Read,383496192,32768,113736', 'msr'],
    ['938944000 13 93230992 32 0', 'mqsim'],
    ['0,303567,3584,w,0.000000', 'spc'],
    ['0,303567,3584,W,0,more,columns', 'spc'],
    ['13.191135 30 0 5 1', 'disksim'],
    ['0 0 0 8 1\n0.5 0 8 8 1', 'disksim'],
    ['0 0 0 8 1\n1 0 8 8 1\n2.5 0 8 8 1', 'mqsim'],
    ['13 30 0 5 b\n14 30 0 5 a', 'disksim'],
    ['8,0 0 1 0.000000000 103 Q RA 1048448 + 8 [mkfs.ext4]', 'blkparse'],
    ['fio version 2 iolog', 'fio'],
    ['fio version 9 iolog', 'fio'],
  ])('%j is %s', (text, name) => {
    expect(detected(text)).toBe(name);
  });

  test('a minority of damaged lines does not hide the format', () => {
    expect(detected(`damaged\n${'1 0 8 8 1\n'.repeat(2)}`)).toBe('mqsim');
    expect(() => readTraceFile(file(`1 0 8 8 1\n1 0 8 8\n1 0 8 8 1\n`))).toThrow(
      'trace:2: 4 columns "1 0 8 8"; expected 5: arrival in ns',
    );
  });

  test.each([
    ['timestamps and a LUN', '1455592511.16,0.0019,R,3,24576,4096'],
    ['a header only', 'Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime'],
    ['four columns', '1 2 3 4'],
    ['prose', 'It was a dark and stormy night'],
    ['zeros', '\0'.repeat(4096)],
  ])('%s is no known format', (_, text) => {
    expect(() => detected(text)).toThrow(RunError);
  });

  test('the message shows the first line, cut to 80 characters', () => {
    const long = 'abcdefghij'.repeat(20);
    expect(() => detected(`${long}\nsecond`)).toThrow(
      `t:1: unknown trace format "${long.slice(0, 77)}..."; expected one of ${KNOWN}`,
    );
    expect(() => detected('a\tb\u0000c\nsecond')).toThrow('t:1: unknown trace format "a?b?c"; ');
  });
});

describe('readTraceFile', () => {
  test('reads by content or by name', () => {
    const path = file('13 30 0 5 1\n14 30 8 5 0\n');
    expect(readTraceFile(path).format).toBe('mqsim');
    expect(readTraceFile(path).summary().spanNs).toBe(1);
    expect(readTraceFile(path, { format: 'disksim' }).summary().spanNs).toBe(1e6);
  });

  test('every format can be named', () => {
    for (const { name } of TRACE_FORMATS) {
      expect(() => readTraceFile(file('?'), { format: name })).toThrow(RunError);
    }
    expect(() => readTraceFile(file('?'), { format: 'blktrace' })).toThrow(
      'byte 0: 1 bytes at the end; expected a record of 48 bytes',
    );
  });

  test.each([
    ['an empty file', '', `trace: the file is empty; expected a trace: ${KNOWN}`],
    ['blank lines', '\n\n \n', 'trace:1: unknown trace format ""; expected one of'],
    [
      'nothing to replay',
      'fio version 2 iolog\na add\na close\n',
      'trace: no operation to replay (format fio); expected a read, write, trim or flush',
    ],
    ['gzip', gzipSync('1 0 8 8 1\n'), 'compressed with gzip; expected a plain file'],
  ])('%s', (_, content, message) => {
    expect(() => readTraceFile(file(content))).toThrow(RunError);
    expect(() => readTraceFile(file(content))).toThrow(message);
  });

  test('a device that is not in the trace', () => {
    const path = file('1 0 8 8 1\n2 3 8 8 1\n');
    expect(readTraceFile(path, { device: '3' }).count).toBe(1);
    expect(() => readTraceFile(path, { device: '7' })).toThrow(
      'trace: no operation of device "7"; expected one of: 0 3',
    );
  });

  test('a format that does not exist is a usage error', () => {
    const read = () => readTraceFile(file('1 0 8 8 1\n'), { format: 'xls' });
    expect(read).toThrow(UsageError);
    expect(read).toThrow(`unknown trace format "xls"; expected one of ${KNOWN}`);
  });

  test('files that cannot be read', () => {
    const missing = join(folder, 'missing');
    expect(() => readTraceFile(missing)).toThrow(RunError);
    expect(() => readTraceFile(missing)).toThrow(`${missing}: cannot be read: no such file`);
    expect(() => readTraceFile(folder)).toThrow(`${folder}: cannot be read: it is a directory`);
  });
});
