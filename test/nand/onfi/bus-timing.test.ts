/**
 * Goal: a byte and a cycle cost what the timing tables of ONFI 2.2 say.
 * Method: transfers of a whole page worked out by hand; the rates of the part data as a second
 * source.
 */
import { describe, expect, test } from 'vitest';
import { busTiming, commandNs, dataNs } from '../../../nand/onfi/bus-timing.ts';
import { ASYNC_MEGATRANSFERS, type BusMode, SYNC_MEGATRANSFERS } from '../../../nand/part.ts';

const PAGE = 8640;
const sync = (mode: number): BusMode => ({ synchronous: true, mode: mode as BusMode['mode'] });
const async0 = (mode: number): BusMode => ({ synchronous: false, mode: mode as BusMode['mode'] });

describe('bus timing', () => {
  test('a page of 8640 bytes', () => {
    expect(dataNs(sync(5), PAGE)).toBe(43_200);
    expect(dataNs(sync(4), PAGE)).toBe(51_840);
    expect(dataNs(sync(0), PAGE)).toBe(216_000);
    expect(dataNs(async0(5), PAGE)).toBe(172_800);
  });

  test('an odd byte takes a whole synchronous cycle', () => {
    expect(dataNs(sync(5), 1)).toBe(10);
    expect(dataNs(sync(5), 3)).toBe(20);
  });

  test('a command with five address cycles: 6 x tCAD', () => {
    expect(commandNs(sync(5), 5)).toBe(150);
    expect(commandNs(sync(5), 5) + commandNs(sync(5), 0)).toBe(175);
    expect(commandNs(async0(1), 5)).toBe(6 * 45);
  });

  test('the rates agree with the part data within their rounding', () => {
    for (let mode = 0; mode <= 5; mode++) {
      const syncRate = 2_000 / busTiming(sync(mode)).dataCycleNs;
      const asyncRate = 1_000 / busTiming(async0(mode)).dataCycleNs;
      expect(Math.abs(syncRate - SYNC_MEGATRANSFERS[mode]!)).toBeLessThan(0.5);
      expect(Math.abs(asyncRate - ASYNC_MEGATRANSFERS[mode]!)).toBeLessThan(0.1);
    }
  });

  test('waiting times of the fastest and slowest modes', () => {
    expect(busTiming(async0(0))).toMatchObject({ adlNs: 200, whrNs: 120, wbNs: 200, rrNs: 40 });
    expect(busTiming(sync(5))).toMatchObject({ adlNs: 70, whrNs: 80, wbNs: 100, ccsNs: 200 });
  });
});
