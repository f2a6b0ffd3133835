import { TraceKind } from '../trace.ts';
import { Separator, type TimeUnit } from './fields.ts';
import { lineFormat } from './format.ts';

const COLUMNS = 5;
const LAYOUT = '5: arrival in ns, device, first sector, sectors, 0 (write) or 1 (read)';
const NANOSECONDS: TimeUnit = { name: 'nanoseconds', nsDigits: 0, fraction: false };
const WRITE = 48;
const READ = 49;

/**
 * MQSim ASCII traces (CMU-SAFARI/MQSim, folder traces): `arrival device sector sectors type` in
 * decimal, separated by blanks. The arrival is in nanoseconds, the default of MQSim's
 * configuration; address and length count 512-byte sectors; type **1 is a read**, 0 a write.
 */
export const mqsim = lineFormat({
  name: 'mqsim',
  title: 'MQSim ASCII',
  separator: Separator.Blanks,
  parse(line, trace) {
    line.needColumns(COLUMNS, COLUMNS, LAYOUT);
    const atNs = line.timeNs(0, 'arrival', NANOSECONDS);
    line.integer(1, 'device');
    const lba = line.integer(2, 'first sector');
    const sectors = line.integer(3, 'sectors');
    const type = line.byte(4, 1) === 0 ? line.byte(4) : 0;
    if (type !== READ && type !== WRITE) line.failColumn(4, 'type', '0 (write) or 1 (read)');
    if (!trace.takes(line.text(1))) return;
    const kind = type === READ ? TraceKind.Read : TraceKind.Write;
    trace.add(atNs, kind, lba, sectors, false, line.line);
  },
});
