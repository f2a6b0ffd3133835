/**
 * Goal: what a served drive reads is what was written, byte for byte.
 * Method: random requests in batches against a reference array, with everything in memory and with
 * nearly everything in the spill file; then what only single cases can show.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ExtentState, NbdError, NbdKind } from '../../../tools/serve/nbd/backend.ts';
import { HandRequest, ServedToy } from './drive-kit.ts';

const SECTOR = 512;
const PAGE = 4096;
/** Pages that the requests of one run touch: few, so that they meet. */
const SPAN_PAGES = 96;
const SPAN = SPAN_PAGES * PAGE;

interface Step {
  readonly kind: NbdKind;
  readonly sector: number;
  readonly sectors: number;
  readonly fua: boolean;
  readonly noHole: boolean;
  readonly fill: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(
    ...[NbdKind.Read, NbdKind.Read, NbdKind.Write, NbdKind.Write, NbdKind.Write],
    ...[NbdKind.Trim, NbdKind.WriteZeroes, NbdKind.Flush],
  ),
  sector: fc.nat(SPAN / SECTOR - 1),
  sectors: fc.oneof(fc.integer({ min: 1, max: 24 }), fc.integer({ min: 1, max: 200 })),
  fua: fc.boolean(),
  noHole: fc.boolean(),
  fill: fc.integer({ min: 1, max: 255 }),
});

/** The reference: bytes, and which pages are allocated. */
class Reference {
  readonly bytes = Buffer.alloc(SPAN);
  readonly allocated = new Uint8Array(SPAN_PAGES);

  write(from: number, data: Uint8Array): void {
    this.bytes.set(data, from);
    this.allocate(from, from + data.length);
  }

  allocate(from: number, to: number): void {
    if (from < to) this.allocated.fill(1, Math.floor(from / PAGE), Math.ceil(to / PAGE));
  }

  /** Whole pages only. */
  trim(from: number, to: number): void {
    const first = Math.ceil(from / PAGE);
    const end = Math.floor(to / PAGE);
    if (first >= end) return;
    this.bytes.fill(0, first * PAGE, end * PAGE);
    this.allocated.fill(0, first, end);
  }

  zero(from: number, to: number, noHole: boolean): void {
    this.bytes.fill(0, from, to);
    const first = Math.ceil(from / PAGE) * PAGE;
    const end = Math.floor(to / PAGE) * PAGE;
    if (noHole || first >= end) this.allocate(from, to);
    else {
      this.allocate(from, first);
      this.allocate(end, to);
      this.trim(first, end);
    }
  }
}

/** Submits a batch at once; every request must see exactly what was submitted before it. */
function runBatch(toy: ServedToy, reference: Reference, batch: readonly Step[]): void {
  const requests: { request: HandRequest; expected: Buffer | null }[] = [];
  for (const { kind, sector, sectors, fua, noHole, fill } of batch) {
    const from = sector * SECTOR;
    const to = Math.min(SPAN, from + sectors * SECTOR);
    const length = kind === NbdKind.Flush ? 0 : to - from;
    const offset = kind === NbdKind.Flush ? 0 : from;
    const data = Buffer.from({ length: kind === NbdKind.Write ? length : 0 }).map(
      (_, i) => fill + Math.floor(i / SECTOR),
    );
    const request = new HandRequest(kind, offset, length, {
      ...{ fua, noHole },
      ...(kind === NbdKind.Write ? { data } : {}),
    });
    const expected = kind === NbdKind.Read ? Buffer.from(reference.bytes.subarray(from, to)) : null;
    if (kind === NbdKind.Write) reference.write(from, data);
    if (kind === NbdKind.Trim) reference.trim(from, to);
    if (kind === NbdKind.WriteZeroes) reference.zero(from, to, noHole);
    requests.push({ request: toy.submit(request), expected });
  }
  toy.clock.settle();
  for (const { request, expected } of requests) {
    if (request.error !== NbdError.Ok) throw new Error(`a request ended with ${request.error}`);
    if (expected !== null && Buffer.compare(expected, request.data) !== 0) {
      throw new Error(`${request.lengthBytes} bytes at ${request.offsetBytes} read wrong`);
    }
  }
}

