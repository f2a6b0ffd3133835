/**
 * Goal: a reset in any phase of a slot leaves no orphan, no page and a working drive.
 * Method: the test plays the firmware for single slots; then a whole drive is reset at every event
 * of a burst of commands.
 */
import { expect, test } from 'vitest';
import { SlotPhase } from '../../../sata/slots.ts';
import { PortRig } from './port-rig.ts';
import { RawHost, READ, WRITE } from './raw-host.ts';

/** Brings slot `tag` (or 32) of the rig into a phase. */
const INTO: readonly [name: string, phase: SlotPhase, slot: number, into: (r: PortRig) => void][] =
  [
    ['a read not taken', SlotPhase.Held, 4, (rig) => rig.queue(READ, 4, 0, 24)],
    ['a read half sent', SlotPhase.Held, 4, (rig) => read(rig, 2)],
    ['a read on its last pages', SlotPhase.Ending, 4, (rig) => read(rig, 3)],
    ['a write not taken', SlotPhase.Held, 4, (rig) => rig.queue(WRITE, 4, 0, 24)],
    ['a write receiving', SlotPhase.Receiving, 4, (rig) => write(rig)],
    [
      'a write with pages not taken',
      SlotPhase.Held,
      4,
      (rig) => {
        write(rig);
        rig.run();
      },
    ],
    [
      'a list on its way',
      SlotPhase.Loading,
      32,
      (rig) => rig.send({ opcode: 0x06, feature: 1, count: 1 }),
    ],
    ['a flush', SlotPhase.Held, 32, (rig) => rig.send({ opcode: 0xe7 })],
    [
      'a flush that has ended',
      SlotPhase.Ending,
      32,
      (rig) => {
        rig.send({ opcode: 0xe7 });
        rig.port.takeCommand();
        rig.port.complete(32, 0, 0);
      },
    ],
    ['a refusal', SlotPhase.Ending, 32, (rig) => rig.send({ opcode: 0x08 })],
  ];

function read(rig: PortRig, pages: number): void {
  rig.queue(READ, 4, 0, 24);
  rig.port.takeCommand();
  rig.prepare(4, 0, pages);
  rig.port.sendPages(4, 0, pages);
}

function write(rig: PortRig): void {
  rig.queue(WRITE, 4, 0, 24);
  rig.port.takeCommand();
  rig.port.requestPages(4, 3);
}

/** What firmware does with the slots it finds orphaned. */
function letGo(rig: PortRig): void {
  const { port } = rig;
  while (port.takeCommand() !== -1);
  while (port.takeArrival() !== -1);
  if (!port.isOrphan(4)) {
    if (port.isOrphan(32)) port.complete(32, 0, 0);
    return;
  }
  if (port.slots.opcode[4] === WRITE) rig.endOrphanWrite(4);
  else {
    rig.prepare(4, 2, 1);
    port.sendPages(4, 2, 1);
  }
}

const RESETS = [
  ['COMRESET', (rig: { port: PortRig['port'] }) => rig.port.comReset()],
  [
    'SRST',
    (rig: { port: PortRig['port'] }) => {
      rig.port.control(0x04);
      rig.port.control(0x00);
    },
  ],
] as const;

const CASES = RESETS.flatMap(([reset, give]) =>
  INTO.map(([name, phase, slot, into]) => [reset, name, phase, slot, into, give] as const),
);

test.each(CASES)('%s: %s', (_reset, _name, phase, slot, into, reset) => {
  const rig = new PortRig();
  into(rig);
  expect(rig.phase(slot)).toBe(phase);
  reset(rig);
  rig.run();
  const held = phase === SlotPhase.Held || phase === SlotPhase.Receiving;
  expect(rig.phase(slot)).toBe(held ? SlotPhase.Orphan : SlotPhase.Free);
  expect(rig.host.signatureCount).toBe(held ? 1 : 2);
  letGo(rig);
  rig.run();
  expect(rig.host.signatureCount).toBe(2);
  expect(rig.host.endings).toEqual([]);
  expect(rig.port.orphanCount).toBe(0);
  rig.dropData(4, 3);
  expect(rig.contents.mixtureCount).toBe(0);
  // The same slot again, to its end.
  rig.queue(READ, 4, 8, 8);
  expect(rig.port.takeCommand()).toBe(4);
  rig.port.sendPages(4, 0, 1);
  rig.run();
  expect(rig.host.endings).toEqual([expect.objectContaining({ slot: 4, status: 0x50 })]);
});

