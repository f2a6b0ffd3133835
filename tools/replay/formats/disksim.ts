import { type Trace, TraceKind } from '../trace.ts';
import { type LineReader, Separator, type TimeUnit } from './fields.ts';
import { lineFormat } from './format.ts';

const COLUMNS = 5;
const LAYOUT = '5: arrival in ms, device, first block, blocks, flags in hexadecimal (1: read)';
const MILLISECONDS: TimeUnit = { name: 'milliseconds', nsDigits: 6, fraction: true };
const READ = 1;

/**
 * DiskSim ASCII traces (DiskSim 4.0 reference manual, "Default ASCII traces"):
 * `arrival device block blocks flags` separated by blanks. The arrival is in milliseconds with a
 * decimal point, addresses and lengths count 512-byte blocks, flags are hexadecimal and **bit 0
 * is a read**; the other bits (time-critical and such) do not reach a drive.
 *
 * A line of five integers with flag 0 or 1 could also be MQSim's, so such lines do not make a
 * file be recognised as DiskSim; the reader takes them when the format is named.
 */
export const disksim = lineFormat({
  name: 'disksim',
  title: 'DiskSim ASCII',
  separator: Separator.Blanks,
  parse,
  recognise(line, trace) {
    parse(line, trace);
    if (!line.text(0).includes('.') && /^[01]$/.test(line.text(4))) {
      line.failColumn(0, 'arrival', 'a time with a decimal point');
    }
  },
});

function parse(line: LineReader, trace: Trace): void {
  line.needColumns(COLUMNS, COLUMNS, LAYOUT);
  const atNs = line.timeNs(0, 'arrival', MILLISECONDS);
  line.integer(1, 'device');
  const lba = line.integer(2, 'first block');
  const blocks = line.integer(3, 'blocks');
  const flags = line.hexadecimal(4, 'flags');
  if (!trace.takes(line.text(1))) return;
  const kind = flags & READ ? TraceKind.Read : TraceKind.Write;
  trace.add(atNs, kind, lba, blocks, false, line.line);
}
