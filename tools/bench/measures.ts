/**
 * The measures of the bench: each runs in a process of its own and returns its figures.
 *
 * Rates are per wall second of the emulator unless the key says IOPS or MB per second of a `sim`
 * group: those are emulated and compared with published figures.
 */

import { VECTOR_128, VECTOR_256, VECTOR_512 } from '../../firmware/profiles/vector.ts';
import type { DriveProfile } from '../../hal/profile.ts';
import { History } from '../../hal/sim/history.ts';
import { type Alarm, type AlarmOwner, Timeline } from '../../hal/sim/timeline.ts';
import { RunError } from '../errors.ts';
import { WorkloadRig } from '../workload/rig.ts';
import { counted, ecc } from './flash.ts';
import { type Figures, medians } from './median.ts';

export interface Measure {
  readonly name: string;
  readonly says: string;
  /** Runs with `repeat` repetitions; returns medians. */
  run(repeat: number): Figures;
}

/** Span of the published random tests: 8 GiB (AnandTech 6363). */
const SPAN_PAGES = 2 * 2 ** 20;
const KERNEL_ALARMS = 64;
const KERNEL_EVENTS = 5_000_000;

/** An alarm that arms itself again after a varying delay. */
class Ticker implements AlarmOwner {
  readonly #alarm: Alarm;
  #state: number;

  constructor(timeline: Timeline, number: number) {
    this.#alarm = timeline.claim(`ticker${number}`, this);
    this.#state = number * 7919 + 1;
    this.onAlarm();
  }

  onAlarm(): void {
    this.#state = (Math.imul(this.#state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    this.#alarm.armAfter(1 + ((this.#state >>> 16) % 5_000));
  }
}

function kernel(repeat: number): Figures {
  const timeline = new Timeline();
  for (let i = 0; i < KERNEL_ALARMS; i++) new Ticker(timeline, i);
  const run = () => {
    const began = process.hrtime.bigint();
    timeline.runToOrdinal(timeline.ordinal + KERNEL_EVENTS);
    return { kernelEventsPerSecond: (KERNEL_EVENTS * 1e9) / elapsedNs(began) };
  };
  run();
  return medians(times(repeat, run));
}

function random4k(repeat: number): Figures {
  const rig = booted(VECTOR_256);
  rig.run({ kind: 'write', order: 'sequential', pages: 32, count: 65_536, spanPages: SPAN_PAGES });
  const one = (kind: 'read' | 'write') =>
    rig.run({ kind, order: 'random', pages: 1, count: 500_000, spanPages: SPAN_PAGES });
  one('read');
  const reads = times(repeat, () => {
    const result = one('read');
    return {
      randomRead4kCommandsPerSecond: result.commandsPerWallSecond,
      simRandomRead4kIops: result.iops,
      simRandomRead4kMBPerSecond: result.bytesPerSecond / 1e6,
    };
  });
  one('write');
  const writes = times(repeat, () => {
    const result = one('write');
    return {
      randomWrite4kCommandsPerSecond: result.commandsPerWallSecond,
      simRandomWrite4kIops: result.iops,
    };
  });
  return { ...medians(reads), ...medians(writes) };
}

function sequential(repeat: number): Figures {
  const stream = (profile: DriveProfile, kind: 'read' | 'write') => {
    const rig = booted(profile);
    const pattern = { order: 'sequential', pages: 32, count: 65_536 } as const;
    rig.run({ kind: 'write', ...pattern });
    return medians(
      times(repeat, () => ({ rate: rig.run({ kind, ...pattern }).bytesPerSecond / 1e6 })),
    ).rate!;
  };
  return {
    simSequentialRead128kMBPerSecond: stream(VECTOR_256, 'read'),
    simSequentialWrite128kMBPerSecond: stream(VECTOR_256, 'write'),
    simSequentialWrite128GbMBPerSecond: stream(VECTOR_128, 'write'),
  };
}

function fill256(repeat: number): Figures {
  return medians(
    times(repeat, () => {
      const { rig, seconds } = filled(VECTOR_256);
      const simSeconds = rig.drive.timeline.nowNs / 1e9;
      rig.powerCycle();
      return { fill256Seconds: seconds, rss256Bytes: rss(), simFill256Seconds: simSeconds };
    }),
  );
}

