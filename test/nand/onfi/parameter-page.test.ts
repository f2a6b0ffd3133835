/**
 * Goal: a die describes itself byte for byte as the ONFI standard lays it down.
 * Method: the CRC against published vectors, the page against one worked out by hand from the data
 * sheet, and the tables as the bus gives them.
 */
import { describe, expect, test } from 'vitest';
import { uniqueIdOf } from '../../../nand/onfi/identify.ts';
import {
  CRC_OFFSET,
  MAKER_OFFSET,
  MakerRecord,
  MEMORY_OFFSET,
  MemoryRecord,
  onfiCrc16,
  parameterPageOf,
} from '../../../nand/onfi/parameter-page.ts';
import { L74A, OnfiRig, TOY } from './rig.ts';

/** Micron's own name for the same die; the drive has Intel's. */
const MICRON = {
  ...L74A,
  maker: 'MICRON',
  model: 'MT29F64G08CBCABH1',
  idBytes: [0x2c, 0x88, 0x24, 0x4b, 0xa9, 0, 0, 0],
};

const WORKED_PAGE = [
  '4f4e46491e007801ff0300000000030000000000000000000000000000000000',
  '4d4943524f4e2020202020204d54323946363447303843424341424831202020',
  '2c00000000000000000000000000000000200000c00100000000000000010000',
  '0010000001230264000303010000010018011e00000000000000000000000000',
  '053f000000280a10274b00c8003f000228002d00280005074b00460000000000',
  '0000000001000100000004100181040202011e90000000000000000000000000',
  '00'.repeat(32),
  `${'00'.repeat(30)}d0c8`,
].join('');

const ascii = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0));

describe('CRC-16', () => {
  test('the check value of the standard digits', () => {
    expect(onfiCrc16(ascii('123456789'))).toBe(0x2771);
  });

  test('of nothing is its start value', () => {
    expect(onfiCrc16(new Uint8Array(0))).toBe(0x4f4e);
  });
});

describe('parameter page', () => {
  test('the page of the Micron L74A, bit for bit', () => {
    expect(Buffer.from(parameterPageOf(MICRON)).toString('hex')).toBe(WORKED_PAGE);
  });

  test('the page of the drive differs in maker, model, id and CRC alone', () => {
    const page = parameterPageOf(L74A);
    const maker = MakerRecord.decode(page, MAKER_OFFSET);
    expect(Buffer.from(maker.maker).toString()).toBe('INTEL       ');
    expect(Buffer.from(maker.model).toString()).toBe('29F64G08ACME3       ');
    expect(maker.jedecId).toBe(0x89);
    expect(onfiCrc16(page, CRC_OFFSET)).toBe(page[CRC_OFFSET]! | (page[CRC_OFFSET + 1]! << 8));
    const worked = Buffer.from(WORKED_PAGE, 'hex');
    expect(Buffer.compare(page.subarray(65, CRC_OFFSET), worked.subarray(65, CRC_OFFSET))).toBe(0);
    expect(Buffer.compare(page.subarray(0, 32), worked.subarray(0, 32))).toBe(0);
  });

  test('a smaller die tells its own sizes', () => {
    const memory = MemoryRecord.decode(parameterPageOf(TOY), MEMORY_OFFSET);
    expect(memory).toMatchObject({ pagesPerBlock: 16, blocksPerLun: 64, badBlocksMax: 1 });
  });

  test('the bus gives three copies, and 05h reaches the second', () => {
    const rig = OnfiRig.ready(MICRON);
    rig.command(0xec).address(0x00).wait();
    const copy = Buffer.from(WORKED_PAGE, 'hex');
    expect(Buffer.compare(Buffer.from(rig.read(768)), Buffer.concat([copy, copy, copy]))).toBe(0);
    rig.command(0x05).address(0x00, 0x01).command(0xe0);
    expect(rig.read(4)).toEqual([0x4f, 0x4e, 0x46, 0x49]);
    expect(rig.broken).toEqual([]);
  });

  test('after a poll with 70h, 00h brings the page back', () => {
    const rig = OnfiRig.ready();
    rig.command(0xec).address(0x00);
    expect(rig.status()).toBe(0x80);
    rig.wait();
    expect(rig.status()).toBe(0xe0);
    expect(rig.command(0x00).read(4)).toEqual([0x4f, 0x4e, 0x46, 0x49]);
    expect(rig.broken).toEqual([]);
  });
});

describe('ids', () => {
  test('READ ID 00h and 20h', () => {
    const rig = OnfiRig.ready();
    expect(rig.command(0x90).address(0x00).read(8)).toEqual([
      0x89, 0x88, 0x24, 0x4b, 0xa9, 0, 0, 0,
    ]);
    expect(rig.command(0x90).address(0x20).read(4)).toEqual([0x4f, 0x4e, 0x46, 0x49]);
    expect(rig.broken).toEqual([]);
  });

  test('on a synchronous bus every byte of it comes twice', () => {
    const rig = OnfiRig.ready();
    rig.setTiming(0x15);
    expect(rig.command(0x90).address(0x20).read(8)).toEqual([
      0x4f, 0x4f, 0x4e, 0x4e, 0x46, 0x46, 0x49, 0x49,
    ]);
  });

  test('the unique id: 16 copies of id and complement', () => {
    const rig = OnfiRig.ready();
    rig.command(0xed).address(0x00).wait();
    const bytes = rig.read(512);
    for (let copy = 0; copy < 16; copy++) {
      expect(bytes.slice(32 * copy, 32 * copy + 32)).toEqual(bytes.slice(0, 32));
    }
    expect(bytes.slice(0, 16)).toEqual([...uniqueIdOf('TEST-1')]);
    expect(bytes.slice(16, 32)).toEqual(bytes.slice(0, 16).map((byte) => byte ^ 0xff));
  });

  test('differs between serial numbers', () => {
    const ids = Array.from({ length: 1000 }, (_, i) =>
      Buffer.from(uniqueIdOf(`SN${i}`)).toString('hex'),
    );
    expect(new Set(ids).size).toBe(1000);
  });
});
