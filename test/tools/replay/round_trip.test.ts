import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RunError } from '../../../tools/errors.ts';
import { detectFormat, TRACE_FORMATS } from '../../../tools/replay/detect.ts';
import { TraceKind } from '../../../tools/replay/trace.ts';

const { Read, Write, Trim, Flush } = TraceKind;

/** One operation; `time` counts the format's own unit. */
interface Operation {
  time: number;
  kind: TraceKind;
  lba: number;
  sectors: number;
  fua: boolean;
}

/** How one format writes a list of operations, and what it can express. */
interface Writer {
  format: string;
  kinds: TraceKind[];
  fua?: boolean;
  nsPerUnit: number;
  write(operations: Operation[]): string;
}

const lines =
  (line: (operation: Operation, index: number) => string, head = '') =>
  (operations: Operation[]) =>
    `${head}${operations.map(line).join('\n')}\n`;

/** `time / 10^digits` as a decimal number. */
function decimal(time: number, digits: number): string {
  const text = String(time).padStart(digits + 1, '0');
  return `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

const FIO_ACTIONS = ['read', 'write', 'trim', 'sync'];
const fioFields = ({ kind, lba, sectors }: Operation) =>
  `disk0 ${FIO_ACTIONS[kind]} ${lba * 512} ${sectors * 512}`;

function writeFio2(operations: Operation[]): string {
  let text = 'fio version 2 iolog\ndisk0 add\ndisk0 open\n';
  let time = 0;
  for (const operation of operations) {
    if (operation.time > time) text += `disk0 wait ${operation.time - time} 0\n`;
    time = operation.time;
    text += `${fioFields(operation)}\n`;
  }
  return `${text}disk0 close\n`;
}

function blkparseLine({ time, kind, lba, sectors, fua }: Operation, i: number): string {
  const rwbs = ['RA', fua ? 'WFS' : 'WS', 'DS', 'FN'][kind];
  const where = kind === Flush ? '' : `${lba} + ${sectors} `;
  return `  8,0    0 ${i + 1}     ${decimal(time, 9)}   103  D ${rwbs} ${where}[a process]`;
}

const WRITERS: Writer[] = [
  {
    format: 'msr',
    kinds: [Read, Write],
    nsPerUnit: 100,
    write: lines(({ time, kind, lba, sectors }) => {
      const fileTime = 128166477394345573n + BigInt(time);
      return `${fileTime},hm,1,${TraceKind[kind]},${lba * 512},${sectors * 512},113736`;
    }),
  },
  {
    format: 'mqsim',
    kinds: [Read, Write],
    nsPerUnit: 1,
    write: lines(
      ({ time, kind, lba, sectors }) => `${time} 0 ${lba} ${sectors} ${kind === Read ? 1 : 0}`,
    ),
  },
  {
    format: 'spc',
    kinds: [Read, Write],
    nsPerUnit: 1000,
    write: lines(({ time, kind, lba, sectors }) => {
      return `0,${lba},${sectors * 512},${kind === Read ? 'r' : 'w'},${decimal(time, 6)}`;
    }),
  },
  {
    format: 'disksim',
    kinds: [Read, Write],
    nsPerUnit: 1,
    write: lines(({ time, kind, lba, sectors }) => {
      return `${decimal(time, 6)} 0 ${lba} ${sectors} ${kind === Read ? 1 : 0}`;
    }),
  },
  {
    format: 'fio',
    kinds: [Read, Write, Trim, Flush],
    nsPerUnit: 1000,
    write: writeFio2,
  },
  {
    format: 'fio',
    kinds: [Read, Write, Trim, Flush],
    nsPerUnit: 1000,
    write: lines(
      (operation) => `${operation.time} ${fioFields(operation)}`,
      'fio version 3 iolog\n',
    ),
  },
  {
    format: 'blkparse',
    kinds: [Read, Write, Trim, Flush],
    fua: true,
    nsPerUnit: 1,
    write: lines(blkparseLine),
  },
];

/** Operations that a writer can express, in order of time. */
function operationsOf(writer: Writer): fc.Arbitrary<Operation[]> {
  const operation = fc.record({
    time: fc.integer({ min: 0, max: 10 ** 12 }),
    kind: fc.constantFrom(...writer.kinds),
    lba: fc.integer({ min: 0, max: 2 ** 40 }),
    sectors: fc.integer({ min: 1, max: 0x7fff_ffff }),
    fua: fc.boolean(),
  });
  return fc
    .array(operation, { minLength: 1, maxLength: 60 })
    .map((operations) => operations.sort((a, b) => a.time - b.time));
}

describe('what is written is read back', () => {
  test.each(WRITERS.map((writer, i) => [`${writer.format} (${i})`, writer] as const))(
    '%s',
    (_, writer) => {
      fc.assert(
        fc.property(operationsOf(writer), (operations) => {
          const bytes = Buffer.from(writer.write(operations));
          const format = detectFormat(bytes, 't');
          expect(format.name).toBe(writer.format);
          const trace = format.read(bytes, 't');
          const read = Array.from(trace.kind, (kind, i) => ({
            ns: trace.atNs[i],
            kind,
            lba: trace.lba[i],
            sectors: trace.sectors[i],
            fua: trace.fua[i] === 1,
          }));
          const written = operations.map(({ time, kind, lba, sectors, fua }) => ({
            ns: (time - operations[0]!.time) * writer.nsPerUnit,
            kind,
            lba: kind === Flush ? 0 : lba,
            sectors: kind === Flush ? 0 : sectors,
            fua: writer.fua === true && kind === Write && fua,
          }));
          expect(read).toEqual(written);
        }),
        { numRuns: 60 },
      );
    },
  );
});

describe('damage', () => {
  test('whatever is done to a trace, it is read or refused with a RunError', () => {
    const damaged = fc.constantFrom(...WRITERS).chain((writer) =>
      fc.record({
        text: operationsOf(writer).map((operations) => writer.write(operations)),
        at: fc.nat(),
        put: fc.uint8Array({ maxLength: 4 }),
        remove: fc.nat({ max: 4 }),
      }),
    );
    fc.assert(
      fc.property(damaged, ({ text, at, put, remove }) => {
        const bytes = Buffer.from(text);
        const offset = at % bytes.length;
        const broken = Buffer.concat([
          bytes.subarray(0, offset),
          put,
          bytes.subarray(offset + remove),
        ]);
        for (const format of TRACE_FORMATS) {
          try {
            format.read(broken, 't');
          } catch (error) {
            if (!(error instanceof RunError)) throw error;
            expect(error.message).toMatch(/^t:( byte)? ?\d+: .+; expected .+/);
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});
