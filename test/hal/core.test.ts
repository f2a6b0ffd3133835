import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Core } from '../../hal/core.ts';
import { InvariantBroken, invariant } from '../../hal/sim/invariant.ts';
import { Probe, ProbeKind } from '../../hal/sim/probe.ts';
import { Machine } from '../../hal/sim/snapshot.ts';
import { type AlarmOwner, Timeline } from '../../hal/sim/timeline.ts';
import { UndoLog } from '../../hal/sim/undo-log.ts';

/** 400 MHz: a cycle is 2.5 ns. */
const MEGAHERTZ = 400;

/** A core whose tasks write down when they ran. */
class CoreRig {
  readonly timeline = new Timeline();
  readonly machine = new Machine(this.timeline, new UndoLog());
  readonly probe = new Probe();
  readonly core = this.machine.add(new Core('arm', 0, MEGAHERTZ, this.timeline, this.probe));
  /** 'task operand @ns' of each body, in order. */
  ran: string[] = [];

  task(name: string, priority: number, cycles: number, body: (operand: number) => void = () => {}) {
    return this.core.define(name, priority, cycles, {
      run: (operand) => {
        this.ran.push(`${name} ${operand} @${this.timeline.nowNs}`);
        body(operand);
      },
    });
  }
}

describe('cost', () => {
  it('spends the cycles of a task before its body, rounded up to whole ns', () => {
    const rig = new CoreRig();
    const short = rig.task('short', 0, 1);
    const long = rig.task('long', 0, 10);
    rig.core.post(short, 7);
    rig.core.post(long, 8);
    rig.timeline.runUntilQuiet();
    // 1 cycle is 2.5 ns, so 3; 10 more cycles are 25.
    expect(rig.ran).toEqual(['short 7 @3', 'long 8 @28']);
    expect(rig.core.busyNs).toBe(28);
  });

  it('is one event a task', () => {
    const rig = new CoreRig();
    const task = rig.task('task', 1, 100);
    for (let i = 0; i < 5; i++) rig.core.post(task, i);
    rig.timeline.runUntilQuiet();
    expect(rig.timeline.ordinal).toBe(5);
    expect(rig.core.taskCount).toBe(5);
  });

  it('spends cycles given at the posting in addition, before the body', () => {
    const rig = new CoreRig();
    const task = rig.task('task', 0, 4);
    rig.core.post(task, 1, 6);
    rig.core.post(task, 2);
    rig.timeline.runUntilQuiet();
    expect(rig.ran).toEqual(['task 1 @25', 'task 2 @35']);
  });

  it('keeps the core busy after a body that charges more', () => {
    const rig = new CoreRig();
    const heavy = rig.task('heavy', 0, 400, () => rig.core.charge(200));
    const next = rig.task('next', 0, 40);
    rig.core.post(heavy, 0);
    rig.core.post(next, 0);
    rig.timeline.runUntilQuiet();
    expect(rig.ran).toEqual(['heavy 0 @1000', 'next 0 @1600']);
    expect(rig.core.busyNs).toBe(1600);
  });

  it('counts the charged cycles for a task that is posted while they last', () => {
    const rig = new CoreRig();
    const heavy = rig.task('heavy', 0, 400, () => rig.core.charge(200));
    const next = rig.task('next', 0, 40);
    rig.core.post(heavy, 0);
    rig.timeline.runUntil(1200);
    rig.core.post(next, 0);
    rig.timeline.runUntilQuiet();
    expect(rig.ran[1]).toBe('next 0 @1600');
  });

  it('is nothing while the core waits', () => {
    const rig = new CoreRig();
    const task = rig.task('task', 0, 400);
    rig.timeline.runUntil(5000);
    expect(rig.core.doing).toBe('wfi');
    rig.core.post(task, 0);
    expect(rig.core.doing).toBe('task');
    rig.timeline.runUntilQuiet();
    expect(rig.ran).toEqual(['task 0 @6000']);
    expect([rig.core.doing, rig.core.busyNs, rig.core.lastRunNs]).toEqual(['wfi', 1000, 6000]);
  });
});

