/**
 * A run-to-completion core: prioritised tasks, cycles charged per task.
 *
 * Posting a task queues it. When the core is free it latches the most urgent task with its operand,
 * spends the task's cycles and runs the body at that instant: one event a task. A body may charge
 * more cycles, which keep the core busy afterwards. With no task the core waits for an interrupt
 * (WFI). A broken rule inside a body is a panic: the core stops and says so.
 */

import type { CorePort, TaskBody } from './ports.ts';
import type { RegisterView } from './registers.ts';
import { InvariantBroken, invariant } from './sim/invariant.ts';
import { type Probe, ProbeKind } from './sim/probe.ts';
import type { Saveable, Saved } from './sim/snapshot.ts';
import type { Alarm, AlarmOwner, Timeline } from './sim/timeline.ts';

const PRIORITIES = 4;
/** Tasks that may wait in one priority; a power of two. */
const QUEUE_LENGTH = 4096;
const QUEUE_MASK = QUEUE_LENGTH - 1;
const NO_TASK = -1;

export interface Panic {
  rule: string;
  task: string;
  ordinal: number;
  atNs: number;
}

export class Core implements CorePort, AlarmOwner, Saveable {
  readonly kind: string;
  readonly version = 1;
  readonly name: string;
  readonly nsPerCycle: number;
  /** Set when a rule broke inside a task; the core runs no more. */
  panic: Panic | null = null;
  /** Called once at a panic. */
  onPanic: () => void = () => {};
  /** Ns during which the core was not waiting for an interrupt. */
  busyNs = 0;
  /** Tasks whose bodies have run. */
  taskCount = 0;
  /** Instant at which the last body ran, watched by the watchdog. */
  lastRunNs = 0;

  readonly #number: number;
  readonly #timeline: Timeline;
  readonly #probe: Probe;
  readonly #done: Alarm;
  readonly #names: string[] = [];
  readonly #priorities: number[] = [];
  readonly #taskNs: number[] = [];
  readonly #bodies: TaskBody[] = [];
  /** Ring a priority of (task, operand, more cycles). */
  readonly #queue = new Int32Array(PRIORITIES * QUEUE_LENGTH * 3);
  readonly #head = new Int32Array(PRIORITIES);
  readonly #tail = new Int32Array(PRIORITIES);
  /** Task being executed, NO_TASK while the core waits. */
  #task = NO_TASK;
  #operand = 0;
  /** Instant from which the core may latch the next task. */
  #freeAtNs = 0;

  constructor(name: string, number: number, megahertz: number, timeline: Timeline, probe: Probe) {
    this.kind = `hal.${name}`;
    this.name = name;
    this.nsPerCycle = 1_000 / megahertz;
    this.#number = number;
    this.#timeline = timeline;
    this.#probe = probe;
    this.#done = timeline.claim(name, this);
  }

  define(name: string, priority: number, cycles: number, body: TaskBody): number {
    invariant(priority >= 0 && priority < PRIORITIES, 'a task has one of the four priorities');
    this.#names.push(name);
    this.#priorities.push(priority);
    this.#taskNs.push(Math.ceil(cycles * this.nsPerCycle));
    this.#bodies.push(body);
    return this.#names.length - 1;
  }

