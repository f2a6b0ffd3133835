import { describe, expect, test } from 'vitest';
import { RunError } from '../../../tools/errors.ts';
import { blkparse } from '../../../tools/replay/formats/blkparse.ts';
import { disksim } from '../../../tools/replay/formats/disksim.ts';
import { fio } from '../../../tools/replay/formats/fio.ts';
import type { TraceFormat } from '../../../tools/replay/formats/format.ts';
import { mqsim } from '../../../tools/replay/formats/mqsim.ts';
import { msr } from '../../../tools/replay/formats/msr.ts';
import { spc } from '../../../tools/replay/formats/spc.ts';
import { type Trace, TraceKind } from '../../../tools/replay/trace.ts';

/** `ns kind lba sectors [FUA]` of each operation. */
function rows(trace: Trace): string[] {
  return Array.from(trace.kind, (kind, i) => {
    const fua = trace.fua[i] === 1 ? ' FUA' : '';
    return `${trace.atNs[i]} ${TraceKind[kind]} ${trace.lba[i]} ${trace.sectors[i]}${fua}`;
  });
}

function messageOf(format: TraceFormat, text: string): string {
  try {
    format.read(text, 't');
  } catch (error) {
    if (error instanceof RunError) return error.message;
    throw error;
  }
  return 'no error';
}

describe('MSR Cambridge', () => {
  test('times beyond 2^53 are exact, bytes become sectors', () => {
    const text =
      '128166477394345573,hm,1,Read,383496192,32768,113736\r\n' +
      '128166477394345574,hm,1,Write,2822144,4096,91\r\n' +
      '128166483087163644,hm,1,Write,1000,24,3000\r\n';
    expect(rows(msr.read(text, 't'))).toEqual([
      '0 Read 749016 64',
      '100 Write 5512 8',
      '569281807100 Write 1 1',
    ]);
  });

  test('a disk can be chosen', () => {
    const text = '10,hm,0,Read,0,512,1\n20,hm,1,Write,512,512,1\n';
    const trace = msr.read(text, 't', { device: 'hm.1' });
    expect(rows(trace)).toEqual(['0 Write 1 1']);
    expect([...trace.devices.keys()]).toEqual(['hm.0', 'hm.1']);
  });

  test.each([
    ['1,hm,1,Read,0', 't:1: 5 columns "1,hm,1,Read,0"; expected 7: time (100 ns), host, disk'],
    ['1.5,hm,1,Read,0,512,1', 't:1: time "1.5"; expected a time in whole units of 100 ns'],
    ['1,hm,1,Trim,0,512,1', 't:1: type "Trim"; expected Read or Write'],
    ['1,hm,1,Read,-1,512,1', 't:1: offset "-1"; expected an integer of 0 or more'],
    ['1,hm,1,Read,0,,1', 't:1: size ""; expected an integer of 0 or more'],
    ['1,hm,1,Read,0,512,x', 't:1: response "x"; expected an integer of 0 or more'],
    [
      '1,hm,1,Read,9007199254740992,512,1',
      't:1: offset "9007199254740992"; expected an integer of at most 9007199254740991',
    ],
  ])('%s', (line, message) => {
    expect(messageOf(msr, line)).toContain(message);
  });
});

describe('MQSim', () => {
  test('1 is a read, 0 a write, times in nanoseconds', () => {
    const text = '938944000 13 93230992 32 0\n939096000 13 8 16 1\n';
    expect(rows(mqsim.read(text, 't'))).toEqual(['0 Write 93230992 32', '152000 Read 8 16']);
  });

  test('blank lines, tabs and a missing last newline do not matter', () => {
    const text = '\ufeff5 0 8 8 1\n\n \t\r\n7\t0\t16 8\t0';
    const trace = mqsim.read(text, 't');
    expect(rows(trace)).toEqual(['0 Read 8 8', '2 Write 16 8']);
    expect(trace.where(1)).toBe('t:4');
  });

  test.each([
    ['1 0 8 8 2', 't:1: type "2"; expected 0 (write) or 1 (read)'],
    ['1 0 8 8 10', 't:1: type "10"; expected 0 (write) or 1 (read)'],
    ['1 0 8 8', 't:1: 4 columns "1 0 8 8"; expected 5: arrival in ns, device, first sector'],
    ['9 0 0 8 1\nword', 't:2: 1 column "word"; expected 5: arrival in ns'],
    ['1.5 0 8 8 1', 't:1: arrival "1.5"; expected a time in whole nanoseconds'],
    ['1 0 8x 8 1', 't:1: first sector "8x"; expected an integer of 0 or more'],
    ['1 0 8 2147483648 1', 't:1: a length of 2147483648 sectors; expected at most 2147483647'],
    [
      '1 0 8 8 1\n9007199254740993 0 8 8 1',
      't:2: arrival "9007199254740993"; expected a time in whole nanoseconds within 104 days',
    ],
    ['1\u0001 0 8 8 1', 't:1: arrival "1?"; expected a time in whole nanoseconds'],
  ])('%j', (text, message) => {
    expect(messageOf(mqsim, text)).toContain(message);
  });
});

