/** Every state machine of the drive by name, with its state and what it works on. */
import type { Drive } from '../../firmware/drive.ts';
import { SuperblockState } from '../../firmware/ftl/superblocks.ts';
import type { Core } from '../../hal/core.ts';
import { FlashOp } from '../../hal/flash-ops.ts';
import { HOST_SLOTS } from '../../hal/ports.ts';
import { DiePhase } from '../../nand/die-table.ts';
import { SlotPhase } from '../../sata/slots.ts';
import { opcodeName } from './controller-tables.ts';
import type { DumpRow, DumpTable } from './dump-table.ts';

const NONE = -1;

/** What a die works on, '' while it is idle. */
export function workOfDie(drive: Drive, die: number): string {
  const { array, ops, geometry } = drive;
  const op = array.currentOf(die);
  const waiting = array.waitingCount(die);
  const queue = waiting === 0 ? '' : `${waiting} waiting`;
  if (op === NONE) return queue;
  const block = ops.block[op]!;
  const planes = geometry.planes > 1 ? `-${block + geometry.planes - 1}` : '';
  const page = ops.op[op] === FlashOp.Erase ? '' : ` page ${ops.page[op]}`;
  const work = `${FlashOp[ops.op[op]!]} block ${block}${planes}${page}`;
  return queue === '' ? work : `${work}, ${queue}`;
}

/** What a host slot's command asks for. */
export function workOfSlot(drive: Drive, slot: number): string {
  const { slots } = drive.port;
  const fua = slots.fua[slot] === 1 ? ' FUA' : '';
  const place = slots.sectors[slot] === 0 ? '' : ` lba ${slots.lba[slot]} +${slots.sectors[slot]}`;
  return `${opcodeName(slots.opcode[slot]!)}${fua}${place}`;
}

function* coreRow(core: Core): Iterable<DumpRow> {
  const panic = core.panic === null ? '' : `: ${core.panic.rule}`;
  yield [core.name, core.doing, `${core.waitingCount} tasks waiting${panic}`];
}

export const MACHINES: DumpTable = {
  name: 'machines',
  says: 'a state machine, its state and what it works on; free host slots are left out',
  columns: ['machine', 'state', 'detail'],
  *rows(drive) {
    const { firmware, geometry, array } = drive;
    const { superblocks } = firmware;
    yield ['boot', firmware.boot.machine.stateName, ''];
    yield ['write-mode', firmware.mode.machine.stateName, `${superblocks.freeCount} erased`];
    yield* coreRow(drive.arm);
    yield* coreRow(drive.aragon.core);
    for (let die = 0; die < geometry.dies; die++) {
      yield [`die${die}`, DiePhase[array.phaseOf(die)]!, workOfDie(drive, die)];
    }
    const { phase } = drive.port.slots;
    for (let slot = 0; slot < HOST_SLOTS; slot++) {
      if (phase[slot] === SlotPhase.Free) continue;
      yield [`slot${slot}`, SlotPhase[phase[slot]!]!, workOfSlot(drive, slot)];
    }
    for (let state = 0; SuperblockState[state] !== undefined; state++) {
      const count = superblocks.countIn(state);
      if (count > 0) yield ['superblocks', SuperblockState[state]!, `${count}`];
    }
  },
};
