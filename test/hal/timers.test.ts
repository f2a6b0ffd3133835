import { describe, expect, it } from 'vitest';
import { Core } from '../../hal/core.ts';
import { InterruptController } from '../../hal/interrupts.ts';
import { Irq } from '../../hal/ports.ts';
import { Probe } from '../../hal/sim/probe.ts';
import { Machine } from '../../hal/sim/snapshot.ts';
import { Timeline } from '../../hal/sim/timeline.ts';
import { UndoLog } from '../../hal/sim/undo-log.ts';
import { NS_PER_S } from '../../hal/sim/units.ts';
import { Timers, Watchdog } from '../../hal/timers.ts';

class TimerRig {
  readonly timeline = new Timeline();
  readonly machine = new Machine(this.timeline, new UndoLog());
  readonly core = this.machine.add(new Core('arm', 0, 400, this.timeline, new Probe()));
  readonly interrupts = this.machine.add(new InterruptController());
  readonly timers = this.machine.add(new Timers(this.timeline, this.interrupts));
  readonly watchdog = this.machine.add(new Watchdog(this.timeline, this.core));
  /** 'mask @ns' of each served timer interrupt. */
  readonly served: string[] = [];

  constructor() {
    const task = this.core.define('timer', 0, 0, {
      run: () => {
        this.served.push(`${this.timers.takeExpired()} @${this.timeline.nowNs}`);
        this.interrupts.acknowledge(Irq.Timer, false);
      },
    });
    this.interrupts.connect(Irq.Timer, this.core, task);
  }
}

describe('a timer channel', () => {
  it('runs out once, after exactly the time it was given', () => {
    const rig = new TimerRig();
    rig.timers.start(2, 1500);
    rig.timeline.runUntilQuiet();
    expect(rig.served).toEqual(['4 @1500']);
    expect(rig.timers.takeExpired()).toBe(0);
  });

  it('starts over when it is started again, and never fires when stopped', () => {
    const rig = new TimerRig();
    rig.timers.start(0, 1000);
    rig.timers.start(1, 1000);
    rig.timeline.runUntil(600);
    rig.timers.start(0, 1000);
    rig.timers.stop(1);
    rig.timeline.runUntilQuiet();
    expect(rig.served).toEqual(['1 @1600']);
  });

  it('shares one interrupt with the others that run out at the same instant', () => {
    const rig = new TimerRig();
    for (const channel of [0, 3]) rig.timers.start(channel, 700);
    rig.timeline.runUntilQuiet();
    expect(rig.served).toEqual(['9 @700']);
  });

  it('is dead after power was lost', () => {
    const rig = new TimerRig();
    rig.timers.start(0, 700);
    rig.timers.reset();
    rig.timeline.runUntilQuiet();
    expect(rig.served).toEqual([]);
  });

  it('runs on from a snapshot, expired and running channels alike', () => {
    const rig = new TimerRig();
    rig.timers.start(1, 10);
    rig.timers.start(2, 500);
    rig.timeline.step();
    const fresh = new TimerRig();
    fresh.machine.restoreParts(rig.machine.saveParts());
    fresh.timeline.runUntilQuiet();
    expect(fresh.served).toEqual(['2 @10', '4 @500']);
  });
});

it('counts whole microseconds', () => {
  const rig = new TimerRig();
  rig.timeline.runUntil(2_999);
  expect(rig.timers.microseconds).toBe(2);
  rig.timeline.runUntil(3_000);
  expect(rig.timers.microseconds).toBe(3);
});

describe('the watchdog', () => {
  it('catches a core that hangs in a task while work waits', () => {
    const rig = new TimerRig();
    let panics = 0;
    rig.core.onPanic = () => panics++;
    // 5 s at 400 MHz: longer than any task may take.
    const endless = rig.core.define('endless', 1, 2e9, { run: () => {} });
    rig.watchdog.start();
    rig.core.post(endless, 0);
    rig.core.post(endless, 0);
    rig.timeline.runUntil(3 * NS_PER_S);
    expect(rig.core.panic).toEqual({
      rule: 'the watchdog sees the core run a task within its period',
      task: 'endless',
      ordinal: 1,
      atNs: NS_PER_S,
    });
    expect(panics).toBe(1);
  });

  it('leaves a core alone that waits for work', () => {
    const rig = new TimerRig();
    rig.watchdog.start();
    rig.timeline.runUntil(10 * NS_PER_S);
    expect(rig.core.panic).toBeNull();
    expect(rig.timeline.ordinal).toBe(10);
  });

  it('leaves a core alone that is loaded and gets on', () => {
    const rig = new TimerRig();
    // 0.9 s a task, always one more waiting.
    const slow = rig.core.define('slow', 1, 0.36e9, { run: () => rig.core.post(slow, 0) });
    rig.watchdog.start();
    rig.core.post(slow, 0);
    rig.core.post(slow, 0);
    rig.timeline.runUntil(20 * NS_PER_S);
    expect(rig.core.panic).toBeNull();
  });

  it('ends with the power', () => {
    const rig = new TimerRig();
    rig.watchdog.start();
    rig.watchdog.reset();
    expect(rig.timeline.step()).toBe(false);
    rig.watchdog.start();
    expect(rig.timeline.nextNs).toBe(NS_PER_S);
  });

  it('remembers over a snapshot what it saw', () => {
    const rig = new TimerRig();
    const task = rig.core.define('task', 1, 40, { run: () => {} });
    rig.watchdog.start();
    rig.core.post(task, 0);
    rig.timeline.runUntil(NS_PER_S + 1);
    const fresh = new TimerRig();
    fresh.core.define('task', 1, 40, { run: () => {} });
    fresh.machine.restoreParts(rig.machine.saveParts());
    expect(fresh.machine.stateHash()).toBe(rig.machine.stateHash());
    fresh.timeline.runUntil(5 * NS_PER_S);
    expect(fresh.core.panic).toBeNull();
  });
});
