/**
 * Goal: one clock; every event has an ordinal, equal deadlines fire in arming order, and a restored
 * timeline goes on as the one that was saved. Method: owners that write down what fired and when.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvariantBroken } from '../../../hal/sim/invariant.ts';
import { type Alarm, type AlarmOwner, Timeline } from '../../../hal/sim/timeline.ts';

/** Writes down (tag, time); arms tags again while delays are left. */
class Scribe implements AlarmOwner {
  readonly log: string[] = [];
  readonly alarms: Alarm[];
  readonly #timeline: Timeline;
  readonly #delaysNs: number[][];

  constructor(timeline: Timeline, delaysNs: number[][]) {
    this.#timeline = timeline;
    this.#delaysNs = delaysNs.map((delays) => [...delays]);
    this.alarms = delaysNs.map((_, tag) => timeline.claim(`alarm ${tag}`, this, tag));
    for (const tag of delaysNs.keys()) this.#armAgain(tag);
  }

  onAlarm(tag: number): void {
    this.log.push(`${tag}@${this.#timeline.nowNs}`);
    this.#armAgain(tag);
  }

  #armAgain(tag: number): void {
    const delayNs = this.#delaysNs[tag]!.shift();
    if (delayNs !== undefined) this.alarms[tag]!.armAfter(delayNs);
  }
}

/** Alarms that arm one another for ever; what they do depends on nothing but the timeline. */
function chaos(count: number): Timeline {
  const timeline = new Timeline();
  const owner: AlarmOwner = {
    onAlarm: (tag) => {
      const other = alarms[(tag * 7 + timeline.ordinal) % count]!;
      if (other.armed) other.disarm();
      other.armAfter((timeline.nowNs + tag) % 4);
      if (!alarms[tag]!.armed) alarms[tag]!.armAfter((timeline.ordinal % 3) * 2);
    },
  };
  const alarms = Array.from({ length: count }, (_, tag) => timeline.claim(`${tag}`, owner, tag));
  for (const alarm of alarms) alarm.armAfter(alarm.number % 5);
  return timeline;
}

const delays = fc.array(fc.array(fc.nat(5), { maxLength: 12 }), { minLength: 1, maxLength: 12 });

describe('timeline: running', () => {
  it('fires one event a step, in time, and counts it', () => {
    const timeline = new Timeline();
    const scribe = new Scribe(timeline, [[30], [10, 10], [20]]);
    expect([timeline.nextNs, timeline.nextName, timeline.pendingCount]).toEqual([10, 'alarm 1', 3]);
    const seen: number[] = [];
    while (timeline.step()) seen.push(timeline.ordinal);
    expect(scribe.log).toEqual(['1@10', '2@20', '1@20', '0@30']);
    expect(seen).toEqual([1, 2, 3, 4]);
    expect([timeline.nextNs, timeline.nextName]).toEqual([Number.POSITIVE_INFINITY, null]);
  });

  it('is the same run however it is driven: by step, by time, by ordinal, until quiet', () => {
    fc.assert(
      fc.property(delays, fc.nat(40), fc.nat(40), (d, untilNs, ordinal) => {
        const ways: ((timeline: Timeline) => void)[] = [
          (timeline) => {
            while (timeline.step());
          },
          (timeline) => {
            timeline.runUntil(untilNs);
            timeline.runToOrdinal(ordinal);
            timeline.runUntilQuiet();
          },
          (timeline) => {
            for (let ns = 0; ns <= 60; ns++) timeline.runUntil(ns);
          },
        ];
        const runs = ways.map((way) => {
          const timeline = new Timeline();
          const scribe = new Scribe(timeline, d);
          way(timeline);
          return `${scribe.log} ${timeline.ordinal} ${timeline.hash}`;
        });
        expect(new Set(runs).size).toBe(1);
      }),
    );
  });

  it('moves the clock to the time asked for, also when nothing happens, and never back', () => {
    const timeline = new Timeline();
    new Scribe(timeline, [[10, 5]]);
    timeline.runUntil(12);
    expect([timeline.nowNs, timeline.ordinal]).toEqual([12, 1]);
    timeline.runUntil(3);
    expect(timeline.nowNs).toBe(12);
    timeline.runUntil(15);
    expect([timeline.nowNs, timeline.ordinal, timeline.pendingCount]).toEqual([15, 2, 0]);
    expect(() => timeline.runUntil(Number.POSITIVE_INFINITY)).toThrow(InvariantBroken);
    expect(timeline.nowNs).toBe(15);
  });

  it('stops at an ordinal or when nothing is pending', () => {
    const timeline = new Timeline();
    new Scribe(timeline, [[1, 1, 1, 1]]);
    timeline.runToOrdinal(3);
    expect([timeline.ordinal, timeline.nowNs]).toEqual([3, 3]);
    timeline.runToOrdinal(99);
    expect(timeline.ordinal).toBe(4);
    expect(timeline.step()).toBe(false);
    expect(timeline.ordinal).toBe(4);
  });

  it('finds a machine that never rests', () => {
    const timeline = new Timeline();
    const owner = { onAlarm: () => alarm.armAfter(1) };
    const alarm = timeline.claim('restless', owner);
    alarm.armAfter(1);
    expect(() => timeline.runUntilQuiet(1000)).toThrow(InvariantBroken);
    expect(timeline.ordinal).toBe(1000);
  });

  it('hashes which alarm fired and when', () => {
    const hashOf = (d: number[][]): number => {
      const timeline = new Timeline();
      new Scribe(timeline, d);
      timeline.runUntilQuiet();
      return timeline.hash;
    };
    const hashes = [
      [[1], [2]],
      [[2], [1]],
      [[1], [3]],
      [[1], [2, 1]],
    ].map(hashOf);
    expect(new Set(hashes).size).toBe(4);
    expect(hashOf([[1], [2]])).toBe(hashes[0]);
  });
});

