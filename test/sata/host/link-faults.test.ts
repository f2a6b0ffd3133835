/**
 * Goal: a host loses nothing to a bad link: what failed by a wrong CRC is sent again at once, what
 * is not answered after a timeout and a reset, and what fails too often is reported as failed.
 * Method: a whole toy drive under a list of faults. Oracles: what was written reads back, every
 * command ends exactly once, nothing leaks, and the same faults give the same run.
 */
import { describe, expect, test } from 'vitest';
import { Host } from '../../../firmware/host.ts';
import { AtaOpcode } from '../../../hal/ata.ts';
import { type Fault, FIS_TYPES, type FisName } from '../../../hal/faults/fault.ts';
import { FaultList } from '../../../hal/faults/fault-list.ts';
import { History } from '../../../hal/sim/history.ts';
import { RETRIES_MAX } from '../../../sata/host/command-timer.ts';
import { encodeTrimRanges } from '../../../sata/trim-ranges.ts';
import { findLeak } from '../../kit/leaks.ts';
import { runToRest, toyRun } from '../../kit/toy-run.ts';

const GOOD = 0x50;
const TIMEOUT_NS = 30e9;
/** From COMRESET to a probed drive, at most. */
const RESET_NS = 20e6;

function faulty(...faults: readonly Fault[]): { host: Host; list: FaultList } {
  const host = new Host('toy');
  const list = host.drive.faults;
  host.drive.port.frames.connect(list);
  host.boot();
  for (const fault of faults) list.add(fault);
  return { host, list };
}

/** Issues a burst of everything a host sends; returns the numbers of the commands. */
function burst(host: Host): number[] {
  const write = { opcode: AtaOpcode.WriteDmaExt, device: 0x40 };
  return [
    ...Array.from({ length: 6 }, (_, i) => host.submitWrite(i * 64 + 1, [i + 1, i + 2, i + 3], 17)),
    ...Array.from({ length: 6 }, (_, i) => {
      return host.submit({ opcode: AtaOpcode.ReadFpdmaQueued, lba: 2000 + i * 64, sectors: 40 });
    }),
    host.submit({ ...write, lba: 800, sectors: 24, count: 24, data: Int32Array.of(71, 72, 73) }),
    host.submit({ opcode: AtaOpcode.ReadDmaExt, lba: 800, sectors: 24, count: 24 }),
    host.submit({
      ...{ opcode: AtaOpcode.DataSetManagement, feature: 1, count: 1 },
      payload: encodeTrimRanges([{ lba: 816, sectors: 8 }]),
    }),
    host.submit({ opcode: AtaOpcode.ReadLogExt, lba: 0x10, count: 1 }),
    host.submit({ opcode: AtaOpcode.FlushCacheExt }),
    host.submitWrite(1600, [9], 8, true),
  ];
}

function end(host: Host, ids: readonly number[]): number[] {
  host.runUntil(() => ids.every((id) => host.result(id) !== null));
  return ids.map((id) => host.result(id)!.status);
}

/** What the burst has left behind, as one text. */
function contents(host: Host): string {
  const parts = [host.read(0, 400), host.read(800, 24), host.read(1600, 8)];
  return parts.map(({ tags }) => tags!.join(' ')).join('; ');
}

function isPending(host: Host, alarm: string): boolean {
  return host.drive.timeline.pending().some(({ name }) => name === alarm);
}

const CLEAN = (() => {
  const { host } = faulty();
  end(host, burst(host));
  return contents(host);
})();

const NAMES = Object.keys(FIS_TYPES) as FisName[];

describe.each(NAMES)('%s', (fis) => {
  test.each([1, 3])('frame %i with a wrong CRC: nobody notices but the counter', (nth) => {
    const { host, list } = faulty({ kind: 'link-crc', fis, when: { nth } });
    const beganNs = host.drive.timeline.nowNs;
    expect(end(host, burst(host)).filter((status) => status !== GOOD)).toEqual([]);
    expect(host.drive.timeline.nowNs - beganNs).toBeLessThan(TIMEOUT_NS);
    expect(contents(host)).toBe(CLEAN);
    const isMet = list.unfired().length === 0;
    expect(host.drive.port.crcErrorCount).toBe(isMet ? 1 : 0);
    if (fis !== 'pio-setup') expect(isMet).toBe(true);
    expect(findLeak(host)).toBe(null);
  });

  test.each([1, 2])('frame %i lost: a timeout, a reset, and all is sent again', (nth) => {
    const { host, list } = faulty({ kind: 'lost-fis', fis, when: { nth } });
    const beganNs = host.drive.timeline.nowNs;
    expect(end(host, burst(host)).filter((status) => status !== GOOD)).toEqual([]);
    expect(contents(host)).toBe(CLEAN);
    if (list.unfired().length === 0) {
      const { nowNs } = host.drive.timeline;
      expect(host.drive.port.frames.comResetCount).toBe(1);
      expect(nowNs - beganNs).toBeGreaterThan(TIMEOUT_NS);
      expect(nowNs - beganNs).toBeLessThan(TIMEOUT_NS + RESET_NS + 1e9);
    } else expect(fis).toBe('pio-setup');
    expect(findLeak(host)).toBe(null);
    expect(host.drive.host.outstandingCount).toBe(0);
    expect(host.drive.port.orphanCount).toBe(0);
  });
});

