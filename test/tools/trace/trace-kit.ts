/** What the trace tests share: hand-made cycles, a sink of text, a reader of changes. */
import { type CycleKind, CycleKind as Kind, type PageBytes } from '../../../nand/cycle-listener.ts';
import type { BusMode } from '../../../nand/part.ts';
import {
  CycleTrace,
  type CycleTraceOptions,
  DataDetail,
} from '../../../tools/trace/cycle-trace.ts';
import type { TextSink } from '../../../tools/trace/vcd-writer.ts';

/** A cycle as a listener is told of it. */
export type Cycle = readonly [
  die: number,
  kind: CycleKind,
  value: number,
  atNs: number,
  ns: number,
  bytes?: PageBytes | null,
];

export const LAYOUT = { channels: 2, dies: 4, blocksPerDie: 64, pagesPerBlock: 16 };
export const ASYNC: BusMode = { synchronous: false, mode: 5 };
export const SYNC: BusMode = { synchronous: true, mode: 5 };

export class TextBox implements TextSink {
  readonly #parts: string[] = [];

  append(text: string): void {
    this.#parts.push(text);
  }

  get text(): string {
    return this.#parts.join('');
  }
}

/** Row address of a block and page in {@link LAYOUT}. */
export function rowOf(block: number, page: number): number {
  return block * LAYOUT.pagesPerBlock + page;
}

/** A command with address bytes, low byte first, one cycle of `ns` after another. */
export function command(
  die: number,
  opcode: number,
  address: readonly number[],
  atNs: number,
  ns: number,
): Cycle[] {
  const latch = (kind: Kind, value: number, i: number): Cycle => [
    ...([die, kind, value, atNs + i * ns, ns] as const),
    null,
  ];
  return [
    latch(Kind.Command, opcode, 0),
    ...address.map((byte, i) => latch(Kind.Address, byte, i + 1)),
  ];
}

/** Column and row as five address bytes. */
export function address(column: number, row: number): number[] {
  return [column & 0xff, column >>> 8, row & 0xff, (row >>> 8) & 0xff, row >>> 16];
}

/** The whole file of some cycles, told in their order and never flushed before the end. */
export function traceOf(
  cycles: readonly Cycle[],
  endNs: number,
  options: Partial<CycleTraceOptions> = {},
): string {
  const box = new TextBox();
  const trace = new CycleTrace(box, {
    ...{ layout: LAYOUT, bus: SYNC, data: DataDetail.Summary },
    ...options,
  });
  for (const [die, kind, value, atNs, ns, bytes] of cycles) {
    trace.cycle(die, kind, value, atNs, ns, bytes ?? null);
  }
  trace.finish(endNs);
  return box.text;
}

/** The part of a file behind its header. */
export function bodyOf(text: string): string {
  return text.slice(text.indexOf('$enddefinitions $end\n') + '$enddefinitions $end\n'.length);
}

/** What is wrong with the changes of a file: time that stands still or goes back, no change. */
export function disorderOf(text: string): string[] {
  const wrong: string[] = [];
  const values = new Map<string, string>();
  let time = -1;
  for (const line of bodyOf(text).split('\n')) {
    if (line === '' || line.startsWith('$')) continue;
    if (line.startsWith('#')) {
      const next = Number(line.slice(1));
      if (!(next > time)) wrong.push(`${line} after #${time}`);
      time = next;
      continue;
    }
    const [, value = '', id = ''] = /^(?:([01xz])|[bs](\S+) )(\S+)$/.exec(line)
      ? [line, line.slice(0, /^[01xz]/.test(line) ? 1 : line.indexOf(' ')), idOf(line)]
      : [];
    if (id === '') wrong.push(`no change: ${line}`);
    if (values.get(id) === value) wrong.push(`#${time}: ${line} is no change`);
    values.set(id, value);
  }
  return wrong;
}

function idOf(line: string): string {
  return /^[01xz]/.test(line) ? line.slice(1) : line.slice(line.indexOf(' ') + 1);
}
