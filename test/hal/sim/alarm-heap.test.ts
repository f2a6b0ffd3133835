/**
 * Goal: the heap fires exactly what a sorted list would, also while the place of an alarm that is
 * being served is still open. Method: random programs on both, compared after every step.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AlarmHeap } from '../../../hal/sim/alarm-heap.ts';
import { InvariantBroken } from '../../../hal/sim/invariant.ts';

/** Enough for a heap of several levels that is not full. */
const ALARMS = 90;

interface Pending {
  alarm: number;
  atNs: number;
  sequence: number;
}

/** The plainest thing that can be right: a list, sorted when asked. */
class SortedList {
  #list: Pending[] = [];

  get(alarm: number): Pending | undefined {
    return this.#list.find((entry) => entry.alarm === alarm);
  }

  arm(alarm: number, atNs: number, sequence: number): void {
    this.#list.push({ alarm, atNs, sequence });
  }

  disarm(alarm: number): void {
    this.#list = this.#list.filter((entry) => entry.alarm !== alarm);
  }

  get next(): Pending | undefined {
    return this.#list.toSorted((a, b) => a.atNs - b.atNs || a.sequence - b.sequence)[0];
  }

  get size(): number {
    return this.#list.length;
  }
}

/** First difference between heap and list, empty when they agree; `peek` also asks what is next. */
function difference(heap: AlarmHeap, list: SortedList, peek: boolean): string {
  if (heap.pendingCount !== list.size) return `${heap.pendingCount} pending, ${list.size} expected`;
  for (let alarm = 0; alarm < ALARMS; alarm++) {
    const expected = list.get(alarm);
    if (heap.isArmed(alarm) !== (expected !== undefined)) return `alarm ${alarm}: armed or not`;
    if (heap.deadlineNs(alarm) !== (expected?.atNs ?? -1)) return `alarm ${alarm}: deadline`;
    if (heap.sequenceOf(alarm) !== (expected?.sequence ?? -1)) return `alarm ${alarm}: sequence`;
  }
  if (!peek) return '';
  if (heap.nextNs !== (list.next?.atNs ?? Number.POSITIVE_INFINITY)) return 'next deadline';
  return heap.nextAlarm === (list.next?.alarm ?? -1) ? '' : 'next alarm';
}

type Step =
  | { what: 'arm'; alarm: number; afterNs: number }
  | { what: 'disarm'; alarm: number }
  | { what: 'take' }
  | { what: 'take and arm again'; afterNs: number }
  | { what: 'grow'; capacity: number }
  | { what: 'peek' };

const alarm = fc.nat(ALARMS - 1);
/** Few distinct delays in one program in two, so that equal deadlines are common. */
const afterNs = fc.oneof(fc.nat(6), fc.nat(300));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 9, arbitrary: fc.record({ what: fc.constant('arm' as const), alarm, afterNs }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('disarm' as const), alarm }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constant('take' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ what: fc.constant('take and arm again' as const), afterNs }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant('grow' as const),
      capacity: fc.integer({ min: ALARMS, max: 4 * ALARMS }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('peek' as const) }) },
);

function run(heap: AlarmHeap, steps: readonly Step[], firstCapacity = ALARMS): string {
  const list = new SortedList();
  let nowNs = 0;
  let sequence = 0;
  let capacity = firstCapacity;
  const arm = (which: number, delayNs: number): void => {
    if (list.get(which) !== undefined) return;
    heap.arm(which, nowNs + delayNs, sequence);
    list.arm(which, nowNs + delayNs, sequence++);
  };
  for (const [index, s] of steps.entries()) {
    if (s.what === 'arm') arm(s.alarm, s.afterNs);
    if (s.what === 'grow' && s.capacity > capacity) {
      capacity = s.capacity;
      heap.grow(capacity);
    }
    if (s.what === 'disarm') {
      heap.disarm(s.alarm);
      list.disarm(s.alarm);
    }
    if (s.what === 'take' || s.what === 'take and arm again') {
      const expected = list.next;
      const taken = heap.take();
      if (taken !== (expected?.alarm ?? -1)) return `step ${index}: took ${taken}`;
      if (expected !== undefined) {
        nowNs = expected.atNs;
        list.disarm(taken);
        if (s.what === 'take and arm again') arm(taken, s.afterNs);
      }
    }
    const wrong = difference(heap, list, s.what === 'peek');
    if (wrong !== '') return `step ${index} (${s.what}): ${wrong}`;
  }
  return '';
}

describe('alarm heap', () => {
  it('fires what a sorted list fires, through any program', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400, size: 'max' }), (steps) => {
        expect(run(new AlarmHeap(ALARMS), steps)).toBe('');
      }),
      { numRuns: 500 },
    );
  });

  it('keeps what is pending when it grows and when it is cleared', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.array(step, { maxLength: 60 }), (a, b) => {
        const heap = new AlarmHeap(ALARMS);
        run(heap, a);
        heap.clear();
        expect(heap.pendingCount).toBe(0);
        expect(run(heap, b, 4 * ALARMS)).toBe('');
      }),
    );
    const heap = new AlarmHeap(2);
    heap.arm(0, 30, 0);
    heap.arm(1, 10, 1);
    heap.take();
    heap.grow(8);
    heap.arm(7, 20, 2);
    expect([heap.isArmed(1), heap.deadlineNs(0), heap.deadlineNs(7)]).toEqual([false, 30, 20]);
    expect([heap.take(), heap.take(), heap.take()]).toEqual([7, 0, -1]);
  });

  it('fires equal deadlines in the order of arming, whatever the numbers of the alarms', () => {
    const order = [9, 2, 17, 0, 5, 23, 11];
    const heap = new AlarmHeap(ALARMS);
    for (const [sequence, which] of order.entries()) heap.arm(which, 100, sequence);
    expect(order.map(() => heap.take())).toEqual(order);
  });

  it('lets the alarm that is being served be armed, and others be disarmed meanwhile', () => {
    const heap = new AlarmHeap(4);
    for (let i = 0; i < 4; i++) heap.arm(i, 10 * i, i);
    expect(heap.take()).toBe(0);
    expect([heap.isArmed(0), heap.deadlineNs(0), heap.pendingCount]).toEqual([false, -1, 3]);
    heap.disarm(0);
    heap.disarm(1);
    heap.arm(0, 25, 4);
    heap.arm(1, 25, 5);
    expect([heap.take(), heap.take(), heap.take(), heap.take(), heap.take()]).toEqual([
      2, 0, 1, 3, -1,
    ]);
  });

  it('refuses to arm a pending alarm', () => {
    const heap = new AlarmHeap(2);
    heap.arm(1, 5, 0);
    expect(() => heap.arm(1, 9, 1)).toThrow(InvariantBroken);
    expect([heap.deadlineNs(1), heap.pendingCount]).toEqual([5, 1]);
  });

  it('is empty without a deadline', () => {
    const heap = new AlarmHeap(2);
    expect([heap.nextNs, heap.nextAlarm, heap.take(), heap.pendingCount]).toEqual([
      Number.POSITIVE_INFINITY,
      -1,
      -1,
      0,
    ]);
  });
});
