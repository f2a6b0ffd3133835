import { describe, expect, it } from 'vitest';
import {
  hasGoodChecksum,
  logDirectory,
  logPage,
  logPageCount,
  type NcqError,
  ncqErrorOfPage,
  ncqErrorPage,
  sealChecksum,
} from '../../sata/log-pages.ts';

const FAILURE: NcqError = {
  isQueued: true,
  tag: 17,
  status: 0x41,
  error: 0x40,
  lba: 0x0a0b0c0d0e0f,
  device: 0x40,
  count: 17 << 3,
};

describe('the log directory', () => {
  it('lists exactly the logs that answer', () => {
    const directory = Buffer.from(logDirectory());
    expect(directory.readUInt16LE(0)).toBe(1);
    for (let address = 1; address < 256; address++) {
      const pages = directory.readUInt16LE(2 * address);
      expect([address, logPage(address, 0, undefined) !== undefined]).toEqual([address, pages > 0]);
      expect(logPage(address, pages, undefined)).toBeUndefined();
    }
    expect(directory.readUInt16LE(2 * 0x10)).toBe(1);
    expect(logPageCount(0)).toBe(1);
  });
});

describe('the NCQ error log', () => {
  const page = ncqErrorPage(FAILURE);

  it('has the byte layout of Serial ATA', () => {
    expect([...page.subarray(0, 17)]).toEqual([
      17, 0, 0x41, 0x40, 0x0f, 0x0e, 0x0d, 0x40, 0x0c, 0x0b, 0x0a, 0, 136, 0, 0, 0, 0,
    ]);
    expect(page).toHaveLength(512);
    expect(hasGoodChecksum(page)).toBe(true);
    expect(Buffer.compare(logPage(0x10, 0, FAILURE) ?? Buffer.alloc(0), page)).toBe(0);
  });

  it('gives the error back to the host', () => {
    expect(ncqErrorOfPage(page)).toEqual(FAILURE);
    expect(ncqErrorOfPage(page.with(3, 0))).toBeUndefined();
  });

  it('sets NQ for a command that was not queued and when nothing failed', () => {
    expect(ncqErrorPage({ ...FAILURE, isQueued: false })[0]).toBe(0x80);
    const nothing = ncqErrorPage(undefined);
    expect([nothing[0], nothing[2], nothing[3], nothing[511]]).toEqual([0x80, 0, 0, 0x80]);
  });
});

it('seals 512 bytes so that they add up to zero, and nothing else', () => {
  const sector = new Uint8Array(512).fill(0xff);
  expect(hasGoodChecksum(sealChecksum(sector))).toBe(true);
  // 511 bytes of FFh add up to 1FD01h: the low byte is 01h, so the last byte has to be FFh.
  expect(sector[511]).toBe(0xff);
  expect(() => sealChecksum(new Uint8Array(511))).toThrow('512 bytes, not 511');
});
