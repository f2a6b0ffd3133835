/** A trace file back to commands: what `bf3 trace decode` prints. */

import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { type Column, renderTable } from '../cli/output.ts';
import { RunError, UsageError } from '../errors.ts';
import { CommandList, type DieCommand, describeDie, describeRow, nameOf } from './command-list.ts';
import { opcodeText } from './command-names.ts';
import { PinDecoder } from './pin-decoder.ts';
import type { TraceLayout } from './trace-layout.ts';
import { VcdReader } from './vcd-reader.ts';

/** What a trace file says. */
export interface DecodedTrace {
  readonly layout: TraceLayout;
  readonly commands: DieCommand[];
  /** The last instant of the file. */
  readonly endNs: number;
}

export interface DecodeOptions {
  readonly channel?: readonly number[];
  readonly die?: readonly number[];
  readonly json?: boolean;
  readonly csv?: boolean;
}

const CHUNK_BYTES = 65_536;
/** No line of a trace comes near it; a file without line ends is none. */
const LINE_CHARACTERS_MAX = 65_536;

/**
 * Reads a trace file.
 * @throws RunError when it cannot be read or is no cycle trace, with the line
 */
export function decodeTraceFile(path: string): DecodedTrace {
  const list = new CommandList();
  const decoder = new PinDecoder(list);
  const reader = new VcdReader(path, decoder);
  eachLine(path, (line) => reader.line(line));
  reader.end();
  decoder.end();
  return { layout: headerOf(decoder, path).layout, commands: list.commands, endNs: decoder.nowNs };
}

/** As {@link decodeTraceFile}, of text at hand. */
export function decodeTraceText(text: string): DecodedTrace {
  const list = new CommandList();
  const decoder = new PinDecoder(list);
  const reader = new VcdReader('trace', decoder);
  for (const line of text.split('\n')) reader.line(line);
  reader.end();
  decoder.end();
  return { layout: decoder.header.layout, commands: list.commands, endNs: decoder.nowNs };
}

/** Prints the commands of a file as a table. */
export function runDecode(path: string, options: DecodeOptions): void {
  if (options.json === true && options.csv === true) {
    throw new UsageError('--json and --csv together; expected one of them');
  }
  const { layout, commands } = decodeTraceFile(path);
  const { channel, die } = options;
  const chosen = commands.filter(
    (command) =>
      (channel === undefined || channel.includes(command.die % layout.channels)) &&
      (die === undefined || die.includes(command.die)),
  );
  const format = options.json === true ? 'json' : options.csv === true ? 'csv' : 'text';
  process.stdout.write(renderTable(chosen, columnsOf(layout), { format }));
}

function columnsOf(layout: TraceLayout): Column<DieCommand>[] {
  const dash = (value: number | null) => (value === null ? '-' : String(value));
  const place = ({ row }: DieCommand) => (row === null ? null : describeRow(row, layout));
  return [
    { key: 'atNs', title: 'at ns', value: ({ atNs }) => atNs },
    { key: 'die', value: ({ die }) => describeDie(die, layout), align: 'left' },
    { key: 'command', value: nameOf, align: 'left' },
    { key: 'opcodes', value: ({ opcodes }) => opcodes.map(opcodeText).join(' '), align: 'left' },
    { key: 'row', value: ({ row }) => row, text: (command) => place(command) ?? '-' },
    { key: 'column', value: ({ column }) => column, text: ({ column }) => dash(column) },
    { key: 'dataInBytes', title: 'in', value: ({ dataInBytes }) => dataInBytes },
    { key: 'dataOutBytes', title: 'out', value: ({ dataOutBytes }) => dataOutBytes },
    {
      ...{ key: 'busyNs', title: 'busy ns', align: 'right' },
      value: ({ busyNs }) => busyNs,
      text: ({ busyNs }) => dash(busyNs),
    },
  ];
}

function headerOf(decoder: PinDecoder, path: string) {
  try {
    return decoder.header;
  } catch (error) {
    if (error instanceof RunError) throw new RunError(`${path}: ${error.message}`);
    throw error;
  }
}

/** Lines of a file of any length, without keeping it. */
function eachLine(path: string, take: (line: string) => void): void {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    throw new RunError(`cannot open ${path}: ${reason(error)}`, { cause: error });
  }
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    const decoder = new StringDecoder('latin1');
    let rest = '';
    for (;;) {
      const count = readSome(file, chunk, path);
      const lines = (rest + decoder.write(chunk.subarray(0, count))).split('\n');
      rest = lines.pop()!;
      for (const line of lines) take(line);
      if (rest.length > LINE_CHARACTERS_MAX) {
        throw new RunError(
          `${path}: a line of more than ${LINE_CHARACTERS_MAX} characters; no VCD`,
        );
      }
      if (count === 0) break;
    }
    if (rest !== '') take(rest);
  } finally {
    closeSync(file);
  }
}

function readSome(file: number, chunk: Buffer, path: string): number {
  try {
    return readSync(file, chunk, 0, chunk.length, null);
  } catch (error) {
    throw new RunError(`cannot read ${path}: ${reason(error)}`, { cause: error });
  }
}

function reason(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT') return 'no such file';
  if (code === 'EISDIR') return 'it is a folder';
  if (code === 'EACCES') return 'permission denied';
  return error instanceof Error ? error.message : String(error);
}
