import { TraceKind } from '../trace.ts';
import { type LineReader, Separator, type TimeUnit } from './fields.ts';
import { lineFormat } from './format.ts';

const COLUMNS = 7;
const LAYOUT =
  '7: time (100 ns), host, disk, Read or Write, offset in bytes, size in bytes, response (100 ns)';
const FILE_TIME: TimeUnit = { name: 'units of 100 ns', nsDigits: 2, fraction: false };

/**
 * MSR Cambridge block traces, CSV without a header (SNIA IOTTA, "MSR Cambridge Block I/O Traces"):
 * `time,host,disk,Read|Write,offset,size,response`. The time is a Windows file time, 100 ns since
 * 1601. Offset and size are bytes and are widened to whole sectors. The response time is only
 * checked: the drive under test has its own. A device is named `host.disk`.
 */
export const msr = lineFormat({
  name: 'msr',
  title: 'MSR Cambridge CSV',
  separator: Separator.Comma,
  parse(line, trace) {
    line.needColumns(COLUMNS, COLUMNS, LAYOUT);
    const atNs = line.timeNs(0, 'time', FILE_TIME);
    const kind = direction(line);
    const offsetBytes = line.integer(4, 'offset');
    const sizeBytes = line.integer(5, 'size');
    line.integer(6, 'response');
    if (!trace.takes(`${line.text(1)}.${line.text(2)}`)) return;
    trace.addBytes(atNs, kind, offsetBytes, sizeBytes, line.line);
  },
});

function direction(line: LineReader): TraceKind {
  const word = line.text(3).toLowerCase();
  if (word === 'read') return TraceKind.Read;
  if (word === 'write') return TraceKind.Write;
  return line.failColumn(3, 'type', 'Read or Write');
}
