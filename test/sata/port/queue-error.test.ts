/**
 * Goal: what the standard says about a failed queue (Serial ATA 3.1, 13.6): everything outstanding
 * is discarded, all but log 10h aborts, the log tells the command, and reading it ends the error.
 */
import { expect, test } from 'vitest';
import { HostStatus } from '../../../hal/ports.ts';
import { ncqErrorOfPage } from '../../../sata/log-pages.ts';
import { SlotPhase } from '../../../sata/slots.ts';
import { PortRig } from './port-rig.ts';
import { QUEUE, RawHost, READ, type Registers, WRITE } from './raw-host.ts';

const LOG = { lba: 0x10, count: 1 };
const FAILED = { slot: QUEUE, status: 0x41 };

function failure(host: { sectorData: Uint8Array }) {
  return ncqErrorOfPage(host.sectorData.subarray(0, 512));
}

test.each([
  ['READ LOG EXT', 0x2f],
  ['READ LOG DMA EXT', 0x47],
])('queue error: past the end: IDNF, and %s tells which and ends it', (_name, opcode) => {
  const host = new RawHost();
  host.queue(READ, 2, 0, 8);
  host.queue(WRITE, 7, host.sectors - 4, 8);
  host.queue(READ, 31, 0, 8);
  host.runUntil(() => host.endings.length > 1);
  // Tag 31 came after the failure: it was never accepted.
  expect(host.endings).toEqual([
    expect.objectContaining({ ...FAILED, error: 0x10 }),
    expect.objectContaining({ slot: 32, status: 0x51, error: 0x04 }),
  ]);
  expect(host.port.sActive).toBe(0);
  expect(host.command({ opcode: 0xec })).toMatchObject({ status: 0x51, error: 0x04 });
  expect(host.clearedCount).toBe(0);
  expect(host.command({ opcode, ...LOG })).toMatchObject({ slot: 32, status: 0x50, error: 0 });
  expect(failure(host)).toEqual({
    ...{ isQueued: true, tag: 7, status: 0x41, error: 0x10, lba: host.sectors },
    ...{ device: 0x40, count: 7 << 3 },
  });
  expect(host.clearedCount).toBe(1);
  expect(host.port.inError).toBe(false);
  for (const tag of [2, 7, 31]) {
    expect(host.queued(READ, tag, 0, 8)).toMatchObject({ slot: tag, status: 0x50 });
  }
});

test('queue error: the log is page 0 of log 10h, one page; anything else aborts', () => {
  const host = new RawHost();
  host.queue(READ, 0, host.sectors, 8);
  host.runUntil(() => host.endings.length === 1);
  const others: Registers[] = [
    { opcode: 0x2f, lba: 0x00, count: 1 },
    { opcode: 0x2f, lba: 0x110, count: 1 },
    { opcode: 0x2f, lba: 0x10, count: 2 },
    { opcode: 0xb0, feature: 0xd5, lba: 0xc24f10, count: 1 },
    { opcode: 0xc8, lba: 0, count: 1 },
    { opcode: 0xe7 },
    { opcode: 0x08 },
  ];
  for (const registers of others) {
    expect(host.command(registers)).toMatchObject({ slot: 32, status: 0x51, error: 0x04 });
  }
  // Its result is a signature; the error stays.
  expect(host.command({ opcode: 0x90 })).toMatchObject({ status: 0x50, error: 1, lba: 1 });
  expect(host.port.inError).toBe(true);
  expect(host.command({ opcode: 0x2f, ...LOG }).status).toBe(0x50);
  expect(host.port.inError).toBe(false);
});

test('queue error: log 10h without an error says that no queued command failed', () => {
  const host = new RawHost();
  expect(host.command({ opcode: 0x2f, ...LOG }).status).toBe(0x50);
  expect(failure(host)).toMatchObject({ isQueued: false, error: 0 });
  expect(host.clearedCount).toBe(0);
});

test('violation: a tag that is outstanding; priority bits are no part of the tag', () => {
  const host = new RawHost();
  host.queue(WRITE, 9, 0, 8);
  host.queue(READ, 3, 0, 8);
  host.setQueued(READ, 9, 800, 8);
  host.count[9] = 0x8000 | (9 << 3);
  const busyNs = host.port.link.busyNs;
  expect(host.exchange(9)).toMatchObject({ ...FAILED, error: 0x04 });
  // BSY is still set, so a register FIS tells it.
  expect(host.port.link.busyNs - busyNs).toBe(host.port.link.resultNs);
  expect(host.releasedCount).toBe(2);
  host.command({ opcode: 0x2f, ...LOG });
  expect(failure(host)).toMatchObject({ isQueued: true, tag: 9, error: 0x04, lba: 800 });
  expect(host.queued(READ, 9, 0, 8)).toMatchObject({ slot: 9, status: 0x50 });
});

