/**
 * Goal: what frames with a wrong CRC and lost frames do to a command at the device.
 * Oracle: the frame sequences of Serial ATA 3.1 (11) written out by hand; a frame without data is
 * sent again, a data frame ends its command with ICRC and ABRT, and a lost one leaves it hanging.
 */
import { describe, expect, test } from 'vitest';
import { FrameVerdict } from '../../../hal/faults/fault-list.ts';
import { FisType } from '../../../sata/fis.ts';
import { RESENDS_MAX } from '../../../sata/link-faults.ts';
import { ncqErrorOfPage } from '../../../sata/log-pages.ts';
import { SlotPhase } from '../../../sata/slots.ts';
import { encodeTrimRanges } from '../../../sata/trim-ranges.ts';
import { FrameScript, type ScriptedFault } from './frame-script.ts';
import { PortRig } from './port-rig.ts';
import { QUEUE, RawHost, READ, type Registers, WRITE } from './raw-host.ts';

const { Corrupt, Lost } = FrameVerdict;
const RESULT = FisType.RegisterDeviceToHost;
const ACTIVATE = FisType.DmaActivate;
const SETUP = FisType.DmaSetup;
const DATA = FisType.Data;
const PIO = FisType.PioSetup;
const BITS = FisType.SetDeviceBits;
const ICRC_ABRT = 0x84;

/** A toy drive whose frames from now on are those of the script. */
function faulty(...faults: readonly ScriptedFault[]): { host: RawHost; script: FrameScript } {
  const host = new RawHost();
  const script = new FrameScript(...faults);
  host.sectorData.set(encodeTrimRanges([{ lba: 0, sectors: 8 }]));
  host.port.frames.connect(script);
  return { host, script };
}

interface Case {
  name: string;
  registers?: Registers;
  queued?: { opcode: number; sectors: number };
  frames: readonly FisType[];
}

const CASES: readonly Case[] = [
  {
    name: 'queued read of 24 sectors',
    queued: { opcode: READ, sectors: 24 },
    frames: [RESULT, SETUP, DATA, DATA, BITS],
  },
  {
    name: 'queued write of 24 sectors',
    queued: { opcode: WRITE, sectors: 24 },
    frames: [RESULT, SETUP, ACTIVATE, DATA, ACTIVATE, DATA, BITS],
  },
  {
    name: 'READ DMA EXT of 24',
    registers: { opcode: 0x25, lba: 64, count: 24 },
    frames: [DATA, DATA, RESULT],
  },
  {
    name: 'WRITE DMA EXT of 24',
    registers: { opcode: 0x35, lba: 64, count: 24 },
    frames: [ACTIVATE, DATA, ACTIVATE, DATA, RESULT],
  },
  {
    name: 'READ SECTORS EXT of 2',
    registers: { opcode: 0x24, lba: 64, count: 2 },
    frames: [PIO, DATA, PIO, DATA],
  },
  {
    name: 'WRITE SECTORS EXT of 2',
    registers: { opcode: 0x34, lba: 64, count: 2 },
    frames: [PIO, DATA, PIO, DATA, RESULT],
  },
  {
    name: 'DATA SET MANAGEMENT',
    registers: { opcode: 0x06, feature: 1, count: 1 },
    frames: [ACTIVATE, DATA, RESULT],
  },
  { name: 'WRITE BUFFER', registers: { opcode: 0xe8 }, frames: [PIO, DATA, RESULT] },
  { name: 'IDENTIFY DEVICE', registers: { opcode: 0xec }, frames: [PIO, DATA] },
  {
    name: 'READ LOG DMA EXT',
    registers: { opcode: 0x47, lba: 0x10, count: 1 },
    frames: [DATA, RESULT],
  },
  { name: 'FLUSH CACHE', registers: { opcode: 0xe7 }, frames: [RESULT] },
  { name: 'a command that aborts', registers: { opcode: 0x08 }, frames: [RESULT] },
];

function run(host: RawHost, { registers, queued }: Case) {
  if (queued === undefined) return host.command(registers!);
  return host.queued(queued.opcode, 3, 64, queued.sectors);
}