  post(task: number, operand: number, moreCycles = 0): void {
    if (this.panic !== null) return;
    if (this.#task === NO_TASK) {
      // A core that waits has nothing queued: the task starts without passing through a queue.
      this.#begin(task, operand, moreCycles);
      return;
    }
    const priority = this.#priorities[task]!;
    const tail = this.#tail[priority]!;
    invariant(((tail - this.#head[priority]!) | 0) < QUEUE_LENGTH, 'a task queue has room');
    const at = (priority * QUEUE_LENGTH + (tail & QUEUE_MASK)) * 3;
    this.#queue[at] = task;
    this.#queue[at + 1] = operand;
    this.#queue[at + 2] = moreCycles;
    this.#tail[priority] = tail + 1;
  }

  charge(cycles: number): void {
    this.#freeAtNs += Math.ceil(cycles * this.nsPerCycle);
  }

  /** Names of the tasks that are defined. */
  get taskNames(): readonly string[] {
    return this.#names;
  }

  /** Name of the task being executed, or 'wfi'. */
  get doing(): string {
    if (this.panic !== null) return 'panic';
    return this.#task === NO_TASK ? 'wfi' : this.#names[this.#task]!;
  }

  /** A task is being executed. */
  get isBusy(): boolean {
    return this.#task !== NO_TASK;
  }

  /** Tasks waiting in all queues. */
  get waitingCount(): number {
    let count = 0;
    for (let p = 0; p < PRIORITIES; p++) count += (this.#tail[p]! - this.#head[p]!) | 0;
    return count;
  }

  onAlarm(): void {
    const now = this.#timeline.nowNs;
    const task = this.#task;
    this.#freeAtNs = now;
    this.lastRunNs = now;
    this.taskCount++;
    const listener = this.#probe.listener;
    if (listener !== null) listener.note(ProbeKind.Task, this.#number, task, this.#operand);
    try {
      this.#bodies[task]!.run(this.#operand);
    } catch (error) {
      this.#stop(task, error);
      return;
    }
    this.busyNs += this.#freeAtNs - now;
    this.#task = NO_TASK;
    this.#latch();
  }

  registers(baseAddress: number): RegisterView {
    const register = (name: string, offset: number, says: string, read: () => number) => ({
      ...{ name, offset, says, read },
    });
    return {
      name: `${this.name.toUpperCase()}_CORE`,
      baseAddress,
      registers: [
        register('STATE', 0x00, '0 wfi, 1 busy, 2 halted', () =>
          this.panic !== null ? 2 : Number(this.isBusy),
        ),
        register('TASK', 0x04, 'number of the task being executed', () => this.#task),
        register('OPERAND', 0x08, 'its operand', () => this.#operand),
        register('WAITING', 0x0c, 'tasks in the queues', () => this.waitingCount),
        register('TASKS', 0x10, 'tasks run', () => this.taskCount),
        register('BUSY_NS', 0x14, 'ns not waiting', () => this.busyNs),
      ],
    };
  }

  /** Stops the core for good: the armed task does not run any more. */
  halt(rule: string, task: string): void {
    this.#done.disarm();
    this.panic = {
      ...{ rule, task },
      ordinal: this.#timeline.ordinal,
      atNs: this.#timeline.nowNs,
    };
    this.onPanic();
  }

  /** As at power-on: no task, nothing queued. Definitions stay. */
  reset(): void {
    this.#done.disarm();
    this.#head.fill(0);
    this.#tail.fill(0);
    this.#task = NO_TASK;
    this.#freeAtNs = 0;
    this.panic = null;
  }

  #latch(): void {
    let priority = 0;
    while (this.#head[priority] === this.#tail[priority]) {
      if (++priority === PRIORITIES) return;
    }
    const head = this.#head[priority]!;
    const at = (priority * QUEUE_LENGTH + (head & QUEUE_MASK)) * 3;
    // An empty queue begins anew at its front: a ring that is walked through leaves the caches.
    const isLast = head + 1 === this.#tail[priority];
    this.#head[priority] = isLast ? 0 : head + 1;
    if (isLast) this.#tail[priority] = 0;
    this.#begin(this.#queue[at]!, this.#queue[at + 1]!, this.#queue[at + 2]!);
  }

  #begin(task: number, operand: number, moreCycles: number): void {
    this.#task = task;
    this.#operand = operand;
    const now = this.#timeline.nowNs;
    const moreNs = moreCycles === 0 ? 0 : Math.ceil(moreCycles * this.nsPerCycle);
    const costNs = this.#taskNs[task]! + moreNs;
    const startNs = this.#freeAtNs > now ? this.#freeAtNs : now;
    this.busyNs += costNs;
    this.#done.armAt(startNs + costNs);
  }

  #stop(task: number, error: unknown): void {
    if (!(error instanceof InvariantBroken)) throw error;
    this.halt(error.message, this.#names[task]!);
  }

  save(): Saved {
    return {
      queue: this.#waiting(),
      task: this.#task,
      operand: this.#operand,
      freeAtNs: this.#freeAtNs,
      busyNs: this.busyNs,
      taskCount: this.taskCount,
      lastRunNs: this.lastRunNs,
      panic: this.panic === null ? null : { ...this.panic },
    };
  }

  restore(saved: Saved): void {
    const queue = saved.queue as Int32Array;
    this.#head.fill(0);
    this.#tail.fill(0);
    for (let i = 0; i < queue.length; i += 3) {
      const priority = this.#priorities[queue[i]!]!;
      const tail = this.#tail[priority]!;
      this.#queue.set(queue.subarray(i, i + 3), (priority * QUEUE_LENGTH + tail) * 3);
      this.#tail[priority] = tail + 1;
    }
    this.#task = saved.task as number;
    this.#operand = saved.operand as number;
    this.#freeAtNs = saved.freeAtNs as number;
    this.busyNs = saved.busyNs as number;
    this.taskCount = saved.taskCount as number;
    this.lastRunNs = saved.lastRunNs as number;
    this.panic = saved.panic as Panic | null;
  }

  /** Queued (task, operand, more cycles) triples, most urgent priority first. */
  #waiting(): Int32Array {
    const triples: number[] = [];
    for (let priority = 0; priority < PRIORITIES; priority++) {
      const count = (this.#tail[priority]! - this.#head[priority]!) | 0;
      for (let n = 0; n < count; n++) {
        const i = this.#head[priority]! + n;
        const at = (priority * QUEUE_LENGTH + (i & QUEUE_MASK)) * 3;
        triples.push(this.#queue[at]!, this.#queue[at + 1]!, this.#queue[at + 2]!);
      }
    }
    return Int32Array.from(triples);
  }
}
