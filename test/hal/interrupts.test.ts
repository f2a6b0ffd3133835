import { describe, expect, it } from 'vitest';
import { Core } from '../../hal/core.ts';
import { InterruptController } from '../../hal/interrupts.ts';
import { Irq } from '../../hal/ports.ts';
import { Probe } from '../../hal/sim/probe.ts';
import { Timeline } from '../../hal/sim/timeline.ts';

/** One core that serves all four lines. */
class IrqRig {
  readonly timeline = new Timeline();
  readonly core = new Core('arm', 0, 400, this.timeline, new Probe());
  readonly interrupts = new InterruptController();
  readonly served: string[] = [];
  /** What the handler answers to acknowledge: whether the line stays asserted. */
  again = false;

  constructor() {
    for (const line of [Irq.Host, Irq.HostData, Irq.Flash, Irq.Timer]) {
      const task = this.core.define(Irq[line]!, line, 40, {
        run: () => {
          this.served.push(Irq[line]!);
          const again = this.again;
          this.again = false;
          this.interrupts.acknowledge(line, again);
        },
      });
      this.interrupts.connect(line, this.core, task);
    }
  }

  register(name: string): number | undefined {
    return this.interrupts
      .registers()
      .registers.find((one) => one.name === name)
      ?.read();
  }
}

describe('a line', () => {
  it('posts its task once until it is acknowledged', () => {
    const rig = new IrqRig();
    for (let i = 0; i < 5; i++) rig.interrupts.raise(Irq.Flash);
    expect(rig.register('INT_STS')).toBe(1 << Irq.Flash);
    rig.timeline.runUntilQuiet();
    expect(rig.served).toEqual(['Flash']);
    expect(rig.register('INT_STS')).toBe(0);
    expect(rig.register('INT_CNT_FLASH')).toBe(5);
    rig.interrupts.raise(Irq.Flash);
    rig.timeline.runUntilQuiet();
    expect(rig.served).toEqual(['Flash', 'Flash']);
  });

  it('stays asserted and is served again when the handler leaves work', () => {
    const rig = new IrqRig();
    rig.again = true;
    rig.interrupts.raise(Irq.Timer);
    rig.timeline.step();
    expect(rig.register('INT_STS')).toBe(1 << Irq.Timer);
    rig.timeline.runUntilQuiet();
    expect(rig.served).toEqual(['Timer', 'Timer']);
    expect(rig.register('INT_STS')).toBe(0);
  });

  it('is taken between tasks by the priority of its task', () => {
    const rig = new IrqRig();
    for (const line of [Irq.Timer, Irq.Flash, Irq.HostData, Irq.Host]) rig.interrupts.raise(line);
    rig.timeline.runUntilQuiet();
    // The timer found the core waiting; the others were pending when it ended.
    expect(rig.served).toEqual(['Timer', 'Host', 'HostData', 'Flash']);
  });

  it('that nothing is connected to only latches', () => {
    const interrupts = new InterruptController();
    interrupts.raise(Irq.Host);
    interrupts.raise(Irq.Host);
    const values = interrupts.registers().registers.map((one) => one.read());
    expect(values).toEqual([1, 2, 0, 0, 0]);
    interrupts.reset();
    expect(interrupts.registers().registers[0]!.read()).toBe(0);
  });
});

it('saves what is asserted, so that a restored line is not posted twice', () => {
  const rig = new IrqRig();
  rig.interrupts.raise(Irq.HostData);
  const fresh = new IrqRig();
  fresh.interrupts.restore(rig.interrupts.save());
  fresh.interrupts.raise(Irq.HostData);
  expect(fresh.core.waitingCount).toBe(0);
  expect(fresh.core.doing).toBe('wfi');
  expect(fresh.register('INT_CNT_DATA')).toBe(2);
});
