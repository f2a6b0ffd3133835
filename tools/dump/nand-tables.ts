/** Tables about the silicon: blocks and their past, bad ones, damage, faults laid over it. */
import type { Drive } from '../../firmware/drive.ts';
import { BlockFlag } from '../../nand/block-history.ts';
import type { DumpRow, DumpTable } from './dump-table.ts';

const FLAG_NAMES: readonly (readonly [BlockFlag, string])[] = [
  [BlockFlag.FactoryMark, 'factory'],
  [BlockFlag.Weak, 'weak'],
  [BlockFlag.EraseTorn, 'torn'],
  [BlockFlag.Damaged, 'damaged'],
];

const MINUTES_PER_DAY = 1440;
/** Bit error rates are shown in wrong bits a thousand million, as whole numbers. */
const PPB = 1e9;

export const BLOCKS: DumpTable = {
  name: 'blocks',
  says: 'a flash block that was used or marked: its past, the bit error rate of its last page',
  columns: [
    ...['block', 'where', 'superblock', 'nextPage', 'eraseCount', 'firstMinute', 'lastMinute'],
    ...['ageDays', 'reads', 'flags', 'rberPpb'],
  ],
  bySuperblock: true,
  keyed: true,
  *rows(drive, from, superblock) {
    const { geometry, array } = drive;
    const { history } = array.store;
    for (let block = from; block < geometry.blocks; block++) {
      if (superblock !== null && superblockOf(drive, block) !== superblock) continue;
      const past = history.nextPageOf(block) + history.eraseCountOf(block);
      if (past + history.flagsOf(block) > 0) yield blockRow(drive, block);
    }
  },
};

/** Minutes and days at 30 C, the minutes since the drive was made; null: nothing is programmed. */
function blockRow(drive: Drive, block: number): DumpRow {
  const { array } = drive;
  const { history } = array.store;
  const nextPage = history.nextPageOf(block);
  const isUsed = nextPage > 0;
  const flags = history.flagsOf(block);
  const ageMinutes = Math.max(0, array.media.clock.minute - history.firstMinuteOf(block));
  return [
    block,
    placeOf(drive, block),
    superblockOf(drive, block),
    nextPage,
    history.eraseCountOf(block),
    isUsed ? history.firstMinuteOf(block) : null,
    isUsed ? history.lastMinuteOf(block) : null,
    isUsed ? Math.floor(ageMinutes / MINUTES_PER_DAY) : null,
    history.readsOf(block),
    FLAG_NAMES.filter(([flag]) => (flags & flag) !== 0)
      .map(([, name]) => name)
      .join('+'),
    isUsed ? Math.round(array.media.rberOf(block, nextPage - 1) * PPB) : null,
  ];
}

export const BAD_BLOCKS: DumpTable = {
  name: 'bad-blocks',
  says: 'a block group that firmware does not use: marked by the factory, or grown bad',
  columns: ['superblock', 'die', 'where', 'cause'],
  bySuperblock: true,
  *rows(drive, _, superblock) {
    const { geometry, firmware, array } = drive;
    const { bad } = firmware.superblocks;
    for (let i = 0; i < geometry.superblocks; i++) {
      if ((superblock !== null && i !== superblock) || !bad.hasBad(i)) continue;
      for (let die = 0; die < geometry.dies; die++) {
        if (!bad.isBad(i, die)) continue;
        const block = geometry.blockIndex(die, i * geometry.planes);
        const planes = Array.from({ length: geometry.planes }, (_, plane) => block + plane);
        const isMarked = planes.some(
          (each) => (array.store.history.flagsOf(each) & BlockFlag.FactoryMark) !== 0,
        );
        yield [i, die, placeOf(drive, block), isMarked ? 'factory' : 'grown'];
      }
    }
  },
};

export const DAMAGE: DumpTable = {
  name: 'damage',
  says: 'a page that a cut or failed operation has left with extra bit errors',
  columns: ['block', 'page', 'where', 'extraRberPpb'],
  *rows(drive) {
    const { geometry, array } = drive;
    for (const { block, page, rber } of array.store.damage.list()) {
      const where = geometry.describe(geometry.pageSlotOf(block, page));
      yield [block, page, where, Math.round(rber * PPB)];
    }
  },
};

export const FAULTS: DumpTable = {
  name: 'faults',
  says: 'a fault laid over the drive: what it is, and how often it fitted and fired',
  columns: ['id', 'kind', 'state', 'fitted', 'fired', 'firstOrdinal', 'lastOrdinal', 'fault'],
  *rows(drive) {
    for (const report of drive.faults.list()) {
      const { id, fault, lifted, armed, matchedCount, firedCount } = report;
      const state = lifted ? 'lifted' : armed ? 'armed' : 'used up';
      const { firstFiredOrdinal, lastFiredOrdinal } = report;
      const text = JSON.stringify({ ...fault, if: undefined });
      yield [
        ...[id, fault.kind, state, matchedCount, firedCount],
        ...[firstFiredOrdinal, lastFiredOrdinal, text],
      ];
    }
  },
};

function superblockOf({ geometry }: Drive, block: number): number {
  return geometry.superblockOf(geometry.pageSlotOf(block, 0));
}

/** Channel, die and block, without a page. */
function placeOf({ geometry }: Drive, block: number): string {
  return geometry.describe(geometry.pageSlotOf(block, 0)).replace(/ page 0 slot 0$/, '');
}
