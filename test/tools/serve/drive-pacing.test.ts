/**
 * Goal: emulated time and wall time belong together as promised.
 * Method: a clock in the test's hand.
 */
import { describe, expect, test } from 'vitest';
import { AnswerBatch } from '../../../tools/serve/answer-batch.ts';
import { NbdError, NbdKind } from '../../../tools/serve/nbd/backend.ts';
import { Pacer } from '../../../tools/serve/pacing.ts';
import { HandRequest, ServedToy } from './drive-kit.ts';

describe('Pacer', () => {
  test('emulated time moves with the wall clock from the anchor on', () => {
    const pacer = new Pacer();
    pacer.anchor(1000, 5_000_000);
    expect(pacer.targetNs(1000)).toBe(5_000_000);
    expect(pacer.targetNs(1002.5)).toBe(7_500_000);
  });

  test.each([
    [0, 0],
    [1_000_000, 0],
    [2_000_000, 0],
    [2_000_001, 1],
    [10_000_000, 9],
  ])('an event %d ns away: a timer of %d ms, 0 is a spin', (waitNs, delayMs) => {
    const pacer = new Pacer();
    pacer.anchor(50, 100);
    expect(pacer.delayMs(50, 100 + waitNs)).toBe(delayMs);
  });

  test('lag up to 100 ms is made up, more is given up and counted', () => {
    const pacer = new Pacer();
    pacer.anchor(0, 0);
    pacer.reached(150, 50_000_000);
    expect([pacer.lostNs, pacer.targetNs(150)]).toEqual([0, 150_000_000]);
    pacer.reached(151, 50_000_000);
    expect([pacer.lostNs, pacer.targetNs(151)]).toEqual([101_000_000, 50_000_000]);
  });
});

describe('AnswerBatch', () => {
  /** Turns until a client's `depth` requests, arriving one a turn, are answered; and how many. */
  function batchOf(batch: AnswerBatch, depth: number): { turns: number; answers: number } {
    for (let turns = 1; ; turns++) {
      const answers = Math.min(turns, depth);
      if (!batch.mayHold(turns <= depth, answers, false)) return { turns, answers };
    }
  }

  test('at depth one an answer leaves at once, but for one look in 65', () => {
    const batch = new AnswerBatch();
    const turns = Array.from({ length: 65 }, () => batchOf(batch, 1).turns);
    expect(turns.slice(0, 64).every((count) => count === 1)).toBe(true);
    expect(turns[64]).toBe(11);
    expect(batch.depth).toBe(1);
  });

  test('depth is found by the look, then half of it is waited for', () => {
    const batch = new AnswerBatch();
    for (let i = 0; i < 65; i++) batchOf(batch, 32);
    expect(batch.depth).toBe(32);
    expect(batchOf(batch, 32)).toEqual({ turns: 16, answers: 16 });
  });

  test('a client that queues less than hoped for waits some turns once', () => {
    const batch = new AnswerBatch();
    batch.depth = 32;
    expect(batchOf(batch, 1).turns).toBe(11);
    expect(batch.depth).toBe(1);
  });

  test('with nothing to answer nothing is held', () => {
    expect(new AnswerBatch().mayHold(true, 0, true)).toBe(false);
  });
});

describe('a paced drive', () => {
  test('answers not before the wall clock has come to the emulated end', async () => {
    const toy = await ServedToy.start(() => ({ realtime: true }));
    const { timeline } = toy.service.drive;
    const beganMs = toy.clock.nowMs();
    const beganNs = timeline.nowNs;
    const request = toy.submit(new HandRequest(NbdKind.Write, 0, 65_536, { fua: true }));
    for (let i = 0; i < 100; i++) toy.clock.turn();
    expect([request.error, timeline.nowNs]).toEqual([null, beganNs]);
    let turns = 0;
    while (request.error === null && turns++ < 10_000) {
      toy.clock.pass(0.01);
      toy.clock.turn();
    }
    expect(request.error).toBe(NbdError.Ok);
    const wallNs = (toy.clock.nowMs() - beganMs) * 1e6;
    expect(toy.service.queue.lastEndNs - beganNs).toBeLessThanOrEqual(wallNs);
    // One step of the test's clock is the resolution.
    expect(toy.service.queue.lastEndNs - beganNs).toBeGreaterThan(wallNs - 2 * 10_000);
    await toy.stop();
  });
});

describe('a drive as fast as it can', () => {
  test('takes no wall time for a request, and short gaps take no emulated time', async () => {
    const toy = await ServedToy.start();
    const { timeline } = toy.service.drive;
    toy.run(new HandRequest(NbdKind.Write, 0, 4096));
    expect(toy.clock.nowMs()).toBe(0);
    const endNs = timeline.nowNs;
    toy.clock.pass(4.9);
    const read = toy.submit(new HandRequest(NbdKind.Read, 0, 4096));
    expect(timeline.nowNs).toBe(endNs);
    toy.clock.settle();
    expect(read.error).toBe(NbdError.Ok);
    await toy.stop();
  });

  test('idle, emulated time follows the wall clock and the drive does its idle work', async () => {
    const toy = await ServedToy.start();
    const { timeline } = toy.service.drive;
    toy.run(new HandRequest(NbdKind.Write, 0, 4096));
    const { nowNs, ordinal } = timeline;
    let passedMs = 0;
    for (let i = 0; i < 10; i++) {
      passedMs += toy.clock.timer!.ms;
      expect(toy.clock.timer!.ms).toBeGreaterThanOrEqual(5);
      expect(toy.clock.timer!.ms).toBeLessThanOrEqual(50);
      toy.clock.ring();
      toy.clock.settle();
    }
    expect(timeline.nowNs - nowNs).toBe(passedMs * 1_000_000);
    // The buffered page is written out after the idle time of the firmware.
    expect(timeline.ordinal).toBeGreaterThan(ordinal);
    expect(toy.service.drive.firmware.stream.unitCount).toBeGreaterThan(0);
    await toy.stop();
  });

  test('a gap passes in emulated time before the request that ends it', async () => {
    const toy = await ServedToy.start();
    const { timeline } = toy.service.drive;
    const { nowNs } = timeline;
    toy.clock.pass(20);
    toy.submit(new HandRequest(NbdKind.Read, 0, 4096));
    expect(timeline.nowNs).toBe(nowNs + 20_000_000);
    toy.clock.settle();
    await toy.stop();
  });
});