describe.each(CASES)('$name', (row) => {
  test('asks once a frame, in the order of the wire, and takes no longer for it', () => {
    const plain = new RawHost();
    plain.sectorData.set(encodeTrimRanges([{ lba: 0, sectors: 8 }]));
    const { host, script } = faulty();
    expect(run(host, row)).toEqual(run(plain, row));
    expect(script.asked).toEqual(row.frames);
    expect(host.port.link.busyNs).toBe(plain.port.link.busyNs);
    expect(host.drive.timeline.hash).toBe(plain.drive.timeline.hash);
    expect(host.port.crcErrorCount).toBe(0);
  });

  test('each frame once with a wrong CRC', () => {
    row.frames.forEach((type, at) => {
      const nth = row.frames.slice(0, at + 1).filter((other) => other === type).length;
      const { host, script } = faulty({ type, nth, verdict: Corrupt });
      const ending = run(host, row);
      expect(host.port.crcErrorCount).toBe(1);
      if (type === DATA) {
        expect(ending).toMatchObject({
          slot: row.queued === undefined ? 32 : QUEUE,
          status: row.queued === undefined ? 0x51 : 0x41,
          error: ICRC_ABRT,
        });
        const end = row.queued === undefined ? RESULT : BITS;
        expect(script.asked).toEqual([...row.frames.slice(0, at + 1), end]);
      } else {
        expect(ending.error & ICRC_ABRT).toBe(row.registers?.opcode === 0x08 ? 0x04 : 0);
        expect(script.asked).toEqual([...row.frames.slice(0, at + 1), ...row.frames.slice(at)]);
      }
    });
  });

  test('each frame lost: nothing ends it but a reset', () => {
    row.frames.forEach((type, at) => {
      const nth = row.frames.slice(0, at + 1).filter((other) => other === type).length;
      const { host } = faulty({ type, nth, verdict: Lost });
      const { queued, registers } = row;
      const isAcceptance = queued !== undefined && at === 0;
      if (queued !== undefined) host.queue(queued.opcode, 3, 64, queued.sectors);
      else {
        host.set(32, registers!);
        host.port.receive(32);
      }
      host.runFor(10e6);
      const slot = queued === undefined ? 32 : 3;
      expect(host.unansweredNotes).toEqual([`${isAcceptance ? 'Acceptance' : 'End'} ${slot}`]);
      expect(host.endings.length).toBe(isAcceptance ? 1 : 0);
      host.port.comReset();
      host.runUntil(() => host.signatureCount === 2);
      expect(host.port.orphanCount).toBe(0);
      expect(run(host, row)).toMatchObject({ slot });
    });
  });
});

test('a frame sent again costs one more frame time', () => {
  const plain = new RawHost();
  const { host } = faulty({ type: BITS, verdict: Corrupt, times: 3 });
  const once = plain.queued(READ, 0, 0, 8);
  expect(host.queued(READ, 0, 0, 8).atNs - once.atNs).toBe(3 * host.port.link.deviceBitsNs);
  expect(host.port.frames.receivedErrorCount).toBe(3);
  expect(host.port.frames.sentErrorCount).toBe(0);
});

test('auto-activate: the first data frame of a write needs no DMA Activate', () => {
  const { host, script } = faulty();
  host.command({ opcode: 0xef, feature: 0x10, count: 2 });
  script.restart();
  host.queued(WRITE, 3, 64, 24);
  expect(script.asked).toEqual([RESULT, SETUP, DATA, ACTIVATE, DATA, BITS]);
});

test('a sender gives up after so many tries', () => {
  const { host, script } = faulty({ type: RESULT, verdict: Corrupt, times: 1000 });
  host.set(32, { opcode: 0xe7 });
  host.port.receive(32);
  host.runFor(10e6);
  expect(script.asked.length).toBe(1 + RESENDS_MAX);
  expect(host.unansweredNotes).toEqual(['End 32']);
  expect(host.port.crcErrorCount).toBe(1 + RESENDS_MAX);
});

test('queued data with a wrong CRC: log 10h names the tag, the others are given up', () => {
  const { host } = faulty({ type: DATA, nth: 2, verdict: Corrupt });
  host.setPages(7, [1, 2, 3]);
  host.queue(WRITE, 7, 64, 24);
  host.queue(READ, 9, 0, 8);
  host.runUntil(() => host.endings.some(({ slot }) => slot === QUEUE));
  expect(host.port.sActive).toBe(0);
  expect(host.command({ opcode: 0x2f, lba: 0x10, count: 1 }).status).toBe(0x50);
  expect(ncqErrorOfPage(host.sectorData.subarray(0, 512))).toMatchObject({
    ...{ isQueued: true, status: 0x41, error: ICRC_ABRT },
  });
  for (const tag of [7, 9]) expect(host.queued(READ, tag, 64, 24)).toMatchObject({ slot: tag });
});