describe('SPC', () => {
  test('the address counts blocks, the size bytes', () => {
    const text = '0,303567,3584,w,0.000000\n1,20,513,R,0.011413,x,y\n0,8,512,r,9000.000000001\n';
    expect(rows(spc.read(text, 't'))).toEqual([
      '0 Write 303567 7',
      '11413000 Read 20 2',
      '9000000000001 Read 8 1',
    ]);
  });

  test('times since 1970 are exact to the nanosecond', () => {
    const text = '0,8,512,r,1200000000.000000001\n0,8,512,w,1200000001.000000003\n';
    expect(rows(spc.read(text, 't'))).toEqual(['0 Read 8 1', '1000000002 Write 8 1']);
  });

  test('an ASU can be chosen; size 0 is left out', () => {
    const text = '0,0,512,r,0.5\n1,8,512,w,0.6\n1,8,0,w,0.7\n';
    const trace = spc.read(text, 't', { device: '1' });
    expect(rows(trace)).toEqual(['0 Write 8 1']);
    expect(trace.emptyCount).toBe(1);
  });

  test.each([
    ['0,1,512,w', 't:1: 4 columns "0,1,512,w"; expected 5 or more: ASU, LBA, size in bytes'],
    ['a,1,512,w,0.0', 't:1: ASU "a"; expected an integer of 0 or more'],
    ['0,1,512,rw,0.0', 't:1: opcode "rw"; expected r or w'],
    ['0,1,512,w,1e3', 't:1: time "1e3"; expected a time in seconds'],
    ['0,1,512,w,-1', 't:1: time "-1"; expected a time in seconds'],
    ['0,1,512,w,', 't:1: time ""; expected a time in seconds'],
  ])('%s', (line, message) => {
    expect(messageOf(spc, line)).toContain(message);
  });
});

describe('DiskSim', () => {
  test('bit 0 of the hexadecimal flags is a read, times in milliseconds', () => {
    const text = '13.191135 30 0 5 1\n13.192135 30 8 8 0\n14 30 16 8 b\n14.0000019 30 24 8 0x12\n';
    expect(rows(disksim.read(text, 't'))).toEqual([
      '0 Read 0 5',
      '1000 Write 8 8',
      '808865 Read 16 8',
      '808866 Write 24 8',
    ]);
  });

  test.each([
    ['1.5 0 8 8 g', 't:1: flags "g"; expected a hexadecimal number of at most 32 bits'],
    ['1. 0 8 8 1', 't:1: arrival "1."; expected a time in milliseconds'],
    ['.5 0 8 8 1', 't:1: arrival ".5"; expected a time in milliseconds'],
    ['1.5.2 0 8 8 1', 't:1: arrival "1.5.2"; expected a time in milliseconds'],
    ['1.5 0 8 8 1 0', 't:1: 6 columns "1.5 0 8 8 1 0"; expected 5: arrival in ms'],
  ])('%s', (line, message) => {
    expect(messageOf(disksim, line)).toContain(message);
  });
});

