/**
 * Goal: whatever frames arrive, in whatever order, the port never breaks a rule.
 * Method: random legal and illegal frames at a toy drive. Every write of a slot's phase is held to
 * SLOT_TABLE; every command that the drive had to look at gets exactly one ending; afterwards the
 * drive works and nothing is left over. The oracle keeps its own account of BSY, SActive and error.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Host } from '../../../firmware/host.ts';
import { PAGES_PER_COMMAND, UNQUEUED_SLOT } from '../../../hal/ports.ts';
import { SLOT_TABLE, SlotPhase } from '../../../sata/slots.ts';
import { findLeak } from '../../kit/leaks.ts';
import { QUEUE, RawHost, READ, WRITE } from './raw-host.ts';

const SLEEP = 0xe6;

/** Lets every write to the phases pass through the table; returns what was taken. */
function watchPhases(host: RawHost): Set<string> {
  const allowed = new Set(SLOT_TABLE.transitions.map(({ from, to }) => `${from}>${to}`));
  const taken = new Set<string>();
  const { slots } = host.port;
  const phases = slots.phase;
  const watched = new Proxy(phases, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
    set: (target, key, to: number) => {
      const slot = Number(key);
      const step = `${target[slot]}>${to}`;
      taken.add(step);
      if (!allowed.has(step)) {
        const [from, next] = [SlotPhase[target[slot]!], SlotPhase[to]];
        throw new Error(`slot ${slot} goes from ${from} to ${next}`);
      }
      target[slot] = to;
      return true;
    },
  });
  Object.defineProperty(slots, 'phase', { value: watched });
  return taken;
}

/** Commands that await an ending, as the standard counts them. */
class Account {
  readonly host: RawHost;
  readonly tags = new Set<number>();
  unqueuedBusy = false;
  inError = false;
  /** Queue errors on their way. */
  failures = 0;
  #seen = 0;

  constructor(host: RawHost) {
    this.host = host;
  }

  /** Takes the endings that have come into account. */
  settle(): void {
    const { endings } = this.host;
    for (; this.#seen < endings.length; this.#seen++) {
      const { slot } = endings[this.#seen]!;
      if (slot === QUEUE) {
        if (this.failures === 0) throw new Error('the queue failed without a reason');
        this.failures--;
      } else if (slot === UNQUEUED_SLOT) {
        if (!this.unqueuedBusy) throw new Error('a register FIS ended nothing');
        this.unqueuedBusy = false;
      } else if (!this.tags.delete(slot)) throw new Error(`tag ${slot} ended twice`);
    }
  }

  /** A frame is about to be sent. */
  sends(slot: number, failsQueue: boolean, readsLog: boolean): void {
    this.settle();
    if (this.unqueuedBusy) return;
    const isQueued = slot !== UNQUEUED_SLOT;
    if (this.inError) {
      this.unqueuedBusy = true;
      if (readsLog) this.inError = false;
      return;
    }
    if (isQueued && (this.tags.has(slot) || failsQueue)) this.#fails();
    else if (isQueued) this.tags.add(slot);
    else if (this.tags.size > 0) this.#fails();
    else this.unqueuedBusy = true;
  }

  reset(): void {
    this.settle();
    this.tags.clear();
    this.unqueuedBusy = false;
    this.inError = false;
    this.failures = 0;
  }

  #fails(): void {
    this.inError = true;
    this.failures++;
    this.tags.clear();
  }
}

