/**
 * Goal: the array can be saved, taken back, forked and cut at any event.
 * Method: a run with work on every die is compared with itself, stopped at several events.
 */
import { describe, expect, it } from 'vitest';
import { History } from '../../hal/sim/history.ts';
import { NandRig, type NandRigOptions } from '../kit/nand-rig.ts';
import { filled, keepBusy } from '../kit/nand-steps.ts';

const PROGRAM_BUS = 87_390;
const PROGRAM_LSB = 560_000;

/** Faults of every kind that a die keeps while it works. */
function withFaults(rig: NandRig): NandRig {
  rig.faults.add({ kind: 'bit-errors', count: 40, where: { die: 1 }, probability: 0.5 });
  rig.faults.add({ kind: 'slow-die', factor: 2.5, where: { die: 2 } });
  rig.faults.add({ kind: 'stuck-busy', op: 'read', where: { die: 3 }, when: { nth: 3 } });
  return rig;
}

describe.each<[string, NandRigOptions, boolean]>([
  ['perfect cells', {}, false],
  ['worn cells with faults over them', { errors: true }, true],
])('saved in the middle: %s', (_, options, faulty) => {
  const busyRig = () => {
    const rig = new NandRig(options);
    if (faulty) {
      withFaults(rig);
      rig.clock.age(900, 40);
      for (let block = 0; block < 16; block++) rig.store.history.load(block, 0, 2500);
    }
    return keepBusy(rig);
  };
  const whole = busyRig().settle();
  const last = whole.timeline.ordinal;

  it('a recorded run that is taken back at any point ends the same', () => {
    const rig = busyRig();
    const history = new History(rig.machine, { intervalEvents: 23, budgetBytes: 2 ** 22 });
    history.runToOrdinal(last);
    for (const ordinal of [last - 1, 150, 77, 1, 120, 0]) {
      history.goTo(ordinal);
      expect(rig.timeline.ordinal).toBe(ordinal);
      history.runToOrdinal(last);
      expect(rig.timeline.hash).toBe(whole.timeline.hash);
      expect(rig.machine.stateHash()).toBe(whole.machine.stateHash());
    }
    history.stop();
  });

  it('a new machine with the saved state ends the same', () => {
    for (const ordinal of [1, 50, 133, last - 2]) {
      const rig = busyRig();
      rig.timeline.runToOrdinal(ordinal);
      const fresh = new NandRig(options);
      fresh.machine.restoreParts(rig.machine.saveParts());
      rig.machine.tables.forEach((table, i) => {
        fresh.machine.tables[i]!.values.set(table.values);
      });
      expect(fresh.machine.stateHash()).toBe(rig.machine.stateHash());
      fresh.settle();
      expect(fresh.timeline.hash).toBe(whole.timeline.hash);
      expect(fresh.machine.stateHash()).toBe(whole.machine.stateHash());
      expect([...rig.taken, ...fresh.taken]).toEqual(whole.taken);
    }
  });
});

describe('the history of a block', () => {
  it('goes back with a recorded run: reads are uncounted, damage is undone', () => {
    const rig = new NandRig();
    rig.program(filled(0, 0));
    rig.settle();
    const history = new History(rig.machine, { intervalEvents: 4, budgetBytes: 2 ** 20 });
    const start = rig.timeline.ordinal;
    const reads: number[] = [];
    const sense = () => {
      rig.read({ die: 0, slotMask: 0b1111 });
      history.runToOrdinal(Number.MAX_SAFE_INTEGER);
      reads.push(rig.timeline.ordinal);
    };
    for (let i = 0; i < 5; i++) sense();
    rig.store.damagePage(0, 0, 0.25);
    expect([rig.store.history.readsOf(0), rig.store.damage.count]).toEqual([5, 1]);
    history.goTo(reads[2]!);
    expect([rig.store.history.readsOf(0), rig.store.history.readsOf(1)]).toEqual([3, 3]);
    expect([rig.store.history.flagsOf(0), rig.store.damage.count]).toEqual([0, 0]);
    history.goTo(start);
    expect(rig.store.history.readsOf(0)).toBe(0);
    history.stop();
  });

  it('is kept by a fork, and goes its own way from there', () => {
    const rig = new NandRig({ errors: true });
    rig.store.history.load(0, 0, 1234);
    rig.program(filled(0, 0));
    rig.read({ die: 0 });
    rig.settle();
    rig.store.damagePage(0, 0, 0.125);
    rig.clock.age(30, 30);
    const fork = new NandRig({ errors: true, from: rig });
    fork.clock.startAt(rig.clock.minute);
    const rowOf = ({ store, media }: NandRig) => [
      ...[store.history.eraseCountOf(0), store.history.readsOf(0), store.history.flagsOf(0)],
      ...[store.history.firstMinuteOf(0), store.history.lastMinuteOf(0), media.rberOf(0, 0)],
    ];
    expect(rowOf(fork)).toEqual(rowOf(rig));
    rig.erase({ die: 0 });
    rig.settle();
    fork.read({ die: 0 });
    fork.settle();
    expect([fork.store.history.readsOf(0), rig.store.history.readsOf(0)]).toEqual([2, 0]);
    expect([fork.store.damage.count, rig.store.damage.count]).toEqual([1, 0]);
  });
});

describe('loss of power', () => {
  it('keeps what had ended, and leaves traces of what the arrays worked on', () => {
    const rig = new NandRig();
    rig.program(filled(0, 0));
    rig.program(filled(0, 1));
    rig.erase({ die: 1 });
    rig.read({ die: 3 });
    // The data of page 1 is on the bus: the cells know nothing of it.
    rig.cutAt(PROGRAM_BUS + PROGRAM_LSB + 1000);
    const { store, geometry, array, timeline } = rig;
    const cells = [0, 1].map((page) => store.contentOf(geometry.slotOf(0, 0, page, 0)));
    expect(cells).toEqual([1, 0]);
    expect(store.history.nextPageOf(0)).toBe(1);
    // Die 1 had begun to erase: its old content is gone.
    expect(store.history.eraseCountOf(rig.blockIndex(1, 0))).toBe(1);
    expect(array.takeDone()).toBe(-1);
    expect([...array.work.busyNs, ...array.channels.busyNs]).toEqual(Array(6).fill(0));
    const start = timeline.nowNs;
    rig.program(filled(0, 1));
    rig.settle();
    expect(timeline.nowNs - start).toBe(PROGRAM_BUS + PROGRAM_LSB);
  });
});