describe('blkparse', () => {
  const line = (cpu: number, seq: number, seconds: string, rest: string) =>
    `  8,0 ${cpu} ${seq} ${seconds} 103 ${rest}\n`;

  test('takes D events, sorted over the processors', () => {
    const text =
      line(0, 1, '0.000000000', 'Q WS 8 + 8 [a]') +
      line(0, 2, '0.000003000', 'D WS 8 + 8 [a]') +
      line(1, 1, '0.000001000', 'D R 0 + 16 [b]') +
      line(0, 3, '0.000004000', 'D FN [a]') +
      line(0, 4, '0.000005000', 'C WS 8 + 8 [0]') +
      line(0, 5, '0.000006000', 'D WFS 64 + 8 [a]') +
      line(0, 6, '0.000007000', 'D DS 128 + 8 [a b c]') +
      line(0, 7, '0.000008000', 'D R 36 (12 00 00 00 24 00 ..) [hdparm]') +
      line(0, 8, '0.000009000', 'm N cfq147 slice');
    expect(rows(blkparse.read(text, 't'))).toEqual([
      '0 Read 0 16',
      '2000 Write 8 8',
      '3000 Flush 0 0',
      '5000 Write 64 8 FUA',
      '6000 Trim 128 8',
    ]);
  });

  test('a trace without D gives its Q events, a flush bit comes before the data', () => {
    const text =
      line(0, 1, '1.5', 'Q FWFSM 8 + 8 [a]') +
      line(0, 2, '1.500001', 'Q FWS [a]') +
      line(0, 3, '1.500002', 'P N [a]');
    expect(rows(blkparse.read(text, 't'))).toEqual([
      '0 Flush 0 0',
      '0 Write 8 8 FUA',
      '1000 Flush 0 0',
    ]);
  });

  test('a restarted clock runs on, a late line of another processor does not restart it', () => {
    const text =
      line(0, 1, '1.000000000', 'D R 0 + 8 [a]') +
      line(0, 2, '3.000000000', 'D R 8 + 8 [a]') +
      line(1, 1, '2.000000000', 'D R 16 + 8 [a]') +
      line(0, 3, '0.000000000', 'D R 24 + 8 [a]') +
      line(1, 2, '0.500000000', 'D R 32 + 8 [a]');
    expect(rows(blkparse.read(text, 't'))).toEqual([
      '0 Read 0 8',
      '1000000000 Read 16 8',
      '2000000000 Read 8 8',
      '2000000000 Read 24 8',
      '2500000000 Read 32 8',
    ]);
  });

  test('the frame that blkparse prints around the events is passed over', () => {
    const text =
      'Input file sda.blktrace.0 added\n' +
      line(0, 1, '0.0', 'D R 0 + 8 [a]') +
      'CPU0 (sda):\n Reads Queued:   1,   4KiB  Writes Queued: 0, 0KiB\nTotal (sda):\n';
    expect(rows(blkparse.read(text, 't'))).toEqual(['0 Read 0 8']);
  });

  test.each([
    ['8,0 0 1 0.5 103 D', 't:1: 6 columns "8,0 0 1 0.5 103 D"; expected 7 or more: maj,min cpu'],
    ['sda 0 1 0.5 103 D R 0 + 8 [a]', 't:1: device "sda"; expected major,minor'],
    ['8,0 65536 1 0.5 1 D R 0 + 8', 't:1: cpu "65536"; expected an integer of at most 65535'],
    ['8,0 0 1 half 103 D R 0 + 8 [a]', 't:1: time "half"; expected a time in seconds'],
    ['8,0 0 1 0.5 me D R 0 + 8 [a]', 't:1: pid "me"; expected an integer of 0 or more'],
    ['8,0 0 1 0.5 103 17 R 0 + 8 [a]', 't:1: action "17"; expected one or two letters'],
    ['8,0 0 1 0.5 103 D XY 0 + 8 [a]', 't:1: RWBS "XY"; expected F, then R, W, D or N'],
    ['8,0 0 1 0.5 103 D R 0 - 8 [a]', '; expected sector + count'],
    ['8,0 0 1 0.5 103 D R', '; expected sector + count'],
    ['8,0 0 1 0.5 103 D R 0 +', 't:1: count ""; expected an integer of 0 or more'],
  ])('%s', (text, message) => {
    expect(messageOf(blkparse, text)).toContain(message);
  });
});

describe('fio iolog', () => {
  const v2 = 'fio version 2 iolog\n';
  const v3 = 'fio version 3 iolog\n';

  test('waits add up, in microseconds; files can be chosen', () => {
    const text =
      `${v2}a add\nb add\na wait 50 0\na write 0 512\na wait 100 0\nb read 512 512\n` +
      'a wait 7 0\na datasync 0 0\nb sync\n';
    expect(rows(fio.read(text, 't'))).toEqual([
      '0 Write 0 1',
      '100000 Read 1 1',
      '107000 Flush 0 0',
      '107000 Flush 0 0',
    ]);
    const chosen = fio.read(text, 't', { device: 'b' });
    expect(rows(chosen)).toEqual(['0 Read 1 1', '7000 Flush 0 0']);
  });

  test.each([
    ['fio version 1 iolog', 't:1: header "fio version 1 iolog"; expected "fio version 2 iolog" or'],
    ['', 't:0: an empty file; expected "fio version 2 iolog" or "fio version 3 iolog"'],
    [`${v2}a write 0`, 't:2: 3 columns "a write 0"; expected FILE write OFFSET LENGTH'],
    [`${v3}a write 0 512`, 't:2: time "a"; expected a time in whole microseconds'],
    [`${v3}5 a write 0`, 't:2: 4 columns "5 a write 0"; expected MICROSECONDS FILE write OFFSET'],
    [`${v2}a erase 0 512`, 't:2: action "erase"; expected add, open, close, read, write, trim'],
    [`${v2}a`, 't:2: 1 column "a"; expected FILE ACTION'],
    [`${v2}a wait 5`, 't:2: 3 columns "a wait 5"; expected FILE wait MICROSECONDS 0'],
    [`${v3}5 a wait 5 0`, 't:2: action "wait"; expected no wait in version 3'],
    [`${v2}a read x 512`, 't:2: offset "x"; expected an integer of 0 or more'],
    [`${v2}a wait 9007199254740991 0`, 't:2: wait "9007199254740991"; expected waits of at most'],
  ])('%j', (text, message) => {
    expect(messageOf(fio, text)).toContain(message);
  });
});
