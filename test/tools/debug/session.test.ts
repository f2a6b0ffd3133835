/**
 * Goal: a debugged run is the run, whichever way it is moved.
 * Method: an undebugged drive with the same workload gives the hash of every event and the state at
 * the end; random movements, forwards and backwards, must never leave that run.
 */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { Drive } from '../../../firmware/drive.ts';
import { TOY } from '../../../firmware/profiles/toy.ts';
import { machineName, type Transition } from '../../../tools/debug/machine-name.ts';
import { DebugSession, StopReason } from '../../../tools/debug/session.ts';
import { DebugWorkload, type WorkloadName } from '../../../tools/debug/workload.ts';

const PAGES = TOY.identity.sectors / 8;
const END = 12_000;

function drive(workload: WorkloadName = 'trim', commands = 2000): Drive {
  const built = new Drive(TOY, {
    seed: 'test',
    source: () => new DebugWorkload(workload, PAGES, commands, 'test'),
  });
  built.host.queueDepth = 4;
  built.powerOn();
  return built;
}

function session(workload?: WorkloadName, commands?: number): DebugSession {
  return new DebugSession(drive(workload, commands));
}

const any = (): boolean => true;
/** `timeline.hash` after each event of the undebugged run. */
const hashes = new Int32Array(END + 1);

beforeAll(() => {
  const { timeline } = drive();
  for (let ordinal = 0; ordinal <= END; ordinal++) {
    hashes[ordinal] = timeline.hash;
    timeline.step();
  }
});

describe('movements', () => {
  test('steps forward and back arrive at the events that were asked for', () => {
    const debug = session();
    const { timeline } = debug.drive;
    debug.step(500);
    expect([timeline.ordinal, timeline.hash]).toEqual([500, hashes[500]]);
    debug.goTo(123);
    expect([timeline.ordinal, timeline.hash]).toEqual([123, hashes[123]]);
    debug.step(377);
    expect([timeline.ordinal, timeline.hash]).toEqual([500, hashes[500]]);
  });

  test('the state after going back and forward is the state of a straight run', () => {
    const straight = drive();
    straight.timeline.runToOrdinal(11_000);
    const debug = session();
    debug.step(END);
    debug.goTo(40);
    debug.runUntil(any);
    debug.goTo(9000);
    debug.runToOrdinal(11_000);
    expect(debug.drive.machine.stateHash()).toBe(straight.machine.stateHash());
  });

  test('next and back are each other’s inverse between transitions', () => {
    const debug = session();
    debug.step(800);
    const forth: number[] = [];
    for (let i = 0; i < 40; i++) {
      debug.runUntil((t) => t.kind === 'die');
      forth.push(debug.ordinal);
    }
    const back: number[] = [debug.ordinal];
    for (let i = 1; i < 40; i++) {
      debug.backTo((t) => t.kind === 'die');
      back.push(debug.ordinal);
    }
    expect(back.reverse()).toEqual(forth);
  });

  test('the transitions of dies, slots and superblocks chain: each begins where the last ended', () => {
    const debug = session();
    const states = new Map<string, string>();
    const broken: Transition[] = [];
    debug.onTransition = (transition) => {
      const name = machineName(transition);
      if ((states.get(name) ?? transition.from) !== transition.from) broken.push(transition);
      states.set(name, transition.to);
    };
    debug.step(END);
    expect(broken).toEqual([]);
    expect([...states.keys()]).toEqual(
      expect.arrayContaining([
        'boot',
        'write-mode',
        'arm',
        'aragon',
        'die0',
        'slot0',
        'superblock1',
      ]),
    );
  });

  test('a transition far back is found across checkpoints', () => {
    const debug = session('write', 20_000);
    debug.step(45_000);
    const boot = debug.backTo((t) => t.kind === 'boot');
    expect(boot).toMatchObject({ kind: 'boot', from: 'LinkUp', to: 'Ready' });
    expect(debug.ordinal).toBe(boot!.ordinal);
  });

  test('what is not in the history is not found, and nothing moves', () => {
    const debug = session();
    debug.step(300);
    expect(debug.backTo((t) => t.kind === 'write-mode')).toBeNull();
    expect(debug.ordinal).toBe(300);
    expect(debug.drive.timeline.hash).toBe(hashes[300]);
  });

  test('running to a time ends after the last event up to then', () => {
    const debug = session();
    debug.runToTime(20_000_000);
    const { timeline } = debug.drive;
    expect(timeline.nowNs).toBeLessThanOrEqual(20_000_000);
    expect(timeline.nextNs).toBeGreaterThan(20_000_000);
    expect(timeline.hash).toBe(hashes[timeline.ordinal]);
  });

  test('a drive without work left is idle', () => {
    const debug = session('write', 3);
    expect(debug.runUntil(() => false).reason).toBe(StopReason.Idle);
    expect(debug.runUntil(() => false).reason).toBe(StopReason.Idle);
    expect(debug.drive.host.outstandingCount).toBe(0);
  });

  test('nobody listens to the drive but during a movement that needs it', () => {
    const debug = session();
    debug.runUntil(any);
    debug.backTo(any);
    debug.last(any);
    expect(debug.drive.probe.listener).toBeNull();
  });

  test('before the history there is nothing', () => {
    const late = drive();
    late.timeline.runToOrdinal(100);
    const debug = new DebugSession(late);
    debug.step(10);
    expect(() => debug.goTo(99)).toThrow('cannot go back to #99: the history begins at #100');
    debug.goTo(100);
    expect(debug.ordinal).toBe(100);
  });
});

test('no sequence of movements leaves the run', () => {
  const movement = fc.oneof(
    fc.record({ kind: fc.constant('step' as const), n: fc.integer({ min: 1, max: 900 }) }),
    fc.record({ kind: fc.constant('to' as const), n: fc.integer({ min: 0, max: END }) }),
    fc.record({ kind: fc.constant('next' as const), n: fc.integer({ min: 0, max: 3 }) }),
    fc.record({ kind: fc.constant('back' as const), n: fc.integer({ min: 0, max: 3 }) }),
    fc.record({ kind: fc.constant('last' as const), n: fc.constant(0) }),
  );
  fc.assert(
    fc.property(fc.array(movement, { minLength: 1, maxLength: 12 }), (movements) => {
      const debug = session();
      const { timeline } = debug.drive;
      for (const { kind, n } of movements) {
        const die = (t: Transition): boolean => t.kind === 'die' && t.index === n;
        if (kind === 'step') debug.runToOrdinal(Math.min(END, debug.ordinal + n));
        else if (kind === 'to') debug.goTo(n);
        else if (kind === 'next') debug.runUntil(die, Math.max(1, END - debug.ordinal));
        else if (kind === 'back') debug.backTo(die);
        else debug.last(any);
        if (debug.ordinal > END) debug.goTo(END);
        if (timeline.hash !== hashes[timeline.ordinal]) return false;
      }
      debug.goTo(Math.min(debug.ordinal, 50));
      debug.runToOrdinal(3000);
      return timeline.hash === hashes[3000];
    }),
    { numRuns: 25, seed: 7 },
  );
});
