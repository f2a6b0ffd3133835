/**
 * Goal: charge ages by simulated time at the drive's temperature, and by time on a shelf.
 * Method: whole minutes against Arrhenius (JESD218: 1.1 eV) computed here with Math.exp.
 */
import { describe, expect, it } from 'vitest';
import { InvariantBroken } from '../../hal/sim/invariant.ts';
import { Timeline } from '../../hal/sim/timeline.ts';
import { RetentionClock } from '../../nand/retention-clock.ts';

const MINUTE_NS = 60e9;
const DAY_MINUTES = 1440;

function factorAt(celsius: number): number {
  return Math.exp((1.1 / 8.617e-5) * (1 / 303.15 - 1 / (celsius + 273.15)));
}

function newClock(): { timeline: Timeline; clock: RetentionClock } {
  const timeline = new Timeline();
  return { timeline, clock: new RetentionClock(timeline) };
}

describe('simulated time', () => {
  it('counts as it is at 30 C, in whole minutes', () => {
    const { timeline, clock } = newClock();
    const minutes = [0, MINUTE_NS - 1, MINUTE_NS, 10 * MINUTE_NS - 1, 10 * MINUTE_NS].map((ns) => {
      timeline.runUntil(ns);
      return clock.minute;
    });
    expect(minutes).toEqual([0, 0, 1, 9, 10]);
  });

  it('reads the same however often it is looked at', () => {
    const often = newClock();
    const once = newClock();
    for (const { clock } of [often, once]) clock.setTemperature(55);
    const wrong: number[] = [];
    for (let ns = 0; ns <= 3 * MINUTE_NS; ns += 7e8) {
      often.timeline.runUntil(ns);
      once.timeline.runUntil(ns);
      const right = Math.floor((ns / MINUTE_NS) * factorAt(55) + 1e-9);
      if (often.clock.minute !== right) wrong.push(ns);
    }
    expect(wrong).toEqual([]);
    expect(often.clock.minute).toBe(once.clock.minute);
  });

  it('counts by Arrhenius where it is warm or cold', () => {
    for (const celsius of [0, 25, 40, 70, 85]) {
      const { timeline, clock } = newClock();
      clock.setTemperature(celsius);
      timeline.runUntil(100 * DAY_MINUTES * MINUTE_NS);
      const right = 100 * DAY_MINUTES * factorAt(celsius);
      expect(clock.celsius).toBe(celsius);
      // A minute may be cut off.
      expect(Math.abs(clock.minute - right)).toBeLessThanOrEqual(1 + right * 1e-9);
    }
  });

  it('keeps what it has counted when the temperature changes', () => {
    const { timeline, clock } = newClock();
    timeline.runUntil(60 * MINUTE_NS);
    clock.setTemperature(70);
    expect(clock.minute).toBe(60);
    timeline.runUntil(90 * MINUTE_NS);
    expect(clock.minute).toBe(Math.floor(60 + 30 * factorAt(70)));
    clock.setTemperature(30);
    timeline.runUntil(100 * MINUTE_NS);
    expect(clock.minute).toBe(Math.floor(60 + 30 * factorAt(70) + 10));
  });
});

describe('time on the shelf', () => {
  it('passes off the timeline', () => {
    const { timeline, clock } = newClock();
    clock.age(365, 30);
    expect([clock.minute, timeline.nowNs, timeline.ordinal]).toEqual([365 * DAY_MINUTES, 0, 0]);
    clock.age(0.5, 30);
    timeline.runUntil(2 * MINUTE_NS);
    expect(clock.minute).toBe(365.5 * DAY_MINUTES + 2);
  });

  it('in an oven is long: 500 hours at 52 C are about a year at 30 C', () => {
    // JESD218 bakes consumer drives for 500 hours at 52 C for a year at 30 C.
    const { clock } = newClock();
    clock.age(500 / 24, 52);
    const days = clock.minute / DAY_MINUTES;
    expect(days).toBeGreaterThan(330);
    expect(days).toBeLessThan(400);
  });

  it('only goes forwards, and ends before cells overflow', () => {
    const { clock } = newClock();
    expect(() => clock.age(-1, 30)).toThrow(InvariantBroken);
    expect(() => clock.age(Number.NaN, 30)).toThrow(InvariantBroken);
    expect(() => clock.age(2e6, 30)).toThrow(InvariantBroken);
    expect(() => clock.setTemperature(-300)).toThrow(InvariantBroken);
    expect(clock.minute).toBe(0);
  });
});

it('starts where an image says', () => {
  const { timeline, clock } = newClock();
  timeline.runUntil(5 * MINUTE_NS);
  clock.startAt(1000);
  expect(clock.minute).toBe(1000);
  timeline.runUntil(6 * MINUTE_NS);
  expect(clock.minute).toBe(1001);
});

it('is saved and restored, also to an earlier instant', () => {
  const { timeline, clock } = newClock();
  clock.setTemperature(45);
  clock.age(10, 30);
  timeline.runUntil(3 * MINUTE_NS);
  const [atStart, saved] = [timeline.save(), clock.save()];
  const minute = clock.minute;
  timeline.runUntil(500 * MINUTE_NS);
  clock.setTemperature(20);
  clock.age(1, 30);
  expect(clock.minute).toBeGreaterThan(minute + 500);
  timeline.restore(atStart);
  clock.restore(saved);
  expect([clock.minute, clock.celsius]).toEqual([minute, 45]);
  const fresh = newClock();
  fresh.timeline.restore(atStart);
  fresh.clock.restore(saved);
  for (const one of [timeline, fresh.timeline]) one.runUntil(77 * MINUTE_NS);
  expect(fresh.clock.minute).toBe(clock.minute);
});