test('log 10h whose data had a wrong CRC can be read again', () => {
  const { host } = faulty({ type: DATA, nth: 1, verdict: Corrupt, times: 2 });
  host.queue(READ, 2, 0, 8);
  host.runUntil(() => host.endings.length === 1);
  const log = { opcode: 0x47, lba: 0x10, count: 1 };
  expect(host.command(log)).toMatchObject({ slot: 32, status: 0x51, error: ICRC_ABRT });
  expect(host.command(log)).toMatchObject({ slot: 32, status: 0x50 });
  expect(ncqErrorOfPage(host.sectorData.subarray(0, 512))).toMatchObject({
    ...{ tag: 2, error: ICRC_ABRT },
  });
});

test('a queue error that is lost: the drive stays in error, a reset ends it', () => {
  const { host } = faulty({ type: BITS, verdict: Lost });
  host.queue(READ, 2, host.sectors, 8);
  host.runFor(10e6);
  expect(host.unansweredNotes).toEqual(['QueueError 32']);
  expect(host.endings).toEqual([]);
  expect(host.port.inError).toBe(true);
  expect(host.queued(READ, 3, 0, 8)).toMatchObject({ slot: 32, status: 0x51, error: 0x04 });
  host.port.comReset();
  host.runUntil(() => host.signatureCount === 2);
  expect(host.queued(READ, 3, 0, 8)).toMatchObject({ slot: 3, status: 0x50 });
});

test('the signature: sent again with a wrong CRC, not heard when lost', () => {
  const once = new PortRig();
  const again = new PortRig(new FrameScript({ type: RESULT, verdict: Corrupt }));
  const resentNs = again.timeline.nowNs - once.timeline.nowNs;
  expect(resentNs).toBe(again.port.link.resultNs);
  const lost = new PortRig(new FrameScript({ type: RESULT, verdict: Lost }));
  expect(lost.host.signatureCount).toBe(0);
  expect(lost.host.unansweredNotes).toEqual(['Signature 32']);
  lost.port.comReset();
  lost.run();
  expect(lost.host.signatureCount).toBe(1);
  expect(lost.port.frames.comResetCount).toBe(1);
});

test('the register view shows the counters, and loss of power clears them', () => {
  const { host } = faulty(
    { type: BITS, verdict: Corrupt },
    { type: DATA, nth: 2, verdict: Corrupt },
  );
  host.queued(READ, 0, 0, 8);
  host.queued(WRITE, 0, 0, 8);
  host.port.comReset();
  const values = () =>
    ['CRC_ERR', 'R_ERR_TX', 'R_ERR_RX', 'COMRESET'].map((name) =>
      host.port
        .registers()
        .registers.find((register) => register.name === name)
        ?.read(),
    );
  expect(values()).toEqual([2, 1, 1, 1]);
  host.port.reset();
  expect(values()).toEqual([0, 0, 0, 0]);
});

