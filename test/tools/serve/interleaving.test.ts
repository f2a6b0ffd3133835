import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Command, CommandFlag } from '../../../tools/serve/nbd/wire.ts';
import { CompletionMode } from '../../kit/memory-backend.ts';
import { NbdRig } from '../../kit/nbd-rig.ts';
import { type RawNbd, type RawReply, requestBytes } from '../../kit/raw-nbd.ts';

const SECTOR_BYTES = 512;
const SECTOR_COUNT = 256;
const SIZE_BYTES = SECTOR_COUNT * SECTOR_BYTES;
/**
 * Sectors that one client keeps to, so that requests in flight of two clients never touch each
 * other.
 */
const SHARE = SECTOR_COUNT / 2;

enum Action {
  Read,
  Write,
  Trim,
  Zero,
  Flush,
  ReadPastEnd,
  WritePastEnd,
}

interface Step {
  readonly action: Action;
  readonly sector: number;
  readonly sectorCount: number;
  readonly fill: number;
  readonly fua: boolean;
}

interface Expectation {
  readonly error: number;
  readonly data: Buffer | null;
}

const step: fc.Arbitrary<Step> = fc.record({
  action: fc.constantFrom(...Object.values(Action).filter((value) => typeof value === 'number')),
  sector: fc.nat(SHARE - 1),
  sectorCount: fc.integer({ min: 1, max: 40 }),
  fill: fc.integer({ min: 1, max: 255 }),
  fua: fc.boolean(),
});

const plan = fc.record({
  /** Each batch is in flight as a whole; its requests do not overlap. */
  batches: fc.array(fc.array(step, { minLength: 1, maxLength: 12 }), {
    minLength: 1,
    maxLength: 6,
  }),
  cuts: fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 20 }),
  picks: fc.array(fc.nat(1000), { minLength: 1, maxLength: 20 }),
  structured: fc.boolean(),
});

describe('random interleavings', () => {
  it('two clients, any order, any chunk boundaries: replies match a reference array', async () => {
    await fc.assert(
      fc.asyncProperty(plan, plan, async (left, right) => {
        const rig = await NbdRig.start(SIZE_BYTES);
        try {
          rig.backend.mode = CompletionMode.Shuffled;
          let turn = 0;
          rig.backend.pick = (count) => left.picks[turn++ % left.picks.length]! % count;
          const reference = Buffer.alloc(SIZE_BYTES);
          await Promise.all([
            play(await rig.open({ structured: left.structured }), left, 0, reference),
            play(await rig.open({ structured: right.structured }), right, SHARE, reference),
          ]);
          expect(Buffer.compare(rig.backend.disk, reference)).toBe(0);
          expect(rig.violations).toEqual([]);
        } finally {
          await rig.stop();
        }
      }),
      { numRuns: 60 },
    );
  });
});

type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

async function play(
  client: RawNbd,
  { batches, cuts }: Plan,
  firstSector: number,
  reference: Buffer,
): Promise<void> {
  let cut = 0;
  for (const batch of batches) {
    const expected = new Map<bigint, Expectation>();
    const parts: Buffer[] = [];
    const taken = new Set<number>();
    for (const [index, one] of batch.entries()) {
      const sectorCount = Math.min(one.sectorCount, SHARE - one.sector);
      const sectors = Array.from({ length: sectorCount }, (_, i) => one.sector + i);
      if (sectors.some((sector) => taken.has(sector))) continue;
      for (const sector of sectors) taken.add(sector);
      const cookie = BigInt(index) << 40n;
      const from = (firstSector + one.sector) * SECTOR_BYTES;
      parts.push(toBytes(one, cookie, from, sectorCount * SECTOR_BYTES));
      expected.set(cookie, apply(one, from, sectorCount * SECTOR_BYTES, reference));
    }
    let bytes = Buffer.concat(parts);
    while (bytes.length > 0) {
      const pieceBytes = cuts[cut++ % cuts.length]!;
      await client.send(bytes.subarray(0, pieceBytes));
      bytes = bytes.subarray(pieceBytes);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await check(client, expected);
  }
}

function toBytes(one: Step, cookie: bigint, from: number, lengthBytes: number): Buffer {
  const fua = one.fua ? CommandFlag.Fua : 0;
  const payload = Buffer.alloc(lengthBytes, one.fill);
  switch (one.action) {
    case Action.Read:
      return requestBytes(Command.Read, cookie, from, lengthBytes);
    case Action.Write:
      return requestBytes(Command.Write, cookie, from, lengthBytes, fua, payload);
    case Action.Trim:
      return requestBytes(Command.Trim, cookie, from, lengthBytes, fua);
    case Action.Zero:
      return requestBytes(Command.WriteZeroes, cookie, from, lengthBytes, fua);
    case Action.Flush:
      return requestBytes(Command.Flush, cookie, 0, 0);
    case Action.ReadPastEnd:
      return requestBytes(Command.Read, cookie, SIZE_BYTES - SECTOR_BYTES, 2 * SECTOR_BYTES);
    case Action.WritePastEnd:
      return requestBytes(Command.Write, cookie, SIZE_BYTES, lengthBytes, fua, payload);
  }
}

/** What the reply must be; changes the reference as the drive should change. */
function apply(one: Step, from: number, lengthBytes: number, reference: Buffer): Expectation {
  const to = from + lengthBytes;
  switch (one.action) {
    case Action.Read:
      return { error: 0, data: Buffer.from(reference.subarray(from, to)) };
    case Action.Write:
      reference.fill(one.fill, from, to);
      return { error: 0, data: null };
    case Action.Trim:
    case Action.Zero:
      reference.fill(0, from, to);
      return { error: 0, data: null };
    case Action.Flush:
      return { error: 0, data: null };
    case Action.ReadPastEnd:
      return { error: 22, data: null };
    case Action.WritePastEnd:
      return { error: 28, data: null };
  }
}

/** Reads as many replies as requests were sent; each answers one of them. */
async function check(client: RawNbd, expected: Map<bigint, Expectation>): Promise<void> {
  while (expected.size > 0) {
    const reply: RawReply = await client.reply((cookie) => expected.get(cookie)?.data?.length ?? 0);
    const expectation = expected.get(reply.cookie);
    if (expectation === undefined) throw new Error(`a reply to no request: ${reply.cookie}`);
    expected.delete(reply.cookie);
    if (reply.error !== expectation.error) {
      throw new Error(`error ${reply.error} instead of ${expectation.error}`);
    }
    const data = reply.structured ? reply.body.subarray(8) : reply.body;
    if (expectation.data !== null && Buffer.compare(data, expectation.data) !== 0) {
      throw new Error(`wrong data in the reply to ${reply.cookie}`);
    }
  }
}
