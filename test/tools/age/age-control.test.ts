/**
 * Goal: days pass for a drive, and only as many as a drive can bear.
 * Method: the requests over a real retention clock, with JESD218's factor worked out here.
 */
import { expect, test } from 'vitest';
import { Timeline } from '../../../hal/sim/timeline.ts';
import { RetentionClock } from '../../../nand/retention-clock.ts';
import { AGE_VERBS, ageControl, checkStorage } from '../../../tools/age/age-control.ts';
import { UsageError } from '../../../tools/errors.ts';

/** Arrhenius with 1.1 eV against 30 C (JESD218). */
function factor(celsius: number): number {
  return Math.exp((1.1 / 8.617e-5) * (1 / 303.15 - 1 / (celsius + 273.15)));
}

test('age and temperature move the clock and say where it stands', () => {
  const clock = new RetentionClock(new Timeline());
  expect(AGE_VERBS).toEqual(['age', 'temperature']);
  expect(ageControl(clock, { cmd: 'age', days: 2 })).toEqual({
    ...{ days: 2, celsius: 30, agedMinutes: 2880, minute: 2880 },
  });
  const warm = Math.floor(1440 * factor(85));
  expect(ageControl(clock, { cmd: 'age', days: 1, celsius: 85 })).toMatchObject({
    ...{ agedMinutes: warm, minute: 2880 + warm },
  });
  const answer = ageControl(clock, { cmd: 'temperature', celsius: 40.5 });
  expect(answer).toEqual({ celsius: 40.5, minute: 2880 + warm });
  expect(ageControl(clock, { cmd: 'age', days: 0 })).toMatchObject({ agedMinutes: 0 });
});

test.each([
  [{ cmd: 'age' }, '"days" must be a number from 0, not missing'],
  [{ cmd: 'age', days: -1 }, '"days" must be a number from 0, not -1'],
  [{ cmd: 'age', days: '3' }, '"days" must be a number from 0, not "3"'],
  [{ cmd: 'age', days: 1, celsius: 151 }, '"celsius" must be a number from -65 to 150, not 151'],
  [{ cmd: 'temperature' }, '"celsius" must be a number from -65 to 150, not missing'],
  [{ cmd: 'temperature', celsius: null }, 'not missing'],
  [{ cmd: 'age', days: 1e9 }, 'a drive gets 4085 years old at most'],
])('%j is refused', (request, sentence) => {
  const clock = new RetentionClock(new Timeline());
  expect(() => ageControl(clock, request)).toThrow(UsageError);
  expect(() => ageControl(clock, request)).toThrow(sentence);
  expect([clock.minute, clock.celsius]).toEqual([0, 30]);
});

test('what is left of a life counts', () => {
  const days = 4085 * 365 - 10;
  expect(checkStorage({ days }, 0)).toEqual({ days, celsius: 30 });
  expect(() => checkStorage({ days: 365 }, days * 1440)).toThrow('4085 years old at most');
});