describe('order', () => {
  it('is by priority, then by posting; a task that was latched is not overtaken', () => {
    const rig = new CoreRig();
    const low = rig.task('low', 3, 4);
    const high = rig.task('high', 0, 4);
    const middle = rig.task('middle', 1, 4);
    for (const task of [low, low, middle, high, middle, high]) {
      rig.core.post(task, rig.core.waitingCount);
    }
    rig.timeline.runUntilQuiet();
    const names = rig.ran.map((line) => line.split(' @')[0]);
    expect(names).toEqual(['low 0', 'high 2', 'high 4', 'middle 1', 'middle 3', 'low 0']);
  });

  it('lets what a body posts run after what waited in the same priority', () => {
    const rig = new CoreRig();
    const follow = rig.task('follow', 2, 4);
    const urgent = rig.task('urgent', 0, 4);
    const first = rig.task('first', 2, 4, () => {
      rig.core.post(follow, 9);
      rig.core.post(urgent, 9);
    });
    rig.core.post(first, 0);
    rig.core.post(follow, 1);
    rig.timeline.runUntilQuiet();
    const names = rig.ran.map((line) => line.split(' @')[0]);
    expect(names).toEqual(['first 0', 'urgent 9', 'follow 1', 'follow 9']);
  });

  it('tells the probe each task with its operand', () => {
    const rig = new CoreRig();
    const notes: number[][] = [];
    rig.probe.listener = { note: (...note) => notes.push(note) };
    const task = rig.task('task', 0, 4);
    rig.core.post(task, 41);
    rig.timeline.runUntilQuiet();
    expect(notes).toEqual([[ProbeKind.Task, 0, task, 41]]);
  });

  it('has four priorities, with room for 4096 tasks each', () => {
    const rig = new CoreRig();
    expect(() => rig.task('fifth', 4, 1)).toThrow(InvariantBroken);
    const task = rig.task('task', 3, 1);
    // One is latched at once, 4096 wait.
    for (let i = 0; i <= 4096; i++) rig.core.post(task, i);
    expect(rig.core.waitingCount).toBe(4096);
    expect(() => rig.core.post(task, 0)).toThrow('a task queue has room');
    rig.timeline.runUntilQuiet();
    expect(rig.ran.at(-1)).toMatch(/^task 4096 @/);
  });
});

interface Posting {
  atNs: number;
  priority: number;
  cycles: number;
  chargeCycles: number;
}

const anyPostings: fc.Arbitrary<Posting[]> = fc.array(
  fc.record({
    atNs: fc.nat({ max: 2000 }),
    priority: fc.nat({ max: 3 }),
    cycles: fc.nat({ max: 100 }),
    chargeCycles: fc.nat({ max: 50 }),
  }),
  { minLength: 1, maxLength: 40 },
);

it('runs every task once, one after the other, in its turn', () => {
  fc.assert(
    fc.property(anyPostings, (unsorted) => {
      const postings = [...unsorted].sort((a, b) => a.atNs - b.atNs);
      const timeline = new Timeline();
      const core = new Core('arm', 0, MEGAHERTZ, timeline, new Probe());
      const ran: { index: number; atNs: number }[] = [];
      const tasks = [0, 1, 2, 3].map((priority) =>
        core.define(`p${priority}`, priority, 0, {
          run: (index) => {
            ran.push({ index, atNs: timeline.nowNs });
            core.charge(postings[index]!.chargeCycles);
          },
        }),
      );
      postings.forEach(({ atNs, priority, cycles }, index) => {
        timeline.runUntil(atNs);
        core.post(tasks[priority]!, index, cycles);
      });
      timeline.runUntilQuiet();

      expect(ran.map((run) => run.index).sort((a, b) => a - b)).toEqual(postings.map((_, i) => i));
      let freeNs = 0;
      let busyNs = 0;
      const last = [-1, -1, -1, -1];
      const broken: string[] = [];
      for (const { index, atNs } of ran) {
        const posting = postings[index]!;
        const costNs = Math.ceil(posting.cycles * 2.5);
        const chargeNs = Math.ceil(posting.chargeCycles * 2.5);
        if (atNs < Math.max(freeNs, posting.atNs) + costNs) broken.push(`${index} ran too early`);
        if (index < last[posting.priority]!) broken.push(`${index} overtook its own priority`);
        last[posting.priority] = index;
        freeNs = atNs + chargeNs;
        busyNs += costNs + chargeNs;
      }
      expect(broken).toEqual([]);
      expect(core.busyNs).toBe(busyNs);
    }),
  );
});

