/**
 * Goal: a recorded run can be gone back in to any event, and what follows is the same run, event
 * for event. Method: the toy machine; a straight run without a recording is the oracle.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { History, type HistoryOptions, type InputSource } from '../../../hal/sim/history.ts';
import { InvariantBroken } from '../../../hal/sim/invariant.ts';
import { ToyMachine } from '../../kit/toy-machine.ts';

const EVENTS = 600;
/** Fingerprints of a straight run by ordinal. */
const straight: string[] = fingerprints(new ToyMachine(), []);

type Input = readonly [ordinal: number, value: number];

function fingerprints(toy: ToyMachine, inputs: readonly Input[]): string[] {
  const found: string[] = [];
  const give = (): void => {
    for (const [at, value] of inputs) if (at === toy.timeline.ordinal) toy.poke(value);
    found.push(toy.fingerprint);
  };
  give();
  for (let i = 0; i < EVENTS; i++) {
    toy.timeline.step();
    give();
  }
  return found;
}

/** Records inputs as they are given and gives them again. */
class Recorder implements InputSource {
  readonly inputs: Input[] = [];
  appliedCount = 0;
  readonly #toy: ToyMachine;

  constructor(toy: ToyMachine) {
    this.#toy = toy;
  }

  /** An input arrives now. */
  give(value: number): void {
    this.inputs.push([this.#toy.timeline.ordinal, value]);
    this.#toy.poke(value);
  }

  applyAt(ordinal: number): void {
    for (const [at, value] of this.inputs) if (at === ordinal) this.#toy.poke(value);
    this.appliedCount++;
  }

  nextAfter(ordinal: number): number {
    return Math.min(
      Number.POSITIVE_INFINITY,
      ...this.inputs.map(([at]) => at).filter((at) => at > ordinal),
    );
  }
}

function recorded(options: HistoryOptions = {}): { toy: ToyMachine; history: History } {
  const toy = new ToyMachine();
  return { toy, history: new History(toy.machine, { budgetBytes: 2 ** 22, ...options }) };
}

describe('history: going anywhere', () => {
  it('recording changes nothing: same run and same state at every event', () => {
    const { toy, history } = recorded({ intervalEvents: 7 });
    for (let ordinal = 0; ordinal <= EVENTS; ordinal++) {
      if (toy.fingerprint !== straight[ordinal]) expect(toy.fingerprint).toBe(straight[ordinal]);
      history.step();
    }
    history.stop();
    expect(toy.log.on).toBe(false);
  });

  it('is at the very instant asked for, backwards and forwards, and goes on from there', () => {
    const target = fc.nat(EVENTS);
    const interval = fc.constantFrom(1, 2, 13, 50, 10_000);
    fc.assert(
      fc.property(fc.array(target, { maxLength: 12 }), interval, (targets, intervalEvents) => {
        const { toy, history } = recorded({ intervalEvents });
        history.runToOrdinal(300);
        for (const ordinal of targets) {
          history.goTo(ordinal);
          expect(toy.fingerprint).toBe(straight[ordinal]);
        }
        history.runToOrdinal(EVENTS);
        expect(toy.fingerprint).toBe(straight[EVENTS]);
      }),
      { numRuns: 60 },
    );
  });

  it('steps back one event at a time to the start', () => {
    const { toy, history } = recorded({ intervalEvents: 20 });
    history.runToOrdinal(200);
    for (let ordinal = 199; ordinal >= 0; ordinal--) {
      history.goTo(ordinal);
      if (toy.fingerprint !== straight[ordinal]) expect(toy.fingerprint).toBe(straight[ordinal]);
    }
    expect(toy.timeline.ordinal).toBe(0);
    while (history.step() && toy.timeline.ordinal < 200);
    expect(toy.fingerprint).toBe(straight[200]);
  });

  it('can begin in the middle of a run, which is then the earliest instant', () => {
    const toy = new ToyMachine();
    toy.timeline.runToOrdinal(100);
    const history = new History(toy.machine, { intervalEvents: 10 });
    expect(history.oldestOrdinal).toBe(100);
    history.runToOrdinal(250);
    history.goTo(100);
    expect(toy.fingerprint).toBe(straight[100]);
    expect(() => history.goTo(99)).toThrow(InvariantBroken);
    expect(toy.fingerprint).toBe(straight[100]);
  });

  it('stops where nothing is pending', () => {
    const { toy, history } = recorded();
    history.runToOrdinal(5);
    for (const alarm of [...toy.writer.alarms, toy.reader.alarm]) alarm.disarm();
    expect(history.step()).toBe(false);
    history.goTo(50);
    expect(toy.timeline.ordinal).toBe(5);
  });

  it('cannot go back once it was stopped', () => {
    const { toy, history } = recorded();
    history.runToOrdinal(50);
    history.stop();
    history.runToOrdinal(60);
    expect(toy.fingerprint).toBe(straight[60]);
    expect(() => history.goTo(40)).toThrow(InvariantBroken);
  });

  it('needs an interval and room for checkpoints', () => {
    expect(() => recorded({ intervalEvents: 0 })).toThrow(InvariantBroken);
    expect(() => recorded({ checkpointsMax: 2 })).toThrow(InvariantBroken);
  });
});

describe('history: what is kept', () => {
  it('thins out old checkpoints and still reaches every event', () => {
    let savedCount = 0;
    const { toy, history } = recorded({ intervalEvents: 5, checkpointsMax: 8 });
    const { save } = toy.reader;
    toy.reader.save = () => {
      savedCount++;
      return save.call(toy.reader);
    };
    history.runToOrdinal(EVENTS);
    expect(savedCount).toBeGreaterThanOrEqual(EVENTS / 5);
    expect(history.oldestOrdinal).toBe(0);
    for (const ordinal of [590, 412, 411, 130, 3, 0]) {
      history.goTo(ordinal);
      expect(toy.fingerprint).toBe(straight[ordinal]);
    }
  });

  it('forgets what the log no longer holds, and says so', () => {
    const { toy, history } = recorded({ intervalEvents: 10, budgetBytes: 1 });
    history.runToOrdinal(100);
    const cells = toy.table.values.slice();
    const burn = (): void => {
      // One block of the log; the cells are the same afterwards.
      for (let i = 0; i < 1 << 17; i++) toy.table.write(0, cells[0]!);
    };
    burn();
    burn();
    expect(history.oldestOrdinal).toBe(100);
    history.runToOrdinal(200);
    const { oldestOrdinal } = history;
    expect([100, 110]).toContain(oldestOrdinal);
    history.goTo(oldestOrdinal);
    expect(toy.fingerprint).toBe(straight[oldestOrdinal]);
    expect(() => history.goTo(oldestOrdinal - 1)).toThrow(InvariantBroken);
    history.runToOrdinal(EVENTS);
    expect(toy.fingerprint).toBe(straight[EVENTS]);
  });
});

describe('history: inputs', () => {
  const inputs = fc
    .uniqueArray(fc.tuple(fc.nat(EVENTS - 100), fc.nat(9999)), { selector: ([at]) => at })
    .map((list) => list.toSorted(([a], [b]) => a - b));

  it('gives them again at their ordinals, however one goes', () => {
    const targets = fc.array(fc.nat(EVENTS), { maxLength: 8 });
    const interval = fc.constantFrom(1, 10, 64);
    fc.assert(
      fc.property(inputs, targets, interval, fc.boolean(), (given, goes, intervalEvents, steps) => {
        const expected = fingerprints(new ToyMachine(), given);
        const toy = new ToyMachine();
        const source = new Recorder(toy);
        const history = new History(toy.machine, { intervalEvents, inputs: source });
        for (const [at, value] of given) {
          history.runToOrdinal(at);
          source.give(value);
        }
        history.runToOrdinal(EVENTS);
        expect(toy.fingerprint).toBe(expected[EVENTS]);
        for (const ordinal of goes) {
          history.goTo(ordinal);
          expect(toy.fingerprint).toBe(expected[ordinal]);
        }
        if (steps) while (toy.timeline.ordinal < EVENTS) history.step();
        else history.runToOrdinal(EVENTS);
        expect(toy.fingerprint).toBe(expected[EVENTS]);
      }),
      { numRuns: 40 },
    );
  });

  it('keeps an input that came before the first event', () => {
    const toy = new ToyMachine();
    const source = new Recorder(toy);
    const history = new History(toy.machine, { inputs: source });
    source.give(123);
    const fingerprint = toy.fingerprint;
    history.runToOrdinal(40);
    history.goTo(0);
    expect(toy.fingerprint).toBe(fingerprint);
    expect(source.appliedCount).toBe(0);
  });

  it('keeps a change made at an instant that was gone back to', () => {
    const { toy, history } = recorded({ intervalEvents: 10 });
    history.runToOrdinal(35);
    history.goTo(20);
    toy.poke(4321);
    const changed = toy.fingerprint;
    expect(changed).not.toBe(straight[20]);
    history.runToOrdinal(60);
    const later = toy.fingerprint;
    history.goTo(20);
    expect(toy.fingerprint).toBe(changed);
    history.runToOrdinal(60);
    expect(toy.fingerprint).toBe(later);
    history.goTo(19);
    expect(toy.fingerprint).toBe(straight[19]);
  });
});