describe('timeline: alarms', () => {
  it('refuses the past and an alarm that is pending', () => {
    const timeline = new Timeline();
    const alarm = timeline.claim('late', { onAlarm: () => {} });
    timeline.runUntil(100);
    expect(() => alarm.armAt(99)).toThrow(InvariantBroken);
    expect(() => alarm.armAfter(Number.NaN)).toThrow(InvariantBroken);
    expect(() => alarm.armAfter(Number.POSITIVE_INFINITY)).toThrow(InvariantBroken);
    expect([alarm.armed, timeline.pendingCount]).toEqual([false, 0]);
    alarm.armAt(100);
    expect([alarm.armed, alarm.deadlineNs]).toEqual([true, 100]);
    expect(() => alarm.armAfter(5)).toThrow(InvariantBroken);
    alarm.disarm();
    alarm.disarm();
    expect([alarm.armed, alarm.deadlineNs, timeline.pendingCount]).toEqual([false, -1, 0]);
  });

  it('can be claimed without end, also while events are pending', () => {
    const timeline = new Timeline();
    const fired: number[] = [];
    const owner = { onAlarm: (tag: number) => fired.push(tag) };
    for (let tag = 0; tag < 300; tag++) timeline.claim(`${tag}`, owner, tag).armAfter(300 - tag);
    timeline.runUntilQuiet();
    expect(fired).toEqual(Array.from({ length: 300 }, (_, i) => 299 - i));
  });

  it('lists what is pending in the order in which it fires', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(8), { maxLength: 40 }), fc.nat(20), (delaysNs, ordinal) => {
        const timeline = new Timeline();
        const scribe = new Scribe(
          timeline,
          delaysNs.map((delayNs) => [delayNs]),
        );
        timeline.runToOrdinal(ordinal);
        const listed = timeline.pending().map(({ name, atNs }) => `${name.slice(6)}@${atNs}`);
        expect(timeline.nextName).toBe(timeline.pending()[0]?.name ?? null);
        scribe.log.length = 0;
        timeline.runUntilQuiet();
        expect(scribe.log).toEqual(listed);
      }),
    );
  });
});

describe('timeline: save and restore', () => {
  it('goes on as the saved one, also after having run elsewhere', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 70 }), fc.nat(200), fc.nat(200), (n, at, wander) => {
        const plain = chaos(n);
        const other = chaos(n);
        plain.runToOrdinal(at);
        other.runToOrdinal(wander);
        other.restore(plain.save());
        expect([other.nowNs, other.ordinal, other.hash]).toEqual([
          plain.nowNs,
          plain.ordinal,
          plain.hash,
        ]);
        expect(other.pending()).toEqual(plain.pending());
        plain.runToOrdinal(at + 200);
        other.runToOrdinal(at + 200);
        expect([other.nowNs, other.hash]).toEqual([plain.nowNs, plain.hash]);
        expect(other.pending()).toEqual(plain.pending());
      }),
    );
  });

  it('refuses the alarms of another machine and stays as it was', () => {
    const one = new Timeline();
    new Scribe(one, [[1], [2]]);
    const two = new Timeline();
    new Scribe(two, [[5]]);
    expect(() => two.restore(one.save())).toThrow(InvariantBroken);
    expect(two.pending()).toEqual([{ name: 'alarm 0', atNs: 5, sequence: 0 }]);
  });
});

describe('timeline: alert', () => {
  it('comes after every event from its ordinal on, and changes nothing of the run', () => {
    const plain = chaos(8);
    plain.runToOrdinal(300);
    const alerted = chaos(8);
    const heard: number[] = [];
    alerted.onAlert = () => {
      heard.push(alerted.ordinal);
      if (heard.length === 3) alerted.alertOrdinal = Number.POSITIVE_INFINITY;
    };
    alerted.alertOrdinal = 120;
    alerted.runToOrdinal(300);
    expect(heard).toEqual([120, 121, 122]);
    expect(alerted.hash).toBe(plain.hash);
    expect(alerted.save()).toEqual(plain.save());
  });
});

describe('timeline: an event that throws', () => {
  const broken = (): Timeline => {
    const timeline = new Timeline();
    const owner: AlarmOwner = {
      onAlarm: () => {
        throw new InvariantBroken('a rule');
      },
    };
    timeline.claim('broken', owner).armAfter(5);
    timeline.claim('whole', { onAlarm: () => {} }).armAfter(6);
    return timeline;
  };

  it('throws out of the step when nobody explains it', () => {
    expect(() => broken().step()).toThrow('a rule');
  });

  it('is an event like any other when somebody does', () => {
    const timeline = broken();
    const errors: unknown[] = [];
    timeline.onBroken = (error) => errors.push(error) > 0;
    expect([timeline.step(), timeline.ordinal, timeline.nextName]).toEqual([true, 1, 'whole']);
    expect([timeline.step(), timeline.step(), timeline.nowNs]).toEqual([true, false, 6]);
    expect(errors).toEqual([new InvariantBroken('a rule')]);
  });
});
