/**
 * Goal: a run is a function of its seed, and can be left and taken up anywhere.
 * Method: seeded runs on the toy drive, compared by the timeline's rolling hash (every event and its
 * time) and by a hash over all state.
 */

import { describe, expect, test } from 'vitest';
import { History } from '../../hal/sim/history.ts';
import { ProbeKind } from '../../hal/sim/probe.ts';
import { encodeSnapshot, SnapshotFile } from '../../hal/sim/snapshot-file.ts';
import { runToRest, toyRun } from '../kit/toy-run.ts';

const COMMANDS = 1500;

function finished(seed: string) {
  const drive = toyRun(seed, COMMANDS);
  runToRest(drive);
  return drive;
}

const straight = finished('a');
const END = { ordinal: straight.timeline.ordinal, hash: straight.timeline.hash };
const END_STATE = straight.machine.stateHash();

describe('determinism: one seed', () => {
  test('the same seed gives the same events and the same state', () => {
    const again = finished('a');
    expect(again.timeline.hash).toBe(END.hash);
    expect(again.machine.stateHash()).toBe(END_STATE);
  });

  test('another seed gives another run', () => {
    expect(finished('b').timeline.hash).not.toBe(END.hash);
  });

  test('a listener on the probe changes nothing and sees every kind of note but violations', () => {
    const drive = toyRun('a', COMMANDS);
    const seen = new Set<number>();
    drive.probe.listener = { note: (kind) => void seen.add(kind) };
    runToRest(drive);
    expect(drive.timeline.hash).toBe(END.hash);
    expect(drive.machine.stateHash()).toBe(END_STATE);
    const kinds = Object.values(ProbeKind).filter((kind) => typeof kind === 'number');
    // Firmware breaks no rule of the flash bus.
    kinds.splice(kinds.indexOf(ProbeKind.Violation), 1);
    expect([...seen].sort((a, b) => a - b)).toEqual(kinds);
  });

  test('recording changes nothing', () => {
    const drive = toyRun('a', COMMANDS);
    const history = new History(drive.machine, { intervalEvents: 500 });
    history.runToOrdinal(END.ordinal);
    expect(drive.timeline.hash).toBe(END.hash);
    expect(drive.machine.stateHash()).toBe(END_STATE);
  });
});

describe('determinism: going back', () => {
  test('unwinding to 40 ordinals and going on gives the same run', () => {
    const drive = toyRun('a', COMMANDS);
    const history = new History(drive.machine, { intervalEvents: 700 });
    const marks: { ordinal: number; hash: number; state: number }[] = [];
    for (let i = 1; i <= 40; i++) {
      history.runToOrdinal(Math.floor((END.ordinal * i) / 40));
      const { ordinal, hash } = drive.timeline;
      marks.push({ ordinal, hash, state: drive.machine.stateHash() });
    }
    for (let i = 0; i < 40; i++) {
      const mark = marks[(i * 17) % 40]!;
      history.goTo(mark.ordinal);
      expect(drive.timeline.hash).toBe(mark.hash);
      expect(drive.machine.stateHash()).toBe(mark.state);
    }
    history.goTo(END.ordinal);
    expect(drive.timeline.hash).toBe(END.hash);
    expect(drive.machine.stateHash()).toBe(END_STATE);
    drive.firmware.verify();
  });
});

describe('determinism: snapshots', () => {
  test.each([0.01, 0.2, 0.5, 0.77, 0.98])(
    'taken at %f of the run, restored into a fresh drive',
    (at) => {
      const drive = toyRun('a', COMMANDS);
      drive.timeline.runToOrdinal(Math.floor(END.ordinal * at));
      const state = drive.machine.stateHash();
      const chunks = encodeSnapshot(drive.machine, { profile: 'toy' });
      const fresh = toyRun('a', COMMANDS);
      SnapshotFile.open(joined(chunks)).restoreInto(fresh.machine);
      expect(fresh.machine.stateHash()).toBe(state);
      runToRest(fresh);
      expect(fresh.timeline.hash).toBe(END.hash);
      expect(fresh.machine.stateHash()).toBe(END_STATE);
    },
  );
});

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