const opcode = fc.oneof(
  fc.constantFrom(READ, WRITE, READ, WRITE, 0x25, 0x35, 0xc8, 0xca, 0x20, 0x30, 0xc4, 0x42),
  fc.constantFrom(0x06, 0x2f, 0x47, 0xb0, 0xe0, 0xe1, 0xe7, 0xec, 0xef, 0x90, 0xe8, 0xe4),
  fc.integer({ min: 0, max: 255 }).filter((code) => code !== SLEEP),
);
const frame = fc.record({
  kind: fc.constant('frame' as const),
  opcode,
  tag: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 31 })),
  lba: fc.oneof(
    fc.integer({ min: 0, max: 4000 }),
    fc.constantFrom(0x10, 0xc24f00, 0xc24f10, 2 ** 32, 2 ** 48 - 1),
  ),
  count: fc.oneof(
    { arbitrary: fc.integer({ min: 1, max: 300 }), weight: 9 },
    fc.constantFrom(1, 1, 0),
    fc.nat(65535),
  ),
  feature: fc.constantFrom(0, 1, 0x02, 0x03, 0x10, 0x82, 0xd0, 0xd5, 0xda, 0xd8, 0xcc),
  device: fc.constantFrom(0x40, 0xc0, 0x40, 0x00, 0x4f),
});
const step = fc.oneof(
  { arbitrary: frame, weight: 8 },
  {
    arbitrary: fc.record({
      kind: fc.constant('run' as const),
      events: fc.oneof(fc.nat(6), fc.nat(60)),
    }),
    weight: 6,
  },
  { arbitrary: fc.record({ kind: fc.constant('rest' as const) }), weight: 2 },
  { arbitrary: fc.record({ kind: fc.constant('log' as const) }), weight: 2 },
  { arbitrary: fc.record({ kind: fc.constantFrom('hard' as const, 'soft' as const) }), weight: 1 },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

class Fuzzer {
  readonly host = new RawHost();
  readonly account = new Account(this.host);
  readonly taken = watchPhases(this.host);
  #tag = 1;

  apply(action: Step): void {
    const { host, account } = this;
    switch (action.kind) {
      case 'frame':
        this.#send(action);
        break;
      case 'run':
        for (let i = 0; i < action.events; i++) host.drive.timeline.step();
        break;
      case 'rest':
        this.#rest();
        break;
      case 'log':
        this.#readLog();
        break;
      default:
        account.reset();
        if (action.kind === 'hard') host.port.comReset();
        else for (const control of [0x04, 0x00]) host.port.control(control);
        this.#signature();
    }
    account.settle();
  }

  /** Everything ends; the drive works and has nothing left over. */
  finish(): void {
    const { host } = this;
    this.#rest();
    if (this.account.inError) this.#readLog();
    host.command({ opcode: 0xef, feature: 0x02 });
    host.setPages(0, [7001, 7002]);
    host.queued(WRITE, 0, 4, 8);
    if (host.queued(READ, 1, 0, 16).status !== 0x50) throw new Error('a read fails at the end');
    host.command({ opcode: 0xe7 });
    // Collection may go on in the background.
    host.runFor(1e9);
    if (host.port.orphanCount !== 0) throw new Error('an orphan is left');
    host.drive.firmware.verify();
    // What the host has read is the host's: let it go before the count.
    for (let slot = 0; slot <= UNQUEUED_SLOT; slot++) this.#release(slot);
    const leak = findLeak({ drive: host.drive } as Host);
    if (leak !== null) throw new Error(leak);
  }

  #send({ opcode: code, tag, lba, count, feature, device }: Step & { kind: 'frame' }): void {
    const { host, account } = this;
    account.settle();
    const isQueued = code === READ || code === WRITE;
    const slot = isQueued ? tag : UNQUEUED_SLOT;
    // The registers of an outstanding tag are its data's, too: a second use keeps its size.
    const size = isQueued ? { feature: count, count: tag << 3 } : { feature, count };
    host.set(slot, { opcode: code, lba, device, ...size });
    if (!account.tags.has(slot) && !account.unqueuedBusy) {
      const pages = Math.min(40, (count >> 3) + 2);
      this.#release(slot);
      host.setPages(
        slot,
        Array.from({ length: pages }, () => this.#tag++),
      );
    }
    const isPastEnd = isQueued && lba + (count || 65536) > host.sectors;
    const isLog = (code === 0x2f || code === 0x47) && lba === 0x10 && count === 1;
    account.sends(slot, isPastEnd, isLog);
    host.port.receive(slot);
  }

  /** A host gives back what it has read before it uses the slot again. */
  #release(slot: number): void {
    const at = slot * PAGES_PER_COMMAND;
    for (let i = at; i < at + PAGES_PER_COMMAND; i++) {
      if (this.host.data[i]! < 0) this.host.drive.contents.release(this.host.data[i]!);
      this.host.data[i] = 0;
    }
  }

  #rest(): void {
    this.host.runFor(2e9);
    this.account.settle();
    const { tags, unqueuedBusy, failures } = this.account;
    if (tags.size > 0) throw new Error(`tags ${[...tags].join()} never ended`);
    if (unqueuedBusy) throw new Error('slot 32 never ended');
    if (failures > 0) throw new Error('a queue error was never told');
  }

  #readLog(): void {
    const { host, account } = this;
    this.#rest();
    if (!account.inError) return;
    account.inError = false;
    account.unqueuedBusy = true;
    if (host.command({ opcode: 0x47, lba: 0x10, count: 1 }).status !== 0x50) {
      throw new Error('log 10h cannot be read');
    }
    account.settle();
  }

  #signature(): void {
    const { host } = this;
    const before = host.signatureCount;
    host.runUntil(() => host.signatureCount > before);
  }
}

/** Runs random steps; returns the transitions that slots have taken. */
function fuzz(parameters: fc.Parameters<[Step[]]>): Set<string> {
  const taken = new Set<string>();
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 120, size: 'max' }), (steps) => {
      const fuzzer = new Fuzzer();
      for (const action of steps) fuzzer.apply(action);
      fuzzer.finish();
      for (const transition of fuzzer.taken) taken.add(transition);
    }),
    parameters,
  );
  return taken;
}

test('port: random frames, resets and pauses: no rule is broken, every command ends once', () => {
  fuzz({ numRuns: 60 });
});

test('port: random frames reach every transition of the slot table', () => {
  const all = new Set(SLOT_TABLE.transitions.map(({ from, to }) => `${from}>${to}`));
  // No flash read fails here, so no accepted command fails in firmware's hands.
  all.delete(`${SlotPhase.Held}>${SlotPhase.Free}`);
  expect([...fuzz({ seed: 3, numRuns: 100 })].sort()).toEqual([...all].sort());
});
