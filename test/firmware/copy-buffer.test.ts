/**
 * Goal: the copy buffer is a ring, first in, first out; a place that goes bad spoils what it holds
 * and nothing else. Method: a few slots by hand, over the end of the ring.
 */

import { describe, expect, test } from 'vitest';
import { CopyBuffer } from '../../firmware/ftl/copy-buffer.ts';
import { FlashOps } from '../../hal/flash-ops.ts';
import type { ContentPort } from '../../hal/ports.ts';

const LENGTH = 6;
const port = { spoil: (content: number) => -content } as unknown as ContentPort;

/** Holds contents 4 to 8: in places 4, 5, 0, 1, 2. */
function wrapped(): CopyBuffer {
  const buffer = new CopyBuffer(LENGTH);
  const ops = new FlashOps(1);
  for (let i = 0; i < LENGTH; i++) buffer.put(10 + i, i, 20 + i, 30 + i);
  for (let i = 0; i < 4; i++) buffer.takeInto(ops, i);
  for (let i = LENGTH; i < 9; i++) buffer.put(10 + i, i, 20 + i, 30 + i);
  return buffer;
}

function drain(buffer: CopyBuffer): number[][] {
  const ops = new FlashOps(1);
  const taken: number[][] = [];
  while (buffer.count > 0) {
    buffer.takeInto(ops, 0);
    taken.push([ops.target[0]!, ops.content[0]!, ops.pageWord[0]!, ops.order[0]!]);
  }
  return taken;
}

describe('copy buffer', () => {
  test('gives slots in the order they came', () => {
    const expected = [4, 5, 6, 7, 8].map((i) => [10 + i, i, 20 + i, 30 + i]);
    expect(drain(wrapped())).toEqual(expected);
  });

  test('a place that goes bad spoils what it holds', () => {
    const buffer = wrapped();
    expect([5, 0, 3, LENGTH].map((at) => buffer.spoil(at, port))).toEqual([
      ...[true, true, false, false],
    ]);
    expect(drain(buffer).map(([, content]) => content)).toEqual([4, -5, -6, 7, 8]);
  });
});