describe('firmware that still holds the command', () => {
  const script = (verdict: FrameVerdict) => new FrameScript({ type: DATA, nth: 1, verdict });

  test('a read, not on its last pages: queued fails at once, slot 32 when it is let go', () => {
    const queued = new PortRig(script(Corrupt));
    queued.queue(READ, 4, 0, 24);
    expect(queued.port.takeCommand()).toBe(4);
    queued.prepare(4, 0, 2);
    queued.port.sendPages(4, 0, 2);
    expect(queued.phase(4)).toBe(SlotPhase.Orphan);
    expect(queued.contents.mixtureCount).toBe(0);
    queued.run();
    expect(queued.host.endings).toMatchObject([{ slot: QUEUE, error: ICRC_ABRT }]);

    const other = new PortRig(script(Corrupt));
    other.send({ opcode: 0x25, lba: 0, count: 24 });
    expect(other.port.takeCommand()).toBe(32);
    other.prepare(32, 0, 2);
    other.port.sendPages(32, 0, 2);
    other.run();
    expect(other.host.endings).toEqual([]);
    // Busy: another command is not looked at.
    other.send({ opcode: 0xe5 });
    expect(other.port.hasCommand).toBe(false);
    other.prepare(32, 2, 1);
    other.port.sendPages(32, 2, 1);
    other.run();
    expect(other.host.endings).toMatchObject([{ slot: 32, status: 0x51, error: ICRC_ABRT }]);
    expect(other.contents.mixtureCount).toBe(0);
    expect(other.phase(32)).toBe(SlotPhase.Free);
  });

  test('a write of slot 32 finds its pages missing and ends when firmware is done', () => {
    const rig = new PortRig(script(Corrupt));
    rig.fillData(32, 3);
    rig.send({ opcode: 0x35, lba: 0, count: 24 });
    rig.port.takeCommand();
    rig.port.requestPages(32, 3);
    rig.run();
    expect(rig.port.takeArrival()).toBe(32);
    expect(rig.port.isOrphan(32)).toBe(true);
    expect(rig.host.endings).toEqual([]);
    rig.endOrphanWrite(32);
    rig.run();
    expect(rig.host.endings).toMatchObject([{ slot: 32, status: 0x51, error: ICRC_ABRT }]);
    rig.dropData(32, 3);
    expect(rig.contents.mixtureCount).toBe(0);
  });

  test('a reset between the wrong CRC and letting go: the command has no end', () => {
    const rig = new PortRig(script(Corrupt));
    rig.send({ opcode: 0x25, lba: 0, count: 24 });
    rig.port.takeCommand();
    rig.prepare(32, 0, 2);
    rig.port.sendPages(32, 0, 2);
    rig.port.comReset();
    rig.port.complete(32, 1, 0);
    rig.run();
    expect(rig.host.endings).toEqual([]);
    expect(rig.host.signatureCount).toBe(2);
  });

  test('a read that hangs takes all its pages and sends none of them', () => {
    const rig = new PortRig(script(Lost));
    rig.queue(READ, 4, 0, 24);
    rig.port.takeCommand();
    rig.prepare(4, 0, 3);
    rig.port.sendPages(4, 0, 2);
    const { busyNs } = rig.port.link;
    rig.port.sendPages(4, 2, 1);
    expect(rig.port.link.busyNs).toBe(busyNs);
    rig.run();
    expect(rig.phase(4)).toBe(SlotPhase.Ending);
    expect(rig.contents.mixtureCount).toBe(3);
    rig.port.comReset();
    rig.run();
    expect(rig.phase(4)).toBe(SlotPhase.Free);
    expect(rig.contents.mixtureCount).toBe(0);
    expect(rig.host.signatureCount).toBe(2);
  });

  test('a write that hangs is given back at the reset', () => {
    const rig = new PortRig(script(Lost));
    rig.queue(WRITE, 4, 0, 24);
    rig.port.takeCommand();
    rig.port.requestPages(4, 3);
    rig.run();
    expect(rig.port.takeArrival()).toBe(-1);
    rig.port.comReset();
    expect(rig.port.takeArrival()).toBe(4);
    rig.endOrphanWrite(4);
    rig.run();
    expect(rig.host.signatureCount).toBe(2);
    rig.dropData(4, 3);
    expect(rig.contents.mixtureCount).toBe(0);
  });

  test('firmware that stops ends what hangs and what fails', () => {
    for (const verdict of [Corrupt, Lost]) {
      const rig = new PortRig(script(verdict));
      rig.send({ opcode: 0x25, lba: 0, count: 24 });
      rig.port.takeCommand();
      rig.prepare(32, 0, 2);
      rig.port.sendPages(32, 0, 2);
      rig.port.fail();
      rig.run();
      expect(rig.host.endings).toMatchObject([{ slot: 32, status: 0x71, error: 0x04 }]);
      expect(rig.contents.mixtureCount).toBe(0);
    }
  });

  test('saved with a bad frame on the link, it fails again', () => {
    const rig = new PortRig(script(Corrupt));
    rig.queue(WRITE, 4, 0, 24);
    rig.port.takeCommand();
    rig.port.requestPages(4, 3);
    const parts = rig.machine.saveParts();
    rig.run();
    const first = rig.host.endings.splice(0);
    rig.machine.restoreParts(parts);
    rig.run();
    expect(rig.host.endings).toEqual(first);
    expect(first).toMatchObject([{ slot: QUEUE, error: ICRC_ABRT }]);
  });
});