function checkAll(toy: ServedToy, reference: Reference): void {
  const read = toy.run(new HandRequest(NbdKind.Read, 0, SPAN));
  expect(Buffer.compare(Buffer.from(read.data), reference.bytes)).toBe(0);
  const status = toy.run(new HandRequest(NbdKind.BlockStatus, 0, SPAN));
  const allocated: number[] = [];
  for (const { lengthBytes, state } of status.found) {
    const isData = state === ExtentState.Data ? 1 : 0;
    for (let at = 0; at < lengthBytes; at += PAGE) allocated.push(isData);
  }
  expect(allocated).toEqual([...reference.allocated]);
}

describe('a served drive against a reference', () => {
  test.each([
    ['all in memory', 2 ** 26, 120],
    ['64 pages in memory, the rest spilled', 64 * PAGE, 60],
  ])('%s', async (_name, memoryBytes, numRuns) => {
    const toy = await ServedToy.start(() => ({ memoryBytes }));
    const reference = new Reference();
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (batch) => {
        runBatch(toy, reference, batch);
      }),
      { numRuns, seed: 7, endOnFailure: true },
    );
    checkAll(toy, reference);
    const summary = await toy.stop();
    expect(summary.spilledPages > 0).toBe(memoryBytes < SPAN);
    expect(toy.notices).toEqual([]);
  });
});

describe('single cases', () => {
  test('all 20 MiB of the drive in one request', async () => {
    const toy = await ServedToy.start();
    const { sizeBytes } = toy.service.backend;
    expect(sizeBytes).toBe(5120 * PAGE);
    const data = Buffer.alloc(sizeBytes).map((_, i) => (i >>> 9) ^ i);
    const write = toy.run(new HandRequest(NbdKind.Write, 0, sizeBytes, { data, fua: true }));
    expect(write.error).toBe(NbdError.Ok);
    const read = toy.run(new HandRequest(NbdKind.Read, 0, sizeBytes));
    expect(Buffer.compare(Buffer.from(read.data), data)).toBe(0);
    const summary = await toy.stop();
    expect(summary.writeAmplification).toBeGreaterThanOrEqual(1);
  });

  test('zeroes of the whole drive: held pages with NO_HOLE, holes without', async () => {
    const toy = await ServedToy.start();
    const { sizeBytes } = toy.service.backend;
    const status = () => toy.run(new HandRequest(NbdKind.BlockStatus, 0, sizeBytes)).found;
    toy.run(new HandRequest(NbdKind.WriteZeroes, 0, sizeBytes, { noHole: true }));
    expect(status()).toEqual([{ lengthBytes: sizeBytes, state: ExtentState.Data }]);
    toy.run(new HandRequest(NbdKind.WriteZeroes, 0, sizeBytes, { fua: true }));
    expect(status()).toEqual([{ lengthBytes: sizeBytes, state: ExtentState.HoleZero }]);
    await toy.stop();
  });

  test('a trim of less than a page changes nothing and still ends', async () => {
    const toy = await ServedToy.start();
    const data = Buffer.alloc(2 * PAGE, 5);
    toy.run(new HandRequest(NbdKind.Write, 0, data.length, { data }));
    const trim = toy.run(new HandRequest(NbdKind.Trim, SECTOR, PAGE, { fua: true }));
    expect(trim.error).toBe(NbdError.Ok);
    const read = toy.run(new HandRequest(NbdKind.Read, 0, data.length));
    expect(Buffer.compare(Buffer.from(read.data), data)).toBe(0);
    await toy.stop();
  });

  test('a panic fails what is under way and all that follows, and is told once', async () => {
    const toy = await ServedToy.start();
    const { drive } = toy.service;
    const first = toy.submit(new HandRequest(NbdKind.Write, 0, PAGE));
    drive.arm.panic = { rule: 'a test wants it so', task: 'test', ordinal: 1, atNs: 1 };
    drive.arm.onPanic();
    toy.clock.settle();
    const second = toy.run(new HandRequest(NbdKind.Read, 0, PAGE));
    expect([first.error, second.error]).toEqual([NbdError.Io, NbdError.Io]);
    expect(toy.notices).toEqual([
      'the drive has stopped: panic in test at event 1: a test wants it so; ' +
        'requests fail with EIO from now on',
    ]);
    await toy.stop();
  });
});
