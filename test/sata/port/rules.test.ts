/**
 * Goal: registers mean what ACS-2 says: addresses, counts, settings, power modes, error registers.
 */
import { expect, test } from 'vitest';
import { RawHost, WRITE } from './raw-host.ts';

const GOOD = { status: 0x50, error: 0 };
const ABORTED = { status: 0x51, error: 0x04 };
const IDNF = 0x10;

/** Pages that the drive's buffer holds and flash does not. */
function dirtyPages(host: RawHost): number {
  return host.drive.firmware.buffer.tail - host.drive.firmware.buffer.head;
}

test('address: a 28-bit command has bits 27:24 in the device register', () => {
  const host = new RawHost();
  const beyond = host.command({ opcode: 0xc8, lba: 8, count: 1, device: 0x41 });
  expect(beyond).toMatchObject({ status: 0x51, error: IDNF, lba: 0x100_0008 });
  // Bits of the 48-bit half do not count.
  const low = host.command({ opcode: 0xc8, lba: 2 ** 32 + 8, count: 1 });
  expect(low).toMatchObject(GOOD);
});

test('address: a 28-bit command without the LBA bit aborts: cylinders and heads are no more', () => {
  const host = new RawHost();
  expect(host.command({ opcode: 0x20, lba: 1, count: 1, device: 0 })).toMatchObject(ABORTED);
  expect(host.command({ opcode: 0x24, lba: 1, count: 1, device: 0 })).toMatchObject(GOOD);
});

test('count: 0 is 256 sectors, or 65536 with 48 bits', () => {
  const host = new RawHost();
  expect(host.command({ opcode: 0xc8, lba: 0, count: 0 })).toMatchObject(GOOD);
  expect(host.port.slots.sectors[32]).toBe(256);
  const long = host.command({ opcode: 0x25, lba: host.sectors - 65535, count: 0 });
  expect(long).toMatchObject({ status: 0x51, error: IDNF });
  // A toy drive may be smaller than 65536 sectors: the count is then what fails it.
  expect(host.port.slots.sectors[32]).toBe(65536);
});

test.each([
  ['READ DMA EXT', 0x25],
  ['WRITE DMA EXT', 0x35],
  ['READ VERIFY SECTORS EXT', 0x42],
  ['READ SECTORS', 0x20],
])('address: %s past the end names the first bad sector and moves nothing', (_name, opcode) => {
  const host = new RawHost();
  const last = host.sectors - 1;
  expect(host.command({ opcode, lba: last, count: 1 })).toMatchObject(GOOD);
  const busyNs = host.port.link.busyNs;
  const across = host.command({ opcode, lba: last, count: 2 });
  expect(across).toMatchObject({ status: 0x51, error: IDNF, lba: host.sectors });
  const outside = host.command({ opcode, lba: host.sectors + 5, count: 2 });
  expect(outside).toMatchObject({ status: 0x51, error: IDNF, lba: host.sectors + 5 });
  expect(host.port.link.busyNs - busyNs).toBe(2 * host.port.link.resultNs);
});

test('SET MULTIPLE MODE: one sector or none; with none READ and WRITE MULTIPLE abort', () => {
  const host = new RawHost();
  expect(host.identify()[47]! & 0xff).toBe(1);
  for (let count = 2; count < 256; count++) {
    expect(host.command({ opcode: 0xc6, count }).error).toBe(0x04);
  }
  expect(host.identify()[59]).toBe(0x0101);
  expect(host.command({ opcode: 0xc6, count: 0 })).toMatchObject(GOOD);
  expect(host.identify()[59]).toBe(0);
  for (const opcode of [0xc4, 0xc5, 0x29, 0x39, 0xce]) {
    expect(host.command({ opcode, lba: 0, count: 1 })).toMatchObject(ABORTED);
  }
  expect(host.command({ opcode: 0xc6, count: 1 })).toMatchObject(GOOD);
  expect(host.command({ opcode: 0xc4, lba: 0, count: 1 })).toMatchObject(GOOD);
});

