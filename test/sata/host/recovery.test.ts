/**
 * Goal: a host adapter loses nothing in a queue error: the command that failed ends with its error,
 * the innocent ones are sent again, and a command that waited for the queue still runs.
 */
import { expect, test } from 'vitest';
import { Host } from '../../../firmware/host.ts';
import { AtaOpcode } from '../../../hal/ata.ts';
import { encodeTrimRanges } from '../../../sata/trim-ranges.ts';

const GOOD = 0x50;
const ABORT = 0x04;
const IDNF = 0x10;

function booted(): { host: Host; sectors: number } {
  const host = new Host('toy');
  host.boot();
  return { host, sectors: host.drive.profile.identity.sectors };
}

function end(host: Host, ids: readonly number[]): void {
  host.runUntil(() => ids.every((id) => host.result(id) !== null));
}

/** Commands that the adapter has sent since `from`. */
function sentSince(host: Host, from: number): number {
  return host.drive.host.sentCount - from;
}

const read = (lba: number, sectors: number) => {
  return { opcode: AtaOpcode.ReadFpdmaQueued, lba, sectors };
};

test('one of many fails: it alone ends with the error, with the first bad sector', () => {
  const { host, sectors } = booted();
  const writes = Array.from({ length: 10 }, (_, i) => host.submitWrite(i * 64, [i + 1, i + 2]));
  const bad = host.submit(read(sectors - 4, 8));
  const reads = Array.from({ length: 10 }, (_, i) => host.submit(read(1000 + i * 64, 64)));
  end(host, [...writes, bad, ...reads]);
  expect(host.result(bad)).toMatchObject({ status: 0x41, error: IDNF, lba: sectors });
  for (const id of [...writes, ...reads]) expect(host.result(id)!.status).toBe(GOOD);
  for (let i = 0; i < 10; i++) {
    expect(Array.from(host.read(i * 64, 16).tags!)).toEqual([
      ...Array.from({ length: 8 }, () => i + 1),
      ...Array.from({ length: 8 }, () => i + 2),
    ]);
  }
  expect(host.drive.port.inError).toBe(false);
  expect(host.drive.host.outstandingCount).toBe(0);
});

test('several fail one after the other: each ends once, with its own error', () => {
  const { host, sectors } = booted();
  const ids: number[] = [];
  for (let i = 0; i < 24; i++) ids.push(host.submit(read(i % 3 === 0 ? sectors + i : i * 8, 8)));
  end(host, ids);
  ids.forEach((id, i) => {
    const expected = i % 3 === 0 ? { error: IDNF, lba: sectors + i } : { status: GOOD, error: 0 };
    expect(host.result(id)).toMatchObject(expected);
  });
});

test('a command that waits for the queue to drain keeps its registers and its payload', () => {
  const { host, sectors } = booted();
  host.write(0, [1, 2, 3, 4]);
  const payload = encodeTrimRanges([{ lba: 8, sectors: 16 }]);
  const write = host.submitWrite(256, [9], 8, true);
  const bad = host.submit(read(sectors, 8));
  const trim = host.submit({ opcode: AtaOpcode.DataSetManagement, feature: 1, count: 1, payload });
  end(host, [write, bad, trim]);
  expect(host.result(bad)).toMatchObject({ error: IDNF, lba: sectors });
  expect(host.result(write)!.status).toBe(GOOD);
  expect(host.result(trim)!.status).toBe(GOOD);
  expect(Array.from(host.read(0, 32).tags!)).toEqual([
    ...[1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0],
    ...[0, 0, 0, 0, 0, 0, 0, 0, 4, 4, 4, 4, 4, 4, 4, 4],
  ]);
});

test('a frame that meets the error on its way is not accepted and sent again', () => {
  const { host, sectors } = booted();
  const before = host.drive.host.sentCount;
  const bad = host.submit(read(sectors, 8));
  const good = host.submit(read(0, 8));
  end(host, [bad, good]);
  expect(host.result(good)!.status).toBe(GOOD);
  // Both reads, the log, and the second read again.
  expect(sentSince(host, before)).toBe(4);
});

test('COMRESET while log 10h is read: all is lost once, the waiting command too', () => {
  const { host, sectors } = booted();
  const ids = [host.submit(read(0, 8)), host.submit(read(sectors, 8))];
  ids.push(host.submit({ opcode: AtaOpcode.FlushCacheExt }));
  host.runUntil(() => host.drive.port.inError);
  for (let i = 0; i < 3; i++) host.step();
  host.drive.host.comReset();
  host.runUntil(() => host.drive.isReady);
  for (const id of ids) expect(host.result(id)).not.toBeNull();
  expect(host.drive.queue!.pendingCount).toBe(0);
  expect(host.read(0, 8).status).toBe(GOOD);
});

test('a reset before the drive is ready, or while it is off, changes nothing', () => {
  const host = new Host('toy');
  host.drive.host.comReset();
  host.drive.powerOn();
  host.drive.host.softReset();
  for (let i = 0; i < 3; i++) host.step();
  host.drive.host.comReset();
  host.runUntil(() => host.drive.isReady);
  expect(host.write(0, [5]).status).toBe(GOOD);
});

test('firmware that has stopped: every command ends, with a device fault', () => {
  const { host } = booted();
  const ids = Array.from({ length: 6 }, (_, i) => host.submitWrite(i * 64, [1, 2, 3, 4, 5, 6]));
  ids.push(host.submit({ opcode: AtaOpcode.FlushCache }));
  for (let i = 0; i < 20; i++) host.step();
  host.drive.port.fail();
  end(host, ids);
  const statuses = ids.map((id) => host.result(id)!.status);
  expect(statuses.filter((status) => status !== GOOD).every((status) => status === 0x71)).toBe(
    true,
  );
  expect(host.read(0, 8)).toMatchObject({ status: 0x71, error: ABORT });
});

test('a snapshot in the middle of recovery goes on as the original', () => {
  const { host, sectors } = booted();
  const { machine, timeline } = host.drive;
  const ids = [host.submit(read(0, 8)), host.submit(read(sectors, 8)), host.submit(read(64, 8))];
  ids.push(host.submit({ opcode: AtaOpcode.ReadNativeMaxAddressExt }));
  host.runUntil(() => host.drive.port.inError);
  for (let i = 0; i < 2; i++) host.step();
  const parts = machine.saveParts();
  const goOn = (): number[] => {
    end(host, ids);
    return [timeline.hash, timeline.ordinal, host.result(ids[3]!)!.lba];
  };
  const once = goOn();
  machine.restoreParts(parts);
  expect(host.result(ids[3]!)).toBeNull();
  expect(goOn()).toEqual(once);
  expect(once[2]).toBe(sectors - 1);
});
