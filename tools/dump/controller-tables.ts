/** Tables about the controller: host slots, write buffer, memory, registers, alarms, SMART. */

import type { Drive } from '../../firmware/drive.ts';
import { AtaOpcode, commandOf, taskFile } from '../../hal/ata.ts';
import { HOST_SLOTS, UNQUEUED_SLOT } from '../../hal/ports.ts';
import { SlotPhase } from '../../sata/slots.ts';
import { attributesOfData, SMART_SIGNATURE } from '../../sata/smart.ts';
import type { DumpTable } from './dump-table.ts';

/** Feature register of SMART READ DATA. */
const SMART_READ_DATA = 0xd0;

/** An address or register value as programmers read it: `0x8500_0000`. */
export function hex(value: number, digits = 8): string {
  const text = value.toString(16).padStart(digits, '0');
  return `0x${text.replace(/\B(?=(.{4})+$)/g, '_')}`;
}

/** Name of a command as the standard prints it. */
export function opcodeName(opcode: number): string {
  return commandOf(opcode)?.name ?? hex(opcode, 2);
}

export const NCQ: DumpTable = {
  name: 'ncq',
  says: 'a command slot in use: 0 to 31 are queued, 32 is the one that is not',
  columns: ['slot', 'phase', 'opcode', 'lba', 'sectors', 'pagesMoved', 'pages', 'fua', 'ageNs'],
  keyed: true,
  *rows(drive, from) {
    const { slots } = drive.port;
    const { host, timeline } = drive;
    for (let slot = from; slot < HOST_SLOTS; slot++) {
      if (slots.phase[slot] === SlotPhase.Free) continue;
      // The probe after a signature is the adapter's own and has no time of issue.
      const isProbe = slot === UNQUEUED_SLOT && !host.isReady;
      yield [
        slot,
        SlotPhase[slots.phase[slot]!]!,
        opcodeName(slots.opcode[slot]!),
        slots.lba[slot]!,
        slots.sectors[slot]!,
        slots.pagesMoved[slot]!,
        slots.pages[slot]!,
        slots.fua[slot]!,
        isProbe ? null : timeline.nowNs - host.issuedNs[slot]!,
      ];
    }
  },
};

export const CACHE: DumpTable = {
  name: 'cache',
  says: 'the write buffer: a dirty slot, from the oldest to the newest',
  columns: ['position', 'place', 'lpn', 'order', 'last', 'state', 'content'],
  keyed: true,
  *rows(drive, from) {
    const { buffer } = drive.firmware;
    for (let position = Math.max(from, buffer.head); position < buffer.tail; position++) {
      const place = position & buffer.mask;
      let state = 'waiting';
      if (position < buffer.issued) state = buffer.done[place] === 1 ? 'done' : 'programming';
      yield [
        position,
        place,
        buffer.lpn[place]!,
        buffer.order[place]! >>> 0,
        buffer.last[place]!,
        state,
        buffer.content[place]!,
      ];
    }
  },
};

export const DRAM: DumpTable = {
  name: 'dram',
  says: 'a region of the DDR3L, and what no region has taken',
  columns: ['region', 'address', 'bytes'],
  *rows(drive) {
    const { dram } = drive;
    let end = dram.regions[0]?.address ?? 0;
    for (const { name, address, bytes } of dram.regions) {
      yield [name, hex(address), bytes];
      end = address + bytes;
    }
    yield ['(free)', hex(end), dram.bytes - dram.bytesUsed];
  },
};

export const REGISTERS: DumpTable = {
  name: 'registers',
  says: 'a register with its address, value and meaning',
  columns: ['block', 'address', 'register', 'value', 'says'],
  *rows(drive) {
    for (const { name, baseAddress, registers } of drive.registers()) {
      for (const register of registers) {
        const address = hex(baseAddress + register.offset);
        yield [name, address, register.name, hex(register.read()), register.says];
      }
    }
  },
};

export const TIMELINE: DumpTable = {
  name: 'timeline',
  says: 'a pending alarm, the next one first',
  columns: ['alarm', 'atNs', 'inNs', 'sequence'],
  *rows(drive) {
    const { timeline } = drive;
    for (const { name, atNs, sequence } of timeline.pending()) {
      yield [name, atNs, atNs - timeline.nowNs, sequence];
    }
  },
};

/** Attribute names as the drive's own tool prints them. */
const SMART_NAMES: { readonly [id: number]: string } = {
  5: 'runtime bad blocks',
  9: 'power-on hours',
  12: 'power cycles',
  171: 'over-provisioned sectors',
  174: 'unplanned power losses',
  195: 'program failures',
  196: 'erase failures',
  197: 'uncorrectable reads',
  208: 'average erase count',
  210: 'SATA CRC errors',
  224: 'in warranty',
  233: 'remaining life percent',
  241: 'host writes GiB',
  242: 'host reads GiB',
  249: 'flash programs of 16 KiB',
};

export const SMART: DumpTable = {
  name: 'smart',
  says: 'a SMART attribute as SMART READ DATA returns it; none while SMART is disabled',
  columns: ['id', 'attribute', 'value', 'raw'],
  *rows(drive) {
    const sector = readSmart(drive);
    if (sector === null) return;
    for (const { id, value, raw } of attributesOfData(sector)) {
      yield [id, SMART_NAMES[id] ?? '', value, raw];
    }
  },
};

function readSmart(drive: Drive): Uint8Array | null {
  const command = AtaOpcode.Smart;
  const registers = { command, feature: SMART_READ_DATA, lba: SMART_SIGNATURE * 256, count: 1 };
  return drive.port.answers.answer(taskFile(registers)).data;
}
