/** Tables about flash: the map both ways, the block table, the dies. */
import type { Drive } from '../../firmware/drive.ts';
import { SuperblockState } from '../../firmware/ftl/superblocks.ts';
import { FlashOp, LAST_OF_COMMAND, LPN_MASK, METADATA } from '../../hal/flash-ops.ts';
import { DiePhase } from '../../nand/die-table.ts';
import type { DumpRow, DumpTable } from './dump-table.ts';

const NONE = -1;

/** Where a cell of the map points, in words: a place in flash or in the write buffer. */
export function placeOfCell(drive: Drive, cell: number): string {
  const { flashTop } = drive.firmware.mapping;
  if (cell === 0) return 'unmapped';
  return cell > flashTop ? `buffer ${cell - flashTop - 1}` : drive.geometry.describe(cell - 1);
}

export const L2P: DumpTable = {
  name: 'l2p',
  says: 'the map: a logical page and where it is, mapped pages only',
  columns: ['lpn', 'cell', 'where'],
  bySuperblock: true,
  keyed: true,
  *rows(drive, from, superblock) {
    const { values } = drive.l2p;
    const { flashTop } = drive.firmware.mapping;
    for (let lpn = from; lpn < values.length; lpn++) {
      const cell = values[lpn]!;
      if (cell === 0) continue;
      if (superblock !== null) {
        if (cell > flashTop || drive.geometry.superblockOf(cell - 1) !== superblock) continue;
      }
      yield [lpn, cell, placeOfCell(drive, cell)];
    }
  },
};

export const P2L: DumpTable = {
  name: 'p2l',
  says: 'flash as it was programmed: a slot and what its spare record says',
  columns: [
    ...['slot', 'where', 'superblock', 'lpn', 'metadataPage', 'order', 'flags'],
    ...['valid', 'content'],
  ],
  bySuperblock: true,
  keyed: true,
  *rows(drive, from, superblock) {
    const { geometry, array } = drive;
    for (let slot = from; slot < geometry.slots; slot++) {
      if (superblock !== null && geometry.superblockOf(slot) !== superblock) continue;
      const word = array.store.pageWordOf(slot);
      // Erased, or padding that filled a unit up.
      if (word !== 0) yield spareRow(drive, slot, word);
    }
  },
};

/** One programmed slot; `word` is its page word. */
function spareRow(drive: Drive, slot: number, word: number): DumpRow {
  const { geometry, array, firmware } = drive;
  const isMetadata = (word & METADATA) !== 0;
  const number = (word & LPN_MASK) - 1;
  const flags = [(word & LAST_OF_COMMAND) !== 0 && 'last', isMetadata && 'metadata'];
  return [
    slot,
    geometry.describe(slot),
    geometry.superblockOf(slot),
    isMetadata ? null : number,
    isMetadata ? number : null,
    array.store.orderOf(slot) >>> 0,
    flags.filter((flag) => flag !== false).join('+'),
    firmware.mapping.isValid(slot) ? 1 : 0,
    array.store.contentOf(slot),
  ];
}

export const SUPERBLOCKS: DumpTable = {
  name: 'superblocks',
  says: 'the block table: a superblock, its use, wear and valid slots',
  columns: [
    ...['superblock', 'state', 'lsbOnly', 'eraseCount', 'validSlots', 'programsInFlight'],
    ...['invalidatedOrder', 'openedNumber'],
  ],
  bySuperblock: true,
  keyed: true,
  *rows(drive, from, superblock) {
    const table = drive.firmware.superblocks;
    for (let i = from; i < table.count; i++) {
      if (superblock !== null && i !== superblock) continue;
      yield [
        i,
        SuperblockState[table.state[i]!]!,
        table.lsbOnly[i]!,
        table.eraseCount[i]!,
        table.validCount[i]!,
        table.programsInFlight[i]!,
        table.invalidatedOrder[i]!,
        table.openedNumber[i]!,
      ];
    }
  },
};

export const FREE: DumpTable = {
  name: 'free',
  says: 'erased superblocks, in the order in which they will be opened',
  columns: ['superblock', 'eraseCount'],
  *rows(drive) {
    const { state, eraseCount, count } = drive.firmware.superblocks;
    const free = Array.from({ length: count }, (_, i) => i).filter(
      (i) => state[i] === SuperblockState.Free,
    );
    free.sort((a, b) => eraseCount[a]! - eraseCount[b]! || a - b);
    for (const i of free) yield [i, eraseCount[i]!];
  },
};

export const DIES: DumpTable = {
  name: 'dies',
  says: 'a die, its phase, the operation it works on and those that wait for it',
  columns: [
    ...['die', 'channel', 'way', 'phase', 'op', 'block', 'page', 'readyInNs', 'waiting'],
    'busyNs',
  ],
  keyed: true,
  *rows(drive, from) {
    const { geometry, array, ops, timeline } = drive;
    const due = new Map(timeline.pending().map(({ name, atNs }) => [name, atNs]));
    for (let die = from; die < geometry.dies; die++) {
      const op = array.currentOf(die);
      const atNs = due.get(`die${die}`);
      yield [
        die,
        geometry.channelOf(die),
        Math.floor(die / geometry.channels),
        DiePhase[array.phaseOf(die)]!,
        op === NONE ? null : FlashOp[ops.op[op]!]!,
        op === NONE ? null : ops.block[op]!,
        op === NONE ? null : ops.page[op]!,
        atNs === undefined ? null : atNs - timeline.nowNs,
        array.waitingCount(die),
        array.work.busyNs[die]!,
      ];
    }
  },
};
