/**
 * Timers and watchdog of the controller.
 *
 * Four one-shot channels raise Irq.Timer. The watchdog looks at the ARM core once a period: a core
 * that holds work and has run no task since the last look has hung, and that is a panic.
 */

import type { Core } from './core.ts';
import type { InterruptController } from './interrupts.ts';
import { Irq, type TimerPort } from './ports.ts';
import type { RegisterView } from './registers.ts';
import { invariant } from './sim/invariant.ts';
import type { Saveable, Saved } from './sim/snapshot.ts';
import type { Alarm, AlarmOwner, Timeline } from './sim/timeline.ts';
import { NS_PER_S, NS_PER_US } from './sim/units.ts';

const CHANNELS = 4;

export class Timers implements TimerPort, AlarmOwner, Saveable {
  readonly kind = 'hal.timers';
  readonly version = 1;
  readonly #timeline: Timeline;
  readonly #interrupts: InterruptController;
  readonly #alarms: Alarm[] = [];
  /** Bit n: channel n has run out and firmware has not taken it. */
  #expired = 0;

  constructor(timeline: Timeline, interrupts: InterruptController) {
    this.#timeline = timeline;
    this.#interrupts = interrupts;
    for (let channel = 0; channel < CHANNELS; channel++) {
      this.#alarms.push(timeline.claim(`timer${channel}`, this, channel));
    }
  }

  get microseconds(): number {
    return Math.floor(this.#timeline.nowNs / NS_PER_US);
  }

  start(channel: number, ns: number): void {
    this.#alarms[channel]!.disarm();
    this.#alarms[channel]!.armAfter(ns);
  }

  stop(channel: number): void {
    this.#alarms[channel]!.disarm();
  }

  takeExpired(): number {
    const expired = this.#expired;
    this.#expired = 0;
    return expired;
  }

  onAlarm(channel: number): void {
    this.#expired |= 1 << channel;
    this.#interrupts.raise(Irq.Timer);
  }

  registers(): RegisterView {
    const channels = this.#alarms.map((alarm, channel) => ({
      name: `DEADLINE${channel}`,
      offset: 0x10 + channel * 4,
      says: 'ns at which the channel runs out, -1 when stopped',
      read: () => alarm.deadlineNs,
    }));
    return {
      name: 'TIMER',
      baseAddress: 0x8200_0000,
      registers: [
        { name: 'MICROSECONDS', offset: 0x00, says: 'counter', read: () => this.microseconds },
        { name: 'EXPIRED', offset: 0x04, says: 'channels run out', read: () => this.#expired },
        ...channels,
      ],
    };
  }

  reset(): void {
    for (const alarm of this.#alarms) alarm.disarm();
    this.#expired = 0;
  }

  save(): Saved {
    return { expired: this.#expired };
  }

  restore(saved: Saved): void {
    this.#expired = saved.expired as number;
  }
}

/** Period of the watchdog (assumed). */
const WATCHDOG_NS = NS_PER_S;

export class Watchdog implements AlarmOwner, Saveable {
  readonly kind = 'hal.watchdog';
  readonly version = 1;
  readonly #core: Core;
  readonly #alarm: Alarm;
  /** The core's task count at the last look. */
  #seenCount = 0;

  constructor(timeline: Timeline, core: Core) {
    this.#core = core;
    this.#alarm = timeline.claim('watchdog', this);
  }

  start(): void {
    this.#seenCount = this.#core.taskCount;
    this.#alarm.armAfter(WATCHDOG_NS);
  }

  reset(): void {
    this.#alarm.disarm();
  }

  onAlarm(): void {
    if (this.#core.panic !== null) return;
    const hung = this.#core.isBusy && this.#core.taskCount === this.#seenCount;
    if (hung) {
      this.#core.halt('the watchdog sees the core run a task within its period', this.#core.doing);
      return;
    }
    invariant(this.#core.taskCount >= this.#seenCount, 'the task count only grows');
    this.start();
  }

  save(): Saved {
    return { seenCount: this.#seenCount };
  }

  restore(saved: Saved): void {
    this.#seenCount = saved.seenCount as number;
  }
}