test('a timeout is counted from the instant at which the command was sent', () => {
  const { host } = faulty({ kind: 'lost-fis', fis: 'set-device-bits' });
  host.drive.host.commandTimeoutNs = 7e9;
  const sentNs = host.drive.timeline.nowNs;
  const id = host.submitWrite(0, [1]);
  host.runUntil(() => host.drive.port.frames.comResetCount === 1);
  expect(host.drive.timeline.nowNs).toBe(sentNs + 7e9);
  expect(end(host, [id])).toEqual([GOOD]);
});

test('the other commands of the queue go on while one hangs', () => {
  const { host } = faulty({ kind: 'lost-fis', fis: 'set-device-bits' });
  const first = host.submitWrite(0, [1]);
  const others = Array.from({ length: 8 }, (_, i) => host.submitWrite(64 + i * 8, [2 + i]));
  end(host, others);
  expect(host.result(first)).toBe(null);
  expect(host.drive.port.frames.comResetCount).toBe(0);
  end(host, [first]);
  expect(host.drive.port.frames.comResetCount).toBe(1);
});

test('data that always fails: retried so often, then reported with ICRC', () => {
  const { host, list } = faulty({ kind: 'link-crc', fis: 'data', times: RETRIES_MAX + 1 });
  const result = host.run({
    ...{ opcode: AtaOpcode.ReadDmaExt, lba: 0, sectors: 8, count: 8 },
  });
  expect(result).toMatchObject({ status: 0x51, error: 0x84 });
  expect(list.list()[0]!.firedCount).toBe(RETRIES_MAX + 1);
  expect(host.read(0, 8).status).toBe(GOOD);
});

test('queued data that always fails: its command alone is reported, with ICRC', () => {
  let asked = 0;
  const { host, list } = faulty();
  const before = host.drive.host.sentCount;
  // Reads of log 10h carry data too: every second data frame fails.
  list.add({
    ...{ kind: 'link-crc', fis: 'data', times: RETRIES_MAX + 1 },
    if: () => asked++ % 2 === 0,
  });
  expect(host.read(0, 8)).toMatchObject({ status: 0x41, error: 0x84 });
  // The read four times, and the log after each.
  expect(host.drive.host.sentCount - before).toBe(2 * (RETRIES_MAX + 1));
  expect(host.read(0, 8).status).toBe(GOOD);
});

test('a frame that is always lost: resets, then the command has failed', () => {
  const { host, list } = faulty({ kind: 'lost-fis', fis: 'dma-activate', times: 'unlimited' });
  for (const opcode of [AtaOpcode.WriteDmaExt, AtaOpcode.WriteFpdmaQueued]) {
    const resets = host.drive.port.frames.comResetCount;
    const data = Int32Array.of(1, 2, 3);
    const result = host.run({ opcode, lba: 0, sectors: 24, count: 24, device: 0x40, data });
    expect(result).toMatchObject({ status: 0x51, error: 0x04 });
    expect(host.drive.port.frames.comResetCount - resets).toBe(RETRIES_MAX + 1);
    host.runUntil(() => host.drive.isReady);
  }
  list.liftAll();
  expect(host.write(0, [4, 5, 6]).status).toBe(GOOD);
  expect(findLeak(host)).toBe(null);
});

test('a drive that does not come back: all has failed; it works when the link does', () => {
  const { host, list } = faulty();
  list.add({ kind: 'lost-fis', fis: 'register-device-to-host', times: 'unlimited' });
  const statuses = end(host, burst(host));
  // Tag 0 ended before its missing acceptance was noticed; it is the only one.
  expect(statuses.filter((status) => status === GOOD).length).toBeLessThanOrEqual(1);
  expect(statuses.filter((status) => status !== GOOD && status !== 0x51)).toEqual([]);
  expect(host.drive.port.frames.comResetCount).toBe(RETRIES_MAX);
  expect(host.drive.isReady).toBe(false);
  expect(host.write(0, [3]).status).toBe(0x51);
  list.liftAll();
  host.drive.host.comReset();
  host.runUntil(() => host.drive.isReady);
  expect(host.write(0, [4]).status).toBe(GOOD);
  expect(findLeak(host)).toBe(null);
});

test('the signature at power-on is lost: the host resets the drive', () => {
  const host = new Host('toy');
  const list = host.drive.faults;
  list.add({ kind: 'lost-fis', fis: 'register-device-to-host' });
  host.drive.port.frames.connect(list);
  host.boot();
  expect(host.drive.port.frames.comResetCount).toBe(1);
  expect(host.drive.timeline.nowNs).toBeGreaterThan(10e9);
  expect(host.write(0, [1]).status).toBe(GOOD);
});

