import { describe, expect, it } from 'vitest';
import { ByteContent } from '../../../hal/content/byte-content.ts';
import type { PageHome } from '../../../hal/content/page-home.ts';
import { DramTable } from '../../../hal/dram-table.ts';
import { Machine } from '../../../hal/sim/snapshot.ts';
import { Timeline } from '../../../hal/sim/timeline.ts';
import { UndoLog } from '../../../hal/sim/undo-log.ts';

/** Slots that hold their own number in every byte. */
class NumberedHome implements PageHome {
  readCount = 0;

  read(slot: number, into: Uint8Array): void {
    this.readCount++;
    into.fill(slot);
  }
}

function rig(): { content: ByteContent; home: NumberedHome } {
  const content = new ByteContent(64, null);
  const home = new NumberedHome();
  content.setHome(home);
  return { content, home };
}

function firstByte(content: ByteContent, handle: number): number {
  return content.bytesOf(handle)[0]!;
}

describe('a page with a home', () => {
  it('is read when it is looked at, once as long as it stays in memory', () => {
    const { content, home } = rig();
    const pages = Array.from({ length: 200 }, (_, slot) => content.adopt(slot));
    expect([content.pageCount, content.residentCount, home.readCount]).toEqual([200, 0, 0]);
    expect(pages.map((page) => firstByte(content, page))).toEqual(pages.map((_, slot) => slot));
    const { residentCount } = content;
    // Frames come in slabs; without a backing the bound is kept by what has a home.
    firstByte(content, pages[199]!);
    expect([home.readCount, content.residentCount]).toEqual([200, residentCount]);
  });

  it('leaves memory when it settles, and comes back when its home is left', () => {
    const { content, home } = rig();
    const page = content.store(new Uint8Array(4096).fill(9));
    content.settleAt(page, 5);
    expect(content.residentCount).toBe(0);
    // Only one reference, the slot's own: nothing is kept.
    content.leaveHome(page, 5);
    expect(home.readCount).toBe(0);
    content.retain(page);
    content.leaveHome(page, 6);
    expect(home.readCount).toBe(0);
    content.leaveHome(page, 5);
    content.release(page);
    content.setHome({ read: () => expect.unreachable('the page has no home any more') });
    expect(firstByte(content, page)).toBe(5);
  });

  it('is saved and forked with its bytes', () => {
    const { content } = rig();
    const [page, record] = [content.adopt(3), content.metadata.adopt(4)];
    const fresh = new ByteContent(64, null);
    fresh.restore(content.save());
    const fork = content.fork(new Machine(new Timeline(), new UndoLog()));
    for (const copy of [fresh, fork]) {
      expect([firstByte(copy, page), firstByte(copy, record)]).toEqual([3, 4]);
      copy.release(page);
      copy.release(record);
      expect(copy.pageCount).toBe(0);
    }
  });
});

describe('a metadata page with a home', () => {
  it('gives back the cells that it was lent, and loads them from home', () => {
    const { content } = rig();
    const table = new DramTable('l2p', 1024, new UndoLog());
    const page = content.lend(table, 0);
    expect(table.lentCount[0]).toBe(1);
    content.metadata.settleAt(page, 2);
    expect(table.lentCount[0]).toBe(0);
    expect(content.load(page, table, 0)).toBe(true);
    expect(table.values[1023]).toBe(0x02020202);
    content.retain(page);
    content.leaveHome(page, 2);
    content.setHome({ read: () => expect.unreachable('the page has no home any more') });
    expect(firstByte(content, page)).toBe(2);
  });
});
