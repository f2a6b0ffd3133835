/**
 * Goal: the write buffer is an ordered log: nothing dirty is overwritten, nothing is freed early.
 * Method: model-checked: random appends, issues and completions in any order, held against a plain
 * array of entries.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WriteBuffer } from '../../firmware/write-buffer.ts';
import type { ContentPort } from '../../hal/ports.ts';
import { InvariantBroken } from '../../hal/sim/invariant.ts';

const LENGTH = 16;

/** Counts what the buffer gives back; the buffer calls nothing else. */
class Released {
  readonly contents: number[] = [];
  readonly port = {
    release: (content: number) => void this.contents.push(content),
  } as unknown as ContentPort;
}

interface Entry {
  lpn: number;
  content: number;
  order: number;
  last: boolean;
  issued: boolean;
  done: boolean;
}

/** The log as a list: what is dirty lies from `head` on. */
class Model {
  readonly entries: Entry[] = [];
  head = 0;

  get issued(): number {
    return this.entries.findLastIndex((entry) => entry.issued) + 1;
  }

  finish(position: number): number[] {
    this.entries[position]!.done = true;
    const freed: number[] = [];
    while (this.entries[this.head]?.done === true) freed.push(this.entries[this.head++]!.content);
    return freed.filter((content) => content < 0);
  }

  /** Null, or what differs. */
  compare(buffer: WriteBuffer): string | null {
    const { entries, head, issued } = this;
    if (buffer.head !== head) return `head ${buffer.head}, not ${head}`;
    if (buffer.tail !== entries.length) return `tail ${buffer.tail}, not ${entries.length}`;
    if (buffer.waitingCount !== entries.length - issued) return `waiting ${buffer.waitingCount}`;
    if (buffer.dirtyCount !== entries.length - head) return `dirty ${buffer.dirtyCount}`;
    if (buffer.freeCount !== LENGTH - buffer.dirtyCount - buffer.reserved) return 'free places';
    for (let position = head; position < entries.length; position++) {
      const { lpn, content, order, last } = entries[position]!;
      const at = position & buffer.mask;
      const held = [buffer.lpn[at], buffer.content[at], buffer.order[at], buffer.last[at]];
      const wanted = [lpn, content, order, last ? 1 : 0];
      if (held.join() !== wanted.join()) return `position ${position} holds ${held}, not ${wanted}`;
    }
    return null;
  }
}

const step = fc.oneof(
  fc.record({
    kind: fc.constant('append' as const),
    lpn: fc.nat(9),
    content: fc.integer({ min: -50, max: 50 }),
    last: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('issue' as const), count: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('done' as const), pick: fc.nat(1000) }),
  fc.record({ kind: fc.constant('reserve' as const), count: fc.integer({ min: -3, max: 3 }) }),
  fc.record({ kind: fc.constant('save' as const) }),
);

describe('write buffer', () => {
  test('behaves as a list of entries, whatever the order in which programs end', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 30, maxLength: 200, size: 'max' }), (steps) => {
        const released = new Released();
        let buffer = new WriteBuffer(LENGTH, released.port);
        const model = new Model();
        const freed: number[] = [];
        let order = 0;
        for (const each of steps) {
          if (each.kind === 'append') {
            if (buffer.dirtyCount === LENGTH) continue;
            const { lpn, content, last } = each;
            const at = buffer.append(lpn, content, ++order, last);
            if (at !== (model.entries.length & (LENGTH - 1))) throw new Error('wrong place');
            model.entries.push({ lpn, content, order, last, issued: false, done: false });
          } else if (each.kind === 'issue') {
            for (let i = 0; i < each.count && buffer.issued < buffer.tail; i++) {
              model.entries[buffer.issued++]!.issued = true;
            }
          } else if (each.kind === 'done') {
            const open = model.entries.flatMap((e, i) => (e.issued && !e.done ? [i] : []));
            if (open.length === 0) continue;
            const position = open[each.pick % open.length]!;
            freed.push(...model.finish(position));
            buffer.programmed(position & buffer.mask);
          } else if (each.kind === 'reserve') {
            buffer.reserved = Math.max(0, buffer.reserved + each.count);
          } else {
            const copy = new WriteBuffer(LENGTH, released.port);
            copy.restore(buffer.save());
            buffer = copy;
          }
          const wrong = model.compare(buffer);
          if (wrong !== null) throw new Error(wrong);
        }
        expect(released.contents).toEqual(freed);
      }),
      { numRuns: 300 },
    );
  });

  test('refuses to overwrite a dirty slot', () => {
    const buffer = new WriteBuffer(LENGTH, new Released().port);
    for (let i = 0; i < LENGTH; i++) buffer.append(i, 1, i, true);
    expect(() => buffer.append(0, 1, 99, true)).toThrow(InvariantBroken);
    buffer.issued = 2;
    buffer.programmed(1);
    expect(() => buffer.append(0, 1, 99, true)).toThrow('a dirty slot is never overwritten');
    buffer.programmed(0);
    expect([buffer.head, buffer.append(0, 1, 99, true)]).toEqual([2, 0]);
  });

  test('spoils what a place holds, and nothing in a free one', () => {
    const spoiled: string[] = [];
    const port = {
      spoil: (content: number, mask: number) => {
        spoiled.push(`${content} ${mask}`);
        return -content;
      },
    } as unknown as ContentPort;
    const buffer = new WriteBuffer(LENGTH, port);
    // Positions 12 to 17: the last places of the ring and its first.
    buffer.head = 12;
    buffer.issued = 12;
    buffer.tail = 12;
    for (let i = 0; i < 6; i++) buffer.append(i, 100 + i, i, true);
    const held = Array.from({ length: LENGTH + 2 }, (_, at) => at).filter((at) => buffer.holds(at));
    expect(held).toEqual([0, 1, 12, 13, 14, 15]);
    expect([buffer.spoil(0), buffer.spoil(2), buffer.spoil(LENGTH)]).toEqual([true, false, false]);
    expect([buffer.content[0], buffer.content[12]]).toEqual([-104, 100]);
    expect(spoiled).toEqual(['104 255']);
  });

  test('a length that is no power of two is refused by name', () => {
    expect(() => new WriteBuffer(24, new Released().port)).toThrow(/writeBufferSlots/);
  });

  test('is empty after a loss of power', () => {
    const buffer = new WriteBuffer(LENGTH, new Released().port);
    buffer.append(1, 2, 3, true);
    buffer.reserved = 4;
    buffer.reset();
    expect([buffer.dirtyCount, buffer.waitingCount, buffer.freeCount]).toEqual([0, 0, LENGTH]);
  });
});