test.each([0x06, 0xe7, 0xec, 0xb0, 0x2f, 0x90, 0x08])(
  'violation: command %i while queued ones are outstanding',
  (opcode) => {
    const host = new RawHost();
    host.queue(WRITE, 0, 0, 8);
    host.queue(READ, 1, 0, 8);
    const registers = { opcode, feature: 1, ...LOG };
    expect(host.command(registers)).toMatchObject({ ...FAILED, error: 0x04 });
    expect(host.command({ opcode: 0x47, ...LOG })).toMatchObject({ slot: 32, status: 0x50 });
    expect(failure(host)).toMatchObject({ isQueued: false, error: 0x04, count: 1 });
    expect(host.queued(READ, 0, 0, 8)).toMatchObject({ slot: 0, status: 0x50 });
  },
);

test('uncorrectable: the sector is in the log, pages sent before are not left over', () => {
  const rig = new PortRig();
  const { port, host, contents } = rig;
  rig.queue(READ, 5, 80, 24);
  rig.queue(READ, 6, 0, 8);
  expect(port.takeCommand()).toBe(5);
  rig.prepare(5, 0, 2);
  port.sendPages(5, 0, 2);
  expect(contents.mixtureCount).toBe(2);
  port.complete(5, HostStatus.Uncorrectable, 99);
  expect(contents.mixtureCount).toBe(0);
  expect(port.sActive).toBe(0);
  rig.run();
  expect(host.endings).toEqual([expect.objectContaining({ ...FAILED, error: 0x40 })]);
  // Firmware has not taken tag 6 yet: it is let go when it would be taken.
  expect(rig.phase(6)).toBe(SlotPhase.Orphan);
  expect(port.takeCommand()).toBe(-1);
  expect(port.orphanCount).toBe(0);
  rig.readLog();
  rig.run();
  expect(failure(host)).toMatchObject({ tag: 5, error: 0x40, lba: 99, status: 0x41 });
});

test('the answer to log 10h waits until firmware holds nothing of the failed queue', () => {
  const rig = new PortRig();
  const { port, host } = rig;
  rig.queue(READ, 0, 0, 8);
  rig.queue(WRITE, 1, 64, 16);
  port.takeCommand();
  port.takeCommand();
  port.requestPages(1, 2);
  rig.queue(READ, 2, 200_000, 8);
  rig.run();
  expect(port.takeArrival()).toBe(1);
  expect(port.isOrphan(1)).toBe(true);
  rig.readLog(0x47);
  rig.run();
  expect(host.endings.length).toBe(1);
  rig.endOrphanWrite(1);
  rig.run();
  expect(host.endings.length).toBe(1);
  expect(host.clearedCount).toBe(0);
  rig.prepare(0, 0, 1);
  port.sendPages(0, 0, 1);
  rig.run();
  expect(host.clearedCount).toBe(1);
  expect(host.endings[1]).toMatchObject({ slot: 32, status: 0x50 });
  expect(failure(host)).toMatchObject({ tag: 2, error: 0x10 });
  rig.dropData(1, 2);
  expect(rig.contents.mixtureCount).toBe(0);
});

test('a reset while the answer to log 10h waits: the signature waits for the same orphans', () => {
  const rig = new PortRig();
  const { port, host } = rig;
  rig.queue(READ, 0, 0, 8);
  port.takeCommand();
  rig.queue(READ, 2, 200_000, 8);
  rig.run();
  rig.readLog();
  port.comReset();
  rig.run();
  expect(host.signatureCount).toBe(1);
  port.complete(0, HostStatus.Good, 0);
  rig.run();
  expect(host.signatureCount).toBe(2);
  expect(port.inError).toBe(false);
  rig.send({ opcode: 0xe5 });
  expect(port.takeCommand()).toBe(32);
  port.answerLocal(32);
  rig.run();
  expect(host.endings[1]).toMatchObject({ slot: 32, status: 0x50, count: 0xff });
});
