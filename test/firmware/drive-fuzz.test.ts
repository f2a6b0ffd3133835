/**
 * Goal: whatever a host does, the drive holds what a plain disk would.
 * Method: random commands of every kind on the toy drive, each compared with a model disk at once;
 * now and then the FTL's tables are walked and contents counted for leaks.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Host } from '../../firmware/host.ts';
import { findLeak } from '../kit/leaks.ts';
import { ModelDisk } from '../kit/model-disk.ts';

const SECTORS = new Host('toy').drive.profile.identity.sectors;
const GOOD = 0x50;

type Action =
  | { kind: 'write'; lba: number; sectors: number; fua: boolean }
  | { kind: 'read' | 'trim'; lba: number; sectors: number }
  | { kind: 'flush' | 'standby' | 'power-cycle' | 'comreset' | 'soft-reset' | 'interrupted-write' };

const length = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 24 }) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 32 }).map((pages) => pages * 8) },
  { weight: 1, arbitrary: fc.integer({ min: 25, max: 700 }) },
);
const place = length.chain((sectors) =>
  fc.record({ lba: fc.integer({ min: 0, max: SECTORS - sectors }), sectors: fc.constant(sectors) }),
);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 14,
    arbitrary: fc
      .tuple(place, fc.boolean())
      .map(([at, coin]) => ({ kind: 'write' as const, ...at, fua: coin && at.lba % 7 === 0 })),
  },
  { weight: 6, arbitrary: place.map((at) => ({ kind: 'read' as const, ...at })) },
  { weight: 2, arbitrary: place.map((at) => ({ kind: 'trim' as const, ...at })) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(
        ...(['flush', 'standby', 'power-cycle', 'comreset', 'soft-reset'] as const),
        'interrupted-write' as const,
      )
      .map((kind) => ({ kind })),
  },
);

class Fuzzer {
  readonly host = new Host('toy');
  readonly model = new ModelDisk(SECTORS);
  #tag = 1;

  constructor() {
    this.host.boot();
  }

  apply(step: Action): string | null {
    const { host, model } = this;
    switch (step.kind) {
      case 'write': {
        const tags = this.#tags(step.lba, step.sectors);
        const id = host.submitWrite(step.lba, tags, step.sectors, step.fua);
        host.runUntil(() => host.result(id) !== null);
        if (host.result(id)!.status !== GOOD) return 'a write failed';
        model.write(step.lba, step.sectors, tags);
        return null;
      }
      case 'read': {
        const result = host.read(step.lba, step.sectors);
        return result.status === GOOD ? model.check(step.lba, result.tags!) : 'a read failed';
      }
      case 'trim':
        model.trim(step.lba, step.sectors);
        return host.trim([step]).status === GOOD ? null : 'a trim failed';
      case 'flush':
        return host.flush().status === GOOD ? null : 'a flush failed';
      case 'standby':
        return host.standby().status === GOOD ? null : 'a standby failed';
      case 'power-cycle':
        host.standby();
        host.drive.powerOff();
        host.boot();
        return null;
      default:
        return this.#reset(step.kind);
    }
  }

  #reset(kind: string): string | null {
    const { host, model } = this;
    if (kind === 'interrupted-write') {
      const tags = this.#tags(8, 40 * 8);
      host.submitWrite(8, tags, 40 * 8);
      for (let i = 0; i < 1 + (this.#tag % 9); i++) host.step();
      model.maybeWrite(8, 40 * 8, tags);
    }
    if (kind === 'soft-reset') host.drive.host.softReset();
    else host.drive.host.comReset();
    host.runUntil(() => host.drive.isReady);
    return null;
  }

  #tags(lba: number, sectors: number): number[] {
    const pages = Math.ceil(((lba % 8) + sectors) / 8);
    return Array.from({ length: pages }, () => this.#tag++);
  }

  /** Reads everything and walks the tables. */
  finish(): string | null {
    for (let lba = 0; lba < SECTORS; lba += 512) {
      const wrong = this.apply({ kind: 'read', lba, sectors: Math.min(512, SECTORS - lba) });
      if (wrong !== null) return wrong;
    }
    this.host.flush();
    this.host.drive.firmware.verify();
    return findLeak(this.host);
  }
}

test('drive: random commands: every read is what a plain disk holds', () => {
  fc.assert(
    fc.property(fc.array(action, { minLength: 20, maxLength: 250, size: 'max' }), (actions) => {
      const fuzzer = new Fuzzer();
      for (const step of actions) {
        const wrong = fuzzer.apply(step);
        if (wrong !== null) throw new Error(`${JSON.stringify(step)}: ${wrong}`);
      }
      const wrong = fuzzer.finish();
      if (wrong !== null) throw new Error(wrong);
    }),
    { numRuns: 60 },
  );
});

test('drive: overwritten many times over: collection keeps every sector', () => {
  const fuzzer = new Fuzzer();
  let state = 12345;
  const below = (limit: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (state >>> 8) % limit;
  };
  let wrong: string | null = null;
  for (let i = 0; i < 6000 && wrong === null; i++) {
    const sectors = i % 3 === 0 ? 1 + below(40) : 8 * (1 + below(8));
    const lba = i % 3 === 0 ? below(SECTORS - sectors) : 8 * below(SECTORS / 8 - 8);
    wrong = fuzzer.apply({ kind: i % 5 === 4 ? 'read' : 'write', lba, sectors, fua: false });
  }
  expect(wrong).toBeNull();
  expect(fuzzer.host.drive.firmware.collector.victimCount).toBeGreaterThan(50);
  expect(fuzzer.finish()).toBeNull();
});

test('drive: 32 overlapping commands outstanding: the last one issued wins', () => {
  const fuzzer = new Fuzzer();
  const { host } = fuzzer;
  for (let round = 0; round < 20; round++) {
    const ids: number[] = [];
    for (let i = 0; i < 48; i++) {
      const lba = (i % 5) * 8 + (i % 3);
      const tags = [round * 100 + i + 1, round * 100 + i + 1];
      ids.push(host.submitWrite(lba, tags, 8));
      fuzzer.model.write(lba, 8, tags);
    }
    host.runUntil(() => ids.every((id) => host.result(id) !== null));
    expect(fuzzer.apply({ kind: 'read', lba: 0, sectors: 64 })).toBeNull();
  }
  expect(fuzzer.finish()).toBeNull();
});