test('SET FEATURES: what is not announced aborts', () => {
  const host = new RawHost();
  const known = new Set([0x02, 0x82, 0x55, 0xaa, 0x66, 0xcc]);
  for (let feature = 0; feature < 256; feature++) {
    const { status } = host.command({ opcode: 0xef, feature, count: 0xff });
    expect(status, `feature ${feature}`).toBe(known.has(feature) ? 0x50 : 0x51);
  }
});

test('SET FEATURES: transfer modes are those that IDENTIFY lists', () => {
  const host = new RawHost();
  const good: number[] = [];
  for (let count = 0; count < 256; count++) {
    if (host.command({ opcode: 0xef, feature: 0x03, count }).status === 0x50) good.push(count);
  }
  const pio = [0, 1, 8, 9, 10, 11, 12];
  const dma = [0x20, 0x21, 0x22, 0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46];
  expect(good).toEqual([...pio, ...dma]);
  host.command({ opcode: 0xef, feature: 0x03, count: 0x42 });
  expect(host.identify()[88]).toBe(0x047f);
});

test('SMART: a wrong signature aborts, and so does all but enabling while it is off', () => {
  const host = new RawHost();
  const smart = (feature: number, lba = 0xc24f00) => host.command({ opcode: 0xb0, feature, lba });
  expect(smart(0xda)).toMatchObject({ ...GOOD, lba: 0xc24f00 });
  expect(smart(0xda, 0xc24e00)).toMatchObject(ABORTED);
  expect(smart(0xd4)).toMatchObject(ABORTED);
  expect(smart(0xd9)).toMatchObject(GOOD);
  expect(smart(0xda)).toMatchObject(ABORTED);
  expect(host.identify()[85]! & 1).toBe(0);
  expect(smart(0xd8)).toMatchObject(GOOD);
  expect(smart(0xd0)).toMatchObject(GOOD);
});

test('power: modes are reported, and a command that needs the media wakes the drive', () => {
  const host = new RawHost();
  const mode = () => host.command({ opcode: 0xe5 }).count;
  expect(mode()).toBe(0xff);
  expect(host.command({ opcode: 0xe1 })).toMatchObject(GOOD);
  expect(mode()).toBe(0x80);
  expect(host.command({ opcode: 0xe3, count: 12 })).toMatchObject(GOOD);
  expect(host.command({ opcode: 0xe0 })).toMatchObject(GOOD);
  expect(mode()).toBe(0x00);
  expect(host.command({ opcode: 0xec })).toMatchObject(GOOD);
  expect(mode()).toBe(0x00);
  expect(host.command({ opcode: 0xc8, lba: 0, count: 1 })).toMatchObject(GOOD);
  expect(mode()).toBe(0xff);
  expect(host.command({ opcode: 0xe2, count: 241 })).toMatchObject(GOOD);
  expect(mode()).toBe(0x00);
  expect(host.queued(WRITE, 0, 0, 8)).toMatchObject(GOOD);
  expect(mode()).toBe(0xff);
});

test('power: IDLE IMMEDIATE with unload aborts, as unload is not announced', () => {
  const host = new RawHost();
  expect(host.identify()[84]! & 0x2000).toBe(0);
  expect(host.command({ opcode: 0xe1, feature: 0x44, lba: 0x554e4c })).toMatchObject(ABORTED);
  expect(host.command({ opcode: 0xe5 }).count).toBe(0xff);
});

test.each([
  ['COMRESET', (host: RawHost) => host.port.comReset()],
  [
    'SRST',
    (host: RawHost) => {
      host.port.control(0x04);
      host.port.control(0x00);
    },
  ],
])('power: asleep the drive hears nothing but %s', (_name, reset) => {
  const host = new RawHost();
  expect(host.command({ opcode: 0xe6 })).toMatchObject(GOOD);
  const endings = host.endings.length;
  for (const opcode of [0xe5, 0xec, 0x08, 0x60]) {
    host.set(32, { opcode });
    host.port.receive(32);
  }
  host.runFor(1e9);
  expect(host.endings.length).toBe(endings);
  reset(host);
  host.runUntil(() => host.signatureCount === 2);
  expect(host.command({ opcode: 0xe5 })).toMatchObject({ ...GOOD, count: 0xff });
});

