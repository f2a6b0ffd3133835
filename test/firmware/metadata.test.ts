/**
 * Goal: what a standby leaves on flash is exactly what the drive held, and the newest record is found.
 * Method: checkpoints and root records are read back from the raw flash and compared, byte by byte,
 * with the tables of that instant.
 */

import { describe, expect, test } from 'vitest';
import type { Drive } from '../../firmware/drive.ts';
import {
  decodeHeader,
  decodeRoot,
  NO_SUPERBLOCK,
  RootState,
  SuperblockRow,
} from '../../firmware/ftl/layouts.ts';
import { ROOT_SUPERBLOCK, SuperblockState } from '../../firmware/ftl/superblocks.ts';
import { Host } from '../../firmware/host.ts';
import { TOY } from '../../firmware/profiles/toy.ts';
import { Bytes } from '../../hal/sim/bytes.ts';
import { metadataPages } from '../kit/raw-flash.ts';

const PAGE = 4096;
const PAGES = TOY.identity.sectors / 8;
/** The toy's checkpoint: a header, one page of block table, then the map. */
const FIRST_MAP_PAGE = 2;

class Rig {
  readonly host = new Host('toy');
  #tag = 1;

  constructor() {
    this.host.boot();
  }

  get drive(): Drive {
    return this.host.drive;
  }