function memory512(): Figures {
  const { rig } = filled(VECTOR_512);
  rig.powerCycle();
  return { rss512Bytes: rss() };
}

/** Random writes over the whole drive, filled and then overwritten at random until WA settles. */
function steady(repeat: number): Figures {
  const { rig } = filled(VECTOR_256);
  const { stream, collector } = rig.drive.firmware;
  const write = (count: number) => rig.run({ kind: 'write', order: 'random', pages: 1, count });
  write(12_000_000);
  return medians(
    times(repeat, () => {
      const [host, moved] = [stream.slotCount, collector.movedCount];
      const result = write(1_000_000);
      const hostSlots = stream.slotCount - host;
      return {
        steadyWrite4kCommandsPerSecond: result.commandsPerWallSecond,
        simSteadyWrite4kMBPerSecond: result.bytesPerSecond / 1e6,
        simSteadyWriteAmplification: (hostSlots + collector.movedCount - moved) / hostSlots,
      };
    }),
  );
}

function goingBack(repeat: number): Figures {
  const { rig } = filled(VECTOR_256);
  const { timeline, machine } = rig.drive;
  const count = 100_000;
  const write = () => rig.run({ kind: 'write', order: 'random', pages: 1, count }).wallSeconds;
  const recorded = () => {
    const off = write();
    const history = new History(machine);
    const beganWall = process.hrtime.bigint();
    rig.workload.start({ kind: 'write', order: 'random', pages: 1, count });
    rig.drive.host.pump();
    while (rig.workload.doneCount < count) history.step();
    const on = elapsedNs(beganWall) / 1e9;
    history.stop();
    return { recordingCostRatio: on / off };
  };
  // The engine compiles the machine anew when it first meets a log that is on.
  times(2, recorded);
  const ratios = times(repeat, recorded);
  const history = new History(machine);
  rig.workload.start({ kind: 'write', order: 'random', pages: 1, count: 10 * count });
  rig.drive.host.pump();
  history.runToOrdinal(timeline.ordinal + 1_500_000);
  const back = (events: number) => {
    const { ordinal, hash } = timeline;
    const began = process.hrtime.bigint();
    history.goTo(ordinal - events);
    const ms = elapsedNs(began) / 1e6;
    history.goTo(ordinal);
    if (timeline.hash !== hash) throw new RunError('the run differs after going back');
    return ms;
  };
  const steps = times(repeat, () => ({ stepBackMs: back(1) }));
  const far = times(repeat, () => ({ millionEventsBackMs: back(1_000_000) }));
  return { ...medians(ratios), ...medians(steps), ...medians(far) };
}

export const MEASURES: readonly Measure[] = [
  { name: 'kernel', says: 'events a second with 64 alarms', run: kernel },
  { name: 'random4k', says: '4 KiB random, QD32, 8 GiB span, verified', run: random4k },
  { name: 'sequential', says: '128 KiB sequential, QD32, emulated', run: sequential },
  { name: 'fill256', says: '128 KiB over the whole 256 GB, standby, mount', run: fill256 },
  { name: 'memory512', says: '512 GB filled, standby, mount', run: memory512 },
  { name: 'steady', says: '4 KiB random over the whole aged 256 GB', run: steady },
  { name: 'ecc', says: 'the exact code: clean codewords, codewords of 8 errors', run: ecc },
  { name: 'counted', says: 'random reads with counted bit errors and without', run: counted },
  { name: 'going-back', says: 'one and a million events back on a filled drive', run: goingBack },
];

function booted(profile: DriveProfile): WorkloadRig {
  const rig = new WorkloadRig(profile);
  rig.boot();
  return rig;
}

function filled(profile: DriveProfile): { rig: WorkloadRig; seconds: number } {
  const rig = booted(profile);
  const count = Math.floor(profile.identity.sectors / 256);
  const { wallSeconds } = rig.run({ kind: 'write', order: 'sequential', pages: 32, count });
  return { rig, seconds: wallSeconds };
}

function times<T>(repeat: number, run: () => T): T[] {
  return Array.from({ length: repeat }, run);
}

function elapsedNs(began: bigint): number {
  return Number(process.hrtime.bigint() - began);
}

function rss(): number {
  return process.memoryUsage().rss;
}