test('SRST: while it is set nothing is heard; set twice it is one reset', () => {
  const rig = new PortRig();
  rig.port.control(0x04);
  rig.port.control(0x04);
  rig.send({ opcode: 0xe5 });
  rig.queue(READ, 0, 0, 8);
  rig.run();
  expect(rig.host.endings).toEqual([]);
  rig.port.control(0x00);
  rig.port.control(0x00);
  rig.run();
  expect(rig.host.signatureCount).toBe(2);
  expect(rig.port.takeCommand()).toBe(-1);
});

test('COMRESET ends a soft reset that is still set', () => {
  const rig = new PortRig();
  rig.port.control(0x04);
  rig.port.comReset();
  rig.port.control(0x00);
  rig.run();
  expect(rig.host.signatureCount).toBe(2);
  expect(rig.port.isUp).toBe(true);
});

test('a drive that is off or boots does not hear resets', () => {
  const host = new RawHost();
  host.drive.powerOff();
  host.port.comReset();
  host.port.control(0x04);
  host.port.control(0x00);
  host.drive.powerOn();
  host.runFor(1_000_000);
  host.port.comReset();
  expect(host.port.isUp).toBe(false);
  host.runUntil(() => host.signatureCount === 2);
  expect(host.drive.bootState).toBe(6);
  expect(host.command({ opcode: 0xec }).status).toBe(0x50);
});

/** Sends a burst of queued commands that touch partial pages, flash and buffer. */
function burst(host: RawHost): void {
  for (let tag = 0; tag < 12; tag++) {
    host.setPages(tag, [tag + 1, tag + 2, tag + 3, tag + 4]);
    host.queue(tag % 3 === 0 ? READ : WRITE, tag, 3 + tag * 16, 22, tag % 5 === 0);
  }
}

function check(host: RawHost): string | null {
  const { drive, port } = host;
  if (port.orphanCount !== 0) return 'an orphan is left';
  if (drive.panic !== null) return drive.panic.rule;
  host.setPages(0, [70, 71]);
  if (host.queued(WRITE, 0, 8, 16).status !== 0x50) return 'a write fails';
  if (host.queued(READ, 1, 8, 16).status !== 0x50) return 'a read fails';
  if (host.pages(1, 2).join() !== '70,71') return 'a read finds something else';
  if (host.command({ opcode: 0xe7 }).status !== 0x50) return 'a flush fails';
  if (drive.ops.usedCount !== 0) return 'flash operations are left';
  drive.firmware.verify();
  return null;
}

test.each(RESETS)('%s at every event of a burst of commands', (_name, reset) => {
  for (let events = 0; events < 120; events += 3) {
    const host = new RawHost();
    burst(host);
    host.runUntil(() => host.port.sActive === 0);
    host.command({ opcode: 0xe7 });
    burst(host);
    for (let i = 0; i < events; i++) host.drive.timeline.step();
    reset(host);
    host.runUntil(() => host.signatureCount === 2);
    const wrong = check(host);
    if (wrong !== null) throw new Error(`after ${events} events: ${wrong}`);
  }
});

test('a snapshot between a queue error and its log goes on as the original', () => {
  const rig = new PortRig();
  const { port, host, machine, timeline } = rig;
  rig.queue(READ, 0, 0, 8);
  port.takeCommand();
  rig.send({ opcode: 0xe5 });
  rig.run();
  rig.readLog();
  expect(rig.phase(32)).toBe(SlotPhase.Held);
  const parts = machine.saveParts();
  const goOn = (): string => {
    host.endings.length = 0;
    port.complete(0, 0, 0);
    rig.run();
    port.control(0x04);
    port.control(0x00);
    rig.run();
    return JSON.stringify([host.endings, timeline.save(), port.save()]);
  };
  const once = goOn();
  machine.restoreParts(parts);
  expect(goOn()).toBe(once);
});
