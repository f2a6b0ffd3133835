import { TraceKind } from '../trace.ts';
import { type LineReader, Separator, type TimeUnit } from './fields.ts';
import { lineFormat } from './format.ts';

const COLUMNS_MIN = 5;
const LAYOUT = '5 or more: ASU, LBA, size in bytes, r or w, time in seconds';
const SECONDS: TimeUnit = { name: 'seconds', nsDigits: 9, fraction: true };
const SECTOR_BYTES = 512;

/**
 * SPC traces as in the UMass repository (Storage Performance Council trace file format, 2002):
 * `ASU,LBA,size,opcode,time[,...]`. The address counts 512-byte blocks but the **size is bytes**;
 * the opcode is r or w in any case; the time is in seconds. Optional further columns are left.
 * Each ASU (application storage unit) has its own address space: choose one as the device,
 * otherwise all share the drive from LBA 0.
 */
export const spc = lineFormat({
  name: 'spc',
  title: 'SPC (UMass Financial, WebSearch)',
  separator: Separator.Comma,
  parse(line, trace) {
    line.needColumns(COLUMNS_MIN, Number.POSITIVE_INFINITY, LAYOUT);
    line.integer(0, 'ASU');
    const lba = line.integer(1, 'LBA');
    const sectors = Math.ceil(line.integer(2, 'size') / SECTOR_BYTES);
    const kind = direction(line);
    const atNs = line.timeNs(4, 'time', SECONDS);
    if (!trace.takes(line.text(0))) return;
    trace.add(atNs, kind, lba, sectors, false, line.line);
  },
});

function direction(line: LineReader): TraceKind {
  const opcode = line.text(3).toLowerCase();
  if (opcode === 'r') return TraceKind.Read;
  if (opcode === 'w') return TraceKind.Write;
  return line.failColumn(3, 'opcode', 'r or w');
}
