/** Goal: what the control socket asks about faults is answered, or refused in one sentence. */
import { describe, expect, test } from 'vitest';
import { FlashOp } from '../../../hal/flash-ops.ts';
import { RunError, UsageError } from '../../../tools/errors.ts';
import { FAULT_VERBS, faultControl } from '../../../tools/fault/fault-control.ts';
import { newTarget } from './fault-kit.ts';

const FAIL = { kind: 'program-fail', where: { die: 3, block: 7 }, times: 1 };

test('add, list, lift, report', () => {
  const target = newTarget();
  const faults = [FAIL, { kind: 'lost-fis' }];
  expect(faultControl(target, { cmd: 'fault.add', faults })).toEqual({ count: 2, ids: [1, 2] });
  target.faults.onFlash(FlashOp.Program, 3, 6, 0, 0, 99);
  expect(faultControl(target, { cmd: 'fault.lift', fault: 2 })).toEqual({ liftedCount: 1 });
  expect(faultControl(target, { cmd: 'fault.lift', fault: 2 })).toEqual({ liftedCount: 0 });
  expect(faultControl(target, { cmd: 'fault.lift', all: true })).toEqual({ liftedCount: 1 });
  const first = {
    ...{ id: 1, kind: 'program-fail', fault: FAIL, conditional: false, seed: 'seed' },
    ...{ lifted: true, armed: false, matchedCount: 1, firedCount: 1 },
    ...{ firstFiredOrdinal: 99, lastFiredOrdinal: 99 },
  };
  expect(faultControl(target, { cmd: 'fault.list' })).toMatchObject({ faults: [first, { id: 2 }] });
  expect(faultControl(target, { cmd: 'fault.report' })).toMatchObject({
    ...{ faults: [first, { id: 2 }], unfired: [2] },
  });
});

test('all faults of a request are added, or none; a check adds none', () => {
  const target = newTarget();
  const faults = [FAIL, { kind: 'program-fail', where: { die: 4 } }];
  const request = { cmd: 'fault.add', faults, first: 10 };
  const sentence = "faults[11].where.die: 4 is beyond the drive's last die 3";
  expect(() => faultControl(target, request)).toThrow(new UsageError(sentence));
  faultControl(target, { cmd: 'fault.add', faults: [FAIL], check: true });
  expect(target.faults.list()).toEqual([]);
  const many = new Array(10_000).fill(FAIL);
  faultControl(target, { cmd: 'fault.add', faults: [FAIL] });
  expect(() => faultControl(target, { cmd: 'fault.add', faults: many })).toThrow(
    new RunError('the drive has room for 9999 more faults, not for 10000'),
  );
});

test('a seed comes with the request', () => {
  const target = newTarget();
  faultControl(target, { cmd: 'fault.add', faults: [FAIL], seed: 'mine' });
  expect(target.faults.list()[0]!.seed).toBe('mine');
});

describe('refused', () => {
  test.each([
    [{ cmd: 'fault.drop' }, `"cmd" must be one of ${FAULT_VERBS.join(', ')}`],
    [{ cmd: 'fault.add' }, '"faults" must be an array of at least one fault'],
    [{ cmd: 'fault.add', faults: [FAIL], check: 1 }, '"check" must be true or false'],
    [
      { cmd: 'fault.add', faults: [FAIL], first: -1 },
      '"first" must be the number of the first fault, from 0',
    ],
    [
      { cmd: 'fault.add', faults: [{ kind: 'lostfis' }] },
      'faults[0].kind: "lostfis" (did you mean lost-fis?)',
    ],
    [{ cmd: 'fault.lift' }, '"fault.lift" needs either "fault", its number, or "all": true'],
    [{ cmd: 'fault.lift', fault: 5 }, 'there is no fault 5; fault.list tells which there are'],
  ])('%j', (request, sentence) => {
    expect(() => faultControl(newTarget(), request)).toThrow(new UsageError(sentence));
  });
});