  write(count: number): void {
    for (let i = 0; i < count; i++) {
      const lpn = (this.#tag * 7919) % PAGES;
      this.host.write(lpn * 8, [this.#tag++]);
    }
  }

  /** Standby; returns the superblocks of the checkpoint. */
  checkpoint(): readonly number[] {
    this.host.standby();
    expect(this.drive.firmware.root.state).toBe(RootState.Clean);
    return this.drive.firmware.root.places.map(({ superblock }) => superblock);
  }

  rest(): void {
    this.host.runUntil(() => this.drive.ops.usedCount === 0);
  }
}

/** Bytes of the map as little-endian 32-bit cells, by map page, with the pages that hold cells. */
function mapBytes(drive: Drive): Uint8Array[] {
  const { values } = drive.l2p;
  const pages: Uint8Array[] = [];
  for (let first = 0; first < values.length; first += PAGE / 4) {
    const bytes = Buffer.alloc(PAGE);
    values.subarray(first, first + PAGE / 4).forEach((cell, i) => {
      bytes.writeInt32LE(cell, i * 4);
    });
    pages.push(bytes);
  }
  return pages;
}

describe('metadata: a checkpoint on flash', () => {
  test('is header, block table and map as they were, also after later writes', () => {
    const rig = new Rig();
    rig.write(9000);
    const [superblock] = rig.checkpoint();
    const { firmware, geometry } = rig.drive;
    const map = mapBytes(rig.drive);
    const rows = firmware.superblocks.save();
    const { unit, superblock: open } = firmware.hostFrontier;
    const { nextOrder } = firmware.writer;
    const written = firmware.smart.hostWrittenSectors;

    const check = () => {
      const pages = metadataPages(rig.drive, superblock!);
      expect([...pages.keys()].sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6]);
      const head = decodeHeader(pages.get(0)!)!;
      expect(head).toMatchObject({ hostSuperblock: open, hostUnit: unit });
      expect(head).toMatchObject({ tablePages: 1, mapPages: 5, hostWrittenSectors: written });
      const table = Bytes.over(pages.get(1)!);
      for (let i = 0; i < geometry.superblocks; i++) {
        const row = SuperblockRow.decode(table, i * SuperblockRow.span);
        const state = (rows.state as Uint8Array)[i];
        const eraseCount = (rows.eraseCount as Int32Array)[i];
        expect(row).toMatchObject({ state, eraseCount });
      }
      map.forEach((bytes, page) => {
        expect(Buffer.compare(pages.get(FIRST_MAP_PAGE + page)!, bytes)).toBe(0);
      });
    };
    check();
    rig.host.trim([{ lba: 0, sectors: 12_000 }]);
    rig.write(500);
    rig.host.flush();
    expect(mapBytes(rig.drive).some((bytes, i) => Buffer.compare(bytes, map[i]!) !== 0)).toBe(true);
    check();
    expect(firmware.writer.nextOrder).toBe(nextOrder + 501);
  });

  test('leaves out map pages without a mapped cell', () => {
    const rig = new Rig();
    rig.host.write(4500 * 8, [1]); // cell 4500: the fifth map page
    const [superblock] = rig.checkpoint();
    const pages = metadataPages(rig.drive, superblock!);
    expect([...pages.keys()].sort()).toEqual([0, 1, FIRST_MAP_PAGE + 4]);
    expect(Buffer.compare(pages.get(FIRST_MAP_PAGE + 4)!, mapBytes(rig.drive)[4]!)).toBe(0);
    rig.drive.powerOff();
    rig.host.boot();
    expect(rig.host.read(4500 * 8, 8).tags![0]).toBe(1);
    expect(rig.host.read(0, 4000).tags!.every((tag) => tag === 0)).toBe(true);
    rig.drive.firmware.verify();
  });

  test('lies in LSB pages only', () => {
    const rig = new Rig();
    rig.write(300);
    const [superblock] = rig.checkpoint();
    const { image, geometry, firmware } = rig.drive;
    const lsb = new Set([0, 1, 2, 3, 6, 7, 10, 11]);
    const outside = image
      .programmedSlots()
      .filter(({ slot }) => geometry.superblockOf(slot) === superblock)
      .filter(({ slot }) => !lsb.has(geometry.pageOf(slot)));
    expect(outside).toEqual([]);
    expect(firmware.superblocks.lsbOnly[superblock!]).toBe(1);
  });

  test('a newer one frees the superblocks of the one before', () => {
    const rig = new Rig();
    const { superblocks } = rig.drive.firmware;
    let before: readonly number[] = [];
    for (let round = 0; round < 12; round++) {
      rig.write(100);
      const now = rig.checkpoint();
      rig.rest();
      expect(now).toHaveLength(1);
      expect(now).not.toEqual(before);
      for (const each of before) expect(superblocks.state[each]).toBe(SuperblockState.Free);
      for (const each of now) expect(superblocks.state[each]).toBe(SuperblockState.Metadata);
      expect(superblocks.countIn(SuperblockState.Metadata)).toBe(1);
      before = now;
    }
    rig.drive.firmware.verify();
  });

  test('without a change in between there is no second one', () => {
    const rig = new Rig();
    rig.write(10);
    const first = rig.checkpoint();
    const { sequence } = rig.drive.firmware.root.root!;
    rig.host.read(0, 8);
    expect(rig.checkpoint()).toEqual(first);
    expect(rig.drive.firmware.root.root!.sequence).toBe(sequence);
  });

  test('a header that does not check out fails the mount; the drive keeps its identity', () => {
    const rig = new Rig();
    rig.write(50);
    const [superblock] = rig.checkpoint();
    const { array, geometry } = rig.drive;
    const first = superblock! * geometry.slotsPerSuperblock;
    const header = Array.from({ length: geometry.slotsPerSuperblock }, (_, i) => first + i).find(
      (slot) => array.store.pageWordOf(slot) !== 0,
    )!;
    rig.drive.contents.read(array.store.contentOf(header))![20]! ^= 0x10;
    rig.drive.powerOff();
    rig.host.boot();
    expect(rig.host.read(0, 8).error).toBe(0x04);
    expect(rig.drive.isReady).toBe(true);
  });
});

describe('metadata: the root blocks', () => {
  const blockOf = (drive: Drive, die: number) => drive.geometry.blockIndex(die, 0);

  test('take records in turn: die 0 until it is full, then die 1, then die 0 erased', () => {
    const rig = new Rig();
    const { store } = rig.drive.array;
    const perBlock = 8; // LSB pages of a block of 16
    let records = 1; // the first says that the drive is formatted
    while (records < 5 * perBlock) {
      rig.write(1);
      rig.checkpoint(); // one record for dirty, one for clean
      records += 2;
      const { root } = rig.drive.firmware.root;
      expect(root!.sequence).toBe(records);
      const round = Math.floor((records - 1) / perBlock);
      const erases = [0, 1].map((die) => store.history.eraseCountOf(blockOf(rig.drive, die)));
      // Die 1 is erased before its first use too: the drive does not know that it is empty.
      expect(erases).toEqual([Math.floor(round / 2), Math.ceil(round / 2)]);
    }
  });

  test('the newest record is found after every number of records', () => {
    const rig = new Rig();
    for (let cycle = 0; cycle < 20; cycle++) {
      const order = rig.drive.firmware.writer.nextOrder;
      rig.write(3);
      rig.checkpoint();
      const { sequence } = rig.drive.firmware.root.root!;
      rig.drive.powerOff();
      rig.host.boot();
      const { root } = rig.drive.firmware.root;
      expect(root).toMatchObject({ sequence, state: RootState.Clean, nextOrder: order + 3 });
      expect(rig.drive.firmware.smart.powerCycles).toBe(cycle + 2);
    }
    rig.drive.firmware.verify();
  });

  test('a drive that was cut is found dirty, whatever the place of its record', () => {
    for (let cycles = 0; cycles < 10; cycles++) {
      const rig = new Rig();
      for (let i = 0; i < cycles; i++) {
        rig.write(1);
        rig.checkpoint();
      }
      rig.write(4);
      rig.host.flush();
      const host = new Host('toy', { nand: rig.host.cutPower() });
      host.boot();
      expect(host.drive.firmware.root.state).toBe(RootState.Dirty);
      expect(host.read(0, 8).error).toBe(0x04);
    }
  });

  test('nothing of the host is programmed before the record that says dirty', () => {
    const rig = new Rig();
    const isData = () => rig.drive.image.programmedSlots().some((slot) => !slot.isMetadata);
    const id = rig.host.submitWrite(0, [1, 2, 3, 4]);
    rig.host.submit({ opcode: 0xea });
    rig.host.runUntil(() => {
      const dirty = metadataPagesOfRoot(rig.drive).length === 2;
      expect(dirty || !isData()).toBe(true);
      return isData();
    });
    expect(rig.host.result(id)).not.toBeNull();
  });
});

/** Root records on flash, oldest first. */
function metadataPagesOfRoot(drive: Drive): RootState[] {
  const { geometry, contents } = drive;
  const { store } = drive.array;
  const states: { sequence: number; state: RootState }[] = [];
  const first = ROOT_SUPERBLOCK * geometry.slotsPerSuperblock;
  for (let slot = first; slot < first + geometry.slotsPerSuperblock; slot++) {
    if (store.pageWordOf(slot) === 0) continue;
    const found = decodeRoot(contents.bytesOf(store.contentOf(slot)))!;
    states.push({ sequence: found.root.sequence, state: found.root.state });
  }
  return states.sort((a, b) => a.sequence - b.sequence).map(({ state }) => state);
}

test('metadata: no frontier is written as such', () => {
  const rig = new Rig();
  rig.host.trim([{ lba: 0, sectors: 8 }]); // dirty, yet nothing was ever programmed
  const [superblock] = rig.checkpoint();
  const head = decodeHeader(metadataPages(rig.drive, superblock!).get(0)!)!;
  expect([head.hostSuperblock, head.collectorSuperblock, head.mapPages]).toEqual([
    ...[NO_SUPERBLOCK, NO_SUPERBLOCK, 0],
  ]);
  rig.drive.powerOff();
  rig.host.boot();
  expect(rig.host.write(0, [5]).status).toBe(0x50);
  rig.drive.firmware.verify();
});