test.each([1, 2])('a soft reset whose control frame %i is lost ends in COMRESET', (nth) => {
  const { host } = faulty({
    ...{ kind: 'lost-fis', fis: 'register-host-to-device', when: { nth } },
  });
  host.drive.host.softReset();
  host.runUntil(() => host.drive.isReady);
  expect(host.drive.port.frames.comResetCount).toBe(1);
  expect(host.write(0, [1]).status).toBe(GOOD);
});

test('a probe command with a wrong CRC is sent again', () => {
  const { host } = faulty({ kind: 'link-crc', fis: 'data' });
  host.drive.host.identify.fill(0);
  const before = host.drive.host.sentCount;
  host.drive.host.comReset();
  host.runUntil(() => host.drive.isReady);
  expect(host.drive.host.sentCount - before).toBe(4);
  expect(host.drive.host.identify.some((byte) => byte !== 0)).toBe(true);
});

test('a queue error that is lost: the next command finds it out', () => {
  const { host } = faulty({ kind: 'lost-fis', fis: 'set-device-bits' });
  const { sectors } = host.drive.profile.identity;
  const bad = host.submit({ opcode: AtaOpcode.ReadFpdmaQueued, lba: sectors, sectors: 8 });
  host.runUntil(() => host.drive.port.inError);
  const good = host.submitWrite(0, [1]);
  end(host, [bad, good]);
  expect(host.result(bad)).toMatchObject({ status: 0x41, error: 0x10, lba: sectors });
  expect(host.result(good)!.status).toBe(GOOD);
  expect(host.drive.port.frames.comResetCount).toBe(0);
});

test('loss of power and a reset of the user while a command hangs', () => {
  const { host } = faulty({ kind: 'lost-fis', fis: 'set-device-bits', times: 2 });
  const isWaiting = () => isPending(host, 'host.timeout');
  const first = host.submitWrite(0, [1]);
  host.runUntil(isWaiting);
  host.drive.host.comReset();
  expect(isWaiting()).toBe(false);
  host.runUntil(() => host.drive.isReady);
  expect(host.result(first)!.status).toBe(0);
  const second = host.submitWrite(0, [1]);
  host.runUntil(isWaiting);
  host.drive.powerOff();
  expect(isWaiting()).toBe(false);
  expect(host.result(second)!.status).toBe(0);
  host.boot();
  expect(host.drive.queue!.pendingCount).toBe(0);
  expect(host.drive.port.frames.comResetCount).toBe(0);
});

describe('the run', () => {
  const SEED = 'link';

  function runOf(prepare: (drive: ReturnType<typeof toyRun>) => void): number[] {
    const drive = toyRun(SEED, 600);
    prepare(drive);
    runToRest(drive);
    const { hash, ordinal, nowNs } = drive.timeline;
    return [hash, ordinal, nowNs, drive.link.busyNs];
  }

  test('no list, an empty one, and one with a fault that never fires: event for event', () => {
    const none = runOf((drive) => drive.port.frames.connect(null));
    const empty = runOf((drive) => {
      drive.port.frames.connect(new FaultList(drive.geometry, SEED));
    });
    const idle = runOf((drive) => {
      const list = new FaultList(drive.geometry, SEED);
      list.add({ kind: 'link-crc', when: { nth: 2 ** 31 - 1 } });
      list.add({ kind: 'lost-fis', probability: 0, times: 'unlimited' });
      drive.port.frames.connect(list);
      expect(drive.port.frames.armed).toBe(true);
    });
    expect(empty).toEqual(none);
    expect(idle).toEqual(none);
  });

  test('with faults it repeats, and unwinds to any instant of a timeout or recovery', () => {
    const start = () => {
      const drive = toyRun(SEED, 600);
      const list = drive.faults;
      list.add({ kind: 'link-crc', probability: 0.01, times: 'unlimited' });
      for (const nth of [500, 1000, 2000]) list.add({ kind: 'lost-fis', when: { nth } });
      drive.port.frames.connect(list);
      return drive;
    };
    const whole = start();
    runToRest(whole);
    const { hash, ordinal } = whole.timeline;
    const state = whole.machine.stateHash();
    // Frames that are lost within one timeout share a reset.
    expect(whole.port.frames.comResetCount).toBeGreaterThan(0);
    expect(whole.port.crcErrorCount).toBeGreaterThan(20);
    const drive = start();
    const history = new History(drive.machine, { intervalEvents: 500 });
    const marks: { ordinal: number; hash: number; state: number }[] = [];
    for (let i = 1; i <= 20; i++) {
      history.runToOrdinal(Math.floor((ordinal * i) / 20));
      const { timeline, machine } = drive;
      marks.push({ ordinal: timeline.ordinal, hash: timeline.hash, state: machine.stateHash() });
    }
    expect(marks[19]).toEqual({ ordinal, hash, state });
    for (let i = 0; i < 20; i++) {
      const mark = marks[(i * 7) % 20]!;
      history.goTo(mark.ordinal);
      expect([drive.timeline.hash, drive.machine.stateHash()]).toEqual([mark.hash, mark.state]);
    }
    history.goTo(ordinal);
    expect([drive.timeline.hash, drive.machine.stateHash()]).toEqual([hash, state]);
  });
});