describe('a broken rule', () => {
  it('stops the core and is told with task and instant', () => {
    const rig = new CoreRig();
    let panics = 0;
    rig.core.onPanic = () => panics++;
    const good = rig.task('good', 1, 4);
    const bad = rig.task('bad', 0, 4, () => invariant(false, 'a map entry lies in the array'));
    rig.core.post(good, 1);
    rig.core.post(bad, 0);
    rig.core.post(good, 2);
    rig.timeline.runUntilQuiet();
    expect(rig.core.panic).toEqual({
      rule: 'a map entry lies in the array',
      task: 'bad',
      ordinal: 2,
      atNs: 20,
    });
    expect(panics).toBe(1);
    expect(rig.core.doing).toBe('panic');
    rig.core.post(good, 3);
    rig.timeline.runUntilQuiet();
    expect(rig.ran).toEqual(['good 1 @10', 'bad 0 @20']);
  });

  it('is only what invariant() throws: other errors come through', () => {
    const rig = new CoreRig();
    const bad = rig.task('bad', 0, 4, () => {
      throw new TypeError('a bug of the host language');
    });
    rig.core.post(bad, 0);
    expect(() => rig.timeline.step()).toThrow(new TypeError('a bug of the host language'));
    expect(rig.core.panic).toBeNull();
  });

  it('is forgotten at power-on, with all that waited', () => {
    const rig = new CoreRig();
    const bad = rig.task('bad', 0, 4, () => invariant(false, 'never'));
    const good = rig.task('good', 0, 4);
    rig.core.post(bad, 0);
    rig.core.post(good, 1);
    rig.timeline.runUntilQuiet();
    rig.core.reset();
    expect([rig.core.panic, rig.core.waitingCount, rig.core.doing]).toEqual([null, 0, 'wfi']);
    rig.core.post(good, 2);
    rig.timeline.runUntilQuiet();
    expect(rig.ran).toEqual(['bad 0 @10', 'good 2 @20']);
  });
});

/** Tasks that keep each other going through all priorities, with charges and extra cycles. */
class BusyRig extends CoreRig {
  readonly tasks = [0, 1, 2, 3].map((priority) =>
    this.task(`p${priority}`, priority, 7 + priority, (operand) => this.#follow(operand)),
  );

  #follow(operand: number): void {
    if (operand >= 120) return;
    this.core.charge(operand % 5);
    this.core.post(this.tasks[(operand * 7) % 4]!, operand + 3, operand % 11);
    if (operand % 3 === 0) this.core.post(this.tasks[operand % 4]!, operand + 40);
  }

  start(): void {
    for (const operand of [0, 1, 2]) this.core.post(this.tasks[operand]!, operand);
  }
}

describe('saving between any two tasks', () => {
  const whole = new BusyRig();
  whole.start();
  whole.timeline.runUntilQuiet();

  it('continues the same run when put back', () => {
    const rig = new BusyRig();
    rig.start();
    for (let ordinal = 1; ordinal < whole.timeline.ordinal; ordinal += 13) {
      rig.timeline.runToOrdinal(ordinal);
      const saved = rig.machine.saveParts();
      const soFar = [...rig.ran];
      rig.timeline.runUntilQuiet();
      expect(rig.ran).toEqual(whole.ran);
      expect(rig.machine.stateHash()).toBe(whole.machine.stateHash());
      rig.machine.restoreParts(saved);
      rig.ran = soFar;
    }
  });

  it('continues the same run in a new machine', () => {
    const rig = new BusyRig();
    rig.start();
    rig.timeline.runToOrdinal(whole.timeline.ordinal >> 1);
    const fresh = new BusyRig();
    fresh.machine.restoreParts(rig.machine.saveParts());
    fresh.timeline.runUntilQuiet();
    expect([...rig.ran, ...fresh.ran]).toEqual(whole.ran);
    expect(fresh.timeline.hash).toBe(whole.timeline.hash);
    expect(fresh.machine.stateHash()).toBe(whole.machine.stateHash());
  });

  it('keeps a panic', () => {
    const rig = new CoreRig();
    const bad = rig.task('bad', 0, 4, () => invariant(false, 'never'));
    rig.core.post(bad, 0);
    rig.timeline.runUntilQuiet();
    const fresh = new CoreRig();
    fresh.task('bad', 0, 4);
    fresh.machine.restoreParts(rig.machine.saveParts());
    expect(fresh.core.panic).toEqual(rig.core.panic);
    fresh.core.post(0, 0);
    expect(fresh.timeline.step()).toBe(false);
  });
});

it('serves alarms and tasks of one instant in the order they were armed', () => {
  const rig = new CoreRig();
  const owner: AlarmOwner = { onAlarm: () => rig.ran.push(`alarm @${rig.timeline.nowNs}`) };
  const alarm = rig.timeline.claim('other', owner);
  const task = rig.task('task', 0, 4);
  alarm.armAfter(10);
  rig.core.post(task, 0);
  rig.timeline.runUntilQuiet();
  expect(rig.ran).toEqual(['alarm @10', 'task 0 @10']);
});