test('write cache: off, FUA and FLUSH each leave nothing that a loss of power could take', () => {
  const host = new RawHost();
  expect(host.queued(WRITE, 1, 0, 8)).toMatchObject(GOOD);
  expect(dirtyPages(host)).toBe(1);
  expect(host.command({ opcode: 0xe7 })).toMatchObject(GOOD);
  expect(dirtyPages(host)).toBe(0);
  host.queued(WRITE, 1, 0, 8, true);
  expect(dirtyPages(host)).toBe(0);
  for (const opcode of [0x3d, 0xce]) {
    expect(host.command({ opcode, lba: 0, count: 8 })).toMatchObject(GOOD);
    expect(dirtyPages(host)).toBe(0);
  }
  expect(host.command({ opcode: 0x35, lba: 0, count: 8 })).toMatchObject(GOOD);
  expect(dirtyPages(host)).toBe(1);
  expect(host.command({ opcode: 0xef, feature: 0x82 })).toMatchObject(GOOD);
  host.queued(WRITE, 1, 8, 8);
  expect(dirtyPages(host)).toBe(0);
});

test('TRIM: without the bit, without blocks or with too many it aborts; past the end IDNF', () => {
  const host = new RawHost();
  const trim = (feature: number, count: number) => host.command({ opcode: 0x06, feature, count });
  expect(trim(0, 1)).toMatchObject(ABORTED);
  expect(trim(1, 0)).toMatchObject(ABORTED);
  expect(trim(1, host.identify()[105]! + 1)).toMatchObject(ABORTED);
  host.sectorData.fill(0);
  expect(trim(1, 8)).toMatchObject(GOOD);
  const view = new DataView(host.sectorData.buffer);
  view.setUint32(8, host.sectors - 2, true);
  view.setUint16(14, 8, true);
  expect(trim(1, 1)).toMatchObject({ status: 0x51, error: IDNF, lba: host.sectors });
});

test('WRITE BUFFER, READ BUFFER: 512 bytes come back', () => {
  const host = new RawHost();
  const bytes = Uint8Array.from({ length: 512 }, (_, i) => (i * 7) & 0xff);
  host.sectorData.set(bytes);
  expect(host.command({ opcode: 0xe8 })).toMatchObject(GOOD);
  host.sectorData.fill(0);
  expect(host.command({ opcode: 0xe4 })).toMatchObject(GOOD);
  expect(Buffer.compare(host.sectorData.subarray(0, 512), bytes)).toBe(0);
});

test('BSY: a command that comes meanwhile is not looked at, the first one ends as it was sent', () => {
  const host = new RawHost();
  host.set(32, { opcode: 0x27 });
  host.port.receive(32);
  host.set(32, { opcode: 0xe5 });
  host.port.receive(32);
  host.queue(WRITE, 4, 0, 8);
  host.runFor(1e8);
  expect(host.endings).toEqual([
    expect.objectContaining({ slot: 32, ...GOOD, lba: host.sectors - 1, count: 0 }),
  ]);
  expect(host.port.sActive).toBe(0);
});

test('a drive whose firmware has stopped answers everything with a device fault, once', () => {
  const host = new RawHost();
  host.queue(WRITE, 0, 0, 8);
  host.queue(WRITE, 1, 8, 256);
  host.runFor(2_000);
  host.port.fail();
  host.runFor(1e9);
  expect(host.endings).toEqual([expect.objectContaining({ slot: -1, status: 0x71, error: 0x04 })]);
  expect(host.command({ opcode: 0x2f, lba: 0x10, count: 1 })).toMatchObject({ status: 0x71 });
  host.set(32, { opcode: 0xec });
  host.port.receive(32);
  host.port.fail();
  host.runFor(1e9);
  expect(host.endings.length).toBe(3);
  expect(host.endings[2]).toMatchObject({ slot: 32, status: 0x71, error: 0x04 });
});
